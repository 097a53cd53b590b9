"""Rows of a Dask array or data frame: its partitions are the pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from srff.sources.arrays import ArrayPiece
from srff.sources.base import Chunk, Source

Partition = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Inputs, targets and weights of one partition."""


def is_dask(X: Any) -> bool:
    """Whether this is a Dask collection."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


class DaskSource(Source):
    """Partitions of a Dask array or data frame.

    ``y`` and ``weight`` are collections of the same partitions, or of a data frame the names of
    columns.  ``client`` is the client of ``dask.distributed`` that is in use; passes are then made
    on its workers.  Without one, partitions are computed in this process when they are asked for.
    """

    def __init__(self, X: Any, y: Any, weight: Any = None) -> None:
        self.client = current_client()
        self._frame = hasattr(X, "columns")
        named = [name for name in (y, weight) if isinstance(name, str)]
        for name in named:
            if not self._frame:
                raise ValueError(f"{name!r} names a column, which only a Dask data frame has.")
            if list(X.columns).count(name) != 1:
                raise ValueError(f"There is no one column {name!r} in the data frame.")
        if y is None:
            raise ValueError("y=None must be a Dask collection or the name of a column.")
        self._X, self._y, self._weight = X, y, weight
        if self._frame:
            inputs = [name for name in X.columns if name not in named]
            self._inputs = inputs
            self.names = tuple(map(str, inputs))
            self.n_features = len(inputs)
            self._check_kinds()
        else:
            if getattr(X, "ndim", 0) != 2:
                what = f"{type(X).__name__} of {getattr(X, 'ndim', 'no')} dimensions"
                raise ValueError(f"X is a Dask {what}; an array of 2 is needed, or a data frame.")
            self.n_features = X.shape[1]
            if X.numblocks[1] > 1:
                self._X = X.rechunk({1: -1})
            if not np.isnan(X.shape[0]):
                self.n_rows = int(X.shape[0])
        if not self.n_features:
            raise ValueError("There is no column beside the target.")
        self._all = self._delayed(None)

    def _check_kinds(self) -> None:
        for name in [*self._inputs, *(n for n in (self._y, self._weight) if isinstance(n, str))]:
            kind = self._X.dtypes[name]
            if getattr(kind, "kind", "O") not in "fiub":
                raise ValueError(f"Column {name!r} holds {kind}, not numbers.")

    def partitions(self, columns: np.ndarray | None = None) -> list[Any]:
        """Each partition as a delayed :data:`Partition`, in all columns or in some."""
        return self._all if columns is None else self._delayed(columns)

    def pieces(self) -> Iterator[DaskPiece]:
        """The partitions, each computed when it is read."""
        return (DaskPiece(k, self) for k in range(len(self._all)))

    def _delayed(self, columns: np.ndarray | None) -> list[Any]:
        from dask.delayed import delayed

        X = self._X
        if self._frame:
            inputs = self._inputs if columns is None else [self._inputs[i] for i in columns]
            X = X[[*inputs, *(name for name in (self._y, self._weight) if isinstance(name, str))]]
        elif columns is not None:
            X = X[:, columns]
        each = [_parts(X)]
        for other in (self._y, self._weight):
            parts = _parts(other) if is_dask(other) else [other] * len(each[0])
            if len(parts) != len(each[0]):
                counts = f"X has {len(each[0])}, another has {len(parts)}"
                raise ValueError(f"X, y and sample_weight have different partitions: {counts}.")
            each.append(parts)
        return [
            delayed(partition, pure=False)(number, *arrays)
            for number, arrays in enumerate(zip(*each, strict=True))
        ]


class DaskPiece:
    """One partition."""

    def __init__(self, number: int, source: DaskSource) -> None:
        self._number, self._source = number, source

    @property
    def name(self) -> str:
        """Its number."""
        return partition_name(self._number)

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows, computed now."""
        work, client = self._source.partitions()[self._number], self._source.client
        if client is None:
            # Threads of the caller compute partitions side by side already.
            X, Y, weight = work.compute(scheduler="synchronous")
        else:
            from srff.engines.cluster import gathered

            X, Y, weight = gathered(client, work)
        return ArrayPiece(X, Y, weight, 0, self.name).chunks(columns)


def partition_name(number: int) -> str:
    """What an error calls a partition."""
    return f"partition {number}"


def partition(number: int, X: Any, y: Any, weight: Any) -> Partition:
    """One partition as arrays; ``y`` and ``weight`` may be names of columns of ``X``."""
    name = partition_name(number)
    vectors = []
    for what, values in (("y", y), ("sample_weight", weight)):
        if isinstance(values, str):
            what, values, X = values, X[values], X.drop(columns=[values])
        vectors.append(None if values is None else _vector(values, name, what))
    inputs = _numbers(X, name, "X")
    for what, vector in zip(("y", "sample_weight"), vectors, strict=True):
        if vector is not None and vector.size != inputs.shape[0]:
            rows = f"X has {inputs.shape[0]} rows, {what} has {vector.size}"
            raise ValueError(f"{name}: {rows}.")
    target, w = vectors
    assert target is not None
    return inputs, target[:, None], w


def _vector(values: Any, name: str, what: str) -> np.ndarray:
    array = _numbers(values, name, what).astype(np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name}: {what} has {array.ndim} dimensions, not one.")
    return array


def _numbers(values: Any, name: str, what: str) -> np.ndarray:
    """NumPy numbers of a partition; missing ones as NaN."""
    array = np.asarray(values)
    if array.dtype in (np.float32, np.float64):
        return array
    try:
        if array.dtype == object and hasattr(values, "to_numpy"):
            array = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {what} holds something else than numbers: {error}") from None


def _parts(collection: Any) -> list[Any]:
    """The partitions as delayed objects.

    Dask would join small partitions of Parquet files where few columns are read: the number of
    partitions, and with it the order of every sum, must not depend on the columns.
    """
    import dask

    with dask.config.set({"dataframe.parquet.minimum-partition-size": 0}):
        parts = collection.to_delayed()
    return list(np.ravel(parts)) if isinstance(parts, np.ndarray) else list(parts)


def current_client() -> Any:
    """The client of ``dask.distributed`` that is in use; None if there is none."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None
