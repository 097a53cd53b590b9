"""Rows in memory on the two sides of a split, for whoever judges a fit by other means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rows:
    """Some rows as they are: no scaling, no unit."""

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    """Ones where rows have none."""

    @classmethod
    def of(cls, X: Any, Y: np.ndarray, weight: np.ndarray | None, rows: np.ndarray | None) -> Rows:
        """Those of some indices, or all of them."""
        if rows is not None:
            X, Y, weight = X[rows], Y[rows], None if weight is None else weight[rows]
        weight = np.ones(Y.shape[0]) if weight is None else weight.astype(np.float64)
        return cls(np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64), weight)

    @property
    def n(self) -> float:
        """The sum of their weights."""
        return float(self.weight.sum())


Sides = tuple[Rows, Rows]
"""The rows that are learned from, and those that are held out."""
