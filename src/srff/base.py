"""What the regressors share: the checks, the fit around a search, and prediction."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from srff import features, parameters
from srff.arrays import HostScoreMixin, to_host
from srff.engines import BlockPlan, parse_memory
from srff.engines.base import standardised_inputs
from srff.engines.plan import shards
from srff.journal import NO_JOURNAL, DiskJournal, Journal, described
from srff.kernels import get_kernel
from srff.layouts import array_layout, source_layout
from srff.models import Model, path_table, refitted
from srff.problem import FLOAT64_ROWS, Problem, assemble
from srff.progress import Callback, reporting
from srff.sources import Source, as_source
from srff.threads import Threads, count_threads, one_blas_thread


class RandomFeatureRegressor(HostScoreMixin, BaseEstimator):
    """A regressor on random features; a subclass says how it searches."""

    checkpoint: Any = None
    """A folder for the steps of a fit, where a subclass has this parameter."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Dask collection or iterable of blocks
            Inputs: an array, of torch or CuPy too and on any device, memory-mapped or not; a
            pandas or polars data frame of numbers; a Parquet, CSV or Arrow file, a folder or a
            pattern of such, or a list of them; a Dask array or data frame, whose partitions the
            workers of the client in use go through; or an iterable of blocks ``(X, y)`` that can
            be started again.
        y : array-like of shape (n_samples,), str, Dask collection or None
            Target; for files and Dask data frames the name of its column, all other columns being
            inputs; None for blocks.
        sample_weight : array-like of shape (n_samples,), str or Dask collection, default=None
            Row weights, or the name of their column; a row of weight 2 counts as that row written
            twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        with (
            one_blas_thread(),
            reporting(self.verbose, self.callback) as report,
            self._journal() as journal,
            self._prepare(X, y, sample_weight, journal) as problem,
        ):
            if problem.learnable:
                self._store(problem, *self._search(problem, report))
            else:
                self._store_constant(problem)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target; only the columns that the model uses are read.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        columns = np.flatnonzero(self.scale_)
        if not columns.size:
            return np.full(X.shape[0], self.intercept_)
        dtype = self.block_dtype_
        V = features.affine(self.frequencies_, self.offsets_).astype(dtype)
        a = self.coef_.astype(dtype)

        n_threads = count_threads(self.n_jobs)
        limit = parse_memory(self.memory_limit)
        plan = BlockPlan.choose(
            X.shape[0], columns.size, V.shape[1], dtype, n_threads, limit, squares=False
        )
        y = np.empty(X.shape[0])
        blocks = plan.blocks(X.shape[0])

        def fill(shard: range) -> None:
            for rows in blocks[shard.start : shard.stop]:
                U = standardised_inputs(X[rows][:, columns], self.input_map_, dtype)
                y[rows] = features.predict(U.T, V, a)

        with one_blas_thread(), Threads(n_threads) as threads:
            for _ in threads.map(fill, shards(len(blocks))):
                pass
        y += self.intercept_
        return y

    def _journal(self) -> Journal:
        """Where the steps of a fit are kept."""
        if self.checkpoint is None:
            return NO_JOURNAL
        free = {"checkpoint", "n_jobs", "verbose", "callback"}
        given = {k: described(v) for k, v in self.get_params(deep=False).items() if k not in free}
        if self.memory_limit is not None:
            given["n_jobs"] = str(count_threads(self.n_jobs))  # what fits depends on it
        return DiskJournal(self.checkpoint, {"estimator": type(self).__name__, **given})

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, journal: Journal = NO_JOURNAL
    ) -> Problem:
        """Check the data and make them a problem."""
        seed = journal.seed if self.random_state is None else self.random_state
        rng, n_threads = check_random_state(seed), count_threads(self.n_jobs)
        limit = parse_memory(self.memory_limit)
        source = as_source(X, y, sample_weight)
        if source is not None:
            self._take_names(source)
            layout = source_layout(source, rng, self._check_validation(), n_threads, limit)
        else:
            X, y = self._validate(X, y, ensure_min_samples=2)
            parameters.check_names(getattr(self, "feature_names_in_", None))
            weight = parameters.check_weights(sample_weight, X)
            if weight is not None and not weight.all():
                used = weight > 0
                X, y, weight = X[used], y[used], weight[used]
            validation = self._check_validation()
            layout = array_layout(X, y, weight, rng, validation, self.device, n_threads, limit)
        journal.begin(layout.identity)
        return assemble(
            layout,
            rng,
            kernel=get_kernel(self.kernel),
            n_components=None if self.n_components == "auto" else self.n_components,
            budget=None if self.budget == "auto" else self.budget,
            transform=self._ways(),
            dtype=self.dtype,
            float64_rows=self._float64_rows(),
            device=self.device,
            n_threads=n_threads,
            memory_limit=limit,
            journal=journal,
        )

    def _take_names(self, source: Source) -> None:
        """The number of inputs and their names, as scikit-learn keeps them."""
        self.n_features_in_ = source.n_features
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
            parameters.check_names(self.feature_names_in_)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _validate(self, X: Any, *y: Any, **checks: Any) -> Any:
        """scikit-learn's checks; an error says in which column the bad value is.

        Returns X, or X and y as a column of float64.
        """
        X, y = to_host(X), tuple(map(to_host, y))
        if y:
            checks["y_numeric"] = True
        try:
            checked = validate_data(self, X, *y, dtype=[np.float64, np.float32], **checks)
        except ValueError as error:
            raise ValueError(f"{error}{parameters.bad_value(X)}") from None
        return (checked[0], checked[1].astype(np.float64)[:, None]) if y else checked

    @abstractmethod
    def _search(self, problem: Problem, report: Callback) -> tuple[Model, dict[str, np.ndarray]]:
        """The chosen model, and a table with a row for each candidate."""

    def _alphas(self) -> np.ndarray | None:
        return None if self.alpha == "auto" else np.array([self.alpha], dtype=np.float64)

    def _check_parameters(self) -> None:
        get_kernel(self.kernel)
        if self.n_components != "auto":
            parameters.check_integer("n_components", self.n_components, 1, or_text="auto")
        parameters.check_positive("alpha", self.alpha, or_text="auto")
        parameters.check_positive("budget", self.budget, or_text="auto")
        parameters.check_dtype(self.dtype)
        parse_memory(self.memory_limit)
        if not isinstance(self.device, str):
            raise ValueError(f"device={self.device!r} must be a text such as 'cpu' or 'cuda'.")

    def _ways(self) -> str:
        """The transforms of the inputs that are prepared; see :func:`srff.problem.assemble`."""
        return "standard"

    def _float64_rows(self) -> int:
        """Rows up to which a fit with ``dtype="auto"`` is in float64."""
        return FLOAT64_ROWS

    def _check_validation(self) -> float | str | tuple[np.ndarray, np.ndarray] | None:
        """A fraction, a checked pair, or None where there is nothing to choose."""
        if self.validation is None:
            return "auto" if self._chooses() else None
        if not isinstance(self.validation, tuple | list):
            return parameters.check_fraction("validation", self.validation)
        if len(self.validation) != 2:
            raise ValueError(
                f"validation must be a pair (X, y), got {len(self.validation)} things."
            )
        return self._validate(*self.validation, reset=False)

    def _chooses(self) -> bool:
        """Whether the fit needs validation rows."""
        return self.alpha == "auto"

    def _store(self, problem: Problem, model: Model, table: dict[str, np.ndarray]) -> None:
        model = refitted(problem, model)
        p = model.prediction()
        self.scale_ = np.zeros(problem.scale.size)
        self.scale_[p.columns] = model.scale()
        used = self.scale_[p.columns] > 0
        columns = p.columns[used]
        self.frequencies_, self.offsets_ = p.W[used], p.b
        self.coef_ = p.a[:, 0] * problem.y_spread
        self.alpha_ = float(model.alpha)
        self.budget_ = float(self.scale_.sum())
        self.objective_ = np.array(model.objective)
        self.n_iter_ = max(len(model.objective) - 1, 1)
        self.path_ = table
        self.model_kind_ = model.kind
        self.validation_error_ = float(np.sqrt(model.validation_error) * problem.y_spread)
        self.input_map_ = problem.views[model.transform].transform.take(columns)
        self._store_common(problem)

    def _store_constant(self, problem: Problem) -> None:
        """The model of data without anything to learn: the mean, and no variable."""
        what = "The target is" if problem.scale.any() else "Every input is"
        warnings.warn(
            f"{what} constant: the model predicts the mean and selects no variable.",
            UserWarning,
            stacklevel=3,
        )
        self.scale_ = np.zeros(problem.scale.size)
        self.frequencies_ = np.zeros((0, problem.b.size))
        self.offsets_ = problem.b
        self.coef_ = np.zeros(problem.b.size)
        self.alpha_ = float("nan") if self.alpha == "auto" else float(self.alpha)
        self.budget_ = problem.budget
        self.objective_ = np.zeros(1)
        self.n_iter_ = 1
        self.path_ = path_table([], 1.0)
        self.model_kind_ = "mean"
        self.validation_error_ = float("nan")
        self.input_map_ = problem.standard.take(np.zeros(0, dtype=np.intp))
        self._store_common(problem)

    def _store_common(self, problem: Problem) -> None:
        self.center_, self.spread_ = problem.standard.center, problem.standard.spread
        self.intercept_ = float(problem.y_center[0])
        self.sigma_ = problem.sigma
        self.target_spread_ = problem.y_spread
        self.block_dtype_ = problem.dtype
        self.n_passes_ = problem.n_passes
        self.effective_passes_ = problem.effective_passes
