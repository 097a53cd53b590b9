"""Rows in memory, or in a memory-mapped file, as a source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.data.sources.base import CHUNK_ROWS, Chunk, Source, UncodedRows


@dataclass(frozen=True)
class ArrayPiece:
    """Consecutive rows of arrays."""

    X: Any
    Y: np.ndarray
    weight: np.ndarray | None
    first: int = 0
    label: str | None = None

    @property
    def name(self) -> str:
        """The rows, or what they are called."""
        return self.label or f"rows {self.first} to {self.first + self.X.shape[0] - 1}"

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows."""
        for i in range(0, self.X.shape[0], CHUNK_ROWS):
            rows = slice(i, i + CHUNK_ROWS)
            X = self.X[rows] if columns is None else self.X[rows, columns]
            yield Chunk(X, self.Y[rows], None if self.weight is None else self.weight[rows])

    def uncoded(self, columns: np.ndarray | None = None) -> Iterator[UncodedRows]:
        """The rows."""
        for chunk in self.chunks(columns):
            yield UncodedRows(chunk.X, chunk.Y, chunk.weight)


PIECE_ROWS = 16_384


class ArraySource(Source):
    """An array cut into pieces of ``PIECE_ROWS`` rows."""

    def __init__(self, X: Any, Y: np.ndarray, weight: np.ndarray | None = None) -> None:
        self.n_rows, self.n_features = X.shape
        self.n_targets = Y.shape[1]
        self._data, self.weighted = (X, Y, weight), weight is not None

    def pieces(self) -> Iterator[ArrayPiece]:
        """Runs of rows."""
        X, Y, weight = self._data
        for i in range(0, X.shape[0], PIECE_ROWS):
            rows = slice(i, i + PIECE_ROWS)
            yield ArrayPiece(X[rows], Y[rows], None if weight is None else weight[rows], i)


@dataclass(frozen=True)
class FramePiece:
    """Rows of a frame, or of an array of anything."""

    X: Any
    y: Any
    weight: np.ndarray | None
    name: str

    def uncoded(self, columns: np.ndarray | None = None) -> Iterator[UncodedRows]:
        """The rows."""
        X = self.X if columns is None else some_columns(self.X, columns)
        for i in range(0, self.y.shape[0], CHUNK_ROWS):
            rows = slice(i, i + CHUNK_ROWS)
            weight = None if self.weight is None else self.weight[rows]
            y = self.y.iloc[rows] if hasattr(self.y, "iloc") else self.y[rows]
            yield UncodedRows(X.iloc[rows] if hasattr(X, "iloc") else X[rows], y, weight)


def some_columns(X: Any, columns: np.ndarray) -> Any:
    """Columns of a pandas or polars frame, or of an array."""
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns.tolist()]
