"""Tables of docs/speed.md from rows of results, and how their figures are written."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from profiling import GROUPS, REST

Row = dict[str, str]
Pair = tuple[list[Row], list[Row]]

DISTURBED = 0.2
"""Cores busy with other work from which on a fit is marked."""


def value(row: Row, name: str) -> float:
    """A number of a row; nan where it is empty."""
    return float(row[name]) if row.get(name) else math.nan


def details(row: Row) -> dict[str, Any]:
    """What a row has in its last column of figures."""
    return json.loads(row["details"] or "{}")


def place(row: Row) -> str:
    """The machine in short: its GPU, or its cores."""
    words = row["machine"].split(", ")
    if row["device"].startswith("cuda"):
        return words[-1]
    return words[1]


def good(rows: Iterable[Row]) -> list[Row]:
    """Those that ended well."""
    return [row for row in rows if row["status"] in ("", "ok")]


def number(x: float, digits: int = 3) -> str:
    """Significant digits without an exponent; a dash for nan."""
    if math.isnan(x):
        return "-"
    decimals = max(digits - 1 - math.floor(math.log10(abs(x))), 0) if x else 0
    return f"{x:,.{decimals}f}"


def seconds(x: float) -> str:
    """Seconds with what digits they deserve."""
    return number(x) if x < 100 else f"{x:,.0f}"


def fit_seconds(row: Row) -> str:
    """Seconds of a fit, marked if other work disturbed it."""
    mark = r"\*" if value(row, "other_load") > DISTURBED else ""
    return seconds(value(row, "seconds")) + mark


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table."""
    rows = list(rows)
    if not rows:
        return "Not measured."
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def integer(text: str) -> str:
    """A number of rows or columns; a text such as auto as it is."""
    return f"{int(text):,}" if text.isdigit() else text


def yes(text: str) -> str:
    """A flag in words."""
    return {"1": "yes", "0": "no"}.get(text, "-")


def pass_table(rows: Sequence[Row]) -> str:
    """A line for each machine, precision and shape."""
    shapes: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        shapes[place(row), row["dtype"], row["n"], row["d"], row["D"]][row["what"]] = row
    lines = []
    for (where, dtype, n, d, D), both in shapes.items():
        line = [where, dtype, integer(n), integer(d), integer(D)]
        for name in ("statistics", "pull-back"):
            row = both.get(name, {})
            line += [number(value(row, "seconds")), number(value(row, "ratio"))]
        lines.append(line)
    head = ("on", "precision", "n", "d", "D", "statistics, s", "ratio", "pull-back, s", "ratio")
    return table(head, lines)


def fit_line(row: Row, *, dtype: bool = False) -> list[str]:
    """A whole fit."""
    line = [place(row), integer(row["n"]), integer(row["d"]), integer(row["D"])]
    line += [row["dtype"]] if dtype else []
    if row["status"] != "ok":
        return [*line, row["status"], *[""] * 6]
    passes = f"{value(row, 'n_passes'):,.0f} ({number(value(row, 'effective_passes'))})"
    line += [fit_seconds(row), f"{value(row, 'data_mb'):,.0f}"]
    line += [f"{value(row, 'peak_mb'):,.0f}", passes, row["kind"]]
    return [*line, yes(row["exact"]), number(value(row, "rmse"))]


FIT_HEAD = (
    "seconds",
    "data, MB",
    "peak over it, MB",
    "passes",
    "model",
    "variables right",
    "error",
)


def growth_table(rows: Sequence[Row]) -> str:
    """A line for each fit; one that is on several curves has one line."""
    distinct = {(place(r), int(r["n"]), int(r["d"]), r["D"]): r for r in rows}
    lines = [fit_line(distinct[key]) for key in sorted(distinct, key=_order)]
    return table(("on", "n", "d", "D", *FIT_HEAD), lines)


def _order(key: tuple[str, int, int, str]) -> tuple:
    where, n, d, D = key
    return where, D == "auto", d, int(D) if D.isdigit() else 0, n


def stage_table(rows: Sequence[Row]) -> str:
    """Seconds of each stage of the default fits."""
    chosen = [row for row in good(rows) if row["D"] == "auto"]
    stages = list(dict.fromkeys(stage for row in chosen for stage in details(row)))
    lines = []
    for row in chosen:
        found = [number(details(row).get(stage, math.nan)) for stage in stages]
        lines.append([place(row), integer(row["n"]), integer(row["d"]), row["dtype"], *found])
    return table(("on", "n", "d", "input", *stages), lines)


def profile_table(rows: Sequence[Row]) -> str:
    """Shares of each group."""
    lines = []
    for row in good(rows):
        shares = [f"{100 * details(row)[group]:.1f} %" for group in (*GROUPS, REST)]
        lines.append([place(row), integer(row["n"]), fit_seconds(row), *shares])
    return table(("on", "n", "seconds", *GROUPS, REST), lines)


def prediction_table(rows: Sequence[Row]) -> str:
    """A line for each table that is predicted."""
    orders = {"C": "row by row", "F": "column by column"}
    lines = [
        [
            place(row),
            integer(row["n"]),
            row["d"],
            f"{row['dtype']}, {orders[row['order']]}",
            number(value(row, "seconds")),
            f"{value(row, 'rows_per_second') / 1e6:.2f} million",
            number(value(row, "ratio")),
            number(value(row, "check_seconds")),
        ]
        for row in rows
    ]
    head = ("on", "rows", "columns", "table", "seconds", "rows per second", "over the bare")
    return table((*head, "check, s"), lines)


def import_table(rows: Sequence[Row]) -> str:
    """Each import beside scikit-learn's, in milliseconds."""
    lines = []
    for row in rows:
        mine, other = 1000 * value(row, "seconds"), 1000 * value(row, "reference_seconds")
        line = [place(row), f"`{row['what']}`", f"{mine:,.0f}", f"`{details(row)['beside']}`"]
        lines.append([*line, f"{other:,.0f}", f"{mine - other:+,.0f}"])
    return table(("on", "import", "ms", "beside", "ms", "more, ms"), lines)


def peer_table(rows: Sequence[Row]) -> str:
    """Seconds, error and variables of each method on each problem."""
    lines = []
    mine = {(place(r), r["what"]): value(r, "seconds") for r in good(rows)}
    for row in sorted(rows, key=lambda row: row["what"].partition(" ")[0]):
        problem, _, method = row["what"].partition(" ")
        ratio = value(row, "seconds") / mine.get((place(row), f"{problem} srff"), math.nan)
        if row["status"] != "ok":
            lines.append([f"`{problem}`", method, row["status"], "", "", "", ""])
            continue
        error, mean = value(row, "rmse"), value(row, "rmse_mean")
        line = [f"`{problem}`", method, fit_seconds(row)]
        line += [number(ratio), number(error), f"{100 * error / mean:.0f} %"]
        lines.append([*line, yes(row["exact"])])
    head = ("problem", "method", "seconds", "over srff's", "RMSE", "of the mean", "variables right")
    return table(head, lines)


def pairs(rows: Sequence[Row]) -> dict[tuple[str, str], Pair]:
    """Fits on samples and on all rows of the same seeds, by machine and problem."""
    found: dict[tuple[str, str], dict[str, dict[str, Row]]] = defaultdict(dict)
    for row in good(rows):
        problem, _, how = row["what"].partition(" ")
        found[place(row), problem].setdefault(how, {})[row["seed"]] = row
    result = {}
    for key, hows in found.items():
        some, every = hows.get("samples", {}), hows.get("all rows", {})
        both = sorted(set(some) & set(every))
        if both:
            result[key] = [some[s] for s in both], [every[s] for s in both]
    return result


def spread(values: Sequence[float]) -> float:
    """Standard deviation; nan of one value."""
    return stdev(values) if len(values) > 1 else math.nan


def within_noise(pair: Pair) -> bool:
    """Whether samples are worse than all rows by at most the spread over seeds."""
    some, every = ([value(r, "rmse") for r in rows] for rows in pair)
    noise = math.sqrt((spread(some) ** 2 + spread(every) ** 2) / 2)
    same = all(a["selected"] == b["selected"] for a, b in zip(*pair, strict=True))
    return same and fmean(some) - fmean(every) <= noise


def equivalence_table(rows: Sequence[Row]) -> str:
    """Error, variables and seconds of both searches."""
    lines = []
    for (where, problem), pair in pairs(rows).items():
        for how, side in zip(("samples", "all rows"), pair, strict=True):
            errors = [value(row, "rmse") for row in side]
            right = sum(row["exact"] == "1" for row in side)
            line = [where, f"`{problem}`", how, str(len(side))]
            line += [f"{number(fmean(errors), 4)} ± {number(spread(errors), 2)}"]
            line += [f"{right} of {len(side)}"]
            line += [number(fmean(value(row, "effective_passes") for row in side), 4)]
            lines.append([*line, seconds(fmean(value(row, "seconds") for row in side))])
    head = ("on", "problem", "search on", "seeds", "RMSE", "variables right", "passes' rows / n")
    return table((*head, "seconds"), lines)


def precision_table(path: Path) -> str:
    """Errors of the statistics and of fits, in float32 and in TF32."""
    lines = []
    for row in json.loads(path.read_text()):
        if "error" in row:
            found = f"error of G {row['error']:.1e}"
            which = f"coefficients change by {row['coefficients_change']:.1e}"
        else:
            found, which = f"RMSE {row['rmse']:.3f}", f"variables {row['selected']}"
        lines.append([row["what"], seconds(row["seconds"]), found, which])
    return table(["what", "seconds", "accuracy", "with it"], lines)
