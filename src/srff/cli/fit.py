"""``srff fit``: a table in, a model out."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srff._utils.progress import is_terminal
from srff._utils.text import listed, one_line, shown
from srff.cli.errors import Refusal, WrongUse, no_such_column, plain_errors, say
from srff.cli.options import (
    CategoryOption,
    Checkpoint,
    ClassWeight,
    ConfidenceOption,
    CsvForm,
    Debug,
    Decimal,
    Device,
    Drop,
    Effort,
    EffortOption,
    Encoding,
    Fdr,
    FitRequest,
    Force,
    Groups,
    Json,
    Keep,
    KeepOption,
    Loss,
    MemoryLimit,
    Missing,
    MissingOption,
    MissingTexts,
    ModelOut,
    MustKeep,
    NFeatures,
    Quiet,
    RowGroup,
    Seed,
    Sep,
    Settings,
    Strict,
    TablePath,
    Targets,
    Task,
    TaskOption,
    Time,
    Use,
    Validation,
    Weight,
)

if TYPE_CHECKING:
    from srff.data.sources.column_survey import ColumnSurvey
    from srff.data.sources.tables import Table, TableSource


def fit(
    table: TablePath,
    target: Targets,
    out: ModelOut = Path("model.srff"),
    task: TaskOption = Task.auto,
    loss: Loss = None,
    groups: Groups = None,
    n_features: NFeatures = None,
    must_keep: MustKeep = None,
    effort: EffortOption = Effort.auto,
    keep: KeepOption = Keep.auto,
    class_weight: ClassWeight = None,
    weight: Weight = None,
    validation: Validation = None,
    row_group: RowGroup = None,
    time: Time = None,
    drop: Drop = None,
    use: Use = None,
    category: CategoryOption = None,
    decimal: Decimal = None,
    sep: Sep = None,
    encoding: Encoding = None,
    na: MissingTexts = None,
    strict: Strict = False,
    missing: MissingOption = Missing.error,
    memory_limit: MemoryLimit = None,
    checkpoint: Checkpoint = None,
    confidence: ConfidenceOption = False,
    fdr: Fdr = None,
    device: Device = "cpu",
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the variables that matter in a table, and write the model that uses only them.

    Columns of text are categories; dates become days and places in year, week and day. Columns that
    cannot be inputs (names and numbers of rows, constants) are left out and named. A target of
    text, or of true and false, is one of classes.

    For example:

      srff fit houses.csv --target price

      srff fit patients.csv -t diagnosis --missing impute --class-weight balanced

      srff fit sensors.parquet -t flow --groups 'lag1,lag2;north,south' --n-features 3

      srff fit houses.csv -t price --drop id --missing drop-rows --out houses.srff

      srff fit export.csv -t yield --decimal , --sep ';' --na '?' --category postcode

      srff fit visits.csv -t weight --row-group patient --validation 5

      srff fit genes.csv -t diagnosis --confidence --fdr 0.2

      srff fit 'measurements/*.parquet' -t y --memory-limit 1GB --checkpoint steps

      zcat big.csv.gz | srff fit - -t y --set refine=metric --json > summary.json
    """
    request = FitRequest(
        table=table,
        targets=target,
        out=out,
        task=task,
        loss=loss,
        groups=groups,
        n_features=n_features,
        must_keep=must_keep or [],
        effort=effort,
        keep=keep,
        class_weight=class_weight,
        weight=weight,
        validation=validation,
        row_group=row_group,
        time=time,
        drop=drop or [],
        use=use or [],
        category=category or [],
        csv=CsvForm(decimal, sep, encoding, tuple(na or ())),
        strict=strict,
        missing=missing,
        memory_limit=memory_limit,
        checkpoint=checkpoint,
        confidence=confidence,
        fdr=fdr,
        device=device,
        seed=seed,
        settings=settings or [],
        as_json=as_json,
        force=force,
        quiet=quiet,
    )
    with plain_errors(debug, request.if_stopped, quiet):
        _run(request)


@dataclass(frozen=True)
class Rows:
    """The rows to learn from, and what was found in their table."""

    source: TableSource
    found: ColumnSurvey
    n_rows: int
    classes: bool
    """Whether the target holds classes."""


def _run(request: FitRequest) -> None:
    """Check what was asked for, read the table, fit, write the model, and say what it is."""
    from srff.cli.learner import groups_of, later_rows, learner, numbered
    from srff.cli.outputs import check_free
    from srff.cli.tables import opened

    begun = time.perf_counter()
    check_free(request.out, request.force)
    _check_confidence(request)
    with opened(request.table, request.csv, request.quiet) as table:
        _check_names(table, request)
        classes = _classes_wanted(table, request)
        model = learner(request, classes)
        with _reading(request):
            rows = _rows(table, request, classes)
        if request.time is not None:
            model.set_params(validation=later_rows(rows.source, request))
        if request.row_group is not None:
            numbered(rows.source, "--row-group", request.row_group)
        if request.category:
            asked = [name for name in rows.found.inputs if name in request.category]
            model.set_params(categorical_features=asked or "from_dtype")
        if request.must_keep:
            model.set_params(must_keep=_inputs_to_keep(rows, request))
        if request.groups is not None:
            model.set_params(groups=groups_of(request.groups, table.names, rows.found.inputs))
        if not request.quiet:
            _tell_columns(rows, request)
            _tell_task(table, rows, request)
        # First, so that what it refuses is said before anything is learned.
        sure = _confidence(model, rows, request) if request.confidence else None
        model.fit(rows.source)
        if sure is not None:
            model.confidence_ = sure
    out = _written(model, request)
    _show(model, rows, request, out, time.perf_counter() - begun)


def _inputs_to_keep(rows: Rows, request: FitRequest) -> list[str]:
    """The columns of ``--must-keep``, which must be inputs."""
    for name in request.must_keep:
        if name not in rows.found.inputs:
            why = rows.found.dropped.get(name, "it is no input")
            raise Refusal(f"--must-keep {shown(name)}: {one_line(why)}.")
    return request.must_keep


def _check_confidence(request: FitRequest) -> None:
    """Refuse a rate that is none, or nobody has asked for."""
    if request.fdr is not None and not request.confidence:
        raise WrongUse("--fdr goes with --confidence.")
    if request.fdr is not None and not 0 < request.fdr < 1:
        raise WrongUse(f"--fdr {request.fdr:g} must be a number between 0 and 1.")
    if request.confidence and request.time is not None:
        raise WrongUse(
            "--confidence and --time cannot be given together: rows are set aside at random."
        )


def _confidence(model: Any, rows: Rows, request: FitRequest) -> Any:
    """How sure it is of each variable, by further searches of the same kind."""
    from srff.inference.confidence import confidence

    q = 0.1 if request.fdr is None else request.fdr
    return confidence(model, rows.source, q=q)


def _check_names(table: Table, request: FitRequest) -> None:
    """Refuse columns that are not there, or have two jobs."""
    for option, names in (
        ("--target", request.targets),
        ("--weight", [] if request.weight is None else [request.weight]),
        ("--row-group", [] if request.row_group is None else [request.row_group]),
        ("--time", [] if request.time is None else [request.time]),
        ("--drop", request.drop),
        ("--must-keep", request.must_keep),
        ("--use", request.use),
        ("--category", request.category),
    ):
        for name in names:
            if name not in table.names:
                raise WrongUse(no_such_column(option, name, table.names))
    if request.row_group is not None and request.time is not None:
        raise WrongUse("--row-group and --time cannot be given together.")
    taken = [*request.taken, *request.beside]
    if len(set(taken)) < len(taken) or set(taken) & set(request.drop):
        raise WrongUse(
            "--target, --weight, --row-group, --time and --drop must name different columns."
        )
    beside = [*taken, *request.drop]
    for option, names in (("--use", request.use), ("--category", request.category)):
        for name in names:
            if name in beside:
                raise WrongUse(f"{option} {shown(name)}: the column is no input by another option.")


def _classes_wanted(table: Table, request: FitRequest) -> bool:
    """Whether the target holds classes."""
    from srff.data.encoding.table_columns import DATE, NUMBER

    targets, asked = request.targets, request.task == Task.classification
    text = [
        name for name in targets if not table.unfit(name) and table.kind(name) not in (NUMBER, DATE)
    ]
    classes = asked or (request.task == Task.auto and bool(text))
    if classes and len(targets) > 1:
        why = "" if asked else f" ({shown(text[0])}: {table.example(text[0])})"
        raise WrongUse(f"--target is given {len(targets)} times; classes are one column{why}.")
    if classes and request.loss is not None:
        raise WrongUse(
            f"--loss {request.loss} is for a regression; that of classes is the log loss."
        )
    if not classes and request.class_weight is not None:
        raise WrongUse("--class-weight needs classes; --task classification makes numbers such.")
    return classes


@contextmanager
def _reading(request: FitRequest) -> Iterator[None]:
    """A sign of life on a terminal."""
    if request.quiet or not is_terminal(sys.stderr):
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(f"reading {escape(request.table)}"):
        yield


def _rows(table: Table, request: FitRequest, classes: bool) -> Rows:
    """The rows to learn from: all of a table, or those that are complete where they must be."""
    from srff.data.sources.column_survey import Wishes, survey_columns, surveyed_rows

    targets, weight = request.targets, request.weight
    no_inputs, category = request.no_inputs, request.category
    wishes = Wishes(targets, weight, no_inputs, category, request.use, classes)
    found = survey_columns(table, wishes)
    _check_inputs(table, found, request)
    _check_few(table, found, request)
    # Without a target or a weight there is nothing to learn from a row.
    complete = [name for name in found.gaps if not request.impute or name in request.taken]
    if not complete:
        source = surveyed_rows(table, found, targets, weight, row_groups=request.row_group)
        return Rows(source, found, found.n_rows, classes)
    if request.missing == Missing.error:
        raise Refusal(
            f"{table.label}: missing or infinite values among {found.n_rows:,} rows in "
            f"{_counted(found.gaps)}; --missing drop-rows leaves out their rows, --missing impute "
            "fills them in, --drop leaves out a column."
        )
    source = surveyed_rows(table, found, targets, weight, complete, request.row_group)
    n_rows = source.count()
    if n_rows < 2:
        raise Refusal(
            f"{table.label}: {n_rows} of {found.n_rows:,} rows have no missing or infinite value; "
            "at least 2 are needed."
        )
    return Rows(source, found, n_rows, classes)


def _check_inputs(table: Table, found: ColumnSurvey, request: FitRequest) -> None:
    """Refuse a table without inputs, and under ``--strict`` one with columns that are none."""
    asked = request.no_inputs
    unasked = [f"{shown(n)} ({why})" for n, why in found.dropped.items() if n not in asked]
    if not found.inputs:
        why = f": {listed(unasked)}" if unasked else " beside the target"
        raise Refusal(f"{table.label}: there is no column that can be an input{why}.")
    if request.strict and unasked:
        raise Refusal(
            f"{table.label}: columns that cannot be inputs: {listed(unasked)}; --drop leaves a "
            "column out."
        )


def _check_few(table: Table, found: ColumnSurvey, request: FitRequest) -> None:
    """Refuse groups and times of more rows than are held in memory."""
    from srff.data.dataset import STREAM_ROWS

    option = "--row-group" if request.row_group else "--time" if request.time else None
    if option is not None and found.n_rows > STREAM_ROWS:
        raise Refusal(
            f"{table.label}: {option} takes at most {STREAM_ROWS:,} rows; there are "
            f"{found.n_rows:,}."
        )


def _counted(gaps: dict[str, int]) -> str:
    """Columns with the number of their missing values."""
    return listed([f"{shown(name)} ({count:,})" for name, count in gaps.items()])


def _tell_columns(rows: Rows, request: FitRequest) -> None:
    """Name what is left out, unless it was asked for, and what is taken for a category."""
    found, impute = rows.found, request.impute
    for name, reason in found.dropped.items():
        if name not in request.no_inputs:
            say(f"column {shown(name)} is left out: {one_line(reason)}.")
    for what, names in (("categories", found.categories), ("dates", found.dates)):
        if names:
            word = "column holds" if len(names) == 1 else "columns hold"
            say(f"{len(names)} {word} {what}: {listed([shown(name) for name in names])}.")
    for doubt in found.warnings:
        say(f"{doubt}.")
    gaps = {name: count for name, count in found.gaps.items() if not impute or name in found.inputs}
    left_out = found.n_rows - rows.n_rows
    if left_out:
        why = (
            "they have no target or weight" if impute else f"values are missing in {_counted(gaps)}"
        )
        say(f"{left_out:,} of {found.n_rows:,} rows are left out: {why}.")
    if impute and gaps:
        say(f"missing values are filled in: {_counted(gaps)}.")


def _tell_task(table: Table, rows: Rows, request: FitRequest) -> None:
    """Say what was taken for what, where it could be otherwise."""
    from srff.data.sources.column_survey import FEW_VALUES

    if request.task != Task.auto:
        return
    first, n_values = request.targets[0], rows.found.n_values
    if rows.classes:
        example = table.example(first)
        say(f"column {shown(first)} is predicted as a class: {example} (--task classification).")
    elif len(request.targets) == 1 and 2 <= n_values <= FEW_VALUES:
        say(
            f"column {shown(first)} is predicted as a number, though it has only {n_values} "
            "different values; --task classification takes them for classes."
        )


def _written(model: Any, request: FitRequest) -> Path:
    """Where the model was written, or beside it if a file has come there: no fit is lost."""
    from srff.export.save import save

    # What only this machine and this terminal have to do with.
    model.set_params(verbose=0, checkpoint=None)
    out = request.out
    if out.exists() and not request.force:
        beside = (out.with_stem(f"{out.stem}-{number}") for number in itertools.count(2))
        other = next(path for path in beside if not path.exists())
        say(f"{out} has come while the model was fitted; the model is written to {other}.")
        out = other
    save(model, out, overwrite=request.force)
    return out


def _show(model: Any, rows: Rows, request: FitRequest, out: Path, seconds: float) -> None:
    """What the model is, as JSON or as tables."""
    from srff.cli.outputs import print_json
    from srff.cli.summary import print_summary, summary

    targets, found = request.targets, rows.found
    if request.as_json:
        more = {
            "table": request.table,
            "target": targets[0] if len(targets) == 1 else targets,
            "task": "classification" if rows.classes else "regression",
            "rows": rows.n_rows,
            "rows_left_out": found.n_rows - rows.n_rows,
            "dropped": found.dropped,
            "categories": found.categories,
            "seconds": round(seconds, 3),
            "model": str(out),
        }
        print_json(summary(model) | more)
    elif not request.quiet:
        lines = {
            "target": ", ".join(targets),
            "rows": f"{rows.n_rows:,}",
            "seconds": f"{seconds:.1f}",
            "written to": str(out),
        }
        print_summary(summary(model), lines)
