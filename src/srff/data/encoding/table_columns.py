"""Columns of the tables of NumPy, pandas, polars and pyarrow: what they hold, and their values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

import numpy as np

NUMBER, BOOLEAN, CATEGORY, DATE = "number", "boolean", "category", "date"
"""What columns are read as; one of any other kind is refused by the name of its type."""


MICROSECONDS = 86_400_000_000
"""Of a day."""


class Column(Protocol):
    """A column of some library's frame."""

    @property
    def kind(self) -> str:
        """``"number"``, ``"boolean"``, ``"category"`` or ``"date"``; else what is not accepted."""

    @property
    def is_text(self) -> bool:
        """Whether it is a category by being text alone: nobody has called it one."""

    def numbers(self) -> np.ndarray:
        """The values as float64, missing ones as NaN."""

    def days(self) -> np.ndarray:
        """Those of dates: days since 1970 by local clocks, missing ones as NaN."""

    def factorised(self) -> tuple[np.ndarray, list[Any]]:
        """The distinct values, and for each row the number of its own; -1 for a missing one."""


def days_of(moments: np.ndarray) -> np.ndarray:
    """Days since 1970 of NumPy's moments, NaN where there is none."""
    moments = moments.astype("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / MICROSECONDS)


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of pandas or polars, or a record batch of pyarrow."""
    return _library(X) is not None


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns; None for an array."""
    library = _library(X)
    if library is None:
        return None
    return tuple(map(str, X.schema.names if library == "pyarrow" else X.columns))


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


def without_sparse(X: Any) -> Any:
    """A pandas frame with its sparse columns made dense; anything else as it is."""
    if _library(X) != "pandas":
        return X
    import pandas as pd

    sparse = [isinstance(dtype, pd.SparseDtype) for dtype in X.dtypes]
    if not any(sparse):
        return X
    columns = [X.iloc[:, k] for k in range(X.shape[1])]
    dense = [c.sparse.to_dense() if s else c for c, s in zip(columns, sparse, strict=True)]
    return pd.concat(dense, axis=1).set_axis(X.columns, axis=1)


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

    @property
    def is_text(self) -> bool:
        """Never: a column of an array is a category only where it is asked for as one."""
        return False

    def numbers(self) -> np.ndarray:
        """The values as float64."""
        return self.values.astype(np.float64)

    def days(self) -> np.ndarray:
        """Of NumPy's moments."""
        return days_of(self.values)

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
        if t.is_datetime64_any_dtype(dtype):
            return DATE
        if t.is_bool_dtype(dtype):
            return BOOLEAN
        return NUMBER if t.is_numeric_dtype(dtype) and dtype.kind != "c" else str(dtype)

    @property
    def is_text(self) -> bool:
        """Text and objects; no categories, and no dictionary of pyarrow."""
        import pandas as pd

        dtype = self.series.dtype
        if isinstance(dtype, pd.ArrowDtype):
            return arrow_is_text(dtype.pyarrow_dtype)
        return isinstance(dtype, pd.StringDtype) or dtype == np.dtype(object)

    def numbers(self) -> np.ndarray:
        """The values as float64, ``pd.NA`` and None as NaN."""
        return np.asarray(self.series.to_numpy(dtype=np.float64, na_value=np.nan))

    def days(self) -> np.ndarray:
        """Of any of pandas' types of dates, and of objects."""
        import pandas as pd

        series = self.series
        if isinstance(series.dtype, pd.ArrowDtype):
            import pyarrow as pa

            return ArrowColumn(pa.array(series)).days()
        if series.dtype == np.dtype(object):
            plain = [v if plain_value(v) is None else pd.Timestamp(v) for v in series]
            local = [v.tz_localize(None) if isinstance(v, pd.Timestamp) else None for v in plain]
            series = pd.Series(local, dtype="datetime64[us]")
        elif series.dt.tz is not None:
            series = series.dt.tz_localize(None)
        return days_of(series.to_numpy())

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
    if inferred in ("datetime", "datetime64", "date"):
        return DATE
    odd = odd_object(series)
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
        if dtype in (pl.Date, pl.Datetime):
            return DATE
        if dtype == pl.Object and (odd := odd_object(self.series)) is not None:
            return f"objects of type {type(odd).__name__}"
        if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Object):
            return CATEGORY
        return NUMBER if dtype.is_numeric() or dtype == pl.Null else str(dtype)

    @property
    def is_text(self) -> bool:
        """Strings and objects."""
        import polars as pl

        return self.series.dtype in (pl.String, pl.Object)

    def numbers(self) -> np.ndarray:
        """The values as float64, null as NaN."""
        import polars as pl

        return np.asarray(self.series.cast(pl.Float64).to_numpy())

    def days(self) -> np.ndarray:
        """Of dates and of datetimes."""
        import polars as pl

        series = self.series.cast(pl.Datetime) if self.series.dtype == pl.Date else self.series
        return days_of(series.dt.replace_time_zone(None).to_numpy())

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

    @property
    def is_text(self) -> bool:
        """Strings, and no dictionary."""
        return arrow_is_text(self.array.type)

    def numbers(self) -> np.ndarray:
        """The values as float64, null as NaN."""
        import pyarrow as pa

        return np.asarray(self.array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

    def days(self) -> np.ndarray:
        """Of dates and of timestamps."""
        import pyarrow as pa
        import pyarrow.compute as pc

        array = self.array
        if getattr(array.type, "tz", None) is not None:
            array = pc.local_timestamp(array)
        array = array.cast(pa.timestamp("us"), safe=False)
        if isinstance(array, pa.ChunkedArray):
            return days_of(array.to_numpy())
        return days_of(array.to_numpy(zero_copy_only=False))

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
    if t.is_timestamp(dtype) or t.is_date(dtype):
        return DATE
    return CATEGORY if arrow_is_text(dtype) else str(dtype)


def arrow_is_text(dtype: Any) -> bool:
    """Whether a pyarrow type is text."""
    import pyarrow as pa

    t = pa.types
    return any(is_(dtype) for is_ in (t.is_string, t.is_large_string, t.is_string_view))


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


def odd_object(values: Any) -> Any:
    """The first value that is neither text nor a number, nor missing; None if there is none."""
    accepted = str | Real | Decimal
    odd = (v for v in values if not (isinstance(v, accepted) or plain_value(v) is None))
    return next(odd, None)
