"""Rows in this process's memory, blocks over threads."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from srff._utils.threads import Threads
from srff.core.engine import BlockFunction, Engine
from srff.core.features import Array
from srff.data.engines.blocks import (
    Block,
    Standardisation,
    add,
    picked,
    standardised_inputs,
    total_weight,
)
from srff.data.engines.plan import BlockPlan, Rows, shards

ENOUGH_BLOCKS = 4
"""Blocks for each thread that keep all threads at work in one pass: with fewer some wait for the
last one, and for the small side between two passes."""


class LocalEngine(Engine):
    """Blocks of NumPy rows, one thread a shard of blocks, added up in the order of the rows.

    The shards and the order of addition depend on the plan alone, and each block is computed by one
    thread, so the sums are bitwise the same for any number of threads (given one BLAS thread,
    which the callers see to).  ``rows`` restricts the engine to those rows without copying them.
    """

    def __init__(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray | None,
        standardisation: Standardisation,
        plan: BlockPlan,
        dtype: np.dtype,
        n_threads: int = 1,
        rows: np.ndarray | None = None,
    ) -> None:
        self.n_features, self.n = X.shape[1], total_weight(X, weight, rows)
        self._data: tuple[Any, np.ndarray, np.ndarray | None] | None = (X, Y, weight)
        self._standardisation, self._dtype = standardisation, np.dtype(dtype)
        self._rows = plan.blocks(X.shape[0], rows)
        self._pool, self._counting = Threads(n_threads), Lock()
        if len(self._rows) < ENOUGH_BLOCKS * n_threads:
            self.spare_threads = n_threads
        self._blocks: list[Block] | None = None
        if plan.cached:
            self._blocks = list(self._pool.map(self._prepare, self._rows))
            self._data = None

    def close(self) -> None:
        """Stop the threads."""
        self._pool.close()

    def _prepare(self, rows: Rows, columns: np.ndarray | None = None) -> Block:
        assert self._data is not None
        X, Y, weight = self._data
        s, dtype = self._standardisation, self._dtype
        inputs = standardised_inputs(picked(X, rows, columns), s.of(columns), dtype)
        w = None if weight is None else s.weights(weight[rows], dtype)
        return inputs, s.targets(Y[rows], dtype), w

    def _block(self, k: int, columns: np.ndarray | None) -> Block:
        """``X'``, ``Y`` and the weights of one block, in some of the columns."""
        if self._blocks is None:
            return self._prepare(self._rows[k], columns)
        X, Y, weight = self._blocks[k]
        return X if columns is None else X[columns], Y, weight

    def _parameter(self, array: np.ndarray) -> Array:
        return np.asarray(array, dtype=self._dtype)

    def _sum(
        self, function: BlockFunction, columns: np.ndarray | None, *arguments: Any, width: int = 0
    ) -> list[np.ndarray]:
        arguments = self._here(arguments)

        def shard_sum(blocks: range) -> list[np.ndarray]:
            total: list[np.ndarray] = []
            for k in blocks:
                X, Y, weight = self._block(k, columns)
                parts = function(X.T, Y, weight, *arguments)
                if len(blocks) == 1:
                    return list(parts)
                add(total, parts)
            return total

        with self._counting:
            self.n_passes += 1
        total: list[np.ndarray] = []
        for parts in self._pool.map(shard_sum, shards(len(self._rows), width)):
            add(total, parts)
        return total
