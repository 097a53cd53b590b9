"""Tables as users have them: which columns can be inputs, what is missing, rows in batches.

:mod:`srff.data.sources.tables` reads tables of numbers and categories and refuses others; here a
table may hold dates, names of rows and gaps too, and each is named.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from srff.cli.errors import Refusal, WrongUse, listed, one_line, shown
from srff.data.encoding.frames import BOOLEAN, CATEGORY, NUMBER, arrow_kind
from srff.data.sources.base import CHUNK_ROWS, Source
from srff.data.sources.tables import (
    RowGroup,
    Scanned,
    TablePiece,
    expanded,
    file_format,
    file_state,
    numbers,
)

STDIN = "-"
DELIMITERS = ",;\t|"
FIRST_BYTES = 2**16
"""Bytes of a text file that tell its delimiter."""

SMALLEST = 1e-300
"""A target whose values differ by less has too few digits to learn from."""

MOST_LEVELS = 1000
"""Different texts of a column above which it is no input."""

OFTEN = 0.5
"""Different texts for each row above which a column names the rows."""

FEW = 20
"""Different values of a target above which nobody would call them classes."""

INDEX = re.compile(r"|Unnamed: 0|__index_level_\d+__")
"""What pandas calls the index of a frame in a file; a row's number must not become an input."""

Batches = Callable[[list[str]], Iterator[Any]]


@dataclass
class File:
    """A file: its columns, why some are not numbers, and its rows piece by piece."""

    path: str
    label: str
    """What errors call it."""
    names: list[str]
    unfit: dict[str, str]
    """Why a column's values are neither numbers nor categories."""
    types: dict[str, Any]
    """The types to read columns of text files as; those of the file for other kinds."""
    pieces: list[tuple[str, Batches]]
    state: tuple[int, int]
    is_text: bool = False
    """Whether types were read off the first rows."""
    examples: dict[str, str] = field(default_factory=dict)
    """A text of a column of a text file that holds such."""

    def kind(self, name: str) -> str:
        """What a column is read as: see :mod:`srff.data.encoding.frames`."""
        return arrow_kind(self.types[name])


class Table:
    """One file or many with the same columns, in any order of them."""

    def __init__(self, files: list[File]) -> None:
        self.files = files
        self.names = files[0].names
        self.label = files[0].label if len(files) == 1 else f"{files[0].label} and others"
        for name in self.names:
            holders = [file for file in files if name in file.types]
            if any(file.kind(name) == CATEGORY for file in holders):
                self.read_as_text([name])

    def unfit(self, name: str) -> str | None:
        """Why a column's values are neither numbers nor categories; None if they are."""
        found = next((file.unfit[name] for file in self.files if name in file.unfit), None)
        if found is None and len(kinds := self._kinds(name)) > 1:
            return f"it holds {listed(sorted(_PLURAL[kind] for kind in kinds))} in different files"
        return found

    def kind(self, name: str) -> str:
        """What a column is read as: see :mod:`srff.data.encoding.frames`."""
        return next(iter(self._kinds(name)), NUMBER)

    def _kinds(self, name: str) -> set[str]:
        import pyarrow as pa

        # A column without values is of any kind.
        holders = [file for file in self.files if name in file.types]
        return {file.kind(name) for file in holders if not pa.types.is_null(file.types[name])}

    def read_as_text(self, names: list[str]) -> None:
        """Take columns of text files for text, though their first rows look like numbers."""
        import pyarrow as pa

        for file in self.files:
            for name in names:
                if file.is_text and name in file.types and name not in file.unfit:
                    file.types[name] = pa.string()

    def example(self, name: str) -> str:
        """What a column holds, in words."""
        shows = next((f.examples[name] for f in self.files if name in f.examples), None)
        return f"it holds {_PLURAL[self.kind(name)]}" + (f" such as {shows}" if shows else "")

    def pieces(self) -> Iterator[tuple[str, Batches]]:
        """A name for errors and the rows of each piece; an error if a file has changed."""
        for file in self.files:
            if file_state(file.path) != file.state:
                raise Refusal(f"{file.label}: the file has changed since it was first read.")
            yield from file.pieces

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """The rows of some columns, in order."""
        for _, batches in self.pieces():
            yield from batches(columns)

    def check_columns(self, columns: list[str]) -> None:
        """Refuse a table without these columns, or with several of a name."""
        for file in self.files:
            missing = [shown(name) for name in columns if name not in file.names]
            if missing:
                raise Refusal(f"{file.label}: there is no column {listed(missing, last='or')}.")
            for name in columns:
                if file.names.count(name) > 1:
                    raise Refusal(
                        f"{file.label}: there is more than one column {shown(name)}; rename them."
                    )


_PLURAL = {NUMBER: "numbers", BOOLEAN: "true and false", CATEGORY: "text"}


@contextmanager
def opened(table: str) -> Iterator[Table]:
    """The table of a file, a folder, a pattern, or of csv on standard input."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise Refusal("Reading tables needs pyarrow: pip install 'srff[data]'.") from None
    if table != STDIN:
        try:
            files = [_opened_file(path, path) for path in expanded(table)]
        except FileNotFoundError as error:
            raise WrongUse(str(error)) from None
        yield Table(files)
        return
    with tempfile.TemporaryDirectory(prefix="srff-") as folder:
        # Rows are read several times, standard input only once.
        path = Path(folder) / "table.csv"
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield Table([_opened_file(str(path), "standard input")])


def _opened_file(path: str, label: str) -> File:
    state = file_state(path)
    if not Path(path).is_file():
        raise WrongUse(f"{label} is not a file; - takes csv from standard input.")
    if state[0] == 0:
        raise Refusal(f"{label}: the file is empty.")
    try:
        kind = "csv" if path.lower().endswith(".tsv") else file_format(path)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    with readable(label, kind):
        return _text_file(path, label, state) if kind == "csv" else _typed_file(path, label, state)


@contextmanager
def readable(label: str, kind: str) -> Iterator[None]:
    """Turn what pyarrow says of a bad file into a sentence that names it."""
    import pyarrow as pa

    try:
        yield
    except UnicodeDecodeError:
        raise Refusal(f"{label}: the names of the columns are not UTF-8 text.") from None
    except pa.ArrowMemoryError:
        raise Refusal(f"{label}: cannot be read as {kind}: it asks for too much memory.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        text = one_line(str(error), 250)
        raise Refusal(f"{label}: cannot be read as {kind}: {text}") from None


def _typed_file(path: str, label: str, state: tuple[int, int]) -> File:
    """Parquet and Arrow: the file says what its columns are."""
    from pyarrow import dataset

    kind = file_format(path)
    data = dataset.dataset(path, format=kind)
    types = dict(zip(data.schema.names, data.schema.types, strict=True))
    unfit = {name: reason for name, t in types.items() if (reason := _why_not_values(t))}
    pieces: list[tuple[str, Batches]] = []
    for fragment in data.get_fragments():
        if kind == "parquet":
            metadata = fragment.metadata
            for number in range(metadata.num_row_groups):
                where = f"{label}, row group {number}"
                pieces.append((where, _guarded(RowGroup(path, metadata, number), label, kind)))
        else:
            pieces.append((label, _guarded(Scanned(fragment), label, kind)))
    return File(path, label, data.schema.names, unfit, types, pieces, state)


def _guarded(batches: Batches, label: str, kind: str) -> Batches:
    def read(columns: list[str]) -> Iterator[Any]:
        with readable(label, kind):
            yield from batches(columns)

    return read


def _why_not_values(kind: Any) -> str | None:
    """Why a column of this type holds neither numbers nor categories."""
    import pyarrow as pa

    t = pa.types
    if t.is_null(kind):
        return "it has no values"
    if t.is_dictionary(kind):
        return _why_not_values(kind.value_type)
    if arrow_kind(kind) in (NUMBER, BOOLEAN, CATEGORY):
        return None
    if any(is_(kind) for is_ in (t.is_temporal, t.is_date, t.is_time)):
        return "it holds dates or times"
    return f"it holds {one_line(str(kind), 40)}"


def _text_file(path: str, label: str, state: tuple[int, int]) -> File:
    """A csv file: what its columns are is read off its first rows, and may turn out wrong."""
    import pyarrow as pa

    delimiter = _delimiter(path)
    file = File(path, label, [], {}, {}, [], state, is_text=True)
    reader = _open_csv(path, delimiter, None, {}, one_column=False)
    file.names = list(reader.schema.names)
    try:
        first = reader.read_next_batch()
    except StopIteration:
        raise Refusal(f"{label}: there are no rows.") from None
    for position, column in enumerate(reader.schema):
        t = pa.types
        if any(is_(column.type) for is_ in (t.is_integer, t.is_floating, t.is_null)):
            # A whole number in the first rows may be followed by a fraction.
            file.types[column.name] = pa.float64()
        else:
            file.types[column.name] = column.type
            reason = _why_not_values(column.type)
            if reason:
                file.unfit[column.name] = reason
            elif file.kind(column.name) == CATEGORY:
                file.examples[column.name] = _first_text(first.column(position))
    one_column = len(file.names) == 1

    def read(columns: list[str]) -> Iterator[Any]:
        types = {name: file.types[name] for name in columns}
        try:
            with readable(label, "csv"):
                for batch in _open_csv(path, delimiter, columns, types, one_column=one_column):
                    for start in range(0, batch.num_rows, CHUNK_ROWS):
                        yield batch.slice(start, CHUNK_ROWS)
        except Refusal as error:
            raise _turned_out_text(file, error) or error from None

    file.pieces.append((label, read))
    return file


def _open_csv(
    path: str, delimiter: str, columns: list[str] | None, types: dict[str, Any], one_column: bool
) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    return csv.open_csv(
        pa.input_stream(path),
        read_options=csv.ReadOptions(use_threads=False),
        # An empty line is a missing value where there is only one column.
        parse_options=csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not one_column
        ),
        convert_options=csv.ConvertOptions(
            column_types=types, include_columns=columns, strings_can_be_null=True
        ),
    )


def _delimiter(path: str) -> str:
    """What parts the names in the first line."""
    import pyarrow as pa

    with pa.input_stream(path) as stream:
        start = stream.read(FIRST_BYTES).decode("utf-8", "replace")
    line = re.sub(r'"[^"]*"', "", start.splitlines()[0] if start.strip() else "")
    return max(DELIMITERS, key=line.count)


def _first_text(column: Any) -> str:
    """The first value that is no number, as an error shows it; any if there is none."""
    texts = [value for value in column.to_pylist() if value is not None]
    for value in texts:
        try:
            float(value)
        except ValueError:
            return shown(value)
    return shown(texts[0]) if texts else "''"


def _turned_out_text(file: File, error: Refusal) -> Refusal | None:
    """Note that a column of a csv file holds text after all, if that is what an error says."""
    found = re.search(
        r"In CSV column #(\d+): .*?conversion error.*?: invalid value '(.*)", str(error)
    )
    if not found or int(found[1]) >= len(file.names):
        return None
    name = file.names[int(found[1])]
    value = found[2].removesuffix("'")
    file.unfit[name] = f"it holds text such as {shown(value)}"
    return Refusal(f"{file.label}: column {shown(name)} cannot be used: {file.unfit[name]}.")


@dataclass
class Seen:
    """What a column's values are like."""

    gaps: int = 0
    """Values that are missing, NaN or infinite."""
    low: float = np.inf
    high: float = -np.inf
    values: set[Any] = field(default_factory=set)
    """Different values, some more than are of interest at most."""

    def add(self, batch: Any, name: str, most: int) -> None:
        """Some rows."""
        import pyarrow.compute as pc

        there = ~gaps_of(batch, name)
        self.gaps += there.size - int(there.sum())
        column = batch.column(batch.schema.get_field_index(name))
        if arrow_kind(column.type) != CATEGORY:
            values = numbers(batch, name)[there]
            if values.size:
                self.low = min(self.low, float(values.min()))
                self.high = max(self.high, float(values.max()))
            if most and len(self.values) <= most:
                self.values.update(np.unique(values).tolist())
        elif len(self.values) <= most:
            self.values.update(pc.unique(column.drop_null()).to_pylist())

    def merge(self, other: Seen) -> None:
        """What other rows are like."""
        self.gaps += other.gaps
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.values |= other.values


def gaps_of(batch: Any, name: str) -> np.ndarray:
    """Where a column of a batch has no value, or none that is finite."""
    column = batch.column(batch.schema.get_field_index(name))
    if arrow_kind(column.type) == CATEGORY:
        return np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    return ~np.isfinite(numbers(batch, name))


@dataclass
class Inspection:
    """What a table offers to a fit."""

    n_rows: int
    inputs: list[str]
    dropped: dict[str, str]
    """Why a column is not an input."""
    categories: list[str]
    """Inputs that are text or categories."""
    n_values: int
    """Different values of the (first) target, or more than are counted."""
    gaps: dict[str, int] = field(default_factory=dict)
    """Missing or infinite values of the inputs, the target and the weight that have any."""


def inspect(
    table: Table, targets: list[str], weight: str | None, drop: list[str], classes: bool = False
) -> Inspection:
    """One pass over a table: which columns can be inputs, and where values are missing."""
    taken = [*targets, *([weight] if weight else [])]
    candidates = [name for name in table.names if name not in taken and name not in drop]
    table.check_columns([*taken, *candidates])
    dropped = dict.fromkeys((name for name in table.names if name in drop), "as asked")
    for name in [name for name in candidates if INDEX.fullmatch(name)]:
        candidates.remove(name)
        dropped[name] = "by its name it is an index that was written with the table"
    seen: dict[str, Seen] = {}
    n_rows = 0
    for file in table.files:
        n_rows += _see(file, taken, candidates, seen, targets[0])
    for name in taken:
        reason = table.unfit(name)
        if reason is None and table.kind(name) == CATEGORY:
            allowed = classes and name != weight
            reason = _why_not_category(seen[name], n_rows) if allowed else table.example(name)
        if reason:
            raise Refusal(f"{table.label}: column {shown(name)} cannot be used: {reason}.")
    if n_rows < 2:
        raise Refusal(f"{table.label}: there are {n_rows} rows; at least 2 are needed.")
    for name in targets if not classes else []:
        if 0 < seen[name].high / 2 - seen[name].low / 2 < SMALLEST:
            raise Refusal(
                f"{table.label}: column {shown(name)} cannot be used: its values differ by less "
                f"than {SMALLEST:g}; multiply them by a large number."
            )
    inputs = []
    for name in candidates:
        reason = table.unfit(name) or _why_not_input(seen[name], table.kind(name), n_rows)
        if reason:
            dropped[name] = reason
        else:
            inputs.append(name)
    gaps = {name: seen[name].gaps for name in [*taken, *inputs] if seen[name].gaps}
    categories = [name for name in inputs if table.kind(name) == CATEGORY]
    return Inspection(n_rows, inputs, dropped, categories, len(seen[targets[0]].values), gaps)


def _see(
    file: File, taken: list[str], candidates: list[str], seen: dict[str, Seen], target: str
) -> int:
    """Look at the rows of a file; again from its start when a column turns out to be text."""
    while True:
        columns = [name for name in [*taken, *candidates] if name not in file.unfit]
        most = {name: MOST_LEVELS if file.kind(name) == CATEGORY else 0 for name in columns}
        if target in most:
            most[target] = max(most[target], FEW)
        here = {name: Seen() for name in columns}
        n_rows = 0
        try:
            for _, batches in file.pieces if columns else []:
                for batch in batches(columns):
                    n_rows += batch.num_rows
                    for name in columns:
                        here[name].add(batch, name, most[name])
        except Refusal:
            if any(name in file.unfit for name in columns):
                continue
            raise
        break
    for name, new in here.items():
        seen.setdefault(name, Seen()).merge(new)
    return n_rows


def _why_not_input(seen: Seen, kind: str, n_rows: int) -> str | None:
    if seen.gaps == n_rows:
        return "it has no values"
    if kind == CATEGORY:
        if len(seen.values) == 1:
            return f"it is {shown(next(iter(seen.values)))} in every row"
        return _why_not_category(seen, n_rows)
    # A gap tells something too, but there must be something to fill it with.
    return f"it is {seen.low:g} in every row" if seen.low == seen.high else None


def _why_not_category(seen: Seen, n_rows: int) -> str | None:
    """Why the texts of a column are no levels or classes."""
    n_values, n_there = len(seen.values), n_rows - seen.gaps
    if n_values <= FEW:
        return None
    words = [value for value in seen.values if not _is_number(value)]
    if 0 < len(words) < OFTEN * n_values:
        return f"it holds numbers, and text such as {shown(min(words, key=str))}"
    if n_values > MOST_LEVELS:
        return f"it holds more than {MOST_LEVELS:,} different texts"
    if n_values > OFTEN * n_there:
        return f"it names the rows: {n_values:,} different texts in {n_there:,} rows"
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


class Inputs(Source):
    """The rows of a table for a fit, without those that have gaps in the ``complete`` columns."""

    def __init__(
        self,
        table: Table,
        found: Inspection,
        targets: list[str],
        weight: str | None,
        complete: list[str] | None = None,
    ) -> None:
        import pyarrow as pa

        self.names = tuple(found.inputs)
        self.n_features, self.n_targets = len(self.names), len(targets)
        self.n_rows = None if complete else found.n_rows
        self._table, self._targets, self._weight = table, tuple(targets), weight
        single = all(f.types[n] == pa.float32() for f in table.files for n in self.names)
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self._complete = complete

    @property
    def kinds(self) -> tuple[str, ...]:
        """By the types in the files."""
        return tuple(self._table.kind(name) for name in self.names or ())

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """By the types in the files."""
        return tuple(self._table.kind(name) for name in self._targets)

    def pieces(self) -> list[TablePiece]:
        """Row groups of Parquet files, whole files of other kinds."""
        assert self.names is not None
        out = []
        needed = [*self.names, *self._targets, *([self._weight] if self._weight else [])]
        for name, batches in self._table.pieces():
            if self._complete:
                batches = _complete_rows(batches, needed, self._complete)
            out.append(
                TablePiece(name, batches, self.names, self._targets, self._weight, self._dtype)
            )
        return out

    def count(self) -> int:
        """The number of rows, by a pass over them."""
        none = np.zeros(0, dtype=np.intp)
        self.n_rows = sum(c.n_rows for piece in self.pieces() for c in piece.raw(none))
        return self.n_rows


def _complete_rows(batches: Batches, needed: list[str], complete: list[str]) -> Batches:
    """The rows that have a value in all of some columns."""
    import pyarrow as pa

    def read(columns: list[str]) -> Iterator[Any]:
        for batch in batches(needed):
            whole = np.ones(batch.num_rows, dtype=bool)
            for name in complete:
                whole &= ~gaps_of(batch, name)
            if whole.any():
                yield batch.filter(pa.array(whole))

    return read
