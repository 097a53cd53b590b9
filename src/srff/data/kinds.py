"""Rows that are of a few kinds, each written many times."""

from __future__ import annotations

from typing import Any

import numpy as np

FEW_KINDS, MANY_TIMES = 50, 4
"""Distinct rows up to which, if they stand so many times in the mean, each is shared between
training and validation rather than held out whole."""


def few_kinds(keys: np.ndarray) -> bool:
    """Whether there are few kinds of rows."""
    return np.unique(keys).size <= FEW_KINDS


def shares_rows(weight: np.ndarray) -> bool:
    """Whether rows are a few kinds, each written many times.

    To hold out a kind would ask a model for what it cannot know.
    """
    return 1 < weight.size <= FEW_KINDS and bool(weight.sum() >= MANY_TIMES * weight.size)


def written_out(
    X: Any, Y: np.ndarray, weight: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each row as often as it counts, as far as there is room: what is shuffled are copies.

    Shuffles of a few kinds of rows, each as a whole, could never tell an effect from chance.
    """
    often = np.maximum(np.rint(weight * min(1.0, most / weight.sum())), 1).astype(int)
    rows = np.repeat(np.arange(often.size), often)
    return X[rows], Y[rows], (weight / often)[rows]
