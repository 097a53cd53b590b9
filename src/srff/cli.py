"""The shell command ``srff``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from srff.demo import DemoResult

app = typer.Typer(
    help="Which variables matter in a nonlinear regression, and the model that uses only them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(show: bool) -> None:
    if show:
        from srff import __version__

        typer.echo(f"srff {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Which variables matter in a nonlinear regression, and the model that uses only them."""


@app.command()
def demo(
    samples: Annotated[int, typer.Option(min=100, help="Rows to learn from.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the model.")] = 0,
) -> None:
    """Find the 5 variables that matter among 18, on built-in data."""
    from srff.demo import run_demo

    begun = time.perf_counter()
    _show_demo(run_demo(samples, seed), samples, begun)


def _show_demo(result: DemoResult, samples: int, begun: float) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    truth, model = result.truth, result.model
    console.print(f"\n[bold]{truth.name}[/bold]: y = {truth.formula}")
    console.print(f"{samples:,} rows, {truth.n_features} variables, {len(truth.relevant)} matter\n")
    table = Table("variable", "scale", "", "kept", "in the formula")
    table.columns[1].justify = "right"
    top = max(model.scale_.max(), 1e-12)
    for k in model.scale_.argsort(kind="stable")[::-1]:
        kept = model.scale_[k] > 0
        table.add_row(
            f"x{k + 1}",
            f"{model.scale_[k]:.3f}" if kept else "0",
            "█" * round(20 * model.scale_[k] / top),
            "yes" if kept else "",
            "yes" if k in truth.relevant else "",
        )
    console.print(table)
    errors = Table("test error (RMSE)", "")
    errors.columns[1].justify = "right"
    for name, error in result.errors.items():
        errors.add_row(name, f"{error:.4f}")
    console.print(errors)
    console.print(
        f"alpha {model.alpha_:.3g} out of {model.path_['alpha'].size}, budget "
        f"{model.budget_:.3g}, {model.n_iter_} iterations, {model.n_passes_:,} passes over the "
        f"data, {time.perf_counter() - begun:.1f} s"
    )
