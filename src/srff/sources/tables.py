"""Files that pyarrow reads: Parquet, CSV, Arrow; one, many, a folder or a pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from srff.sources.base import CHUNK_ROWS, Chunk, Source

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

COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


class TableSource(Source):
    """Tables of numbers in files, all with the same columns, in any order of them."""

    def __init__(self, paths: Any, target: str, weight: str | None = None) -> None:
        self._files = [(path, file_state(path)) for path in expanded(paths)]
        self._target, self._weight = target, weight
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
                    piece = TablePiece(name, batches, self.names, target, weight, self._dtype)
                    self._pieces.append(piece)
        self.n_rows = None if None in counts else sum(c for c in counts if c is not None)

    def _check(self, path: str, schema: Any) -> None:
        """The columns of the first file are the inputs; any other file must have them all."""
        import pyarrow as pa

        if self.names is None:
            taken = {self._target, self._weight}
            self.names = tuple(name for name in schema.names if name not in taken)
            self.n_features = len(self.names)
            single = all(schema.field(n).type == pa.float32() for n in self.names)
            self._dtype = np.dtype(np.float32 if single else np.float64)
            if not self.names:
                raise ValueError(f"{path}: there is no column beside the target.")
        for name in (*self.names, self._target, *([self._weight] if self._weight else [])):
            if schema.names.count(name) != 1:
                found = "more than one column" if name in schema.names else "no column"
                raise ValueError(f"{path}: there is {found} {name!r}.")
            kind = schema.field(name).type
            t = pa.types
            if not any(
                is_(kind) for is_ in (t.is_integer, t.is_floating, t.is_boolean, t.is_decimal)
            ):
                raise ValueError(f"{path}: column {name!r} holds {kind}, not numbers.")

    def pieces(self) -> list[TablePiece]:
        """Row groups of Parquet files, whole files of other kinds."""
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
    target: str = field(repr=False)
    weight: str | None = field(repr=False)
    dtype: np.dtype = field(repr=False)

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows, read as they are asked for; no other column is read."""
        inputs = self.inputs if columns is None else [self.inputs[i] for i in columns]
        wanted = [*inputs, self.target, *([self.weight] if self.weight else [])]
        try:
            for batch in self.batches(wanted):
                if batch.num_rows:
                    yield self._chunk(batch, inputs)
        except (OSError, ValueError) as error:
            if type(error) is ValueError and str(error).startswith(self.name):
                raise
            raise ValueError(f"{self.name}: cannot be read: {error}") from None

    def _chunk(self, batch: Any, inputs: Sequence[str]) -> Chunk:
        X = matrix(batch, inputs, self.dtype)
        weight = numbers(batch, self.weight) if self.weight else None
        return Chunk(X, numbers(batch, self.target)[:, None], weight)


def _numbers_as_double(schema: Any) -> Any:
    """The csv format with whole numbers as floats.

    pyarrow takes a column's type from the first rows: later ones may have a fraction.
    """
    import pyarrow as pa
    from pyarrow import csv, dataset

    types = {f.name: pa.float64() for f in schema if pa.types.is_integer(f.type)}
    return dataset.CsvFileFormat(convert_options=csv.ConvertOptions(column_types=types))


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
