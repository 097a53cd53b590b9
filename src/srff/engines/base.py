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
from srff.transforms import Transform

BlockFunction = Callable[[Array, Array, Array | None], tuple[Array, ...]]
"""From one block (X, Y, weight) to the arrays that are summed over blocks."""


@dataclass(frozen=True)
class Standardisation:
    """What a block of rows goes through: a map of each input, ``(Y - y_center) / y_spread``."""

    inputs: Transform
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
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """``||Y - Z a||^2 / n`` and its derivatives with respect to ``W``, ``b`` at fixed ``a``."""
        W, b, a = self._parameter(W), self._parameter(b), self._parameter(a)
        value, dW, db = self._sum(
            lambda X, Y, w: features.loss_pull_back(X, Y, w, W, b, a), columns
        )
        return float(value) / self.n, dW / self.n, db / self.n

    def pull_back(
        self,
        W: np.ndarray,
        b: np.ndarray,
        dG: np.ndarray,
        dc: np.ndarray,
        columns: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives with respect to ``W``, ``b`` of a function of the statistics."""
        W, b, dG, dc = (self._parameter(p) for p in (W, b, dG, dc))
        dW, db = self._sum(lambda X, Y, w: features.pull_back(X, Y, w, W, b, dG, dc), columns)
        return dW, db

    def difference(
        self, first: features.Prediction, second: features.Prediction
    ) -> tuple[np.ndarray, np.ndarray]:
        """How much worse ``first`` is, as means over rows, and their standard errors.

        Two numbers each: for squared errors and for absolute ones.
        """
        models, columns = self._models([first, second])
        one, two = self._sum(lambda X, Y, w: features.difference(X, Y, w, models, columns), None)
        return self._mean_and_error(one, two)

    def permutation_loss(self, model: features.Prediction) -> tuple[np.ndarray, np.ndarray]:
        """How much the model's squared error rises when a column is shuffled within blocks.

        Means over rows and their standard errors, for each of the model's columns.
        """
        W, b, a = (self._parameter(p) for p in (model.W, model.b, model.a))

        def block(X: Array, Y: Array, w: Array | None) -> tuple[Array, ...]:
            order = np.random.RandomState(X.shape[0]).permutation(X.shape[0])
            return features.permutation_loss(X, Y, w, W, b, a, self._index(order))

        one, two = self._sum(block, model.columns)
        return self._mean_and_error(one, two)

    def residual_products(self, predictions: list[features.Prediction]) -> np.ndarray:
        """Means over rows of the products of any two models' residuals."""
        models, columns = self._models(predictions)
        (products,) = self._sum(
            lambda X, Y, w: features.residual_products(X, Y, w, models, columns), None
        )
        return products / self.n

    def _mean_and_error(
        self, sums: np.ndarray, squares: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means over rows and their standard errors, from sums and sums of squares."""
        mean = sums / self.n
        variance = np.maximum(squares / self.n - mean**2, 0.0)
        return mean, np.sqrt(variance / max(self.n - 1, 1.0))

    def _models(
        self, predictions: list[features.Prediction]
    ) -> tuple[list[list[Array]], list[Array]]:
        models = [[self._parameter(p) for p in (m.W, m.b, m.a)] for m in predictions]
        return models, [self._index(m.columns) for m in predictions]

    def marginal_statistics(
        self, frequencies: np.ndarray, model: features.Prediction | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Moments of waves of single inputs; see :func:`srff.features.marginal_statistics`.

        With a model they are moments with its residuals.
        """
        w, residual = self._parameter(frequencies), self._residual(model)
        moments, products = self._sum(
            lambda X, Y, v: features.marginal_statistics(X, residual(X, Y), v, w), None
        )
        return moments, products

    def pair_statistics(
        self,
        frequencies: np.ndarray,
        columns: np.ndarray,
        model: features.Prediction | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Moments of products of two inputs' waves; see :func:`srff.features.pair_statistics`."""
        w, residual, taken = (
            self._parameter(frequencies),
            self._residual(model),
            self._index(columns),
        )
        first, second = self._sum(
            lambda X, Y, v: features.pair_statistics(X[:, taken], residual(X, Y), v, w), None
        )
        return first, second

    def _residual(self, model: features.Prediction | None) -> Callable[[Array, Array], Array]:
        """From the ``X`` and ``Y`` of a block to what a model leaves of ``Y``."""
        if model is None:
            return lambda X, Y: Y
        W, b, a = (self._parameter(p) for p in (model.W, model.b, model.a))
        columns = self._index(model.columns)
        return lambda X, Y: features.residual(X, Y, W, b, a, columns)

    @abstractmethod
    def _parameter(self, array: np.ndarray) -> Array:
        """A small array in the form that blocks are multiplied with."""

    def _index(self, indices: np.ndarray) -> Array:
        """Indices in the form that a block is indexed with."""
        return indices

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
    block = s.inputs(X[rows])
    return (
        np.ascontiguousarray(block.T, dtype=dtype),
        ((Y[rows] - s.y_center) / s.y_spread).astype(dtype),
    )


def total_weight(X: Any, weight: np.ndarray | None, rows: np.ndarray | None) -> float:
    """The sum of the weights of the engine's rows."""
    if weight is None:
        return float(X.shape[0] if rows is None else rows.size)
    return float(np.sum(weight if rows is None else weight[rows]))
