"""Choosing alpha: the grid, and the race along it that stops the hopeless early."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srff import objectives
from srff.features import Statistics
from srff.models import Member, Model
from srff.problem import Problem
from srff.progress import Callback, Progress
from srff.solvers.alternating import AlternatingState, alternating, start
from srff.solvers.profile import descend_scales
from srff.solvers.refine import Scales

N_ALPHAS = 50
SMALLEST_ALPHA = 1e-7
"""The grid's lower end, as a share of its upper end: the resolution of float32 statistics."""

RACE = ((1, 32), (2, 24), (4, 16), (8, 10), (16, 6), (32, 4), (64, 2))
"""(outer iterations, candidates left after them).  See :func:`search_alternating`."""

ALPHA_EVERY = 10
"""Iterations of the projected descent after which alpha is set anew."""


def alpha_grid(statistics: Statistics, n_alphas: int = N_ALPHAS) -> np.ndarray:
    """Log-spaced alphas, falling from the largest eigenvalue of ``G / n``."""
    top = objectives.largest_eigenvalue(statistics)
    return top * np.logspace(0, np.log10(SMALLEST_ALPHA), n_alphas)


@dataclass
class Candidate:
    """One alpha on its way: the state of its solver and what it has cost."""

    state: AlternatingState
    validation_error: float
    error_at_rung: float
    seconds: float = 0.0
    stopped: bool = False

    @property
    def promise(self) -> float:
        """The RMSE that it would have if it gained twice more what it gained since the last rung.

        Small alphas start worse and gain longer; ranked by their error alone they leave too soon.
        """
        now, then = np.sqrt(self.validation_error), np.sqrt(self.error_at_rung)
        return float(now - 2 * max(then - now, 0.0))

    def model(self, problem: Problem) -> Model:
        """The candidate as a model."""
        state, a = self.state, self.state.coef
        columns = np.flatnonzero(state.scale)
        point = Scales(state.scale[columns], problem.E[columns], problem.b)
        return Model(
            "scales",
            "standard",
            columns,
            (Member(point.W, point.b, state.alpha, a),),
            self.validation_error,
            max(state.objective[-1] - state.alpha * float(np.sum(a * a)), 0.0),
            point,
            self.seconds,
            state.objective,
            problem.training.n,
            self.stopped,
        )


@dataclass(frozen=True)
class SearchResult:
    """Every candidate in the order of the grid, and which of them was chosen."""

    candidates: list[Candidate] = field(repr=False)
    chosen: int

    @property
    def best(self) -> Candidate:
        """The chosen candidate."""
        return self.candidates[self.chosen]

    def models(self, problem: Problem) -> list[Model]:
        """The candidates as models."""
        return [c.model(problem) for c in self.candidates]


def search_ridge(problem: Problem, alphas: np.ndarray | None) -> tuple[Model, list[Model]]:
    """Every alpha of a grid at the scales that the problem starts with: two passes in all."""
    statistics = problem.training_statistics(problem.scale)
    if alphas is None:
        alphas = alpha_grid(statistics)
    models = _at_scale(problem, problem.scale, statistics, alphas)
    return _lowest_model(models), models


def lowest(errors: Any) -> int:
    """The first of the lowest errors, up to rounding: of equals the largest alpha."""
    errors = np.asarray(errors)
    return int(np.argmax(errors <= np.nanmin(errors) * (1 + 1e-10)))


def search_alternating(
    problem: Problem,
    alphas: np.ndarray | None,
    *,
    max_iter: int,
    tol: float,
    race: bool = True,
    report: Callback = lambda progress: None,
) -> SearchResult:
    """The paper's algorithm for every alpha of a grid; the lowest validation error is chosen.

    All candidates start at the same scales, so the first Step 1 of the whole grid costs one pass
    and one eigendecomposition.  With ``race``, candidates run side by side and at the iterations of
    ``RACE`` only the most promising go on: the rest of the grid is stopped, marked as such, and
    cannot be chosen.  ``alphas=None`` stands for :func:`alpha_grid`.
    """
    E, b = problem.E, problem.b
    statistics = problem.training_statistics(problem.scale)
    if alphas is None:
        alphas = alpha_grid(statistics)
    states = start(statistics, problem.scale, alphas)
    errors = [problem.validation_error(s.scale, s.coef) for s in states]
    candidates = [Candidate(s, e, e) for s, e in zip(states, errors, strict=True)]
    rungs = [rung for rung in RACE if race and rung[0] < max_iter] + [(max_iter, 1)]
    running, done = candidates, 0
    for position, (iteration, left) in enumerate(rungs):
        running = [c for c in running if not c.stopped]
        for candidate in running:
            begun = time.perf_counter()
            for state in alternating(
                problem.training,
                E,
                b,
                candidate.state,
                max_iter=iteration,
                tol=tol,
                journal=problem.journal,
            ):
                candidate.state = state
                candidate.validation_error = problem.validation_error(state.scale, state.coef)
                candidate.seconds += time.perf_counter() - begun
                done += 1
                total = done + _planned(running, rungs[position:])
                message = _message(candidates, len(running), problem.y_spread)
                report(Progress(f"iteration {state.n_iter}", done, total, message))
                begun = time.perf_counter()
        if iteration < max_iter:
            for candidate in sorted(running, key=lambda c: c.promise)[left:]:
                candidate.stopped = True
            for candidate in running:
                candidate.error_at_rung = candidate.validation_error
    errors = [np.inf if c.stopped else c.validation_error for c in candidates]
    return SearchResult(candidates, lowest(errors) if len(candidates) > 1 else 0)


def _message(candidates: list[Candidate], running: int, y_spread: float) -> str:
    """A few words on the state: the best validation error, or the one candidate's objective."""
    if len(candidates) == 1:
        return f"objective {candidates[0].state.objective[-1]:.4g}"
    best = np.sqrt(min(c.validation_error for c in candidates)) * y_spread
    return f"{running} alphas, best error {best:.4g}"


def _planned(running: list[Candidate], rungs: list[tuple[int, int]]) -> int:
    """Outer iterations ahead if no further candidate converges."""
    open_ = [c.state.n_iter for c in running if not c.state.converged]
    ahead, reached = 0, 0
    for iteration, left in rungs:
        ahead += sum(max(iteration - max(n_iter, reached), 0) for n_iter in open_)
        reached = iteration
        open_ = sorted(open_, reverse=True)[:left]
    return ahead


def search_profile(
    problem: Problem,
    alphas: np.ndarray | None,
    *,
    factors: tuple[float, ...],
    max_iter: int,
    tol: float,
    report: Callback = lambda progress: None,
) -> tuple[Model, list[Model]]:
    """Projected descent of the scales at each budget; alpha by the evidence, then by validation.

    Alpha follows the scales: after every few iterations it is set where the evidence is largest,
    which takes no pass.  At the end of each descent the whole grid costs one more pass, and the
    lowest validation error is taken.  A given alpha is held, and the training loss descends.
    """
    models: list[Model] = []
    training, E, b = problem.training, problem.E, problem.b
    total = len(factors) * max_iter
    for number, factor in enumerate(factors):
        begun = time.perf_counter()
        scale = factor * problem.scale
        values: list[float] = []
        while len(values) < max_iter:
            S = problem.training_statistics(scale)
            grid = alpha_grid(S) if alphas is None else alphas
            if alphas is None:
                goal = objectives.evidence_objective(objectives.evidence_alpha(S, grid))
            else:
                goal = objectives.training_objective(float(alphas[0]))
            limit = min(ALPHA_EVERY, max_iter - len(values)) if alphas is None else max_iter
            before = len(values)
            for state in descend_scales(
                training, goal, E, b, scale, max_iter=limit, tol=tol, journal=problem.journal
            ):
                scale = state.scale
                values.append(state.objective[-1])
                done = number * max_iter + len(values)
                report(Progress(f"budget {scale.sum():.3g}", done, total))
            short = len(values) - before < limit
            still = before and values[before - 1] - values[-1] <= tol * abs(values[-1])
            if short or still:
                break
        statistics = problem.training_statistics(scale)
        seconds = time.perf_counter() - begun
        models += _at_scale(problem, scale, statistics, grid, tuple(values), seconds)
    return _lowest_model(models), models


def _lowest_model(models: list[Model]) -> Model:
    """The model of the lowest validation error; a single one needs none."""
    return models[lowest([m.validation_error for m in models]) if len(models) > 1 else 0]


def _at_scale(
    problem: Problem,
    scale: np.ndarray,
    S: Statistics,
    alphas: np.ndarray,
    values: tuple[float, ...] = (),
    seconds: float = 0.0,
) -> list[Model]:
    """A model at these scales for every alpha, judged if there are validation rows."""
    held = None if problem.validation is None else problem.validation_statistics(scale)
    models = []
    for state in start(S, scale, alphas):
        error = np.nan if held is None else max(objectives.squared_loss(held, state.coef), 0.0)
        state = replace(state, objective=(*values, *state.objective))
        models.append(Candidate(state, error, error, seconds / len(alphas)).model(problem))
    return models
