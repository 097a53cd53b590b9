"""Where rows come from: arrays, files, blocks, Dask collections."""

import os
from collections.abc import Iterable
from typing import Any

from srff.data.sources.arrays import ArraySource
from srff.data.sources.base import Source
from srff.data.sources.blocks import BlockSource
from srff.data.sources.csv_dialect import CsvFiles
from srff.data.sources.dask import DaskSource, is_dask, is_names
from srff.data.sources.tables import TableSource

__all__ = [
    "ArraySource",
    "BlockSource",
    "DaskSource",
    "Source",
    "TableSource",
    "as_source",
]


def as_source(X: Any, y: Any, sample_weight: Any = None, row_groups: Any = None) -> Source | None:
    """The source of files, of a Dask collection or of blocks; None for arrays and data frames."""
    if isinstance(X, Source):
        return X
    if is_dask(X):
        return DaskSource(X, y, sample_weight, row_groups)
    if isinstance(X, str | os.PathLike | CsvFiles) or (
        isinstance(X, list | tuple) and X and all(isinstance(p, str | os.PathLike) for p in X)
    ):
        if not isinstance(y, str) and not is_names(y):
            raise ValueError(
                f"y={y!r} must be the name of the target's column in the files, or a list of such."
            )
        if sample_weight is not None and not isinstance(sample_weight, str):
            raise ValueError("sample_weight must be the name of a column in the files, or None.")
        if row_groups is not None and not isinstance(row_groups, str):
            raise ValueError("row_groups must be the name of a column in the files, or None.")
        return TableSource(X, y, sample_weight, row_groups=row_groups)
    if y is None and isinstance(X, Iterable) and not hasattr(X, "__array__"):
        first = next(iter(X), None) if iter(X) is not X else None
        if iter(X) is X or (isinstance(first, tuple) and len(first) == 2):
            if sample_weight is not None:
                raise ValueError("sample_weight must be None for an iterable of blocks (X, y).")
            if row_groups is not None:
                raise ValueError("row_groups must be None for an iterable of blocks (X, y).")
            return BlockSource(X)
    return None
