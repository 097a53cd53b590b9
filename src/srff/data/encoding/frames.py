"""Columns of data frames as numbers: categories as the numbers of their levels.

A *coded* matrix has a column for each column of the frame: numbers as they are, a category as the
number of its level from 0, NaN where a value is missing, -1 for a level that the fit did not see.
What a model makes of the codes is the business of :mod:`srff.data.encoding.columns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from scipy.sparse import issparse

from srff._utils.arrays import HOW_TIMES, refuse_times, to_host
from srff.data.encoding.number_texts import (
    stands_for,
    stands_for_error,
    stray_text_error,
    stray_texts,
)
from srff.data.encoding.table_columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    NUMBER,
    ArrayColumn,
    Column,
    column_names,
    columns_of,
    is_frame,
    odd_object,
    plain_value,
)

Levels = tuple[np.ndarray | None, ...]
"""For each column its levels, sorted and distinct, none of them missing; None for numbers, and
:data:`DATES`, which has none, for dates."""

DATES = np.array([], dtype="datetime64[us]")
"""In the place of levels, for a column of dates: its codes are days since 1970."""

ACCEPTED = "numbers, text, categories, booleans and dates are accepted"

UNSEEN = -1.0
"""The code of a level that the fit did not see."""


def is_dates(levels: np.ndarray | None) -> TypeGuard[np.ndarray]:
    """Whether a column is one of dates."""
    return levels is not None and levels.dtype.kind == "M"


def is_category(levels: np.ndarray | None) -> TypeGuard[np.ndarray]:
    """Whether a column has levels: it is neither one of numbers nor one of dates."""
    return levels is not None and levels.dtype.kind != "M"


def has_categories(X: Any, categorical: Any = "from_dtype") -> bool:
    """Whether a table must be coded before it is numbers.

    Parameters
    ----------
    X : array-like or data frame
        The table.
    categorical : "from_dtype", array-like of names, indices or bool, default="from_dtype"
        Columns that are categories whatever they hold.

    Returns
    -------
    answer : bool
        True if columns are named, or X is a pandas or polars data frame with a column of
        categories, text, booleans or dates, or of something that has to be refused.

    Examples
    --------
    >>> import pandas as pd
    >>> from srff.data.encoding.frames import has_categories
    >>> has_categories(pd.DataFrame({"a": [1.0, 2.0]}))
    False
    >>> has_categories(pd.DataFrame({"a": ["red", "blue"]}))
    True
    """
    if not _from_dtype(categorical) and np.size(categorical):
        return True
    if not is_frame(X):
        return False
    return any(column.kind != NUMBER for column in columns_of(X))


def learn_levels(X: Any, categorical: Any = "from_dtype") -> Levels:
    """The levels of the columns that are categories.

    Parameters
    ----------
    X : array-like or data frame
        The table.  Categorical, enum, text and boolean columns of pandas and polars are
        categories; columns of durations and of times without a date are refused.
    categorical : "from_dtype", array-like of names, indices or bool, default="from_dtype"
        Columns that are categories too, though they hold numbers.

    Returns
    -------
    levels : tuple of ndarray or None
        The levels that occur, sorted; False and True for booleans; None for numbers; ``DATES``
        for dates.

    Examples
    --------
    >>> import pandas as pd
    >>> from srff.data.encoding.frames import coded, learn_levels
    >>> X = pd.DataFrame({"size": [3.5, 1.0, 2.0], "colour": ["red", "blue", None]})
    >>> levels = learn_levels(X)
    >>> levels
    (None, array(['blue', 'red'], dtype=object))
    >>> coded(X, levels)
    array([[3.5, 1. ],
           [1. , 0. ],
           [2. , nan]])
    """
    X = as_table(X)
    names = column_names(X)
    asked = categorical_mask(categorical, X.shape[1], names)
    return tuple(
        _levels_of(column, asked[k], label(k, names)) for k, column in enumerate(columns_of(X))
    )


def coded(X: Any, levels: Levels, columns: Any = None) -> np.ndarray:
    """A table as numbers, categories as the numbers of their levels.

    Parameters
    ----------
    X : array-like or data frame
        The table.
    levels : tuple of ndarray or None
        What :func:`learn_levels` found in the table of the fit.
    columns : array-like of int, default=None
        Columns that are wanted; None for all.

    Returns
    -------
    codes : ndarray of shape (n_samples, n_columns), float64
        NaN where a value is missing, -1 for a level that is not among ``levels``; of dates the
        days since 1970.
    """
    X = as_table(X)
    if X.shape[1] != len(levels):
        raise ValueError(f"X has {X.shape[1]} columns; the model was fitted on {len(levels)}.")
    names = column_names(X)
    wanted = range(len(levels)) if columns is None else [int(k) for k in columns]
    out = np.empty((X.shape[0], len(wanted)), order="F")
    for i, (k, column) in enumerate(zip(wanted, columns_of(X, wanted), strict=True)):
        known, name = levels[k], label(k, names)
        if is_dates(known):
            out[:, i] = as_days(column, name)
        else:
            out[:, i] = as_numbers(column, name) if known is None else _codes(column, known, name)
    return out


def categorical_mask(categorical: Any, n_columns: int, names: Sequence[str] | None) -> np.ndarray:
    """Which columns ``categorical`` names: names, indices, or itself a mask."""
    mask = np.zeros(n_columns, dtype=bool)
    if _from_dtype(categorical):
        return mask
    accepted = "accepted: 'from_dtype', or a list of column names or indices, or a mask"
    if isinstance(categorical, str):
        raise ValueError(f"categorical_features={categorical!r} is unknown; {accepted}.")
    # One long name must not take its room for each of the others.
    named = any(isinstance(item, str) for item in categorical)
    given = np.asarray(categorical, dtype=object if named else None)
    if given.ndim != 1:
        raise ValueError(f"categorical_features has shape {given.shape}; {accepted}.")
    if given.dtype == bool:
        if given.size != n_columns:
            raise ValueError(
                f"categorical_features is a mask of {given.size}; X has {n_columns} columns."
            )
        return given
    for item in given.tolist():
        mask[_index(item, n_columns, names, accepted)] = True
    return mask


def _index(item: Any, n_columns: int, names: Sequence[str] | None, accepted: str) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"categorical_features names {item!r}, but the columns of X have no names."
            )
        if item not in names:
            raise ValueError(f"categorical_features names {item!r}, which is no column of X.")
        return list(names).index(item)
    if not isinstance(item, int):
        raise ValueError(f"categorical_features holds {item!r}; {accepted}.")
    if not -n_columns <= item < n_columns:
        raise ValueError(f"categorical_features holds {item}; X has {n_columns} columns.")
    return item


def label(k: int, names: Sequence[str] | None) -> str:
    """What an error calls a column."""
    return f"column {k}" if names is None else f"column {names[k]!r}"


def ordered_levels(values: Sequence[Any], name: str) -> np.ndarray:
    """Distinct levels, sorted; what is neither text nor a number is known by its text."""
    plain = {p for value in values if (p := plain_value(value)) is not None}
    texts = sorted(p for p in plain if isinstance(p, str))
    if len(texts) == len(plain):
        return np.array(texts, dtype=object)
    numbers = sorted(p for p in plain if not isinstance(p, str))
    if texts:
        raise ValueError(
            f"In {name} there are both text ({texts[0]!r}) and numbers ({numbers[0]!r}); make "
            "them one or the other."
        )
    if all(isinstance(p, bool) for p in numbers):
        return np.array([False, True])
    if all(isinstance(p, int) and abs(p) < 2**63 for p in numbers):
        return np.array(numbers, dtype=np.int64)
    return np.array(numbers, dtype=np.float64)


def level_numbers(values: Sequence[Any], levels: np.ndarray, name: str) -> np.ndarray:
    """The code of each value, with NaN for a missing one at the end."""
    known: dict[Any, int] = {level: k for k, level in enumerate(levels.tolist())}
    text = levels.dtype.kind in "OU"
    out = np.full(len(values) + 1, np.nan)
    for i, value in enumerate(values):
        plain = plain_value(value)
        if plain is None:
            continue
        if levels.size and isinstance(plain, str) != text:
            held, now = ("text", "a number") if text else ("numbers", "text")
            raise ValueError(
                f"In {name} there is {plain!r}, {now}; in the fit it held {held}, such as "
                f"{levels.tolist()[0]!r}."
            )
        out[i] = known.get(plain, UNSEEN)
    return out


def _levels_of(column: Column, asked: bool, name: str) -> np.ndarray | None:
    kind = column.kind
    _check_kind(kind, name, dates=not asked)
    if kind == DATE:
        return DATES
    if not asked and (kind == NUMBER or isinstance(column, ArrayColumn)):
        return None
    if kind == BOOLEAN:
        return np.array([False, True])
    own, values = column.factorised()
    if column.is_text and not asked:
        _check_texts(own, values, name)
    return ordered_levels(values, name)


def _check_texts(own: np.ndarray, values: list[Any], name: str) -> None:
    """Refuse texts that are numbers but for a few, or were written for numbers or dates."""
    strays = stray_texts(values, np.bincount(own[own >= 0], minlength=len(values)))
    if strays is not None:
        row = int(np.flatnonzero(np.append(strays, False)[own])[0])
        raise stray_text_error(name, f"row {row}", values[own[row]])
    meant = stands_for([values[k] for k in np.unique(own[own >= 0])])
    if meant is not None:
        row = int(np.flatnonzero(own == values.index(meant[1]))[0])
        raise stands_for_error(name, f" in row {row}", *meant)


def _codes(column: Column, levels: np.ndarray, name: str) -> np.ndarray:
    _check_kind(column.kind, name)
    own, values = column.factorised()
    return level_numbers(values, levels, name)[own]


def as_days(column: Column, name: str) -> np.ndarray:
    """The days since 1970 of a column of dates; one without any value has no type of its own."""
    if column.kind == DATE:
        return column.days()
    if column.kind == NUMBER:
        values = column.numbers()
        if np.isnan(values).all():
            return values
    raise ValueError(
        f"{name[0].upper()}{name[1:]} holds no dates; in the fit it did. pandas.to_datetime makes "
        "dates of texts."
    )


def as_numbers(column: Column, name: str) -> np.ndarray:
    """The numbers of a column; an error says where there is text."""
    kind = column.kind
    if kind in (NUMBER, BOOLEAN):
        return column.numbers()
    _check_kind(kind, name)
    if isinstance(column, ArrayColumn):
        try:
            return column.numbers()
        except ValueError:
            pass  # text, which is named below
        except TypeError:
            if odd_object(column.values.tolist()) is not None:
                raise
    own, values = column.factorised()
    plain = [plain_value(value) for value in values]
    for i, value in enumerate(plain):
        if isinstance(value, str):
            row = int(np.flatnonzero(own == i)[0])
            raise ValueError(
                f"In {name}, row {row}, there is {value!r}; numbers are accepted, as in the fit."
            )
    return np.array([np.nan if v is None else float(v) for v in [*plain, None]])[own]


def refuse_no_table(X: Any, y: Any) -> None:
    """Refuse what looks like a table and is none yet, with how it becomes one."""
    if issparse(X):  # one of SciPy's kinds is a dict
        return
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which is not read yet; X.collect() is a table.")
    first = X[0] if isinstance(X, list | tuple) and X else None
    if isinstance(X, dict) or isinstance(first, dict):
        what = "a dict" if isinstance(X, dict) else "a list of dicts"
        raise TypeError(f"X is {what}; pandas.DataFrame(X) makes a table of it.")
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise TypeError("X is a structured array; pandas.DataFrame(X) makes a table of it.")
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X holds {X.dtype}.")
    if is_frame(X) and isinstance(y, str):
        raise TypeError(
            f"y={y!r} must be the values of the target, such as X[{y!r}], and X the other columns; "
            "a name is for files and Dask."
        )
    if is_frame(X) and not X.shape[1]:
        raise ValueError("X has no columns; at least one is needed.")


def refuse_others(X: Any, what: str = "X") -> None:
    """Refuse columns of a frame, or an array, that are neither numbers nor categories."""
    if not is_frame(X):
        refuse_times(X, what)
        return
    names = column_names(X)
    for k, column in enumerate(columns_of(X)):
        _check_kind(column.kind, label(k, names))


def _check_kind(kind: str, name: str, dates: bool = False) -> None:
    if kind == DATE and not dates:
        raise ValueError(
            f"{name[0].upper()}{name[1:]} holds dates; numbers or categories are expected."
        )
    if kind not in (NUMBER, BOOLEAN, CATEGORY, DATE):
        how = HOW_TIMES if _is_time(kind) else "Make it one of these, or leave it out."
        raise ValueError(f"{name[0].upper()}{name[1:]} holds {kind}; {ACCEPTED}. {how}")


def _is_time(kind: str) -> bool:
    return any(word in kind.lower() for word in ("date", "time", "period", "duration"))


def _from_dtype(categorical: Any) -> bool:
    return categorical is None or (
        isinstance(categorical, str) and categorical.lower() == "from_dtype"
    )


def as_table(X: Any) -> Any:
    """A frame, or an array of two dimensions."""
    if is_frame(X):
        return X
    X = to_host(X)
    if issparse(X):
        raise TypeError("X is a sparse matrix; dense rows are needed, such as X.toarray().")
    refuse_times(X, "X")
    if not isinstance(X, np.ndarray):
        array = np.asarray(X)
        # A list of lists of text and numbers must not become all text.
        X = array if array.dtype.kind in "biuf" else np.asarray(X, dtype=object)
    if X.ndim != 2:
        raise ValueError(
            f"X has {X.ndim} dimension(s); a table of rows and columns is needed. Reshape your "
            "data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row."
        )
    return X
