"""Tables in files, and their rows for a fit: Parquet, csv, Arrow; one file or many."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from srff._utils.text import listed, shown
from srff.data.encoding.table_columns import BOOLEAN, CATEGORY, DATE, NUMBER
from srff.data.sources.base import Chunk, Source, UncodedRows
from srff.data.sources.batches import Batches, complete_rows, matrix, numbers, plain_values
from srff.data.sources.csv_dialect import CsvFiles, Guess
from srff.data.sources.csv_file import CsvFile
from srff.data.sources.files import expanded, file_format, file_state
from srff.data.sources.table_file import (
    FilePiece,
    TableError,
    TableFile,
    TextAmongNumbers,
    TypedFile,
)

Rows = TypeVar("Rows")

_PLURAL = {NUMBER: "numbers", BOOLEAN: "true and false", CATEGORY: "text", DATE: "dates"}


def open_table(paths: Any, label: str | None = None) -> Table:
    """The table of a path, a folder, a pattern, a list of such, or of :class:`CsvFiles`.

    ``label`` is what errors call it.
    """
    asked = paths if isinstance(paths, CsvFiles) else CsvFiles(paths)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError("Reading tables needs pyarrow: pip install 'srff[data]'.") from None
    return Table([_open_file(path, label or path, asked) for path in expanded(asked.paths)])


def _open_file(path: str, label: str, asked: CsvFiles) -> TableFile:
    if file_state(path)[0] == 0:
        raise TableError(f"{label}: the file is empty.")
    kind = file_format(path)
    return CsvFile(path, label, asked) if kind == "csv" else TypedFile(path, label, kind)


class Table:
    """One file or many with the same columns, in any order of them.

    A column of text files is one of text if it is so in any of them.
    """

    def __init__(self, files: list[TableFile]) -> None:
        self.files = files
        self.names = files[0].names
        self.label = files[0].label if len(files) == 1 else f"{files[0].label} and others"
        self.read_as_text([name for name in self.names if CATEGORY in self._kinds(name)])

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where the files tell it."""
        counts = [file.n_rows for file in self.files]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def guesses(self) -> list[Guess]:
        """What was guessed of text files and may be wrong, each once."""
        own = {g.option: g for f in reversed(self.files) for g in getattr(f, "guesses", ())}
        return list(own.values())

    def unfit(self, name: str) -> str | None:
        """Why a column's values are neither numbers nor categories; None if they are."""
        found = next((file.unfit[name] for file in self.files if name in file.unfit), None)
        if found is None and len(kinds := self._kinds(name)) > 1:
            return f"it holds {listed(sorted(_PLURAL[kind] for kind in kinds))} in different files"
        return found

    def kind(self, name: str) -> str:
        """What a column is read as: see :mod:`srff.data.encoding.table_columns`."""
        return next(iter(self._kinds(name)), NUMBER)

    def _kinds(self, name: str) -> list[str]:
        return list(dict.fromkeys(file.kind(name) for file in self.holders(name)))

    def holders(self, name: str) -> list[TableFile]:
        """The files that tell what a column holds: one without values there holds anything."""
        import pyarrow as pa

        there = [file for file in self.files if name in file.types]
        return [file for file in there if not pa.types.is_null(file.types[name])]

    def read_as_text(self, names: list[str]) -> None:
        """Take columns of text files for text, though their first rows look like numbers."""
        for file in self.files:
            if isinstance(file, CsvFile):
                file.read_as_text(names)

    def as_written(self, names: list[str]) -> None:
        """Take columns of text files for text whatever they hold: to be copied, not read."""
        for file in self.files:
            if isinstance(file, CsvFile):
                file.as_written(names)

    def example(self, name: str) -> str:
        """What a column holds, in words."""
        shows = next((f.examples[name] for f in self.files if name in f.examples), None)
        return f"it holds {_PLURAL[self.kind(name)]}" + (f" such as {shows}" if shows else "")

    def pieces(self) -> Iterator[FilePiece]:
        """The pieces of all files; an error if one has changed."""
        for file in self.files:
            yield from file.pieces()

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """The rows of some columns, in order."""
        for piece in self.pieces():
            yield from piece.batches(columns)

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse a table without these columns, or with several of a name."""
        for file in self.files:
            missing = [shown(name) for name in columns if name not in file.names]
            if missing:
                raise TableError(f"{file.label}: there is no column {listed(missing, last='or')}.")
            for name in columns:
                if file.names.count(name) > 1:
                    raise TableError(
                        f"{file.label}: there is more than one column {shown(name)}; rename them."
                    )


class TableSource(Source):
    """The rows of tables in files, all with the same columns, in any order of them.

    ``paths`` may be a :class:`Table` that is open already.  ``target`` is the name of the target's
    column, or a list of such, and ``row_groups`` that of groups of rows; ``inputs`` are all other
    columns of the first file where they are not given.  Rows that have no value in one of the
    ``complete`` columns are left out.  Text is read by :meth:`over_pieces` and :meth:`mapped`;
    :meth:`pieces` are of numbers alone.
    """

    def __init__(
        self,
        paths: Any,
        target: str | Sequence[str],
        weight: str | None = None,
        *,
        row_groups: str | None = None,
        inputs: Sequence[str] | None = None,
        complete: Sequence[str] = (),
    ) -> None:
        import pyarrow as pa

        table = self._table = paths if isinstance(paths, Table) else _opened(paths)
        self._targets = (target,) if isinstance(target, str) else tuple(target)
        self._weight, self._complete, self.weighted = weight, complete, weight is not None
        self._groups, self.grouped = row_groups, row_groups is not None
        taken = [*self._targets, *([weight] if weight else [])]
        beside = [*taken, *([row_groups] if row_groups else [])]
        names = [name for name in table.names if name not in beside] if inputs is None else inputs
        if not names:
            raise ValueError(f"{table.files[0].label}: there is no column beside the target.")
        self._needed = [*names, *taken]
        table.check_columns([*names, *beside])
        self._check_kinds()
        self.names, self.n_features, self.n_targets = tuple(names), len(names), len(self._targets)
        self.n_rows = None if complete else table.n_rows
        single = all(file.types[name] == pa.float32() for file in table.files for name in names)
        self._dtype = np.dtype(np.float32 if single else np.float64)

    def _check_kinds(self) -> None:
        """Refuse columns that are neither numbers nor categories, or are both."""
        for file in self._table.files:
            for name in self._needed:
                kind = file.kind(name)
                if kind not in _PLURAL or (kind == CATEGORY and name == self._weight):
                    raise ValueError(f"{_held(file, name)}, not numbers.")
        for name in self._needed:
            wanted = self._table.kind(name) == CATEGORY
            for file in self._table.holders(name):
                if (file.kind(name) == CATEGORY) != wanted:
                    accepted = "text" if wanted else "numbers"
                    raise ValueError(f"{_held(file, name)}, not {accepted}.")

    @property
    def kinds(self) -> tuple[str, ...]:
        """By the types in the files."""
        return tuple(map(self._table.kind, self.names or ()))

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """By the types in the files."""
        return tuple(map(self._table.kind, self._targets))

    def pieces(self) -> list[TablePiece]:
        """Row groups of Parquet files, whole files of other kinds; an error if there is text."""
        self._refuse_text(self._needed)
        return self.uncoded_pieces()

    def refuse_text_targets(self) -> None:
        """Raise an error that names file and column."""
        self._refuse_text(self._targets)

    def _refuse_text(self, names: Iterable[str]) -> None:
        for name in names:
            if self._table.kind(name) == CATEGORY:
                raise ValueError(f"{_held(self._table.holders(name)[0], name)}, not numbers.")

    def uncoded_pieces(self) -> list[TablePiece]:
        """The same, text or not."""
        assert self.names is not None
        made = []
        for piece in self._table.pieces():
            batches: Batches = piece.batches
            if self._complete:
                batches = complete_rows(batches, self._needed, self._complete)
            columns = self.names, self._targets, self._weight
            made.append(TablePiece(piece.name, batches, *columns, self._dtype))
        return made

    def row_groups(self) -> np.ndarray | None:
        """The values of their column."""
        return None if self._groups is None else self.column(self._groups)

    def column(self, name: str) -> np.ndarray:
        """The values of a column, whatever they are, in the order of the rows."""
        values: list[np.ndarray] = []
        for piece in self._table.pieces():
            batches: Batches = piece.batches
            if self._complete:
                wanted = list(dict.fromkeys([*self._complete, name]))
                batches = complete_rows(batches, wanted, self._complete)
            values += [plain_values(batch, name) for batch in batches([name])]
        return np.concatenate(values) if values else np.zeros(0)

    def count(self) -> int:
        """The number of rows, by a pass over them."""
        none = np.zeros(0, dtype=np.intp)
        self.n_rows = sum(
            rows.n_rows for piece in self.uncoded_pieces() for rows in piece.uncoded(none)
        )
        return self.n_rows


def _opened(paths: Any) -> Table:
    """A table of files, with a warning of what was guessed of them."""
    table = open_table(paths)
    for guess in table.guesses:
        warnings.warn(
            f"{table.label}: {guess.text}; srff.CsvFiles(path, {guess.option}={guess.other!r}) if "
            "that is wrong.",
            UserWarning,
            stacklevel=2,
        )
    return table


def _held(file: TableFile, name: str) -> str:
    """What a column of a file holds, as an error begins."""
    return f"{file.label}: column {name!r} holds {file.types[name]}"


@dataclass(frozen=True)
class TablePiece:
    """A row group, or a file."""

    name: str
    batches: Batches = field(repr=False)
    inputs: tuple[str, ...] = field(repr=False)
    targets: tuple[str, ...] = field(repr=False)
    weight: str | None = field(repr=False)
    dtype: np.dtype = field(repr=False)

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows, read as they are asked for; no other column is read."""
        inputs = self._inputs(columns)

        def chunk(batch: Any) -> Chunk:
            X, Y = matrix(batch, inputs, self.dtype), matrix(batch, self.targets)
            return Chunk(X, Y, self._weights(batch))

        return self._read(inputs, chunk)

    def uncoded(self, columns: np.ndarray | None = None) -> Iterator[UncodedRows]:
        """The rows as batches of pyarrow."""
        inputs = self._inputs(columns)

        def uncoded(batch: Any) -> UncodedRows:
            y = batch.select(list(self.targets))
            return UncodedRows(batch.select(inputs), y, self._weights(batch))

        return self._read(inputs, uncoded)

    def _inputs(self, columns: np.ndarray | None) -> list[str]:
        return list(self.inputs if columns is None else [self.inputs[i] for i in columns])

    def _weights(self, batch: Any) -> np.ndarray | None:
        return numbers(batch, self.weight) if self.weight else None

    def _read(self, inputs: list[str], made: Callable[[Any], Rows]) -> Iterator[Rows]:
        wanted = [*inputs, *self.targets, *([self.weight] if self.weight else [])]
        try:
            for batch in self.batches(wanted):
                if batch.num_rows:
                    yield made(batch)
        except TextAmongNumbers as error:
            what = f"column {shown(error.column)}: {error.reason}"
            raise ValueError(f"{self.name}: cannot be read: {what}.") from None
        except TableError:
            raise
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.name}: cannot be read: {error}") from None
