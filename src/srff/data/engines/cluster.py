"""Passes over the partitions of a Dask collection, made by the workers that hold them.

A pass is one graph: the small arrays of the pass, one task for each partition, and a tree of sums
in the order of the partitions.  Tasks have no state and no worker of their own: what a worker that
dies has held is computed again by the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask.delayed import delayed

from srff._utils.threads import one_blas_thread
from srff.core.engine import BlockFunction, Engine
from srff.core.features import reused_memory
from srff.data.engines.blocks import Block, Standardisation
from srff.data.engines.device import DeviceEngine, rows_in_block
from srff.data.engines.plan import BlockPlan
from srff.data.engines.stream import added, block_sum, standardised_blocks, taken, tree
from srff.data.first_pass import (
    FirstPass,
    FirstPassTotal,
    RowKeys,
    ends_of_all,
    ends_of_piece,
    first_pass_of_piece,
)
from srff.data.sources.arrays import ArrayPiece
from srff.data.sources.dask import DaskSource, Partition, partition_name
from srff.data.sources.dask_graph import gathered, on_partitions, partition_tasks
from srff.data.split import Ends

SPARE_DEVIATIONS = 6.0
"""Standard deviations by which workers send more rows than a sample has."""


@dataclass(frozen=True)
class PartitionBlocks:
    """What a worker makes of a partition: standardised blocks."""

    standardisation: Standardisation
    rows: int
    dtype: np.dtype

    def blocks(self, partition: Partition) -> Iterator[Block]:
        """The blocks one after the other."""
        piece = ArrayPiece(*partition)
        return standardised_blocks(piece, None, self.standardisation, self.rows, self.dtype)

    def __call__(self, partition: Partition, number: int) -> list[Block]:
        """All blocks, to be kept."""
        return list(self.blocks(partition))


@dataclass(frozen=True)
class BlockSum:
    """What a worker does in a pass with blocks that it keeps, or makes of a partition now."""

    function: BlockFunction
    columns: np.ndarray | None
    arguments: tuple[Any, ...]
    made: PartitionBlocks | None

    def __call__(self, held: Any, number: int) -> list[np.ndarray]:
        """The sums of one partition, in float64; none if it has no rows."""
        blocks = held if self.made is None else self.made.blocks(held)
        with one_blas_thread(), reused_memory():
            return block_sum(self.function, taken(blocks, self.columns), self.arguments)


@dataclass(frozen=True)
class DeviceSum:
    """What a worker does in a pass with a partition and its GPU."""

    function: BlockFunction
    columns: np.ndarray | None
    arguments: tuple[Any, ...]
    standardisation: Standardisation
    n_components: int
    dtype: np.dtype
    device: str

    def __call__(self, partition: Partition, number: int) -> list[np.ndarray]:
        """The sums of one partition, in float64; none if it has no rows."""
        X = partition[0]
        if not X.shape[0]:
            return []
        plan = BlockPlan(rows_in_block(X.shape[1], self.n_components), cached=False)
        s, dtype, device = self.standardisation, self.dtype, self.device
        with DeviceEngine(*partition, s, plan, dtype, device) as engine:
            return engine._sum(self.function, self.columns, *self.arguments)


@dataclass(frozen=True)
class PartitionEnds:
    """What a worker does with a partition before the first pass."""

    names: tuple[str, ...] | None

    def __call__(self, partition: Partition, number: int) -> Ends | None:
        """The ends of the columns of one partition."""
        return ends_of_piece(ArrayPiece(*partition, 0, partition_name(number)), self.names)


@dataclass(frozen=True)
class PartitionFirstPass:
    """What a worker does with a partition in the first pass."""

    keys: RowKeys
    names: tuple[str, ...] | None
    sizes: tuple[int, int]
    least: tuple[int, int]

    def __call__(self, partition: Partition, number: int) -> FirstPass | None:
        """What one partition tells."""
        piece = ArrayPiece(*partition, 0, partition_name(number))
        with one_blas_thread():
            return first_pass_of_piece(piece, self.keys, self.names, self.sizes, self.least)


def first_pass_on_workers(
    source: DaskSource, multipliers: np.ndarray, n_high: int, n_low: int
) -> FirstPass:
    """The first passes over all partitions: see :mod:`srff.data.first_pass`.

    A partition does not know the keys of the others: it sends the rows whose keys are likely to be
    among the highest of all, given the number of rows.  Where that is not known, it is reckoned
    from the first partition; if that was far off and too few rows came, there is a second pass.
    """
    n_rows = source.n_rows
    if n_rows is None:
        first = gathered(source.client, delayed(_count)(source.partitions()[0]))
        n_rows = first * len(source.partitions())
    ends = on_partitions(source.client, PartitionEnds(source.names), source.partitions())
    keys = RowKeys(multipliers, ends_of_all(ends))
    while True:
        found = FirstPassTotal(n_high, n_low)
        least = _likely(n_high, n_rows), _likely(n_low, n_rows)
        task = PartitionFirstPass(keys, source.names, found.sizes, least)
        for part in on_partitions(source.client, task, source.partitions()):
            found.add(part)
        result = found.result()
        n_found = result.n_rows
        short = (
            result.high.keys.size < min(n_high, n_found),
            result.low.keys.size < min(n_low, n_found),
        )
        if not any(short):
            return result
        n_rows = n_found if n_found < n_rows else n_rows // 8


def _count(partition: Partition) -> int:
    return int(partition[0].shape[0])


def _likely(size: int, n_rows: int) -> int:
    """A key that at least ``size`` of the rows reach, but for a chance of one in a billion."""
    share = (size + SPARE_DEVIATIONS * np.sqrt(size)) / max(n_rows, 1)
    return 0 if share >= 1 else int((1 - share) * 2**64)


class ClusterEngine(Engine):
    """The sums of a stream, in the same order, made where the partitions are.

    ``keep`` holds standardised blocks in the workers' memory, or whole partitions for a GPU, for
    many passes; what is lost with a worker is made anew from where the rows come from.
    """

    def __init__(
        self,
        source: DaskSource,
        n: float,
        standardisation: Standardisation,
        plan: BlockPlan,
        dtype: np.dtype,
        n_components: int,
        device: str,
        keep: bool,
    ) -> None:
        self.n_features, self.n = source.n_features, n
        self._source, self._standardisation = source, standardisation
        self._plan, self._dtype, self._device = plan, np.dtype(dtype), device
        self._n_components = n_components
        self._kept: list[Any] | None = None
        if keep:
            kept = source.partitions()
            if device == "cpu":
                kept = partition_tasks(
                    PartitionBlocks(standardisation, plan.rows, self._dtype), kept
                )
            self._kept = source.client.persist(kept)

    def close(self) -> None:
        """Let the workers forget what they keep."""
        self._kept = None

    def _parameter(self, array: np.ndarray) -> np.ndarray:
        return np.asarray(array, dtype=self._dtype)

    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, *arguments: Any, width: int = 0
    ) -> list[np.ndarray]:
        self.n_passes += 1
        held, s, here = self._kept, self._standardisation, self._here(arguments)
        if held is None:
            # Partitions are read anew, and then no other column is.
            held = self._source.partitions(None if columns is None else columns[:-1])
            s, columns = replace(s, inputs=s.of(columns)), None
        if self._device != "cpu":
            size, dtype, device = self._n_components, self._dtype, self._device
            task: Any = DeviceSum(function, columns, here, s, size, dtype, device)
        else:
            made = None if self._kept else PartitionBlocks(s, self._plan.rows, self._dtype)
            task = BlockSum(function, columns, here, made)
        total = tree(partition_tasks(task, held), delayed(added, pure=False))
        return [np.array(part) for part in gathered(self._source.client, total)]
