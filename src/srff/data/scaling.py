"""Maps of single inputs to a common scale, fitted once and applied block by block."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from array_api_compat import array_namespace, device
from scipy.special import ndtri

from srff.core.features import Array

N_KNOTS = 257
"""Most knots of a column's quantile function: between them it is linear."""


class Transform(Protocol):
    """A map of each column of a block, of NumPy or of another library; float64 comes out."""

    @property
    def name(self) -> str:
        """What users call it."""

    def __call__(self, X: Array) -> Array:
        """The block in the new units."""

    def take(self, columns: np.ndarray) -> Self:
        """The map of some of the columns."""


@dataclass(frozen=True)
class Standardise:
    """``(X - center) / spread``: mean zero, unit spread; a constant column becomes zeros."""

    center: np.ndarray
    spread: np.ndarray
    name: str = field(default="standard", repr=False)

    def __call__(self, X: Array) -> Array:
        """The block in units of the spread around the center."""
        return (X - _beside(self.center, X)) / _beside(self.spread, X)

    def take(self, columns: np.ndarray) -> Self:
        """The map of some of the columns."""
        return replace(self, center=self.center[columns], spread=self.spread[columns])


@dataclass(frozen=True)
class Quantile:
    """Normal scores ``Phi^-1(rank / n)`` of each value, interpolated; mean zero, spread one.

    ``knots[s]`` are values of column s in rising order and ``scores[s]`` what they become; beyond
    the first and the last the score stays, so that outliers lose their weight.
    """

    knots: tuple[np.ndarray, ...]
    scores: tuple[np.ndarray, ...]
    name: str = field(default="quantile", repr=False)

    @classmethod
    def fit(cls, X: np.ndarray) -> Self:
        """From a sample of rows."""
        pairs = [_normal_scores(np.asarray(column, dtype=np.float64)) for column in X.T]
        return cls(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs))

    def beside(self, standard: Standardise, joint: tuple[np.ndarray, ...]) -> Self:
        """The map with some columns as the other has them: two knots make a straight line."""
        knots, scores = list(self.knots), list(self.scores)
        for s in np.concatenate([np.zeros(0, dtype=np.intp), *joint]):
            ends = knots[s][[0, -1]] if knots[s].size > 1 else knots[s]
            knots[s], scores[s] = ends, (ends - standard.center[s]) / standard.spread[s]
        return replace(self, knots=tuple(knots), scores=tuple(scores))

    def __call__(self, X: Array) -> Array:
        """The block's normal scores."""
        xp = array_namespace(X)
        out = xp.empty(X.shape, dtype=xp.float64, device=device(X))
        for s, (knots, scores) in enumerate(zip(self.knots, self.scores, strict=True)):
            out[:, s] = _interpolated(X[:, s], knots, scores)
        return out

    def take(self, columns: np.ndarray) -> Self:
        """The map of some of the columns."""
        return replace(
            self,
            knots=tuple(self.knots[s] for s in columns),
            scores=tuple(self.scores[s] for s in columns),
        )


def _beside(array: np.ndarray, X: Array) -> Array:
    """A small array in ``X``'s library, on its device."""
    if isinstance(X, np.ndarray):
        return array
    return array_namespace(X).asarray(array, device=device(X))


def _interpolated(x: Array, knots: np.ndarray, scores: np.ndarray) -> Array:
    """``np.interp(x, knots, scores)`` in any library."""
    if isinstance(x, np.ndarray):
        return np.interp(x, knots, scores)
    xp = array_namespace(x)
    x = xp.astype(x, xp.float64)
    if knots.size == 1:
        return xp.full_like(x, float(scores[0]))
    slope = np.diff(scores) / np.diff(knots)
    k, v, m = (_beside(p, x) for p in (knots, scores, slope))
    x = xp.clip(x, float(knots[0]), float(knots[-1]))
    i = xp.clip(xp.searchsorted(k, x, side="right") - 1, 0, knots.size - 2)
    return xp.take(v, i) + xp.take(m, i) * (x - xp.take(k, i))


def _normal_scores(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knots and scores of one column, with mean zero and unit spread over the sample."""
    values, counts = np.unique(column, return_counts=True)
    if values.size == 1:
        return values, np.zeros(1)
    # Mid-ranks: a value that stands m times has the mean of the m ranks.
    ranks = (np.cumsum(counts) - counts / 2) / column.size
    if values.size > N_KNOTS:
        chosen = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], N_KNOTS)))
        chosen[0], chosen[-1] = 0, values.size - 1
        values_k, ranks_k = values[chosen], ranks[chosen]
    else:
        values_k, ranks_k = values, ranks
    scores = ndtri(ranks_k)
    sample = np.interp(column, values_k, scores)
    return values_k, (scores - sample.mean()) / sample.std()


def needs_quantiles(X: Any, standard: Standardise) -> bool:
    """Whether any column is far from a normal one: then the quantile map is worth a try.

    By the skewness ``|mean u^3| > 1`` and the kurtosis ``mean u^4 > 6`` of the standardised columns
    of a sample ``X`` (rows x d); a uniform or a two-valued column has nothing to gain.
    """
    U = standard(X)
    skewness = np.abs(np.mean(U**3, axis=0))
    kurtosis = np.mean(U**4, axis=0)
    return bool(np.any((skewness > 1.0) | (kurtosis > 6.0)))
