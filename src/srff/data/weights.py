"""What the weights of rows mean: how often a row counts, never in what unit that is given.

Weights that are whole multiples of a common unit, up to a hundred of it, are copies: a row of twice
the unit counts as a row written twice.  Any others are relative; together they count as Kish's
effective number of rows, ``(sum w)^2 / sum w^2``.  Either way a factor common to all changes
nothing, and tests count as many rows as there are.
"""

from __future__ import annotations

import numpy as np

MOST_COPIES = 100
"""Copies of a row that a weight may stand for: with more, any decimal fraction would be one."""

ROUNDING = 1e-9
"""How far from a whole multiple a weight may be, as a share of the largest one."""


def counted(weight: np.ndarray) -> np.ndarray:
    """Positive weights (rows,) in units of rows: copies, or shares of the effective number."""
    share = weight / weight.max()
    unit = _common_unit(np.unique(share))
    if unit is not None:
        return np.rint(share / unit)
    return share * (share.sum() / np.sum(np.square(share)))


def _common_unit(values: np.ndarray) -> float | None:
    """The largest number that all are multiples of, by Euclid's algorithm; None if it is small."""
    unit = 0.0
    for value in values.tolist() if values.size <= MOST_COPIES else ():
        while value > ROUNDING:
            unit, value = value, abs(unit - value * round(unit / value))
        if unit * MOST_COPIES < 1 - ROUNDING:
            return None
    return unit or None
