"""The Euclidean projection on the simplex that the scales live in."""

from __future__ import annotations

import numpy as np


def project_simplex(v: np.ndarray, size: float = 1.0) -> np.ndarray:
    """The nearest point to ``v`` of ``{g : g >= 0, sum g = size}``, in O(d log d).

    It is ``max(v - t, 0)`` with the one threshold ``t`` that gives the sum: with ``u`` the sorted
    values, ``t = (sum_{k<=m} u_k - size) / m`` for the largest ``m`` that keeps ``u_m > t``.
    """
    if not size > 0:
        raise ValueError(f"size of the simplex must be positive, got {size!r}.")
    v = np.asarray(v, dtype=np.float64)
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - size) / np.arange(1, u.size + 1)
    kept = np.flatnonzero(u > excess)[-1]
    return np.maximum(v - excess[kept], 0.0)
