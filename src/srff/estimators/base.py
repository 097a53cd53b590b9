"""What the estimators share: the fit around a search, and the regressors' targets."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state

from srff._utils import parameters
from srff._utils.arrays import HostScoreMixin, usual_arithmetic
from srff._utils.checkpoint import (
    NO_CHECKPOINT,
    Checkpoint,
    FolderCheckpoint,
    described_parameters,
)
from srff._utils.progress import Callback, reporting
from srff._utils.threads import count_threads, one_blas_thread
from srff.core.candidate import Found
from srff.core.groups import Groups, parse_groups
from srff.core.kernels import get_kernel
from srff.core.losses import SQUARED, Loss
from srff.data.engines import parse_memory
from srff.data.problem import FLOAT64_ROWS, Problem, ProblemSettings, make_problem
from srff.data.sources import Source, as_source
from srff.data.sources.facts import TableFacts
from srff.estimators.fitted import ranges_of, store_constant, store_model, whole_or_not_at_all
from srff.estimators.prediction import PredictsFromColumns
from srff.estimators.training_rows import TrainingRows, joint_columns
from srff.estimators.validation import check_validation
from srff.paper.alpha_search import N_ALPHAS


class RandomFeatureModel(PredictsFromColumns, TrainingRows):
    """A model on random features; a subclass says what its targets are and how it searches."""

    checkpoint: Any = None
    """A folder for the steps of a fit, where a subclass has this parameter."""
    groups: Any = None
    categorical_features: Any = "from_dtype"
    categories: Any = "auto"
    missing: str = "error"
    target_weights: Any = "variance"
    grid_size: ClassVar[int] = N_ALPHAS
    """The length of the grid of alpha, the paper's; for a shorter look."""
    grid_patience: ClassVar[int | None] = None
    """Alphas in succession without a better one after which the rest of the paper's grid is left;
    None goes through all of it."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, row_groups: Any = None) -> Self:
        """Fit the model; a fit that fails or is interrupted leaves it as it was.

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
            Row weights, or the name of their column, in any unit: a factor common to all changes
            nothing.  Weights that are whole multiples of one unit, up to a hundred of it, are
            copies of rows; any others are relative, and the rows count as ``(sum w)^2 / sum w^2``
            in tests.  Rows of weight zero are left out.
        row_groups : array-like of shape (n_samples,), str or Dask collection, default=None
            A label for each row, or the name of their column, which is then no input: rows of one
            group never stand on both sides of a split.  A splitter given as ``validation`` has them
            as its ``groups``.

        Returns
        -------
        self
        """
        self._check_parameters()
        with (
            whole_or_not_at_all(self),
            usual_arithmetic(),
            one_blas_thread(),
            reporting(self.verbose, self.callback) as report,
            self._open_checkpoint() as checkpoint,
            self._prepare(X, y, sample_weight, row_groups, checkpoint) as problem,
        ):
            if problem.learnable:
                found = self._search(problem, report)
                store_model(self, problem, found)
                self._look_back(problem, found, (X, y))
            else:
                store_constant(self, problem)
                self._look_back(problem, None, (X, y))
        return self

    def _look_back(self, problem: Problem, found: Found | None, given: tuple[Any, Any]) -> None:
        """What is asked of the rows when the model is there; None where nothing was learned."""

    def _open_checkpoint(self) -> Checkpoint:
        """Where the steps of a fit are kept."""
        if self.checkpoint is None:
            return NO_CHECKPOINT
        free = {"checkpoint", "n_jobs", "verbose", "callback"}
        named = {"estimator": type(self), **self.get_params(deep=False), **self._constants()}
        kept = {name: value for name, value in named.items() if name not in free}
        given = described_parameters(self.checkpoint, kept)
        if self.memory_limit is not None:
            given["n_jobs"] = str(count_threads(self.n_jobs))  # what fits depends on it
        return FolderCheckpoint(self.checkpoint, given)

    def _constants(self) -> dict[str, Any]:
        """What a model depends on beside its parameters and rows, by name."""
        return {}

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        row_groups: Any = None,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Problem:
        """Check the data and make them a problem."""
        seed = checkpoint.seed if self.random_state is None else self.random_state
        rng, n_threads = check_random_state(seed), count_threads(self.n_jobs)
        limit = parse_memory(self.memory_limit)
        source = as_source(X, y, sample_weight, row_groups)
        if source is not None:
            dataset = self._source_rows(source, rng, n_threads, limit)
        else:
            dataset = self._array_rows(X, y, sample_weight, row_groups, rng, n_threads, limit)
        loss = self._loss()
        # Rows of files have not been checked before.
        loss.check_targets(np.stack([dataset.targets.low, dataset.targets.high]))
        checkpoint.begin(dataset.identity)
        self.input_range_ = ranges_of(dataset.inputs, self.encoding_, self.n_features_in_)
        settings = ProblemSettings(
            kernel=get_kernel(self.kernel),
            n_components=None if self.n_components == "auto" else self.n_components,
            budget=None if self.budget == "auto" else self.budget,
            loss=loss,
            groups=self._groups(),
            joint=joint_columns(self.encoding_),
            target_weights=self.target_weights,
            inputs=self._scalings(),
            dtype=self.dtype,
            float64_rows=self._float64_rows(),
            device=self.device,
            n_threads=n_threads,
            memory_limit=limit,
        )
        return make_problem(dataset, settings, rng, checkpoint)

    def _groups(self) -> Groups:
        """The groups of the model's columns: an encoded one belongs to its column of the table."""
        names = getattr(self, "feature_names_in_", None)
        labels = parse_groups(self.groups, self.n_features_in_, names)
        return Groups(labels if self.encoding_ is None else labels[self.encoding_.source])

    def _loss(self) -> Loss:
        """What is minimised, once the targets are known."""
        return SQUARED

    @abstractmethod
    def _search(self, problem: Problem, report: Callback) -> Found:
        """The chosen model, and all that were considered."""

    def _alphas(self) -> np.ndarray | None:
        return None if self.alpha == "auto" else np.array([self.alpha], dtype=np.float64)

    def _check_parameters(self) -> None:
        get_kernel(self.kernel)
        if self.n_components != "auto":
            parameters.check_integer("n_components", self.n_components, 1, or_text="auto")
        parameters.check_positive("alpha", self.alpha, or_text="auto")
        parameters.check_positive(
            "budget", self.budget, most=parameters.LARGEST_BUDGET, or_text="auto"
        )
        parameters.check_flag("fresh_draws", self.fresh_draws)
        parameters.check_callback(self.callback)
        parameters.check_dtype(self.dtype)
        check_validation(self.validation)
        parse_memory(self.memory_limit)
        count_threads(self.n_jobs)
        if not isinstance(self.device, str):
            raise ValueError(f"device={self.device!r} must be a text such as 'cpu' or 'cuda'.")

    def _scalings(self) -> str:
        """The scalings of the inputs that are tried: ``inputs`` of a problem's settings."""
        return "standard"

    def _float64_rows(self) -> int:
        """Rows up to which a fit with ``dtype="auto"`` is in float64."""
        return FLOAT64_ROWS

    def _chooses(self) -> bool:
        return bool(self.alpha == "auto")

    def _constant_is(self) -> str:
        """What the model of constant data predicts, in words."""
        return "the mean"

    def _one_output(self) -> bool:
        """Whether coefficients are a vector and the intercept a number."""
        return True


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
        F = self._predicted(X, self._loss().prediction)
        return F[:, 0] if self.coefficients_.ndim == 1 else F

    def _y_checks(self) -> dict[str, Any]:
        return {"y_numeric": True, "multi_output": True}

    def _refuse_target(self, y: Any) -> None:
        super()._refuse_target(y)
        parameters.check_no_text(y)

    def _check_y(self, X: np.ndarray, y: Any) -> np.ndarray:
        parameters.check_given(self, y)
        self._refuse_target(y)
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

    def _learn_source_targets(self, source: Source, facts: TableFacts) -> None:
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
