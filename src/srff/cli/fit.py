"""``srff fit``: a table in, a model out."""

from __future__ import annotations

import difflib
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

from srff.cli.errors import (
    Debug,
    Force,
    Json,
    Quiet,
    Refusal,
    TablePath,
    WrongUse,
    listed,
    one_line,
    plain_errors,
    say,
    shown,
)

if TYPE_CHECKING:
    from srff.cli.tables import Inputs, Inspection, Table
    from srff.estimators import SRFFRegressor

OWN_OPTIONS = ("random_state", "memory_limit", "checkpoint", "device", "verbose", "callback")
"""Parameters of the estimator that ``--set`` does not take: they have options of their own."""


class Missing(StrEnum):
    """What to do where values are missing."""

    error = "error"
    drop_rows = "drop-rows"


def fit(
    table: TablePath,
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COL", help="The column to predict.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where the model is written.")
    ] = Path("model.srff"),
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
        Missing, typer.Option(help="Refuse missing values, or leave out rows that have any.")
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
            help="A parameter of SRFFRegressor, such as n_components=100; may be given again.",
        ),
    ] = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the variables that matter in a table, and write the model that uses only them.

    Columns that cannot be inputs (text, dates, constants) are left out and named.

    For example:

      srff fit houses.csv --target price

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
        from srff.io import save

        begun = time.perf_counter()
        check_free(out, force)
        model = _model(settings or [], memory_limit, device, seed, checkpoint)
        model.set_params(verbose=0 if quiet else 1)
        with opened(table) as given:
            with _reading(table, quiet):
                asked = (target, weight, drop or [])
                source, found, n_rows = _prepared(given, *asked, strict, missing)
            if not quiet:
                _tell(found, n_rows, drop or [])
            model.fit(source)
        # What only this machine and this terminal have to do with.
        model.set_params(verbose=0, checkpoint=None)
        out = _still_free(out, force)
        save(model, out, overwrite=force)
        if as_json:
            more = {
                "table": table,
                "target": target,
                "rows": n_rows,
                "rows_left_out": found.n_rows - n_rows,
                "dropped": found.dropped,
                "seconds": round(time.perf_counter() - begun, 3),
                "model": str(out),
            }
            print_json(summary(model) | more)
        elif not quiet:
            lines = {
                "target": target,
                "rows": f"{n_rows:,}",
                "seconds": f"{time.perf_counter() - begun:.1f}",
                "written to": str(out),
            }
            print_summary(summary(model), lines)


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
    target: str,
    weight: str | None,
    drop: list[str],
    strict: bool,
    missing: Missing,
) -> tuple[Inputs, Inspection, int]:
    """The rows to learn from, what was found in the table, and how many rows there are."""
    from srff.cli.tables import Inputs, inspect

    for option, names in (("--target", [target]), ("--weight", [weight]), ("--drop", drop)):
        for name in names:
            if name is not None and name not in table.names:
                raise WrongUse(_no_such_column(option, name, table))
    if weight == target or target in drop or weight in drop:
        raise WrongUse("--target, --weight and --drop must name different columns.")
    found = inspect(table, target, weight, drop)
    unasked = [f"{shown(n)} ({why})" for n, why in found.dropped.items() if n not in drop]
    if not found.inputs:
        why = f": {listed(unasked)}" if unasked else " beside the target"
        raise Refusal(f"{table.label}: there is no column that can be an input{why}.")
    if strict and unasked:
        raise Refusal(
            f"{table.label}: columns that cannot be inputs: {listed(unasked)}; --drop leaves a "
            "column out."
        )
    if not found.gaps:
        return Inputs(table, found, target, weight), found, found.n_rows
    if missing == Missing.error:
        gaps = [f"{shown(name)} ({count:,})" for name, count in found.gaps.items()]
        raise Refusal(
            f"{table.label}: missing or infinite values among {found.n_rows:,} rows in "
            f"{listed(gaps)}; --missing drop-rows leaves out their rows, --drop a column."
        )
    source = Inputs(table, found, target, weight, complete=True)
    n_rows = source.count()
    if n_rows < 2:
        raise Refusal(
            f"{table.label}: {n_rows} of {found.n_rows:,} rows have no missing or infinite value; "
            "at least 2 are needed."
        )
    return source, found, n_rows


def _no_such_column(option: str, name: str, table: Table) -> str:
    near = [n for n in table.names if n.strip().lower() == name.strip().lower()]
    near += difflib.get_close_matches(name, table.names, 1)
    if near:
        return f"{option}: there is no column {shown(name)}; did you mean {shown(near[0])}?"
    columns = listed([shown(n) for n in table.names])
    return f"{option}: there is no column {shown(name)}; the columns are {columns}."


def _tell(found: Inspection, n_rows: int, asked: list[str]) -> None:
    """Name what is left out, unless it was asked for."""
    for name in [name for name in found.dropped if name not in asked]:
        reason = found.dropped[name]
        say(f"column {shown(name)} is left out: {one_line(reason)}.")
    if n_rows < found.n_rows:
        gaps = listed([f"{shown(name)} ({count:,})" for name, count in found.gaps.items()])
        left_out = found.n_rows - n_rows
        say(f"{left_out:,} of {found.n_rows:,} rows are left out: values are missing in {gaps}.")


def _model(
    settings: list[str],
    memory_limit: str | None,
    device: str,
    seed: int,
    checkpoint: Path | None,
) -> SRFFRegressor:
    """The estimator, with its parameters checked."""
    from srff.engines.device import import_torch
    from srff.estimators import SRFFRegressor

    model = SRFFRegressor(
        memory_limit=memory_limit, device=device, random_state=seed, checkpoint=checkpoint
    )
    accepted = [name for name in model.get_params() if name not in OWN_OPTIONS]
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in accepted:
            raise WrongUse(
                f"--set {shown(text)} must be NAME=VALUE with a name of {', '.join(accepted)}."
            )
        model.set_params(**{name: _value(value)})
    try:
        model._check_parameters()
        model._check_validation()
        if model.n_jobs is not None and not isinstance(model.n_jobs, int):
            raise ValueError(f"n_jobs={model.n_jobs!r} must be a whole number or none.")
        if device != "cpu":
            import_torch(device)
    except (TypeError, ValueError) as error:
        raise WrongUse(str(error)) from None
    return model


def _value(text: str) -> Any:
    """A number, true, false, none, or else the text."""
    if text.lower() in ("none", "null"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict | list) else value
