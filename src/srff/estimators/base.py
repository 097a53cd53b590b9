"""What the estimators share: the checks, the fit around a search, and prediction."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from srff._utils import parameters
from srff._utils.arrays import HostScoreMixin, to_host
from srff._utils.checkpoint import NO_JOURNAL, DiskJournal, Journal, described
from srff._utils.progress import Callback, reporting
from srff._utils.threads import Threads, count_threads, one_blas_thread
from srff.core import features
from srff.core.candidate import Model
from srff.core.groups import Units, parse_groups
from srff.core.kernels import get_kernel
from srff.core.losses import SQUARED, Loss
from srff.data import dataset as layouts
from srff.data.dataset import Layout, Pair, array_layout, source_layout
from srff.data.encoding.columns import Encoding
from srff.data.encoding.frames import Levels, coded, has_categories, learn_levels
from srff.data.encoding.learning import learn_encoding
from srff.data.encoding.outcome import Outcome
from srff.data.engines import BlockPlan, parse_memory
from srff.data.engines.blocks import standardised_inputs
from srff.data.engines.plan import shards
from srff.data.problem import FLOAT64_ROWS, Joint, Problem, assemble
from srff.data.sources import Source, as_source
from srff.data.sources.base import all_rows_if_few, refuse_nothing
from srff.data.sources.facts import TableFacts, source_encoding
from srff.data.sources.learning import learn_facts
from srff.estimators.last_solve import refitted
from srff.estimators.path_table import path_table


class RandomFeatureModel(BaseEstimator):
    """A model on random features; a subclass says what its targets are and how it searches."""

    checkpoint: Any = None
    """A folder for the steps of a fit, where a subclass has this parameter."""
    groups: Any = None
    categorical_features: Any = "from_dtype"
    categories: Any = "auto"
    missing: str = "error"
    target_weights: Any = "variance"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Dask collection or iterable of blocks
            Inputs: an array, of torch or CuPy too and on any device, memory-mapped or not; a
            pandas or polars data frame, whose columns of text, categories and booleans are encoded
            inside; a Parquet, CSV or Arrow file, a folder or a pattern of such, or a list of them;
            a Dask array or data frame, whose partitions the workers of the client in use go
            through; or an iterable of blocks ``(X, y)`` that can be started again.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), str, list of str, Dask \
collection or None
            Target, or several targets of a regression; for files and Dask data frames the name of
            its column, or a list of names, all other columns being inputs; None for blocks.
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

    def _outputs(self, X: Any) -> np.ndarray:
        """``Z a + c`` in the target's units: (rows, outputs); only the columns in use are read."""
        check_is_fitted(self)
        return self._outputs_of(*self._selected_inputs(X))

    def _outputs_of(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The outputs from the columns that the model reads, block by block."""
        dtype = self.block_dtype_
        V = features.affine(self.frequencies_, self.offsets_).astype(dtype)
        a = self.coef_.reshape(self.offsets_.size, -1).astype(dtype)
        F = np.zeros((X.shape[0], a.shape[1]))
        if not columns.size:
            return F + self.intercept_
        n_threads = count_threads(self.n_jobs)
        limit = parse_memory(self.memory_limit)
        plan = BlockPlan.choose(
            X.shape[0], columns.size, V.shape[1], dtype, n_threads, limit, squares=False
        )
        blocks = plan.blocks(X.shape[0])

        def fill(shard: range) -> None:
            for rows in blocks[shard.start : shard.stop]:
                U = standardised_inputs(X[rows][:, columns], self.input_map_, dtype)
                F[rows] = features.predict(U.T, V, a)

        with one_blas_thread(), Threads(n_threads) as threads:
            for _ in threads.map(fill, shards(len(blocks))):
                pass
        F += self.intercept_
        return F

    def _selected_inputs(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Inputs as numbers, and the columns of them that the model reads, in its order."""
        if self.encoding_ is None:
            return self._validate(X, reset=False), self.columns_
        X = self._table(X)
        assert self.levels_ is not None
        used = self.encoding_.take(self.columns_)
        needed = self.encoding_.needed(self.columns_)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            names = [str(names[k]) for k in needed]
        encoded = used(coded(X, self.levels_, needed), names)
        return encoded, np.arange(self.columns_.size)

    def _table(self, X: Any) -> Any:
        """A table with the columns of the fit, before it is encoded."""
        assert self.levels_ is not None
        if all(level is None for level in self.levels_):
            return self._validate(X, reset=False, ensure_all_finite="allow-nan")
        X = to_host(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

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
            layout = self._source_rows(source, rng, n_threads, limit)
        else:
            layout = self._array_rows(X, y, sample_weight, rng, n_threads, limit)
        loss, ends = self._loss(), (layout.targets.low, layout.targets.high)
        loss.check_targets(np.stack(ends))  # rows of files have not been checked before
        labels = parse_groups(
            self.groups, self.n_features_in_, getattr(self, "feature_names_in_", None)
        )
        encoding = self.encoding_
        journal.begin(layout.identity)
        return assemble(
            layout,
            rng,
            kernel=get_kernel(self.kernel),
            n_components=None if self.n_components == "auto" else self.n_components,
            budget=None if self.budget == "auto" else self.budget,
            loss=loss,
            units=Units(labels if encoding is None else labels[encoding.source]),
            joint=_joint(encoding),
            target_weights=self.target_weights,
            transform=self._ways(),
            dtype=self.dtype,
            float64_rows=self._float64_rows(),
            device=self.device,
            n_threads=n_threads,
            memory_limit=limit,
            journal=journal,
        )

    def _array_rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.RandomState,
        n_threads: int,
        limit: float | None,
    ) -> Layout:
        """Arrays and data frames as rows of numbers."""
        X, y = to_host(X), to_host(y)
        self._no_encoding()
        if self.missing == "error" and not has_categories(X, self.categorical_features):
            X, y = self._validate(X, y, ensure_min_samples=2)
            parameters.check_names(getattr(self, "feature_names_in_", None))
            X, Y, weight = self._weighted(X, y, sample_weight)
        else:
            X, Y, weight = self._learn_encoding(X, y, sample_weight, rng)
        validation = self._check_validation()
        return array_layout(X, Y, weight, rng, validation, self.device, n_threads, limit)

    def _no_encoding(self) -> None:
        """Every column is one of numbers."""
        self.levels_: Levels | None = None
        self.encoding_: Encoding | None = None

    def _learn_encoding(
        self, X: Any, y: Any, sample_weight: Any, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """A table with categories or gaps: what becomes of each column, and the encoded rows."""
        if has_categories(X, self.categorical_features):
            validate_data(self, X, skip_check_array=True)
            levels = learn_levels(X, self.categorical_features)
            X = coded(X, levels)
            check_array(X, ensure_all_finite=False, ensure_min_samples=2, estimator=self)
            y = self._check_y(X, y)
        else:
            X, y = self._validate(X, y, ensure_min_samples=2, ensure_all_finite="allow-nan")
            X, levels = X.astype(np.float64), (None,) * X.shape[1]
        parameters.check_names(getattr(self, "feature_names_in_", None))
        X, Y, weight = self._weighted(X, y, sample_weight)
        return self._encoded(X, Y, levels, weight, rng), Y, weight

    def _encoded(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        levels: Levels,
        weight: np.ndarray | None,
        rng: np.random.RandomState,
    ) -> np.ndarray:
        """Coded rows encoded, as they are to be from now on."""
        names = getattr(self, "feature_names_in_", None)
        self.levels_ = levels
        self.encoding_, rows = learn_encoding(
            X,
            Y,
            levels,
            self.categories,
            self.missing,
            weight=weight,
            random_state=rng.randint(2**31),
            names=None if names is None else [str(name) for name in names],
        )
        return rows

    def _weighted(
        self, X: Any, y: np.ndarray, sample_weight: Any
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """The rows of positive weight, their targets as numbers, and their weights."""
        weight = parameters.check_weights(sample_weight, X)
        if weight is not None and not weight.all():
            used = weight > 0
            X, y, weight = X[used], y[used], weight[used]
        return X, *self._learn_targets(y, weight)

    def _source_rows(
        self, source: Source, rng: np.random.RandomState, n_threads: int, limit: float | None
    ) -> Layout:
        """The rows of files, blocks or a Dask collection, encoded where they are not numbers."""
        self._take_names(source)
        self._no_encoding()
        learned = learn_facts(
            source, self._has_classes(), self.categorical_features, self.missing, n_threads
        )
        outcome = self._learn_source_targets(source, learned)
        if self.missing == "impute" or any(level is not None for level in learned.levels):
            few = all_rows_if_few(
                source.mapped(None, outcome, learned), layouts.STREAM_ROWS, refuse_nothing
            )
            if few is not None:
                X, Y, weight = few
                X = self._encoded(X, Y, learned.levels, weight, rng)
                validation = self._check_validation()
                return array_layout(X, Y, weight, rng, validation, self.device, n_threads, limit)
            self.levels_ = learned.levels
            self.encoding_ = source_encoding(learned, self.categories, self.missing)
        if outcome is not None or self.encoding_ is not None:
            source = source.mapped(self.encoding_, outcome, learned)
        return source_layout(source, rng, self._check_validation(), n_threads, limit)

    def _take_names(self, source: Source) -> None:
        """The number of inputs and their names, as scikit-learn keeps them."""
        self.n_features_in_ = source.n_features
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
            parameters.check_names(self.feature_names_in_)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _validate(self, X: Any, *y: Any, **checks: Any) -> Any:
        """scikit-learn's checks; an error says in which column the bad value is."""
        X, y = to_host(X), tuple(map(to_host, y))
        if y:
            checks |= self._y_checks()
        try:
            return validate_data(self, X, *y, dtype=[np.float64, np.float32], **checks)
        except ValueError as error:
            gaps = checks.get("ensure_all_finite") == "allow-nan"
            where = parameters.bad_value(X, gaps=gaps)
            if where.endswith("nan.") and "missing" in self.get_params(deep=False):
                where += " missing='impute' fills gaps in."
            raise ValueError(f"{error}{where}") from None

    @abstractmethod
    def _y_checks(self) -> dict[str, Any]:
        """What scikit-learn is to check of a target."""

    @abstractmethod
    def _check_y(self, X: np.ndarray, y: Any) -> np.ndarray:
        """A target that stands beside inputs which scikit-learn has not checked."""

    @abstractmethod
    def _learn_targets(
        self, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets of the fit as columns of float64, and weights."""

    def _has_classes(self) -> bool:
        """Whether targets are labels of classes."""
        return False

    @abstractmethod
    def _learn_source_targets(self, source: Source, learned: TableFacts) -> Outcome | None:
        """What the targets of a source are; how labels become numbers, if they are labels."""

    @abstractmethod
    def _known_targets(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets of other rows in the same form."""

    def _loss(self) -> Loss:
        """What is minimised, once the targets are known."""
        return SQUARED

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
        """Transforms of the inputs that are prepared; see :func:`srff.data.problem.assemble`."""
        return "standard"

    def _float64_rows(self) -> int:
        """Rows up to which a fit with ``dtype="auto"`` is in float64."""
        return FLOAT64_ROWS

    def _check_validation(self) -> float | str | Pair | None:
        """A fraction, a checked pair with weights, or None where there is nothing to choose."""
        if self.validation is None:
            return "auto" if self._chooses() else None
        if not isinstance(self.validation, tuple | list):
            return parameters.check_fraction("validation", self.validation)
        if len(self.validation) != 2:
            raise ValueError(
                f"validation must be a pair (X, y), got {len(self.validation)} things."
            )
        X, y = map(to_host, self.validation)
        if self.encoding_ is None:
            X, y = self._validate(X, y, reset=False)
        else:
            assert self.levels_ is not None
            X = self.encoding_(coded(self._table(X), self.levels_))
            y = self._check_y(X, y)
        return X, *self._known_targets(y)

    def _chooses(self) -> bool:
        """Whether the fit needs validation rows."""
        return self.alpha == "auto"

    def _store(self, problem: Problem, model: Model, table: dict[str, np.ndarray]) -> None:
        model = refitted(problem, model)
        p = model.prediction()
        scale = np.zeros(problem.scale.size)
        scale[p.columns] = model.scale()
        used = scale[p.columns] > 0
        self.columns_ = p.columns[used]
        self.scale_ = self._of_inputs(problem, scale)
        self.frequencies_, self.offsets_ = p.W[used], p.b
        self._store_coefficients(problem, p.a, p.c)
        self.alpha_ = float(model.alpha)
        self.budget_ = problem.units.total(self.columns_, scale[self.columns_])
        self.objective_ = np.array(model.objective)
        self.n_iter_ = max(len(model.objective) - 1, 1)
        self.path_ = table
        self.model_kind_ = model.kind
        self.validation_error_ = float(problem.reported(model.validation_error))
        self.input_map_ = problem.views[model.transform].transform.take(self.columns_)
        self._store_common(problem)

    def _of_inputs(self, problem: Problem, scale: np.ndarray) -> np.ndarray:
        """The scale of each of the user's columns, from those of the columns of the model.

        Columns of one unit have one scale: the root mean square over the model's columns, each
        counted by its variance.
        """
        if problem.units.trivial and self.encoding_ is None:
            return scale
        of, variance = problem.units.of, problem.variance
        n_units = int(of.max()) + 1
        square = np.bincount(of, weights=variance * scale**2, minlength=n_units)
        total = np.bincount(of, weights=variance, minlength=n_units)
        units = np.sqrt(square / np.where(total > 0, total, 1.0))
        if self.encoding_ is None:
            return units[of]
        source = self.encoding_.source
        first = np.unique(source, return_index=True)[1]
        return units[of[first]]

    def _store_constant(self, problem: Problem) -> None:
        """The model of data without anything to learn: a constant, and no variable."""
        what = "The target is" if problem.scale.any() else "Every input is"
        warnings.warn(
            f"{what} constant: the model predicts {self._constant_is()} and selects no variable.",
            UserWarning,
            stacklevel=3,
        )
        self.scale_ = np.zeros(self.n_features_in_)
        self.columns_ = np.zeros(0, dtype=np.intp)
        self.frequencies_ = np.zeros((0, problem.b.size))
        self.offsets_ = problem.b
        self._store_coefficients(problem, *problem.start(problem.b))
        self.alpha_ = float("nan") if self.alpha == "auto" else float(self.alpha)
        self.budget_ = problem.budget
        self.objective_ = np.zeros(1)
        self.n_iter_ = 1
        self.path_ = path_table([], problem)
        self.model_kind_ = "mean"
        self.validation_error_ = float("nan")
        self.input_map_ = problem.standard.take(self.columns_)
        self._store_common(problem)

    def _constant_is(self) -> str:
        return "the mean"

    def _store_coefficients(self, problem: Problem, a: np.ndarray, c: np.ndarray) -> None:
        """Coefficients and constants in the target's units."""
        coef, intercept = a * problem.y_spread, problem.y_center + problem.y_spread * c
        if self._one_output():
            self.coef_, self.intercept_ = coef[:, 0], float(intercept[0])
        else:
            self.coef_, self.intercept_ = coef, intercept

    def _one_output(self) -> bool:
        """Whether coefficients are a vector and the intercept a number."""
        return True

    def _store_common(self, problem: Problem) -> None:
        self.center_, self.spread_ = problem.standard.center, problem.standard.spread
        self.sigma_ = problem.sigma
        self.target_spread_ = problem.y_unit
        self.constant_error_ = float(problem.reported(problem.constant.loss))
        self.block_dtype_ = problem.dtype
        self.n_passes_ = problem.n_passes
        self.effective_passes_ = problem.effective_passes


def _joint(encoding: Encoding | None) -> Joint:
    """The columns of each category that have one spread together."""
    if encoding is None:
        return ()
    source, joint = encoding.source, encoding.joint
    return tuple(np.flatnonzero((source == column) & joint) for column in np.unique(source[joint]))


class RandomFeatureRegressor(HostScoreMixin, RegressorMixin, RandomFeatureModel):
    """A regressor on random features."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target; only the columns that the model uses are read.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        F = self._loss().prediction(self._outputs(X))
        return F[:, 0] if self.coef_.ndim == 1 else F

    def _y_checks(self) -> dict[str, Any]:
        return {"y_numeric": True, "multi_output": True}

    def _check_y(self, X: np.ndarray, y: Any) -> np.ndarray:
        parameters.check_given(self, y)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, y)
        return y

    def _learn_targets(
        self, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        self.n_targets_ = y.shape[1] if y.ndim == 2 else None
        Y, _ = self._known_targets(y)
        parameters.check_target_weights(self.target_weights, Y.shape[1])
        return Y, weight

    def _learn_source_targets(self, source: Source, learned: TableFacts) -> None:
        self.n_targets_ = None if source.n_targets == 1 else source.n_targets
        parameters.check_target_weights(self.target_weights, source.n_targets)

    def _known_targets(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        Y = y.astype(np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y
        if Y.shape[1] != (self.n_targets_ or 1):
            raise ValueError(
                f"validation has {Y.shape[1]} targets; the fit has {self.n_targets_ or 1}."
            )
        self._loss().check_targets(Y)
        return Y, None

    def _one_output(self) -> bool:
        return self.n_targets_ is None
