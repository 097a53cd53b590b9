"""The table that a command is given: files, or csv on standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from srff.cli.errors import Refusal, WrongUse
from srff.data.sources.csv_file import CsvFile
from srff.data.sources.files import UnknownFormat, expanded
from srff.data.sources.tables import Table, open_table

STDIN = "-"


@contextmanager
def opened(table: str) -> Iterator[Table]:
    """The table of a file, a folder, a pattern, or of csv on standard input."""
    if table != STDIN:
        yield _opened_files(table)
        return
    with tempfile.TemporaryDirectory(prefix="srff-") as folder:
        # Rows are read several times, standard input only once.
        path = Path(folder) / "table.csv"
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield _with_rows(open_table(path, "standard input"))


def _opened_files(table: str) -> Table:
    try:
        for path in expanded(table):
            if Path(path).exists() and not Path(path).is_file():
                raise WrongUse(f"{path} is not a file; - takes csv from standard input.")
        return _with_rows(open_table(table))
    except (FileNotFoundError, UnknownFormat) as error:
        raise WrongUse(str(error)) from None


def _with_rows(table: Table) -> Table:
    for file in table.files:
        if isinstance(file, CsvFile) and file.is_empty:
            raise Refusal(f"{file.label}: there are no rows.")
    return table
