"""``srff demo``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from srff.cli.errors import plain_errors
from srff.cli.options import Debug

if TYPE_CHECKING:
    from srff.reproduction.demo import DemoResult


def demo(
    samples: Annotated[int, typer.Option(min=100, help="Rows to learn from.")] = 5000,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the data and of the model.")
    ] = 0,
    debug: Debug = False,
) -> None:
    """Find the 5 variables that matter among 18, on built-in data.

    For example:

      srff demo

      srff demo --samples 1000 --seed 1
    """
    with plain_errors(debug, stopped="Stopped."):
        from srff.reproduction.demo import run_demo

        begun = time.perf_counter()
        _show(run_demo(samples, seed), samples, begun)


def _show(result: DemoResult, samples: int, begun: float) -> None:
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
        f"kind of model: {model.model_kind_}, the best of {model.path_['alpha'].size} that were "
        f"tried; {time.perf_counter() - begun:.0f} s"
    )
