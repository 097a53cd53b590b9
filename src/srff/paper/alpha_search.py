"""The paper's search over lambda: Algorithm 1 at every alpha of a grid, each to its end.

``alpha`` is the paper's lambda per row and feature: ``lambda = n D alpha``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
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

MAX_ITER, TOL = 400, 1e-4
"""Most outer iterations, and the relative decrease of the objective that ends them: the synthetic
problems need 20 to 100 iterations, Computer Activity 250."""


def alpha_grid(statistics: Statistics, unit: float = 1.0, n_alphas: int = N_ALPHAS) -> np.ndarray:
    """Log-spaced alphas, falling from the largest eigenvalue of ``G / n``; the paper has fifty.

    ``unit`` is half the curvature of the loss: one for the squared loss.
    """
    top = unit * largest_eigenvalue(statistics)
    return top * np.logspace(0, np.log10(GRID_SPAN), n_alphas)


@dataclass(frozen=True)
class AlphaRun:
    """Where the solver ended at one alpha, and that as a candidate with its error."""

    state: AlternatingState
    candidate: Candidate


@dataclass(frozen=True)
class SearchResult:
    """Every run in the order of the grid, and which of them was chosen."""

    runs: list[AlphaRun] = field(repr=False)
    chosen: int

    @property
    def best(self) -> AlphaRun:
        """The chosen run."""
        return self.runs[self.chosen]

    @property
    def candidates(self) -> list[Candidate]:
        """The runs as candidates."""
        return [run.candidate for run in self.runs]


def search_alternating(
    problem: Problem,
    alphas: np.ndarray | None,
    *,
    max_iter: int,
    tol: float,
    fresh_draws: bool = False,
    n_alphas: int = N_ALPHAS,
    patience: int | None = None,
    report: Callback = lambda progress: None,
) -> SearchResult:
    """The paper's algorithm for every alpha of a grid; the lowest validation error is chosen.

    Every alpha is followed to its end.  None is stopped for its error so far: the best may begin
    slowest, and nothing that is cheap to know tells how far a slow one will go.  All start at the
    same scales.  With one draw of the random features the first Step 1 of the whole grid costs one
    pass and one eigendecomposition; with ``fresh_draws`` each alpha has a draw of its own, so that
    validation chooses among draws too.  ``alphas=None`` stands for :func:`alpha_grid`.  With
    ``patience`` the rest of the grid is left when so many alphas in succession, each at its end,
    were no better than the best before them.
    """
    grid = _grid(problem, alphas, n_alphas)
    runs: list[AlphaRun] = []
    for number, (drawn, first) in enumerate(_starts(problem, grid, tol, fresh_draws)):

        def told(state: AlternatingState, number: int = number) -> None:
            done = number * max_iter + state.n_iter
            message = f"objective {state.objective[-1]:.4g}"
            if grid.size > 1:
                message = f"alpha {number + 1} of {grid.size}"
            if runs:
                message += f", best error {_best_error(problem, runs)}"
            report(Progress(f"iteration {state.n_iter}", done, grid.size * max_iter, message))

        runs.append(_followed(drawn, first, max_iter, tol, told))
        if patience is not None and number >= patience:
            ended = [run.candidate.validation_error for run in runs]
            if number - lowest(ended) >= patience:
                break
    if len(runs) < grid.size or runs[-1].state.n_iter < max_iter:  # what ended early is done too
        total = grid.size * max_iter
        report(Progress("all alphas", total, total, f"best error {_best_error(problem, runs)}"))
    errors = [run.candidate.validation_error for run in runs]
    return SearchResult(runs, lowest(errors) if len(runs) > 1 else 0)


def _best_error(problem: Problem, runs: list[AlphaRun]) -> str:
    """The lowest validation error so far, as users read it."""
    return f"{problem.reported(min(run.candidate.validation_error for run in runs)):.4g}"


def _starts(
    problem: Problem, grid: np.ndarray, tol: float, fresh_draws: bool
) -> Iterator[tuple[Problem, AlternatingState]]:
    """The draw of each alpha, and its first Step 1."""
    scale, near = problem.scale, problem.at_constant()
    if fresh_draws:
        for drawn, alpha in _drawn(problem, grid):
            yield drawn, algorithm_of(drawn, tol).first(scale, alpha, near)[0]
    else:
        for state in algorithm_of(problem, tol).first(scale, grid, near):
            yield problem, state


def _drawn(problem: Problem, grid: np.ndarray) -> Iterator[tuple[Problem, np.ndarray]]:
    """Each alpha, as a grid of one, with random features of its own; the first has the problem's.

    One after the other: all at once would be fifty times the features.
    """
    for number, alpha in enumerate(np.split(grid, grid.size)):
        yield problem if number == 0 else problem.redrawn(), alpha


def _followed(
    problem: Problem,
    first: AlternatingState,
    max_iter: int,
    tol: float,
    told: Callable[[AlternatingState], None],
) -> AlphaRun:
    """Algorithm 1 from a first state to its end."""
    advance = problem.checkpoint.wrapped(
        algorithm_of(problem, tol).advance,
        lambda state: f"iteration {state.n_iter + 1}, alpha {state.alpha:.6g}",
        problem.training,
    )
    begun, last = time.perf_counter(), first
    for state in iterations(advance, first, max_iter):
        last = state
        told(state)
    error = problem.validation_error(last.scale, last.coef, last.constant)
    seconds = time.perf_counter() - begun
    ended = replace(candidate_at(problem, last), validation_error=error, seconds=seconds)
    return AlphaRun(last, ended)


def search_ridge(
    problem: Problem,
    alphas: np.ndarray | None,
    fresh_draws: bool = False,
    n_alphas: int = N_ALPHAS,
) -> tuple[Candidate, list[Candidate]]:
    """Every alpha of a grid at the scales that the problem starts with.

    With one draw of the random features two passes in all, with ``fresh_draws`` two for each alpha.
    """
    grid = _grid(problem, alphas, n_alphas)
    if fresh_draws:
        each = (candidates_at(p, p.scale, alpha) for p, alpha in _drawn(problem, grid))
        candidates = [candidate for of_alpha in each for candidate in of_alpha]
    else:
        candidates = candidates_at(problem, problem.scale, grid)
    return lowest_candidate(candidates), candidates


def algorithm_of(problem: Problem, tol: float = 0.0) -> Algorithm1:
    """Algorithm 1 on the training rows of a problem."""
    return Algorithm1(problem.training, problem.loss, problem.E, problem.b, problem.groups, tol)


def _grid(problem: Problem, alphas: np.ndarray | None, n_alphas: int) -> np.ndarray:
    """The given alphas, or those of the grid at the scales that the problem starts with."""
    if alphas is not None:
        return alphas
    grid = alpha_grid(problem.training_statistics(problem.scale), problem.unit, n_alphas)
    return grid if problem.loss.quadratic else decreasing(grid)


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
