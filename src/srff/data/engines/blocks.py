"""A block of rows on its way to an engine: some columns of them, standardised, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from srff.core.features import Array
from srff.data.engines.plan import Rows
from srff.data.scaling import Transform
from srff.data.weights import RowCount

Block = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""``X'`` (columns x rows), ``Y`` and the weights of some rows, standardised."""


@dataclass(frozen=True)
class Standardisation:
    """What a block of rows goes through: a map of each input, ``(Y - y_center) / y_spread``.

    ``count`` makes weights counts of rows where they are not such yet.
    """

    inputs: Transform
    y_center: np.ndarray
    y_spread: np.ndarray | float
    count: RowCount | None = None

    def of(self, columns: np.ndarray | None) -> Transform:
        """The map of all inputs, or of some; ``columns`` has that of ones last."""
        return self.inputs if columns is None else self.inputs.take(columns[:-1])

    def targets(self, Y: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A block of targets, standardised in float64, then rounded."""
        return ((Y - self.y_center) / self.y_spread).astype(dtype)

    def weights(self, weight: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The weights of a block as counts of rows, in float64, then rounded."""
        return (weight if self.count is None else self.count(weight)).astype(dtype)


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
