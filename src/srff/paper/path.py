"""The whole path of models along a grid of alpha, as a plain function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from srff._utils import parameters
from srff._utils.arrays import to_host
from srff._utils.progress import reporting
from srff._utils.threads import one_blas_thread
from srff.estimators.path_table import path_table
from srff.estimators.regressor import SRFFRegressor
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


def srff_path(
    X: Any, y: Any, *, alphas: Any = None, sample_weight: Any = None, **settings: Any
) -> SRFFPath:
    """Fit the paper's algorithm at every alpha of a grid, each to its end.

    This is what ``SRFFRegressor(alpha="auto")`` chooses from, without its race: there candidates
    that fall behind are stopped early.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Target.
    alphas : array-like or None, default=None
        The grid; None is the 50 values that "auto" uses.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.
    **settings
        Parameters of :class:`srff.SRFFRegressor` other than ``alpha``.

    Returns
    -------
    path : SRFFPath

    Examples
    --------
    >>> from srff import srff_path
    >>> from srff.reproduction.datasets import make_se3
    >>> X, y = make_se3(300, random_state=0)
    >>> path = srff_path(X[:, :20], y, alphas=[1e-2, 1e-3], n_components=50, random_state=0)
    >>> path.scales.shape
    (2, 20)
    """
    if alphas is not None:
        alphas = check_array(
            to_host(alphas), ensure_2d=False, dtype=np.float64, input_name="alphas"
        )
        for alpha in alphas.tolist():
            parameters.check_positive("alpha", alpha)
    model = SRFFRegressor(**{"solver": "alternating", "refine": None, **settings})
    model._check_parameters()
    with (
        one_blas_thread(),
        reporting(model.verbose, model.callback) as report,
        model._prepare(X, y, sample_weight) as problem,
    ):
        if not problem.learnable:
            raise ValueError("The target or every input is constant: there is no path to follow.")
        max_iter, tol = model._limits()
        result = search_alternating(
            problem, alphas, max_iter=max_iter, tol=tol, race=False, report=report
        )
        table = path_table(result.models(problem), problem)
        states = [run.state for run in result.runs]
        return SRFFPath(
            alphas=table["alpha"],
            scales=np.array([s.scale for s in states]),
            coefs=np.array([s.coef[:, 0] for s in states]) * problem.y_spread[0],
            training_error=table["training_error"],
            validation_error=table["validation_error"],
            n_iter=table["n_iter"],
            converged=np.array([s.converged for s in states]),
            best=result.chosen,
        )
