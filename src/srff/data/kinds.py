"""Rows that are of a few kinds, each written many times."""

from __future__ import annotations

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
