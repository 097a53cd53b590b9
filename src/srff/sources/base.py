"""Rows that are read piece by piece, wherever they are.

A source is a list of pieces: runs of rows of an array, row groups of a Parquet file, blocks that a
user's iterable gives.  A pass goes through the pieces in their order; a piece is read in chunks of
at most ``CHUNK_ROWS`` rows, so that no piece has to fit memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

CHUNK_ROWS = 16_384
"""A multiple of the rows of any block: chunks then end where blocks end."""


@dataclass(frozen=True)
class Chunk:
    """Some rows: inputs in the columns that were asked for, targets, weights or None for ones."""

    X: Any
    Y: np.ndarray
    weight: np.ndarray | None = None


class Piece(Protocol):
    """A run of rows that one thread or one worker reads."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows in order, at most ``CHUNK_ROWS`` at a time, in all columns or in some."""


class Source(ABC):
    """All rows of a fit, as pieces in a fixed order that can be gone through again and again."""

    n_features: int
    names: tuple[str, ...] | None = None
    """The names of the inputs, where they have any."""
    n_rows: int | None = None
    """The number of rows, where it is known before they are read."""

    @abstractmethod
    def pieces(self) -> Iterable[Piece]:
        """The pieces, from the first; an error if the rows are not what they were."""


class BadValue(ValueError):
    """A row that cannot be learned from."""


def checked(chunk: Chunk, piece: Piece, first: int, names: tuple[str, ...] | None) -> Chunk:
    """The rows of positive weight; an error that says where a number is not finite."""
    weight = chunk.weight
    if weight is not None:
        wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if wrong.size:
            row = int(wrong[0])
            raise BadValue(f"{piece.name}: the weight is {weight[row]} in row {first + row}.")
        if not weight.all():
            used = weight > 0
            chunk = Chunk(chunk.X[used], chunk.Y[used], weight[used])
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(chunk.X)) and np.isfinite(np.sum(chunk.Y)):
            return chunk
    for what, values in (("column", chunk.X), ("target", chunk.Y)):
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            row, column = bad[0]
            label = names[column] if names is not None else int(column)
            where = f"column {label!r}" if what == "column" else "the target"
            value = "a missing value or NaN" if np.isnan(values[row, column]) else "infinity"
            raise BadValue(f"{piece.name}: {where} holds {value} in row {first + int(row)}.")
    return chunk


def whole(source: Source, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """All rows as arrays; None if there are more than ``most``."""
    if source.n_rows is not None and source.n_rows > most:
        return None
    chunks: list[Chunk] = []
    n_rows = 0
    for piece in source.pieces():
        first = 0
        for chunk in piece.chunks():
            chunks.append(checked(chunk, piece, first, source.names))
            first += chunk.X.shape[0]
            n_rows += chunk.X.shape[0]
            if n_rows > most:
                return None
    if n_rows < 2:
        raise ValueError(f"Found {n_rows} row(s) while a minimum of 2 is required.")
    weights = [c.weight for c in chunks if c.weight is not None]
    return (
        np.concatenate([c.X for c in chunks]),
        np.concatenate([c.Y for c in chunks]),
        np.concatenate(weights) if weights else None,
    )
