"""The default fit: several ways to start, elimination, a test of what is missed, the last model.

1. *Starts.*  All variables with even scales (a metric for up to ``ALL`` of them, scales for any
   number), at a few budgets; the variables that a screen of low orders finds; the scales of a
   projected descent on the simplex where there are many variables.  Inputs as they are and, where
   some are far from normal, as normal scores.
2. *Elimination* from the starts that validate best, on at most ``SEARCH_ROWS`` rows.
3. *The choice of a size.*  The smallest model that is not significantly worse than the best, by a
   paired test of the loss on the validation rows; then one variable at a time by the same test.  No
   variable is kept if the model is not significantly better than the best constant.
4. *The last model* on the variables that are left: see :mod:`srff.finish`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from srff.elimination import (
    FIRST_ALPHAS,
    NEXT_ALPHAS,
    Effort,
    Tick,
    eliminate,
    importance,
    top_eigenvalue,
    walk,
    without,
)
from srff.engines import Engine
from srff.features import Prediction
from srff.finish import Plan, finish
from srff.groups import Units, first_of_each
from srff.kernels import low_order
from srff.layouts import SAMPLE_ROWS
from srff.models import Judge, Model, best_of, mean_model
from srff.objectives import Evidence, evidence_alpha
from srff.problem import Problem, View
from srff.progress import Callback, Progress
from srff.screen import Screen, screen
from srff.solvers.profile import descend_scales
from srff.solvers.refine import Frequencies, LowOrder, Metric, Scales

SEARCH_ROWS, REFINE_ROWS = 10_000, SAMPLE_ROWS
"""Most rows that the elimination, and that the last descents, look at.  The coefficients of the
model that is kept are solved on all rows."""

ALL = 128
"""Most variables that a metric starts from."""

SCREENED = 40
FACTORS = (0.5, 1.0, 2.0)
"""Budgets that are tried, as shares of d / sigma."""

BEHIND = 2.0
"""The best start of a family goes on to elimination if its squared error on the validation rows is
at most so many times the best of all."""

TRIED = 3
"""Variables that are tried, weakest first, when one more is to leave."""

THINNING_ALPHAS = np.array([1.0, 0.3])
GROWTH_ALPHAS = np.logspace(1, -1, 5)
GROWTH, ROUNDS = 10, 3
"""Most variables that come back at a time, and how often they may."""

MEAN_LEVEL = 0.05
"""Level of the test against the mean, shared among the eliminations."""


@dataclass(frozen=True)
class Settings:
    """What a user may set."""

    refine: str
    max_iter: int
    tol: float
    alpha: float | None
    factors: tuple[float, ...]
    largest: tuple[int, int]
    """Most features of the wide model, and most free frequencies."""

    start: Model | None = None
    """Scales to begin from, in place of all other starts."""
    inputs: str = "auto"
    """The transform to use, or "auto" for the best of those that the problem has."""
    size: int | None = None
    """How many units to keep; None for as few as do not cost accuracy."""


class Journey:
    """Every model that was considered, in order; and how far along the fit is."""

    STAGES = ("start", "elimination", "one by one", "last model")
    SHARES = (0.2, 0.3, 0.1, 0.4)
    """What each stage takes of the whole, roughly."""

    def __init__(self, report: Callback, y_unit: float) -> None:
        self.models: list[Model] = []
        self._report, self._y_unit = report, y_unit
        self._stage, self._part = 0, (0, 1)

    def stage(self, stage: int, part: int = 0, parts: int = 1) -> None:
        """Say that a part of a stage begins."""
        self._stage, self._part = stage, (part, parts)
        self.tick()

    def add(self, *models: Model) -> None:
        """Note some models."""
        self.models.extend(models)
        self.tick()

    def tick(self) -> None:
        """Report; called at each evaluation, so that a callback may interrupt."""
        part, parts = self._part
        done = sum(self.SHARES[: self._stage]) + self.SHARES[self._stage] * part / parts
        message = ""
        if self.models:
            loss = self.models[-1].loss
            error = min(m.validation_error for m in self.models if m.loss is loss)
            message = f"best error {loss.reported(error, self._y_unit):.4g}"
        self._report(Progress(self.STAGES[self._stage], round(1000 * done), 1000, message))


@dataclass(frozen=True)
class Start:
    """Where an elimination may begin."""

    family: str
    kind: str
    columns: np.ndarray
    point: Frequencies


def starts(problem: Problem, view: View, settings: Settings, tick: Tick) -> list[Start]:
    """The places to begin from, for one transform of the inputs."""
    engine = view.training(SEARCH_ROWS)
    usable, E, b = problem.usable, problem.E, problem.b
    out: list[Start] = []
    even = problem.scale[usable]
    for factor in settings.factors:
        if usable.size <= ALL:
            point: Frequencies = Metric(np.diag(factor * even), E[usable], b)
            out.append(Start("metric", "metric", usable, point))
    out.append(Start("scales", "scales", usable, scales_point(problem, usable, problem.scale)))
    if usable.size <= ALL:
        out.append(Start("low order", "low order", usable, low_order_point(problem, usable.size)))
    if usable.size > ALL:
        out += [_descent(problem, view, f, settings.size or 0, tick) for f in settings.factors]
    found = _screened(problem, engine)
    if found.columns.size:
        columns = problem.units.whole(found.columns, usable)
        rate = _rates(found, columns, problem.units)
        # Waves of several variables at once: their squared frequencies add up.
        rate = rate / np.sqrt(columns.size)
        out.append(Start("screen", "metric", columns, Metric(np.diag(rate), E[columns], b)))
        everywhere = np.zeros(problem.scale.size)
        everywhere[columns] = rate
        out.append(Start("screen", "scales", columns, scales_point(problem, columns, everywhere)))
        if usable.size > ALL:
            point = low_order_point(problem, columns.size)
            out.append(Start("low order", "low order", columns, point))
    return out


def scales_point(problem: Problem, columns: np.ndarray, scale: np.ndarray) -> Scales:
    """Scales of some columns, one for each unit: that of its first column."""
    unit = problem.units.positions(columns)
    gamma = first_of_each(scale[columns], unit)
    return Scales(gamma, problem.E[columns], problem.b, unit)


def _screened(
    problem: Problem, engine: Engine, most: int = SCREENED, model: Prediction | None = None
) -> Screen:
    loss, n_targets = problem.search_loss, problem.constant.c.size
    return screen(engine, problem.usable, most, n_targets, model, loss)


def _rates(found: Screen, columns: np.ndarray, units: Units) -> np.ndarray:
    """The frequency of each column: its own, or the median of its unit's, that was found."""
    rate = np.empty(columns.size)
    own = dict(zip(found.columns.tolist(), found.scale.tolist(), strict=True))
    for part in units.among(columns):
        known = [own[s] for s in columns[part].tolist() if s in own]
        rate[part] = [own.get(s, float(np.median(known))) for s in columns[part].tolist()]
    return rate


def low_order_point(problem: Problem, size: int) -> LowOrder:
    """Each variable a direction of its own, at the frequencies of a standardised input."""
    seed = problem.rng.randint(2**31)
    n_components, kernel = problem.b.size, problem.kernel

    def draw(rows: int) -> np.ndarray:
        rng = np.random.RandomState((seed + rows) % 2**32)
        return low_order(kernel, rng, (rows, n_components))

    return LowOrder(np.eye(size), draw(size), problem.b, draw)


def _descent(problem: Problem, view: View, factor: float, most: int, tick: Tick) -> Start:
    """The strongest scales of a projected descent on the evidence, as a metric."""
    engine = view.training(SEARCH_ROWS)
    scale = factor * problem.scale
    used = np.flatnonzero(scale)
    loss = problem.search_loss
    for _ in range(3):
        S = engine.statistics(scale[used, None] * problem.E[used], problem.b, used, loss)
        top = float(np.trace(S.G)) / S.n
        goal = Evidence(evidence_alpha(S, top * np.logspace(0, -7, 30)), loss)
        for state in descend_scales(
            engine,
            goal,
            problem.E,
            problem.b,
            scale,
            start=problem.start(problem.b),
            units=problem.units,
            max_iter=10,
            tol=1e-4,
            journal=problem.journal,
        ):
            tick()
            scale = state.scale
        used = np.flatnonzero(scale)
    strongest = _strongest(scale, problem, max(ALL // 2, most))
    point = Metric(np.diag(scale[strongest]), problem.E[strongest], problem.b)
    return Start("metric", "metric", strongest, point)


def _strongest(scale: np.ndarray, problem: Problem, most: int) -> np.ndarray:
    """The columns of the units of the largest scales, at most so many units."""
    used = np.flatnonzero(scale)
    parts = problem.units.among(used)
    strength = np.array([scale[used[part]].max() for part in parts])
    chosen = np.argsort(-strength, kind="stable")[:most]
    return np.sort(np.concatenate([used[parts[k]] for k in chosen]))


def automatic(problem: Problem, settings: Settings, report: Callback) -> tuple[Model, list[Model]]:
    """The chosen model, and all that were considered."""
    journey = Journey(report, problem.y_unit)
    view, runners = _begin(problem, settings, journey)
    engine, validation = view.training(SEARCH_ROWS), view.validation
    assert validation is not None
    effort = Effort(settings.max_iter, settings.tol)
    fixed = settings.alpha is not None

    candidates: list[Model] = []
    for part, first in enumerate(runners):
        journey.stage(1, part, len(runners))
        shares = NEXT_ALPHAS if settings.alpha is None else np.ones(1)
        models = eliminate(
            view,
            engine,
            first,
            candidates,
            size=None if settings.size is None else _wanted(problem, settings),
            shares=shares,
            effort=effort,
            tick=journey.tick,
        )
        candidates += models
        journey.add(*models[1:])

    if settings.size is None:
        found = _fewest(problem, view, engine, candidates, settings, journey, len(runners))
        if found is None:
            name, loss, c = view.transform.name, problem.loss, problem.constant.c
            return mean_model(name, validation, loss, c), journey.models
        chosen = found
    else:
        count, size = problem.units.count, _wanted(problem, settings)
        chosen = best_of([m for m in candidates if count(m.columns) == size])

    journey.stage(3)
    more = view.training(REFINE_ROWS)
    kinds = {"auto": ("scales", "metric", "frequencies")}
    plan = Plan(
        kinds=kinds.get(settings.refine, (settings.refine,)),
        n_components=problem.b.size,
        n_wide=min(settings.largest[0], int(2 * more.n)),
        n_free=settings.largest[1],
        fixed_alpha=fixed,
        effort=effort,
        problem=problem,
    )
    last = finish(
        view, engine, more, chosen, plan, journey.tick, lambda part, of: journey.stage(3, part, of)
    )
    journey.add(*last)
    return best_of(last), journey.models


def _fewest(
    problem: Problem,
    view: View,
    engine: Engine,
    candidates: list[Model],
    settings: Settings,
    journey: Journey,
    n_runners: int,
) -> Model | None:
    """The smallest model that does not cost accuracy; None if no variable helps."""
    assert view.validation is not None
    judge = Judge(problem, view, engine)
    journey.stage(2)
    chosen = _thin(view, engine, candidates, settings, journey, judge)
    for _ in range(ROUNDS):
        grown = _grow(problem, view, engine, chosen, settings, journey)
        if grown is None or not judge.worse(chosen, grown):
            break
        candidates.append(grown)
        chosen = _thin(view, engine, candidates, settings, journey, judge)
    zero = np.zeros(problem.constant.c.size)
    nothing = mean_model(view.transform.name, view.validation, problem.search_loss, zero)
    journey.add(nothing)
    return chosen if judge.worse(nothing, chosen, MEAN_LEVEL / n_runners) else None


def _thin(
    view: View,
    engine: Engine,
    candidates: list[Model],
    settings: Settings,
    journey: Journey,
    judge: Judge,
) -> Model:
    """The smallest model not significantly worse than the best, after dropping one by one.

    One of the ``TRIED`` least needed variables leaves at a time.  What is tried on the way joins
    the candidates.
    """
    current = judge.smallest(candidates, view.units)
    while view.units.count(current.columns) > 1:
        parts = view.units.among(current.columns)
        for weak in np.argsort(importance(view, current), kind="stable")[:TRIED]:
            model = without(
                view,
                engine,
                current,
                np.delete(np.arange(current.columns.size), parts[weak]),
                THINNING_ALPHAS if settings.alpha is None else np.ones(1),
                effort=Effort(settings.max_iter, settings.tol).half(),
                tick=journey.tick,
            )
            candidates.append(model)
            journey.add(model)
            if not judge.worse(model, judge.best(candidates)):
                current = model
                break
        else:
            break
    return judge.smallest(candidates, view.units)


def _grow(
    problem: Problem,
    view: View,
    engine: Engine,
    chosen: Model,
    settings: Settings,
    journey: Journey,
) -> Model | None:
    """The model with the variables that its residuals still depend on; None if there are none."""
    assert chosen.point is not None
    found = _screened(problem, view.training(REFINE_ROWS), model=chosen.prediction())
    new = found.columns[~np.isin(found.columns, chosen.columns)][:GROWTH]
    if not new.size:
        return None
    if not problem.units.trivial:
        new = problem.units.whole(new, problem.usable)
    columns = np.concatenate([chosen.columns, new])
    order = np.argsort(columns)
    old = chosen.point
    modest = np.diag(np.full(new.size, 0.5 * np.median(old.strength())))
    if isinstance(old, LowOrder):
        L = linalg.block_diag(old.L, modest)[np.ix_(order, order)]
        point: Frequencies = LowOrder(L, old.draw(columns.size), old.b, old.draw)
    else:
        L, E = np.diag(old.strength()), problem.E[chosen.columns]
        if isinstance(old, Metric):
            L, E = old.L, old.E
        L, E = linalg.block_diag(L, modest)[order], np.concatenate([E, problem.E[new]])
        point = Metric(L, E, old.b)
    kind = "low order" if isinstance(old, LowOrder) else "metric"
    alphas = chosen.alpha * (np.ones(1) if settings.alpha is not None else GROWTH_ALPHAS)
    effort = Effort(settings.max_iter, settings.tol)
    model = walk(
        view,
        engine,
        point,
        columns[order],
        alphas,
        kind,
        start=problem.start(point.b),
        loss=chosen.loss,
        effort=effort,
        tick=journey.tick,
    )
    journey.add(model)
    return model


def _begin(problem: Problem, settings: Settings, journey: Journey) -> tuple[View, list[Model]]:
    """The transform of the inputs that does best, and the first models that go on from there."""
    effort = Effort(settings.max_iter, settings.tol)
    if settings.start is not None:
        view = problem.views["standard"]
        return view, [_with_search_loss(problem, view, settings.start, effort, journey.tick)]
    firsts: list[Model] = []
    families: list[str] = []
    views = [v for name, v in problem.views.items() if settings.inputs in ("auto", name)]
    for number, view in enumerate(views):
        engine = view.training(SEARCH_ROWS)
        for start in starts(problem, view, settings, journey.tick):
            if problem.units.count(start.columns) < _wanted(problem, settings):
                continue
            journey.stage(0, number, len(views))
            if settings.alpha is not None:
                # Given in units of the loss itself; see srff.finish.
                alphas = np.array([settings.alpha / (problem.curvature / 2)])
            else:
                top = top_eigenvalue(engine, start.point, start.columns, problem.search_loss)
                alphas = top * FIRST_ALPHAS
            model = walk(
                view,
                engine,
                start.point,
                start.columns,
                alphas,
                start.kind,
                start=problem.start(start.point.b),
                loss=problem.search_loss,
                effort=effort,
                tick=journey.tick,
            )
            firsts.append(model)
            families.append(start.family)
            journey.add(model)
    best = best_of(firsts)
    view = problem.views[best.transform]
    for other in problem.views.values():
        if other is not view:
            other.close()
    runners: dict[str, Model] = {}
    for model, family in sorted(
        zip(firsts, families, strict=True), key=lambda pair: pair[0].validation_error
    ):
        near = model.validation_error <= BEHIND * best.validation_error
        if model.transform == best.transform and near:
            runners.setdefault(family, model)
    return view, list(runners.values())


def _wanted(problem: Problem, settings: Settings) -> int:
    """Units that are kept at least."""
    return min(settings.size or 1, problem.units.count(problem.usable))


def _with_search_loss(
    problem: Problem, view: View, model: Model, effort: Effort, tick: Tick
) -> Model:
    """A model learned on from where it stands with the loss of the search, if that is another."""
    if model.loss is problem.search_loss:
        return model
    assert model.point is not None
    return walk(
        view,
        view.training(SEARCH_ROWS),
        model.point,
        model.columns,
        np.array([model.alpha / (problem.curvature / 2)]),
        model.kind,
        start=problem.start(model.point.b),
        loss=problem.search_loss,
        effort=effort,
        tick=tick,
    )
