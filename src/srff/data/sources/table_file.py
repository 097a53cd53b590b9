"""One file of a table, by pyarrow: its columns, what they hold, and its rows piece by piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from srff._utils.text import one_line, shown
from srff.data.encoding.table_columns import BOOLEAN, CATEGORY, DATE, NUMBER, arrow_kind
from srff.data.sources.base import CHUNK_ROWS
from srff.data.sources.batches import Batches
from srff.data.sources.files import file_state

BUFFER_BYTES = 2**16
"""Bytes of a column of a Parquet file that are read at a time."""


NOT_UTF8 = (
    "the text is not in the encoding that its start looks like; name the encoding, such as cp1252 "
    "or utf-16 (--encoding; srff.CsvFiles in Python)."
)


class TableError(ValueError):
    """A file that cannot be read as a table."""


class TextAmongNumbers(TableError):
    """A text far below the rows by which a column of a text file was taken for numbers."""

    def __init__(self, label: str, column: str, value: str) -> None:
        self.column, self.reason = column, f"it holds text such as {shown(value)}"
        super().__init__(f"{label}: column {shown(column)} cannot be used: {self.reason}.")


@contextmanager
def readable(label: str, kind: str) -> Iterator[None]:
    """Turn what pyarrow says of a bad file into a sentence that names it."""
    import pyarrow as pa

    try:
        yield
    except TableError:
        raise
    except UnicodeDecodeError:
        raise TableError(f"{label}: {NOT_UTF8}") from None
    except pa.ArrowMemoryError:
        what = f"{label}: cannot be read as {kind}: it asks for too much memory."
        raise TableError(what) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        text = one_line(str(error), 250)
        raise TableError(f"{label}: cannot be read as {kind}: {text}") from None


@dataclass(frozen=True)
class FilePiece:
    """A row group of a Parquet file, a whole file of another kind."""

    name: str
    """What errors call it."""
    kind: str
    rows: Batches = field(repr=False)

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Batches of rows in these columns, and perhaps in others."""
        with readable(self.name, self.kind):
            yield from self.rows(columns)


class TableFile(ABC):
    """A file: its columns, why some are not values, and its rows piece by piece.

    ``label`` is what errors call it, ``types`` are those that columns are read as, and ``unfit``
    says of a column why its values are neither numbers nor categories.
    """

    n_rows: int | None = None
    """The number of rows, where the file tells it."""

    def __init__(self, path: str, label: str) -> None:
        self.path, self.label, self.state = path, label, file_state(path)
        self.names: list[str] = []
        self.types: dict[str, Any] = {}
        self.unfit: dict[str, str] = {}
        self.examples: dict[str, str] = {}

    def kind(self, name: str) -> str:
        """What a column is read as: see :mod:`srff.data.encoding.table_columns`."""
        return arrow_kind(self.types[name])

    def pieces(self) -> list[FilePiece]:
        """The rows; an error if they are no longer those that were first read."""
        if file_state(self.path) != self.state:
            raise TableError(f"{self.label}: the file has changed since it was first read.")
        return self._pieces()

    @abstractmethod
    def _pieces(self) -> list[FilePiece]:
        """The rows, whatever has become of the file."""

    def _note_unfit(self) -> None:
        reasons = {name: _why_not_values(dtype) for name, dtype in self.types.items()}
        self.unfit = {name: reason for name, reason in reasons.items() if reason}


def _why_not_values(dtype: Any) -> str | None:
    """Why a column of this type holds neither numbers nor categories."""
    import pyarrow as pa

    t = pa.types
    if t.is_null(dtype):
        return "it has no values"
    if t.is_dictionary(dtype):
        return _why_not_values(dtype.value_type)
    if arrow_kind(dtype) in (NUMBER, BOOLEAN, CATEGORY, DATE):
        return None
    if any(is_(dtype) for is_ in (t.is_temporal, t.is_date, t.is_time)):
        return "it holds durations, or times without a date"
    return f"it holds {one_line(str(dtype), 40)}"


class TypedFile(TableFile):
    """Parquet and Arrow: the file says what its columns are."""

    def __init__(self, path: str, label: str, kind: str) -> None:
        from pyarrow import dataset

        super().__init__(path, label)
        with readable(label, kind):
            data = dataset.dataset(path, format=kind)
            self.names = data.schema.names
            self.types = dict(zip(data.schema.names, data.schema.types, strict=True))
            (fragment,) = data.get_fragments()
            self.n_rows = fragment.count_rows()
            self._parts = [FilePiece(label, kind, Scanned(fragment))]
            if kind == "parquet":
                metadata = fragment.metadata
                self._parts = [
                    FilePiece(f"{label}, row group {k}", kind, RowGroup(path, metadata, k))
                    for k in range(metadata.num_row_groups)
                ]
        self._note_unfit()

    def _pieces(self) -> list[FilePiece]:
        return self._parts


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
