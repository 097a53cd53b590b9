"""The best model on the variables that were chosen: the last step of the default fit.

Several kinds of model compete on the validation rows: scales, a metric, features of few directions,
the best of these with many more features of several kernels, free frequencies averaged over draws,
and a blend of them.  Descents begin on the rows of the search and end on more, if there are more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from srff.core.candidate import Candidate, best_of
from srff.core.kernels import Gaussian
from srff.core.losses import Squared
from srff.core.objectives import Evidence, Objective, TrainingLoss
from srff.core.parametrisations import Frequencies, LowOrder, Metric, Scales
from srff.selection.blend import blend
from srff.selection.descents import (
    Start,
    continue_with_more_rows,
    descend_evidence,
    descend_penalties,
)
from srff.selection.draws import draw, low_order_around, square_metric
from srff.selection.free import free_frequencies
from srff.selection.search import Search
from srff.selection.wide import many_features

PARTS = 8
"""Of about the same length: scales, metric, low order, wide, and the rest for free frequencies."""


def last_models(search: Search, chosen: Candidate) -> list[Candidate]:
    """The candidates on the columns of ``chosen``, in the order in which they were made.

    ``chosen`` was found with the loss of the search; here it is the problem's own that counts.
    """
    kinds, size = search.request.kinds, chosen.columns.size
    chosen = _in_own_units(search, chosen)
    if not search.config.kinds_compete:
        return _own_kind(search, chosen)
    candidates: list[Candidate] = []
    if "scales" in kinds:
        group = search.groups.positions(chosen.columns)
        scales = Scales.of(chosen.strength(), *draw(search, size), group)
        candidates += _learned(search, chosen, scales, "scales")
    search.log.stage("last model", 1, PARTS)
    metric = Metric(square_metric(chosen), *draw(search, size))
    metrics = _learned(search, chosen, metric, "metric")
    search.log.stage("last model", 2, PARTS)
    low_order = _learned(search, chosen, low_order_around(search, chosen), "low order")
    search.log.stage("last model", 3, PARTS)
    if "metric" in kinds:
        candidates += [*metrics, *low_order]
    if search.wide_features and candidates and isinstance(search.problem.kernel, Gaussian):
        dense = best_of([c for c in candidates if c.kind != "low order"])
        candidates += many_features(search, dense)
        if best_of(low_order).validation_error < dense.validation_error:
            candidates += many_features(search, best_of(low_order))
    search.log.stage("last model", 4, PARTS)
    if "frequencies" in kinds:
        candidates += free_frequencies(search, best_of([*metrics, *low_order]))
    candidates.append(blend(search, candidates))
    return candidates


def _in_own_units(search: Search, chosen: Candidate) -> Candidate:
    """The candidate with its penalty in units of the problem's loss."""
    unit = search.problem.unit
    members = tuple(replace(m, alpha=m.alpha * unit) for m in chosen.members)
    return replace(chosen, members=members)


def _learned(search: Search, chosen: Candidate, point: Frequencies, kind: str) -> list[Candidate]:
    """A kind learned by the training loss and by the evidence; the better one on more rows."""
    problem, config = search.problem, search.config
    by_evidence = search.more_rows.n <= config.evidence_rows and problem.loss.quadratic
    goals: list[Callable[[float, Any], Objective]] = [TrainingLoss]
    if by_evidence:
        goals.append(Evidence)
    start = Start(kind, chosen.columns, point, problem.at_constant(point.b.size))
    alphas = search.alphas(chosen.alpha, config.metric_alphas)
    made = [
        descend_penalties(search, start, alphas, problem.loss, objective=goal) for goal in goals
    ]
    return [*made, *_with_more_rows(search, best_of(made))]


def _own_kind(search: Search, chosen: Candidate) -> list[Candidate]:
    """The chosen model's own kind learned on with all features, by one descent where it can be."""
    problem = search.problem
    point: Frequencies
    if isinstance(chosen.point, LowOrder):
        kind, point = "low order", low_order_around(search, chosen)
    else:
        kind, point = "metric", Metric(square_metric(chosen), *draw(search, chosen.columns.size))
    start = Start(kind, chosen.columns, point, problem.at_constant(point.b.size))
    if isinstance(problem.loss, Squared) and search.request.alpha is None:
        made = descend_evidence(search, start, chosen.alpha, problem.loss)
    else:
        alphas = search.alphas(chosen.alpha, search.config.metric_alphas)
        made = descend_penalties(search, start, alphas, problem.loss)
    if search.request.refine == "frequencies":
        return free_frequencies(search, made)
    return [made, *_with_more_rows(search, made)]


def _with_more_rows(search: Search, made: Candidate) -> list[Candidate]:
    """What was made learned on with more rows, if there are more."""
    more = search.more_rows is not search.engine
    return [continue_with_more_rows(search, made)] if more else []
