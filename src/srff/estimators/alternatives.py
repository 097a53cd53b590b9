"""What nearly was in the model: variables that were dropped last, and such as could stand in."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from srff.core.candidate import Candidate, Found
from srff.data.problem import Problem
from srff.data.sides import Sides

ALIKE = 0.9
"""Correlation from which on a column could stand in for another."""

MOST_ROWS = 2000
MOST_RANKED = 2000
"""Columns up to which correlations of normal scores are looked at beside the plain ones."""

MOST_NAMED = 20


def stand_ins(
    problem: Problem, sides: list[Sides], used: np.ndarray
) -> list[tuple[int, int, float]]:
    """Columns that are not in use, each with one that is and their correlation, the closest first.

    The stronger of the plain correlation and that of normal scores.  Columns of the encoded table
    that are one variable alone.
    """
    if not sides or not used.size:
        return []
    X = np.concatenate([held.X for _, held in sides])[:MOST_ROWS, problem.usable]
    if X.shape[0] < 3:
        return []
    of = problem.groups.of
    alone = np.bincount(of)[of[problem.usable]] == 1
    own = np.flatnonzero(alone & np.isin(problem.usable, used))
    others = np.flatnonzero(alone & ~np.isin(problem.usable, used))
    if not (own.size and others.size):
        return []
    U = problem.standard.take(problem.usable)(X)
    r = _correlations(U, own, others)
    if U.shape[1] <= MOST_RANKED:
        scores = ndtri((rankdata(U, axis=0) - 0.5) / U.shape[0])
        ranked = _correlations(scores, own, others)
        r = np.where(np.abs(ranked) > np.abs(r), ranked, r)
    nearest = np.abs(r).argmax(axis=0)
    strength = np.abs(r)[nearest, np.arange(others.size)]
    close = np.argsort(-strength, kind="stable")[: np.count_nonzero(strength >= ALIKE)]
    named = problem.usable
    return [
        (int(named[others[k]]), int(named[own[nearest[k]]]), float(r[nearest[k], k]))
        for k in close[:MOST_NAMED]
    ]


def _correlations(U: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Those of some columns with others; zero for columns that do not vary."""
    U = U - U.mean(axis=0)
    size = np.linalg.norm(U, axis=0)
    U = np.where(size > 1e-9, U / np.maximum(size, 1e-9), 0.0)
    return U[:, one].T @ U[:, two]


def dropped_last(problem: Problem, found: Found) -> list[tuple[int, float]]:
    """Groups that the search tried to do with and without, beside those that are kept.

    By how much the error of the search is lower with the group, as a share of it, the largest
    first: of the candidates that have just that group more, the best.
    """
    groups = problem.groups

    def parts(candidate: Candidate) -> frozenset[int]:
        return frozenset(groups.of[candidate.columns].tolist())

    kept = parts(found.model)
    best: dict[frozenset[int], float] = {}
    for candidate in found.candidates:
        error = candidate.validation_error
        if candidate.loss is problem.search_loss and np.isfinite(error):
            have = parts(candidate)
            if have == kept or (have > kept and len(have) == len(kept) + 1):
                best[have] = min(best.get(have, np.inf), float(error))
    if not kept or kept not in best:
        return []
    unit = problem.targets.unit
    without = float(problem.search_loss.reported(best.pop(kept), unit))
    rises = []
    for have, error in best.items():
        (group,) = have - kept
        with_it = float(problem.search_loss.reported(error, unit))
        rises.append((group, without / with_it - 1 if with_it > 0 else 0.0))
    return sorted(rises, key=lambda one: (-one[1], one[0]))[:MOST_NAMED]
