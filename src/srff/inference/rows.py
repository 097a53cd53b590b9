"""The rows of a table in memory: what a split learns from, and what it is judged on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from srff._utils.arrays import to_host, usual_arithmetic
from srff._utils.parameters import check_weights
from srff.data.content import content_of
from srff.data.dataset import STREAM_ROWS
from srff.data.encoding.frames import Levels, as_table, coded, has_categories, learn_levels
from srff.data.encoding.table_columns import is_frame
from srff.data.folds import Split, fold_splits, group_folds
from srff.data.kinds import few_kinds
from srff.data.sources import as_source
from srff.data.sources.gathered import GatheredRows, gathered
from srff.data.split import key_multipliers, mixed
from srff.data.weights import WeightFacts
from srff.estimators.validation import group_numbers

MOST_WRITTEN_OUT = 100_000
"""Rows up to which weights that are copies are written out as such."""


@dataclass(frozen=True)
class Rows:
    """Rows of positive weight in an order of their own: neither units nor order matter."""

    X: Any
    """An array or a data frame."""
    y: np.ndarray
    weight: np.ndarray | None
    """As given; None where each row stands as often as it counts."""
    groups: np.ndarray | None
    """The number of each row's group: rows of one stand on one side."""
    counts: np.ndarray
    """What the loss of each row counts."""
    codes: np.ndarray
    """See :mod:`srff.data.encoding.frames`."""
    levels: Levels
    keys: np.ndarray
    """Equal for equal rows."""
    column_keys: np.ndarray
    """What columns are known by, wherever they stand."""
    labels: np.ndarray | None
    """The classes."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.y.shape[0])

    def some(self, rows: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray | None, Any]:
        """Inputs, targets, weights and groups of some rows, as ``fit`` takes them."""
        weight, groups = (None if v is None else v[rows] for v in (self.weight, self.groups))
        return _taken(self.X, rows), self.y[rows], weight, groups

    def splits(self, n_splits: int) -> list[Split]:
        """Rows to learn from and rows set aside, so that each row is set aside once.

        Equal rows stay together, unless there are but a few kinds of them; classes have their
        shares in all splits.
        """
        strata = None
        if self.labels is not None:
            strata = np.searchsorted(self.labels, self.y)
        if self.groups is not None:
            group_keys = mixed(self.groups.astype(np.uint64) + np.uint64(1))
            splits = group_folds(group_keys, None, n_splits)
        else:
            places = np.arange(self.n_rows, dtype=np.uint64)
            splits = fold_splits(places if few_kinds(self.keys) else self.keys, n_splits, strata)
        self._check(splits, n_splits)
        return splits

    def _check(self, splits: list[Split], n_splits: int) -> None:
        """Refuse splits that nothing can be learned from."""
        what = "rows" if self.groups is None else "groups of rows"
        if len(splits) < 2:
            raise ValueError(f"n_splits={n_splits} needs at least 2 different {what}; there is 1.")
        for learn, _ in splits:
            left = learn.size if self.groups is None else np.unique(self.groups[learn]).size
            if left < 2:
                raise ValueError(
                    f"There are too few {what} to learn from when some are set aside: at least 3 "
                    "are needed."
                )
            if self.labels is None:
                break
            lacking = np.setdiff1d(self.labels, self.y[learn])
            if lacking.size:
                raise ValueError(
                    f"The class {lacking.tolist()[0]!r} is in too few {what}: when some are set "
                    "aside, none is left to learn it from. Leave it out, or join it to another."
                )


def checked_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, row_groups: Any, seed: int
) -> tuple[Rows, Any]:
    """The rows that a fit of the estimator learns from, and a clone that has checked them."""
    source = as_source(X, y, sample_weight, row_groups)
    if source is not None:
        few = gathered(source, STREAM_ROWS)
        if few is None:
            raise ValueError(
                f"confidence takes at most {STREAM_ROWS:,} rows of files, blocks or Dask, and any "
                "number in arrays and data frames: give it a sample of them."
            )
        X, y, sample_weight, row_groups = few.X, few.y, few.weight, few.groups
    X, y = to_host(X), to_host(y)
    model = clone(estimator)
    model._check_parameters()
    with usual_arithmetic(), model._prepare(X, y, sample_weight, row_groups):
        pass  # an error names rows and columns of the whole table
    given = GatheredRows(
        X if is_frame(X) else as_table(X),
        np.asarray(y),
        check_weights(sample_weight, X),
        None if row_groups is None else group_numbers(row_groups, len(y)),
    )
    return _in_order(_weighing(given), model, seed), model


def _weighing(given: GatheredRows) -> GatheredRows:
    """The rows of positive weight."""
    if given.weight is None or given.weight.all():
        return given
    used = np.flatnonzero(given.weight > 0)
    groups = None if given.groups is None else given.groups[used]
    return GatheredRows(_taken(given.X, used), given.y[used], given.weight[used], groups)


def _in_order(given: GatheredRows, model: Any, seed: int) -> Rows:
    """The rows in the order of their keys."""
    y, weight = given.y, given.weight
    if y.ndim == 2 and y.shape[1] == 1 and model._one_output():
        y = y[:, 0]
    levels: Levels = (None,) * model.n_features_in_
    if has_categories(given.X, model.categorical_features):
        levels = learn_levels(given.X, model.categorical_features)
    codes, labels = coded(given.X, levels), getattr(model, "classes_", None)
    targets = y if labels is None else np.searchsorted(labels, y)
    content = content_of(
        np.where(np.isnan(codes), np.inf, codes),
        targets.reshape(y.shape[0], -1).astype(np.float64),
        key_multipliers(check_random_state(seed), codes.shape[1]),
    )
    by_class = model._learn_targets(y, None)[1]
    counts = np.ones(y.shape[0]) if by_class is None else by_class
    # Rows that would change places with their columns have one key, and still an order.
    order = np.lexsort((content.same, content.rows))
    if weight is not None:
        count = WeightFacts.of(weight).count
        often = count(weight)
        if count.whole and often.sum() <= MOST_WRITTEN_OUT:
            order, weight = np.repeat(order, often[order].astype(np.intp)), None
        else:
            counts = counts * often
    keys = content.columns
    return Rows(
        _taken(given.X, order),
        y[order],
        None if weight is None else weight[order],
        None if given.groups is None else given.groups[order],
        counts[order],
        codes[order],
        levels,
        content.rows[order],
        np.arange(codes.shape[1], dtype=np.uint64) if keys is None else keys,
        labels,
    )


def _taken(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
