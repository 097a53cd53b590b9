"""What a fitted model is, for a reader and for a program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from srff._utils.text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from srff.inspect.describe import Entry
    from srff.inspect.evaluate import Assessment

SHOWN = 40
"""Variables that a table shows at most."""

SHOWN_CLASSES = 8


def summary(model: Any) -> dict[str, Any]:
    """The variables with their scales, the strongest first, and how good the model is."""
    from srff._utils.version import __version__
    from srff.inspect.describe import (
        dropped_last,
        explained,
        n_entries,
        near_misses,
        noun,
        others,
        selected,
        stand_ins,
    )
    from srff.inspect.outcome import outcome_of

    outcome = outcome_of(model)
    part = explained(model)
    found: dict[str, Any] = {
        "estimator": type(model).__name__,
        "selected": [_plain(entry) | _known(entry) for entry in selected(model)],
        "also_chosen": [_plain(entry) for entry in near_misses(model)],
        "n_inputs": int(model.n_features_in_),
        "n_groups": n_entries(model),
        "called": noun(model),
        "expected_error": float(model.expected_error_),
        "expected_error_se": float(model.expected_error_se_),
        "rows_held_out": float(model.judged_rows_),
        "folds": int(model.n_folds_),
        "constant_error": float(model.constant_error_),
        "validation_error": float(model.validation_error_),
        "error_is": outcome.measure.short,
        "explained": part,
        "constant": outcome.constant,
        "kind": model.model_kind_,
        "input_map": model.input_map_.name,
        "n_components": int(model.offsets_.size),
        "alpha": float(model.alpha_),
        "candidates": len(model.path_.get("kind", ())),
        "version": __version__,
    }
    if outcome.loss.quadratic:
        found["r2"] = part
    found["other_models"] = {
        name: {"error": error, "standard_error": se} for name, (error, se) in others(model).items()
    }
    found["dropped_last"] = dropped_last(model)
    found["stand_ins"] = stand_ins(model)
    sure = getattr(model, "confidence_", None)
    if sure is not None:
        found["confidence"] = _certainty(sure)
    if outcome.labels:
        found["classes"] = list(outcome.labels)
    return found


def _certainty(sure: Any) -> dict[str, Any]:
    """What is confirmed, and what is known of each variable that any split selected."""
    low, high = sure.rise_interval
    return {
        "q": sure.q,
        "splits": sure.n_splits,
        "confirmed": sure.confirmed,
        "stability": sure.stability[0],
        "lines": sure.lines(),
        "variables": [
            {
                "name": str(sure.names[k]),
                "confirmed": bool(sure.confirmed_units[k]),
                "selected_in": int(sure.selected[:, k].sum()),
                "confirmed_in": int(sure.confirmed_splits[:, k].sum()),
                "p_value": float(sure.p_values[k]),
                "rise": float(sure.rise[k]),
                "rise_low": float(low[k]),
                "rise_high": float(high[k]),
                "share": float(sure.share[k]),
                "near_copies": bool(sure.near_copies[k]),
                "doubtful": bool(sure.doubtful[k]),
            }
            for k in sure.chosen
        ],
    }


def _plain(entry: Entry) -> dict[str, Any]:
    """A variable or a group: its name, its columns, and how many folds chose it."""
    out: dict[str, Any] = {"name": entry.name}
    if entry.inside:
        out["columns"] = list(entry.inside)
    if entry.folds is not None:
        out["folds"] = entry.folds
    return out


def _known(entry: Entry) -> dict[str, Any]:
    """How sure it is of a variable in use, and how much of what is explained is lost without."""
    out: dict[str, Any] = {"scale": entry.scale}
    if entry.sure is not None:
        out["sure"] = entry.sure
    if entry.importance is not None:
        out |= {"importance": entry.importance, "importance_se": entry.importance_error}
    return out


def judged(chosen: list[dict[str, Any]], found: Assessment) -> dict[str, Any]:
    """What rows say of a model, and how much each of its variables is missed."""
    out: dict[str, Any] = {
        "judged_rows": found.n_rows,
        "error": found.error,
        "error_explained": found.explained,
        "selected": [
            one | {"missed_by": importance.rise, "standard_error": importance.standard_error}
            for one, importance in zip(chosen, found.importances, strict=True)
        ],
    }
    if found.classes is not None:
        out |= {"accuracy": found.classes.accuracy, "auc": found.classes.auc}
        out["confusion"] = found.classes.confusion.tolist()
    if len(found.targets) > 1:
        out["targets"] = [{"rmse": one.rmse, "r2": one.r2} for one in found.targets]
    return out


def rows_of(found: dict[str, Any]) -> dict[str, str]:
    """Lines on the rows that a model was judged on, if it was."""
    if "judged_rows" not in found:
        return {}
    out = {
        "rows given": f"{found['judged_rows']:,}",
        f"error there ({found['error_is']})": _number(found["error"]),
    }
    for name, label in (("accuracy", "accuracy there"), ("auc", "area under the ROC curve")):
        if name in found:
            out[label] = _share(found[name]) if name == "accuracy" else _number(found[name])
    for t, one in enumerate(found.get("targets", [])):
        out[f"target {t} there (RMSE)"] = f"{_number(one['rmse'])}, R2 {_number(one['r2'])}"
    return out


def print_summary(found: dict[str, Any], more: dict[str, str]) -> None:
    """Two tables on standard output: the variables, and the rest."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if found["selected"]:
        console.print(_variables(found, console))
    else:
        console.print(f"No variable was selected: the model predicts {found['constant']}.")
    sure = found.get("confidence")
    if sure is not None:
        for line in sure["lines"]:
            console.print(Text(printable(line[0].upper() + line[1:], console)))
        if sure["variables"]:
            console.print(_sure(sure, console))
    rest = Table(show_header=False)
    rest.add_column()
    rest.add_column(overflow="fold")
    rows = {
        "selected": _counted(found),
        **({"not kept, but chosen": _also_chosen(found)} if found["also_chosen"] else {}),
        **({"dropped last": ", ".join(found["dropped_last"])} if found["dropped_last"] else {}),
        **({"stand-ins": "; ".join(found["stand_ins"])} if found["stand_ins"] else {}),
        **_errors(found, _unicode(console)),
        **({"classes": _classes(found["classes"])} if "classes" in found else {}),
        "kind of model": _kind(found),
        **more,
    }
    for name, value in rows.items():
        rest.add_row(name, Text(printable(value, console)))
    console.print(rest)


def _variables(found: dict[str, Any], console: Console) -> Table:
    """The selected variables: their scales, how many folds chose each, how much it is missed."""
    from rich.table import Table
    from rich.text import Text

    selected = found["selected"]
    folds, missed = found["folds"], "missed_by" in selected[0]
    known = "importance" in selected[0] and "sure" in selected[0]
    more = [*(["sure?", "lost without it"] if known else []), *(["folds"] if folds else [])]
    more += ["missed by", "std. error"] if missed else []
    table = Table("variable", "scale", "", *more)
    for column in (table.columns[1], *table.columns[3:]):
        column.justify = "right"
    block = "█" if _unicode(console) else "#"
    most = max(one["scale"] for one in selected)
    for one in selected[:SHOWN]:
        bar = block * max(1, round(20 * one["scale"] / most))
        sure = [one["sure"], _lost(one)] if known else []
        sure += [f"{one['folds']}/{folds}"] if folds else []
        sure += [_number(one["missed_by"]), _number(one["standard_error"])] if missed else []
        label = Text(printable(_name(one), console))
        table.add_row(label, f"{one['scale']:.3f}", bar, *sure)
    if len(selected) > SHOWN:
        table.add_row(f"and {len(selected) - SHOWN} more", "", "")
    return table


def _sure(sure: dict[str, Any], console: Console) -> Table:
    """What is known of each variable that any split selected."""
    from rich.table import Table
    from rich.text import Text

    from srff.inspect.wording import p_value

    table = Table("variable", "", "selected in", "confirmed in", "p", "rise")
    for column in table.columns[2:]:
        column.justify = "right"
    for one in sure["variables"][:SHOWN]:
        table.add_row(
            Text(printable(one["name"], console)),
            ("" if one["confirmed"] else "not ") + "confirmed" + ", doubtful" * one["doubtful"],
            f"{one['selected_in']}/{sure['splits']}",
            f"{one['confirmed_in']}/{sure['splits']}",
            p_value(one["p_value"]),
            _share(one["share"]),
        )
    if len(sure["variables"]) > SHOWN:
        table.add_row(f"and {len(sure['variables']) - SHOWN} more")
    return table


def _errors(found: dict[str, Any], unicode: bool) -> dict[str, str]:
    """The error on new rows, or on the rows that chose the model; compared with none."""
    from srff.inspect.wording import measured

    out = {f"validation error ({found['error_is']})": _number(found["validation_error"])}
    if math.isfinite(found["expected_error"]):
        error = measured(found["expected_error"], found["expected_error_se"])
        how = f" in {found['folds']} folds" if found["folds"] else ", which also chose the model"
        out = {
            f"error on new rows ({found['error_is']})": error,
            "from rows held out": f"{found['rows_held_out']:,.0f}{how}",
            f"error of {found['constant']}": _number(found["constant_error"]),
            **{
                f"error of {name}": measured(one["error"], one["standard_error"])
                for name, one in found["other_models"].items()
            },
        }
    if not found["selected"]:
        return out
    if "r2" in found:
        better = "R² against the mean" if unicode else "R2 against the mean"
        return out | {better: _number(found["r2"])}
    return out | {f"less than that of {found['constant']}": _share(found["explained"])}


def _lost(one: dict[str, Any]) -> str:
    """The share of what is explained that is lost without a variable."""
    from srff.inspect.wording import percent

    return percent(one["importance"], one["importance_se"])


def _also_chosen(found: dict[str, Any]) -> str:
    """What some folds chose and the model does not use."""
    few = [f"{_name(one)} ({one['folds']}/{found['folds']})" for one in found["also_chosen"]]
    return ", ".join(few[:SHOWN]) + (", ..." if len(few) > SHOWN else "")


def printable(name: str, console: Console) -> str:
    """A text without what would move the cursor, in the terminal's letters."""
    name = visible(name)
    return name if _unicode(console) else name.encode("ascii", "replace").decode()


def _unicode(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not known"


def _counted(found: dict[str, Any]) -> str:
    """How many variables, or groups of such, are selected."""
    return f"{len(found['selected'])} of {found['n_groups']} {found['called']}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if math.isfinite(value) else "not known"


def _classes(labels: list[Any]) -> str:
    """How many classes there are, and the first of them."""
    few = ", ".join(map(str, labels[:SHOWN_CLASSES]))
    return f"{len(labels)}: {few}" + (", ..." if len(labels) > SHOWN_CLASSES else "")


def _name(one: dict[str, Any]) -> str:
    """A variable, or a group with its columns."""
    columns = one.get("columns", [])
    if not columns or str(one["name"]).startswith(" + ".join(columns[:3])):
        return str(one["name"])
    return f"{one['name']} ({', '.join(columns[:6])}{', ...' if len(columns) > 6 else ''})"


def _kind(found: dict[str, Any]) -> str:
    tried = (
        f", the best of {found['candidates']} that were tried" if found["candidates"] > 1 else ""
    )
    inputs = " of normal scores" if found["input_map"] == "quantile" else ""
    return f"{found['kind']}{inputs}{tried}"
