"""What the models of the folds missed on rows held out: intervals are made of it.

A row that is held out is predicted by the candidate of its fold, which has not seen it.
"""

from __future__ import annotations

import numpy as np

from srff.core.candidate import Candidate
from srff.data.problem import Problem
from srff.data.sides import Sides
from srff.estimators.missed import said_of
from srff.inspect.intervals import unit

MOST_KEPT = 1999
"""Quantiles that are kept: of more rows, those at ``k / 2000``."""


def left_over(
    problem: Problem, sides: list[Sides], each: tuple[Candidate, ...]
) -> np.ndarray | None:
    """What held-out rows were missed by, sorted: (quantiles, targets); None without such rows."""
    if not each or len(each) != len(sides):
        return None
    errors = []
    for (_, held), candidate in zip(sides, each, strict=True):
        said = said_of(problem, candidate, held.X[:, candidate.columns])
        errors.append((held.Y - said) / unit(problem.loss, said))
    weight = np.concatenate([held.weight for _, held in sides])
    return quantiles(np.concatenate(errors), weight)


def quantiles(errors: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Those at ``k / (m + 1)`` for ``k`` of 1 to ``m``, each column by itself.

    ``m`` is the number of rows, of weighted ones that of equal ones that tell as much, up to
    :data:`MOST_KEPT`.
    """
    rows = weight.sum() ** 2 / (weight**2).sum()
    m = min(int(rows + 1e-6), MOST_KEPT)
    at = np.arange(1, m + 1) / (m + 1) * (rows + 1) / rows
    out = np.empty((m, errors.shape[1]))
    for k, column in enumerate(errors.T):
        order = np.argsort(column, kind="stable")
        share = np.cumsum(weight[order]) / weight.sum()
        place = np.searchsorted(share, at - 1e-9)
        out[:, k] = column[order][np.minimum(place, order.size - 1)]
    return out
