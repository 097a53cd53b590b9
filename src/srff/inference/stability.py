"""How far the selections of several splits agree, beyond what chance would make of their sizes."""

from __future__ import annotations

import numpy as np
from scipy import stats


def stability(selected: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """Nogueira's index of stability, and the ends of its interval.

    With M splits, d units, ``z_mf`` whether split m selected unit f, ``p_f`` the share of splits
    that did, ``k_m`` the size of each selection and ``k`` their mean::

        index = 1 - mean_f( M / (M - 1) p_f (1 - p_f) ) / ( k/d (1 - k/d) )

    One where all splits agree, zero in the mean where units are drawn at random (Nogueira, Sechidis
    and Brown, JMLR 2018, eq. 4; the interval is that of their theorem 7).  NaN where every split
    selected all units or none: there is nothing to agree on.

    Parameters
    ----------
    selected : ndarray of shape (n_splits, n_units), bool
        Whether the split selected the unit.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    index, low, high : float

    Examples
    --------
    >>> import numpy as np
    >>> from srff.inference.stability import stability
    >>> index, low, high = stability(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]))
    >>> round(index, 3), round(low, 3), round(high, 3)
    (0.333, -0.022, 0.689)
    """
    Z = np.asarray(selected, dtype=np.float64)
    M, d = Z.shape
    share, size = Z.mean(axis=0), Z.sum(axis=1)
    k = size.mean()
    chance = k / d * (1 - k / d)
    if M < 2 or not chance:
        return float("nan"), float("nan"), float("nan")
    index = 1 - M / (M - 1) * float(np.mean(share * (1 - share))) / chance
    each = (
        Z @ share / d - size * k / d**2 + index / 2 * (2 * k * size / d**2 - size / d - k / d + 1)
    ) / chance
    error = np.sqrt(4 / M**2 * np.sum((each - each.mean()) ** 2))
    reach = float(stats.norm.isf((1 - level) / 2) * error)
    return float(index), float(index) - reach, min(float(index) + reach, 1.0)
