"""Weighted means and spreads of columns, for columns of any magnitude."""

from __future__ import annotations

from typing import Any

import numpy as np

_BLOCK = 65536


def center_and_spread(
    X: Any, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard deviation and whether it varies, of each column.

    Columns are first moved to [-1, 1], so that neither 1e-200 nor 1e200 is lost when squared.  A
    constant column is found by its range, not by a rounded variance, and gets spread one.

    Returns
    -------
    center, spread : arrays of shape (n_columns,)
    varies : boolean array of shape (n_columns,)
    """
    n = X.shape[0]
    blocks = [slice(i, min(i + _BLOCK, n)) for i in range(0, n, _BLOCK)]
    low = np.min([np.min(X[rows], axis=0) for rows in blocks], axis=0).astype(np.float64)
    high = np.max([np.max(X[rows], axis=0) for rows in blocks], axis=0).astype(np.float64)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    varies = half > 0
    unit = np.where(varies, half, 1.0)
    total = 0.0
    first, second = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows in blocks:
        w = np.ones(rows.stop - rows.start) if weight is None else weight[rows]
        # One memory order, so that the sums have the same bits for every order of X.
        U = np.ascontiguousarray((X[rows] - middle) / unit)
        total += w.sum()
        first += w @ U
        second += w @ np.square(U)
    mean = first / total
    variance = np.maximum(second / total - mean**2, 0.0)
    # A spread far below the range is one outlier; its square is still well above rounding.
    spread = np.where(varies, unit * np.sqrt(np.maximum(variance, np.finfo(float).eps)), 1.0)
    return middle + unit * mean * varies, spread, varies
