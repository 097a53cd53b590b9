"""Weighted means and spreads of columns, for columns of any magnitude."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from srff._utils.threads import Threads, row_blocks

_BLOCK_ENTRIES = 2**18


@dataclass(frozen=True)
class Moments:
    """Of some rows: their weight, and of each column the ends, the mean and the spread."""

    total: float
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    spread: np.ndarray

    @property
    def varies(self) -> np.ndarray:
        """Whether a column is not constant: by its range, not by a rounded variance."""
        return self.high / 2 - self.low / 2 > 0

    def standard(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation; a constant column keeps its value and gets spread one."""
        # A spread far below the range is one outlier; its square is still well above rounding.
        half = self.high / 2 - self.low / 2
        least = half * np.sqrt(np.finfo(float).eps)
        center = np.where(self.varies, self.mean, self.low / 2 + self.high / 2)
        return center, np.where(self.varies, np.maximum(self.spread, least), 1.0)


def moments(X: Any, weight: np.ndarray | None = None, n_threads: int = 1) -> Moments:
    """``mean = sum w x / sum w`` and ``spread^2 = sum w x^2 / sum w - mean^2`` of each column.

    ``X`` is rows x d, ``weight`` has a number for each row.  Columns are first moved to [-1, 1], so
    that neither 1e-200 nor 1e200 is lost when squared.
    """
    blocks = row_blocks(X.shape[0], X.shape[1], _BLOCK_ENTRIES)

    def ends(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        return np.min(X[rows], axis=0), np.max(X[rows], axis=0)

    def sums(rows: slice) -> tuple[float, np.ndarray, np.ndarray]:
        w = np.ones(rows.stop - rows.start) if weight is None else weight[rows]
        # One memory order, so that the sums have the same bits for every order of X.
        U = np.ascontiguousarray((X[rows] - middle) / unit)
        return w.sum(), w @ U, w @ np.square(U)

    with Threads(n_threads) as threads:
        lows, highs = zip(*threads.map(ends, blocks), strict=True)
        low = np.min(lows, axis=0).astype(np.float64)
        high = np.max(highs, axis=0).astype(np.float64)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        unit = np.where(half > 0, half, 1.0)
        total = 0.0
        first, second = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for one, part, square in threads.map(sums, blocks):
            total += one
            first += part
            second += square
    mean = first / total
    variance = np.maximum(second / total - mean**2, 0.0)
    return Moments(total, low, high, middle + unit * mean, unit * np.sqrt(variance))


def merged(parts: list[Moments]) -> Moments:
    """The moments of all rows from those of parts of them, one after the other.

    Of two parts with shares ``p + q = 1`` of the weight: ``mean = p m_a + q m_b`` and ``spread^2 =
    p s_a^2 + q s_b^2 + p q (m_b - m_a)^2``.
    """

    def two(a: Moments, b: Moments) -> Moments:
        total = a.total + b.total
        p, q = a.total / total, b.total / total
        apart = b.mean / 2 - a.mean / 2  # halves: their difference is finite
        within = np.hypot(a.spread * np.sqrt(p), b.spread * np.sqrt(q))
        return Moments(
            total,
            np.minimum(a.low, b.low),
            np.maximum(a.high, b.high),
            p * a.mean + q * b.mean,
            np.hypot(within, 2 * np.sqrt(p * q) * apart),
        )

    return reduce(two, parts)


def center_and_spread(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard deviation (one if constant) and whether it varies, of each column."""
    of = moments(X)
    return *of.standard(), of.varies
