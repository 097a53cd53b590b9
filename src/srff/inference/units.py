"""What is judged as one: a column, a group of columns, or a cluster that cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from srff.core.groups import parse_groups
from srff.data.conditional.near_copies import clusters
from srff.data.conditional.predictors import predictors
from srff.inference.rows import Rows
from srff.inspect.describe import feature_names, group_names, together

CLUSTER_ROWS = 5_000
"""Most rows that near copies are looked for on."""

MOST_NAMED = 3
"""Columns of a cluster that its name tells."""


@dataclass(frozen=True)
class Units:
    """The number of each column's unit, in the order of their first columns."""

    of: np.ndarray
    names: np.ndarray
    near_copies: np.ndarray
    """Whether the unit is a cluster of several columns or groups."""

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.names.size)

    def columns(self, unit: int) -> np.ndarray:
        """The columns of a unit."""
        return np.flatnonzero(self.of == unit)

    def any_of(self, columns: np.ndarray) -> np.ndarray:
        """A mask of the units that some columns (a mask) are of."""
        return np.bincount(self.of, weights=columns, minlength=self.count) > 0


def units_of(rows: Rows, model: Any) -> Units:
    """The groups that a model was given, joined where columns are almost functions of others."""
    names = getattr(model, "feature_names_in_", None)
    group = parse_groups(model.groups, rows.codes.shape[1], names)
    few = slice(CLUSTER_ROWS)
    cluster = clusters(predictors(rows.codes[few], rows.levels), group.size)
    of = _joined(group, cluster)
    called = feature_names(model)
    given = {} if model.groups is None else group_names(model.groups, group, names)
    made, several = [], []
    for unit in range(int(of.max()) + 1):
        parts = dict.fromkeys(group[of == unit].tolist())
        each = []
        for part in parts:
            inside = tuple(called[k] for k in np.flatnonzero(group == part))
            each.append(given.get(part) or together(inside))
        made.append(_either(each))
        several.append(len(each) > 1)
    return Units(of, np.array(made, dtype=object), np.array(several))


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The finest numbering that is coarser than both, in the order of first places."""
    size = first.size
    columns = np.arange(size)
    rows = np.concatenate([columns, columns])
    to = np.concatenate([size + first, 2 * size + second])
    graph = sparse.coo_array((np.ones(rows.size), (rows, to)), shape=(3 * size, 3 * size))
    label = connected_components(graph, directed=False)[1][:size]
    _, at, number = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(at))[number]


def _either(names: list[str]) -> str:
    """One name, or some of which it may be any."""
    if len(names) > MOST_NAMED + 1:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return " or ".join(names)
