"""Choosing alpha: the grid, and the race along it that stops the hopeless early."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srff._utils.progress import Callback, Progress
from srff.core import objectives
from srff.core.candidate import Member, Candidate, validated
from srff.core.features import Statistics
from srff.core.losses import Squared
from srff.core.parametrisations import Scales
from srff.data.problem import Problem
from srff.paper.algorithm1 import AlternatingState, alternating, first_states
from srff.selection.eliminate import falling

N_ALPHAS = 50
SMALLEST_ALPHA = 1e-7
"""The grid's lower end, as a share of its upper end: the resolution of float32 statistics."""

RACE = ((1, 32), (2, 24), (4, 16), (8, 10), (16, 6), (32, 4), (64, 2))
"""(outer iterations, candidates left after them).  See :func:`search_alternating`."""

ALPHA_EVERY = 10
"""Iterations of the projected descent after which alpha is set anew."""


PATH_ALPHAS = np.logspace(-1, -6, 11)
"""Penalties of a projected descent for a loss that has no evidence, as shares of the unit."""


def alpha_grid(statistics: Statistics, n_alphas: int = N_ALPHAS, unit: float = 1.0) -> np.ndarray:
    """Log-spaced alphas, falling from the largest eigenvalue of ``G / n``.

    ``unit`` is half the curvature of the loss: one for the squared loss.
    """
    top = unit * objectives.largest_eigenvalue(statistics)
    return top * np.logspace(0, np.log10(SMALLEST_ALPHA), n_alphas)


@dataclass
class AlphaRun:
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

    def model(self, problem: Problem) -> Candidate:
        """The candidate as a model."""
        state, a = self.state, self.state.coef
        columns = np.flatnonzero(state.scale)
        unit = problem.groups.positions(columns)
        point = Scales.of(state.scale[columns], problem.E[columns], problem.b, unit)
        return Candidate(
            "scales",
            "standard",
            columns,
            (Member(point.W, point.b, state.alpha, a, state.constant),),
            problem.loss,
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

    runs: list[AlphaRun] = field(repr=False)
    chosen: int

    @property
    def best(self) -> AlphaRun:
        """The chosen candidate."""
        return self.runs[self.chosen]

    def models(self, problem: Problem) -> list[Candidate]:
        """The candidates as models."""
        return [c.model(problem) for c in self.runs]


def search_ridge(problem: Problem, alphas: np.ndarray | None) -> tuple[Candidate, list[Candidate]]:
    """Every alpha of a grid at the scales that the problem starts with: two passes in all."""
    models = _at_scale(problem, problem.scale, _grid(problem, alphas))
    return _lowest_model(models), models


def _grid(problem: Problem, alphas: np.ndarray | None) -> np.ndarray:
    """The given alphas, or those of the grid at the scales that the problem starts with."""
    if alphas is not None:
        return alphas
    grid = alpha_grid(problem.training_statistics(problem.scale), unit=problem.unit)
    return grid if isinstance(problem.loss, Squared) else falling(grid)


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
    E, b, loss, groups = problem.E, problem.b, problem.loss, problem.groups
    alphas = _grid(problem, alphas)
    states = first_states(problem.training, loss, E, b, problem.scale, alphas, problem.start(b))
    errors = [problem.validation_error(s.scale, s.coef, s.constant) for s in states]
    runs = [AlphaRun(s, e, e) for s, e in zip(states, errors, strict=True)]
    rungs = [rung for rung in RACE if race and rung[0] < max_iter] + [(max_iter, 1)]
    running, done = runs, 0
    for position, (iteration, left) in enumerate(rungs):
        running = [c for c in running if not c.stopped]
        for run in running:
            begun = time.perf_counter()
            for state in alternating(
                problem.training,
                loss,
                E,
                b,
                run.state,
                groups=groups,
                max_iter=iteration,
                tol=tol,
                checkpoint=problem.checkpoint,
            ):
                run.state = state
                run.validation_error = problem.validation_error(
                    state.scale, state.coef, state.constant
                )
                run.seconds += time.perf_counter() - begun
                done += 1
                total = done + _planned(running, rungs[position:])
                message = _message(runs, len(running), problem)
                report(Progress(f"iteration {state.n_iter}", done, total, message))
                begun = time.perf_counter()
        if iteration < max_iter:
            for run in sorted(running, key=lambda c: c.promise)[left:]:
                run.stopped = True
            for run in running:
                run.error_at_rung = run.validation_error
    errors = [np.inf if c.stopped else c.validation_error for c in runs]
    return SearchResult(runs, lowest(errors) if len(runs) > 1 else 0)


def _message(runs: list[AlphaRun], running: int, problem: Problem) -> str:
    """A few words on the state: the best validation error, or the one candidate's objective."""
    if len(runs) == 1:
        return f"objective {runs[0].state.objective[-1]:.4g}"
    best = problem.reported(min(c.validation_error for c in runs))
    return f"{running} alphas, best error {best:.4g}"


def _planned(running: list[AlphaRun], rungs: list[tuple[int, int]]) -> int:
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
) -> tuple[Candidate, list[Candidate]]:
    """Projected descent of the scales at each budget; alpha by the evidence, then by validation.

    Alpha follows the scales: after every few iterations it is set where the evidence is largest,
    which takes no pass.  At the end of each descent the whole grid costs one more pass, and the
    lowest validation error is taken.  A given alpha is held, and the training loss descends.  A
    loss that has no evidence descends at each of a few falling alphas, each from where the last
    one ended.
    """
    models: list[Candidate] = []
    for number, factor in enumerate(factors):

        def told(scale: np.ndarray, done: int, total: int, number: int = number) -> None:
            step = Progress(
                f"budget {scale.sum():.3g}", number * total + done, len(factors) * total
            )
            report(step)

        scale = factor * problem.scale
        if alphas is None and not isinstance(problem.loss, Squared):
            models += _down_alphas(problem, scale, max_iter, tol, told)
        else:
            models += _by_evidence(problem, scale, alphas, max_iter, tol, told)
    return _lowest_model(models), models


Told = Callable[[np.ndarray, int, int], None]
"""Told of the scales after each iteration, which one it was, and of how many."""


def _by_evidence(
    problem: Problem,
    scale: np.ndarray,
    alphas: np.ndarray | None,
    max_iter: int,
    tol: float,
    told: Told,
) -> list[Candidate]:
    """One descent whose alpha is given or follows the evidence; then all of the grid."""
    begun = time.perf_counter()
    values: list[float] = []
    grid = alphas
    while len(values) < max_iter:
        if alphas is None:
            S = problem.training_statistics(scale)
            grid = alpha_grid(S)
            goal: objectives.Objective = objectives.Evidence(objectives.evidence_alpha(S, grid))
        else:
            goal = objectives.TrainingLoss(float(alphas[0]), problem.loss)
        limit = min(ALPHA_EVERY, max_iter - len(values)) if alphas is None else max_iter
        before = len(values)
        for state in problem.descend_scales(problem.training, goal, scale, max_iter=limit, tol=tol):
            scale = state.scale
            values.append(state.objective[-1])
            told(scale, len(values), max_iter)
        short = len(values) - before < limit
        still = before and values[before - 1] - values[-1] <= tol * abs(values[-1])
        if short or still:
            break
    assert grid is not None
    seconds = time.perf_counter() - begun
    return _at_scale(problem, scale, grid, tuple(values), seconds)


def _down_alphas(
    problem: Problem, scale: np.ndarray, max_iter: int, tol: float, told: Told
) -> list[Candidate]:
    """A descent at each of a few falling alphas."""
    S = problem.training_statistics(scale)
    unit = problem.unit * objectives.largest_eigenvalue(S)
    models: list[Candidate] = []
    for number, alpha in enumerate(falling(unit * PATH_ALPHAS)):
        begun, values = time.perf_counter(), []
        goal = objectives.TrainingLoss(float(alpha), problem.loss)
        for state in problem.descend_scales(
            problem.training, goal, scale, max_iter=max_iter, tol=tol
        ):
            scale = state.scale
            values.append(state.objective[-1])
            told(scale, number * max_iter + len(values), PATH_ALPHAS.size * max_iter)
        seconds = time.perf_counter() - begun
        models += _at_scale(problem, scale, np.array([alpha]), tuple(values), seconds)
    return models


def _lowest_model(models: list[Candidate]) -> Candidate:
    """The model of the lowest validation error; a single one needs none."""
    return models[lowest([m.validation_error for m in models]) if len(models) > 1 else 0]


def _at_scale(
    problem: Problem,
    scale: np.ndarray,
    alphas: np.ndarray,
    values: tuple[float, ...] = (),
    seconds: float = 0.0,
) -> list[Candidate]:
    """A model at these scales for every alpha, judged if there are validation rows."""
    E, b, loss = problem.E, problem.b, problem.loss
    states = first_states(problem.training, loss, E, b, scale, alphas, problem.start(b))
    states = [replace(s, objective=(*values, *s.objective)) for s in states]
    each = [AlphaRun(s, np.nan, np.nan, seconds / len(alphas)).model(problem) for s in states]
    if problem.validation is None:
        return each
    if not isinstance(loss, Squared):
        return [validated(model, problem.validation) for model in each]
    held = problem.validation_statistics(scale)
    errors = [max(objectives.squared_loss(held, s.coef), 0.0) for s in states]
    return [replace(m, validation_error=e) for m, e in zip(each, errors, strict=True)]
