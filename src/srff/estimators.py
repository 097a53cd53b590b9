"""The estimators: scikit-learn's conventions around :mod:`srff.problem` and :mod:`srff.search`."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from srff import parameters
from srff.arrays import to_host
from srff.automatic import FACTORS, Settings, automatic
from srff.base import RandomFeatureRegressor
from srff.display import html_summary, summary
from srff.engines import parse_memory
from srff.models import Model, path_table
from srff.problem import FLOAT64_ROWS, Problem
from srff.progress import Callback
from srff.search import search_alternating, search_profile, search_ridge
from srff.threads import count_threads

SOLVERS = ("profile", "alternating")
REFINEMENTS = ("auto", "metric", "frequencies")
INPUTS = ("auto", "standard", "quantile")
FEW_ROWS = 50
"""Rows up to which refining is in float64."""

DESCENT = 30
"""Iterations of one descent."""

N_WIDE, N_FREE = 2048, 800
"""Features of a metric's last model, and free frequencies, where ``n_components="auto"`` may choose
so many."""


class SRFFRegressor(SelectorMixin, RandomFeatureRegressor):
    """Nonlinear regression that finds the variables it needs: sparse random Fourier features.

    Kernel ridge regression on random features ``Z = sqrt(2/D) cos(X W + b)`` whose frequencies are
    learned with the model, so that the scale of a variable that does not help is exactly zero.

    By default the variables are found by elimination: frequencies are learned on many variables,
    the least used leave, and so on; the smallest model that is not significantly worse than the
    best on the validation rows says which variables are kept, and the best of several kinds of
    model on these is returned.  ``solver="alternating", refine=None`` is the method of the paper
    [1]_, with ``W = diag(gamma) E`` and ``gamma`` on a simplex.

    Inputs and target are standardised inside.

    Parameters
    ----------
    kernel : {"gaussian", "laplace", "matern12", "matern32", "matern52"}, kernel or callable, \
default="gaussian"
        The kernel whose spectral measure the frequencies ``E`` are drawn from: a name, an object
        of :mod:`srff.kernels` such as ``Matern(nu=2)``, or a function ``(rng, size) -> draws``.
    n_components : int or "auto", default="auto"
        Number of random features, D.  "auto" is as many as rows, but from 50 to 300, and many more
        for the last model where they help and ``memory_limit`` allows them.
    alpha : float or "auto", default="auto"
        Ridge penalty per row, at least 1e-8 in the descents of ``refine``.  "auto" chooses by
        validation error.
    budget : float or "auto", default="auto"
        The sum of the scales that the search starts from, and that ``refine=None`` keeps to.  The
        paper's is d / sigma, with sigma the median distance to the 20 nearest neighbours among at
        most 1,000 rows.  "auto" is that for ``solver="alternating"``; for "profile" half of it and
        twice of it are tried too.
    solver : {"profile", "alternating"}, default="profile"
        How scales are found.  "profile" solves for the coefficients at every point of the descent;
        with ``refine=None`` it is a projected descent on the simplex whose alpha follows the
        evidence.  "alternating" is the paper's Algorithm 1.
    refine : {"auto", "metric", "frequencies"} or None, default="auto"
        What is learned beyond scales: a metric ``W = L E``, or every frequency on its own; "auto"
        chooses among them and scales alone by validation error.  None keeps to the simplex.
    inputs : {"auto", "standard", "quantile"}, default="auto"
        How inputs are brought to a common scale: by their mean and standard deviation, or as normal
        scores of their ranks.  "auto" tries the second too if any input is skewed or heavy-tailed,
        and chooses by validation error.  ``refine=None`` and ``solver="alternating"`` need
        "standard" or "auto", the same then.
    validation : float, pair (X, y) or None, default=None
        What choices are judged on: a fraction of the rows, held out by a hash of their values, or
        data of its own.  None stands for 0.2 but at most 20,000 rows, or 30 rows but at most 0.4 if
        that is more, if anything is to be chosen.  Rows held out come back when the coefficients
        are solved for the last time; a pair is never learned from.  Of more than 20,000 rows a
        sample judges.
    max_iter : int or None, default=None
        Most iterations of one descent; None is 100 for ``solver="alternating"`` and 30 for
        "profile".
    tol : float or None, default=None
        A descent stops when the objective's relative decrease in an iteration is below ``tol``;
        None is 1e-4 for ``solver="alternating"`` and 1e-5 for "profile".
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the features.  "auto" is float32 above 500 rows, and above 50 in the descents
        of ``refine``.  Sums over rows and solves are in float64.
    device : str, default="cpu"
        "cpu" (NumPy), or a PyTorch device such as "cuda" to fit on.  Prediction is on the CPU.
    memory_limit : str, number or None, default=None
        Most bytes to use beside the data, such as "500MB".  None keeps standardised blocks of the
        data in memory.
    n_jobs : int or None, default=None
        Threads; None is all cores.  The model is bitwise the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and of the choice of rows.
    checkpoint : path or None, default=None
        A folder to keep the steps of the fit in.  A fit with the same data and parameters that
        finds them there goes on after the last one, and ends with the same model.  A folder of
        another fit, or a damaged one, is refused.  It stays when the fit has ended.
    verbose : int, default=0
        If positive, show a progress bar on a terminal.
    callback : callable or None, default=None
        Called with a :class:`srff.progress.Progress` after each iteration.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features_in_,)
        How fast the model varies along each variable, for standardised inputs, so that variables
        can be compared; exactly zero for variables that are not used.  It is ``gamma`` where the
        model has scales; else the root mean square of the variable's frequencies, each counted by
        the square of its coefficient.  Divide by ``spread_`` for the user's units.
    feature_importances_ : ndarray of shape (n_features_in_,)
        ``scale_`` as shares of its sum.
    alpha_, budget_ : float
        The values used.
    sigma_ : float or None
        The kernel's width that the budget came from, if it did.
    model_kind_ : str
        "scales", "metric", "low order" (features of one to three directions), "wide" (one of these
        with many more features), "frequencies" (each its own, the mean over several draws), "blend"
        (a mean of several kinds) or "mean" (no variable).
    input_map_ : object
        The map of the selected inputs to a common scale.
    coef_ : ndarray of shape (n_components,)
        Coefficients of the random features, in the target's units.
    intercept_ : float
        The target's mean.
    frequencies_, offsets_ : ndarrays of shapes (n_selected, n_components) and (n_components,)
        ``W`` in the selected columns, and ``b``.
    center_, spread_ : ndarrays of shape (n_features_in_,)
        The standardisation of the inputs.
    validation_error_ : float
        Root mean squared error of the chosen model on the validation rows, before its last solve;
        NaN where there were none.
    target_spread_ : float
        The target's standard deviation.
    path_ : dict of arrays
        One row per candidate: its ``kind`` and ``inputs``, ``alpha``, ``budget``,
        ``training_error`` and ``validation_error`` (RMSE), ``n_variables``, ``n_iter``,
        ``seconds``, and whether it was ``stopped`` early.
    objective_ : ndarray
        The objective (of the standardised target) at the start and after each iteration.
    n_iter_, n_passes_ : int
        Iterations of the chosen model; passes of the whole fit that read every training row.
    effective_passes_ : float
        Rows that all passes of the fit read, those over samples of the rows too, as a multiple of
        the training rows.
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
    >>> X, y = make_se2(1000, random_state=0)
    >>> X.shape
    (1000, 100)
    >>> model = SRFFRegressor(n_components=50, random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [10, 11, 12, 13, 14]
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int | str = "auto",
        *,
        alpha: float | str = "auto",
        budget: float | str = "auto",
        solver: str = "profile",
        refine: str | None = "auto",
        inputs: str = "auto",
        validation: Any = None,
        max_iter: int | None = None,
        tol: float | None = None,
        dtype: Any = "auto",
        device: str = "cpu",
        memory_limit: str | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.solver = solver
        self.refine = refine
        self.inputs = inputs
        self.validation = validation
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.device = device
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
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

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        return f"{text}\n{summary(self)}" if hasattr(self, "scale_") else text

    @property
    def _repr_html_(self) -> Callable[[], str]:
        inner = super()._repr_html_
        return lambda: (html_summary(self) if hasattr(self, "scale_") else "") + inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_()
        return bundle

    def report(
        self, path: Any = None, X: Any = None, y: Any = None, *, overwrite: bool = False
    ) -> str:
        """Write what was found as one HTML page that stands alone.

        Parameters
        ----------
        path : path or None, default=None
            Where to write it; None only returns it.
        X, y : array-like or None, default=None
            Rows that the model was not fitted on, if there are any at hand.
        overwrite : bool, default=False
            Whether a file that is there may be replaced.

        Returns
        -------
        page : str
        """
        from srff.report import report

        return report(self, path, X, y, overwrite=overwrite)

    def transform(self, X: Any) -> Any:
        """Reduce the inputs to the selected columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        X : array or data frame of shape (n_samples, n_selected)
        """
        return super().transform(to_host(X))

    def inverse_transform(self, X: Any) -> Any:
        """Put zeros where :meth:`transform` dropped columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)
            The selected columns.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        """
        return super().inverse_transform(to_host(X))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.scale_ > 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_choice("solver", self.solver, SOLVERS)
        if self.refine is not None:
            parameters.check_choice("refine", self.refine, REFINEMENTS, or_none=True)
        parameters.check_choice("inputs", self.inputs, INPUTS)
        if self.inputs == "quantile" and (self.refine is None or self.solver == "alternating"):
            raise ValueError(
                "inputs='quantile' needs solver='profile' and refine='auto', 'metric' or "
                f"'frequencies', got solver={self.solver!r}, refine={self.refine!r}."
            )
        if self.max_iter is not None:
            parameters.check_integer("max_iter", self.max_iter, 1)
        if self.tol is not None:
            parameters.check_tolerance(self.tol)
        if not (self.checkpoint is None or isinstance(self.checkpoint, str | os.PathLike)):
            raise ValueError(f"checkpoint={self.checkpoint!r} must be a folder or None.")

    def _limits(self) -> tuple[int, float]:
        """Iterations of a descent, and the relative decrease that ends it."""
        max_iter, tol = (100, 1e-4) if self.solver == "alternating" else (DESCENT, 1e-5)
        return (
            max_iter if self.max_iter is None else self.max_iter,
            tol if self.tol is None else self.tol,
        )

    def _ways(self) -> str:
        # Only the profile's own starts look at inputs in more than one way.
        refining = self.refine is not None and self.solver == "profile"
        return self.inputs if refining else "standard"

    def _float64_rows(self) -> int:
        # Many descents: sines in float64 are slow, and no digit of the answer needs them.
        return FLOAT64_ROWS if self.refine is None else FEW_ROWS

    def _largest(self) -> tuple[int, int]:
        """Most features of the wide model and most free frequencies that may be chosen."""
        if self.n_components != "auto":
            return 0, 0
        limit = parse_memory(self.memory_limit)
        if limit is None:
            return N_WIDE, N_FREE
        # Sums of D x D numbers: one for each thread, their total, and what a solve needs.
        fitting = int(np.sqrt(limit / 2 / (8 * (count_threads(self.n_jobs) + 4))))
        return min(N_WIDE, fitting), min(N_FREE, fitting)

    def _chooses(self) -> bool:
        return (
            self.refine is not None
            or self.alpha == "auto"
            or (self.solver == "profile" and self.budget == "auto")
        )

    def _search(self, problem: Problem, report: Callback) -> tuple[Model, dict[str, np.ndarray]]:
        max_iter, tol = self._limits()
        factors = FACTORS if self.budget == "auto" else (1.0,)
        best: Model | None = None
        models: list[Model] = []
        if self.solver == "alternating":
            result = search_alternating(
                problem, self._alphas(), max_iter=max_iter, tol=tol, report=report
            )
            if not result.best.state.converged:
                warnings.warn(
                    f"The solver stopped at max_iter={max_iter} before the objective's relative "
                    f"decrease was below tol={tol}; raise either.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            models = result.models(problem)
            best = models[result.chosen]
        elif self.refine is None:
            best, models = search_profile(
                problem, self._alphas(), factors=factors, max_iter=max_iter, tol=tol, report=report
            )
        if self.refine is not None:
            settings = Settings(
                refine=self.refine,
                max_iter=DESCENT if self.max_iter is None else self.max_iter,
                tol=1e-5 if self.tol is None else self.tol,
                alpha=None if self.alpha == "auto" else float(self.alpha),
                factors=factors,
                largest=self._largest(),
                start=best,
                inputs=self.inputs,
            )
            best, tried = automatic(problem, settings, report)
            models += tried
        assert best is not None
        return best, path_table(models, problem.y_spread)


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

    def _search(self, problem: Problem, report: Callback) -> tuple[Model, dict[str, np.ndarray]]:
        best, models = search_ridge(problem, self._alphas())
        return best, path_table(models, problem.y_spread)
