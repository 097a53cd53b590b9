"""Choices among rows that depend on what a row holds, never on where it stands.

Each row gets a key, a pseudo-random number made from its values and a seed.  Taking rows by their
keys gives the same validation set and the same subsample whatever the order of the rows, and
whether a row is written twice or given weight two; copies of a row never stand on both sides of a
split.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_BLOCK = 65536


def row_keys(X: Any, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """A 64-bit key for each row, equal for equal rows: a multiply-and-mix hash of its values."""
    multipliers = rng.randint(0, 2**63, size=X.shape[1] + 1, dtype=np.uint64) * np.uint64(2)
    multipliers += np.uint64(1)
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for i in range(0, X.shape[0], _BLOCK):
        rows = slice(i, i + _BLOCK)
        # Adding zero turns -0.0 into 0.0: equal numbers must have equal bits.
        values = np.column_stack([X[rows], y[rows]]).astype(np.float64) + 0.0
        keys[rows] = (_mix(values.view(np.uint64)) * multipliers).sum(axis=1, dtype=np.uint64)
    return _mix(keys)


def _mix(z: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: every bit of the input moves every bit of the output."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def split_rows(keys: np.ndarray, weight: np.ndarray | None, fraction: float) -> np.ndarray:
    """A mask of the rows held out: the lowest keys, up to ``fraction`` of the total weight.

    At least one distinct row stands on either side; a single distinct row is never held out.
    """
    distinct, inverse = np.unique(keys, return_inverse=True)
    held = np.zeros(distinct.size, dtype=bool)
    if distinct.size > 1:
        mass = np.cumsum(np.bincount(inverse, weights=weight, minlength=distinct.size))
        count = int(np.searchsorted(mass, fraction * mass[-1] * (1 + 1e-12), side="right"))
        held[: min(max(count, 1), distinct.size - 1)] = True
    return held[inverse]


def sample_rows(keys: np.ndarray, size: int) -> np.ndarray:
    """Indices of at most ``size`` distinct rows, those with the highest keys."""
    _, first = np.unique(keys, return_index=True)
    return first[::-1][:size]


def merge_rows(
    X: Any, Y: np.ndarray, weight: np.ndarray | None, keys: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray]:
    """Equal rows as one row of their joint weight, in the order of the keys.

    No weights come back where there were none and no two rows are equal.
    """
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    mass = np.bincount(inverse, weights=weight, minlength=distinct.size)
    if (mass == 1.0).all():
        return X[first], Y[first], None, distinct
    return X[first], Y[first], mass, distinct
