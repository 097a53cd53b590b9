"""What every engine offers: the sums over rows that solvers ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace, device

from srff import features
from srff.engines.plan import Rows
from srff.features import Array, Statistics
from srff.transforms import Transform

BlockFunction = Callable[[Array, Array, Array | None], tuple[Array, ...]]
"""From one block (X, Y, weight) to the arrays that are summed over blocks."""


Block = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""``X'`` (columns x rows), ``Y`` and the weights of some rows, standardised."""


@dataclass(frozen=True)
class Standardisation:
    """What a block of rows goes through: a map of each input, ``(Y - y_center) / y_spread``."""

    inputs: Transform
    y_center: np.ndarray
    y_spread: float

    def of(self, columns: np.ndarray | None) -> Transform:
        """The map of all inputs, or of some; ``columns`` has that of ones last."""
        return self.inputs if columns is None else self.inputs.take(columns[:-1])

    def targets(self, Y: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A block of targets, standardised in float64, then rounded."""
        return ((Y - self.y_center) / self.y_spread).astype(dtype)


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
        (statistics,) = self.statistics_of_each([(W, b)], columns)
        return statistics

    def statistics_of_each(
        self, points: list[tuple[np.ndarray, np.ndarray]], columns: np.ndarray | None = None
    ) -> list[Statistics]:
        """The statistics at several ``(W, b)``, from one pass."""
        each = [self._affine(W, b) for W, b in points]

        def block(X: Array, Y: Array, w: Array | None) -> tuple[Array, ...]:
            return tuple(part for V in each for part in features.statistics(X, Y, w, V))

        width = max(b.size for _, b in points)
        sums = self._sum(block, self._with_ones(columns), width)
        return [
            Statistics(G, c, float(s), self.n)
            for G, c, s in zip(sums[::3], sums[1::3], sums[2::3], strict=True)
        ]

    def loss(
        self, W: np.ndarray, b: np.ndarray, a: np.ndarray, columns: np.ndarray | None = None
    ) -> float:
        """``||Y - Z a||^2 / n`` over all rows."""
        V, a = self._affine(W, b), self._parameter(a)
        (value,) = self._sum(lambda X, Y, w: features.loss(X, Y, w, V, a), self._with_ones(columns))
        return float(value) / self.n

    def loss_pull_back(
        self, W: np.ndarray, b: np.ndarray, a: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """``||Y - Z a||^2 / n`` and its derivatives with respect to ``W``, ``b`` at fixed ``a``."""
        V, a = self._affine(W, b), self._parameter(a)
        value, dV = self._sum(
            lambda X, Y, w: features.loss_pull_back(X, Y, w, V, a), self._with_ones(columns)
        )
        dV /= self.n
        return float(value) / self.n, dV[:-1], dV[-1]

    def pull_back(
        self,
        W: np.ndarray,
        b: np.ndarray,
        dG: np.ndarray,
        dc: np.ndarray,
        columns: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives with respect to ``W``, ``b`` of a function of the statistics."""
        V, dG, dc = self._affine(W, b), self._parameter(dG), self._parameter(dc)
        (dV,) = self._sum(
            lambda X, Y, w: features.pull_back(X, Y, w, V, dG, dc), self._with_ones(columns)
        )
        return dV[:-1], dV[-1]

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
        V, a = self._affine(model.W, model.b), self._parameter(model.a)

        def block(X: Array, Y: Array, w: Array | None) -> tuple[Array, ...]:
            order = np.random.RandomState(X.shape[0]).permutation(X.shape[0])
            return features.permutation_loss(X, Y, w, V, a, self._index(order))

        one, two = self._sum(block, self._with_ones(model.columns))
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
        models = [[self._affine(m.W, m.b), self._parameter(m.a)] for m in predictions]
        return models, [self._index(np.append(m.columns, self.n_features)) for m in predictions]

    def marginal_statistics(
        self, frequencies: np.ndarray, model: features.Prediction | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Moments of waves of single inputs; see :func:`srff.features.marginal_statistics`.

        With a model they are moments with its residuals.
        """
        w, residual = self._parameter(frequencies), self._residual(model)
        moments, products = self._sum(
            lambda X, Y, v: features.marginal_statistics(X[:, :-1], residual(X, Y), v, w), None
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
        ((V, a),), (columns,) = self._models([model])
        return lambda X, Y: features.residual(X, Y, V, a, columns)

    def _affine(self, W: np.ndarray, b: np.ndarray) -> Array:
        """Frequencies and offsets as blocks are multiplied with them."""
        return self._parameter(features.affine(W, b))

    def _with_ones(self, columns: np.ndarray | None) -> np.ndarray | None:
        """Some columns and that of ones; None for all."""
        if columns is None or np.array_equal(columns, np.arange(self.n_features)):
            return None
        return np.append(columns, self.n_features)

    @abstractmethod
    def _parameter(self, array: np.ndarray) -> Array:
        """A small array in the form that blocks are multiplied with."""

    def _index(self, indices: np.ndarray) -> Array:
        """Indices in the form that a block is indexed with."""
        return indices

    @abstractmethod
    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, width: int = 0
    ) -> list[np.ndarray]:
        """Sum ``function`` over all blocks in the order of the rows, in float64.

        A block's ``X`` has the inputs and then a column of ones; ``columns`` picks among them.
        ``width`` says that square arrays of this width are among the sums.
        """

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


def add(total: list[np.ndarray], parts: Sequence[Array]) -> None:
    """Add a block's arrays to float64 totals in place."""
    if not total:
        total.extend(np.array(part, dtype=np.float64) for part in parts)
    else:
        for sum_, part in zip(total, parts, strict=True):
            sum_ += part


def picked(X: Any, rows: Rows, columns: np.ndarray | None) -> np.ndarray:
    """Some rows of ``X`` in all columns, or in some of them and that of ones, which comes last."""
    if columns is None:
        return X[rows]
    inputs = columns[:-1]
    return X[rows, inputs] if isinstance(rows, slice) else X[rows[:, None], inputs]


def standardised_inputs(X: Array, inputs: Transform, dtype: Any) -> Array:
    """``X'`` (columns x rows) of some rows, standardised in float64, then rounded; then ones.

    Blocks are kept column by column so that taking a few columns copies whole runs of memory.
    """
    block = inputs(X)
    xp = array_namespace(X)
    out = xp.empty((X.shape[1] + 1, X.shape[0]), dtype=dtype, device=device(X))
    out[:-1, :] = block.T
    out[-1, :] = 1.0
    return out


def total_weight(X: Any, weight: np.ndarray | None, rows: np.ndarray | None) -> float:
    """The sum of the weights of the engine's rows."""
    if weight is None:
        return float(X.shape[0] if rows is None else rows.size)
    return float(np.sum(weight if rows is None else weight[rows]))
