"""Is a unit missed?  The loss with its columns as they are, beside that with copies of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MOST_COPIES = 999
"""Copies of a unit: p-values are multiples of a thousandth, or below."""

FIRST_COPIES = 100
"""Copies that are drawn at a time: rows set aside are predicted for each."""

ENOUGH_AS_GOOD = 10
"""Copies as good as the unit itself at which no more are drawn: it is not missed."""

CLEAR = 1e-3
"""A p-value at which no more are drawn either: more copies would not change what follows."""

CopiedLosses = Callable[[int], np.ndarray]
"""Losses of the rows with so many further copies: (copies, rows)."""


@dataclass(frozen=True)
class Missed:
    """How much a unit is missed on some rows."""

    p_value: float
    rise: np.ndarray
    """Of each row: its mean loss over copies less its own."""


def missed(losses: np.ndarray, weight: np.ndarray, copied: CopiedLosses) -> Missed:
    """The p-value of a unit, and the rise of each row's loss without it.

    Under the hypothesis that the target is independent of the unit given all other columns, the
    rows with its own values and the rows with copies drawn given these columns have one law, so
    that the mean loss ``T`` has any rank among those of copies, ``T_k``, with equal chances,
    whatever the law of the losses (Tansey, Veitch, Zhang, Rabadan and Blei, JCGS 2022).  With ``g``
    of ``K`` copies as good, ``T_k <= T``, the p-value is ``(1 + g) / (1 + K)``; drawing ends at the
    h-th, which gives ``h / K`` (Besag and Clifford, Biometrika 1991).  If none is, it is also at
    most ``1 / (1 + z^2)`` by Cantelli's inequality, with ``z = (mean T_k - T) / sd T_k``.

    Parameters
    ----------
    losses : ndarray of shape (n_rows,)
        With the columns as they are, on rows that neither the model nor its choice has seen.
    weight : ndarray of shape (n_rows,)
        What each row counts.
    copied : callable
        The losses with so many further copies: (copies, rows).

    Returns
    -------
    missed : Missed
    """
    share = weight / weight.sum()
    own = float(losses @ share)
    total, means = np.zeros(losses.size), np.zeros(0)
    p_value = 1.0
    while means.size < MOST_COPIES:
        more = copied(min(FIRST_COPIES, MOST_COPIES - means.size))
        total += more.sum(axis=0)
        means = np.append(means, more @ share)
        as_good = np.cumsum(means <= own)
        if as_good[-1] >= ENOUGH_AS_GOOD:
            p_value = ENOUGH_AS_GOOD / (1 + float(np.argmax(as_good >= ENOUGH_AS_GOOD)))
            break
        p_value = (1 + float(as_good[-1])) / (1 + means.size)
        if not as_good[-1]:
            p_value = min(p_value, _by_cantelli(own, means))
        if p_value <= CLEAR:
            break
    return Missed(p_value, total / means.size - losses)


def _by_cantelli(own: float, means: np.ndarray) -> float:
    """``1 / (1 + z^2)``: the chance to be z standard deviations below the mean, of any law."""
    spread = float(means.std(ddof=1))
    away = float(means.mean()) - own
    return spread**2 / (spread**2 + away**2) if spread and away > 0 else 1.0
