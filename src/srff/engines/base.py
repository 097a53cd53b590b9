"""What every engine offers: the sums over rows that solvers ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from srff import features
from srff.engines.plan import Rows
from srff.features import Array, Statistics

BlockFunction = Callable[[Array, Array, Array | None], tuple[Array, ...]]
"""From one block (X, Y, weight) to the arrays that are summed over blocks."""


@dataclass(frozen=True)
class Standardisation:
    """The affine maps to zero mean and unit spread: ``(X - center) / spread``, the same for ``Y``.

    A constant column has spread one, so it becomes a column of zeros.
    """

    center: np.ndarray
    spread: np.ndarray
    y_center: np.ndarray
    y_spread: float


class Engine(ABC):
    """A data set of ``n`` weighted rows, standardised, as a sum over blocks of rows.

    ``columns`` restricts a pass to those columns: ``W`` then has as many rows, and no other column
    is read.  Parameters come in and sums go out as float64 NumPy arrays.
    """

    n: float
    n_features: int
    n_passes: int = 0

    def statistics(
        self, W: np.ndarray, b: np.ndarray, columns: np.ndarray | None = None
    ) -> Statistics:
        """``G = Z'Z``, ``c = Z'Y``, ``s`` over all rows."""
        W, b = self._parameter(W), self._parameter(b)
        G, c, s = self._sum(lambda X, Y, w: features.statistics(X, Y, w, W, b), columns)
        return Statistics(G, c, float(s), self.n)

    def loss(
        self, W: np.ndarray, b: np.ndarray, a: np.ndarray, columns: np.ndarray | None = None
    ) -> float:
        """``||Y - Z a||^2 / n`` over all rows."""
        W, b, a = self._parameter(W), self._parameter(b), self._parameter(a)
        (value,) = self._sum(lambda X, Y, w: features.loss(X, Y, w, W, b, a), columns)
        return float(value) / self.n

    def loss_pull_back(
        self, W: np.ndarray, b: np.ndarray, a: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """``||Y - Z a||^2 / n`` and its derivative with respect to ``W`` at fixed ``a``."""
        W, b, a = self._parameter(W), self._parameter(b), self._parameter(a)
        value, dW = self._sum(lambda X, Y, w: features.loss_pull_back(X, Y, w, W, b, a), columns)
        return float(value) / self.n, dW / self.n

    def pull_back(
        self,
        W: np.ndarray,
        b: np.ndarray,
        dG: np.ndarray,
        dc: np.ndarray,
        columns: np.ndarray | None = None,
    ) -> np.ndarray:
        """The derivative with respect to ``W`` of a function of the statistics."""
        W, b, dG, dc = (self._parameter(p) for p in (W, b, dG, dc))
        (dW,) = self._sum(lambda X, Y, w: features.pull_back(X, Y, w, W, b, dG, dc), columns)
        return dW

    @abstractmethod
    def _parameter(self, array: np.ndarray) -> Array:
        """A small array in the form that blocks are multiplied with."""

    @abstractmethod
    def _sum(self, function: BlockFunction, columns: np.ndarray | None) -> list[np.ndarray]:
        """Sum ``function`` over all blocks in the order of the rows, in float64."""

    @abstractmethod
    def close(self) -> None:
        """Give back threads and device memory."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def standardised_block(
    X: Any, Y: np.ndarray, rows: Rows, standardisation: Standardisation, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """``X'`` (columns x rows) and ``Y`` of some rows, standardised in float64, then rounded.

    Blocks are kept column by column so that taking a few columns copies whole runs of memory.
    """
    s = standardisation
    block = (X[rows] - s.center) / s.spread
    return (
        np.ascontiguousarray(block.T, dtype=dtype),
        ((Y[rows] - s.y_center) / s.y_spread).astype(dtype),
    )


def total_weight(X: Any, weight: np.ndarray | None, rows: np.ndarray | None) -> float:
    """The sum of the weights of the engine's rows."""
    if weight is None:
        return float(X.shape[0] if rows is None else rows.size)
    return float(np.sum(weight if rows is None else weight[rows]))
