"""Write docs/speed.md and its figures from the results file.

python benchmarks/speed/page.py --results benchmarks/speed/results.csv --docs docs
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from common import HERE, read
from profiling import GROUPS, REST

Row = dict[str, str]

PASS_TARGET, IMPORT_TARGET, SLOPE_TARGET = 1.3, 0.05, 1.0
LARGE_SECONDS, LARGE_MB, GPU_SECONDS = 300.0, 500.0, 120.0
SLOPE_RANGE = (10_000, 1_000_000)
DISTURBED = 0.2
"""Cores busy with other work from which on a fit is marked."""

DARK, RED = "#34495e", "#c0392b"
COLOURS = (RED, DARK, "#7f8c8d", "#d98880")
BAR_COLOURS = dict(
    zip(
        (*GROUPS, REST),
        (RED, "#e59866", DARK, "#7f8c8d", "#5d8aa8", "#f1c40f", "#a9cce3", "#d5d8dc"),
        strict=True,
    )
)
TEXT = """# How fast it is, and how that grows

Written by `benchmarks/speed/page.py` from `benchmarks/speed/results.csv`. How each figure is taken
is in `benchmarks/speed/README.md`.

{facts}

## Targets

{targets}

## One pass beside its bare operations

Seconds of one pass over the rows, and over the seconds of the matrix products, cosines and sines
alone, on blocks of the same size and the same threads, run in turn; the shortest of five each.

{passes}

## A whole fit as rows, inputs and features grow

`SRFFRegressor(random_state=0)` on a function of five variables with noise, float32 input, each fit
in a process of its own. Memory is the peak over that of the process with rows and packages. Passes
that read all training rows; in brackets the rows read by all passes, as a multiple of the training
rows. Error: RMSE against the function without its noise, of standard deviation 0.3; the function's
own is about 1.0.

![Seconds of a fit against rows, inputs and features](speed-growth.svg)

A hollow point is a fit that other work on the machine disturbed, marked \\* in the tables. The
fits of this section, of the profile and beside other tools were taken before the last descents were
cut to a few passes over 50,000 rows; large fits and those on the GPU after it.

{growth}

The search is on samples of at most 10,000 rows and the last descents on at most 50,000; what every
row takes is the preparation and the last solve, so that time grows far more slowly than n. Up to
20,000 rows the evidence is tried too, at some more time.

## Large fits

{large}

## Where the time goes

Shares of a default fit at d = 18. Statistics and pull-back: passes over training rows. Validation:
all passes over validation rows. Solves: ridge solutions and evidence, D x D. Last pass: the
coefficients solved on all rows. Other: L-BFGS itself, draws, Python.

![Shares of the time of a fit](speed-profile.svg)

{profile}

## Stages of a fit

Seconds by stage, from the reports to `callback`, for `n_components="auto"`.

{stages}

## Prediction

Rows per second of `predict` for a model of 10 variables and 300 features, in tables of 10 and of
100 columns; beside the bare operations on blocks that are there already. The check that all
numbers are finite is scikit-learn's and is part of `predict`.

{prediction}

## Import

Median over fresh processes, taken in turn, with compiled modules on the disk. `import srff` by
itself loads nothing: names are imported when they are first asked for, which is the second line.

{imports}

## Beside other tools

The default fit beside others on the same cores, each in a process of its own, one draw. LightGBM:
one fit of at most 300 rounds with early stopping. STG and LassoNet: one training at one setting;
"search" is the search of `benchmarks/accuracy`, which chooses the setting on the validation rows,
as srff does. "of the mean": RMSE as a share of the RMSE of the mean.

{peers}

## Samples or all rows

The default searches on samples of the rows; here it is beside the same fit that searches on all of
them (`SEARCH_ROWS` and `REFINE_ROWS` of `srff.selection.recipe` raised). Mean and standard
deviation over seeds.

{equivalence}

## TF32 on a GPU

`torch.set_float32_matmul_precision("high")` makes products of float32 matrices TF32 ones, with
factors rounded to 11 bits. `python benchmarks/speed/precision.py` on the H200: a pass takes a third
of the time, but fits are not faster and two of six are far worse. Float32, torch's own default, is
the default here.

{precision}
"""


# --- values of rows ------------------------------------------------------------------------------


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


# --- tables --------------------------------------------------------------------------------------


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
    """Seconds of each stage of the automatic fits."""
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


Pair = tuple[list[Row], list[Row]]


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


# --- targets -------------------------------------------------------------------------------------


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


def slope(rows: Sequence[Row]) -> float:
    """The exponent of n in the seconds, by least squares between the ends of the range."""
    points = [
        (math.log(value(r, "n")), math.log(value(r, "seconds")))
        for r in good(rows)
        if SLOPE_RANGE[0] <= value(r, "n") <= SLOPE_RANGE[1]
    ]
    if len(points) < 2:
        return math.nan
    x, y = fmean(p[0] for p in points), fmean(p[1] for p in points)
    return sum((u - x) * (v - y) for u, v in points) / sum((u - x) ** 2 for u, _ in points)


def curve(rows: Sequence[Row], where: str, what: str, D: str | None = None) -> list[Row]:
    """The fits of one curve, from small to large."""
    chosen = [r for r in good(rows) if place(r) == where and what in r["what"].split()]
    chosen = [r for r in chosen if D is None or r["D"] == D]
    return sorted(chosen, key=lambda row: value(row, what))


def places(rows: Iterable[Row]) -> list[str]:
    """The machines of some rows."""
    return list(dict.fromkeys(map(place, rows)))


def target_lines(parts: dict[str, list[Row]]) -> list[list[str]]:
    """What was asked for, what was found, and whether that is enough."""
    lines: list[list[str]] = []

    def add(what: str, where: str, target: str, figure: str, met: bool) -> None:
        lines.append([what, where, target, figure, "yes" if met else "**no**"])

    for where in places(parts["passes"]):
        for name in ("statistics", "pull-back"):
            some = [r for r in parts["passes"] if place(r) == where and r["what"] == name]
            some = [r for r in some if r["dtype"] == "float32"]
            shapes = ""
            if any(r["device"] != "cpu" for r in some):  # few features leave a GPU idle
                some, shapes = [r for r in some if r["D"] == "1000"], ", D = 1000"
            ratios = [value(row, "ratio") for row in some]
            if ratios:
                text = f"{min(ratios):.2f} to {max(ratios):.2f}"
                asked = f"at most {PASS_TARGET}"
                met = max(ratios) <= PASS_TARGET
                what = f"{name} pass over its bare operations, float32{shapes}"
                add(what, where, asked, text, met)
    for row in parts["imports"]:
        if row["what"] == "import srff":
            more = value(row, "seconds") - value(row, "reference_seconds")
            asked, text = f"at most {1000 * IMPORT_TARGET:+.0f} ms", f"{1000 * more:+.0f} ms"
            what = "`import srff` over `import sklearn`"
            add(what, place(row), asked, text, more <= IMPORT_TARGET)
    for where in places(parts["growth"]):
        for D in ("300", "auto"):
            found = slope(curve(parts["growth"], where, "n", D))
            if not math.isnan(found):
                what = f"exponent of n in a fit's time, 10,000 to 1,000,000 rows, D = {D}"
                met = found <= SLOPE_TARGET
                add(what, where, f"at most {SLOPE_TARGET:.1f}", f"{found:.2f}", met)
    for row in parts["large"]:
        _large_lines(row, add)
    for (problem, where), others in _peer_groups(parts["peers"]).items():
        text, met = _beaten(others)
        add(f"`{problem}`: peers both faster and more accurate", where, "none", text, met)
    for (where, problem), pair in pairs(parts["equivalence"]).items():
        some, every = (fmean(value(r, "rmse") for r in side) for side in pair)
        text = f"RMSE {number(some, 4)} and {number(every, 4)}"
        what = f"`{problem}`: search on samples as good as on all rows"
        add(what, where, "within the spread over seeds", text, within_noise(pair))
    return lines


def _large_lines(row: Row, add: Callable[[str, str, str, str, bool], None]) -> None:
    """The lines of one large fit."""
    gpu = row["device"].startswith("cuda")
    limit = GPU_SECONDS if gpu else LARGE_SECONDS
    size = f"{integer(row['n'])} x {row['d']} {row['dtype']}, D = {row['D']}"
    if row["status"] != "ok":
        add(f"fit of {size}", place(row), f"under {limit:.0f} s", row["status"], False)
        return
    taken, peak = value(row, "seconds"), value(row, "peak_mb")
    text = f"{seconds(taken)} s"
    add(f"fit of {size}", place(row), f"under {limit:.0f} s", text, taken < limit)
    if not gpu:
        asked = f"at most {LARGE_MB:.0f} MB"
        add(
            f"its memory over the data, {row['dtype']}",
            place(row),
            asked,
            f"{peak:,.0f} MB",
            peak <= LARGE_MB,
        )


def _peer_groups(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Methods of a problem and machine, where srff is among them."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["what"].partition(" ")[0], place(row)].append(row)
    return {
        key: some
        for key, some in found.items()
        if any(r["what"].endswith(" srff") for r in good(some))
    }


def _beaten(rows: Sequence[Row]) -> tuple[str, bool]:
    """Who is both faster and more accurate than srff, in words, and whether nobody is."""
    mine = next(r for r in rows if r["what"].endswith(" srff"))
    better = [
        row["what"].partition(" ")[2]
        for row in good(rows)
        if row is not mine
        and value(row, "seconds") <= value(mine, "seconds")
        and value(row, "rmse") <= value(mine, "rmse")
    ]
    return ", ".join(better) or f"none of {len(rows) - 1}", not better


# --- figures -------------------------------------------------------------------------------------


def pyplot() -> Any:
    """matplotlib, with files that do not change from run to run."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "srff"
    return plt


def draw_growth(rows: Sequence[Row], path: Path) -> None:
    """Seconds against rows, inputs and features."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
    labels = {"n": "rows n, d = 18", "d": "inputs d, n = 50,000", "D": "features D, n = 50,000"}
    times = [value(row, "seconds") for row in good(rows)] or [1.0]
    heights = min(times) / 2, max(times) * 2
    for axes, (what, label) in zip(panels, labels.items(), strict=True):
        colours = iter(COLOURS)
        for where in places(rows):
            for D in ("300", "auto") if what == "n" else (None,):
                points = curve(rows, where, what, D)
                if not points:
                    continue
                name = where if D is None else f"{where}, D = {D}"
                if what == "n":
                    name += f": n^{slope(points):.2f}"
                x, y = ([value(r, k) for r in points] for k in (what, "seconds"))
                colour = next(colours)
                axes.plot(x, y, "o-", color=colour, markersize=5, linewidth=1.5, label=name)
                for row in points:
                    if value(row, "other_load") > DISTURBED:  # a hollow point
                        at = value(row, what), value(row, "seconds")
                        axes.plot(*at, "o", color=colour, markerfacecolor="white", markersize=5)
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds of a fit")
        ticks = sorted({value(row, what) for row in good(rows) if what in row["what"].split()})
        axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
        axes.set_yticks([t for t in (1, 3, 10, 30, 100, 300, 1000, 3000) if t < heights[1]])
        axes.set_ylim(*heights)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_profile(rows: Sequence[Row], path: Path) -> None:
    """A bar of shares for each size."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(9, 1.4 + 0.55 * max(len(rows), 1)), layout="constrained")
    names = [f"n = {integer(r['n'])}\n{seconds(value(r, 'seconds'))} s" for r in rows]
    left = [0.0] * len(rows)
    for group in (*GROUPS, REST):
        shares = [100 * details(row)[group] for row in rows]
        axes.barh(names, shares, left=left, color=BAR_COLOURS[group], label=group, height=0.65)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="share of the time, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


# --- the page ------------------------------------------------------------------------------------


def facts(rows: Sequence[Row]) -> str:
    """Machines, versions and the command."""
    versions: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, version in json.loads(row["versions"] or "{}").items():
            versions[name].add(version)
    shown = ", ".join(f"{name} {' and '.join(sorted(v))}" for name, v in sorted(versions.items()))
    machines = {row["machine"]: (place(row), row["n_threads"]) for row in rows}
    items = [
        f'Machine "{short}": {m}; {threads} threads' for m, (short, threads) in machines.items()
    ]
    items.append(f"Versions: {shown}")
    items.append("Command: `python benchmarks/speed/run.py`, on a GPU with `--device cuda`")
    if any(value(row, "other_load") > DISTURBED for row in rows):
        items.append(f"\\*: other work kept more than {DISTURBED} cores busy during this fit")
    return "\n".join(f"- {item}" for item in items)


def write(results: Path, docs: Path) -> None:
    """Write the page and its figures."""
    rows = read(results)
    if not rows:
        raise SystemExit(f"{results} has no results.")
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parts[row["part"]].append(row)
    docs.mkdir(parents=True, exist_ok=True)
    draw_growth(parts["growth"], docs / "speed-growth.svg")
    draw_profile(good(parts["profile"]), docs / "speed-profile.svg")
    head = ("on", "n", "d", "D", "input", *FIT_HEAD)
    text = TEXT.format(
        facts=facts(rows),
        targets=table(("what", "on", "target", "found", "met"), target_lines(parts)),
        passes=pass_table(parts["passes"]),
        growth=growth_table(parts["growth"]),
        large=table(head, [fit_line(row, dtype=True) for row in parts["large"]]),
        profile=profile_table(parts["profile"]),
        stages=stage_table([*parts["growth"], *parts["large"]]),
        prediction=prediction_table(parts["prediction"]),
        imports=import_table(parts["imports"]),
        peers=peer_table(parts["peers"]),
        equivalence=equivalence_table(parts["equivalence"]),
        precision=precision_table(results.with_name("precision.json")),
    )
    (docs / "speed.md").write_text(text, encoding="utf-8")


def main(
    write: Callable[[Path, Path], None], about: str, argv: Sequence[str] | None = None
) -> None:
    """The command line of a page."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results.csv")
    parser.add_argument("--docs", type=Path, default=HERE.parents[1] / "docs")
    options = parser.parse_args(argv)
    write(options.results, options.docs)


if __name__ == "__main__":
    main(write, __doc__ or "")
