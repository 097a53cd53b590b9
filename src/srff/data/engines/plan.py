"""How rows are cut into blocks, and what that costs in memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

CACHE_BYTES = 16 * 1024**2
"""What the two D-wide arrays of a block may fill: some of a last-level cache, and large enough that
adding up D x D sums costs little.  One number for every machine, so that the same data are cut into
the same blocks, and give the same bits, everywhere."""

MIN_ROWS, MAX_ROWS = 64, 2048
FEW_BLOCKS, SHARED_ROWS = 8, 512
"""Blocks that few rows are cut into, so that threads can share them, if blocks have so many."""

WIDE = 1024
MAX_SHARD = 8
"""Most consecutive blocks that one thread adds up before the sums of shards are added in order."""

Rows = slice | np.ndarray
"""What picks the rows of a block: a run of them, or their indices."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {u + "b": v for u, v in _UNITS.items() if u not in ("", "b")}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def parse_memory(memory_limit: str | float | None) -> float | None:
    """Bytes from a number or a text such as ``"2GB"`` or ``"500MiB"``; None for no limit."""
    if memory_limit is None:
        return None
    accepted = "a positive number of bytes or a text such as '2GB' or '500MiB'"
    if isinstance(memory_limit, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", memory_limit)
        if not match or match[2].lower() not in _UNITS:
            raise ValueError(f"memory_limit={memory_limit!r} must be {accepted}.")
        size = float(match[1]) * _UNITS[match[2].lower()]
    else:
        size = float(memory_limit)
    if not (np.isfinite(size) and size > 0):
        raise ValueError(f"memory_limit={memory_limit!r} must be {accepted}.")
    return size


@dataclass(frozen=True)
class EngineOptions:
    """How engines compute: the width of the features, precision, device, threads, memory."""

    n_components: int
    dtype: np.dtype
    device: str = "cpu"
    n_threads: int = 1
    memory_limit: float | None = None


@dataclass(frozen=True)
class BlockPlan:
    """Rows in a block, and whether the standardised blocks are kept in memory between passes."""

    rows: int
    cached: bool

    @classmethod
    def choose(
        cls,
        n_rows: int,
        n_features: int,
        n_components: int,
        dtype: np.dtype,
        n_threads: int = 1,
        memory_limit: float | None = None,
        *,
        squares: bool = True,
    ) -> BlockPlan:
        """Cache-sized blocks, smaller where ``memory_limit`` asks for it.

        ``squares`` says that sums of D x D entries are made; a prediction makes none.
        """
        item = np.dtype(dtype).itemsize
        fitting = CACHE_BYTES // (2 * item * n_components)
        shared = max(n_rows / FEW_BLOCKS, SHARED_ROWS)
        rows = 2 ** int(np.log2(np.clip(min(fitting, shared), MIN_ROWS, MAX_ROWS)))
        if memory_limit is None:
            return cls(rows, cached=True)

        def working(rows: int) -> int:
            block = item * rows * (3 * n_components + n_features) + 8 * rows * n_features
            sums = 8 * n_components * (n_components + n_features) * 3
            return (n_threads + 1) * (block + (sums if squares else 0))

        while working(rows) > memory_limit and rows > MIN_ROWS:
            rows //= 2
        if working(rows) > memory_limit:
            raise ValueError(
                f"memory_limit of {memory_limit:.3g} bytes is too small: blocks of {rows} rows "
                f"with {n_features} columns and n_components={n_components} on {n_threads} threads "
                f"need {working(rows):.3g} bytes. Raise memory_limit, or lower n_components or "
                "n_jobs."
            )
        return cls(rows, cached=working(rows) + item * n_rows * n_features <= memory_limit)

    def blocks(self, n_rows: int, rows: np.ndarray | None = None) -> list[Rows]:
        """The rows of each block, out of all or out of the indices ``rows``."""
        if rows is not None:
            return [rows[i : i + self.rows] for i in range(0, rows.size, self.rows)]
        return [slice(i, min(i + self.rows, n_rows)) for i in range(0, n_rows, self.rows)]


def shards(n_blocks: int, width: int = 0) -> list[range]:
    """Runs of consecutive blocks, one a task: short for few blocks, so that all threads work.

    Large sums, of ``width`` squared entries, are not held by each thread for itself.
    """
    size = 1 if width > WIDE else min(max(n_blocks // 16, 1), MAX_SHARD)
    return [range(i, min(i + size, n_blocks)) for i in range(0, n_blocks, size)]
