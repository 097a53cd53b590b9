"""Means of the target at the levels of a category, smoothed and cross-fitted as TargetEncoder's.

scikit-learn's :class:`~sklearn.preprocessing.TargetEncoder` knows neither weights nor rows that
come piece by piece; sums by level know both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.preprocessing import TargetEncoder
from sklearn.utils import check_random_state

from srff.data.content import content_of
from srff.data.split import key_multipliers

MOST_EXPONENT = 300
"""The exponent of two up to which targets are taken as they are: their squares are numbers."""


def level_rows(codes: np.ndarray, n_levels: int) -> np.ndarray:
    """Rows of a table that has one for each level, for a missing one and for an unseen one."""
    rows = np.where(np.isnan(codes), n_levels, codes)
    return np.where(rows < 0, n_levels + 1, rows).astype(np.intp)


@dataclass(frozen=True)
class LevelSums:
    """Of the rows of each level, those without a value last: weight, means, squared deviations."""

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    def total(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of all rows."""
        share = self.weight[:, None] / self.weight.sum()
        mean = (share * self.mean).sum(axis=0)
        within = self.scatter.sum(axis=0) / self.weight.sum()
        return mean, within + (share * np.square(self.mean - mean)).sum(axis=0)

    def counted(self, unit: float) -> LevelSums:
        """The sums with weights in this unit."""
        return LevelSums(self.weight / unit, self.mean, self.scatter / unit)

    def plus(self, other: LevelSums) -> LevelSums:
        """The sums of the rows of both."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        apart, share = other.mean - self.mean, share[:, None]
        between = np.square(apart) * share * self.weight[:, None]
        scatter = self.scatter + other.scatter + between
        return LevelSums(weight, self.mean + share * apart, scatter)


def level_sums(
    codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, n_levels: int
) -> LevelSums:
    """The sums of coded rows."""
    rows = level_rows(codes, n_levels)
    w = np.ones(rows.size) if weight is None else weight

    def by_level(values: np.ndarray) -> np.ndarray:
        return np.bincount(rows, weights=values, minlength=n_levels + 1)[: n_levels + 1]

    mass = by_level(w)
    divisor = np.where(mass > 0, mass, 1.0)
    shape = (n_levels + 1, targets.shape[1])
    mean, scatter = np.zeros(shape), np.zeros(shape)
    for j, target in enumerate(targets.T):
        mean[:, j] = by_level(w * target) / divisor
        scatter[:, j] = by_level(w * np.square(target - mean[rows, j]))
    return LevelSums(mass, mean, scatter)


def smoothed_means(sums: LevelSums, smooth: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means at levels drawn to the mean of all rows, as TargetEncoder does, and that mean.

    With ``smooth="auto"`` the share of a level's own mean is ``v n / (v n + s)``, where ``v`` is
    the variance of all rows, ``n`` the level's weight and ``s`` its own variance.
    """
    n = sums.weight[:, None]
    mean, variance = sums.total()
    if isinstance(smooth, str):
        own = np.divide(sums.scatter, n, out=np.zeros_like(sums.scatter), where=n > 0)
        upper = variance * n
        lower = upper + own
        share = np.divide(upper, lower, out=np.zeros_like(lower), where=lower > 0)
    else:
        share = np.divide(n, n + smooth, out=np.zeros_like(n), where=n > 0)
    return share * sums.mean + (1 - share) * mean, mean


def target_columns(y: np.ndarray | None) -> np.ndarray:
    """What means are taken of: the targets, or the indicators of classes."""
    if y is None:
        raise ValueError("Categories are encoded by means of the target, and there is none.")
    targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    # Means are standardised later: another unit changes nothing, and squares do not overflow.
    exponent = np.frexp(np.abs(targets).max(axis=0, initial=0.0))[1]
    return np.ldexp(targets, np.where(np.abs(exponent) > MOST_EXPONENT, -exponent, 0))


def fold_keys(coded: np.ndarray, targets: np.ndarray, random_state: Any) -> np.ndarray:
    """A number for each distinct row, pseudo-random and by what it holds."""
    rng = check_random_state(random_state)
    multipliers = key_multipliers(rng, coded.shape[1] + targets.shape[1] - 1)
    filled = np.where(np.isnan(coded), np.finfo(np.float64).max, coded)  # NaN has many bits
    _, own = np.unique(content_of(filled, targets, multipliers).rows, return_inverse=True)
    return own


def cross_fitted(
    encoder: TargetEncoder,
    codes: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None,
    keys: np.ndarray,
    table: np.ndarray,
) -> np.ndarray:
    """The means at each row's level over the rows of other folds.

    ``table`` are those over all rows, which stand where there are no other folds.
    """
    n_levels = table.shape[0] - 2
    out = table[level_rows(codes, n_levels)]
    for train, test in _folds(encoder.cv, keys, targets):
        if train.size:
            w = None if weight is None else weight[train]
            sums = level_sums(codes[train], targets[train], w, n_levels)
            out[test] = smoothed_means(sums, encoder.smooth)[0][level_rows(codes[test], n_levels)]
    return out


def _folds(
    cv: Any, keys: np.ndarray, targets: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if isinstance(cv, int):
        own = keys % cv
        for fold in range(cv):
            yield np.flatnonzero(own != fold), np.flatnonzero(own == fold)
        return
    y = targets[:, 0] if targets.shape[1] == 1 else targets
    yield from check_cv(cv).split(keys[:, None], y)
