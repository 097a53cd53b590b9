"""Copies of columns at some rows, drawn given all other columns as other rows tell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.linear_model import LogisticRegression

from srff.data.conditional.laws import GapLaw, Latent, Law, LevelLaw, NumberLaw
from srff.data.conditional.predictors import Predictors, predictors
from srff.data.conditional.regressions import Regressions
from srff.data.encoding.frames import Levels, is_category

FEW_VALUES = 10
"""Numbers of so many different values are drawn as levels are."""

LEAST_DISTANCE = 0.1
"""Least mean distance of a row, as a share of that of all: no value is certain."""

NEAREST = 50
"""Predictors of levels: those of the highest correlations."""

LEAST_CHANCE = 0.01
"""Share of a level's chance that is its frequency alone: no level is impossible."""


@dataclass(frozen=True)
class Copies:
    """The laws of a unit's columns at some rows."""

    laws: tuple[Law, ...]
    n_rows: int

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Codes of copies, (count, rows, columns): residuals of all columns in another order."""
        order = rng.permuted(np.tile(np.arange(self.n_rows), (count, 1)), axis=1)
        return np.stack([law.values(law.residuals[order]) for law in self.laws], axis=-1)


@dataclass(frozen=True)
class Conditional:
    """Coded rows (see :mod:`srff.data.encoding.frames`): some to learn from, and others."""

    codes: np.ndarray
    levels: Levels
    learn: np.ndarray
    """Indices of the rows that laws are learned from."""
    aside: np.ndarray
    """Indices of the rows that copies are of."""
    curves: bool = True
    """Whether bent predictors are tried too."""

    def copies(self, unit: np.ndarray, rng: np.random.Generator) -> Copies:
        """The laws of a unit's columns given all columns outside of it."""
        return Copies(tuple(self._law(k, unit, rng) for k in unit), self.aside.size)

    @cached_property
    def _designs(self) -> tuple[tuple[Predictors, Regressions], ...]:
        """Straight predictors and, where there are rows enough for them, bent ones."""
        straight = predictors(self.codes, self.levels)
        out = [straight]
        if self.curves and 3 * straight.source.size <= self.learn.size:
            out.append(predictors(self.codes, self.levels, bent=True))
        return tuple((P, Regressions(P.values[self.learn])) for P in out)

    def _law(self, k: int, unit: np.ndarray, rng: np.random.Generator) -> Law:
        column = self.codes[:, k]
        gaps = np.isnan(column)
        if is_category(self.levels[k]) or np.unique(column[~gaps]).size <= FEW_VALUES:
            return self._level_law(column, unit, rng)
        numbers = self._number_law(column, unit, rng)
        if not gaps.any():
            return numbers
        return GapLaw(self._level_law(gaps.astype(np.float64), unit, rng), numbers)

    def _number_law(
        self, column: np.ndarray, unit: np.ndarray, rng: np.random.Generator
    ) -> NumberLaw:
        latent = Latent.of(column, rng)
        z, z_new = latent.scores[self.learn], latent.scores[self.aside]
        here = ~np.isnan(z_new)
        means, left = self._expected(np.where(np.isnan(z), 0.0, z), unit)
        means = calibrated(means, z_new, here)
        spreads = calibrated(self._expected(np.abs(left), unit)[0], np.abs(z_new - means), here)
        spreads = np.maximum(spreads, LEAST_DISTANCE * float(np.mean(spreads)))
        residuals = (z_new - means) / np.where(spreads > 0, spreads, 1.0)
        if here.any() and not here.all():
            residuals[~here] = rng.choice(residuals[here], np.sum(~here))
        return NumberLaw(latent, means, spreads, np.where(np.isnan(residuals), 0.0, residuals))

    def _expected(self, t: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of a target of the rows to learn from: its mean at the others, and what is left of it."""
        each = (
            regressions.means(t, P.positions(unit), P.values[self.aside])
            for P, regressions in self._designs
        )
        return min(each, key=lambda found: float(found[1] @ found[1]))

    def _level_law(
        self, column: np.ndarray, unit: np.ndarray, rng: np.random.Generator
    ) -> LevelLaw:
        values, place = np.unique(column, return_inverse=True)  # all gaps are one level
        P = self._designs[0][0]
        others = np.delete(np.arange(P.source.size), P.positions(unit))
        chances = learned_chances(
            P.values[np.ix_(self.learn, others)],
            place[self.learn],
            values.size,
            P.values[np.ix_(self.aside, others)],
        )
        return LevelLaw.of(values, chances, place[self.aside], rng)


def calibrated(means: np.ndarray, z: np.ndarray, known: np.ndarray) -> np.ndarray:
    """``a + b m``, a and b from regressing ``z`` on the learned means where it is known.

    Means learned from few rows are too far out; with the residuals of another row on top, copies
    would spread wider than the column does.  ``b`` is at least zero.
    """
    m, z = means[known], z[known]
    if not m.size:
        return means
    away = m - m.mean()
    variance = float(np.mean(away**2))
    slope = max(float(np.mean(away * z)) / variance, 0.0) if variance > 1e-12 else 0.0
    return z.mean() + slope * (means - m.mean())


def learned_chances(
    P: np.ndarray, place: np.ndarray, n_levels: int, P_new: np.ndarray
) -> np.ndarray:
    """Chances of levels given predictors at new rows, by logistic regression: (rows, levels)."""
    frequency = (np.bincount(place, minlength=n_levels) + 0.5) / (place.size + 0.5 * n_levels)
    chances = np.tile(frequency, (P_new.shape[0], 1))
    seen = np.unique(place)
    if seen.size < 2 or not P.shape[1]:
        return chances
    near = nearest(P, (place[:, None] == seen).astype(np.float64), NEAREST)
    model = LogisticRegression(max_iter=200).fit(P[:, near], place)
    learned = np.zeros_like(chances)
    learned[:, seen] = model.predict_proba(P_new[:, near])
    return (1 - LEAST_CHANCE) * learned + LEAST_CHANCE * frequency


def nearest(P: np.ndarray, T: np.ndarray, most: int) -> np.ndarray:
    """The predictors of the highest correlation with any of the targets, the highest first."""
    T, centred = T - T.mean(axis=0), P - P.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    products = np.abs(centred.T @ (T / np.maximum(np.linalg.norm(T, axis=0), 1e-300)))
    score = products.max(axis=1) / np.maximum(scale, 1e-300)
    varies = np.flatnonzero(scale > 1e-9)
    return varies[np.argsort(-score[varies], kind="stable")[:most]]
