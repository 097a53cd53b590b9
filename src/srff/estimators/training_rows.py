"""From what a user gives to ``fit`` to a data set of numbers: checks, names, encoding, weights."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from srff._utils import parameters
from srff._utils.arrays import refuse_times, to_host
from srff.data.dataset import (
    Dataset,
    Pair,
    Respects,
    Validation,
    array_dataset,
    labels_if_few,
    rows_if_few,
    source_dataset,
)
from srff.data.encoding.columns import Encoding
from srff.data.encoding.doubtful_columns import doubts_as_text, doubts_of, other_order
from srff.data.encoding.frames import (
    Levels,
    coded,
    has_categories,
    learn_levels,
    refuse_no_table,
    refuse_others,
)
from srff.data.encoding.learning import learn_encoding
from srff.data.encoding.outcome import Outcome
from srff.data.encoding.table_columns import column_names, without_sparse
from srff.data.problem import Joint
from srff.data.sources import Source
from srff.data.sources.base import refuse_nothing
from srff.data.sources.facts import TableFacts, source_encoding
from srff.data.sources.learning import learn_facts
from srff.data.weights import RowCount, counted
from srff.estimators.validation import (
    GivenRows,
    brings_splits,
    is_pair,
    refuse_indices,
    rows_of_labels,
)


class TrainingRows(BaseEstimator):
    """Rows of arrays, data frames, files, blocks and Dask collections, as a fit learns from them.

    Sets ``n_features_in_``, ``feature_names_in_``, ``levels_`` and ``encoding_`` on the way; a
    subclass says what its targets are.
    """

    def _array_rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        row_groups: Any,
        rng: np.random.RandomState,
        n_threads: int,
        limit: float | None,
    ) -> Dataset:
        """Arrays and data frames as rows of numbers."""
        X, y = given = without_sparse(to_host(X)), to_host(y)
        refuse_no_table(X, y)
        parameters.check_names(column_names(X))
        self._no_encoding()
        if self.missing == "error" and not has_categories(X, self.categorical_features):
            X, y = self._validate(X, y, ensure_min_samples=2)
            used, X, Y, weight = self._weighted(X, y, sample_weight)
        else:
            used, X, Y, weight = self._learn_encoding(X, y, sample_weight, rng)
        if other_order(*given):
            warnings.warn(
                "X and y have the same index in another order; rows go by their places. "
                "y.loc[X.index] brings them together.",
                UserWarning,
                stacklevel=4,
            )
        doubts = doubts_of(*given, self.levels_)
        if doubts:
            warnings.warn(doubts_as_text(doubts), UserWarning, stacklevel=4)
        rows = GivenRows(*given, used, row_groups)
        validation, respects = self._held_out(rows), rows.respects(self._has_classes())
        respects = replace(respects, count=self._row_count(1.0))
        return array_dataset(X, Y, weight, rng, validation, self.device, n_threads, limit, respects)

    def _no_encoding(self) -> None:
        """Every column is one of numbers."""
        self.levels_: Levels | None = None
        self.encoding_: Encoding | None = None

    def _learn_encoding(
        self, X: Any, y: Any, sample_weight: Any, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """A table with categories or gaps: what becomes of each column, and the encoded rows.

        A mask of the rows of positive weight comes first.
        """
        if has_categories(X, self.categorical_features):
            validate_data(self, X, skip_check_array=True)
            levels = learn_levels(X, self.categorical_features)
            X = coded(X, levels)
            check_array(X, ensure_all_finite=False, ensure_min_samples=2, estimator=self)
            y = self._check_y(X, y)
        else:
            X, y = self._validate(X, y, ensure_min_samples=2, ensure_all_finite="allow-nan")
            X, levels = X.astype(np.float64), (None,) * X.shape[1]
        used, X, Y, weight = self._weighted(X, y, sample_weight)
        rows = None if weight is None else counted(weight, self._row_count(1.0))
        return used, self._encoded(X, Y, levels, rows, rng), Y, weight

    def _encoded(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        levels: Levels,
        weight: np.ndarray | None,
        rng: np.random.RandomState,
    ) -> np.ndarray:
        """Coded rows encoded, as they are to be from now on; ``weight`` is in units of rows."""
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
    ) -> tuple[np.ndarray, Any, np.ndarray, np.ndarray | None]:
        """A mask of the rows of positive weight; these, their targets as numbers, their weights."""
        weight = parameters.check_weights(sample_weight, X)
        used = np.ones(X.shape[0], dtype=bool) if weight is None else weight > 0
        if weight is not None and not used.all():
            X, y, weight = X[used], y[used], weight[used]
        return used, X, *self._learn_targets(y, weight)

    def _source_rows(
        self,
        source: Source,
        rng: np.random.RandomState,
        n_threads: int,
        limit: float | None,
    ) -> Dataset:
        """The rows of files, blocks or a Dask collection, encoded where they are not numbers."""
        self._take_names(source)
        self._no_encoding()
        facts = learn_facts(
            source, self._has_classes(), self.categorical_features, self.missing, n_threads
        )
        outcome = self._learn_source_targets(source, facts)
        rows = None
        if source.grouped or brings_splits(self.validation):
            rows = rows_of_labels(labels_if_few(source))
        classes = self._has_classes()
        respects = Respects(classes) if rows is None else rows.respects(classes)
        respects = replace(respects, count=self._row_count(facts.unit))
        if self.missing == "impute" or any(level is not None for level in facts.levels):
            coded_rows = source.mapped(None, outcome, facts)
            few = rows_if_few(coded_rows, refuse_nothing)
            if few is not None:
                X, Y, weight = few
                each = None if weight is None else counted(weight, respects.count)
                X = self._encoded(X, Y, facts.levels, each, rng)
                validation = self._held_out(rows)
                return array_dataset(
                    X, Y, weight, rng, validation, self.device, n_threads, limit, respects
                )
            self.levels_ = facts.levels
            self.encoding_ = source_encoding(facts, self.categories, self.missing)
        if outcome is not None or self.encoding_ is not None:
            source = source.mapped(self.encoding_, outcome, facts)
        return source_dataset(source, rng, self._held_out(rows), n_threads, limit, respects)

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
        X, y = without_sparse(to_host(X)), tuple(map(to_host, y))
        refuse_others(X)
        if y:
            self._refuse_target(y[0])
            checks |= self._y_checks()
        try:
            return validate_data(self, X, *y, dtype=[np.float64, np.float32], **checks)
        except ValueError as error:
            gaps = checks.get("ensure_all_finite") == "allow-nan"
            where = parameters.bad_value(X, gaps=gaps)
            if where.endswith("nan.") and "missing" in self.get_params(deep=False):
                where += " missing='impute' fills gaps in."
            raise ValueError(f"{error}{where}") from None

    def _held_out(self, rows: GivenRows | None) -> Validation:
        """How rows are held out; ``rows`` where there are groups or splits of them."""
        given = self.validation
        if is_pair(given):
            return self._checked_pair(*map(to_host, given))
        if rows is not None and brings_splits(given):
            splits = rows.splits(given)
            return splits if self._uses_folds() else splits[:1]
        if given is None:
            asked: Validation = self._default_validation()
        else:
            asked = parameters.check_share_or_folds("validation", given)
        if asked is not None and rows is not None:
            rows.check_folds(asked if isinstance(asked, int) else 2)
        return 1 / asked if isinstance(asked, int) and not self._uses_folds() else asked

    def _checked_pair(self, X: Any, y: Any) -> Pair:
        """Validation rows of the user's own, with weights."""
        refuse_indices(X, y)
        if self.encoding_ is None:
            X, y = self._validate(X, y, reset=False)
        else:
            assert self.levels_ is not None
            X = self.encoding_(coded(self._table(X), self.levels_))
            y = self._check_y(X, y)
        return X, *self._known_targets(y)

    def _uses_folds(self) -> bool:
        """Whether each of several splits is searched in; else one is enough."""
        return False

    def _default_validation(self) -> str | None:
        """How rows are held out where the user does not say."""
        return "auto" if self._chooses() else None

    @abstractmethod
    def _chooses(self) -> bool:
        """Whether the fit needs validation rows."""

    @abstractmethod
    def _y_checks(self) -> dict[str, Any]:
        """What scikit-learn is to check of a target."""

    def _refuse_target(self, y: Any) -> None:
        """Refuse a target that is none for this estimator, before it is taken for numbers."""
        refuse_times(y, "y")
        if self._has_classes():
            parameters.check_labels_are_there(y)

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

    def _row_count(self, unit: float) -> RowCount | None:
        """How weights that targets were given count as rows, ``unit`` being one row of the user's.

        None where they say so themselves, as those of a user do.
        """
        return None

    @abstractmethod
    def _learn_source_targets(self, source: Source, facts: TableFacts) -> Outcome | None:
        """What the targets of a source are; how labels become numbers, if they are labels."""

    @abstractmethod
    def _known_targets(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets of other rows in the same form."""


def joint_columns(encoding: Encoding | None) -> Joint:
    """The columns of each category that have one spread together."""
    if encoding is None:
        return ()
    source, joint = encoding.source, encoding.joint
    return tuple(np.flatnonzero((source == column) & joint) for column in np.unique(source[joint]))
