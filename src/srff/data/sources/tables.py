"""Files that pyarrow reads: Parquet, CSV, Arrow; one, many, a folder or a pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from srff.data.encoding.frames import CATEGORY, NUMBER, arrow_kind
from srff.data.sources.base import CHUNK_ROWS, Chunk, Raw, Source

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "ipc",
    ".ipc": "ipc",
    ".feather": "ipc",
}
BUFFER_BYTES = 2**16
"""Bytes of a column of a Parquet file that are read at a time."""

Rows = TypeVar("Rows")

COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


class TableSource(Source):
    """Tables in files, all with the same columns, in any order of them.

    ``target`` is the name of the target's column, or a list of such.  Text is read by
    :meth:`learn` and :meth:`mapped`; :meth:`pieces` are of numbers alone.
    """

    def __init__(self, paths: Any, target: str | Sequence[str], weight: str | None = None) -> None:
        self._files = [(path, file_state(path)) for path in expanded(paths)]
        self._targets = (target,) if isinstance(target, str) else tuple(target)
        self.n_targets, self._weight = len(self._targets), weight
        self._types: dict[str, tuple[str, Any]] = {}
        self._pieces: list[TablePiece] = []
        dataset = _import_dataset()
        counts: list[int | None] = []
        for path, _ in self._files:
            if os.path.getsize(path) == 0:
                raise ValueError(f"{path}: the file is empty.")
            kind = file_format(path)
            try:
                table = dataset.dataset(path, format=kind)
                if kind == "csv":
                    table = dataset.dataset(path, format=_numbers_as_double(table.schema))
                fragments = list(table.get_fragments())
                schema = table.schema
            except (OSError, ValueError) as error:
                raise ValueError(f"{path}: cannot be read as {kind}: {error}") from None
            self._check(path, schema)
            for fragment in fragments:
                counts.append(fragment.count_rows() if kind != "csv" else None)
                groups: list[tuple[str, Any]] = [(path, Scanned(fragment))]
                if kind == "parquet":
                    metadata = fragment.metadata
                    groups = [
                        (f"{path}, row group {number}", RowGroup(path, metadata, number))
                        for number in range(metadata.num_row_groups)
                    ]
                for name, batches in groups:
                    assert self.names is not None
                    piece = TablePiece(
                        name, batches, self.names, self._targets, weight, self._dtype
                    )
                    self._pieces.append(piece)
        self.n_rows = None if None in counts else sum(c for c in counts if c is not None)

    def _check(self, path: str, schema: Any) -> None:
        """The columns of the first file are the inputs; any other file must have them all."""
        import pyarrow as pa

        if self.names is None:
            taken = {*self._targets, self._weight}
            self.names = tuple(name for name in schema.names if name not in taken)
            self.n_features = len(self.names)
            single = all(schema.field(n).type == pa.float32() for n in self.names)
            self._dtype = np.dtype(np.float32 if single else np.float64)
            if not self.names:
                raise ValueError(f"{path}: there is no column beside the target.")
        for name in (*self.names, *self._targets, *([self._weight] if self._weight else [])):
            if schema.names.count(name) != 1:
                found = "more than one column" if name in schema.names else "no column"
                raise ValueError(f"{path}: there is {found} {name!r}.")
            dtype = schema.field(name).type
            kind = arrow_kind(dtype)
            if kind == str(dtype) or (kind == CATEGORY and name == self._weight):
                raise ValueError(f"{path}: column {name!r} holds {dtype}, not numbers.")
            if pa.types.is_null(dtype):
                continue  # a column without values is of any kind
            before = self._types.setdefault(name, (kind, f"{path}: column {name!r} holds {dtype}"))
            if (kind == CATEGORY) != (before[0] == CATEGORY):
                accepted = "text" if before[0] == CATEGORY else "numbers"
                raise ValueError(f"{path}: column {name!r} holds {dtype}, not {accepted}.")

    @property
    def kinds(self) -> tuple[str, ...]:
        """By the types in the files."""
        return self._kinds(self.names or ())

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """By the types in the files."""
        return self._kinds(self._targets)

    def _kinds(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._types[name][0] if name in self._types else NUMBER for name in names)

    def pieces(self) -> list[TablePiece]:
        """Row groups of Parquet files, whole files of other kinds; an error if there is text."""
        self._refuse_text(self._types)
        return self.raw_pieces()

    def refuse_text_targets(self) -> None:
        """Raise an error that names file and column."""
        self._refuse_text(self._targets)

    def _refuse_text(self, names: Iterable[str]) -> None:
        for name in names:
            kind, where = self._types.get(name, (NUMBER, ""))
            if kind == CATEGORY:
                raise ValueError(f"{where}, not numbers.")

    def raw_pieces(self) -> list[TablePiece]:
        """The same, text or not."""
        for path, state in self._files:
            if file_state(path) != state:
                raise ValueError(f"{path}: the file has changed since the fit began.")
        return self._pieces


@dataclass(frozen=True)
class Scanned:
    """A file as pyarrow's scanner gives it."""

    fragment: Any = field(repr=False)

    def __call__(self, columns: list[str]) -> Iterator[Any]:
        """Batches of rows in these columns."""
        # The caller's threads read pieces side by side already.
        yield from self.fragment.to_batches(
            columns=columns,
            batch_size=CHUNK_ROWS,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
        )


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file, decoded page by page.

    pyarrow's scanner would hold several times the whole of it, however few rows it is asked for.
    """

    path: str
    metadata: Any = field(repr=False)
    number: int

    def __call__(self, columns: list[str]) -> Iterator[Any]:
        """Batches of rows in these columns, and perhaps in others."""
        from pyarrow import parquet

        with parquet.ParquetFile(
            self.path, metadata=self.metadata, buffer_size=BUFFER_BYTES, pre_buffer=False
        ) as file:
            yield from file.iter_batches(
                CHUNK_ROWS, row_groups=[self.number], columns=columns, use_threads=False
            )


@dataclass(frozen=True)
class TablePiece:
    """A row group, or a file."""

    name: str
    batches: Any = field(repr=False)
    inputs: tuple[str, ...] = field(repr=False)
    target: str | tuple[str, ...] = field(repr=False)
    weight: str | None = field(repr=False)
    dtype: np.dtype = field(repr=False)

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows, read as they are asked for; no other column is read."""
        inputs = self._inputs(columns)

        def chunk(batch: Any) -> Chunk:
            X, Y = matrix(batch, inputs, self.dtype), matrix(batch, self._targets)
            return Chunk(X, Y, self._weights(batch))

        return self._read(inputs, chunk)

    def raw(self, columns: np.ndarray | None = None) -> Iterator[Raw]:
        """The rows as batches of pyarrow."""
        inputs = self._inputs(columns)

        def raw(batch: Any) -> Raw:
            return Raw(batch.select(inputs), batch.select(self._targets), self._weights(batch))

        return self._read(inputs, raw)

    @property
    def _targets(self) -> list[str]:
        return [self.target] if isinstance(self.target, str) else list(self.target)

    def _inputs(self, columns: np.ndarray | None) -> list[str]:
        return list(self.inputs if columns is None else [self.inputs[i] for i in columns])

    def _weights(self, batch: Any) -> np.ndarray | None:
        return numbers(batch, self.weight) if self.weight else None

    def _read(self, inputs: list[str], made: Callable[[Any], Rows]) -> Iterator[Rows]:
        wanted = [*inputs, *self._targets, *([self.weight] if self.weight else [])]
        try:
            for batch in self.batches(wanted):
                if batch.num_rows:
                    yield made(batch)
        except (OSError, ValueError) as error:
            if type(error) is ValueError and str(error).startswith(self.name):
                raise
            raise ValueError(f"{self.name}: cannot be read: {error}") from None


def _numbers_as_double(schema: Any) -> Any:
    """The csv format with whole numbers as floats, and text that is empty or NA as missing.

    pyarrow takes a column's type from the first rows: later ones may have a fraction, and a column
    without values there may have some.
    """
    import pyarrow as pa
    from pyarrow import csv, dataset

    t = pa.types
    types = {f.name: pa.float64() for f in schema if t.is_integer(f.type) or t.is_null(f.type)}
    options = csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    return dataset.CsvFileFormat(convert_options=options)


def numbers(batch: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """A column of a batch as NumPy numbers; missing values as NaN."""
    import pyarrow as pa

    column = batch.column(batch.schema.get_field_index(name))
    kind = pa.float32() if dtype == np.float32 else pa.float64()
    if column.type != kind:
        column = column.cast(kind, safe=False)
    return column.to_numpy(zero_copy_only=False)


def matrix(batch: Any, names: Sequence[str], dtype: Any = np.float64) -> np.ndarray:
    """Some columns of a batch as a matrix, column by column."""
    X = np.empty((batch.num_rows, len(names)), dtype=dtype, order="F")
    for i, name in enumerate(names):
        X[:, i] = numbers(batch, name, dtype)
    return X


def _import_dataset() -> Any:
    try:
        import pyarrow.dataset
    except ImportError:
        raise ImportError("Reading files needs pyarrow: pip install 'srff[data]'.") from None
    return pyarrow.dataset


def expanded(paths: Any) -> list[str]:
    """Files in a fixed order from a path, a folder, a pattern or a list of such."""
    if isinstance(paths, list | tuple):
        return [file for path in paths for file in expanded(path)]
    path = os.fspath(paths)
    if os.path.isdir(path):
        files = [str(p) for p in Path(path).rglob("*") if p.is_file() and _is_table(p)]
    elif glob.has_magic(path) and not os.path.exists(path):
        files = [p for p in glob.glob(path, recursive=True) if os.path.isfile(p)]
    else:
        files = [path]
    if not files:
        raise FileNotFoundError(f"{path}: there is no Parquet, CSV or Arrow file here.")
    return sorted(files)


def _is_table(path: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.parts[-1:])
    return not hidden and _kind(str(path)) is not None


def _kind(path: str) -> str | None:
    stem, extension = os.path.splitext(path.lower())
    if extension in COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return FORMATS.get(extension)


def file_format(path: str) -> str:
    """What pyarrow calls a file of this name; an error if it knows none."""
    kind = _kind(path)
    if kind is None:
        accepted = ", ".join(FORMATS)
        raise ValueError(f"{path}: unknown kind of file; known are {accepted}.")
    return kind


def file_state(path: str) -> tuple[int, int]:
    """What tells a file that was written anew."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise FileNotFoundError(f"{path}: {error.strerror or error}.") from None
    return status.st_size, status.st_mtime_ns
