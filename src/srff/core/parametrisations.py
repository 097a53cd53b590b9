"""Parametrisations of the frequencies ``(W, b)``: what a descent moves.

Each is a chain rule on the small side, from the slopes ``dW`` (d x D) and ``db`` (D):

* scales ``W = diag(gamma) E``: ``dgamma_s = sum_j (dW * E)_sj``;
* a metric ``W = L E``, with a dense ``E`` or one of few directions a feature: ``dL = dW E'``;
* free frequencies: ``dW`` and ``db`` themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np

from srff.core.groups import each_column, first_of_each, shared


class Frequencies(Protocol):
    """A point ``(W, b)`` that knows its coordinates."""

    @property
    def W(self) -> np.ndarray:
        """The frequencies."""

    @property
    def b(self) -> np.ndarray:
        """The offsets."""

    def vector(self) -> np.ndarray:
        """The coordinates."""

    def at(self, vector: np.ndarray) -> Self:
        """The point of these coordinates."""

    def chain(self, dW: np.ndarray, db: np.ndarray) -> np.ndarray:
        """The slope in the coordinates from the slopes in ``W`` and ``b``."""

    def strength(self) -> np.ndarray:
        """How much each variable is used."""

    def drop(self, kept: np.ndarray) -> Self:
        """The point without the other variables."""


@dataclass(frozen=True)
class Scales:
    """``W = diag(gamma) E``; the sign of a scale means nothing.

    Columns that share a scale have the same number in ``group``, the position of their ``gamma``;
    None gives each its own.
    """

    gamma: np.ndarray
    E: np.ndarray
    b: np.ndarray
    group: np.ndarray | None = None

    @classmethod
    def of(cls, scale: np.ndarray, E: np.ndarray, b: np.ndarray, group: np.ndarray | None) -> Self:
        """From a scale for each column: that of its group is the first one's."""
        return cls(first_of_each(scale, group), E, b, group)

    @property
    def W(self) -> np.ndarray:
        """The frequencies."""
        return each_column(self.gamma, self.group)[:, None] * self.E

    def vector(self) -> np.ndarray:
        """The scales."""
        return self.gamma

    def at(self, vector: np.ndarray) -> Self:
        """The point of these scales."""
        return replace(self, gamma=vector)

    def chain(self, dW: np.ndarray, db: np.ndarray) -> np.ndarray:
        """``sum_j (dW * E)_sj``, over all columns of a scale."""
        return shared(np.sum(dW * self.E, axis=1), self.group)

    def strength(self) -> np.ndarray:
        """The size of each column's scale."""
        return np.abs(each_column(self.gamma, self.group))

    def drop(self, kept: np.ndarray) -> Self:
        """The point without the other variables."""
        if self.group is None:
            return replace(self, gamma=self.gamma[kept], E=self.E[kept])
        group = np.unique(self.group[kept], return_inverse=True)[1]
        return self.of(each_column(self.gamma, self.group)[kept], self.E[kept], self.b, group)


@dataclass(frozen=True)
class _Directions:
    """``W = L E``: directions in the space of the variables, and how fast to go along them."""

    L: np.ndarray
    E: np.ndarray
    b: np.ndarray

    @property
    def W(self) -> np.ndarray:
        """The frequencies."""
        return self.L @ self.E

    def vector(self) -> np.ndarray:
        """The entries of ``L``."""
        return self.L.ravel()

    def at(self, vector: np.ndarray) -> Self:
        """The point of this ``L``."""
        return replace(self, L=vector.reshape(self.L.shape))

    def chain(self, dW: np.ndarray, db: np.ndarray) -> np.ndarray:
        """``dW E'``."""
        return (dW @ self.E.T).ravel()

    def strength(self) -> np.ndarray:
        """The length of each row of ``L``."""
        return np.linalg.norm(self.L, axis=1)


@dataclass(frozen=True)
class Metric(_Directions):
    """``W = L E`` with a dense ``E``: each feature is along all directions."""

    def drop(self, kept: np.ndarray) -> Self:
        """The rows of the kept variables; the directions stay."""
        return replace(self, L=self.L[kept])


@dataclass(frozen=True)
class LowOrder(_Directions):
    """``W = L E`` with a sparse ``E``: each feature is along one, two or three directions.

    Sums of functions of few directions, which a dense ``E`` needs very many features for.  When
    variables leave, so do their directions; in place of the features that were along no other one
    there are new ones of ``draw``, which gives an ``E`` for a number of directions.
    """

    draw: Callable[[int], np.ndarray] = field(repr=False)

    def drop(self, kept: np.ndarray) -> Self:
        """The rows and the directions of the kept variables; new features where none is left."""
        E = self.E[kept]
        E = np.where(np.any(E, axis=0), E, self.draw(len(kept)))
        return replace(self, L=self.L[np.ix_(kept, kept)], E=E)


@dataclass(frozen=True)
class Free:
    """Every frequency and every offset for itself."""

    W: np.ndarray
    b: np.ndarray

    def vector(self) -> np.ndarray:
        """All entries of ``W``, then ``b``."""
        return np.concatenate([self.W.ravel(), self.b])

    def at(self, vector: np.ndarray) -> Self:
        """The point of these frequencies and offsets."""
        return type(self)(vector[: self.W.size].reshape(self.W.shape), vector[self.W.size :])

    def chain(self, dW: np.ndarray, db: np.ndarray) -> np.ndarray:
        """The slopes as they are."""
        return np.concatenate([dW.ravel(), db])

    def strength(self) -> np.ndarray:
        """The root mean square of each variable's frequencies."""
        return np.sqrt(np.mean(self.W**2, axis=1))

    def drop(self, kept: np.ndarray) -> Self:
        """The point without the other variables."""
        return type(self)(self.W[kept], self.b)
