"""``srff predict``: a model and a table in, a prediction for each row out."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srff._utils.text import listed, shown
from srff.cli.errors import Refusal, WrongUse, plain_errors, say
from srff.cli.options import (
    STDOUT,
    Debug,
    Force,
    Json,
    MissingInputs,
    MissingInputsOption,
    PredictionsOut,
    PredictRequest,
    Proba,
    Quiet,
    TablePath,
)
from srff.cli.report import Model, loaded

if TYPE_CHECKING:
    import numpy as np

    from srff.cli.rows import Predictor
    from srff.data.sources.tables import Table

COLUMN = "prediction"
CHANCE = "probability"

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet computes."""


def predict(
    model: Model,
    table: TablePath,
    out: PredictionsOut = STDOUT,
    proba: Proba = False,
    missing: MissingInputsOption = MissingInputs.error,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the target for each row of a table, in the order of the rows.

    Only the columns that the model uses are read, and need to be there, in any order.

    Of a classifier the prediction is a class; of several targets there are prediction_0 and so on.

    For example:

      srff predict model.srff new.csv

      srff predict model.srff new.csv --proba --out predictions.csv

      srff predict model.srff new.parquet --out predictions.parquet

      cat new.csv | srff predict model.srff - > predictions.csv
    """
    request = PredictRequest(model, table, out, proba, missing, as_json, force, quiet)
    with plain_errors(debug, quiet=quiet):
        _run(request)


def _run(request: PredictRequest) -> None:
    """Check what was asked for, predict batch by batch, and say what was written."""
    from srff.cli.rows import predictor_of
    from srff.cli.tables import opened

    begun = time.perf_counter()
    kind = _kind(request)
    model = _model(request)
    if kind == "csv" and not request.quiet:
        _warn_of_formulas(model)
    with opened(request.table) as table, _destination(request.out, request.force) as path:
        predictor, schema = predictor_of(model, table), _schema(model, kind, request)
        with _writer(path, kind, schema) as write:
            n_rows, n_empty = _predict_all(table, predictor, request.missing, write)
    _show(request, predictor.columns, n_rows, n_empty, round(time.perf_counter() - begun, 3))


def _kind(request: PredictRequest) -> str:
    """The kind of file that is written, where it may be."""
    from srff.cli.outputs import check_free
    from srff.data.sources.files import WRITTEN_FORMATS

    out = request.out
    if out == STDOUT:
        if request.as_json:
            raise WrongUse("--json needs --out FILE: standard output is for the JSON object.")
        return "csv"
    kind = WRITTEN_FORMATS.get(Path(out).suffix.lower())
    if kind is None:
        known = ", ".join(WRITTEN_FORMATS)
        raise WrongUse(f"--out {out}: unknown kind of file; known are {known}.")
    check_free(Path(out), request.force)
    return kind


def _model(request: PredictRequest) -> Any:
    """The model, which must be one of classes for their probabilities."""
    from srff.inspect.outcome import outcome_of

    model = loaded(request.model)
    if request.proba and not outcome_of(model).labels:
        raise WrongUse(f"--proba needs a model of classes; {request.model} is of a regression.")
    return model


def _warn_of_formulas(model: Any) -> None:
    """Say that a spreadsheet would take a label for a formula.

    Labels are written as they are all the same: a quote before them would make other labels of
    them, for every program that reads the file.
    """
    from srff.data.encoding.number_texts import is_number
    from srff.inspect.outcome import outcome_of

    labels = [label for label in outcome_of(model).labels or () if isinstance(label, str)]
    odd = [shown(label) for label in labels if label[:1] in FORMULA and not is_number(label)]
    if odd:
        say(
            f"warning: a spreadsheet takes labels such as {odd[0]} for formulas; read the file as "
            "text there."
        )


def _show(
    request: PredictRequest, columns: list[str], n_rows: int, n_empty: int, seconds: float
) -> None:
    """What was done: as JSON, or in a line unless predictions went to standard output."""
    from srff.cli.outputs import print_json

    if request.as_json:
        print_json(
            {
                "model": str(request.model),
                "table": request.table,
                "out": request.out,
                "rows": n_rows,
                "empty": n_empty,
                "columns": columns,
                "seconds": seconds,
            }
        )
    elif not request.quiet and request.out != STDOUT:
        empty = f", {n_empty:,} of them empty" if n_empty else ""
        say(f"{n_rows:,} predictions{empty} in {request.out} ({seconds:.1f} s).")


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


def _predict_all(
    table: Table, predictor: Predictor, missing: MissingInputs, write: Any
) -> tuple[int, int]:
    """Predict batch by batch; the number of rows, and of those without a prediction."""
    import numpy as np

    columns = predictor.columns
    n_rows = n_empty = 0
    gaps = dict.fromkeys(columns, 0)
    # Without any variable a column is read only to count the rows.
    for batch in table.batches(columns or table.names[:1]):
        if not batch.num_rows:
            continue
        X = predictor.rows(batch)
        good = predictor.accepted(X)
        usable = good.all(axis=1)
        if not usable.all():
            for name, count in zip(columns, (~good).sum(axis=0), strict=True):
                gaps[name] += int(count)
        n_empty += int(usable.size - usable.sum())
        if n_empty and missing == MissingInputs.error:
            n_rows += X.shape[0]
            continue  # only to count
        said = predictor.outputs(X[usable])
        wrong = np.flatnonzero(~np.isfinite(said).all(axis=1))
        if wrong.size:
            row = n_rows + int(np.flatnonzero(usable)[wrong[0]])
            raise Refusal(
                f"{table.label}: no prediction can be computed for row {row}: its numbers are too "
                "far from those that the model was fitted on."
            )
        whole = np.full((X.shape[0], said.shape[1]), np.nan)
        whole[usable] = said
        write(whole)
        n_rows += X.shape[0]
    if n_empty and missing == MissingInputs.error:
        where = listed([f"{shown(name)} ({count:,})" for name, count in gaps.items() if count])
        raise Refusal(
            f"{table.label}: missing or infinite values among {n_rows:,} rows in {where}; "
            "--missing empty leaves the predictions of such rows empty."
        )
    return n_rows, n_empty


@dataclass(frozen=True)
class Schema:
    """The columns of the predictions: their names and types, and what they are made of."""

    columns: list[tuple[str, Any]]
    made: Callable[[np.ndarray], list[Any]]


def _schema(model: Any, kind: str, request: PredictRequest) -> Schema:
    """A column for each target; or one of classes, and their probabilities if wanted."""
    import numpy as np
    import pyarrow as pa

    from srff.inspect.outcome import outcome_of

    # A csv line of one empty value is an empty line, which many programs skip.
    empty = kind != "csv"
    classes = outcome_of(model).labels
    if not classes:
        n_targets = getattr(model, "n_targets_", None)
        names = [COLUMN] if n_targets is None else [f"{COLUMN}_{t}" for t in range(n_targets)]
        return Schema(
            [(name, pa.float64()) for name in names],
            lambda Y: [pa.array(y, from_pandas=empty) for y in Y.T],
        )
    labels = pa.array(classes)
    if not empty and request.missing == MissingInputs.empty:
        labels = pa.array([_text(label) for label in classes] + ["NaN"])
    columns = [(COLUMN, labels.type)]
    if request.proba:
        columns += [(f"{CHANCE}_{_text(label)}", pa.float64()) for label in classes]

    def made(P: np.ndarray) -> list[Any]:
        none = np.isnan(P[:, 0])
        code = np.argmax(np.where(none[:, None], 0.0, P), axis=1)
        if len(labels) > len(classes):
            said = labels.take(pa.array(np.where(none, len(classes), code)))
        else:
            said = labels.take(pa.array(code, mask=none))
        chances = P.T if request.proba else ()
        return [said, *(pa.array(p, from_pandas=empty) for p in chances)]

    return Schema(columns, made)


def _text(label: Any) -> str:
    """A class in a name."""
    return str(label).lower() if isinstance(label, bool) else str(label)


@contextmanager
def _writer(path: Path, kind: str, schema: Schema) -> Iterator[Any]:
    """A function that appends predictions to a file; where there is none it is empty."""
    import pyarrow as pa
    from pyarrow import csv, ipc, parquet

    fields = pa.schema(schema.columns)
    with open(path, "wb") as file:
        if kind == "csv":
            plain = len(schema.columns) == 1
            if plain:
                file.write(f"{COLUMN}\n".encode())
            writer = csv.CSVWriter(
                file, fields, write_options=csv.WriteOptions(include_header=not plain)
            )
        else:
            writer = (parquet.ParquetWriter if kind == "parquet" else ipc.new_file)(file, fields)
        with writer:
            yield lambda said: writer.write_batch(pa.record_batch(schema.made(said), schema=fields))
