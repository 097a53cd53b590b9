"""``srff fit``: a table in, a model out."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srff._utils.text import listed, one_line, shown
from srff.cli.errors import (
    Debug,
    Force,
    Json,
    Quiet,
    Refusal,
    TablePath,
    WrongUse,
    no_such_column,
    plain_errors,
    say,
)

if TYPE_CHECKING:
    from srff.data.sources.column_survey import ColumnSurvey
    from srff.data.sources.tables import Table, TableSource

OWN_OPTIONS = (
    "random_state",
    "memory_limit",
    "checkpoint",
    "device",
    "verbose",
    "callback",
    "loss",
    "groups",
    "missing",
    "class_weight",
    "n_features_to_select",
    "categorical_features",
)
"""Parameters of the estimators that ``--set`` does not take: they have options of their own, or are
no plain values."""


class Missing(StrEnum):
    """What to do where values are missing."""

    error = "error"
    drop_rows = "drop-rows"
    impute = "impute"


class Task(StrEnum):
    """What is predicted."""

    auto = "auto"
    regression = "regression"
    classification = "classification"


def fit(
    table: TablePath,
    target: Annotated[
        list[str],
        typer.Option(
            "--target",
            "-t",
            metavar="COL",
            help="The column to predict; may be given again for several targets of a regression.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where the model is written.")
    ] = Path("model.srff"),
    task: Annotated[
        Task,
        typer.Option(help="Predict a number or a class; auto: a class if the target is text."),
    ] = Task.auto,
    loss: Annotated[
        str | None,
        typer.Option(help="Of a regression: squared, poisson, pinball or such as pinball:0.9."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS",
            help="Columns kept or dropped together: 'a,b;c,d', or a JSON file of lists.",
        ),
    ] = None,
    n_features: Annotated[
        int | None,
        typer.Option("--n-features", min=1, metavar="N", help="Keep so many variables or groups."),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="WEIGHTS", help="Weights of classes: balanced, or 'yes=3,no=1'."),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="A column of row weights.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column that is not an input; may be given again."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse columns that cannot be inputs.")
    ] = False,
    missing: Annotated[
        Missing,
        typer.Option(help="Refuse missing values, leave out rows that have any, or fill them in."),
    ] = Missing.error,
    memory_limit: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Most memory beside the data, such as 500MB.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the steps here, to go on after a stop."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, or a PyTorch device such as cuda.")] = "cpu",
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same model.")
    ] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the estimator, such as n_components=100; may be given again.",
        ),
    ] = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the variables that matter in a table, and write the model that uses only them.

    Columns of text are categories. Columns that cannot be inputs (dates, names of rows, constants)
    are left out and named. A target of text, or of true and false, is one of classes.

    For example:

      srff fit houses.csv --target price

      srff fit patients.csv -t diagnosis --missing impute --class-weight balanced

      srff fit sensors.parquet -t flow --groups 'lag1,lag2;north,south' --n-features 3

      srff fit houses.csv -t price --drop id --missing drop-rows --out houses.srff

      srff fit 'measurements/*.parquet' -t y --memory-limit 1GB --checkpoint steps

      zcat big.csv.gz | srff fit - -t y --set refine=metric --json > summary.json
    """
    stopped = "Stopped; nothing was written."
    if checkpoint is not None:
        stopped = f"Stopped; the same command goes on from {checkpoint}."
    with plain_errors(debug, stopped, quiet):
        from srff.cli.outputs import check_free, print_json
        from srff.cli.summary import print_summary, summary
        from srff.cli.tables import opened
        from srff.export.save import save

        begun = time.perf_counter()
        check_free(out, force)
        with opened(table) as given:
            _check_names(given, target, weight, drop or [])
            classes = _classes_wanted(given, target, task, loss, class_weight)
            model = _model(
                settings or [], memory_limit, device, seed, checkpoint, classes, loss, class_weight
            )
            impute = missing == Missing.impute
            model.set_params(
                verbose=0 if quiet else 1,
                missing="impute" if impute else "error",
                n_features_to_select=n_features,
            )
            _check(model)
            with _reading(table, quiet):
                asked = (target, weight, drop or [])
                source, found, n_rows = _prepared(given, *asked, strict, missing, classes)
            if groups is not None:
                model.set_params(groups=_groups(groups, found, given))
            if not quiet:
                _tell(found, n_rows, drop or [], impute)
                if task == Task.auto:
                    _tell_task(given, target, classes, found.n_values)
            model.fit(source)
        # What only this machine and this terminal have to do with.
        model.set_params(verbose=0, checkpoint=None)
        out = _still_free(out, force)
        save(model, out, overwrite=force)
        if as_json:
            more = {
                "table": table,
                "target": target[0] if len(target) == 1 else target,
                "task": "classification" if classes else "regression",
                "rows": n_rows,
                "rows_left_out": found.n_rows - n_rows,
                "dropped": found.dropped,
                "categories": found.categories,
                "seconds": round(time.perf_counter() - begun, 3),
                "model": str(out),
            }
            print_json(summary(model) | more)
        elif not quiet:
            lines = {
                "target": ", ".join(target),
                "rows": f"{n_rows:,}",
                "seconds": f"{time.perf_counter() - begun:.1f}",
                "written to": str(out),
            }
            print_summary(summary(model), lines)


def _check_names(table: Table, targets: list[str], weight: str | None, drop: list[str]) -> None:
    """Refuse columns that are not there, or have two jobs."""
    for option, names in (("--target", targets), ("--weight", [weight]), ("--drop", drop)):
        for name in names:
            if name is not None and name not in table.names:
                raise WrongUse(no_such_column(option, name, table.names))
    taken = [*targets, *([weight] if weight else [])]
    if len(set(taken)) < len(taken) or set(taken) & set(drop):
        raise WrongUse("--target, --weight and --drop must name different columns.")


def _classes_wanted(
    table: Table, targets: list[str], task: Task, loss: str | None, class_weight: str | None
) -> bool:
    """Whether the target holds classes."""
    from srff.data.encoding.table_columns import NUMBER

    text = [name for name in targets if not table.unfit(name) and table.kind(name) != NUMBER]
    classes = task == Task.classification or (task == Task.auto and bool(text))
    if classes and len(targets) > 1:
        why = (
            "" if task == Task.classification else f" ({shown(text[0])}: {table.example(text[0])})"
        )
        raise WrongUse(f"--target is given {len(targets)} times; classes are one column{why}.")
    if classes and loss is not None:
        raise WrongUse(f"--loss {loss} is for a regression; that of classes is the log loss.")
    if not classes and class_weight is not None:
        raise WrongUse("--class-weight needs classes; --task classification makes numbers such.")
    return classes


def _tell_task(table: Table, targets: list[str], classes: bool, n_values: int) -> None:
    """Say what was taken for what, where it could be otherwise."""
    from srff.data.sources.column_survey import FEW_VALUES

    (first, *_) = targets
    if classes:
        example = table.example(first)
        say(f"column {shown(first)} is predicted as a class: {example} (--task classification).")
    elif len(targets) == 1 and 2 <= n_values <= FEW_VALUES:
        say(
            f"column {shown(first)} is predicted as a number, though it has only {n_values} "
            "different values; --task classification takes them for classes."
        )


def _still_free(out: Path, force: bool) -> Path:
    """The place for the model, or one beside it if a file has come there: no fit is lost."""
    if force or not out.exists():
        return out
    beside = (out.with_stem(f"{out.stem}-{number}") for number in itertools.count(2))
    other = next(path for path in beside if not path.exists())
    say(f"{out} has come while the model was fitted; the model is written to {other}.")
    return other


@contextmanager
def _reading(table: str, quiet: bool) -> Iterator[None]:
    """A sign of life on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(f"reading {escape(table)}"):
        yield


def _prepared(
    table: Table,
    targets: list[str],
    weight: str | None,
    drop: list[str],
    strict: bool,
    missing: Missing,
    classes: bool,
) -> tuple[TableSource, ColumnSurvey, int]:
    """The rows to learn from, what was found in the table, and how many rows there are."""
    from srff.data.sources.column_survey import survey_columns, surveyed_rows

    found = survey_columns(table, targets, weight, drop, classes)
    unasked = [f"{shown(n)} ({why})" for n, why in found.dropped.items() if n not in drop]
    if not found.inputs:
        why = f": {listed(unasked)}" if unasked else " beside the target"
        raise Refusal(f"{table.label}: there is no column that can be an input{why}.")
    if strict and unasked:
        raise Refusal(
            f"{table.label}: columns that cannot be inputs: {listed(unasked)}; --drop leaves a "
            "column out."
        )
    taken = [*targets, *([weight] if weight else [])]
    # Without a target or a weight there is nothing to learn from a row.
    complete = [name for name in found.gaps if missing != Missing.impute or name in taken]
    if not complete:
        return surveyed_rows(table, found, targets, weight), found, found.n_rows
    if missing == Missing.error:
        gaps = [f"{shown(name)} ({count:,})" for name, count in found.gaps.items()]
        raise Refusal(
            f"{table.label}: missing or infinite values among {found.n_rows:,} rows in "
            f"{listed(gaps)}; --missing drop-rows leaves out their rows, --missing impute fills "
            "them in, --drop leaves out a column."
        )
    source = surveyed_rows(table, found, targets, weight, complete)
    n_rows = source.count()
    if n_rows < 2:
        raise Refusal(
            f"{table.label}: {n_rows} of {found.n_rows:,} rows have no missing or infinite value; "
            "at least 2 are needed."
        )
    return source, found, n_rows


def _tell(found: ColumnSurvey, n_rows: int, asked: list[str], impute: bool) -> None:
    """Name what is left out, unless it was asked for, and what is taken for a category."""
    for name in [name for name in found.dropped if name not in asked]:
        reason = found.dropped[name]
        say(f"column {shown(name)} is left out: {one_line(reason)}.")
    if found.categories:
        columns = listed([shown(name) for name in found.categories])
        word = "column holds" if len(found.categories) == 1 else "columns hold"
        say(f"{len(found.categories)} {word} categories: {columns}.")
    gaps = {name: count for name, count in found.gaps.items() if not impute or name in found.inputs}
    where = listed([f"{shown(name)} ({count:,})" for name, count in gaps.items()]) if gaps else ""
    left_out = found.n_rows - n_rows
    if left_out and impute:
        say(f"{left_out:,} of {found.n_rows:,} rows are left out: they have no target or weight.")
    elif left_out:
        say(f"{left_out:,} of {found.n_rows:,} rows are left out: values are missing in {where}.")
    if impute and gaps:
        say(f"missing values are filled in: {where}.")


def _groups(text: str, found: ColumnSurvey, table: Table) -> Any:
    """Groups of a JSON file, or as 'a,b;c,d'; without the columns that are no inputs."""
    path = Path(text)
    given: Any
    if path.is_file():
        try:
            given = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise WrongUse(f"--groups {path}: cannot be read as JSON: {error}.") from None
    else:
        given = [[name.strip() for name in part.split(",")] for part in text.split(";") if part]
    lists = list(given.values()) if isinstance(given, dict) else given
    if not isinstance(lists, list) or not all(
        isinstance(group, list) and all(isinstance(name, str) for name in group) for group in lists
    ):
        raise WrongUse(
            f"--groups {text}: lists of names of columns are needed, such as 'a,b;c,d', or a JSON "
            'file such as {"north": ["a", "b"], "south": ["c", "d"]}.'
        )
    for name in [name for group in lists for name in group]:
        if name not in table.names:
            raise WrongUse(no_such_column("--groups", name, table.names))
    known = set(found.inputs)
    if isinstance(given, dict):
        return {key: [n for n in group if n in known] for key, group in given.items()}
    return [[name for name in group if name in known] for group in given]


def _class_weights(text: str) -> Any:
    """Weights of classes: "balanced", or a number for each."""
    if text == "balanced":
        return text
    weights: dict[Any, float] = {}
    for part in text.split(","):
        label, equals, value = part.rpartition("=")
        try:
            weights[_value(label.strip())] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise WrongUse(f"--class-weight {text}: 'balanced' or such as 'yes=3,no=1' is needed.")
    return weights


def _loss(text: str) -> Any:
    """A loss by its name, with a quantile after a colon."""
    from srff.core.losses import Pinball, get_loss

    name, colon, value = text.partition(":")
    try:
        if colon and name == "pinball":
            return Pinball(float(value))
        get_loss(text)
    except ValueError as error:
        raise WrongUse(f"--loss {text}: {error}") from None
    return text


def _model(
    settings: list[str],
    memory_limit: str | None,
    device: str,
    seed: int,
    checkpoint: Path | None,
    classes: bool,
    loss: str | None,
    class_weight: str | None,
) -> Any:
    """The estimator with its parameters."""
    from srff.estimators.classifier import SRFFClassifier
    from srff.estimators.regressor import SRFFRegressor

    common: dict[str, Any] = {
        "memory_limit": memory_limit,
        "device": device,
        "random_state": seed,
        "checkpoint": checkpoint,
    }
    model: Any
    if classes:
        weights = None if class_weight is None else _class_weights(class_weight)
        model = SRFFClassifier(class_weight=weights, **common)
    else:
        model = SRFFRegressor(loss="squared" if loss is None else _loss(loss), **common)
    accepted = [name for name in model.get_params() if name not in OWN_OPTIONS]
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in accepted:
            raise WrongUse(
                f"--set {shown(text)} must be NAME=VALUE with a name of {', '.join(accepted)}."
            )
        model.set_params(**{name: _value(value)})
    return model


def _check(model: Any) -> None:
    """Refuse parameters before rows are read."""
    from srff.data.engines.device import import_torch

    try:
        model._check_parameters()
        model._check_validation()
        if model.n_jobs is not None and not isinstance(model.n_jobs, int):
            raise ValueError(f"n_jobs={model.n_jobs!r} must be a whole number or none.")
        if model.device != "cpu":
            import_torch(model.device)
    except (TypeError, ValueError) as error:
        raise WrongUse(str(error)) from None


def _value(text: str) -> Any:
    """A number, true, false, none, or else the text."""
    if text.lower() in ("none", "null"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict | list) else value
