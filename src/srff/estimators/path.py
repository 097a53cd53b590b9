"""The paper's path as a plain function of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from srff._utils import parameters
from srff._utils.arrays import to_host, usual_arithmetic
from srff._utils.progress import reporting
from srff._utils.threads import one_blas_thread
from srff.estimators.regressor import SRFFRegressor
from srff.paper.path import SRFFPath, follow_path


def srff_path(
    X: Any, y: Any, *, alphas: Any = None, sample_weight: Any = None, **settings: Any
) -> SRFFPath:
    """Fit the paper's algorithm at every alpha of a grid, each to its end.

    This is what ``SRFFRegressor(solver="alternating", refine=None)`` chooses from.

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
    >>> from srff.datasets import make_se3
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
        usual_arithmetic(),
        one_blas_thread(),
        reporting(model.verbose, model.callback) as report,
        model._prepare(X, y, sample_weight) as problem,
    ):
        if not problem.learnable:
            raise ValueError("The target or every input is constant: there is no path to follow.")
        return follow_path(problem, alphas, *model._limits(), model.fresh_draws, report)
