"""Columns of a table as predictors of other columns: numbers that say nothing of the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from srff.data.encoding.frames import Levels, is_category

MOST_LEVELS = 20
"""Levels of a category that have an indicator of their own; all rarer ones share one."""

LEAST_SPREAD = 1e-9
"""Predictors that vary less are left out."""


@dataclass(frozen=True)
class Predictors:
    """Columns of mean zero and unit variance, and the column of the table that each comes from."""

    values: np.ndarray
    source: np.ndarray

    def positions(self, columns: np.ndarray) -> np.ndarray:
        """Those that come from some columns."""
        return np.flatnonzero(np.isin(self.source, columns))


def predictors(codes: np.ndarray, levels: Levels, bent: bool = False) -> Predictors:
    """All columns of coded rows (see :mod:`srff.data.encoding.frames`) as predictors.

    A number is its normal score, with an indicator of gaps, and where ``bent`` the square and the
    cube of the score less what is straight in them: Hermite's polynomials.  A category is an
    indicator for each of its frequent levels.
    """
    parts = [
        _of_category(column) if is_category(level) else _of_number(column, bent)
        for column, level in zip(codes.T, levels, strict=True)
    ]
    source = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    P = np.concatenate([np.zeros((codes.shape[0], 0)), *parts], axis=1)
    P = P - P.mean(axis=0)
    spread = P.std(axis=0)
    varies = spread > LEAST_SPREAD
    return Predictors(P[:, varies] / spread[varies], source[varies])


def normal_scores(values: np.ndarray) -> np.ndarray:
    """``Phi^-1((r - 1/2) / n)`` of the mean rank r of equal values."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - count / 2) / max(values.size, 1)
    return ndtri(ranks)[place]


def _of_number(column: np.ndarray, bent: bool) -> np.ndarray:
    gaps = np.isnan(column)
    z = np.zeros(column.size)
    z[~gaps] = normal_scores(column[~gaps])
    curves = [z**2 - 1, z**3 - 3 * z] if bent else []
    return np.stack([z, *curves, gaps.astype(np.float64)], axis=1)


def _of_category(column: np.ndarray) -> np.ndarray:
    level = np.where(np.isnan(column), -2.0, column)
    values, count = np.unique(level, return_counts=True)
    frequent = values[np.argsort(-count, kind="stable")[:MOST_LEVELS]]
    return (level[:, None] == frequent).astype(np.float64)
