"""The estimators: scikit-learn's conventions around :mod:`srff.problem` and :mod:`srff.search`."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from srff import parameters
from srff.base import RandomFeatureRegressor
from srff.problem import Problem
from srff.progress import Callback
from srff.search import SearchResult, search_alternating, search_ridge

SOLVERS = ("alternating",)


class SRFFRegressor(SelectorMixin, RandomFeatureRegressor):
    """Nonlinear regression that finds the variables it needs: sparse random Fourier features.

    Kernel ridge regression on random features ``Z = sqrt(2/D) cos(X diag(gamma) E + b)`` whose
    scales ``gamma`` are learned with the model on a simplex, so that the scale of a variable that
    does not help is exactly zero [1]_.

    Inputs and target are standardised inside.

    Parameters
    ----------
    kernel : {"gaussian", "laplace", "matern12", "matern32", "matern52"}, kernel or callable, \
default="gaussian"
        The kernel whose spectral measure the frequencies ``E`` are drawn from: a name, an object
        of :mod:`srff.kernels` such as ``Matern(nu=2)``, or a function ``(rng, size) -> draws``.
    n_components : int, default=300
        Number of random features, D.
    alpha : float or "auto", default="auto"
        Ridge penalty per row.  "auto" chooses among 50 values, log-spaced below the largest
        eigenvalue of the features' second moments, by validation error.
    budget : float or "auto", default="auto"
        The sum of the scales.  "auto" is the paper's d / sigma, with sigma the median distance to
        the 20 nearest neighbours among at most 1,000 rows.
    solver : {"alternating"}, default="alternating"
        "alternating" is the paper's Algorithm 1.
    validation : float, pair (X, y) or None, default=None
        What ``alpha="auto"`` is judged on: a fraction of the rows, held out by a hash of their
        values, or data of its own.  None stands for 0.2, if anything is to be chosen.  Rows held
        out come back when the coefficients are solved for the last time; a pair is never learned
        from.
    max_iter : int, default=100
        Most outer iterations of the solver.
    tol : float, default=1e-4
        The solver stops when the objective's relative decrease in an iteration is below ``tol``.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the features.  "auto" is float32 above 500 rows.  Sums over rows and solves
        are in float64.
    device : str, default="cpu"
        "cpu" (NumPy), or a PyTorch device such as "cuda" to fit on.  Prediction is on the CPU.
    memory_limit : str, number or None, default=None
        Most bytes to use beside the data, such as "500MB".  None keeps standardised blocks of the
        data in memory.
    n_jobs : int or None, default=None
        Threads; None is all cores.  The model is bitwise the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and of the choice of rows.
    verbose : int, default=0
        If positive, show a progress bar on a terminal.
    callback : callable or None, default=None
        Called with a :class:`srff.progress.Progress` after each iteration.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features_in_,)
        ``gamma``, for standardised inputs, so that variables can be compared; exactly zero for
        variables that are not used.  Divide by ``spread_`` for the user's units.
    feature_importances_ : ndarray of shape (n_features_in_,)
        ``scale_`` as shares of its sum.
    alpha_, budget_ : float
        The values used.
    sigma_ : float or None
        The kernel's width that ``budget_`` came from, if it did.
    coef_ : ndarray of shape (n_components,)
        Coefficients of the random features, in the target's units.
    intercept_ : float
        The target's mean.
    frequencies_, offsets_ : ndarrays of shapes (n_selected, n_components) and (n_components,)
        ``W`` in the selected columns, and ``b``.
    center_, spread_ : ndarrays of shape (n_features_in_,)
        The standardisation of the inputs.
    path_ : dict of arrays
        One row per candidate: ``alpha``, ``budget``, ``training_error`` and ``validation_error``
        (RMSE), ``n_variables``, ``n_iter``, ``seconds``, and whether it was ``stopped`` early.
    objective_ : ndarray
        The objective (of the standardised target) at the start and after each iteration.
    n_iter_, n_passes_ : int
        Iterations of the chosen model; passes over the training rows of the whole search.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] Gregorova, Ramapuram, Kalousis, Marchand-Maillet, "Large-scale Nonlinear Variable
       Selection via Kernel Random Features", ECML-PKDD 2018.

    Examples
    --------
    >>> from srff import SRFFRegressor
    >>> from srff.datasets import make_se2
    >>> X, y = make_se2(2000, random_state=0)
    >>> model = SRFFRegressor(alpha=1e-3, random_state=0).fit(X, y)
    >>> sorted(model.scale_.argsort()[-5:].tolist())
    [10, 11, 12, 13, 14]
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 300,
        *,
        alpha: float | str = "auto",
        budget: float | str = "auto",
        solver: str = "alternating",
        validation: Any = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        dtype: Any = "auto",
        device: str = "cpu",
        memory_limit: str | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.solver = solver
        self.validation = validation
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.device = device
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @property
    def feature_importances_(self) -> np.ndarray:
        """``scale_`` as shares of its sum."""
        check_is_fitted(self)
        total = self.scale_.sum()
        return self.scale_ / total if total else self.scale_.copy()

    def reduced(self) -> Self:
        """The same fitted model over the selected columns alone, for deployment.

        Returns
        -------
        model : SRFFRegressor
            Fitted; its inputs are the selected columns, in their order.
        """
        check_is_fitted(self)
        support = self.get_support()
        if not support.any():
            raise ValueError("No variable was selected: the model is the constant intercept_.")
        model = copy.copy(self)
        for name in ("scale_", "center_", "spread_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name)[support])
        model.n_features_in_ = int(support.sum())
        if isinstance(self.validation, tuple | list):
            model.validation = None  # its rows have the columns of the whole table
        return model

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.scale_ > 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_choice("solver", self.solver, SOLVERS)
        parameters.check_integer("max_iter", self.max_iter, 1)
        parameters.check_tolerance(self.tol)

    def _search(self, problem: Problem, report: Callback) -> SearchResult:
        result = search_alternating(
            problem, self._alphas(), max_iter=self.max_iter, tol=self.tol, report=report
        )
        if not result.best.state.converged:
            warnings.warn(
                f"The solver stopped at max_iter={self.max_iter} before the objective's relative "
                f"decrease was below tol={self.tol}; raise either.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return result


class RFFRegressor(RandomFeatureRegressor):
    """Ridge regression on random Fourier features with equal scales: the paper's RFF.

    All variables are used with the same scale, ``budget / d``; the paper's is ``1 / sigma``.

    Parameters
    ----------
    kernel : {"gaussian", "laplace", "matern12", "matern32", "matern52"}, kernel or callable, \
default="gaussian"
        As in :class:`SRFFRegressor`.
    n_components : int, default=300
        Number of random features, D.
    alpha : float or "auto", default="auto"
        Ridge penalty per row; "auto" chooses among 50 values by validation error.
    budget : float or "auto", default="auto"
        The sum of the scales; "auto" is d / sigma.
    validation : float, pair (X, y) or None, default=None
        As in :class:`SRFFRegressor`.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the features.
    device : str, default="cpu"
        "cpu" or a PyTorch device.
    memory_limit : str, number or None, default=None
        Most bytes to use beside the data.
    n_jobs : int or None, default=None
        Threads; None is all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and of the choice of rows.
    verbose : int, default=0
        If positive, show a progress bar on a terminal.
    callback : callable or None, default=None
        Called with a :class:`srff.progress.Progress`.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features_in_,)
        The common scale, for standardised inputs; zero for columns that do not vary.
    alpha_, budget_, sigma_, coef_, intercept_, frequencies_, offsets_, center_, spread_, path_
        As in :class:`SRFFRegressor`.

    Examples
    --------
    >>> from srff import RFFRegressor
    >>> from srff.datasets import make_se3
    >>> X, y = make_se3(500, random_state=0)
    >>> RFFRegressor(random_state=0).fit(X[:, :10], y).score(X[:, :10], y) > 0.8
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 300,
        *,
        alpha: float | str = "auto",
        budget: float | str = "auto",
        validation: Any = None,
        dtype: Any = "auto",
        device: str = "cpu",
        memory_limit: str | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.validation = validation
        self.dtype = dtype
        self.device = device
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _search(self, problem: Problem, report: Callback) -> SearchResult:
        return search_ridge(problem, self._alphas())
