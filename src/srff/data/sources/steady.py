"""Rows that are the same in every pass: an error where they are not those of the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from srff._utils.threads import row_blocks
from srff.data.sources.base import Chunk, Piece, Source
from srff.data.split import key_multipliers, mixed, row_keys

BLOCK_ENTRIES = 2**16
"""Numbers that are hashed at a time: they and what is made of them stay in a core's cache."""


@dataclass(frozen=True)
class Seen:
    """What a pass saw of a piece: its rows of positive weight, their targets and their inputs."""

    n_rows: int = 0
    target: int = 0
    """A number that other targets would not give, in any order of the rows."""
    inputs: np.ndarray | None = None
    """Such a number for each column, beside these targets: half of its bits, as many small pieces
    of many columns should not fill the memory.  None of no rows."""

    def check(
        self, chunks: Iterable[Chunk], name: str, columns: np.ndarray | None = None
    ) -> Iterator[Chunk]:
        """The chunks of a later pass, in all columns or some; an error after other rows."""
        marks = Marks()
        for chunk in chunks:
            X, Y = chunk.X, chunk.Y
            if chunk.weight is not None and not chunk.weight.all():
                used = chunk.weight > 0
                X, Y = X[used], Y[used]
            marks.add(X, Y)
            yield chunk
        how = self._other(marks.seen(), columns)
        if how:
            raise ValueError(
                f"{name} gave {how}: rows must be the same in every pass of a fit, as those of "
                "a file are, or of something that draws its numbers from a fixed seed."
            )

    def _other(self, now: Seen, columns: np.ndarray | None) -> str:
        """What is not as it was."""
        if now.n_rows != self.n_rows:
            return f"{now.n_rows:,} rows, first {self.n_rows:,}"
        if now.target != self.target:
            return "other targets than the first time"
        if self.inputs is None or now.inputs is None:
            return ""
        before = self.inputs if columns is None else self.inputs[columns]
        return "" if np.array_equal(now.inputs, before) else "other inputs than the first time"


class Marks:
    """What is seen of a piece, chunk by chunk."""

    def __init__(self) -> None:
        self._n_rows, self._target = 0, 0
        self._inputs: np.ndarray | None = None

    def add(self, X: np.ndarray, Y: np.ndarray) -> None:
        """Some rows."""
        if not Y.shape[0]:
            return
        multipliers = key_multipliers(np.random.RandomState(0), Y.shape[1])
        keys = row_keys(X[:, :0], Y, multipliers)
        self._n_rows += Y.shape[0]
        self._target = (self._target + int(np.sum(keys, dtype=np.uint64))) % 2**64
        if self._inputs is None:
            self._inputs = np.zeros(X.shape[1], dtype=np.uint64)
        self._inputs += column_marks(X, keys)

    def seen(self) -> Seen:
        """What these rows are known by."""
        if self._inputs is None:
            return Seen()
        halves = (mixed(self._inputs) >> np.uint64(32)).astype(np.uint32)
        return Seen(self._n_rows, self._target, halves)


def column_marks(X: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """``sum_i m(x_ij) (2 k_i + 1)`` for each column of ``X`` (rows x d), a mixing function ``m``.

    The keys ``k`` are of the targets: inputs that change places beside them give other numbers.
    """
    odd = keys * np.uint64(2) + np.uint64(1)
    total = np.zeros(X.shape[1], dtype=np.uint64)
    for rows in row_blocks(X.shape[0], max(X.shape[1], 1), BLOCK_ENTRIES):
        bits = (np.asarray(X[rows], dtype=np.float64) + 0.0).view(np.uint64)
        total += (mixed(bits) * odd[rows, None]).sum(axis=0, dtype=np.uint64)
    return total


class SteadySource(Source):
    """The rows of a source, compared with what the first pass saw."""

    def __init__(self, source: Source, seen: tuple[Seen, ...]) -> None:
        self._source, self._seen = source, seen
        self.n_features, self.names = source.n_features, source.names
        self.n_rows, self.n_targets = source.n_rows, source.n_targets

    def pieces(self) -> Iterator[SteadyPiece]:
        """The pieces, as many as there were."""
        n_pieces = 0
        for piece in self._source.pieces():
            n_pieces += 1
            if n_pieces <= len(self._seen):
                yield SteadyPiece(piece, self._seen[n_pieces - 1])
        if n_pieces != len(self._seen):
            raise ValueError(f"There are {n_pieces} pieces of rows; first {len(self._seen)}.")


@dataclass(frozen=True)
class SteadyPiece:
    """A piece that must be what it was."""

    piece: Piece
    seen: Seen

    @property
    def name(self) -> str:
        """What the source calls it."""
        return self.piece.name

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows."""
        return self.seen.check(self.piece.chunks(columns), self.name, columns)
