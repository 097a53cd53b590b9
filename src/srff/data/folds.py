"""Folds: each row is held out once, and every choice is made on rows that a model has not seen."""

from __future__ import annotations

import numpy as np

Split = tuple[np.ndarray, np.ndarray]
"""Indices of the rows that are learned from, and of those that are held out."""

FOLDS = ((100, 10), (6000, 5))
"""Up to so many rows, so many folds: each learns from nearly all of few rows, and costs a search of
its own.  With more rows a single hold-out says enough."""


def n_folds(n_rows: int) -> int:
    """Folds for so many rows; one for a single hold-out."""
    return next((count for most, count in FOLDS if n_rows <= most), 1)


def fold_splits(keys: np.ndarray, count: int, strata: np.ndarray | None = None) -> list[Split]:
    """Rows dealt to folds in the order of their keys, those of each stratum after another.

    Rows of one key stay together; so nothing depends on the order of the rows, and a fold has as
    many rows of each stratum as any other, or one more.
    """
    distinct, inverse = np.unique(keys, return_inverse=True)
    order = np.arange(distinct.size)
    if strata is not None:
        first = np.zeros(distinct.size, dtype=np.intp)
        first[inverse[::-1]] = strata[::-1]
        order = np.argsort(first, kind="stable")
    dealt = np.empty(distinct.size, dtype=np.intp)
    dealt[order] = np.arange(distinct.size) % min(count, distinct.size)
    return _held_out_in_turn(dealt[inverse])


def group_folds(keys: np.ndarray, weight: np.ndarray | None, count: int) -> list[Split]:
    """Groups of rows, each of one key, dealt to folds of about the same weight.

    The heaviest comes first, and goes to the fold that has least; equal ones go by their keys.
    """
    distinct, inverse = np.unique(keys, return_inverse=True)
    mass = np.bincount(inverse, weights=weight)
    load = np.zeros(min(count, distinct.size))
    dealt = np.empty(distinct.size, dtype=np.intp)
    for group in np.lexsort((distinct, -mass)):
        dealt[group] = np.argmin(load)
        load[dealt[group]] += mass[group]
    return _held_out_in_turn(dealt[inverse])


def _held_out_in_turn(fold: np.ndarray) -> list[Split]:
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
