"""All commands together."""

from __future__ import annotations

from typing import Annotated

import typer

from srff.cli.benchmark import benchmark
from srff.cli.demo import demo
from srff.cli.fit import fit
from srff.cli.predict import predict
from srff.cli.report import report
from srff.cli.reproduce import reproduce
from srff.cli.streams import App

app = App(
    help="Which variables matter in a nonlinear regression, and the model that uses only them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(show: bool) -> None:
    if show:
        from srff._utils.version import __version__

        typer.echo(f"srff {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Which variables matter in a nonlinear regression, and the model that uses only them."""


for command in (fit, predict, report, benchmark, demo, reproduce):
    app.command()(command)
