"""Fresh random features around what was learned, for the kinds of last model."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from srff.core.candidate import Candidate
from srff.core.kernels import low_order
from srff.core.parametrisations import LowOrder, Metric
from srff.selection.search import Search


def draw(search: Search, rows: int, size: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """``E`` (rows x size) of the kernel's spectral measure, and offsets."""
    problem = search.problem
    size = size or problem.b.size
    E = problem.kernel.sample(problem.rng, (rows, size))
    return E, problem.rng.uniform(0.0, 2 * np.pi, size)


def square_metric(candidate: Candidate) -> np.ndarray:
    """A square ``L`` of the same ``L L'``: with it the features have the same distribution."""
    point = candidate.point
    if not isinstance(point, Metric):
        return np.diag(candidate.strength())
    if point.L.shape[0] == point.L.shape[1]:
        return point.L
    return linalg.rq(point.L, mode="economic")[0]


def low_order_around(search: Search, candidate: Candidate, size: int | None = None) -> LowOrder:
    """Features of one to three directions: those of the candidate if it has any."""
    problem, rows = search.problem, candidate.columns.size
    n_components = size or problem.b.size
    L = candidate.point.L if isinstance(candidate.point, LowOrder) else np.eye(rows)

    def sparse(rows: int) -> np.ndarray:
        return low_order(problem.kernel, problem.rng, (rows, n_components))

    b = problem.rng.uniform(0.0, 2 * np.pi, n_components)
    return LowOrder(L, sparse(rows), b, sparse)
