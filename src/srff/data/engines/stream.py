"""Rows that are read anew at every pass, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from srff._utils.threads import Threads
from srff.core.engine import BlockFunction, Engine
from srff.core.features import Array
from srff.data.engines.blocks import Block, Standardisation, add, standardised_inputs
from srff.data.engines.plan import BlockPlan
from srff.data.sources.base import Piece, Source


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
        row = (source.n_features + 2) * self._dtype.itemsize
        self._n_kept = int(np.searchsorted(np.cumsum(sizes) * row, cache_bytes, side="right"))
        self._kept: dict[int, list[Block]] = {}

    def close(self) -> None:
        """Stop the threads, forget the blocks."""
        self._pool.close()
        self._kept = {}

    def _parameter(self, array: np.ndarray) -> Array:
        return np.asarray(array, dtype=self._dtype)

    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, *arguments: Any, width: int = 0
    ) -> list[np.ndarray]:
        here = self._here(arguments)

        def of_piece(item: tuple[int, Piece]) -> list[np.ndarray]:
            number, piece = item
            if number >= self._n_kept:
                return block_sum(function, self._blocks(piece, columns), here)
            if number not in self._kept:
                self._kept[number] = list(self._blocks(piece, None))
            return block_sum(function, taken(self._kept[number], columns), here)

        self.n_passes += 1
        total = TreeSum()
        for sums in self._pool.map(of_piece, enumerate(self._source.pieces())):
            total.add(sums)
        return total.result()

    def _blocks(self, piece: Piece, columns: np.ndarray | None) -> Iterator[Block]:
        return standardised_blocks(
            piece, columns, self._standardisation, self._plan.rows, self._dtype
        )


class Remainder(Engine):
    """The rows of one engine but for those of another: of every sum the other's is taken away."""

    def __init__(self, all_rows: Engine, held_out: Engine, n: float) -> None:
        self.n_features, self.n = all_rows.n_features, n
        self._all, self._held_out = all_rows, held_out

    def close(self) -> None:
        """Close both."""
        self._all.close()
        self._held_out.close()

    def _parameter(self, array: np.ndarray) -> Array:
        return array

    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, *arguments: Any, width: int = 0
    ) -> list[np.ndarray]:
        self.n_passes += 1
        sums = self._all._sum(function, columns, *arguments, width=width)
        held_out = self._held_out._sum(function, columns, *arguments, width=width)
        for part, held in zip(sums, held_out, strict=True):
            part -= held
        return sums


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
            w = (
                None
                if chunk.weight is None
                else standardisation.weights(chunk.weight[block], dtype)
            )
            X = standardised_inputs(chunk.X[block], inputs, dtype)
            yield X, standardisation.targets(chunk.Y[block], dtype), w


def taken(blocks: Iterable[Block], columns: np.ndarray | None) -> Iterator[Block]:
    """Blocks in some of the columns."""
    for X, Y, weight in blocks:
        yield X if columns is None else X[columns], Y, weight


def block_sum(
    function: BlockFunction, blocks: Iterable[Block], arguments: tuple[Any, ...]
) -> list[np.ndarray]:
    """The sums over blocks in their order, in float64; empty for no block."""
    total: list[np.ndarray] = []
    for X, Y, weight in blocks:
        add(total, function(X.T, Y, weight, *arguments))
    return total


FAN = 16
"""Sums of a group, and groups of a group of groups."""


class TreeSum:
    """Sums added in groups, groups of groups and so on, each group in order.

    Of any number no more than its logarithm are held.
    """

    def __init__(self) -> None:
        self._levels: list[tuple[int, list[np.ndarray]]] = []

    def add(self, sums: list[np.ndarray]) -> None:
        """The next one; an empty one, of no rows, takes its place all the same."""
        for level, (count, total) in enumerate(self._levels):
            _extend(total, sums)
            if count + 1 < FAN:
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


def tree(items: list[Any], added: Callable[[list[Any]], Any]) -> Any:
    """The additions of a :class:`TreeSum` for items that are all there; ``added`` adds a few."""
    levels = []
    while len(items) >= FAN:
        whole = len(items) - len(items) % FAN
        levels.append(items[whole:])
        items = [added(items[i : i + FAN]) for i in range(0, whole, FAN)]
    total: list[Any] = []
    for rest in [*levels, items]:
        if rest:
            total = [added([*rest, *total])]
    return total[0]


def added(sums: list[list[np.ndarray]]) -> list[np.ndarray]:
    """Sums added in order; those of no rows are empty."""
    total: list[np.ndarray] = []
    for each in sums:
        if total:
            _extend(total, each)
        else:
            total = [array.copy() for array in each]
    return total


def _extend(total: list[np.ndarray], sums: list[np.ndarray]) -> None:
    if sums and not total:
        total.extend(sums)
    elif sums:
        add(total, sums)
