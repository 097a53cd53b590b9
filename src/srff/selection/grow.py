"""The way back for variables that were lost: what the residuals still depend on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from srff.core.candidate import Candidate
from srff.core.parametrisations import LowOrder, Metric
from srff.selection.descents import Start
from srff.selection.lines import Descent
from srff.selection.screen import Screen
from srff.selection.search import Search
from srff.selection.starts import completed, low_order_point, screened


def grow(search: Search, chosen: Candidate) -> tuple[Descent | Candidate, ...]:
    """On with the variables that the residuals depend on, in two ways; else the candidate itself.

    Joined to what was learned, and anew as the other kind: features of few directions where it was
    of all at once, since what was missed is often a sum's other part; or the other way round.
    """
    problem, config = search.problem, search.config
    if not chosen.columns.size:
        return chosen, chosen
    found = screened(search, chosen.expansion()).significant()
    is_new = ~np.isin(found.columns, chosen.columns)
    new, rate = (each[is_new][: config.growth_variables] for each in (found.columns, found.scale))
    if not new.size:
        return chosen, chosen
    if not problem.groups.trivial:
        new, rate = completed(Screen(new, rate, new.size), problem.groups, problem.usable)
    alphas = search.alphas(chosen.alpha, config.growth_alphas)
    ways = _joined(search, chosen, new, rate), _anew(search, chosen, new, rate)
    return tuple(Descent(start, alphas) for start in ways)


def _joined(search: Search, chosen: Candidate, new: np.ndarray, rate: np.ndarray) -> Start:
    """The chosen frequencies, and those of the screen for the new columns."""
    problem, old = search.problem, chosen.point
    assert old is not None
    columns = np.concatenate([chosen.columns, new])
    order = np.argsort(columns)
    block = np.diag(rate / np.sqrt(new.size))
    b = search.b if chosen.kind == "linear" else old.b
    near = problem.at_constant(b.size)
    if isinstance(old, LowOrder):
        L = linalg.block_diag(old.L, block)[np.ix_(order, order)]
        point = LowOrder(L, old.draw(columns.size), b, old.draw)
        return Start("low order", columns[order], point, near)
    drawn = problem.E[:, : b.size]
    L, E = np.diag(old.strength()), drawn[chosen.columns]
    if isinstance(old, Metric):
        L, E = old.L, old.E
    L, E = linalg.block_diag(L, block)[order], np.concatenate([E, drawn[new]])
    return Start("metric", columns[order], Metric(L, E, b), near)


def _anew(search: Search, chosen: Candidate, new: np.ndarray, rate: np.ndarray) -> Start:
    """The other kind, from how fast the candidate varies along its columns: each a direction."""
    columns = np.concatenate([chosen.columns, new])
    order = np.argsort(columns)
    near = search.problem.at_constant(search.b.size)
    if not isinstance(chosen.point, LowOrder):
        low = low_order_point(search, columns.size)
        ones = np.concatenate([np.ones(chosen.columns.size), rate])
        return Start("low order", columns[order], replace(low, L=np.diag(ones[order])), near)
    even = np.concatenate([chosen.scale(), rate])[order] / np.sqrt(columns.size)
    point = Metric(np.diag(even), search.E[columns[order]], search.b)
    return Start("metric", columns[order], point, near)
