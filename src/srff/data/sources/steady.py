"""Rows that are the same in every pass: an error where they are not those of the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from srff.data.sources.base import Chunk, Piece, Source


def mark_of(Y: np.ndarray) -> int:
    """A number for some targets, in any order of the rows: the sum of their bits."""
    Y = np.ascontiguousarray(Y, dtype=np.float64) + 0.0
    return int(np.sum(Y.view(np.uint64), dtype=np.uint64))


@dataclass(frozen=True)
class Seen:
    """What the first pass saw of a piece: its rows of positive weight, and their targets."""

    n_rows: int
    mark: int

    def check(self, chunks: Iterable[Chunk], name: str) -> Iterator[Chunk]:
        """The chunks of a later pass; an error after the last if they are other rows."""
        n_rows, mark = 0, 0
        for chunk in chunks:
            Y = chunk.Y if chunk.weight is None else chunk.Y[chunk.weight > 0]
            n_rows, mark = n_rows + Y.shape[0], (mark + mark_of(Y)) % 2**64
            yield chunk
        if (n_rows, mark) != (self.n_rows, self.mark):
            how = f"{n_rows:,} rows, first {self.n_rows:,}"
            if n_rows == self.n_rows:
                how = "other targets than the first time"
            raise ValueError(
                f"{name} gave {how}: rows must be the same in every pass of a fit, as those of "
                "a file are, or of something that draws its numbers from a fixed seed."
            )


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
        return self.seen.check(self.piece.chunks(columns), self.name)
