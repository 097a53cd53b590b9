"""What every engine offers: the sums over rows that solvers ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from srff._utils.resource import Resource
from srff.core import features
from srff.core.features import Array, Expansion, Statistics
from srff.core.losses import SQUARED, Loss, Squared

BlockFunction = Callable[..., tuple[Array, ...]]
"""From one block ``X, Y, weight`` and small arrays to what is summed over blocks.  A function of a
module: a worker of another process finds it by its name."""


class Engine(Resource, ABC):
    """A data set of ``n`` weighted rows, standardised, as a sum over blocks of rows.

    ``columns`` restricts a pass to those columns: ``W`` then has as many rows, and no other column
    is read.  Parameters come in and sums go out as float64 NumPy arrays.
    """

    n: float
    n_features: int
    n_passes: int = 0
    spare_threads: int = 1
    """Threads for independent passes side by side: one where a pass has use for all itself."""

    def statistics(
        self,
        W: np.ndarray,
        b: np.ndarray,
        columns: np.ndarray | None = None,
        loss: Squared = SQUARED,
    ) -> Statistics:
        """``G = Z'Z``, ``c = Z'Y``, ``s`` over all rows."""
        (statistics,) = self.statistics_of_each([(W, b)], columns, loss)
        return statistics

    def statistics_of_each(
        self,
        points: list[tuple[np.ndarray, np.ndarray]],
        columns: np.ndarray | None = None,
        loss: Squared = SQUARED,
    ) -> list[Statistics]:
        """The statistics at several ``(W, b)``, from one pass."""
        each = [features.affine(W, b) for W, b in points]
        width = max(b.size for _, b in points)
        columns = self._with_ones(columns)
        sums = self._sum(features.statistics_of_each, columns, loss, *each, width=width)
        return [
            Statistics(G, c, float(s), self.n)
            for G, c, s in zip(sums[::3], sums[1::3], sums[2::3], strict=True)
        ]

    def loss(self, loss: Loss, model: Expansion) -> float:
        """The mean loss of a model."""
        (value,) = self._sum(features.loss, *self._arguments(loss, model))
        return float(value) / self.n

    def loss_squares(self, loss: Loss, model: Expansion) -> float:
        """The mean square of a model's losses: how much they vary from row to row."""
        (value,) = self._sum(features.loss_squares, *self._arguments(loss, model))
        return float(value) / self.n

    def loss_pull_back(self, loss: Loss, model: Expansion) -> tuple[float, np.ndarray, np.ndarray]:
        """The mean loss and its derivatives with respect to ``W``, ``b`` at fixed ``a``, ``c``."""
        value, dV = self._sum(features.loss_pull_back, *self._arguments(loss, model))
        dV /= self.n
        return float(value) / self.n, dV[:-1], dV[-1]

    def loss_slope(self, loss: Loss, model: Expansion) -> tuple[float, np.ndarray]:
        """The mean loss and its slope in ``a`` and, in a last row, ``c``."""
        value, ga, gc = self._sum(features.loss_slope, *self._arguments(loss, model))
        return float(value) / self.n, np.concatenate([ga, gc[None, :]]) / self.n

    def weighted_statistics(
        self, loss: Loss, model: Expansion
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The mean loss, its slope in ``a`` and ``c``, and its second derivative, for a step.

        The second derivative is the same for each output: a matrix whose last row and column
        belong to ``c``.
        """
        value, ga, gc, H, h, h0 = self._sum(
            features.weighted_statistics, *self._arguments(loss, model), width=model.b.size
        )
        second = np.block([[H, h[:, None]], [h[None, :], np.full((1, 1), h0)]])
        return float(value) / self.n, np.concatenate([ga, gc[None, :]]) / self.n, second / self.n

    def constant_statistics(
        self, loss: Loss, c: np.ndarray
    ) -> tuple[float, np.ndarray, float, float]:
        """Of the constant ``c``: mean loss, slope, curvature, and mean square of rows' slopes."""
        value, slope, curvature, square = self._sum(features.constant_statistics, None, loss, c)
        return (
            float(value) / self.n,
            slope / self.n,
            float(curvature) / self.n,
            float(square) / self.n,
        )

    def _arguments(self, loss: Loss, model: Expansion) -> tuple[Any, ...]:
        V = features.affine(model.W, model.b)
        return self._with_ones(model.columns), loss, V, model.a, model.c

    def pull_back(
        self,
        W: np.ndarray,
        b: np.ndarray,
        dG: np.ndarray,
        dc: np.ndarray,
        columns: np.ndarray | None = None,
        loss: Squared = SQUARED,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives with respect to ``W``, ``b`` of a function of the statistics."""
        V = features.affine(W, b)
        (dV,) = self._sum(features.pull_back, self._with_ones(columns), loss, V, dG, dc)
        return dV[:-1], dV[-1]

    def difference(
        self, loss: Loss, first: Expansion, second: Expansion
    ) -> tuple[np.ndarray, np.ndarray]:
        """How much worse ``first`` is, as means over rows, and their standard errors.

        Two numbers each: for the losses of the rows and for their roots.
        """
        models = self._model(first), self._model(second)
        one, two = self._sum(features.difference, None, loss, *models)
        return self._mean_and_error(one, two)

    def permutation_loss(
        self, loss: Loss, model: Expansion, groups: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """How much the model's loss rises when the columns of a group are shuffled within blocks.

        A group is positions among the model's columns.  Means over rows and their standard errors.
        """
        plain = tuple(tuple(group.tolist()) for group in groups)
        one, two = self._sum(features.permutation_loss, *self._arguments(loss, model), plain)
        return self._mean_and_error(one, two)

    def shuffled_losses(
        self, loss: Loss, expansions: list[Expansion], shuffles: tuple[int, int]
    ) -> np.ndarray:
        """Sums of losses of models, as they are and with their outputs shuffled within blocks.

        ``shuffles`` are their number and a seed; (models, 1 + number).  See
        :func:`srff.core.features.shuffled_losses`.
        """
        models = [self._model(expansion) for expansion in expansions]
        (values,) = self._sum(features.shuffled_losses, None, loss, shuffles, *models)
        return values

    def shuffled_products(
        self, loss: Squared, columns: np.ndarray, shuffles: tuple[int, int]
    ) -> np.ndarray:
        """Sums of products of columns and targets, as they are and with rows shuffled.

        (columns, targets, 1 + number); see :func:`srff.core.features.shuffled_products`.
        """
        (sums,) = self._sum(features.shuffled_products, self._with_ones(columns), loss, shuffles)
        return sums

    def blend_losses(
        self, loss: Loss, shares: np.ndarray, expansions: list[Expansion]
    ) -> np.ndarray:
        """Mean losses of weighted means of models, one for each row of ``shares``."""
        models = [self._model(expansion) for expansion in expansions]
        (values,) = self._sum(features.blend_losses, None, loss, shares, *models)
        return values / self.n

    def _mean_and_error(
        self, sums: np.ndarray, squares: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means over rows and their standard errors, from sums and sums of squares."""
        mean = sums / self.n
        variance = np.maximum(squares / self.n - mean**2, 0.0)
        return mean, np.sqrt(variance / max(self.n - 1, 1.0))

    def _model(self, p: Expansion) -> features.ExpansionArrays:
        columns = np.append(p.columns, self.n_features)
        return features.affine(p.W, p.b), p.a, p.c, columns

    def marginal_statistics(
        self, loss: Squared, frequencies: np.ndarray, model: Expansion | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Moments of waves of single inputs; see :func:`srff.core.features.marginal_statistics`.

        With a model they are moments with its residuals.
        """
        given = None if model is None else self._model(model)
        moments, products = self._sum(features.marginal_statistics, None, loss, frequencies, given)
        return moments, products

    def pair_statistics(
        self,
        loss: Squared,
        frequencies: np.ndarray,
        columns: np.ndarray,
        mixture: np.ndarray,
        model: Expansion | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Moments of products of two inputs' waves; see :func:`srff.core.features.pair_statistics`.

        They are moments with one mixture of the targets.
        """
        given = None if model is None else self._model(model)
        first, second = self._sum(
            features.pair_statistics, None, loss, frequencies, columns, mixture[:, None], given
        )
        return first, second

    def _with_ones(self, columns: np.ndarray | None) -> np.ndarray | None:
        """Some columns and that of ones; None for all."""
        if columns is None or np.array_equal(columns, np.arange(self.n_features)):
            return None
        return np.append(columns, self.n_features)

    def _here(self, argument: Any) -> Any:
        """An argument in the form that blocks are worked on with."""
        if isinstance(argument, tuple):
            return tuple(map(self._here, argument))
        if not isinstance(argument, np.ndarray):
            return argument
        indices = argument.dtype.kind in "iu"
        return self._index(argument) if indices else self._parameter(argument)

    @abstractmethod
    def _parameter(self, array: np.ndarray) -> Array:
        """A small array in the form that blocks are multiplied with."""

    def _index(self, indices: np.ndarray) -> Array:
        """Indices in the form that a block is indexed with."""
        return indices

    @abstractmethod
    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, *arguments: Any, width: int = 0
    ) -> list[np.ndarray]:
        """Sum ``function`` over all blocks in the order of the rows, in float64.

        A block's ``X`` has the inputs and then a column of ones; ``columns`` picks among them.
        ``arguments`` are NumPy arrays, tuples of such and None, as :meth:`_here` makes them the
        engine's own.  ``width`` says that square arrays of this width are among the sums.
        """

    @abstractmethod
    def close(self) -> None:
        """Give back threads and device memory."""
