"""The best model on a few variables that have been chosen: the last steps of a fit.

Several kinds of model compete on the validation rows: scales, a metric, features of few directions,
the best of these with many more features of several kernels, free frequencies averaged over draws,
and a blend of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg, stats
from scipy.special import ndtri

from srff.core.candidate import Member, Candidate, best_of, validated
from srff.core.engine import Engine
from srff.core.kernels import Gaussian, Kernel, low_order
from srff.core.losses import Loss, Squared
from srff.core.objectives import Evidence, Objective, TrainingLoss, ridge, solve_path, squared_loss
from srff.core.parametrisations import Free, Frequencies, LowOrder, Metric, Scales
from srff.data.problem import Problem, ScaledData
from srff.selection.eliminate import GIVE_UP, Effort, Tick, falling, grown, walk

EVIDENCE_ROWS = 20_000
"""Above so many rows the evidence and the training loss choose the same frequencies, and the
evidence costs more."""

METRIC_ALPHAS = np.logspace(0.5, -2.5, 7)
FREE_ALPHAS = np.logspace(1, -1.5, 6)
WIDE_ALPHAS = np.logspace(1, -2, 7)
"""Penalties of each kind, as shares of the penalty of the model that it starts from."""

STRETCH, MOST_STRETCHED = 1.6, 4
TAILS = (np.inf, 3.0, 1.0)
"""Kernels of the wide model: Gaussian, and Matern kernels of smoothness 3/2 and 1/2, whose
spectral measures are Student t; each with its metric as it is, stretched and shrunk by powers of
``STRETCH`` while that helps."""

NEAR_ALPHAS = np.array([2.0, 1.0, 0.5, 0.2])
WIDE_FIRST = 768
"""Features that these kernels are compared with."""

FREE_TAILS = (np.inf, 2.0, 1.0)
"""Tails that free frequencies start with: the kernel's own, and those of Student's t."""

MORE_ALPHA = 0.4
"""The penalty with more rows, as a share of the penalty with fewer."""

LARGE_ALPHAS = np.logspace(0.5, -0.5, 3)
MEMBERS, LARGE_MEMBERS = 5, 3
"""Draws of free frequencies that are averaged, of the first size and of the larger one."""

HANDICAP = 1.1
ROWS_A_FREQUENCY = 8
"""Rows for each frequency from which on the larger size is tried."""

PARTS = 8
"""Of about the same length: scales, metric, low order, wide, and the rest for free frequencies."""

BLENDED, WORTHWHILE = 5, 1e-3
"""Most models of a blend, and by how much of the squared error each must lower it."""


@dataclass(frozen=True)
class Plan:
    """What may compete, and how large it may be."""

    kinds: tuple[str, ...]
    n_components: int
    n_wide: int
    n_free: int
    fixed_alpha: bool
    effort: Effort
    problem: Problem = field(repr=False)

    @property
    def kernel(self) -> Kernel:
        """The kernel that features are drawn for."""
        return self.problem.kernel

    @property
    def rng(self) -> np.random.RandomState:
        """What they are drawn with."""
        return self.problem.rng

    @property
    def loss(self) -> Loss:
        """The loss of the last model."""
        return self.problem.loss


def finish(
    data: ScaledData,
    engine: Engine,
    more: Engine,
    start: Candidate,
    plan: Plan,
    tick: Tick,
    part: Callable[[int, int], None] = lambda number, of: None,
) -> list[Candidate]:
    """The candidates on the columns of ``start``, in the order in which they were made.

    Descents begin on the rows of ``engine`` and end on those of ``more``.  ``part`` is told when a
    part of the work begins.  ``start`` was found with the loss of the search; here it is the
    problem's own that counts.
    """
    models: list[Candidate] = []
    start = replace(start, members=tuple(_in_units(m, plan) for m in start.members))

    def learned(point: Frequencies, kind: str) -> list[Candidate]:
        goals: list[Callable[[float, Any], Objective]] = [TrainingLoss]
        if more.n <= EVIDENCE_ROWS and isinstance(plan.loss, Squared):
            goals.append(Evidence)
        made = [
            walk(
                data,
                engine,
                point,
                start.columns,
                _alphas(start, plan, METRIC_ALPHAS),
                kind,
                start=plan.problem.start(point.b),
                loss=plan.loss,
                objective=goal,
                effort=plan.effort,
                tick=tick,
            )
            for goal in goals
        ]
        if more is not engine:
            made.append(_further(data, more, best_of(made), plan, tick))
        return made

    if "scales" in plan.kinds:
        unit = data.groups.positions(start.columns)
        drawn = _draw(plan, start.columns.size)
        models += learned(Scales.of(start.strength(), *drawn, unit), "scales")
    part(1, PARTS)
    metrics = learned(Metric(_square(start), *_draw(plan, start.columns.size)), "metric")
    part(2, PARTS)
    low = learned(_low_order(start, plan), "low order")
    part(3, PARTS)
    if "metric" in plan.kinds:
        models += [*metrics, *low]
    if plan.n_wide and models and isinstance(plan.kernel, Gaussian):
        dense = [m for m in models if m.kind != "low order"]
        models += _wide(data, more, best_of(dense), plan, tick)
        if best_of(low).validation_error < best_of(dense).validation_error:
            models += _wide(data, more, best_of(low), plan, tick)
    part(4, PARTS)
    if "frequencies" in plan.kinds:
        models += _free(data, engine, more, best_of([*metrics, *low]), plan, tick)
    models.append(_blend(models, data))
    return models


def _in_units(member: Member, plan: Plan) -> Member:
    """The member with its penalty in units of the problem's loss."""
    return replace(member, alpha=member.alpha * plan.problem.unit)


def _draw(plan: Plan, rows: int, size: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    size = size or plan.n_components
    return plan.kernel.sample(plan.rng, (rows, size)), plan.rng.uniform(0.0, 2 * np.pi, size)


def _square(start: Candidate) -> np.ndarray:
    """A square ``L`` of the same ``L L'``: with it the features have the same distribution."""
    point = start.point
    if not isinstance(point, Metric):
        return np.diag(start.strength())
    if point.L.shape[0] == point.L.shape[1]:
        return point.L
    return linalg.rq(point.L, mode="economic")[0]


def _low_order(start: Candidate, plan: Plan, size: int | None = None) -> LowOrder:
    """Features of one to three directions: those of ``start`` if it has any."""
    rows = start.columns.size
    L = start.point.L if isinstance(start.point, LowOrder) else np.eye(rows)

    def draw(rows: int) -> np.ndarray:
        return low_order(plan.kernel, plan.rng, (rows, size or plan.n_components))

    b = plan.rng.uniform(0.0, 2 * np.pi, size or plan.n_components)
    return LowOrder(L, draw(rows), b, draw)


def _alphas(start: Candidate, plan: Plan, shares: np.ndarray) -> np.ndarray:
    return falling(start.alpha * (np.ones(1) if plan.fixed_alpha else shares))


def _further(data: ScaledData, more: Engine, model: Candidate, plan: Plan, tick: Tick) -> Candidate:
    """The model learned on with more rows."""
    share = 1.0 if plan.fixed_alpha else MORE_ALPHA
    return grown(data, more, model, share * model.alpha, plan.effort.half(), tick)


def _wide(
    data: ScaledData, engine: Engine, start: Candidate, plan: Plan, tick: Tick
) -> list[Candidate]:
    """The same metric with many features, from quasi-random draws, for several kernels.

    Kernels are compared with fewer features, by the quadratic loss of the search; the best one then
    gets all.
    """
    k = start.columns.size
    sobol = stats.qmc.Sobol(k + 2, rng=np.random.default_rng(plan.rng.randint(2**31)))
    points = sobol.random_base2(int(np.ceil(np.log2(plan.n_wide))))[: plan.n_wide]
    uniform = np.clip(points, 1e-9, 1 - 1e-9).T
    E = ndtri(uniform[:k])
    if isinstance(start.point, LowOrder):
        L = start.point.L
        E = low_order(plan.kernel, plan.rng, (k, plan.n_wide))
    else:
        L = _square(start)

    def fit(tail: float, power: int, alphas: np.ndarray, size: int, loss: Loss) -> Candidate:
        tick()
        W = STRETCH**power * (L @ E[:, :size])
        if np.isfinite(tail):
            W = W * np.sqrt(tail / stats.chi2.ppf(uniform[k + 1, :size], tail))
        b = 2 * np.pi * uniform[k, :size]
        return _solve(data, engine, start.columns, W, b, alphas, loss, plan.problem)

    quick, unit = plan.problem.search_loss, plan.problem.unit
    alphas = _alphas(start, plan, WIDE_ALPHAS) / unit
    first = min(WIDE_FIRST, plan.n_wide)
    models, kernels = [], []
    for tail in TAILS:
        best = fit(tail, 0, alphas, first, quick)
        models.append(best)
        kernels.append((tail, 0))
        for direction in (1, -1):
            for power in range(1, MOST_STRETCHED + 1):
                model = fit(tail, direction * power, alphas, first, quick)
                models.append(model)
                kernels.append((tail, direction * power))
                if not model.validation_error < best.validation_error:
                    break
                best = model
            if best is not models[-1 - power]:
                break  # stretching helped: shrinking will not
    i = int(np.argmin([m.validation_error for m in models]))
    same = quick is plan.loss
    if plan.n_wide > first or not same:
        near = unit * _alphas(models[i], plan, NEAR_ALPHAS)
        models.append(fit(*kernels[i], near, plan.n_wide, plan.loss))
    return models if same else models[-1:]


def _solve(
    data: ScaledData,
    engine: Engine,
    columns: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    alphas: np.ndarray,
    loss: Loss,
    problem: Problem,
) -> Candidate:
    """The model at these frequencies whose alpha validates best: a step of the journal."""

    def model(alpha: float, coef: np.ndarray, constant: np.ndarray) -> Candidate:
        members = (Member(W, b, alpha, coef, constant),)
        return Candidate("wide", data.transform.name, columns, members, loss, n_rows=engine.n)

    def by_statistics(loss: Squared) -> dict[str, Any]:
        assert data.validation is not None
        S = engine.statistics(W, b, columns, loss)
        V = data.validation.statistics(W, b, columns, loss)
        coefs = [ridge(S, float(alpha)) for alpha in alphas]
        errors = [max(squared_loss(V, a), 0.0) for a in coefs]
        i = int(np.argmin(errors))
        return {
            "alpha": alphas[i],
            "coef": coefs[i],
            "constant": np.zeros(coefs[i].shape[1]),
            "validation_error": errors[i],
            "training_error": max(squared_loss(S, coefs[i]), 0.0),
        }

    def solves() -> dict[str, Any]:
        if isinstance(loss, Squared):
            return by_statistics(loss)
        assert data.validation is not None
        found = solve_path(engine, loss, W, b, columns, alphas, problem.start(b))
        each = [
            validated(model(float(alpha), e.coef, e.constant), data.validation)
            for alpha, e in zip(alphas, found, strict=True)
        ]
        i = int(np.argmin([m.validation_error for m in each]))
        return {
            "alpha": alphas[i],
            "coef": found[i].coef,
            "constant": found[i].constant,
            "validation_error": each[i].validation_error,
            "training_error": found[i].training_error,
        }

    found = data.checkpoint.step(f"wide, {b.size} features", engine, solves)
    return replace(
        model(float(found["alpha"]), found["coef"], found["constant"]),
        validation_error=float(found["validation_error"]),
        training_error=float(found["training_error"]),
        seconds=float(found["seconds"]),
    )


def _free(
    data: ScaledData, engine: Engine, more: Engine, start: Candidate, plan: Plan, tick: Tick
) -> list[Candidate]:
    """Free frequencies from draws around the metric: the first ones, then a mean over draws.

    The first draws say whether frequencies should start with heavy tails, and whether many more of
    them pay.
    """
    effort = replace(plan.effort, max_iter=2 * plan.effort.max_iter)

    def point(size: int, tail: float) -> Free:
        if isinstance(start.point, LowOrder):
            around: Frequencies = _low_order(start, plan, size)
        else:
            around = Metric(_square(start), *_draw(plan, start.columns.size, size))
        radius = np.sqrt(tail / plan.rng.chisquare(tail, size)) if np.isfinite(tail) else 1.0
        return Free(around.W * radius, around.b)

    def fit(size: int, tail: float, alphas: np.ndarray, give_up: float = GIVE_UP) -> Candidate:
        around = point(size, tail)
        return walk(
            data,
            engine,
            around,
            start.columns,
            alphas,
            "frequencies",
            start=plan.problem.start(around.b),
            loss=plan.loss,
            effort=effort,
            give_up=give_up,
            tick=tick,
        )

    firsts = {
        tail: fit(plan.n_components, tail, _alphas(start, plan, FREE_ALPHAS)) for tail in FREE_TAILS
    }
    models = list(firsts.values())
    tail = min(firsts, key=lambda t: firsts[t].validation_error)
    first, size, number = firsts[tail], plan.n_components, MEMBERS
    if plan.n_free > size and engine.n >= ROWS_A_FREQUENCY * plan.n_free:
        larger = fit(plan.n_free, tail, _alphas(first, plan, LARGE_ALPHAS))
        models.append(larger)
        # With more rows to come, more frequencies gain more.
        handicap = 1.0 if more is engine else HANDICAP
        if larger.validation_error < handicap * first.validation_error:
            first, size, number = larger, plan.n_free, LARGE_MEMBERS
    # Coming down from a larger penalty leads to better places than starting at the last.
    down = _alphas(first, plan, np.array([3.2, 1.0]))
    members = [first]
    while len(members) < number:
        members.append(fit(size, tail, down, give_up=np.inf))
    if more is not engine:
        members = [_further(data, more, member, plan, tick) for member in members]
        models.append(members[0])
    return [*models, _mean(members, data, "frequencies")]


def _mean(models: list[Candidate], data: ScaledData, kind: str) -> Candidate:
    """The mean of models on the same columns; one that stands several times counts so often."""
    assert data.validation is not None
    distinct = {id(model): model for model in models}
    counts = {key: sum(id(m) == key for m in models) for key in distinct}
    members = tuple(
        replace(member, share=member.share * counts[key] / len(models))
        for key, model in distinct.items()
        for member in model.members
    )
    mean = Candidate(
        kind,
        data.transform.name,
        models[0].columns,
        members,
        models[0].loss,
        seconds=sum(m.seconds for m in models),
        objective=models[0].objective,
        n_rows=models[0].n_rows,
    )
    return validated(mean, data.validation)


def _blend(models: list[Candidate], data: ScaledData) -> Candidate:
    """A mean of models of several kinds: one after the other joins that lowers the error most.

    A model may join more than once.  The best one of each kind takes part.
    """
    assert data.validation is not None
    kinds = dict.fromkeys(m.kind for m in models)
    best = [best_of([m for m in models if m.kind == kind]) for kind in kinds]
    predictions = [m.prediction() for m in best]
    count = np.zeros(len(best))
    error = np.inf
    while count.sum() < BLENDED:
        trials = count + np.eye(len(best))
        shares = trials / trials.sum(axis=1, keepdims=True)
        errors = data.validation.blend_losses(best[0].loss, shares, predictions)
        if not errors.min() < error * (1 - WORTHWHILE):
            break
        error, count = errors.min(), trials[np.argmin(errors)]
    chosen = [m for m, times in zip(best, count, strict=True) for _ in range(int(times))]
    return _mean(chosen, data, "blend")
