"""Rows of a Dask array or data frame: its partitions are the pieces."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np

from srff._utils.arrays import refuse_times
from srff._utils.threads import one_blas_thread
from srff.data.encoding.columns import Encoding
from srff.data.encoding.outcome import Outcome
from srff.data.encoding.table_columns import BOOLEAN, CATEGORY, DATE, NUMBER, columns_of
from srff.data.sources.arrays import ArrayPiece, FramePiece
from srff.data.sources.base import Chunk, PieceWork, Reading, Result, Source, UncodedRows
from srff.data.sources.dask_graph import gathered, on_partitions
from srff.data.sources.facts import TableFacts
from srff.data.sources.steady import Seen

Partition = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Inputs, targets and weights of one partition."""


def is_dask(X: Any) -> bool:
    """Whether this is a Dask collection."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def is_names(y: Any) -> bool:
    """Whether this is a list of names of columns."""
    return isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)


class DaskSource(Source):
    """Partitions of a Dask array or data frame.

    ``y``, ``weight`` and ``row_groups`` are collections of the same partitions, or of a data frame
    the names of columns; ``y`` may be a list of names, or a collection of two dimensions.
    ``client`` is the client of ``dask.distributed`` that is in use; passes are then made on its
    workers.  Without one, partitions are computed in this process when they are asked for.
    """

    def __init__(self, X: Any, y: Any, weight: Any = None, row_groups: Any = None) -> None:
        self.client = current_client()
        self._frame = hasattr(X, "columns")
        self._reading: Reading | None = None
        self._seen: tuple[Seen, ...] | None = None
        if not (row_groups is None or isinstance(row_groups, str) or is_dask(row_groups)):
            raise ValueError("row_groups must be the name of a column, or a Dask collection.")
        named = [name for name in (*_names(y), weight, row_groups) if isinstance(name, str)]
        for name in named:
            if not self._frame:
                raise ValueError(f"{name!r} names a column, which only a Dask data frame has.")
            if list(X.columns).count(name) != 1:
                raise ValueError(f"There is no one column {name!r} in the data frame.")
        if not (_names(y) or is_dask(y)):
            raise ValueError(
                f"y={y!r} must be a Dask collection or the name of a column, or a list of names."
            )
        self._X, self._y, self._weight, self._groups = X, y, weight, row_groups
        self.weighted, self.grouped = weight is not None, row_groups is not None
        if self._frame:
            inputs = [name for name in X.columns if name not in named]
            self._inputs = inputs
            self.names = tuple(map(str, inputs))
            self.n_features = len(inputs)
        else:
            if getattr(X, "ndim", 0) != 2:
                what = f"{type(X).__name__} of {getattr(X, 'ndim', 'no')} dimensions"
                raise ValueError(f"X is a Dask {what}; an array of 2 is needed, or a data frame.")
            self.n_features = X.shape[1]
            self._X = _one_block_wide(X)
            if not np.isnan(X.shape[0]):
                self.n_rows = int(X.shape[0])
        if not self.n_features:
            raise ValueError("There is no column beside the target.")
        if is_dask(y) and getattr(y, "ndim", 1) == 2:
            self.n_targets = y.shape[1]
            self._y = y if hasattr(y, "columns") else _one_block_wide(y)
        else:
            self.n_targets = max(len(_names(y)), 1)
        self._check_kinds()
        self._all: list[Any] | None = None
        self._uncoded: tuple[list[int] | None, list[Any]] | None = None

    def _check_kinds(self) -> None:
        """Refuse columns that are neither numbers nor categories."""
        if not self._frame:
            return
        weights = [self._weight] if isinstance(self._weight, str) else []
        for name in [*self._inputs, *_names(self._y), *weights]:
            accepted = [NUMBER, BOOLEAN]
            accepted += [] if name in weights else [CATEGORY]
            accepted += [DATE] if name in self._inputs else []
            if self._kind(name) not in accepted:
                self._refuse(name)

    def refuse_text_targets(self) -> None:
        """Raise an error that names the column, where it is one of the data frame's."""
        self._refuse_text(_names(self._y))
        super().refuse_text_targets()

    def _refuse_text(self, names: list[Any]) -> None:
        for name in names:
            if self._kind(name) == CATEGORY:
                self._refuse(name)

    def _refuse(self, name: Any) -> None:
        raise ValueError(f"Column {name!r} holds {self._X.dtypes[name]}, not numbers.")

    def _kind(self, name: Any) -> str:
        if self._X.dtypes[name] == np.dtype(object):
            return CATEGORY  # what the objects are is not known before they are read
        return columns_of(self._X._meta[[name]])[0].kind

    @property
    def kinds(self) -> tuple[str, ...]:
        """By the types of the columns."""
        if self._reading is not None or not self._frame:
            return (NUMBER,) * self.n_features
        return tuple(map(self._kind, self._inputs))

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """By the types of the targets."""
        if self._reading is not None:
            return (NUMBER,) * self.n_targets
        names = _names(self._y)
        if names:
            return tuple(map(self._kind, names))
        dtype = getattr(self._y, "dtype", None)
        numbers = dtype is None or getattr(dtype, "kind", "O") in "biuf"
        return (NUMBER if numbers else CATEGORY,) * self.n_targets

    def mapped(
        self,
        encoding: Encoding | None = None,
        outcome: Outcome | None = None,
        facts: TableFacts | None = None,
    ) -> DaskSource:
        """The same partitions, encoded by whoever reads them: see :meth:`Source.mapped`."""
        source = copy.copy(self)
        reading = self.reading(encoding, outcome, facts)
        source._reading, source._all = reading, None
        source.n_features, source.names = reading.n_features, reading.encoded_names
        if outcome is not None:
            source.n_targets = outcome.width
        return source

    def row_groups(self) -> np.ndarray | None:
        """Their column, computed."""
        groups = self._X[self._groups] if isinstance(self._groups, str) else self._groups
        return None if groups is None else np.asarray(groups.compute())

    def steady(self, seen: tuple[Seen, ...]) -> DaskSource:
        """The same partitions, compared with what the first pass saw by whoever reads them."""
        source = copy.copy(self)
        source._seen, source._all = seen, None
        return source

    def partitions(self, columns: np.ndarray | None = None) -> list[Any]:
        """Each partition as a delayed :data:`Partition`, in all columns or in some."""
        if columns is not None:
            return self._delayed(columns)
        if self._all is None:
            self._all = self._delayed(None)
        return self._all

    def uncoded_partitions(self, columns: np.ndarray | None = None) -> list[Any]:
        """Each partition as a delayed :class:`UncodedRows`."""
        from dask.delayed import delayed

        asked = None if columns is None else columns.tolist()
        if self._uncoded is None or self._uncoded[0] != asked:
            work = delayed(uncoded_partition, pure=False)
            each = enumerate(self._arrays(columns))
            self._uncoded = asked, [work(number, *arrays) for number, arrays in each]
        return self._uncoded[1]

    def pieces(self) -> Iterator[DaskPiece]:
        """The partitions, each computed when it is read."""
        return (DaskPiece(k, self) for k in range(len(self.partitions())))

    def uncoded_pieces(self) -> Iterator[DaskPiece]:
        """The partitions as they are."""
        return (DaskPiece(k, self) for k in range(self._X.npartitions))

    def over_pieces(
        self, work: PieceWork[Result], columns: np.ndarray | None, n_threads: int = 1
    ) -> Iterator[Result]:
        """By the workers, where there are any: see :meth:`Source.over_pieces`."""
        if self.client is None:
            return super().over_pieces(work, columns, n_threads)
        partitions = self.uncoded_partitions(columns)
        return on_partitions(self.client, PartitionWork(work), partitions)

    def _delayed(self, columns: np.ndarray | None) -> list[Any]:
        from dask.delayed import delayed

        reading, work, asked = self._reading, partition, columns
        if reading is None:
            self._refuse_text([*(self._inputs if self._frame else []), *_names(self._y)])
        else:
            if columns is not None:
                columns, reading = reading.take(columns)
            work = ReadPartition(reading)
        shared = delayed(work, traverse=False, pure=False)
        made = [shared(number, *arrays) for number, arrays in enumerate(self._arrays(columns))]
        if self._seen is None:
            return made
        if len(made) != len(self._seen):
            raise ValueError(f"There are {len(made)} partitions; first {len(self._seen)}.")
        same = delayed(same_partition, pure=False)
        pairs = zip(made, self._seen, strict=True)
        return [same(one, number, seen, asked) for number, (one, seen) in enumerate(pairs)]

    def _arrays(self, columns: np.ndarray | None) -> Iterator[tuple[Any, ...]]:
        """The delayed arrays, or names of columns, of each partition, and what a frame has."""
        X, wanted = self._X, None
        if self._frame:
            inputs = self._inputs if columns is None else [self._inputs[i] for i in columns]
            weights = [self._weight] if isinstance(self._weight, str) else []
            wanted = [*inputs, *_names(self._y), *weights]
            X = X[wanted]
        elif columns is not None:
            X = X[:, columns]
        each = [_parts(X)]
        for other in (self._y, self._weight):
            parts = _parts(other) if is_dask(other) else [other] * len(each[0])
            if len(parts) != len(each[0]):
                counts = f"X has {len(each[0])}, another has {len(parts)}"
                raise ValueError(f"X, y and sample_weight have different partitions: {counts}.")
            each.append(parts)
        return zip(*each, [wanted] * len(each[0]), strict=True)


def _names(y: Any) -> list[str]:
    """The names of columns that were given for the target; none if it is a collection."""
    if isinstance(y, str):
        return [y]
    return list(y) if is_names(y) else []


def _one_block_wide(array: Any) -> Any:
    return array.rechunk({1: -1}) if array.numblocks[1] > 1 else array


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
        X, Y, weight = self._computed(self._source.partitions()[self._number])
        return ArrayPiece(X, Y, weight, 0, self.name).chunks(columns)

    def uncoded(self, columns: np.ndarray | None = None) -> Iterator[UncodedRows]:
        """The rows as they are, computed now."""
        rows = self._computed(self._source.uncoded_partitions(columns)[self._number])
        return frame_piece(rows, self._number).uncoded()

    def _computed(self, work: Any) -> Any:
        client = self._source.client
        if client is None:
            # Threads of the caller compute partitions side by side already.
            return work.compute(scheduler="synchronous")
        return gathered(client, work)


def partition_name(number: int) -> str:
    """What an error calls a partition."""
    return f"partition {number}"


def frame_piece(rows: UncodedRows, number: int) -> FramePiece:
    """A partition as a piece."""
    return FramePiece(rows.X, rows.y, rows.weight, partition_name(number))


@dataclass(frozen=True)
class PartitionWork(Generic[Result]):
    """What a worker does with a partition that need not be numbers."""

    work: PieceWork[Result]

    def __call__(self, rows: UncodedRows, number: int) -> Result:
        """The result of one partition."""
        piece = frame_piece(rows, number)
        with one_blas_thread():
            return self.work(piece.uncoded(), piece, number)


def in_order(part: Any, number: int, columns: list[Any]) -> Any:
    """A partition of a frame in the columns that the frame says it has."""
    found = list(part.columns)
    if found == columns:
        return part
    for name in columns:
        if found.count(name) != 1:
            raise ValueError(
                f"{partition_name(number)} has {found.count(name) or 'no'} column {name!r}, though "
                "the data frame's metadata has one."
            )
    return part[columns]


def same_partition(
    rows: Partition, number: int, seen: Seen, columns: np.ndarray | None
) -> Partition:
    """A partition, in all columns or in some, if it is what the first pass saw."""
    X, Y, weight = rows
    for _ in seen.check([Chunk(X, Y, weight)], partition_name(number), columns):
        pass
    return rows


def uncoded_partition(
    number: int, X: Any, y: Any, weight: Any, columns: list[Any] | None = None
) -> UncodedRows:
    """One partition as it is; ``y`` and ``weight`` may be names of columns of ``X``.

    ``columns`` are those of a frame, as its metadata says.
    """
    name = partition_name(number)
    if columns is not None:
        X = in_order(X, number, columns)
    named = [n for n in (*_names(y), weight) if isinstance(n, str)]
    target = X[_names(y)] if _names(y) else y
    w = X[weight] if isinstance(weight, str) else weight
    inputs = X.drop(columns=named) if named else X
    if getattr(target, "ndim", 2) == 1:
        target = target.to_frame("y") if hasattr(target, "to_frame") else target[:, None]
    if w is not None:
        w = _vector(w, name, weight if isinstance(weight, str) else "sample_weight")
    for what, other in (("y", target), ("sample_weight", w)):
        if other is not None and other.shape[0] != inputs.shape[0]:
            rows = f"X has {inputs.shape[0]} rows, {what} has {other.shape[0]}"
            raise ValueError(f"{name}: {rows}.")
    return UncodedRows(inputs, target, w)


def partition(
    number: int, X: Any, y: Any, weight: Any, columns: list[Any] | None = None
) -> Partition:
    """One partition of numbers as arrays."""
    name, rows = partition_name(number), uncoded_partition(number, X, y, weight, columns)
    inputs, target = _numbers(rows.X, name, "X"), _numbers(rows.y, name, _target_name(y))
    return inputs, target.astype(np.float64), rows.weight


class ReadPartition:
    """One partition, encoded."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def __call__(
        self, number: int, X: Any, y: Any, weight: Any, columns: list[Any] | None = None
    ) -> Partition:
        """The arrays."""
        rows = uncoded_partition(number, X, y, weight, columns)
        chunk = self._reading(rows, frame_piece(rows, number), 0)
        return chunk.X, chunk.Y, chunk.weight


def _target_name(y: Any) -> str:
    return y if isinstance(y, str) else "y"


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
    refuse_times(array, f"{name}: {what}")
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
    if not isinstance(parts, np.ndarray) and len(parts) != collection.npartitions:
        parts = collection.simplify().to_delayed(optimize_graph=False)
    return list(np.ravel(parts)) if isinstance(parts, np.ndarray) else list(parts)


def current_client() -> Any:
    """The client of ``dask.distributed`` that is in use; None if there is none."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None
