"""``srff benchmark``: a quick comparison on built-in problems."""

from __future__ import annotations

import time
import warnings
from typing import Annotated, Any

import typer

from srff.cli.errors import WrongUse, plain_errors
from srff.cli.options import Debug, Json, Quiet

PROBLEMS = {"se1": 5000, "se2": 1000, "se3": 1000, "friedman1": 1000}
"""The built-in problems, with the rows to learn from that the README's table has too."""

BY_DEFAULT = ("se1", "se2", "friedman1")
"""se3, of 1,000 variables, takes minutes of its own."""

N_TEST = 2000


def benchmark(
    problems: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROBLEM", help=f"{', '.join(PROBLEMS)}; all but se3 if none is named."
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=100, help="Rows to learn from; 5,000 of se1, else 1,000.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the data and of the models.")
    ] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare errors and times with boosted trees and the lasso, on built-in problems.

    With the defaults of each library; errors are on rows that no model has seen.

    For example:

      srff benchmark

      srff benchmark se1 friedman1 --rows 2000 --json
    """
    with plain_errors(debug, "Stopped.", quiet):
        from srff.cli.outputs import print_json

        asked = problems or list(BY_DEFAULT)
        for name in asked:
            if name not in PROBLEMS:
                raise WrongUse(f"PROBLEM {name!r} is unknown; accepted: {', '.join(PROBLEMS)}.")
        verbose = 0 if quiet else 1
        results = [_measured(name, rows or PROBLEMS[name], seed, verbose) for name in asked]
        if as_json:
            print_json({"test_rows": N_TEST, "seed": seed, "problems": results})
        else:
            _show(results)


def _problem(name: str, n_rows: int, seed: int) -> tuple[Any, Any, tuple[int, ...], float]:
    """Inputs, target, the columns that matter and the smallest possible error."""
    from sklearn.datasets import make_friedman1

    from srff.reproduction.datasets import SE1, SE2, SE3, make_se1, make_se2, make_se3

    if name == "friedman1":
        X, y = make_friedman1(n_rows, n_features=45, noise=1.0, random_state=seed)
        return X, y, (0, 1, 2, 3, 4), 1.0
    make, truth = {"se1": (make_se1, SE1), "se2": (make_se2, SE2), "se3": (make_se3, SE3)}[name]
    return *make(n_rows, seed), truth.relevant, truth.noise_floor


def _measured(name: str, n_rows: int, seed: int, verbose: int) -> dict[str, Any]:
    """The test errors and the seconds of each method on one problem."""
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LassoCV
    from sklearn.metrics import root_mean_squared_error

    from srff.estimators.regressor import SRFFRegressor

    X, y, relevant, floor = _problem(name, n_rows + N_TEST, seed)
    models = {
        "mean": DummyRegressor(),
        "lasso": LassoCV(),
        "boosted trees": HistGradientBoostingRegressor(random_state=seed),
        "srff": SRFFRegressor(random_state=seed, verbose=verbose),
    }
    methods: dict[str, Any] = {}
    for label, model in models.items():
        begun = time.perf_counter()
        with warnings.catch_warnings():
            if label != "srff":
                warnings.simplefilter("ignore")  # how the others end is seen in their errors
            model.fit(X[:n_rows], y[:n_rows])
        seconds = time.perf_counter() - begun
        error = root_mean_squared_error(y[n_rows:], model.predict(X[n_rows:]))
        methods[label] = {"test_error": float(error), "seconds": round(seconds, 3)}
        used = {"lasso": "coef_", "srff": "scale_"}.get(label)
        if used is not None:
            kept = set(getattr(model, used).nonzero()[0].tolist())
            methods[label]["relevant"] = len(kept & set(relevant))
            methods[label]["irrelevant"] = len(kept - set(relevant))
    return {
        "problem": name,
        "rows": n_rows,
        "variables": X.shape[1],
        "relevant": len(relevant),
        "best_possible": floor,
        "methods": methods,
    }


def _show(results: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for result in results:
        console.print(
            f"\n[bold]{result['problem']}[/bold]: {result['relevant']} of {result['variables']} "
            f"variables matter, {result['rows']:,} rows; the noise alone makes an error of "
            f"{result['best_possible']:g}"
        )
        table = Table("method", "test error (RMSE)", "seconds", "kept: relevant", "irrelevant")
        for column in table.columns[1:]:
            column.justify = "right"
        for label, found in result["methods"].items():
            kept = [str(found.get(k, "")) for k in ("relevant", "irrelevant")]
            table.add_row(label, f"{found['test_error']:.4f}", f"{found['seconds']:.1f}", *kept)
        console.print(table)
