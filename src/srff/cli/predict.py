"""``srff predict``: a model and a table in, a prediction for each row out."""

from __future__ import annotations

import copy
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srff.cli.errors import (
    Debug,
    Force,
    Json,
    Quiet,
    Refusal,
    TablePath,
    WrongUse,
    listed,
    plain_errors,
    say,
    shown,
)
from srff.cli.report import Model, loaded

if TYPE_CHECKING:
    from srff.cli.tables import Table

COLUMN = "prediction"
STDOUT = "-"


class Missing(StrEnum):
    """What to do where values are missing."""

    error = "error"
    empty = "empty"


def predict(
    model: Model,
    table: TablePath,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A .csv, .parquet, .arrow or .feather file; - for csv on standard output.",
        ),
    ] = STDOUT,
    missing: Annotated[
        Missing,
        typer.Option(help="Refuse missing values, or leave their predictions empty (NaN in csv)."),
    ] = Missing.error,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the target for each row of a table, in the order of the rows.

    Only the columns that the model uses are read, and need to be there, in any order.

    For example:

      srff predict model.srff new.csv

      srff predict model.srff new.parquet --out predictions.parquet

      cat new.csv | srff predict model.srff - > predictions.csv
    """
    with plain_errors(debug, quiet=quiet):
        from srff.cli.outputs import check_free, print_json
        from srff.cli.tables import opened

        begun = time.perf_counter()
        if as_json and out == STDOUT:
            raise WrongUse("--json needs --out FILE: standard output is for the JSON object.")
        kind = "csv" if out == STDOUT else _kind(out)
        if out != STDOUT:
            check_free(Path(out), force)
        fitted = loaded(model)
        with opened(table) as given, _destination(out, force) as path:
            columns, predictor = _predictor(fitted, given)
            with _writer(path, kind) as write:
                n_rows, n_empty = _predict_all(given, columns, predictor, missing, write)
        done = {
            "model": str(model),
            "table": table,
            "out": out,
            "rows": n_rows,
            "empty": n_empty,
            "columns": columns,
            "seconds": round(time.perf_counter() - begun, 3),
        }
        if as_json:
            print_json(done)
        elif not quiet and out != STDOUT:
            empty = f", {n_empty:,} of them empty" if n_empty else ""
            say(f"{n_rows:,} predictions{empty} in {out} ({done['seconds']:.1f} s).")


def _kind(out: str) -> str:
    from srff.sources.tables import FORMATS

    kind = FORMATS.get(Path(out).suffix.lower())
    if kind is None:
        raise WrongUse(f"--out {out}: unknown kind of file; known are {', '.join(FORMATS)}.")
    return kind


@contextmanager
def _destination(out: str, force: bool) -> Iterator[Path]:
    """A file to write to: it becomes ``out``, or goes to standard output, when all went well."""
    from srff.cli.outputs import whole_file

    if out != STDOUT:
        with whole_file(Path(out), force) as path:
            yield path
        return
    with tempfile.TemporaryDirectory(prefix="srff-") as folder:
        path = Path(folder) / "predictions.csv"
        yield path
        sys.stdout.flush()
        with open(path, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()


def _predictor(model: Any, table: Table) -> tuple[list[str], Any]:
    """The columns that the model needs, in its order, and the model over these alone."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        # Fitted on an array: columns are told by their places.
        if len(table.names) != model.n_features_in_:
            raise Refusal(
                f"{table.label}: there are {len(table.names)} columns; the model has no names of "
                f"columns and needs exactly {model.n_features_in_}."
            )
        names = table.names
    columns = [str(name) for name in names]
    small = copy.copy(model)
    if hasattr(model, "reduced"):
        support = model.get_support()
        columns = [name for name, used in zip(columns, support, strict=True) if used]
        small = model.reduced() if columns else model
    table.check_columns(columns)
    for name in columns:
        reason = table.unfit(name)
        if reason:
            raise Refusal(f"{table.label}: column {shown(name)} cannot be used: {reason}.")
    if hasattr(small, "feature_names_in_") and small is not model:
        del small.feature_names_in_  # rows come as arrays in the order of the columns
    return columns, small


def _predict_all(
    table: Table, columns: list[str], model: Any, missing: Missing, write: Any
) -> tuple[int, int]:
    """Predict batch by batch; the number of rows, and of those without a prediction."""
    import numpy as np

    from srff.sources.tables import matrix

    n_rows = n_empty = 0
    gaps = dict.fromkeys(columns, 0)
    # Without any variable a column is read only to count the rows.
    for batch in table.batches(columns or table.names[:1]):
        if not batch.num_rows:
            continue
        X = matrix(batch, columns)
        finite = np.isfinite(X)
        usable = finite.all(axis=1)
        if not usable.all():
            for name, count in zip(columns, (~finite).sum(axis=0), strict=True):
                gaps[name] += int(count)
        n_bad = int(usable.size - usable.sum())
        n_empty += n_bad
        if n_empty and missing == Missing.error:
            n_rows += X.shape[0]
            continue  # only to count
        y = np.full(X.shape[0], np.nan)
        if not columns:
            y[:] = model.intercept_
        elif n_bad < X.shape[0]:
            y[usable] = model.predict(X[usable] if n_bad else X)
        wrong = np.flatnonzero(usable & ~np.isfinite(y))
        if wrong.size:
            raise Refusal(
                f"{table.label}: no prediction can be computed for row {n_rows + wrong[0]}: its "
                "numbers are too far from those that the model was fitted on."
            )
        write(y)
        n_rows += X.shape[0]
    if n_empty and missing == Missing.error:
        where = listed([f"{shown(name)} ({count:,})" for name, count in gaps.items() if count])
        raise Refusal(
            f"{table.label}: missing or infinite values among {n_rows:,} rows in {where}; "
            "--missing empty leaves the predictions of such rows empty."
        )
    return n_rows, n_empty


@contextmanager
def _writer(path: Path, kind: str) -> Iterator[Any]:
    """A function that appends predictions to a file; where there is none it is empty."""
    import pyarrow as pa
    from pyarrow import csv, ipc, parquet

    schema = pa.schema([(COLUMN, pa.float64())])
    with open(path, "wb") as file:
        if kind == "csv":
            file.write(f"{COLUMN}\n".encode())
            writer = csv.CSVWriter(
                file, schema, write_options=csv.WriteOptions(include_header=False)
            )
        else:
            writer = (parquet.ParquetWriter if kind == "parquet" else ipc.new_file)(file, schema)
        # A csv line of one empty value is an empty line, which many programs skip.
        empty = kind != "csv"
        with writer:
            yield lambda y: writer.write_batch(
                pa.record_batch([pa.array(y, from_pandas=empty)], schema=schema)
            )
