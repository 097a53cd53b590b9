"""Columns that are kept or dropped together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Groups:
    """What is selected: each group is one column, or several that stay together.

    ``of[s]`` is the number of column s's group.
    """

    of: np.ndarray

    @classmethod
    def single(cls, n_columns: int) -> Groups:
        """Every column for itself."""
        return cls(np.arange(n_columns))

    @property
    def trivial(self) -> bool:
        """Whether every column is a group of its own."""
        return bool(np.array_equal(self.of, np.arange(self.of.size)))

    def count(self, columns: np.ndarray) -> int:
        """The number of groups that some columns belong to."""
        return int(columns.size if self.trivial else np.unique(self.of[columns]).size)

    def among(self, columns: np.ndarray) -> list[np.ndarray]:
        """For each group of some columns their positions among these, in the order of groups."""
        if self.trivial:
            return [np.array([k]) for k in range(columns.size)]
        labels = self.of[columns]
        return [np.flatnonzero(labels == group) for group in np.unique(labels)]

    def completed(self, columns: np.ndarray, usable: np.ndarray) -> np.ndarray:
        """Those of the usable columns that share a group with some columns, in order."""
        if self.trivial:
            return np.sort(columns)
        return usable[np.isin(self.of[usable], self.of[columns])]

    def total(self, columns: np.ndarray, values: np.ndarray) -> float:
        """The sum over the groups of some columns of the root mean squares of their values."""
        if self.trivial:
            return float(values.sum())
        parts = self.among(columns)
        return float(sum(np.sqrt(np.mean(values[part] ** 2)) for part in parts))

    def positions(self, columns: np.ndarray) -> np.ndarray | None:
        """For each of some columns the position of its group among theirs; None if trivial."""
        if self.trivial:
            return None
        return np.unique(self.of[columns], return_inverse=True)[1]


def shared(values: np.ndarray, group: np.ndarray | None) -> np.ndarray:
    """The sums over the columns of each group; ``group`` as from :meth:`Groups.positions`."""
    if group is None:
        return values
    return np.bincount(group, weights=values, minlength=int(group.max(initial=-1)) + 1)


def first_of_each(values: np.ndarray, group: np.ndarray | None) -> np.ndarray:
    """The value of each group's first column."""
    if group is None:
        return values
    return values[np.unique(group, return_index=True)[1]]


def each_column(values: np.ndarray, group: np.ndarray | None) -> np.ndarray:
    """The value of its group for each column."""
    return values if group is None else values[group]


def parse_groups(groups: Any, n_features: int, names: Any = None) -> np.ndarray:
    """For each column the number of its group, in the order of their first columns.

    ``groups`` are lists of columns, a label for each column, or a mapping of names to lists of
    columns; a column is a position or, where columns have names, a name.  A column of no list is a
    group of its own.
    """
    if groups is None:
        return np.arange(n_features)
    if isinstance(groups, Mapping):
        groups = list(groups.values())
    if isinstance(groups, np.ndarray) and groups.ndim == 1:
        groups = groups.tolist()
    if isinstance(groups, list | tuple) and not groups:
        return np.arange(n_features)
    if not isinstance(groups, list | tuple):
        raise ValueError(
            f"groups={groups!r} must be a list of lists of columns, a label for each column, or a "
            "mapping of names to lists of columns."
        )
    lists = [isinstance(each, list | tuple | np.ndarray | range) for each in groups]
    if not any(lists):
        if len(groups) != n_features:
            raise ValueError(
                f"groups has {len(groups)} labels; there are {n_features} columns, and one label "
                "for each is needed."
            )
        return _numbered(groups)
    if not all(lists):
        wrong = groups[lists.index(False)]
        raise ValueError(f"groups holds {wrong!r} beside lists of columns.")
    known = {} if names is None else {str(name): k for k, name in enumerate(names)}
    label = list(range(n_features))
    seen: set[int] = set()
    for number, group in enumerate(groups):
        for column in group:
            k = _position(column, n_features, known)
            if k in seen:
                raise ValueError(f"groups has column {column!r} more than once.")
            seen.add(k)
            label[k] = n_features + number
    return _numbered(label)


def parse_columns(columns: Any, n_features: int, names: Any = None, what: str = "columns") -> Any:
    """The positions of some columns, rising: positions, names, or a mask; ``what`` errors say."""
    if columns is None:
        return np.zeros(0, dtype=np.intp)
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        raise ValueError(f"{what}={columns!r} must be a list of columns, or a mask of them.")
    given = list(columns)
    if given and all(isinstance(each, bool | np.bool_) for each in given):
        if len(given) != n_features:
            raise ValueError(f"{what} is a mask of {len(given)}; there are {n_features} columns.")
        return np.flatnonzero(given)
    known = {} if names is None else {str(name): k for k, name in enumerate(names)}
    return np.unique([_position(c, n_features, known, what) for c in given]).astype(np.intp)


def _position(column: Any, n_features: int, known: dict[str, int], what: str = "groups") -> int:
    if isinstance(column, Integral) and not isinstance(column, bool):
        k = int(column)
        if not -n_features <= k < n_features:
            raise ValueError(f"{what} has column {k}; there are {n_features} columns.")
        return k % n_features
    if isinstance(column, str) and column in known:
        return known[column]
    why = "there is no column of that name" if known else "the columns have no names"
    raise ValueError(f"{what} has column {column!r}: {why}.")


def _numbered(labels: Any) -> np.ndarray:
    """Labels of any kind as numbers, in the order in which they come."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)
