"""``srff predict``: a model and a table in, a prediction for each row out."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srff._utils.text import listed, shown
from srff.cli.errors import Refusal, WrongUse, plain_errors, say
from srff.cli.options import (
    STDOUT,
    CsvForm,
    Debug,
    Decimal,
    Digits,
    Encoding,
    Force,
    Interval,
    Json,
    KeepColumns,
    MissingInputs,
    MissingInputsOption,
    MissingTexts,
    PredictionsOut,
    PredictRequest,
    Proba,
    Quiet,
    Sep,
    TablePath,
)
from srff.cli.predicted import check_kept, schema_of, writer
from srff.cli.report import Model, loaded

if TYPE_CHECKING:
    import numpy as np

    from srff.cli.rows import Predictor
    from srff.data.sources.tables import Table

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet computes."""


def predict(
    model: Model,
    table: TablePath,
    out: PredictionsOut = STDOUT,
    proba: Proba = False,
    interval: Interval = None,
    keep: KeepColumns = None,
    digits: Digits = None,
    missing: MissingInputsOption = MissingInputs.error,
    decimal: Decimal = None,
    sep: Sep = None,
    encoding: Encoding = None,
    na: MissingTexts = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the target for each row of a table, in the order of the rows.

    Only the columns that the model uses are read, and need to be there, in any order.

    Of a classifier the prediction is a class; of several targets there are prediction_0 and so on.
    With --interval there are lower and upper beside it.

    For example:

      srff predict model.srff new.csv

      srff predict model.srff new.csv --proba --out predictions.csv

      srff predict model.srff new.csv --keep patient --digits 4 --interval 0.9

      srff predict model.srff new.parquet --out predictions.parquet

      cat new.csv | srff predict model.srff - > predictions.csv
    """
    form = CsvForm(decimal, sep, encoding, tuple(na or ()))
    request = PredictRequest(
        model, table, out, proba, interval, keep or [], digits, form, missing, as_json, force, quiet
    )
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
    with (
        opened(request.table, request.csv, request.quiet) as table,
        _destination(request.out, request.force) as path,
    ):
        check_kept(table, request.keep, interval=request.interval is not None)
        predictor = replace(predictor_of(model, table), interval=request.interval)
        schema = schema_of(model, kind, table, request, predictor.columns)
        with writer(path, kind, schema) as write:
            done = _predict_all(table, predictor, request, write)
    if not request.quiet:
        _warn_of_strangers(done)
    _show(request, predictor.columns, done, round(time.perf_counter() - begun, 3))


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
    if request.interval is not None:
        if not hasattr(model, "held_out_errors_"):
            raise WrongUse(f"--interval needs a model of SRFFRegressor; {request.model} is none.")
        _check_interval(model, request.interval)
    return model


def _check_interval(model: Any, level: float) -> None:
    """Refuse a share that the model has no interval for."""
    import numpy as np

    from srff.inspect.intervals import interval_of
    from srff.inspect.outcome import outcome_of

    errors = model.held_out_errors_
    none = np.zeros((0, 1 if errors is None else errors.shape[1]))
    try:
        interval_of(outcome_of(model).loss, none, errors, level)
    except ValueError as error:
        raise WrongUse(f"--{error}") from None


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


@dataclass
class Done:
    """What was predicted."""

    n_rows: int = 0
    n_empty: int = 0
    """Rows without a prediction."""
    n_strange: int = 0
    """Rows with a value that the fit has not seen, or beyond all that it saw."""
    beyond: Counter[str] = field(default_factory=Counter)
    """Of each column the values beyond the range of the fit."""
    unseen: Counter[str] = field(default_factory=Counter)
    """Of each column the levels that the fit did not see."""


def _warn_of_strangers(done: Done) -> None:
    """Say in a line how many rows the model has seen nothing like."""
    if not done.n_strange:
        return
    told = [
        f"{what} in {listed([f'{shown(name)} ({n:,})' for name, n in counts.most_common()])}"
        for what, counts in (
            ("beyond the range of the fit", done.beyond),
            ("levels that the fit did not see", done.unseen),
        )
        if counts
    ]
    say(
        f"warning: {done.n_strange:,} of {done.n_rows:,} rows have values that the model has seen "
        f"nothing like: {'; '.join(told)}."
    )


def _show(request: PredictRequest, columns: list[str], done: Done, seconds: float) -> None:
    """What was done: as JSON, or in a line unless predictions went to standard output."""
    from srff.cli.outputs import print_json

    if request.as_json:
        print_json(
            {
                "model": str(request.model),
                "table": request.table,
                "out": request.out,
                "rows": done.n_rows,
                "empty": done.n_empty,
                "beyond_range": dict(done.beyond),
                "unseen_levels": dict(done.unseen),
                "columns": columns,
                "seconds": seconds,
            }
        )
    elif not request.quiet and request.out != STDOUT:
        empty = f", {done.n_empty:,} of them empty" if done.n_empty else ""
        say(f"{done.n_rows:,} predictions{empty} in {request.out} ({seconds:.1f} s).")


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


def _predict_all(table: Table, predictor: Predictor, request: PredictRequest, write: Any) -> Done:
    """Predict batch by batch; an error names the columns in which values are missing."""
    import numpy as np

    columns, done = predictor.columns, Done()
    gaps = dict.fromkeys(columns, 0)
    wanted = list(dict.fromkeys([*columns, *request.keep]))
    refuse = request.missing == MissingInputs.error
    # Without any variable a column is read only to count the rows.
    for batch in table.batches(wanted or table.names[:1]):
        if not batch.num_rows:
            continue
        X = predictor.rows(batch)
        good = predictor.accepted(X)
        usable = good.all(axis=1)
        if not usable.all():
            for name, count in zip(columns, (~good).sum(axis=0), strict=True):
                gaps[name] += int(count)
        done.n_empty += int(usable.size - usable.sum())
        if done.n_empty and refuse:
            done.n_rows += X.shape[0]
            continue  # only to count
        said = predictor.outputs(X[usable])
        wrong = np.flatnonzero(~np.isfinite(said).all(axis=1))
        if wrong.size:
            row = done.n_rows + int(np.flatnonzero(usable)[wrong[0]])
            raise Refusal(
                f"{table.label}: no prediction can be computed for row {row}: its numbers are too "
                "far from those that the model was fitted on."
            )
        whole = np.full((X.shape[0], said.shape[1]), np.nan)
        whole[usable] = said
        write(whole, batch)
        _count_strangers(predictor, X[usable], done)
        done.n_rows += X.shape[0]
    if done.n_empty and refuse:
        where = listed([f"{shown(name)} ({count:,})" for name, count in gaps.items() if count])
        raise Refusal(
            f"{table.label}: missing or infinite values among {done.n_rows:,} rows in {where}; "
            "--missing empty leaves the predictions of such rows empty."
        )
    return done


def _count_strangers(predictor: Predictor, X: np.ndarray, done: Done) -> None:
    """Values that the fit saw nothing like."""
    beyond, unseen = predictor.beyond(X), predictor.unseen(X)
    done.n_strange += int((beyond | unseen).any(axis=1).sum())
    for counts, strange in ((done.beyond, beyond), (done.unseen, unseen)):
        for name, n in zip(predictor.columns, strange.sum(axis=0).tolist(), strict=True):
            if n:
                counts[name] += n
