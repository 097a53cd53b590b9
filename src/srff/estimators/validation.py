"""Splits that a user brings: splitters of scikit-learn, pairs of indices, groups of rows.

``validation`` is None, a share of the rows, a number of folds, a pair ``(X, y)``, or splits: an
object with a method ``split``, or pairs ``(train, test)`` of indices.  Two things are the pair
``(X, y)`` unless both are tuples of two: then they are two splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from srff._utils import parameters
from srff._utils.arrays import to_host
from srff.data.dataset import Respects
from srff.data.folds import Split
from srff.data.sources.labels import RowLabels


def check_validation(value: Any) -> None:
    """Refuse what ``validation`` cannot be, as far as that shows without rows."""
    if value is None or is_pair(value) or brings_splits(value):
        return
    parameters.check_share_or_folds("validation", value)


def is_pair(value: Any) -> bool:
    """Whether this is a pair ``(X, y)``."""
    return _is_sequence_of_two(value) and not all(
        isinstance(part, tuple) and len(part) == 2 for part in value
    )


def _is_sequence_of_two(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2


def brings_splits(value: Any) -> bool:
    """Whether these are splits, or what makes them."""
    if isinstance(value, str | bytes | Mapping | np.ndarray) or is_pair(value):
        return False
    return hasattr(value, "split") or isinstance(value, Iterable)


def refuse_indices(X: Any, y: Any) -> None:
    """Say how splits are written where a pair ``(X, y)`` looks like indices of rows."""
    one = _are_indices(X) and _are_indices(y)
    two = all(isinstance(part, list) and len(part) == 2 for part in (X, y)) and all(
        isinstance(rows, np.ndarray) and _are_indices(rows) for rows in (*X, *y)
    )
    if one or two:
        raise ValueError(
            "validation looks like indices of rows: one split is written [(train, test)], several "
            "are tuples, [(train, test), (train, test)]; a pair (X, y) has X of two dimensions."
        )


def _are_indices(rows: Any) -> bool:
    """Whether this is a vector of whole numbers."""
    if isinstance(rows, np.ndarray):
        return rows.ndim == 1 and rows.dtype.kind in "iu"
    return isinstance(rows, list | tuple | range) and all(isinstance(k, Integral) for k in rows)


@dataclass(frozen=True)
class GivenRows:
    """Rows as a user gave them, those of weight zero among them: what a splitter sees."""

    X: Any
    y: Any
    used: np.ndarray
    """A mask of the rows of positive weight."""
    row_groups: Any

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.used.size

    @cached_property
    def groups(self) -> np.ndarray | None:
        """The number of each row's group, those of a group being equal."""
        return None if self.row_groups is None else group_numbers(self.row_groups, self.n_rows)

    def respects(self, classes: bool) -> Respects:
        """What a split of the rows of positive weight respects."""
        return Respects(classes, None if self.groups is None else self.groups[self.used])

    def check_folds(self, folds: int) -> None:
        """Refuse more folds than there are groups, or rows."""
        groups = self.respects(False).groups
        count = int(self.used.sum()) if groups is None else np.unique(groups).size
        if count < folds:
            what = "rows" if groups is None else "groups in row_groups"
            raise ValueError(f"validation needs {folds} {what} of positive weight; got {count}.")

    def splits(self, validation: Any) -> list[Split]:
        """The splits, checked, of the rows of positive weight by their places among these.

        The one that learns from most rows comes first, for where only one is used.
        """
        found = [self._checked(k, pair) for k, pair in enumerate(self._pairs(validation))]
        if not found:
            raise ValueError(
                f"validation={validation!r} gives no split; an iterator can be gone through only "
                "once: give a list."
            )
        used = self.used
        place = np.cumsum(used) - 1
        kept = [(train[used[train]], test[used[test]]) for train, test in found]
        for number, pair in enumerate(kept):
            for side, rows in zip(("train", "test"), pair, strict=True):
                if not rows.size:
                    raise ValueError(f"validation: split {number} has no {side} row of weight.")
        ordered = sorted(kept, key=lambda pair: -pair[0].size)
        return [(place[train], place[test]) for train, test in ordered]

    def _pairs(self, validation: Any) -> list[Any]:
        if not hasattr(validation, "split"):
            return list(validation)
        groups = None if self.row_groups is None else np.asarray(to_host(self.row_groups))
        try:
            return list(validation.split(self.X, self.y, groups))
        except ValueError as error:
            asks = groups is None and "group" in str(error)
            hint = "; row_groups of fit are its groups" if asks else ""
            text = str(error).rstrip(".")
            raise ValueError(
                f"validation={validation!r} cannot split the rows: {text}{hint}."
            ) from None

    def _checked(self, number: int, pair: Any) -> Split:
        """One split, or an error that says what is wrong with it."""
        what = f"validation: split {number}"
        if not _is_sequence_of_two(pair):
            raise ValueError(f"{what} is {pair!r}; a pair (train, test) of indices is needed.")
        train, test = (
            self._indices(what, side, rows)
            for side, rows in zip(("train", "test"), pair, strict=True)
        )
        both = np.intersect1d(train, test)
        if both.size:
            raise ValueError(f"{what} has row {both[0]} in train and in test.")
        if self.groups is not None:
            shared = np.intersect1d(self.groups[train], self.groups[test])
            if shared.size:
                row = int(np.flatnonzero(self.groups == shared[0])[0])
                label = np.asarray(to_host(self.row_groups))[row : row + 1].tolist()[0]
                raise ValueError(f"{what} has rows of the group {label!r} in train and in test.")
        return train, test

    def _indices(self, what: str, side: str, rows: Any) -> np.ndarray:
        indices = np.asarray(to_host(rows))
        if indices.size == 0:
            raise ValueError(f"{what} has no {side} rows.")
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise ValueError(
                f"{what} has {side} of {indices.dtype} and {indices.ndim} dimensions; a vector of "
                "whole numbers, the places of rows, is needed."
            )
        wrong = indices[(indices < 0) | (indices >= self.n_rows)]
        if wrong.size:
            raise ValueError(
                f"{what} has the {side} row {wrong[0]}; the rows are 0 to {self.n_rows - 1}."
            )
        return indices.astype(np.intp)


def rows_of_labels(labels: RowLabels) -> GivenRows:
    """Rows of a source; in place of inputs, a splitter sees their numbers."""
    n_rows, weight = labels.y.shape[0], labels.weight
    used = np.ones(n_rows, dtype=bool) if weight is None else weight > 0
    return GivenRows(np.arange(n_rows)[:, None], labels.y, used, labels.groups)


def group_numbers(row_groups: Any, n_rows: int) -> np.ndarray:
    """The number of each row's group, by the order of their labels."""
    labels = np.asarray(to_host(row_groups))
    if labels.shape != (n_rows,):
        raise ValueError(
            f"row_groups has the shape {labels.shape}; a label for each of {n_rows} rows is needed."
        )
    if labels.dtype.kind in "fcmMO":
        missing = next((i for i, label in enumerate(labels) if _is_missing(label)), None)
        if missing is not None:
            raise ValueError(f"row_groups has no label in row {missing}.")
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise ValueError(
            "row_groups has labels that cannot be put in order: use one type."
        ) from None


def _is_missing(label: Any) -> bool:
    """Whether this is None, or what is not equal to itself: NaN, NaT, pandas' NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
