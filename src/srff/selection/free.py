"""Free frequencies: each learned for itself, from draws around the metric; a mean over draws."""

from __future__ import annotations

from math import inf

import numpy as np

from srff.core.candidate import Candidate
from srff.core.parametrisations import Free, Frequencies, LowOrder, Metric
from srff.selection.blend import mean_of
from srff.selection.descents import Start, continue_with_more_rows, descend_penalties
from srff.selection.draws import draw, low_order_around, square_metric
from srff.selection.search import Search


def free_frequencies(search: Search, around: Candidate) -> list[Candidate]:
    """The first draws, then a mean over draws like the best of them.

    The first draws say whether frequencies should start with heavy tails, and whether many more of
    them pay.
    """
    config, n_free = search.config, search.request.free_features
    size, count = search.problem.b.size, config.free_members
    alphas = search.alphas(around.alpha, config.free_alphas)
    firsts = {tail: _learned(search, around, size, tail, alphas) for tail in config.free_tails}
    candidates = list(firsts.values())
    tail = min(firsts, key=lambda t: firsts[t].validation_error)
    first = firsts[tail]
    more_rows = search.more_rows is not search.engine
    if n_free > size and search.engine.n >= config.rows_per_frequency * n_free:
        alphas = search.alphas(first.alpha, config.free_large_alphas)
        larger = _learned(search, around, n_free, tail, alphas)
        candidates.append(larger)
        # With more rows to come, more frequencies gain more.
        handicap = config.free_handicap if more_rows else 1.0
        if larger.validation_error < handicap * first.validation_error:
            first, size, count = larger, n_free, config.free_large_members
    down = search.alphas(first.alpha, config.free_down)
    members = [first]
    while len(members) < count:
        members.append(_learned(search, around, size, tail, down, give_up=inf))
    if more_rows:
        members = [continue_with_more_rows(search, member) for member in members]
        candidates.append(members[0])
    return [*candidates, mean_of(search, members, "frequencies")]


def _learned(
    search: Search,
    around: Candidate,
    size: int,
    tail: float,
    alphas: np.ndarray,
    give_up: float | None = None,
) -> Candidate:
    """One draw of so many frequencies, learned."""
    problem, point = search.problem, _drawn(search, around, size, tail)
    start = Start("frequencies", around.columns, point, problem.at_constant(size))
    effort = search.request.effort.twice()
    return descend_penalties(search, start, alphas, problem.loss, effort=effort, give_up=give_up)


def _drawn(search: Search, around: Candidate, size: int, tail: float) -> Free:
    """Frequencies around the candidate's, of Student's t where ``tail`` is finite."""
    if isinstance(around.point, LowOrder):
        point: Frequencies = low_order_around(search, around, size)
    else:
        point = Metric(square_metric(around), *draw(search, around.columns.size, size))
    rng = search.problem.rng
    radius = np.sqrt(tail / rng.chisquare(tail, size)) if np.isfinite(tail) else 1.0
    return Free(point.W * radius, point.b)
