"""The way back for variables that were lost: what the residuals still depend on."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from srff.core.candidate import Candidate
from srff.core.parametrisations import LowOrder, Metric
from srff.selection.descents import Start, descend_penalties
from srff.selection.search import Search
from srff.selection.starts import screened


def grow(search: Search, chosen: Candidate) -> Candidate | None:
    """The candidate with the variables that its residuals depend on; None if there are none."""
    problem, config = search.problem, search.config
    found = screened(search, chosen.expansion())
    new = found.columns[~np.isin(found.columns, chosen.columns)][: config.growth_variables]
    if not new.size:
        return None
    if not problem.groups.trivial:
        new = problem.groups.completed(new, problem.usable)
    start = _joined(search, chosen, new)
    alphas = search.alphas(chosen.alpha, config.growth_alphas)
    return descend_penalties(search, start, alphas, chosen.loss)


def _joined(search: Search, chosen: Candidate, new: np.ndarray) -> Start:
    """The chosen frequencies, and modest ones for the new columns."""
    problem, old = search.problem, chosen.point
    assert old is not None
    columns = np.concatenate([chosen.columns, new])
    order = np.argsort(columns)
    modest = np.diag(np.full(new.size, 0.5 * np.median(old.strength())))
    near = problem.at_constant(old.b.size)
    if isinstance(old, LowOrder):
        L = linalg.block_diag(old.L, modest)[np.ix_(order, order)]
        point = LowOrder(L, old.draw(columns.size), old.b, old.draw)
        return Start("low order", columns[order], point, near)
    drawn = problem.E[:, : old.b.size]
    L, E = np.diag(old.strength()), drawn[chosen.columns]
    if isinstance(old, Metric):
        L, E = old.L, old.E
    L, E = linalg.block_diag(L, modest)[order], np.concatenate([E, drawn[new]])
    return Start("metric", columns[order], Metric(L, E, old.b), near)
