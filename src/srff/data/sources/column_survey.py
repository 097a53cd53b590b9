"""Which columns of a table can be inputs and why others cannot, and where values are missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import numpy as np

from srff._utils.text import shown
from srff.data.encoding.doubtful_columns import LEAST_ROWS
from srff.data.encoding.number_texts import MOSTLY, is_number, stands_for, stray_texts
from srff.data.encoding.table_columns import CATEGORY, DATE, arrow_kind
from srff.data.sources.batches import gaps_of, numbers
from srff.data.sources.table_file import TableError, TableFile, TextAmongNumbers
from srff.data.sources.tables import Table, TableSource

LEAST_SPREAD = 1e-300
"""A target whose values differ by less has too few digits to learn from."""

MOST_TEXTS = 1000
"""Different texts of a column above which it is no input."""

OFTEN = 0.5
"""Different texts for each row above which a column names the rows."""

FEW_VALUES = 20
"""Different values of a target above which nobody would call them classes."""

HOW_USED = "--use {} takes it for an input all the same"
HOW_CATEGORY = "--category {} takes it for a category all the same"
"""What a reason ends with; the column's name comes in."""

INDEX = re.compile(r"|Unnamed: 0|__index_level_\d+__")
"""What pandas calls the index of a frame in a file; a row's number must not become an input."""


@dataclass
class ColumnSurvey:
    """What a table offers to a fit."""

    n_rows: int
    inputs: list[str]
    dropped: dict[str, str]
    """Why a column is not an input."""
    categories: list[str]
    """Inputs that are text or categories."""
    dates: list[str]
    """Inputs that are dates."""
    n_values: int
    """Different values of the (first) target, or more than are counted."""
    gaps: dict[str, int]
    """Missing or infinite values of the inputs, the target and the weight that have any."""
    warnings: list[str] = field(default_factory=list)
    """What may be read otherwise than it is meant."""


@dataclass(frozen=True)
class Wishes:
    """What a user says of columns, by their names."""

    targets: list[str]
    weight: str | None = None
    drop: list[str] = field(default_factory=list)
    category: list[str] = field(default_factory=list)
    """Categories whatever they hold."""
    use: list[str] = field(default_factory=list)
    """Inputs though they look like a number or a name of the row."""
    classes: bool = False

    @property
    def taken(self) -> list[str]:
        """The columns of the targets and of the weight."""
        return [*self.targets, *([self.weight] if self.weight else [])]


@dataclass
class ColumnValues:
    """What a column's values are like."""

    gaps: int = 0
    """Values that are missing, NaN or infinite."""
    low: float = np.inf
    high: float = -np.inf
    values: set[Any] = field(default_factory=set)
    """Different values, some more than are of interest at most."""
    n_texts: int = 0
    n_words: int = 0
    """Texts that are no numbers."""
    word: tuple[str, str] | None = None
    """Where the first of them is, and what it is."""
    counts: Steps = field(default_factory=lambda: Steps())

    def add(self, batch: Any, name: str, most: int, where: Place) -> None:
        """Some rows, of which the first stands at a place."""
        import pyarrow as pa
        import pyarrow.compute as pc

        there = ~gaps_of(batch, name)
        self.gaps += there.size - int(there.sum())
        column = batch.column(batch.schema.get_field_index(name))
        if arrow_kind(column.type) != CATEGORY:
            all_rows = numbers(batch, name)
            values = all_rows[there]
            if values.size:
                self.low = min(self.low, float(values.min()))
                self.high = max(self.high, float(values.max()))
            self.counts.add(all_rows)
            if most and len(self.values) <= most:
                self.values.update(np.unique(values).tolist())
            return
        if pa.types.is_dictionary(column.type):
            if len(self.values) <= most:
                self.values.update(pc.unique(column.drop_null()).to_pylist())
            return
        texts = pc.value_counts(column.drop_null()).to_pylist()
        words = {each["values"]: each["counts"] for each in texts if not is_number(each["values"])}
        self.n_texts += sum(each["counts"] for each in texts)
        self.n_words += sum(words.values())
        if words and self.word is None:
            is_word = pc.is_in(column, pa.array(words, column.type), skip_nulls=True)
            row = int(pc.index(is_word, True).as_py())
            self.word = f"{where.file}, row {where.row + row}", column[row].as_py()
        if len(self.values) <= most:
            self.values.update(each["values"] for each in texts)

    @property
    def nearly_numbers(self) -> bool:
        """Whether a column of texts is numbers but for a few."""
        if self.word is None:
            return False
        strays = stray_texts(list(self.values), np.ones(len(self.values)))
        return strays is not None or 1 - self.n_words / self.n_texts > MOSTLY

    def merge(self, other: ColumnValues) -> None:
        """What other rows are like."""
        self.gaps += other.gaps
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.values |= other.values
        self.n_texts += other.n_texts
        self.n_words += other.n_words
        self.word = self.word or other.word
        self.counts.merge(other.counts)


@dataclass(frozen=True)
class Place:
    """A row of a file."""

    file: str
    row: int


@dataclass
class Steps:
    """Whether numbers count the rows, or are those of a count in another order."""

    first: float | None = None
    last: float = 0.0
    steady: bool = True
    """Whether each is one more than that of the row before."""
    whole: bool = True
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: np.ndarray) -> None:
        """The numbers of some rows."""
        if not values.size or not self.whole:
            return
        begins = values[0] if self.first is None else self.last + 1
        with np.errstate(invalid="ignore", over="ignore"):
            self.steady &= bool((values == begins + np.arange(values.size)).all())
            self.whole = bool((values == np.rint(values)).all())
            self.total += float(values.sum())
            self.squares += float(values @ values)
        self.first = values[0] if self.first is None else self.first
        self.last = values[-1]

    def merge(self, other: Steps) -> None:
        """The rows that follow."""
        if other.first is None:
            return
        follows = self.first is None or other.first == self.last + 1
        self.steady &= other.steady and follows
        self.first = other.first if self.first is None else self.first
        self.last, self.whole = other.last, self.whole and other.whole
        self.total, self.squares = self.total + other.total, self.squares + other.squares

    def permuted(self, n_rows: int, low: float, high: float) -> bool:
        """Whether the numbers are those from ``low`` to ``high``, each once: by their sums."""
        if not self.whole or high - low != n_rows - 1:
            return False
        mean = (low + high) / 2
        squares = n_rows * (mean**2 + (n_rows**2 - 1) / 12)
        return bool(np.isclose(self.total, n_rows * mean) and np.isclose(self.squares, squares))


def survey_columns(table: Table, wishes: Wishes) -> ColumnSurvey:
    """One pass over a table: which columns can be inputs, and where values are missing."""
    taken, targets, use = wishes.taken, wishes.targets, wishes.use
    candidates = [name for name in table.names if name not in (*taken, *wishes.drop)]
    table.check_columns([*taken, *candidates])
    dropped = dict.fromkeys((name for name in table.names if name in wishes.drop), "as asked")
    for name in [name for name in candidates if INDEX.fullmatch(name) and name not in use]:
        candidates.remove(name)
        why = f"by its name it is an index that was written with the table; {HOW_USED}"
        dropped[name] = why.replace("{}", quote(name))
    table.read_as_text(wishes.category)
    n_rows, seen = _see_all(table, [*taken, *candidates], targets[0])
    _check_texts(table, wishes, seen)
    _check_taken(table, wishes, seen, n_rows)
    if n_rows < 2:
        raise TableError(f"{table.label}: there are {n_rows} rows; at least 2 are needed.")
    inputs = []
    for name in candidates:
        asked = name in wishes.category or name in use
        reason = table.unfit(name) or _why_not_input(seen[name], table.kind(name), n_rows, asked)
        if reason:
            dropped[name] = reason.replace("{}", quote(name))
        else:
            inputs.append(name)
    gaps = {name: seen[name].gaps for name in [*taken, *inputs] if seen[name].gaps}
    categories = [name for name in inputs if table.kind(name) == CATEGORY]
    categories += [n for n in inputs if n in wishes.category and n not in categories]
    warnings = _doubts(
        table, seen, [n for n in inputs if n not in (*wishes.category, *use)], n_rows
    )
    n_values = len(seen[targets[0]].values)
    dates = [name for name in inputs if table.kind(name) == DATE]
    return ColumnSurvey(n_rows, inputs, dropped, categories, dates, n_values, gaps, warnings)


def _check_taken(table: Table, wishes: Wishes, seen: dict[str, ColumnValues], n_rows: int) -> None:
    """Refuse targets and weights that are none."""
    for name in wishes.taken:
        reason = table.unfit(name)
        if reason is None and table.kind(name) == CATEGORY:
            allowed = wishes.classes and name != wishes.weight
            reason = table.example(name)
            if allowed:
                # A target has no such options.
                reason = (_why_not_category(seen[name], n_rows) or "").partition("; --")[0]
        if reason is None and table.kind(name) == DATE:
            reason = "it holds dates; make numbers of them, such as days since one of them"
        if reason is None and name in wishes.targets and not wishes.classes:
            reason = _why_not_target(seen[name])
        if reason:
            raise TableError(f"{table.label}: column {shown(name)} cannot be used: {reason}.")


def _check_texts(table: Table, wishes: Wishes, seen: dict[str, ColumnValues]) -> None:
    """Refuse columns of text that are numbers but for a few, or stand for numbers or dates."""
    for name, found in seen.items():
        if table.unfit(name) or table.kind(name) != CATEGORY or name in wishes.category:
            continue
        how = f"--drop {quote(name)} leaves the column out"
        if name in wishes.taken:
            how = "make numbers of the column"
        else:
            how += f", --category {quote(name)} takes it for a category"
        if found.word is not None and found.nearly_numbers:
            where, value = found.word
            raise TableError(
                f"{where}: column {shown(name)} holds numbers but for a few texts, such as "
                f"{shown(value)} here; --na {quote(value)} takes that for missing, {how}."
            )
        meant = stands_for(sorted(found.values, key=str)) if found.word is not None else None
        if meant is not None:
            what, value = meant
            hint = "make numbers of them first"
            if what == "numbers with decimal commas":
                hint = "--decimal , reads decimal commas where all numbers of the table have them"
            raise TableError(
                f"{table.label}: column {shown(name)} holds {what}, such as {shown(value)}; "
                f"{hint}, or {how}."
            )


def _doubts(
    table: Table, seen: dict[str, ColumnValues], inputs: list[str], n_rows: int
) -> list[str]:
    """What may be read otherwise than it is meant."""
    zeros = {n: v for f in table.files for n, v in getattr(f, "leading_zeros", {}).items()}
    told = []
    for name in inputs:
        found = seen[name]
        if name in zeros and table.kind(name) != CATEGORY:
            told.append(
                f"column {shown(name)} is read as numbers, though it has leading zeros as in "
                f"{zeros[name]}; --category {quote(name)} takes it for codes"
            )
        elif table.kind(name) == DATE:
            continue
        elif n_rows >= LEAST_ROWS and found.counts.permuted(n_rows, found.low, found.high):
            told.append(
                f"column {shown(name)} holds each of {found.low:.0f} to {found.high:.0f} once; "
                f"--drop {quote(name)} leaves it out if it is a number of the row and no rank"
            )
    return told


def surveyed_rows(
    table: Table,
    found: ColumnSurvey,
    targets: list[str],
    weight: str | None,
    complete: list[str] | None = None,
    row_groups: str | None = None,
) -> TableSource:
    """The rows of a table for a fit, without those that have gaps in the ``complete`` columns."""
    source = TableSource(
        table,
        targets,
        weight,
        row_groups=row_groups,
        inputs=found.inputs,
        complete=complete or (),
    )
    if not complete:
        source.n_rows = found.n_rows
    return source


def _see_all(table: Table, wanted: list[str], target: str) -> tuple[int, dict[str, ColumnValues]]:
    """Look at all rows; again from the start when a column turns out to be text."""
    while True:
        n_rows, seen = 0, dict[str, ColumnValues]()
        try:
            for file in table.files:
                here = [name for name in wanted if name not in file.unfit]
                n_more, found = _values(file, here, target)
                n_rows += n_more
                for name, new in found.items():
                    seen.setdefault(name, ColumnValues()).merge(new)
        except TextAmongNumbers as error:
            table.read_as_text([error.column])
            continue
        return n_rows, seen


def _values(
    file: TableFile, columns: list[str], target: str
) -> tuple[int, dict[str, ColumnValues]]:
    """The number of rows of a file, and what the values of some columns are like."""
    most = {name: MOST_TEXTS if file.kind(name) == CATEGORY else 0 for name in columns}
    if target in most:
        most[target] = max(most[target], FEW_VALUES)
    found = {name: ColumnValues() for name in columns}
    n_rows = 0
    for piece in file.pieces() if columns else ():
        for batch in piece.batches(columns):
            for name in columns:
                found[name].add(batch, name, most[name], Place(file.label, n_rows))
            n_rows += batch.num_rows
    return n_rows, found


def _why_not_target(seen: ColumnValues) -> str | None:
    if not 0 < seen.high / 2 - seen.low / 2 < LEAST_SPREAD:
        return None
    return f"its values differ by less than {LEAST_SPREAD:g}; multiply them by a large number"


def _why_not_input(seen: ColumnValues, kind: str, n_rows: int, asked: bool) -> str | None:
    """Why a column is left out; ``asked`` says that somebody wants it."""
    if seen.gaps == n_rows:
        return "it has no values"
    if kind == CATEGORY:
        if len(seen.values) == 1:
            return f"it is {shown(next(iter(seen.values)))} in every row"
        return None if asked else _why_not_category(seen, n_rows)
    # A gap tells something too, but there must be something to fill it with.
    if seen.low == seen.high:
        what = "one date" if kind == DATE else f"{seen.low:g}"
        return f"it is {what} in every row"
    if kind == DATE:
        return None
    if not asked and n_rows >= LEAST_ROWS and seen.counts.steady and not seen.gaps:
        return f"it counts the rows from {seen.low:.0f} to {seen.high:.0f}; {HOW_USED}"
    return None


def _why_not_category(seen: ColumnValues, n_rows: int) -> str | None:
    """Why the texts of a column are no levels or classes."""
    n_values, n_there = len(seen.values), n_rows - seen.gaps
    if n_values <= FEW_VALUES:
        return None
    words = [value for value in seen.values if not is_number(value)]
    if 0 < len(words) < OFTEN * n_values:
        return f"it holds numbers, and text such as {shown(min(words, key=str))}"
    if n_values > MOST_TEXTS:
        return f"it holds more than {MOST_TEXTS:,} different texts; {HOW_CATEGORY}"
    if n_values > OFTEN * n_there:
        return (
            f"it names the rows: {n_values:,} different texts in {n_there:,} rows; {HOW_CATEGORY}"
        )
    return None
