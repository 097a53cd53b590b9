"""``srff report``: what a saved model is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from srff.cli.errors import Debug, Force, Json, Refusal, WrongUse, plain_errors

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that srff fit wrote.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone too.")
]


def report(
    model: Model,
    html: Html = None,
    force: Force = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print what a saved model is: its variables, its error, its kind.

    For example:

      srff report model.srff

      srff report model.srff --html report.html

      srff report model.srff --json
    """
    with plain_errors(debug, stopped="Stopped."):
        from srff.cli.outputs import check_free, print_json
        from srff.cli.summary import print_summary, summary

        if html is not None:
            check_free(html, force, "--html")
        given = loaded(model)
        if html is not None:
            if not hasattr(given, "report"):
                raise Refusal(f"{model}: there is no page for a {type(given).__name__}.")
            given.report(html, overwrite=force)
        found = summary(given)
        if as_json:
            print_json(found | {"model": str(model)})
        else:
            more = {"random features": str(found["n_components"]), "alpha": f"{found['alpha']:.3g}"}
            print_summary(found, more if found["n_components"] is not None else {})


def loaded(path: Path) -> Any:
    """The model of a file."""
    from srff.io import load

    if not path.is_file():
        raise WrongUse(f"{path}: there is no such file.")
    model = load(path)
    if not hasattr(model, "n_features_in_"):
        raise Refusal(f"{path}: the model is not fitted.")
    return model
