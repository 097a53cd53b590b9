"""The whole path of models along a grid of alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srff._utils.progress import Callback
from srff.data.problem import Problem
from srff.paper.alpha_search import search_alternating


@dataclass(frozen=True)
class SRFFPath:
    """The models along a grid of alpha; row k of each array belongs to ``alphas[k]``.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
    scales : ndarray of shape (n_alphas, n_features)
        ``gamma``, for standardised inputs.
    coefs : ndarray of shape (n_alphas, n_components)
        Coefficients of the random features, in the target's units, from the training rows.
    training_error, validation_error : ndarrays of shape (n_alphas,)
        Root mean squared errors in the target's units.
    n_iter : ndarray of shape (n_alphas,)
        Outer iterations.
    converged : ndarray of shape (n_alphas,)
        Whether they reached ``tol``.
    best : int
        The row with the lowest validation error.
    """

    alphas: np.ndarray
    scales: np.ndarray
    coefs: np.ndarray
    training_error: np.ndarray
    validation_error: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    best: int


def follow_path(
    problem: Problem,
    alphas: np.ndarray | None,
    max_iter: int,
    tol: float,
    fresh_draws: bool,
    report: Callback,
) -> SRFFPath:
    """Algorithm 1 at every alpha of a grid, each to its end."""
    result = search_alternating(
        problem, alphas, max_iter=max_iter, tol=tol, fresh_draws=fresh_draws, report=report
    )
    candidates = result.candidates
    states = [run.state for run in result.runs]
    return SRFFPath(
        alphas=np.array([c.alpha for c in candidates]),
        scales=np.array([s.scale for s in states]),
        coefs=np.array([s.coef[:, 0] for s in states]) * problem.targets.spread[0],
        training_error=problem.reported(np.array([c.training_error for c in candidates])),
        validation_error=problem.reported(np.array([c.validation_error for c in candidates])),
        n_iter=np.array([s.n_iter for s in states], dtype=np.intp),
        converged=np.array([s.converged for s in states]),
        best=result.chosen,
    )
