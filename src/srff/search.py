"""Choosing alpha: the grid, and the race along it that stops the hopeless early."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg

from srff import objectives
from srff.features import Statistics
from srff.problem import Problem
from srff.progress import Callback, Progress
from srff.solvers.alternating import AlternatingState, alternating, start

N_ALPHAS = 50
SMALLEST_ALPHA = 1e-7
"""The grid's lower end, as a share of its upper end: the resolution of float32 statistics."""

RACE = ((1, 32), (2, 24), (4, 16), (8, 10), (16, 6), (32, 4), (64, 2))
"""(outer iterations, candidates left after them).  See :func:`search_alternating`."""


def alpha_grid(statistics: Statistics, n_alphas: int = N_ALPHAS) -> np.ndarray:
    """Log-spaced alphas, falling from the largest eigenvalue of ``G / n``."""
    last = statistics.G.shape[0] - 1
    top = linalg.eigvalsh(statistics.G, subset_by_index=[last, last])[0] / statistics.n
    return float(top) * np.logspace(0, np.log10(SMALLEST_ALPHA), n_alphas)


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

    @property
    def training_error(self) -> float:
        """Mean squared error on the training rows, of the standardised target."""
        a = self.state.coef
        return max(self.state.objective[-1] - self.state.alpha * float(np.sum(a * a)), 0.0)


@dataclass(frozen=True)
class SearchResult:
    """Every candidate in the order of the grid, and which of them was chosen."""

    candidates: list[Candidate] = field(repr=False)
    chosen: int

    @property
    def best(self) -> Candidate:
        """The chosen candidate."""
        return self.candidates[self.chosen]

    def table(self, y_spread: float) -> dict[str, np.ndarray]:
        """One row per candidate, errors as RMSE in the target's units."""
        states = [c.state for c in self.candidates]
        train = np.array([c.training_error for c in self.candidates])
        validation = np.array([c.validation_error for c in self.candidates])
        return {
            "alpha": np.array([s.alpha for s in states]),
            "budget": np.array([s.scale.sum() for s in states]),
            "training_error": np.sqrt(train) * y_spread,
            "validation_error": np.sqrt(validation) * y_spread,
            "n_variables": np.array([np.count_nonzero(s.scale) for s in states]),
            "n_iter": np.array([s.n_iter for s in states]),
            "seconds": np.array([c.seconds for c in self.candidates]),
            "stopped": np.array([c.stopped for c in self.candidates]),
        }


def search_ridge(problem: Problem, alphas: np.ndarray | None) -> SearchResult:
    """Every alpha of a grid at the scales that the problem starts with: two passes in all."""
    statistics = problem.training_statistics(problem.scale)
    if alphas is None:
        alphas = alpha_grid(statistics)
    errors = np.full(len(alphas), np.nan)
    states = start(statistics, problem.scale, alphas)
    if problem.validation is not None:
        held = problem.validation_statistics(problem.scale)
        errors = np.array([max(objectives.squared_loss(held, s.coef), 0.0) for s in states])
    candidates = [Candidate(s, e, e) for s, e in zip(states, errors, strict=True)]
    return SearchResult(candidates, lowest(errors) if len(states) > 1 else 0)


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
                problem.training, E, b, candidate.state, max_iter=iteration, tol=tol
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
