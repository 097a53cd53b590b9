"""What a fitted model is, for a reader and for a program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 40
"""Variables that a table shows at most."""


def summary(model: Any) -> dict[str, Any]:
    """The variables with their scales, the strongest first, and how good the model is."""
    import srff
    from srff.display import by_scale, names

    known = names(model)
    scale = getattr(model, "scale_", None)
    selected = []
    if scale is not None:
        selected = [{"name": known[k], "scale": float(scale[k])} for k in by_scale(model)]
    error = float(getattr(model, "validation_error_", math.nan))
    spread = float(getattr(model, "target_spread_", math.nan))
    path = getattr(model, "path_", None) or {}
    found: dict[str, Any] = {
        "estimator": type(model).__name__,
        "selected": selected,
        "n_inputs": int(model.n_features_in_),
        "validation_error": error,
        "r2": 1 - (error / spread) ** 2 if spread > 0 else math.nan,
        "kind": getattr(model, "model_kind_", None),
        "input_map": getattr(getattr(model, "input_map_", None), "name", None),
        "n_components": int(model.coef_.size) if hasattr(model, "coef_") else None,
        "alpha": float(getattr(model, "alpha_", math.nan)),
        "candidates": len(path.get("kind", ())),
        "version": srff.__version__,
    }
    return found


def print_summary(found: dict[str, Any], more: dict[str, str]) -> None:
    """Two tables on standard output: the variables, and the rest."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    selected = found["selected"]
    if selected:
        table = Table("variable", "scale", "")
        table.columns[1].justify = "right"
        block = "█" if _unicode(console) else "#"
        for one in selected[:SHOWN]:
            bar = block * max(1, round(20 * one["scale"] / selected[0]["scale"]))
            table.add_row(Text(printable(one["name"], console)), f"{one['scale']:.3f}", bar)
        if len(selected) > SHOWN:
            table.add_row(f"and {len(selected) - SHOWN} more", "", "")
        console.print(table)
    else:
        console.print("No variable was selected: the model predicts the mean.")
    rest = Table(show_header=False)
    rest.add_column()
    rest.add_column(overflow="fold")
    rows = {
        "selected": f"{len(selected)} of {found['n_inputs']} variables",
        "validation error (RMSE)": _number(found["validation_error"]),
        "R² against the mean" if _unicode(console) else "R2 against the mean": _number(found["r2"]),
        "kind of model": _kind(found),
        **more,
    }
    for name, value in rows.items():
        rest.add_row(name, Text(printable(value, console)))
    console.print(rest)


def printable(name: str, console: Console) -> str:
    """A text without what would move the cursor, in the terminal's letters."""
    name = "".join(c if c.isprintable() else "?" for c in name)
    return name if _unicode(console) else name.encode("ascii", "replace").decode()


def _unicode(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not known"


def _kind(found: dict[str, Any]) -> str:
    if found["kind"] is None:
        return found["estimator"]
    tried = (
        f", the best of {found['candidates']} that were tried" if found["candidates"] > 1 else ""
    )
    inputs = " of normal scores" if found["input_map"] == "quantile" else ""
    return f"{found['kind']}{inputs}{tried}"
