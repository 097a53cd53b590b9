"""Blocks ``(X, y)`` from an iterable that can be started again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from srff._utils.arrays import to_host
from srff.data.encoding.frames import refuse_others
from srff.data.encoding.table_columns import CATEGORY, NUMBER, column_names, columns_of, is_frame
from srff.data.sources.arrays import ArrayPiece, FramePiece
from srff.data.sources.base import Source


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
        X, y = _raw_pair(first, 0, None)
        self.n_features, self.n_targets = X.shape[1], y.shape[1]
        names = getattr(first[0], "columns", None)
        self.names = column_names(X) or (None if names is None else tuple(map(str, names)))
        self._kinds = (NUMBER,) * self.n_features
        if is_frame(X):
            self._kinds = tuple(column.kind for column in columns_of(X))
        self._target_kinds = (NUMBER if y.dtype.kind in "biuf" else CATEGORY,) * self.n_targets
        self._sizes: list[int] | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the columns of the first block are."""
        return self._kinds

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """What the targets of the first block are."""
        return self._target_kinds

    def pieces(self) -> Iterator[ArrayPiece]:
        """The blocks in order."""
        for number, row, X, y in self._pairs():
            yield ArrayPiece(*_numbers(X, y, number), None, row)

    def uncoded_pieces(self) -> Iterator[FramePiece]:
        """The blocks in order, as they are."""
        for _, row, X, y in self._pairs():
            yield FramePiece(X, y, None, f"rows {row} to {row + X.shape[0] - 1}")

    def _pairs(self) -> Iterator[tuple[int, int, Any, np.ndarray]]:
        row, sizes = 0, []
        for number, block in enumerate(self._blocks):
            X, y = _raw_pair(block, number, (self.n_features, self.n_targets))
            sizes.append(X.shape[0])
            if self._sizes is not None and self._sizes[number : number + 1] != sizes[-1:]:
                break
            yield number, row, X, y
            row += X.shape[0]
        if self._sizes is not None and sizes != self._sizes:
            raise ValueError("The iterable of blocks (X, y) gave other blocks than the first time.")
        self._sizes, self.n_rows = sizes, row


def _raw_pair(block: Any, number: int, shape: tuple[int, int] | None) -> tuple[Any, np.ndarray]:
    """The inputs of one block as they are, and its targets as an array of two dimensions."""
    try:
        X, y = block
        X, y = to_host(X), np.asarray(to_host(y))
        X = X if is_frame(X) else np.asarray(X)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Block {number} is not a pair (X, y): {error}") from None
    for what, part in (("X", X), ("y", y)):
        refuse_others(part, f"{what} of block {number}")
    y = y.reshape(-1, 1) if y.ndim == 1 else y
    if len(X.shape) != 2 or y.ndim != 2 or X.shape[0] != y.shape[0]:
        raise ValueError(
            f"Block {number} has X of shape {X.shape} and y of shape {y.shape}: (rows, columns) "
            "and (rows,) or (rows, targets) are needed."
        )
    if shape is not None:
        for has, had, what in zip(
            (X.shape[1], y.shape[1]), shape, ("columns", "targets"), strict=True
        ):
            if has != had:
                raise ValueError(f"Block {number} has {has} {what}, the first one has {had}.")
    return X, y


def _numbers(X: Any, y: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of one block."""
    try:
        X, y = np.asarray(X), np.asarray(y, dtype=np.float64)
        return (X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)), y
    except (TypeError, ValueError) as error:
        raise ValueError(f"Block {number} is not a pair (X, y) of numbers: {error}") from None
