"""Which columns of a table can be inputs and why others cannot, and where values are missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srff._utils.text import shown
from srff.data.encoding.number_texts import is_number
from srff.data.encoding.table_columns import CATEGORY, arrow_kind
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
    n_values: int
    """Different values of the (first) target, or more than are counted."""
    gaps: dict[str, int]
    """Missing or infinite values of the inputs, the target and the weight that have any."""


@dataclass
class ColumnValues:
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

    def merge(self, other: ColumnValues) -> None:
        """What other rows are like."""
        self.gaps += other.gaps
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.values |= other.values


def survey_columns(
    table: Table, targets: list[str], weight: str | None, drop: list[str], classes: bool = False
) -> ColumnSurvey:
    """One pass over a table: which columns can be inputs, and where values are missing."""
    taken = [*targets, *([weight] if weight else [])]
    candidates = [name for name in table.names if name not in taken and name not in drop]
    table.check_columns([*taken, *candidates])
    dropped = dict.fromkeys((name for name in table.names if name in drop), "as asked")
    for name in [name for name in candidates if INDEX.fullmatch(name)]:
        candidates.remove(name)
        dropped[name] = "by its name it is an index that was written with the table"
    seen: dict[str, ColumnValues] = {}
    n_rows = sum(_see(file, [*taken, *candidates], seen, targets[0]) for file in table.files)
    for name in taken:
        reason = table.unfit(name)
        if reason is None and table.kind(name) == CATEGORY:
            allowed = classes and name != weight
            reason = _why_not_category(seen[name], n_rows) if allowed else table.example(name)
        if reason is None and name in targets and not classes:
            reason = _why_not_target(seen[name])
        if reason:
            raise TableError(f"{table.label}: column {shown(name)} cannot be used: {reason}.")
    if n_rows < 2:
        raise TableError(f"{table.label}: there are {n_rows} rows; at least 2 are needed.")
    inputs = []
    for name in candidates:
        reason = table.unfit(name) or _why_not_input(seen[name], table.kind(name), n_rows)
        if reason:
            dropped[name] = reason
        else:
            inputs.append(name)
    gaps = {name: seen[name].gaps for name in [*taken, *inputs] if seen[name].gaps}
    categories = [name for name in inputs if table.kind(name) == CATEGORY]
    return ColumnSurvey(n_rows, inputs, dropped, categories, len(seen[targets[0]].values), gaps)


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


def _see(file: TableFile, wanted: list[str], seen: dict[str, ColumnValues], target: str) -> int:
    """Look at the rows of a file; again from its start when a column turns out to be text."""
    while True:
        try:
            n_rows, here = _values(file, [n for n in wanted if n not in file.unfit], target)
        except TextAmongNumbers as error:
            file.unfit[error.column] = error.reason
            continue
        for name, new in here.items():
            seen.setdefault(name, ColumnValues()).merge(new)
        return n_rows


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
            n_rows += batch.num_rows
            for name in columns:
                found[name].add(batch, name, most[name])
    return n_rows, found


def _why_not_target(seen: ColumnValues) -> str | None:
    if not 0 < seen.high / 2 - seen.low / 2 < LEAST_SPREAD:
        return None
    return f"its values differ by less than {LEAST_SPREAD:g}; multiply them by a large number"


def _why_not_input(seen: ColumnValues, kind: str, n_rows: int) -> str | None:
    if seen.gaps == n_rows:
        return "it has no values"
    if kind == CATEGORY:
        if len(seen.values) == 1:
            return f"it is {shown(next(iter(seen.values)))} in every row"
        return _why_not_category(seen, n_rows)
    # A gap tells something too, but there must be something to fill it with.
    return f"it is {seen.low:g} in every row" if seen.low == seen.high else None


def _why_not_category(seen: ColumnValues, n_rows: int) -> str | None:
    """Why the texts of a column are no levels or classes."""
    n_values, n_there = len(seen.values), n_rows - seen.gaps
    if n_values <= FEW_VALUES:
        return None
    words = [value for value in seen.values if not is_number(value)]
    if 0 < len(words) < OFTEN * n_values:
        return f"it holds numbers, and text such as {shown(min(words, key=str))}"
    if n_values > MOST_TEXTS:
        return f"it holds more than {MOST_TEXTS:,} different texts"
    if n_values > OFTEN * n_there:
        return f"it names the rows: {n_values:,} different texts in {n_there:,} rows"
    return None
