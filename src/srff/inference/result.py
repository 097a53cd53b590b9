"""What is known of each variable after several splits: one result that people and programs read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from srff.inference.stability import stability

INTERVAL = 0.95
"""Level of the intervals."""


@dataclass(frozen=True, repr=False)
class Confidence:
    """How sure it is of each variable that it matters.

    A *unit* is a variable, a group of columns, or a cluster of columns that are almost functions
    of one another and so cannot be told apart.  The hypothesis of a unit is that the target is
    independent of it given all other columns.

    Attributes
    ----------
    names : ndarray of shape (n_units,)
        The unit's name: that of its column or group; of near copies "a or b".
    unit_of : ndarray of shape (n_features,)
        The number of each column's unit.
    near_copies : ndarray of shape (n_units,)
        Whether the unit is a cluster of columns that cannot be told apart.
    q : float
        The false discovery rate that is kept.
    n_rows : int
        Rows that were judged: each in one split.
    selected : ndarray of shape (n_splits, n_units)
        Whether the search of a split chose the unit.
    p_splits : ndarray of shape (n_splits, n_units)
        The p-value of the unit on the rows that the split set aside; one where it was not chosen.
    confirmed_splits : ndarray of shape (n_splits, n_units)
        Whether the split's own test, at half of ``q``, confirmed the unit.
    p_values : ndarray of shape (n_units,)
        A p-value from all splits, valid for each unit by itself.
    e_values : ndarray of shape (n_units,)
        The mean of the splits' e-values: what ``confirmed_units`` comes from.
    confirmed_units : ndarray of shape (n_units,)
        Whether the unit is confirmed at the false discovery rate ``q``.
    rise, rise_se : ndarray of shape (n_units,)
        How much the mean loss rises when the unit is drawn anew given all other columns, and the
        standard error: zero in splits that did not choose it.
    gain : float
        How much lower the mean loss of the splits' models is than that of the best constants.
    loss : str
        What the loss is, such as "squared error".
    told_apart : ndarray of shape (n_units,)
        How well a classifier tells drawn from real columns: the area under its ROC curve, one half
        where it cannot; NaN where nothing was drawn.
    doubtful : ndarray of shape (n_units,)
        Whether it can, so that the unit's p-value is not to be trusted.
    """

    names: np.ndarray
    unit_of: np.ndarray
    near_copies: np.ndarray
    q: float
    n_rows: int
    selected: np.ndarray
    p_splits: np.ndarray
    confirmed_splits: np.ndarray
    p_values: np.ndarray
    e_values: np.ndarray
    confirmed_units: np.ndarray
    rise: np.ndarray
    rise_se: np.ndarray
    gain: float
    loss: str
    told_apart: np.ndarray
    doubtful: np.ndarray

    @property
    def n_splits(self) -> int:
        """The number of splits."""
        return int(self.selected.shape[0])

    @property
    def confirmed(self) -> list[str]:
        """The names of the confirmed units, that of the largest rise first."""
        return [str(self.names[k]) for k in self.order if self.confirmed_units[k]]

    @property
    def support(self) -> np.ndarray:
        """A mask of the columns of confirmed units."""
        return self.confirmed_units[self.unit_of]

    @property
    def rise_interval(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper ends of intervals of the rise, for each unit by itself."""
        reach = stats.t.isf((1 - INTERVAL) / 2, max(self.n_rows - 1, 1)) * self.rise_se
        return self.rise - reach, self.rise + reach

    @property
    def share(self) -> np.ndarray:
        """The rise as a share of what the models explain; NaN where they explain nothing."""
        return self.rise / self.gain if self.gain > 0 else np.full(self.rise.shape, np.nan)

    @cached_property
    def order(self) -> np.ndarray:
        """The units: the confirmed ones first, then by their p-values and their rise."""
        return np.lexsort((-self.rise, self.p_values, ~self.confirmed_units))

    @property
    def stability(self) -> tuple[float, float, float]:
        """How far the splits' selections agree, and the ends of its interval."""
        return stability(self.selected, INTERVAL)
