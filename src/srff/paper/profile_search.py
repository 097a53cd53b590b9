"""The paper's simplex with the coefficients eliminated: ``solver="profile", refine=None``.

The scales descend on the evidence, or on the training loss at a given alpha, and alpha follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from srff._utils.progress import Callback, Progress
from srff.core.candidate import Candidate
from srff.core.coefficients import decreasing, largest_eigenvalue
from srff.core.objectives import Evidence, Objective, TrainingLoss, evidence_alpha
from srff.data.problem import Problem
from srff.paper.alpha_search import alpha_grid, candidates_at, lowest_candidate

ALPHA_EVERY = 10
"""Iterations of the projected descent after which alpha is set anew."""

PATH_ALPHAS = np.logspace(-1, -6, 11)
"""Penalties of a projected descent for a loss that has no evidence, as shares of the largest
eigenvalue of ``G / n`` in units of the loss."""

BUDGET_FACTORS = (0.5, 1.0, 2.0)
"""Budgets that are tried, as shares of the paper's d / sigma: half alone finds nothing on SE1."""

Told = Callable[[np.ndarray, int, int], None]
"""Told of the scales after each iteration, which one it was, and of how many."""


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
    candidates: list[Candidate] = []
    for number, factor in enumerate(factors):

        def told(scale: np.ndarray, done: int, total: int, number: int = number) -> None:
            step = Progress(
                f"budget {scale.sum():.3g}", number * total + done, len(factors) * total
            )
            report(step)

        scale = factor * problem.scale
        if alphas is None and not problem.loss.quadratic:
            candidates += _down_alphas(problem, scale, max_iter, tol, told)
        else:
            candidates += _by_evidence(problem, scale, alphas, max_iter, tol, told)
    return lowest_candidate(candidates), candidates


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
            goal: Objective = Evidence(evidence_alpha(S, grid))
        else:
            goal = TrainingLoss(float(alphas[0]), problem.loss)
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
    return candidates_at(problem, scale, grid, tuple(values), time.perf_counter() - begun)


def _down_alphas(
    problem: Problem, scale: np.ndarray, max_iter: int, tol: float, told: Told
) -> list[Candidate]:
    """A descent at each of a few falling alphas."""
    S = problem.training_statistics(scale)
    top = problem.unit * largest_eigenvalue(S)
    candidates: list[Candidate] = []
    for number, alpha in enumerate(decreasing(top * PATH_ALPHAS)):
        begun, values = time.perf_counter(), []
        goal = TrainingLoss(float(alpha), problem.loss)
        for state in problem.descend_scales(
            problem.training, goal, scale, max_iter=max_iter, tol=tol
        ):
            scale = state.scale
            values.append(state.objective[-1])
            told(scale, number * max_iter + len(values), PATH_ALPHAS.size * max_iter)
        seconds = time.perf_counter() - begun
        candidates += candidates_at(problem, scale, np.array([alpha]), tuple(values), seconds)
    return candidates
