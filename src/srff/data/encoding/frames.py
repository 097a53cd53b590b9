"""Columns of data frames as numbers: categories as the numbers of their levels.

A *coded* matrix has a column for each column of the frame: numbers as they are, a category as the
number of its level from 0, NaN where a value is missing, -1 for a level that the fit did not see.
What a model makes of the codes is the business of :mod:`srff.data.encoding.columns`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from srff._utils.arrays import to_host

Levels = tuple[np.ndarray | None, ...]
"""For each column its levels, sorted and distinct, none of them missing; None for numbers."""

UNSEEN = -1.0
"""The code of a level that the fit did not see."""

NUMBER, BOOLEAN, CATEGORY = "number", "boolean", "category"
"""What columns are read as; one of any other kind is refused by the name of its type."""


class Column(Protocol):
    """A column of some library's frame."""

    @property
    def kind(self) -> str:
        """``"number"``, ``"boolean"`` or ``"category"``; else the name of what is not accepted."""

    def numbers(self) -> np.ndarray:
        """The values as float64, missing ones as NaN."""

    def factorised(self) -> tuple[np.ndarray, list[Any]]:
        """The distinct values, and for each row the number of its own; -1 for a missing one."""


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
        categories, text or booleans, or of something that has to be refused.

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


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of pandas or polars, or a record batch of pyarrow."""
    return _library(X) is not None


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns; None for an array."""
    library = _library(X)
    if library is None:
        return None
    return tuple(map(str, X.schema.names if library == "pyarrow" else X.columns))


def learn_levels(X: Any, categorical: Any = "from_dtype") -> Levels:
    """The levels of the columns that are categories.

    Parameters
    ----------
    X : array-like or data frame
        The table.  Categorical, enum, text and boolean columns of pandas and polars are
        categories; columns of dates and times are refused.
    categorical : "from_dtype", array-like of names, indices or bool, default="from_dtype"
        Columns that are categories too, though they hold numbers.

    Returns
    -------
    levels : tuple of ndarray or None
        The levels that occur, sorted; False and True for booleans; None for numbers.

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
    X = _table(X)
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
        NaN where a value is missing, -1 for a level that is not among ``levels``.
    """
    X = _table(X)
    if X.shape[1] != len(levels):
        raise ValueError(f"X has {X.shape[1]} columns; the model was fitted on {len(levels)}.")
    names = column_names(X)
    wanted = range(len(levels)) if columns is None else [int(k) for k in columns]
    out = np.empty((X.shape[0], len(wanted)), order="F")
    for i, (k, column) in enumerate(zip(wanted, columns_of(X, wanted), strict=True)):
        known, name = levels[k], label(k, names)
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
    given = np.asarray(categorical)
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


def plain_value(value: Any) -> str | bool | int | float | None:
    """A value of any library as Python's own, by which it is the same level; None if missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Real | Decimal):
        number = float(value)
        return None if number != number else number
    return str(value)


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
    _check_kind(kind, name)
    if not asked and (kind == NUMBER or isinstance(column, ArrayColumn)):
        return None
    if kind == BOOLEAN:
        return np.array([False, True])
    return ordered_levels(column.factorised()[1], name)


def _codes(column: Column, levels: np.ndarray, name: str) -> np.ndarray:
    _check_kind(column.kind, name)
    own, values = column.factorised()
    return level_numbers(values, levels, name)[own]


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
            if _odd_object(column.values.tolist()) is not None:
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


def _odd_object(values: Any) -> Any:
    """The first value that is neither text nor a number, nor missing; None if there is none."""
    accepted = str | Real | Decimal
    odd = (v for v in values if not (isinstance(v, accepted) or plain_value(v) is None))
    return next(odd, None)


def _check_kind(kind: str, name: str) -> None:
    if kind not in (NUMBER, BOOLEAN, CATEGORY):
        raise ValueError(
            f"{name[0].upper()}{name[1:]} holds {kind}; numbers, text, categories and booleans are "
            "accepted. Make it one of these, or leave it out."
        )


def _from_dtype(categorical: Any) -> bool:
    return categorical is None or (
        isinstance(categorical, str) and categorical.lower() == "from_dtype"
    )


def _library(X: Any) -> str | None:
    """The library of a data frame; none is imported that is not there already."""
    for name, kind in (
        ("pandas", "DataFrame"),
        ("polars", "DataFrame"),
        ("pyarrow", "RecordBatch"),
    ):
        frame = getattr(sys.modules.get(name), kind, None)
        if frame is not None and isinstance(X, frame):
            return name
    return None


def _table(X: Any) -> Any:
    """A frame, or an array of two dimensions."""
    if is_frame(X):
        return X
    X = to_host(X)
    if issparse(X):
        raise TypeError("X is a sparse matrix; dense rows are needed, such as X.toarray().")
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


def columns_of(X: Any, wanted: Sequence[int] | None = None) -> list[Column]:
    """The columns of a frame or of an array of two dimensions, all or some."""
    library = _library(X)
    make: Any = {
        "pandas": lambda k: PandasColumn(X.iloc[:, k]),
        "polars": lambda k: PolarsColumn(X.to_series(k)),
        "pyarrow": lambda k: ArrowColumn(X.column(k)),
        None: lambda k: ArrayColumn(X[:, k]),
    }[library]
    return [make(k) for k in (range(X.shape[1]) if wanted is None else wanted)]


@dataclass(frozen=True)
class ArrayColumn:
    """A column of an array: numbers, unless it is asked for as a category."""

    values: np.ndarray

    @property
    def kind(self) -> str:
        """Numbers; text and objects are read value by value."""
        return NUMBER if self.values.dtype.kind in "biuf" else CATEGORY

    def numbers(self) -> np.ndarray:
        """The values as float64."""
        return self.values.astype(np.float64)

    def factorised(self) -> tuple[np.ndarray, list[Any]]:
        """By NumPy's ``unique``, or by Python's equality for objects."""
        if self.values.dtype.kind in "biufSU":
            distinct, own = np.unique(self.values, return_inverse=True)
            return own, distinct.tolist()
        numbers: dict[Any, int] = {}
        plain = (plain_value(value) for value in self.values.tolist())
        own = np.array([-1 if p is None else numbers.setdefault(p, len(numbers)) for p in plain])
        return own.astype(np.intp), list(numbers)


@dataclass(frozen=True)
class PandasColumn:
    """A pandas Series of any kind of dtype."""

    series: Any

    @property
    def kind(self) -> str:
        """By the dtype; objects by what they are."""
        import pandas as pd

        t, dtype = pd.api.types, self.series.dtype
        if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
            return CATEGORY
        if isinstance(dtype, pd.ArrowDtype):
            return arrow_kind(dtype.pyarrow_dtype)
        if dtype.kind == "O" and isinstance(dtype, np.dtype):
            return _object_kind(self.series)
        if t.is_bool_dtype(dtype):
            return BOOLEAN
        return NUMBER if t.is_numeric_dtype(dtype) and dtype.kind != "c" else str(dtype)

    def numbers(self) -> np.ndarray:
        """The values as float64, ``pd.NA`` and None as NaN."""
        return np.asarray(self.series.to_numpy(dtype=np.float64, na_value=np.nan))

    def factorised(self) -> tuple[np.ndarray, list[Any]]:
        """By pandas' ``factorize``."""
        import pandas as pd

        own, distinct = pd.factorize(self.series)
        return own, list(distinct)


def _object_kind(series: Any) -> str:
    """What a pandas column of Python objects is read as."""
    import pandas as pd

    inferred = str(pd.api.types.infer_dtype(series, skipna=True))
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        return NUMBER
    if inferred in ("string", "boolean"):
        return BOOLEAN if inferred == "boolean" else CATEGORY
    odd = _odd_object(series)
    if odd is not None:
        return f"objects of type {type(odd).__name__}"
    return CATEGORY  # text and numbers, which the levels will not take together


@dataclass(frozen=True)
class PolarsColumn:
    """A polars Series."""

    series: Any

    @property
    def kind(self) -> str:
        """By the data type."""
        import polars as pl

        dtype = self.series.dtype
        if dtype == pl.Boolean:
            return BOOLEAN
        if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Object):
            return CATEGORY
        return NUMBER if dtype.is_numeric() or dtype == pl.Null else str(dtype)

    def numbers(self) -> np.ndarray:
        """The values as float64, null as NaN."""
        import polars as pl

        return np.asarray(self.series.cast(pl.Float64).to_numpy())

    def factorised(self) -> tuple[np.ndarray, list[Any]]:
        """By the ranks of distinct values."""
        import polars as pl

        series = self.series
        if series.dtype == pl.Object:
            return ArrayColumn(np.array(series.to_list(), dtype=object)).factorised()
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        if series.dtype.is_float():
            series = series.fill_nan(None)
        own = series.rank("dense").cast(pl.Int64) - 1
        distinct = series.drop_nulls().unique().sort()
        return own.fill_null(-1).to_numpy(), distinct.to_list()


@dataclass(frozen=True)
class ArrowColumn:
    """A pyarrow array."""

    array: Any

    @property
    def kind(self) -> str:
        """By the data type."""
        return arrow_kind(self.array.type)

    def numbers(self) -> np.ndarray:
        """The values as float64, null as NaN."""
        import pyarrow as pa

        return np.asarray(self.array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

    def factorised(self) -> tuple[np.ndarray, list[Any]]:
        """By a dictionary, the column's own if it has one."""
        import pyarrow as pa

        array = self.array
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        own = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return own, array.dictionary.to_pylist()


def arrow_kind(dtype: Any) -> str:
    """What a column of this pyarrow type is read as."""
    import pyarrow as pa

    t = pa.types
    if any(is_(dtype) for is_ in (t.is_integer, t.is_floating, t.is_decimal, t.is_null)):
        return NUMBER
    if t.is_boolean(dtype):
        return BOOLEAN
    if t.is_dictionary(dtype):
        return CATEGORY
    texts = (t.is_string, t.is_large_string, t.is_string_view)
    return CATEGORY if any(is_(dtype) for is_ in texts) else str(dtype)
