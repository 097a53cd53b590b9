"""What the weights of rows mean: how often a row counts, never in what unit that is given.

Weights that are whole multiples of a common unit, up to a hundred of it, are copies: a row of twice
the unit counts as a row written twice.  Any others are relative; together they count as Kish's
effective number of rows, ``(sum w)^2 / sum w^2``.  Either way a factor common to all changes
nothing, and tests count as many rows as there are.

Weights of classes are never copies: :func:`class_shares` says what a row of each class counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_COPIES = 100
"""Copies of a row that a weight may stand for: with more, any decimal fraction would be one."""

ROUNDING = 1e-9
"""How far from a whole multiple a weight may be, as a share of the largest one."""


@dataclass(frozen=True)
class RowCount:
    """From weights to rows: what counts as one row, and whether all are whole multiples of it."""

    unit: float
    whole: bool

    def __call__(self, weight: np.ndarray) -> np.ndarray:
        """How many rows each weight stands for."""
        count = weight / self.unit
        return np.rint(count) if self.whole else count


AS_ROWS = RowCount(1.0, False)
"""Of weights that are numbers of rows already."""


@dataclass(frozen=True)
class WeightFacts:
    """What the positive weights of some rows tell, whatever their magnitude.

    ``total`` and ``squares`` are sums of weights and of their squares, the largest taken for one;
    ``values`` are the different weights, or more of them than copies can be.
    """

    largest: float
    total: float
    squares: float
    values: np.ndarray

    @classmethod
    def of(cls, weight: np.ndarray) -> WeightFacts:
        """What these tell (rows,)."""
        largest = float(weight.max())
        share = weight / largest
        squares = float(np.sum(np.square(share)))
        return cls(largest, float(np.sum(share)), squares, _some(np.unique(weight)))

    def plus(self, other: WeightFacts) -> WeightFacts:
        """What the weights of both tell."""
        largest = max(self.largest, other.largest)
        a, b = self.largest / largest, other.largest / largest
        return WeightFacts(
            largest,
            a * self.total + b * other.total,
            a**2 * self.squares + b**2 * other.squares,
            _some(np.union1d(self.values, other.values)),
        )

    @property
    def count(self) -> RowCount:
        """How these weights count as rows."""
        unit = _common_unit(self.values / self.largest)
        if unit is not None:
            return RowCount(self.largest * unit, True)
        return RowCount(self.largest * (self.squares / self.total), False)

    def rows(self, count: RowCount) -> float:
        """The rows that they count as together."""
        return float(count(np.array(self.largest * self.total)))


def counted(weight: np.ndarray, count: RowCount | None = None) -> np.ndarray:
    """Positive weights (rows,) in units of rows: copies, or shares of the effective number.

    With ``count``, as that says.
    """
    return (count or WeightFacts.of(weight).count)(weight)


def class_shares(weight: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``c_k sum_l c_l n_l / sum_l c_l^2 n_l``: what a row of class k counts, of weights ``c``.

    With ``n_l`` rows of each class, in any unit, all together count as Kish's effective number of
    rows.  A class of ten times the weight is not ten times as many rows: weights 2 and 20 are 1 and
    10, and equal weights are none.
    """
    share, rows = weight / weight.max(), rows / rows.sum()
    return share * (share @ rows) / (share**2 @ rows)


def _some(values: np.ndarray) -> np.ndarray:
    """No more values than are needed to tell that they are too many."""
    return values[: MOST_COPIES + 1]


def _common_unit(values: np.ndarray) -> float | None:
    """The largest number that all are multiples of, by Euclid's algorithm; None if it is small."""
    unit = 0.0
    for value in values.tolist() if values.size <= MOST_COPIES else ():
        while value > ROUNDING:
            unit, value = value, abs(unit - value * round(unit / value))
        if unit * MOST_COPIES < 1 - ROUNDING:
            return None
    return unit or None
