"""Rows that are read anew at every pass, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from srff.engines.base import (
    Block,
    BlockFunction,
    Engine,
    Standardisation,
    add,
    standardised_inputs,
)
from srff.engines.plan import BlockPlan
from srff.features import Array
from srff.sources.base import Piece, Source
from srff.threads import Threads


class StreamEngine(Engine):
    """Pieces of a source over threads; a piece is read, standardised and summed block by block.

    Of the first pieces, as many as ``cache_bytes`` has room for, the standardised blocks are kept.
    The sums of pieces are added in groups and groups of groups in the order of the pieces, so that
    the bits depend on the pieces alone: not on threads, and not on where pieces are read.
    """

    def __init__(
        self,
        source: Source,
        sizes: tuple[int, ...],
        n: float,
        standardisation: Standardisation,
        plan: BlockPlan,
        dtype: np.dtype,
        n_threads: int = 1,
        cache_bytes: float = 0.0,
    ) -> None:
        self.n_features, self.n = source.n_features, n
        self._source, self._standardisation = source, standardisation
        self._plan, self._dtype = plan, np.dtype(dtype)
        self._pool = Threads(n_threads)
        self._less: Engine | None = None
        row = (source.n_features + 2) * self._dtype.itemsize
        self._n_kept = int(np.searchsorted(np.cumsum(sizes) * row, cache_bytes, side="right"))
        self._kept: dict[int, list[Block]] = {}

    def subtract(self, held_out: Engine, n: float) -> None:
        """Take the rows of another engine out of every sum; ``n`` is what is left."""
        self._less, self.n = held_out, n

    def close(self) -> None:
        """Stop the threads, forget the blocks."""
        self._pool.close()
        self._kept = {}
        if self._less is not None:
            self._less.close()

    def _parameter(self, array: np.ndarray) -> Array:
        return np.asarray(array, dtype=self._dtype)

    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, width: int = 0
    ) -> list[np.ndarray]:
        def of_piece(item: tuple[int, Piece]) -> list[np.ndarray]:
            number, piece = item
            if number >= self._n_kept:
                return block_sum(function, self._blocks(piece, columns))
            if number not in self._kept:
                self._kept[number] = list(self._blocks(piece, None))
            kept = self._kept[number]
            if columns is None:
                return block_sum(function, kept)
            return block_sum(function, ((X[columns], Y, w) for X, Y, w in kept))

        self.n_passes += 1
        total = TreeSum()
        for sums in self._pool.map(of_piece, enumerate(self._source.pieces())):
            total.add(sums)
        sums = total.result()
        if self._less is not None:
            for all_, held in zip(sums, self._less._sum(function, columns), strict=True):
                all_ -= held
        return sums

    def _blocks(self, piece: Piece, columns: np.ndarray | None) -> Iterator[Block]:
        return standardised_blocks(
            piece, columns, self._standardisation, self._plan.rows, self._dtype
        )


def standardised_blocks(
    piece: Piece,
    columns: np.ndarray | None,
    standardisation: Standardisation,
    rows: int,
    dtype: np.dtype,
) -> Iterator[Block]:
    """``X'``, ``Y`` and weights of at most so many rows at a time."""
    inputs = standardisation.of(columns)
    for chunk in piece.chunks(None if columns is None else columns[:-1]):
        for i in range(0, chunk.X.shape[0], rows):
            block = slice(i, i + rows)
            w = None if chunk.weight is None else chunk.weight[block].astype(dtype)
            X = standardised_inputs(chunk.X[block], inputs, dtype)
            yield X, standardisation.targets(chunk.Y[block], dtype), w


def block_sum(function: BlockFunction, blocks: Iterable[Block]) -> list[np.ndarray]:
    """The sums over blocks in their order, in float64; empty for no block."""
    total: list[np.ndarray] = []
    for X, Y, weight in blocks:
        add(total, function(X.T, Y, weight))
    return total


class TreeSum:
    """Sums added in groups, groups of groups and so on, each group in order.

    Of any number no more than its logarithm are held.
    """

    def __init__(self, fan: int = 16) -> None:
        self._fan = fan
        self._levels: list[tuple[int, list[np.ndarray]]] = []

    def add(self, sums: list[np.ndarray]) -> None:
        """The next one; an empty one, of no rows, takes its place all the same."""
        for level, (count, total) in enumerate(self._levels):
            _extend(total, sums)
            if count + 1 < self._fan:
                self._levels[level] = count + 1, total
                return
            self._levels[level] = 0, []
            sums = total
        self._levels.append((1, list(sums)))

    def result(self) -> list[np.ndarray]:
        """The total."""
        total: list[np.ndarray] = []
        for _, held in self._levels:
            if held:
                _extend(held, total)
                total = held
        return total


def _extend(total: list[np.ndarray], sums: list[np.ndarray]) -> None:
    if sums and not total:
        total.extend(sums)
    elif sums:
        add(total, sums)
