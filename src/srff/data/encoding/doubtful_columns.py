"""Columns that may not be what they are taken for: numbers and names of rows, the target itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from srff._utils.text import listed
from srff.data.encoding.frames import Levels, label
from srff.data.encoding.table_columns import NUMBER, Column, column_names, columns_of, is_frame

LEAST_ROWS = 20
"""Rows from which on whole numbers without a gap look like a count of the rows."""

MOST_WHOLE = 2**53
"""The largest whole number up to which float64 has all."""


def doubts_of(X: Any, y: Any, levels: Levels | None) -> list[str]:
    """What may be wrong with columns of a table, in words.

    Parameters
    ----------
    X : array-like or data frame
        The table; of arrays only the target is looked for.
    y : array-like
        The target.
    levels : tuple of ndarray or None
        The levels of the columns that are categories; None if all are numbers.

    Returns
    -------
    doubts : list of str

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from srff.data.encoding.doubtful_columns import doubts_of
    >>> y = np.random.default_rng(0).normal(size=30)
    >>> doubts_of(pd.DataFrame({"id": np.arange(30), "a": y**2, "b": y}), y, None)
    ["column 'id' holds each of 0 to 29 once, as a number of the row does",
     "column 'b' is the target"]
    """
    if not (is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2)) or X.shape[1] < 2:
        return []
    names = column_names(X)
    target = _plain_target(y)
    told = []
    for k, column in enumerate(columns_of(X)):
        known = None if levels is None else levels[k]
        what = None
        if known is not None:
            what = _doubt_of_names(column, known.size, X.shape[0])
        elif column.kind == NUMBER:
            values = column.numbers()
            if target is not None and np.array_equal(values, target):
                what = "is the target"
            elif names is not None:
                what = _doubt_of_numbers(values)
        if what is not None:
            told.append(f"{label(k, names)} {what}")
    return told


def other_order(X: Any, y: Any) -> bool:
    """Whether a frame and its target have the same index of pandas in another order."""
    one: Any = getattr(X, "index", None)
    other: Any = getattr(y, "index", None)
    if not (hasattr(one, "equals") and hasattr(other, "equals")) or one.equals(other):
        return False
    unique = len(one) == len(other) and one.is_unique and other.is_unique
    return bool(unique and one.isin(other).all())


def doubts_as_text(doubts: list[str]) -> str:
    """The warning of some doubts."""
    return (
        f"X may have columns that are no inputs: {listed(doubts)}. They are used as they are; "
        "leave out of X what is no measurement."
    )


def _plain_target(y: Any) -> np.ndarray | None:
    """The target as numbers, where it is one of such."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    return array if array.ndim == 1 and array.dtype.kind in "iuf" else None


def _doubt_of_numbers(values: np.ndarray) -> str | None:
    if values.size < LEAST_ROWS or not np.isfinite(values).all():
        return None
    low, high = float(values.min()), float(values.max())
    if not (values == np.rint(values)).all():
        return None
    if high - low == values.size - 1 and np.unique(values).size == values.size:
        return f"holds each of {low:.0f} to {high:.0f} once, as a number of the row does"
    if max(-low, high) > MOST_WHOLE and np.ptp(values) < MOST_WHOLE:
        return f"holds whole numbers such as {high:.0f}, which lose digits as float64"
    return None


def _doubt_of_names(column: Column, n_levels: int, n_rows: int) -> str | None:
    if not column.is_text or n_rows < LEAST_ROWS or n_levels < n_rows:
        return None
    return f"holds {n_levels:,} different texts in {n_rows:,} rows, as a name of the row does"
