"""``srff demo``: the main job on built-in data."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from srff.cli.errors import plain_errors
from srff.cli.options import Debug

if TYPE_CHECKING:
    from srff.estimators.regressor import SRFFRegressor

N_TEST = 5000


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
        begun = time.perf_counter()
        model, errors = _fitted(samples, seed)
        _show(model, errors, samples, time.perf_counter() - begun)


def _fitted(n_samples: int, seed: int) -> tuple[SRFFRegressor, dict[str, float]]:
    """The model of SE1, as it is without a setting, and test errors of it and of simpler ones."""
    import numpy as np
    from sklearn.dummy import DummyRegressor
    from sklearn.metrics import root_mean_squared_error

    from srff.estimators.regressor import SRFFRegressor
    from srff.estimators.rff import RFFRegressor
    from srff.reproduction.datasets import SE1, make_se1

    rows, target = make_se1(n_samples + N_TEST, seed)
    (X, X_test), (y, y_test) = (np.split(values, [n_samples]) for values in (rows, target))
    ours = SRFFRegressor(verbose=1, random_state=seed)
    models = {
        "mean of the target": DummyRegressor(),
        "random features, all variables (RFF)": RFFRegressor(random_state=seed),
        "sparse random features (SRFF)": ours,
    }
    errors = {
        name: float(root_mean_squared_error(y_test, model.fit(X, y).predict(X_test)))
        for name, model in models.items()
    }
    return ours, errors | {"the noise: nothing can be better": SE1.noise_floor}


def _show(model: SRFFRegressor, errors: dict[str, float], samples: int, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    from srff.reproduction.datasets import SE1

    console = Console()
    console.print(f"\n[bold]{SE1.name}[/bold]: y = {SE1.formula}")
    console.print(f"{samples:,} rows, {SE1.n_features} variables, {len(SE1.relevant)} matter\n")
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
            "yes" if k in SE1.relevant else "",
        )
    console.print(table)
    shown = Table("test error (RMSE)", "")
    shown.columns[1].justify = "right"
    for name, error in errors.items():
        shown.add_row(name, f"{error:.4f}")
    console.print(shown)
    console.print(
        f"kind of model: {model.model_kind_}, the best of {model.path_['alpha'].size} that were "
        f"tried; {seconds:.0f} s"
    )
