"""The best model on the variables that were chosen: the last step of the default fit.

Several kinds of model compete on the validation rows: a metric, features of few directions, scales,
the best of these with many more features of several kernels, free frequencies averaged over draws,
and a blend of them.  Descents begin on the rows of the search and end on more, if there are more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf

from srff.core.candidate import Candidate, best_of
from srff.core.kernels import Gaussian
from srff.core.losses import Squared
from srff.core.parametrisations import Frequencies, LowOrder, Metric, Scales
from srff.selection.blend import blend, mean_of
from srff.selection.compare import Judge
from srff.selection.descents import (
    Start,
    continue_with_more_rows,
    descend_evidence,
    descend_penalties,
)
from srff.selection.draws import draw, low_order_around, square_metric
from srff.selection.free import free_frequencies
from srff.selection.panel import Folds, Panel, best_panel, panel_of, side_by_side
from srff.selection.penalty import best_penalty
from srff.selection.search import Search, together
from srff.selection.wide import many_features


@dataclass(frozen=True)
class Calibration:
    """A penalty, as a checkpoint keeps it."""

    alpha: float


def last_models(search: Search, chosen: Candidate, error: float) -> list[Candidate]:
    """The candidates on the columns of ``chosen``, in the order in which they were made.

    ``chosen`` was found with the loss of the search; here it is the problem's own that counts, and
    ``error`` is what models of that size reach by it.
    """
    kinds = search.request.kinds
    free = "frequencies" in kinds and _enough_rows(search)
    parts = 3 if free else 2
    search.log.stage("last model", 0, parts)
    chosen = _in_own_units(search, chosen)
    if not search.config.kinds_compete:
        return _own_kind(search, chosen)
    points: dict[str, Frequencies] = {
        "metric": Metric(square_metric(chosen), *draw(search, chosen.columns.size)),
        "low order": low_order_around(search, chosen),
    }
    if "scales" in kinds:
        group = search.groups.positions(chosen.columns)
        drawn = draw(search, chosen.columns.size)
        points["scales"] = Scales.of(chosen.strength(), *drawn, group)
    engines = search.engine, search.more_rows
    tasks = [partial(_learned, search, chosen, kind, points[kind], error) for kind in points]
    learned = dict(zip(points, together(search.problem, engines, tasks), strict=True))
    search.log.stage("last model", 1, parts)
    candidates = [c for made in learned.values() for c in made] if "metric" in kinds else []
    tail = inf
    if search.wide_features and candidates and isinstance(search.problem.kernel, Gaussian):
        wide, tail = many_features(search, _worth_widening(search, learned))
        candidates += wide
    if free:
        search.log.stage("last model", 2, parts)
        around = best_of([*learned["metric"], *learned["low order"]])
        candidates += free_frequencies(search, around, tail, candidates)
    candidates = [c for c in candidates if search.keeps(c)] or candidates
    candidates.append(blend(search, candidates))
    return candidates


def mean_of_folds(
    folds: Folds, judge: Judge, own: Panel, chosen: list[Candidate]
) -> tuple[Candidate, Panel]:
    """The mean over all folds of one kind of model on the same columns, and the models themselves.

    The kind is chosen on the rows that all folds hold out together; those of one fold are too few.
    With very few rows the chosen candidates stay as they are, unless the loss is quadratic: a last
    model would only be surer.  ``own`` is the panel that was chosen, each fold with columns of its
    own.
    """
    error, panels = judge.error(own), [judge.like(own, panel_of(folds, chosen))]
    very_few = folds[0].problem.n_rows <= folds[0].config.very_few_rows
    if isinstance(folds[0].problem.loss, Squared) or not very_few:
        tasks = [
            partial(last_models, search, candidate, error)
            for search, candidate in zip(folds, chosen, strict=True)
        ]
        made = [_best_of_kinds(models) for models in side_by_side(folds, tasks)]
        kinds = [kind for kind in made[0] if all(kind in models for models in made)]
        panels += [panel_of(folds, [models[kind] for models in made]) for kind in kinds]
    folds[0].log.add(*[panel.row() for panel in panels])
    best = best_panel(panels)
    mean = mean_of(folds[0], list(best.each), "mean of folds")
    mean = replace(mean, validation_error=best.error)
    folds[0].log.add(mean)
    return mean, best


def _best_of_kinds(models: list[Candidate]) -> dict[str, Candidate]:
    """The best candidate of each kind."""
    kinds = dict.fromkeys(model.kind for model in models)
    return {kind: best_of([m for m in models if m.kind == kind]) for kind in kinds}


def _in_own_units(search: Search, chosen: Candidate) -> Candidate:
    """The candidate with its penalty in units of the problem's loss."""
    unit = search.problem.unit
    members = tuple(replace(m, alpha=m.alpha * unit) for m in chosen.members)
    return replace(chosen, members=members)


def _learned(
    search: Search, chosen: Candidate, kind: str, point: Frequencies, rival: float
) -> list[Candidate]:
    """A kind learned, by the evidence where that can be; then on more rows."""
    problem, config = search.problem, search.config
    start = Start(kind, chosen.columns, point, problem.at_constant(point.b.size))
    alpha = _calibrated(search, start, chosen.alpha)
    if search.more_rows.n <= config.evidence_rows and isinstance(problem.loss, Squared):
        made = descend_evidence(search, start, alpha, problem.loss)
    else:
        alphas = search.alphas(alpha, config.metric_alphas)
        made = descend_penalties(search, start, alphas, problem.loss, rival=rival)
    if made.validation_error > config.race * rival:
        return [made]
    return [made, *_with_more_rows(search, made)]


def _calibrated(search: Search, start: Start, alpha: float) -> float:
    """The penalty that validates best before anything is learned: fresh features, another loss."""
    problem, engine = search.problem, search.engine
    waves = start.point.W, start.point.b, start.columns
    alphas = search.alphas(alpha, search.config.calibrated_alphas)

    def choose() -> Calibration:
        return Calibration(
            best_penalty(engine, search.validation, waves, alphas, problem.loss, start.near)[0]
        )

    def fits(found: Calibration) -> bool:
        return found.alpha > 0

    label = f"penalty, {start.kind}"
    return problem.checkpoint.run(Calibration, label, engine, choose, fits).alpha


def _worth_widening(search: Search, learned: dict[str, list[Candidate]]) -> list[Candidate]:
    """What many more features are drawn around: the best of the dense kinds, and of the sparse."""
    sparse = best_of(learned["low order"])
    dense = best_of([c for kind, made in learned.items() if kind != "low order" for c in made])
    if not sparse.validation_error < dense.validation_error:
        return [dense]
    close = dense.validation_error <= search.config.race * sparse.validation_error
    return [dense, sparse] if close else [sparse]


def _enough_rows(search: Search) -> bool:
    """Whether free frequencies can be learned from the rows, or nothing else is asked for."""
    least = search.config.rows_per_frequency[0] * search.problem.b.size
    return search.engine.n >= least or search.request.refine == "frequencies"


def _own_kind(search: Search, chosen: Candidate) -> list[Candidate]:
    """The chosen model's own kind, learned with all features."""
    point: Frequencies
    if isinstance(chosen.point, LowOrder) and not search.n_forced:
        kind, point = "low order", low_order_around(search, chosen)
    else:
        kind, point = "metric", Metric(square_metric(chosen), *draw(search, chosen.columns.size))
    made = _learned(search, chosen, kind, point, inf)
    if search.request.refine == "frequencies":
        return free_frequencies(search, best_of(made), inf, [])
    return made


def _with_more_rows(search: Search, made: Candidate) -> list[Candidate]:
    """What was made learned on with more rows, if there are more."""
    more = search.more_rows is not search.engine
    return [continue_with_more_rows(search, made)] if more else []
