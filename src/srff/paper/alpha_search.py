"""The paper's search over lambda: a grid of alpha, and the race along it.

``alpha`` is the paper's lambda per row and feature: ``lambda = n D alpha``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srff._utils.progress import Callback, Progress
from srff.core.candidate import Candidate, Member
from srff.core.coefficients import decreasing, largest_eigenvalue, solver_of
from srff.core.descent import iterations
from srff.core.features import Statistics
from srff.core.parametrisations import Scales
from srff.data.problem import Problem
from srff.paper.algorithm1 import Algorithm1, AlternatingState

N_ALPHAS = 50
"""Length of the grid, the paper's."""

GRID_SPAN = 1e-7
"""The grid's lower end, as a share of its upper end: the resolution of float32 statistics."""

RACE = ((1, 32), (2, 24), (4, 16), (8, 10), (16, 6), (32, 4), (64, 2))
"""(outer iterations, runs left after them).  See :func:`search_alternating`."""


def alpha_grid(statistics: Statistics, unit: float = 1.0) -> np.ndarray:
    """The paper's number of log-spaced alphas, falling from the largest eigenvalue of ``G / n``.

    ``unit`` is half the curvature of the loss: one for the squared loss.
    """
    top = unit * largest_eigenvalue(statistics)
    return top * np.logspace(0, np.log10(GRID_SPAN), N_ALPHAS)


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


@dataclass(frozen=True)
class SearchResult:
    """Every run in the order of the grid, and which of them was chosen."""

    runs: list[AlphaRun] = field(repr=False)
    chosen: int

    @property
    def best(self) -> AlphaRun:
        """The chosen run."""
        return self.runs[self.chosen]

    def candidates(self, problem: Problem) -> list[Candidate]:
        """The runs as candidates."""
        return [
            replace(
                candidate_at(problem, run.state),
                validation_error=run.validation_error,
                seconds=run.seconds,
                stopped=run.stopped,
            )
            for run in self.runs
        ]


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

    All runs start at the same scales, so the first Step 1 of the whole grid costs one pass and one
    eigendecomposition.  With ``race``, they run side by side and at the iterations of ``RACE`` only
    the most promising go on: the rest of the grid is stopped, marked as such, and cannot be chosen.
    ``alphas=None`` stands for :func:`alpha_grid`.
    """
    algorithm = algorithm_of(problem, tol)
    advance = problem.checkpoint.wrapped(
        algorithm.advance,
        lambda state: f"iteration {state.n_iter + 1}, alpha {state.alpha:.6g}",
        problem.training,
    )
    states = algorithm.first(problem.scale, _grid(problem, alphas), problem.at_constant())
    errors = [problem.validation_error(s.scale, s.coef, s.constant) for s in states]
    runs = [AlphaRun(s, e, e) for s, e in zip(states, errors, strict=True)]
    rungs = [rung for rung in RACE if race and rung[0] < max_iter] + [(max_iter, 1)]
    running, done = runs, 0
    for position, (iteration, left) in enumerate(rungs):
        running = [run for run in running if not run.stopped]
        for run in running:
            begun = time.perf_counter()
            for state in iterations(advance, run.state, iteration):
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
            for run in sorted(running, key=lambda run: run.promise)[left:]:
                run.stopped = True
            for run in running:
                run.error_at_rung = run.validation_error
    errors = [np.inf if run.stopped else run.validation_error for run in runs]
    return SearchResult(runs, lowest(errors) if len(runs) > 1 else 0)


def search_ridge(problem: Problem, alphas: np.ndarray | None) -> tuple[Candidate, list[Candidate]]:
    """Every alpha of a grid at the scales that the problem starts with: two passes in all."""
    candidates = candidates_at(problem, problem.scale, _grid(problem, alphas))
    return lowest_candidate(candidates), candidates


def algorithm_of(problem: Problem, tol: float = 0.0) -> Algorithm1:
    """Algorithm 1 on the training rows of a problem."""
    return Algorithm1(problem.training, problem.loss, problem.E, problem.b, problem.groups, tol)


def _grid(problem: Problem, alphas: np.ndarray | None) -> np.ndarray:
    """The given alphas, or those of the grid at the scales that the problem starts with."""
    if alphas is not None:
        return alphas
    grid = alpha_grid(problem.training_statistics(problem.scale), problem.unit)
    return grid if problem.loss.quadratic else decreasing(grid)


def _message(runs: list[AlphaRun], running: int, problem: Problem) -> str:
    """A few words on the state: the best validation error, or the one run's objective."""
    if len(runs) == 1:
        return f"objective {runs[0].state.objective[-1]:.4g}"
    best = problem.reported(min(run.validation_error for run in runs))
    return f"{running} alphas, best error {best:.4g}"


def _planned(running: list[AlphaRun], rungs: list[tuple[int, int]]) -> int:
    """Outer iterations ahead if no further run converges."""
    open_ = [run.state.n_iter for run in running if not run.state.converged]
    ahead, reached = 0, 0
    for iteration, left in rungs:
        ahead += sum(max(iteration - max(n_iter, reached), 0) for n_iter in open_)
        reached = iteration
        open_ = sorted(open_, reverse=True)[:left]
    return ahead


def lowest(errors: Any) -> int:
    """The first of the lowest errors, up to rounding: of equals the largest alpha."""
    errors = np.asarray(errors)
    return int(np.argmax(errors <= np.nanmin(errors) * (1 + 1e-10)))


def lowest_candidate(candidates: list[Candidate]) -> Candidate:
    """The candidate of the lowest validation error; a single one needs none."""
    errors = [candidate.validation_error for candidate in candidates]
    return candidates[lowest(errors) if len(candidates) > 1 else 0]


def candidate_at(problem: Problem, state: AlternatingState) -> Candidate:
    """A state as a candidate that has not been validated."""
    a, columns = state.coef, np.flatnonzero(state.scale)
    group = problem.groups.positions(columns)
    point = Scales.of(state.scale[columns], problem.E[columns], problem.b, group)
    return Candidate(
        kind="scales",
        transform="standard",
        columns=columns,
        members=(Member(point.W, point.b, state.alpha, a, state.constant),),
        loss=problem.loss,
        training_error=max(state.objective[-1] - state.alpha * float(np.sum(a * a)), 0.0),
        point=point,
        objective=state.objective,
        n_rows=problem.training.n,
    )


def candidates_at(
    problem: Problem,
    scale: np.ndarray,
    alphas: np.ndarray,
    values: tuple[float, ...] = (),
    seconds: float = 0.0,
) -> list[Candidate]:
    """A candidate at these scales for every alpha, with its error if there are validation rows.

    ``values`` are those of the objective on the way here, ``seconds`` what that took.
    """
    states = algorithm_of(problem).first(scale, alphas, problem.at_constant())
    each = [
        replace(
            candidate_at(problem, state),
            objective=(*values, *state.objective),
            seconds=seconds / len(alphas),
        )
        for state in states
    ]
    if problem.validation is None:
        return each
    coefficients = [(s.coef, s.constant) for s in states]
    waves = problem.frequencies(scale)
    errors = solver_of(problem.loss).errors(problem.validation, waves, coefficients)
    return [replace(c, validation_error=e) for c, e in zip(each, errors, strict=True)]
