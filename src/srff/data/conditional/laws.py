"""The law of a column given all others, at some rows.

Each law turns the values of rows into *residuals* that hold nothing of the other columns, and
residuals back into values.  Residuals that have changed rows are a draw from the law; so one
permutation moves all columns of a unit together, whatever they hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri


class Law(Protocol):
    """The law of a column at some rows."""

    @property
    def residuals(self) -> np.ndarray:
        """Of the values that the rows have, the first axis over rows."""

    def values(self, residuals: np.ndarray) -> np.ndarray:
        """Codes (..., rows) from residuals (..., rows) or (..., rows, 2)."""


@dataclass(frozen=True)
class Latent:
    """Normal scores of a column of numbers, equal values in random order, and the way back.

    With ties broken at random a column of few values has a law as smooth as any, and a score always
    maps back to a value that occurs.
    """

    ordered: np.ndarray
    """The values in rising order."""
    scores: np.ndarray
    """One for each row; NaN where the value is missing."""

    @classmethod
    def of(cls, column: np.ndarray, rng: np.random.Generator) -> Latent:
        """Those of a column."""
        known = np.flatnonzero(~np.isnan(column))
        order = known[np.lexsort((rng.random(known.size), column[known]))]
        scores = np.full(column.size, np.nan)
        scores[order] = ndtri((np.arange(known.size) + 0.5) / known.size)
        return cls(column[order], scores)

    def values(self, scores: np.ndarray) -> np.ndarray:
        """The values of the same ranks."""
        n = self.ordered.size
        return self.ordered[np.clip((ndtr(scores) * n).astype(np.intp), 0, n - 1)]


@dataclass(frozen=True)
class NumberLaw:
    """``z_i = m_i + s_i e_i`` for normal scores ``z``, of mean ``m`` given the other columns.

    ``s`` is the mean distance from ``m`` given these: a column may vary more where they are large,
    and one whose square they tell has no mean given them, but a distance.
    """

    latent: Latent
    means: np.ndarray
    spreads: np.ndarray
    residuals: np.ndarray

    def values(self, residuals: np.ndarray) -> np.ndarray:
        """The values of the scores ``m + s e``."""
        return self.latent.values(self.means + self.spreads * residuals)


@dataclass(frozen=True)
class LevelLaw:
    """``F_i(l - 1) + u_i (F_i(l) - F_i(l - 1))``, ``F_i`` the sums of the row's chances of levels.

    Uniform whatever the other columns, if the chances are right; ``u`` is drawn once.
    """

    levels: np.ndarray
    below: np.ndarray
    """The chance of the levels before each: (rows, levels)."""
    residuals: np.ndarray

    @classmethod
    def of(
        cls, levels: np.ndarray, chances: np.ndarray, place: np.ndarray, rng: np.random.Generator
    ) -> LevelLaw:
        """From chances of levels (rows, levels) and the places of the levels that rows have."""
        below = np.cumsum(chances, axis=1) - chances
        rows = np.arange(place.size)
        here = below[rows, place] + rng.random(place.size) * chances[rows, place]
        return cls(levels, below, here)

    def values(self, residuals: np.ndarray) -> np.ndarray:
        """The levels in whose part of the unit interval they are."""
        place = np.zeros(residuals.shape, dtype=np.intp)
        for below in self.below.T[1:]:
            place += residuals >= below
        return self.levels[place]


@dataclass(frozen=True)
class GapLaw:
    """Numbers with gaps: whether there is one, and the number where there is none."""

    gaps: LevelLaw
    numbers: NumberLaw

    @property
    def residuals(self) -> np.ndarray:
        """Of both: (rows, 2)."""
        return np.stack([self.gaps.residuals, self.numbers.residuals], axis=-1)

    def values(self, residuals: np.ndarray) -> np.ndarray:
        """Gaps, and numbers elsewhere."""
        missing = self.gaps.values(residuals[..., 0]) > 0
        return np.where(missing, np.nan, self.numbers.values(residuals[..., 1]))
