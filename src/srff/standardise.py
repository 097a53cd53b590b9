"""Weighted means and spreads of columns, for columns of any magnitude."""

from __future__ import annotations

from typing import Any

import numpy as np

from srff.threads import Threads, row_blocks

_BLOCK_ENTRIES = 2**18


def center_and_spread(
    X: Any, weight: np.ndarray | None = None, n_threads: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard deviation and whether it varies, of each column.

    Columns are first moved to [-1, 1], so that neither 1e-200 nor 1e200 is lost when squared.  A
    constant column is found by its range, not by a rounded variance, and gets spread one.

    Returns
    -------
    center, spread : arrays of shape (n_columns,)
    varies : boolean array of shape (n_columns,)
    """
    blocks = row_blocks(X.shape[0], X.shape[1], _BLOCK_ENTRIES)

    def ends(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        return np.min(X[rows], axis=0), np.max(X[rows], axis=0)

    def moments(rows: slice) -> tuple[float, np.ndarray, np.ndarray]:
        w = np.ones(rows.stop - rows.start) if weight is None else weight[rows]
        # One memory order, so that the sums have the same bits for every order of X.
        U = np.ascontiguousarray((X[rows] - middle) / unit)
        return w.sum(), w @ U, w @ np.square(U)

    with Threads(n_threads) as threads:
        lows, highs = zip(*threads.map(ends, blocks), strict=True)
        low = np.min(lows, axis=0).astype(np.float64)
        high = np.max(highs, axis=0).astype(np.float64)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        varies = half > 0
        unit = np.where(varies, half, 1.0)
        total = 0.0
        first, second = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for one, part, square in threads.map(moments, blocks):
            total += one
            first += part
            second += square
    mean = first / total
    variance = np.maximum(second / total - mean**2, 0.0)
    # A spread far below the range is one outlier; its square is still well above rounding.
    spread = np.where(varies, unit * np.sqrt(np.maximum(variance, np.finfo(float).eps)), 1.0)
    return middle + unit * mean * varies, spread, varies
