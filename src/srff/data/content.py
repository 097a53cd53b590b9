"""Keys of rows and columns that no unit and no order changes.

What counts of a value is its rank in its column, so that any increasing map of a column (another
unit, another origin, a logarithm) leaves all keys as they are; what counts of a column is which
ranks stand in which rows, not where the column stands.  Several targets are told by their places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff._utils.threads import Threads
from srff.data.split import Ends, extended, mixed, row_keys

_BLOCK_ENTRIES, _BLOCK_COLUMNS = 2**16, 8
"""Numbers that are ranked at a time, but no fewer columns than fill a line of a core's cache."""


RANKED_ROWS = 100_000
"""Most rows that are ranked; the places of values of more are hashed, as those of a stream are."""


@dataclass(frozen=True)
class Content:
    """What rows and columns are known by."""

    same: np.ndarray
    """A number for each row, equal for equal rows alone."""
    rows: np.ndarray
    """A key for each row, by which it is dealt; equal for equal rows."""
    columns: np.ndarray | None
    """A key for each column; None for more than ``RANKED_ROWS`` rows."""

    @property
    def order(self) -> np.ndarray | None:
        """The columns in the order of their keys."""
        return None if self.columns is None else np.argsort(self.columns, kind="stable")


def content_of(X: Any, Y: np.ndarray, multipliers: np.ndarray, n_threads: int = 1) -> Content:
    """What the rows and columns of inputs (rows x d) and targets are known by."""
    same = row_keys(X, Y, multipliers, n_threads)
    if X.shape[0] > RANKED_ROWS:
        return Content(same, row_keys(X, Y, multipliers, n_threads, Ends.of(X, Y)), None)
    distinct = np.unique(same, return_index=True)[1]
    return Content(same, *ranked_keys(X, Y, distinct, multipliers, n_threads))


def ranked_keys(
    X: Any, Y: np.ndarray, distinct: np.ndarray, multipliers: np.ndarray, n_threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Keys of rows and of columns by the ranks ``r_ij`` of inputs (rows x d) and of targets.

    With a mixing function ``m`` and a hash ``t_i`` of the targets, the row holds
    ``h_i = m(t_i + sum_j m(r_ij))``, the column has the key ``c_j = m(seed + sum_i m(m(r_ij) +
    h_i))`` and the row the key ``m(t_i + sum_j m(r_ij) c_j)``.  The sum over rows is over the
    ``distinct`` ones, given by their indices: copies of a row change nothing.

    Columns have equal keys if they are equal, or if the table stays the same when they change
    places; rows that differ by such a change have equal keys too.  So equal keys keep rows on one
    side of a split, but do not say that they are equal rows.
    """
    n, d = X.shape
    ranks = np.empty((d, n), dtype=np.uint32)
    targets = _sum(dense_ranks(Y.T), extended(multipliers, d + Y.shape[1])[d:])
    size = max(_BLOCK_ENTRIES // n, _BLOCK_COLUMNS)
    blocks = [slice(i, min(i + size, d)) for i in range(0, d, size)]
    with Threads(n_threads) as threads:

        def summed(of_block: Callable[[slice], np.ndarray]) -> np.ndarray:
            return sum(threads.map(of_block, blocks), targets)

        def ranked(block: slice) -> np.ndarray:
            ranks[block] = dense_ranks(X[:, block].T)
            return _sum(ranks[block], np.ones(1, dtype=np.uint64))

        held = mixed(summed(ranked))[distinct]

        def paired(block: slice) -> np.ndarray:
            return mixed(mixed(ranks[block][:, distinct]) + held).sum(axis=1, dtype=np.uint64)

        none = np.zeros(0, dtype=np.uint64)
        columns = mixed(multipliers[-1] + np.concatenate([none, *threads.map(paired, blocks)]))
        rows = mixed(summed(lambda block: _sum(ranks[block], columns[block])))
    return rows, columns


def dense_ranks(columns: np.ndarray) -> np.ndarray:
    """The place (0, 1, ...) of each number among the different ones of its row of ``columns``."""
    order = np.argsort(columns, axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    places = np.zeros(columns.shape, dtype=np.uint32)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=places[:, 1:])
    ranks = np.empty_like(places)
    np.put_along_axis(ranks, order, places, axis=1)
    return ranks


def _sum(ranks: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """A hash of each row of some columns (columns x rows): ``sum_j m(r_ij) c_j``."""
    return (mixed(ranks) * multipliers[:, None]).sum(axis=0, dtype=np.uint64)
