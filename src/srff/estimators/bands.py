"""How far the curves of the folds are apart: a band around the effect of each variable.

The effect of a variable at a value v is the mean of what a model says of some rows in which the
variable is v.  The candidates of the folds, which have learned from other rows each, have one curve
each; the band goes from the lowest of them to the highest, less their mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srff.core.candidate import Candidate
from srff.data.encoding.columns import Date, Number
from srff.data.problem import Problem
from srff.data.sides import Sides
from srff.estimators.missed import said_of

BANDS = "input", "value", "low", "high"
"""Columns of the table: the place of an input, a value, and the ends of the band there."""

VALUES, ROWS, CURVES = 20, 100, 12
"""Values of a curve, rows that it is a mean over, and most curves."""

MOST_COSINES = 5e7
"""Rows, values, features, folds and curves together: half a second.  Of more there are none."""


def bands(
    model: Any, problem: Problem, sides: list[Sides], each: tuple[Candidate, ...]
) -> dict[str, np.ndarray]:
    """The table of the numbers in use; empty without folds, and for several outputs."""
    parts: list[np.ndarray] = []
    if len(each) > 1 and len(each) == len(sides) and each[0].expansion().a.shape[1] == 1:
        X = np.concatenate([held.X for _, held in sides])
        X = X[np.sort(np.random.RandomState(0).permutation(len(X))[:ROWS])]
        width = sum(candidate.expansion().b.size for candidate in each)
        columns = _columns(model)
        if ROWS * VALUES * width * len(columns) <= MOST_COSINES:
            for j, place in columns:
                grid = np.unique(np.quantile(X[:, j], np.linspace(0, 1, VALUES)))
                curves = np.stack([curve(problem, one, X, j, grid) for one in each])
                away = curves - curves.mean(axis=0)
                parts.append(
                    np.stack([np.full(grid.size, place), grid, away.min(axis=0), away.max(axis=0)])
                )
    return as_bands(np.concatenate([np.zeros((len(BANDS), 0)), *parts], axis=1))


def as_bands(table: np.ndarray) -> dict[str, np.ndarray]:
    """Rows of numbers as columns by name."""
    out = dict(zip(BANDS, table, strict=True))
    return out | {"input": out["input"].astype(np.intp)}


def bands_of_columns(table: dict[str, np.ndarray], support: np.ndarray) -> dict[str, np.ndarray]:
    """The bands of some inputs alone, by their places among these."""
    kept = support[table["input"]]
    out = {name: column[kept] for name, column in table.items()}
    return out | {"input": (np.cumsum(support) - 1)[out["input"]]}


def curve(problem: Problem, one: Candidate, X: np.ndarray, j: int, grid: np.ndarray) -> np.ndarray:
    """The mean prediction of a candidate over rows in which column ``j`` has each of the values."""
    rows = np.tile(X[:, one.columns], (grid.size, 1))
    rows[:, one.columns == j] = np.repeat(grid, len(X))[:, None]
    return said_of(problem, one, rows)[:, 0].reshape(grid.size, len(X)).mean(axis=1)


def _columns(model: Any) -> list[tuple[int, int]]:
    """Columns of the encoded table that are an input of numbers, with the input's place."""
    encoding, order = model.encoding_, np.argsort(-model.scale_, kind="stable")
    out = []
    for place in order[:CURVES].tolist():
        if not model.scale_[place] > 0:
            break
        if encoding is None:
            out.append((place, place))
            continue
        of = encoding.columns[place]
        if isinstance(of, Number) and not isinstance(of, Date) and of.width == 1:
            out.append((int(np.flatnonzero(encoding.source == place)[0]), place))
    return out
