"""Free frequencies: each learned for itself, from draws around the metric; a mean over draws."""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from srff.core.candidate import Candidate, best_of
from srff.core.parametrisations import Free, Frequencies, LowOrder, Metric
from srff.selection.blend import mean_of
from srff.selection.descents import Start, continue_with_more_rows, descend_penalties
from srff.selection.draws import draw, low_order_around, square_metric
from srff.selection.search import Search, together


def free_frequencies(
    search: Search, around: Candidate, tail: float, rivals: list[Candidate]
) -> list[Candidate]:
    """A first draw, a larger one where there are rows for it, then a mean over draws like the best.

    ``tail`` are the degrees of freedom of the frequencies that they start with.  A first draw that
    is far behind its rivals is the only one.
    """
    problem, config, n_free = search.problem, search.config, search.request.free_features
    size, count = problem.b.size, config.free_members
    rival = best_of(rivals).validation_error if rivals else inf
    alphas = search.alphas(around.alpha, config.free_alphas)
    first = _learned(search, around, _drawn(search, around, size, tail), alphas, rival)
    candidates = [first]
    if first.validation_error > config.race * rival:
        return candidates
    more_rows = search.more_rows is not search.engine
    if n_free > size and search.engine.n >= config.rows_per_frequency[1] * n_free:
        alphas = search.alphas(first.alpha, config.free_large_alphas)
        larger = _learned(search, around, _drawn(search, around, n_free, tail), alphas)
        candidates.append(larger)
        # With more rows to come, more frequencies gain more.
        handicap = config.free_handicap if more_rows else 1.0
        if larger.validation_error < handicap * first.validation_error:
            first, size, count = larger, n_free, config.free_large_members
    if more_rows:
        count = max(count, config.free_more_rows_members)
    down = search.alphas(first.alpha, config.free_down)
    draws = [_drawn(search, around, size, tail) for _ in range(count - 1)]
    engines = search.engine, search.more_rows
    tasks = [partial(_learned, search, around, point, down) for point in draws]
    members = [first, *together(problem, engines, tasks)]
    if more_rows:
        members = [continue_with_more_rows(search, member) for member in members]
        candidates.append(members[0])
    return [*candidates, mean_of(search, members, "frequencies")]


def _learned(
    search: Search, around: Candidate, point: Free, alphas: np.ndarray, rival: float = inf
) -> Candidate:
    """One draw of frequencies, learned."""
    problem = search.problem
    start = Start("frequencies", around.columns, point, problem.at_constant(point.b.size))
    effort = search.request.effort.twice()
    return descend_penalties(search, start, alphas, problem.loss, effort=effort, rival=rival)


def _drawn(search: Search, around: Candidate, size: int, tail: float) -> Free:
    """Frequencies around the candidate's, of Student's t where ``tail`` is finite."""
    if isinstance(around.point, LowOrder):
        point: Frequencies = low_order_around(search, around, size)
    else:
        point = Metric(square_metric(around), *draw(search, around.columns.size, size))
    rng = search.problem.rng
    radius = np.sqrt(tail / rng.chisquare(tail, size)) if np.isfinite(tail) else 1.0
    return Free(point.W * radius, point.b)
