"""Columns of pyarrow's record batches as NumPy arrays, and where they have no value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from srff.data.encoding.table_columns import CATEGORY, DATE, ArrowColumn, arrow_kind

Batches = Callable[[list[str]], Iterator[Any]]
"""Record batches of some columns, and perhaps of others, from the first row on."""


def numbers(batch: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """A column of a batch as NumPy numbers; missing values as NaN."""
    import pyarrow as pa

    column = batch.column(batch.schema.get_field_index(name))
    if arrow_kind(column.type) == DATE:
        return ArrowColumn(column).days().astype(dtype)
    kind = pa.float32() if dtype == np.float32 else pa.float64()
    if column.type != kind:
        column = column.cast(kind, safe=False)
    return column.to_numpy(zero_copy_only=False)


def plain_values(batch: Any, name: str) -> np.ndarray:
    """A column of a batch as NumPy has its values, whatever they are."""
    import pyarrow as pa

    column = batch.column(batch.schema.get_field_index(name))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return np.asarray(column.to_numpy(zero_copy_only=False))


def matrix(batch: Any, names: Sequence[str], dtype: Any = np.float64) -> np.ndarray:
    """Some columns of a batch as a matrix, column by column."""
    X = np.empty((batch.num_rows, len(names)), dtype=dtype, order="F")
    for i, name in enumerate(names):
        X[:, i] = numbers(batch, name, dtype)
    return X


def gaps_of(batch: Any, name: str) -> np.ndarray:
    """Where a column of a batch has no value, or none that is finite."""
    column = batch.column(batch.schema.get_field_index(name))
    if arrow_kind(column.type) == CATEGORY:
        return np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    return ~np.isfinite(numbers(batch, name))


def complete_rows(batches: Batches, needed: list[str], complete: Sequence[str]) -> Batches:
    """The rows of the ``needed`` columns that have a value in all of the ``complete`` ones."""
    import pyarrow as pa

    def read(columns: list[str]) -> Iterator[Any]:
        for batch in batches(needed):
            whole = np.ones(batch.num_rows, dtype=bool)
            for name in complete:
                whole &= ~gaps_of(batch, name)
            if whole.any():
                yield batch.filter(pa.array(whole))

    return read
