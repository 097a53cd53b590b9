"""Choices among rows that depend on what a row holds, never on where it stands.

Each row gets a key, a pseudo-random number made from its values and a seed.  Taking rows by their
keys gives the same validation set and the same subsample whatever the order of the rows, and
whether a row is written twice or given weight two; copies of a row never stand on both sides of a
split.

Rows in memory have the keys of :mod:`srff.data.content`, which neither the units nor the order of
the columns change.  They need all rows at once; of a stream the places of values between the ends
of their columns are hashed, which units do not change either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srff._utils.threads import Threads, row_blocks

_BLOCK_ENTRIES = 2**16
"""Numbers that are hashed at a time: they and what is made of them stay in a core's cache."""


PLACE_BITS = 16
"""Leading bits that count of a value's place in its column.  In another unit a place is the same up
to rounding, and of ten billion places one then has other bits; of a column far from zero beside its
spread, more.  Rows that agree to 1e-5 of every place stay together, and copies must."""


@dataclass(frozen=True)
class Ends:
    """The smallest and the largest value of each input, then of each target."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X: Any, Y: np.ndarray) -> Ends:
        """Those of some rows, at least one."""
        parts = X, Y
        low = np.concatenate([np.min(part, axis=0).astype(np.float64) for part in parts])
        high = np.concatenate([np.max(part, axis=0).astype(np.float64) for part in parts])
        return cls(low, high)

    def plus(self, other: Ends) -> Ends:
        """The ends of both."""
        return Ends(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def place(self, values: np.ndarray) -> None:
        """``(v - low) / (high - low)`` in place, to so many bits: free of unit and origin.

        Powers of two come out of it exactly; a column of one value has zeros.
        """
        half = self.high / 2 - self.low / 2  # halves: their difference is finite
        values *= 0.5
        values -= self.low / 2
        values /= np.where(half > 0, half, 1.0)
        bits, dropped = values.view(np.uint64), np.uint64(52 - PLACE_BITS)
        bits += np.uint64(1) << (dropped - np.uint64(1))
        bits >>= dropped


def key_multipliers(rng: np.random.RandomState, n_features: int) -> np.ndarray:
    """The odd numbers that the inputs and the target are multiplied with."""
    drawn = rng.randint(0, 2**63, size=n_features + 1, dtype=np.uint64)
    return drawn * np.uint64(2) + np.uint64(1)


def extended(multipliers: np.ndarray, size: int) -> np.ndarray:
    """So many multipliers: further ones, for more targets, are like none before."""
    further = np.arange(1, 1 + max(size - multipliers.size, 0), dtype=np.uint64)
    more = mixed(further + multipliers[-1]) | np.uint64(1)
    return np.concatenate([multipliers, more])[:size]


def row_keys(
    X: Any,
    y: np.ndarray,
    multipliers: np.ndarray,
    n_threads: int = 1,
    ends: Ends | None = None,
) -> np.ndarray:
    """A 64-bit key for each row, equal for equal rows: a multiply-and-mix hash of its values.

    With ``ends`` of their places between these, which no unit changes; else of the raw values.
    Another order of the columns gives other keys: see :mod:`srff.data.content`.
    """
    n_columns = X.shape[1] + y.shape[1]
    multipliers = extended(multipliers, n_columns)

    def hashed(rows: slice) -> np.ndarray:
        values = np.empty((rows.stop - rows.start, n_columns))
        values[:, : X.shape[1]] = X[rows]
        values[:, X.shape[1] :] = y[rows]
        values += 0.0  # turns -0.0 into 0.0: equal numbers must have equal bits
        if ends is not None:
            ends.place(values)
        return (mixed(values.view(np.uint64)) * multipliers).sum(axis=1, dtype=np.uint64)

    with Threads(n_threads) as threads:
        blocks = row_blocks(X.shape[0], n_columns, _BLOCK_ENTRIES)
        keys = np.concatenate(list(threads.map(hashed, blocks)))
    return mixed(keys)


def mixed(numbers: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: every bit of the input moves every bit of the output."""
    z = numbers.astype(np.uint64, copy=False)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def split_rows(keys: np.ndarray, weight: np.ndarray | None, fraction: float) -> np.ndarray:
    """A mask of the rows held out: the lowest keys, up to ``fraction`` of the total weight.

    At least one distinct row stands on either side; a single distinct row is never held out.
    """
    if weight is None:
        ordered, mass = np.sort(keys), np.arange(1.0, keys.size + 1)
    else:
        order = np.argsort(keys, kind="stable")
        ordered, mass = keys[order], np.cumsum(weight[order])
    if ordered[0] == ordered[-1]:
        return np.zeros(keys.size, dtype=bool)
    count = int(np.searchsorted(mass, fraction * mass[-1] * (1 + 1e-12), side="right"))
    # Copies of a row stay together: the first key that is not held out.
    limit = ordered[min(count, keys.size - 1)]
    if limit == ordered[0]:
        limit = ordered[np.searchsorted(ordered, limit, side="right")]
    return keys < limit


def highest(keys: np.ndarray, size: int) -> np.ndarray:
    """Indices, in their order, of the rows of the ``size`` highest keys, with copies of the last.

    All of them if there are no more.
    """
    if size >= keys.size:
        return np.arange(keys.size)
    return np.flatnonzero(keys >= np.partition(keys, -size)[-size])


def sample_rows(keys: np.ndarray, size: int) -> np.ndarray:
    """Indices of at most ``size`` distinct rows, those with the highest keys."""
    taken = size
    while True:
        chosen = highest(keys, taken)
        _, first = np.unique(keys[chosen], return_index=True)
        if first.size >= size or chosen.size == keys.size:
            return chosen[first[::-1][:size]]
        taken *= 2


def merge_rows(
    same: np.ndarray, weight: np.ndarray | None, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """One of each kind of equal rows, in the order of the keys, and their joint weights.

    Rows are equal if their numbers in ``same`` are.  No weights come back where there were none and
    no two rows are equal.
    """
    distinct, first, inverse = np.unique(same, return_index=True, return_inverse=True)
    mass = np.bincount(inverse, weights=weight, minlength=distinct.size)
    order = np.argsort(keys[first], kind="stable")
    return first[order], None if (mass == 1.0).all() else mass[order]
