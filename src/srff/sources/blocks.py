"""Blocks ``(X, y)`` from an iterable that can be started again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from srff.arrays import to_host
from srff.sources.arrays import ArrayPiece
from srff.sources.base import Source


class BlockSource(Source):
    """An iterable of pairs ``(X, y)``: each pass starts it again and must see the same blocks."""

    def __init__(self, blocks: Iterable[tuple[Any, Any]]) -> None:
        if iter(blocks) is blocks:
            raise ValueError(
                "The blocks can be gone through only once (a generator or another iterator). Give "
                "an object whose __iter__ starts again, such as a list or a class of your own."
            )
        self._blocks = blocks
        first = next(iter(blocks), None)
        if first is None:
            raise ValueError("The iterable of blocks (X, y) is empty.")
        X, _ = _pair(first, 0, None)
        self.n_features = X.shape[1]
        names = getattr(first[0], "columns", None)
        self.names = None if names is None else tuple(map(str, names))
        self._sizes: list[int] | None = None

    def pieces(self) -> Iterator[ArrayPiece]:
        """The blocks in order."""
        row, sizes = 0, []
        for number, block in enumerate(self._blocks):
            X, Y = _pair(block, number, self.n_features)
            sizes.append(X.shape[0])
            if self._sizes is not None and self._sizes[number : number + 1] != sizes[-1:]:
                break
            yield ArrayPiece(X, Y, None, row)
            row += X.shape[0]
        if self._sizes is not None and sizes != self._sizes:
            raise ValueError("The iterable of blocks (X, y) gave other blocks than the first time.")
        self._sizes, self.n_rows = sizes, row


def _pair(block: Any, number: int, n_features: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of one block."""
    try:
        X, y = block
        X, y = np.asarray(to_host(X)), np.asarray(to_host(y), dtype=np.float64)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Block {number} is not a pair (X, y) of numbers: {error}") from None
    y = y.reshape(-1, 1) if y.ndim == 1 else y
    if X.ndim != 2 or y.ndim != 2 or y.shape[1] != 1 or X.shape[0] != y.shape[0]:
        raise ValueError(
            f"Block {number} has X of shape {X.shape} and y of shape {y.shape}: (rows, columns) "
            "and (rows,) are needed."
        )
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(
            f"Block {number} has {X.shape[1]} columns, the first one has {n_features}."
        )
    return X, y
