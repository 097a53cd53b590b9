"""``srff report``: what a saved model is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from srff.cli.errors import Refusal, WrongUse, plain_errors
from srff.cli.options import (
    CsvForm,
    Debug,
    Decimal,
    Encoding,
    Force,
    Json,
    MissingTexts,
    Sep,
)

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that srff fit wrote.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone too.")
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="TABLE",
        help="Rows that the model was not fitted on: how good it is there, and how much each "
        "variable is missed.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", metavar="COL", help="The target's column in --data."),
]


def report(
    model: Model,
    html: Html = None,
    data: Data = None,
    target: Targets = None,
    decimal: Decimal = None,
    sep: Sep = None,
    encoding: Encoding = None,
    na: MissingTexts = None,
    force: Force = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print what a saved model is: its variables, its error, its kind.

    For example:

      srff report model.srff

      srff report model.srff --html report.html

      srff report model.srff --data new.csv --target price --html report.html

      srff report model.srff --json
    """
    with plain_errors(debug, stopped="Stopped."):
        from srff.cli.outputs import check_free, print_json
        from srff.cli.summary import judged, print_summary, rows_of, summary

        if html is not None:
            check_free(html, force, "--html")
        if (data is None) != (not target):
            raise WrongUse("--data and --target must be given together.")
        given = loaded(model)
        if not hasattr(given, "report") and (html is not None or data is not None):
            raise Refusal(f"{model}: there is no page for a {type(given).__name__}.")
        from srff.inspect.evaluate import assess

        X = y = None
        found = summary(given)
        if data is not None:
            from srff.cli.rows import judged_rows

            form = CsvForm(decimal, sep, encoding, tuple(na or ()))
            X, y = judged_rows(given, data, target or [], form)
            found |= judged(found["selected"], assess(given, X, y))
        if html is not None:
            given.report(html, X, y, overwrite=force)
        if as_json:
            print_json(found | {"model": str(model)})
        else:
            print_summary(found, rows_of(found) | _features(found))


def _features(found: dict[str, Any]) -> dict[str, str]:
    """Lines on the random features, of a model that has such."""
    if found["n_components"] is None:
        return {}
    return {"random features": str(found["n_components"]), "alpha": f"{found['alpha']:.3g}"}


def loaded(path: Path) -> Any:
    """The model of a file."""
    from srff.export.save import load

    if not path.is_file():
        raise WrongUse(f"{path}: there is no such file.")
    model = load(path)
    if not hasattr(model, "n_features_in_"):
        raise Refusal(f"{path}: the model is not fitted.")
    return model
