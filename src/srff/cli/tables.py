"""The table that a command is given: files, or csv on standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from srff.cli.errors import Refusal, WrongUse, say
from srff.cli.options import CsvForm
from srff.data.sources.csv_dialect import CsvFiles
from srff.data.sources.csv_file import CsvFile
from srff.data.sources.files import UnknownFormat, expanded
from srff.data.sources.tables import Table, open_table

STDIN = "-"

AS_GUESSED = CsvForm()


@contextmanager
def opened(table: str, form: CsvForm = AS_GUESSED, quiet: bool = False) -> Iterator[Table]:
    """The table of a file, a folder, a pattern, or of csv on standard input.

    What was guessed of it is said, unless ``quiet``.
    """
    if table != STDIN:
        yield _told(_opened_files(table, form), quiet)
        return
    with tempfile.TemporaryDirectory(prefix="srff-") as folder:
        # Rows are read several times, standard input only once.
        path = Path(folder) / "table.csv"
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield _told(_with_rows(open_table(_as_written(path, form), "standard input")), quiet)


def _as_written(table: str | Path, form: CsvForm) -> CsvFiles:
    """The files with how they are written, in the words of the shell where one is wrong."""
    sep = {"tab": "\t", "\\t": "\t", "space": " "}.get(form.sep or "", form.sep)
    decimal = None if form.decimal is None else form.decimal.value
    try:
        return CsvFiles(table, sep, decimal, form.encoding, form.missing)
    except ValueError as error:
        raise WrongUse(f"--{error}") from None


def _told(table: Table, quiet: bool) -> Table:
    for guess in () if quiet else table.guesses:
        say(f"{table.label}: {guess.text}; --{guess.option} {guess.other} if that is wrong.")
    return table


def _opened_files(table: str, form: CsvForm) -> Table:
    files = _as_written(table, form)
    try:
        for path in expanded(table):
            if Path(path).exists() and not Path(path).is_file():
                raise WrongUse(f"{path} is not a file; - takes csv from standard input.")
        return _with_rows(open_table(files))
    except (FileNotFoundError, UnknownFormat) as error:
        raise WrongUse(str(error)) from None


def _with_rows(table: Table) -> Table:
    for file in table.files:
        if isinstance(file, CsvFile) and file.is_empty:
            raise Refusal(f"{file.label}: there are no rows.")
    return table
