"""The default fit: several ways to start, elimination, a test of what is missed, the last model.

1. *Starts.*  All variables with even scales (a metric for up to 128 of them, scales for any
   number), at a few budgets; the variables that a screen of low orders finds; the scales of a
   projected descent on the simplex where there are many variables
   (:mod:`srff.selection.starts`).
   Inputs as they are and, where some are far from normal, as normal scores.
2. *Elimination* from the starts that validate best, on at most ``SEARCH_ROWS`` rows.
3. *The choice of a size.*  The smallest model that is not significantly worse than the best, by a
   paired test of the loss on the validation rows; then one variable at a time by the same test.  No
   variable is kept if the model is not significantly better than the best constant.
4. *The last model* on the variables that are left: see :mod:`srff.selection.final`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from srff._utils.progress import Callback, Progress
from srff.core.candidate import Candidate, best_of, constant_candidate
from srff.core.engine import Engine
from srff.core.parametrisations import Frequencies, LowOrder, Metric
from srff.data.dataset import SAMPLE_ROWS
from srff.data.problem import Problem, ScaledData
from srff.selection.compare import Judge
from srff.selection.eliminate import (
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
from srff.selection.final import Plan, finish
from srff.selection.starts import screened, starts

SEARCH_ROWS, REFINE_ROWS = 10_000, SAMPLE_ROWS
"""Most rows that the elimination, and that the last descents, look at.  The coefficients of the
model that is kept are solved on all rows."""

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

    start: Candidate | None = None
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
        self.models: list[Candidate] = []
        self._report, self._y_unit = report, y_unit
        self._stage, self._part = 0, (0, 1)

    def stage(self, stage: int, part: int = 0, parts: int = 1) -> None:
        """Say that a part of a stage begins."""
        self._stage, self._part = stage, (part, parts)
        self.tick()

    def add(self, *models: Candidate) -> None:
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


def automatic(
    problem: Problem, settings: Settings, report: Callback
) -> tuple[Candidate, list[Candidate]]:
    """The chosen model, and all that were considered."""
    journey = Journey(report, problem.y_unit)
    data, runners = _begin(problem, settings, journey)
    engine, validation = data.training(SEARCH_ROWS), data.validation
    assert validation is not None
    effort = Effort(settings.max_iter, settings.tol)
    fixed = settings.alpha is not None

    candidates: list[Candidate] = []
    for part, first in enumerate(runners):
        journey.stage(1, part, len(runners))
        shares = NEXT_ALPHAS if settings.alpha is None else np.ones(1)
        models = eliminate(
            data,
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
        found = _fewest(problem, data, engine, candidates, settings, journey, len(runners))
        if found is None:
            name, loss, c = data.transform.name, problem.loss, problem.constant.c
            return constant_candidate(name, validation, loss, c), journey.models
        chosen = found
    else:
        # Scales that were given to begin from may be fewer.
        sizes = [problem.groups.count(m.columns) for m in candidates]
        reached = min(_wanted(problem, settings), max(sizes))
        chosen = best_of([m for m, n in zip(candidates, sizes, strict=True) if n == reached])

    journey.stage(3)
    more = data.training(REFINE_ROWS)
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
        data, engine, more, chosen, plan, journey.tick, lambda part, of: journey.stage(3, part, of)
    )
    journey.add(*last)
    return best_of(last), journey.models


def _fewest(
    problem: Problem,
    data: ScaledData,
    engine: Engine,
    candidates: list[Candidate],
    settings: Settings,
    journey: Journey,
    n_runners: int,
) -> Candidate | None:
    """The smallest model that does not cost accuracy; None if no variable helps."""
    assert data.validation is not None
    judge = Judge(problem, data, engine)
    journey.stage(2)
    chosen = _thin(data, engine, candidates, settings, journey, judge)
    for _ in range(ROUNDS):
        grown = _grow(problem, data, engine, chosen, settings, journey)
        if grown is None or not judge.worse(chosen, grown):
            break
        candidates.append(grown)
        chosen = _thin(data, engine, candidates, settings, journey, judge)
    zero = np.zeros(problem.constant.c.size)
    nothing = constant_candidate(data.transform.name, data.validation, problem.search_loss, zero)
    journey.add(nothing)
    return chosen if judge.worse(nothing, chosen, MEAN_LEVEL / n_runners) else None


def _thin(
    data: ScaledData,
    engine: Engine,
    candidates: list[Candidate],
    settings: Settings,
    journey: Journey,
    judge: Judge,
) -> Candidate:
    """The smallest model not significantly worse than the best, after dropping one by one.

    One of the ``TRIED`` least needed variables leaves at a time.  What is tried on the way joins
    the candidates.
    """
    current = judge.smallest(candidates, data.groups)
    while data.groups.count(current.columns) > 1:
        parts = data.groups.among(current.columns)
        for weak in np.argsort(importance(data, current), kind="stable")[:TRIED]:
            model = without(
                data,
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
    return judge.smallest(candidates, data.groups)


def _grow(
    problem: Problem,
    data: ScaledData,
    engine: Engine,
    chosen: Candidate,
    settings: Settings,
    journey: Journey,
) -> Candidate | None:
    """The model with the variables that its residuals still depend on; None if there are none."""
    assert chosen.point is not None
    found = screened(problem, data.training(REFINE_ROWS), chosen.prediction())
    new = found.columns[~np.isin(found.columns, chosen.columns)][:GROWTH]
    if not new.size:
        return None
    if not problem.groups.trivial:
        new = problem.groups.whole(new, problem.usable)
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
        data,
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


def _begin(
    problem: Problem, settings: Settings, journey: Journey
) -> tuple[ScaledData, list[Candidate]]:
    """The transform of the inputs that does best, and the first models that go on from there."""
    effort = Effort(settings.max_iter, settings.tol)
    if settings.start is not None:
        data = problem.scaled["standard"]
        return data, [_with_search_loss(problem, data, settings.start, effort, journey.tick)]
    firsts: list[Candidate] = []
    families: list[str] = []
    scaled = [v for name, v in problem.scaled.items() if settings.inputs in ("auto", name)]
    for number, data in enumerate(scaled):
        engine = data.training(SEARCH_ROWS)
        wanted = _wanted(problem, settings)
        for start in starts(problem, engine, settings.factors, wanted, journey.tick):
            journey.stage(0, number, len(scaled))
            if settings.alpha is not None:
                # Given in units of the loss itself.
                alphas = np.array([settings.alpha / problem.unit])
            else:
                top = top_eigenvalue(engine, start.point, start.columns, problem.search_loss)
                alphas = top * FIRST_ALPHAS
            model = walk(
                data,
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
    data = problem.scaled[best.transform]
    for other in problem.scaled.values():
        if other is not data:
            other.close()
    runners: dict[str, Candidate] = {}
    for model, family in sorted(
        zip(firsts, families, strict=True), key=lambda pair: pair[0].validation_error
    ):
        near = model.validation_error <= BEHIND * best.validation_error
        if model.transform == best.transform and near:
            runners.setdefault(family, model)
    return data, list(runners.values())


def _wanted(problem: Problem, settings: Settings) -> int:
    """Units that are kept at least."""
    return min(settings.size or 1, problem.groups.count(problem.usable))


def _with_search_loss(
    problem: Problem, data: ScaledData, model: Candidate, effort: Effort, tick: Tick
) -> Candidate:
    """A model learned on from where it stands with the loss of the search, if that is another."""
    if model.loss is problem.search_loss:
        return model
    assert model.point is not None
    return walk(
        data,
        data.training(SEARCH_ROWS),
        model.point,
        model.columns,
        np.array([model.alpha / problem.unit]),
        model.kind,
        start=problem.start(model.point.b),
        loss=problem.search_loss,
        effort=effort,
        tick=tick,
    )
