"""Intervals around predictions, from what the models of the folds missed on rows held out.

A row that is held out is predicted by the candidate of its fold, which has not seen it.  What is
left over, ``e_i = (y_i - f_i) / u(f_i)`` with ``u = 1`` (for counts the root of the rate), has
quantiles; with ``m`` of them sorted, ``e_(1) <= ... <= e_(m)``, the interval at level ``g`` is

    [f + u e_(k),  f + u e_(m + 1 - k)],   k = floor((m + 1)(1 - g) / 2),

that of split conformal prediction with the errors of cross-fitting (Vovk, "Cross-conformal
predictors", 2015): a new row is inside in about a share ``g`` of cases, on average over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srff._utils.parameters import is_number
from srff.core.losses import Loss, Poisson


def unit(loss: Loss, said: np.ndarray) -> np.ndarray:
    """What errors are counted in: ``u``."""
    return np.sqrt(said) if isinstance(loss, Poisson) else np.ones_like(said)


def interval_of(
    loss: Loss, said: np.ndarray, errors: np.ndarray | None, level: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper ends around predictions (rows, targets)."""
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"interval={level!r} must be a number between 0 and 1, such as 0.9.")
    if errors is None:
        raise ValueError(
            f"interval={level!r} needs the errors of rows held out, which this model does not "
            "have: it was fitted with refine=None or solver='alternating', on rows that are not "
            "in memory, on another device, with nothing to learn, or by an earlier version."
        )
    m = errors.shape[0]
    k = int((m + 1) * (1 - level) / 2 + 1e-9)
    if k < 1:
        most = 1 - 2 / (m + 1)
        raise ValueError(
            f"interval={level!r} is more than rows held out, as good as {m:,} equal ones, can "
            f"tell; the most is {most:.4g}."
            if most > 0
            else f"interval={level!r} cannot be told from {m:,} rows held out."
        )
    spread = unit(loss, said)
    low, high = said + spread * errors[k - 1], said + spread * errors[m - k]
    return (np.maximum(low, 0.0) if isinstance(loss, Poisson) else low), high
