"""What the methods share."""

from __future__ import annotations

import numpy as np

from methods.common import Pair


def n_classes(*pairs: Pair) -> int:
    """Classes are 0, 1, ... up to the largest seen."""
    return 1 + max(int(y.max()) for _, y in pairs)


def log_losses(y: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean negative logarithm of the probability of the class that came."""
    chosen = probabilities[np.arange(y.size), y]
    return float(-np.log(np.maximum(chosen, 1e-15)).mean())


def only(columns: np.ndarray, n: int) -> np.ndarray:
    """A mask of ``n`` columns."""
    mask = np.zeros(n, dtype=bool)
    mask[columns] = True
    return mask
