"""Write docs/accuracy.md and its two figures from the results file.

python benchmarks/accuracy/page.py --results benchmarks/accuracy/results.csv --docs docs
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from methods import METHODS
from problems import PROBLEMS, Problem
from run import HERE, read

FAMILIES = {
    "paper": "The paper's synthetic problems",
    "other": "Other functions",
    "real": "Real data",
}
SELECTION = ("n_selected", "n_true", "true_selected", "false_selected", "exact")
COST = ("seconds", "peak_mb", "n", "d")
FIGURES = {"error": "rmse", "worst": "rmse_mean", "floor": "floor"}
FIGURES |= {name: name for name in (*SELECTION, *COST)}
"""What is read from the results, and the column that it is in."""

COLOURS = {"srff": "#c0392b"}
TEXT = """# Error and variable selection beside other methods

Written by `benchmarks/accuracy/page.py` from `benchmarks/accuracy/results.csv`, which holds every
single fit with its settings, seconds and selected columns. How the methods are fitted is in
`benchmarks/accuracy/README.md`.

{facts}

## In short

{summary}

Best on: problems where the mean test error is the lowest. Error left: (error - floor) / (error of
the mean predictor - floor), the floor taken as zero where it is not known; the median over
problems. Found, false: mean share of the relevant variables that were selected, and mean number of
irrelevant ones selected, where the truth is known. Seconds: median of a fit, its search included.
A method counts where it gave a result; the number of such problems is in the second column.

![Error against time](accuracy-time.svg)

![Relevant against irrelevant variables selected](accuracy-selection.svg)

## On the same draws

The number of seeds differs between methods, so here is each beside srff on the draws that both
finished: how often srff has the lower test error, and the median of the method's error over srff's.

{pairs}

## Error

Test RMSE, mean ± standard error over seeds; the lowest mean is bold. The floor is the smallest
possible error; "mean" predicts the mean of the training target.

{errors}

## Variables selected, where the truth is known

Seeds with exactly the right set (mean number of relevant variables found, mean number of irrelevant
ones selected). Copies of one variable count once. LightGBM, XGBoost and xRFM do not drop variables:
theirs are those of more than mean importance.

{selections}

## Variables selected, real data

Mean number of variables selected. For `appliances`, in brackets: mean number of its two noise
inputs (rv1, rv2) among them.

{real}

## The problems

{problems}
"""


@dataclass(frozen=True)
class Line:
    """A line of the results file."""

    problem: str
    method: str
    seed: int
    status: str
    figures: dict[str, float]
    device: str
    versions: dict[str, str]

    @classmethod
    def of(cls, row: dict[str, str], columns: Mapping[str, str] = FIGURES) -> Line:
        """From the texts of the file; what is empty is nan."""
        figures = {name: float(row[col]) if row[col] else math.nan for name, col in columns.items()}
        versions = json.loads(row["versions"] or "{}")
        key = (row["problem"], row["method"], int(row["seed"]), row["status"])
        return cls(*key, figures, row["device"], versions)


Cells = dict[tuple[str, str], list[Line]]


def by_cell(lines: Iterable[Line]) -> Cells:
    """Lines gathered by problem and method, the last of each seed."""
    latest = {(line.problem, line.method, line.seed): line for line in lines}
    cells: Cells = defaultdict(list)
    for line in latest.values():
        cells[line.problem, line.method].append(line)
    return cells


def good(cells: Cells, problem: str, method: str) -> list[Line]:
    """Those of a cell that ended well."""
    return [line for line in cells.get((problem, method), []) if line.status == "ok"]


def values(lines: Iterable[Line], name: str) -> list[float]:
    """A figure of some lines, where they have it."""
    found = (line.figures[name] for line in lines)
    return [value for value in found if not math.isnan(value)]


def average(lines: Iterable[Line], name: str) -> float:
    """The mean of a figure; nan without any."""
    found = values(lines, name)
    return fmean(found) if found else math.nan


def error_left(lines: Sequence[Line]) -> float:
    """The share of the reducible error that is left; nan where next to nothing is reducible."""
    floor = average(lines, "floor")
    floor = 0.0 if math.isnan(floor) else floor
    worst, error = average(lines, "worst"), average(lines, "error")
    if not worst > 1.1 * floor:
        return math.nan
    return max(error - floor, 0.0) / (worst - floor)


def known(numbers: Iterable[float]) -> list[float]:
    """Those that are not nan."""
    return [number for number in numbers if not math.isnan(number)]


def number(value: float, digits: int = 3) -> str:
    """Significant digits without an exponent; a dash for nan."""
    if math.isnan(value):
        return "-"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0) if value else 0
    return f"{value:,.{decimals}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def unfinished(lines: Sequence[Line]) -> str:
    """Why a cell has no figure."""
    if not lines:
        return ""
    return lines[0].status.split(":")[0]


def error_text(lines: Sequence[Line], name: str = "error") -> str:
    """Mean and standard error of a cell; in brackets, seeds that ended well if not all did."""
    fine = [line for line in lines if line.status == "ok"]
    if not fine:
        return unfinished(lines)
    errors = values(fine, name)
    text = number(fmean(errors), 4)
    if len(errors) > 1:
        text += f" ± {number(stdev(errors) / math.sqrt(len(errors)), 2)}"
    return text if len(fine) == len(lines) else f"{text} ({len(fine)} of {len(lines)})"


def best_methods(cells: Cells, problem: str, methods: Sequence[str]) -> set[str]:
    """The methods of lowest mean error: one, but for ties."""
    means = {m: average(good(cells, problem, m), "error") for m in methods}
    means = {m: mean for m, mean in means.items() if not math.isnan(mean)}
    return {m for m, mean in means.items() if mean <= min(means.values()) * (1 + 1e-6)}


def error_table(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> str:
    """Errors of a family of problems."""
    rows = []
    for problem in problems:
        best = best_methods(cells, problem.name, methods)
        lines = [line for m in methods for line in cells.get((problem.name, m), [])]
        row = [f"`{problem.name}`", number(problem.floor), number(average(lines, "worst"))]
        for method in methods:
            text = error_text(cells.get((problem.name, method), []))
            row.append(f"**{text}**" if method in best else text)
        rows.append(row)
    return table(("problem", "floor", "mean", *methods), rows)


def selection_table(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> str:
    """Selection where the truth is known."""
    rows = []
    for problem in problems:
        row = [f"`{problem.name}`", str(len(problem.groups or ())), str(problem.n_features)]
        for method in methods:
            lines = good(cells, problem.name, method)
            row.append(selection_text(lines) if lines else "")
        rows.append(row)
    return table(("problem", "relevant", "of", *methods), rows)


def selection_text(lines: Sequence[Line]) -> str:
    """Exact sets, variables found and false ones of a cell."""
    exact = int(sum(values(lines, "exact")))
    found, false = average(lines, "true_selected"), average(lines, "false_selected")
    return f"{exact} of {len(lines)} ({found:.1f}, {false:.1f})"


def real_table(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> str:
    """Numbers of variables on real data, and of known noise among them."""
    rows = []
    for problem in problems:
        row = [f"`{problem.name}`", str(problem.n_features)]
        for method in methods:
            lines = good(cells, problem.name, method)
            text = f"{average(lines, 'n_selected'):.1f}" if lines else ""
            if lines and problem.noise_names:
                text += f" ({average(lines, 'false_selected'):.1f})"
            row.append(text)
        rows.append(row)
    return table(("data", "inputs", *methods), rows)


def summary_table(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> str:
    """One line per method over all problems."""
    best = [best_methods(cells, p.name, methods) for p in problems]
    rows = []
    for method in methods:
        point = method_point(cells, problems, method)
        ran = [p for p in problems if good(cells, p.name, method)]
        lines = [line for p in ran for line in good(cells, p.name, method)]
        exact = values(lines, "exact")
        rows.append(
            [
                method,
                str(len(ran)),
                str(sum(method in winners for winners in best)),
                number(point.left, 2),
                f"{100 * fmean(exact):.0f} %" if exact else "-",
                "-" if math.isnan(point.found) else f"{100 * point.found:.0f} %",
                number(point.false, 2),
                number(point.seconds, 2),
            ]
        )
    head = ("method", "problems", "best on", "error left", "exact", "found", "false", "seconds")
    return table(head, rows)


def pair_table(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> str:
    """Each method beside srff, on the same rows."""
    rows = []
    for method in methods:
        ratios = [
            other.figures["error"] / mine.figures["error"]
            for problem in problems
            for mine in good(cells, problem.name, "srff")
            for other in good(cells, problem.name, method)
            if mine.seed == other.seed
        ]
        if method != "srff" and ratios:
            better = sum(ratio > 1 for ratio in ratios)
            rows.append((method, str(len(ratios)), str(better), number(median(ratios))))
    return table(("method", "draws", "srff better", "median ratio"), rows)


@dataclass(frozen=True)
class Point:
    """A method over some problems."""

    seconds: float
    left: float
    left_range: tuple[float, float]
    found: float
    false: float


def method_point(cells: Cells, problems: Sequence[Problem], method: str) -> Point:
    """Medians of time and error left, means of the selection."""
    ran = [lines for p in problems if (lines := good(cells, p.name, method))]
    left = sorted(known(error_left(lines) for lines in ran))
    seconds = [average(lines, "seconds") for lines in ran]
    truth = [lines for lines in ran if values(lines, "n_true")]
    shares = known(
        average(lines, "true_selected") / average(lines, "n_true")
        if average(lines, "n_true") > 0
        else math.nan
        for lines in truth
    )
    false = [average(lines, "false_selected") for lines in truth]
    quartiles = (left[len(left) // 4], left[(3 * len(left)) // 4]) if left else (math.nan,) * 2
    return Point(
        median(seconds) if seconds else math.nan,
        median(left) if left else math.nan,
        (quartiles[0], quartiles[1]),
        fmean(shares) if shares else math.nan,
        fmean(false) if false else math.nan,
    )


def common(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> list[Problem]:
    """Problems that every method has a result for."""
    return [p for p in problems if all(good(cells, p.name, m) for m in methods)]


def scatter(
    path: Path,
    points: dict[str, tuple[float, float]],
    labels: tuple[str, str, str],
    prepare: Callable[[Any], None],
    ranges: dict[str, tuple[float, float]] | None = None,
) -> None:
    """A point with its name for each method."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "srff"
    figure, axes = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    for method, (x, y) in points.items():
        if math.isnan(x) or math.isnan(y):
            continue
        colour = COLOURS.get(method, "#34495e")
        if ranges is not None:
            axes.plot((x, x), ranges[method], color=colour, alpha=0.3, linewidth=2)
        axes.plot(x, y, "o", color=colour, markersize=7)
    title, x_label, y_label = labels
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    prepare(axes)
    figure.canvas.draw()  # the layout has to be known for the labels not to lie on each other
    place_labels(axes, points)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def place_labels(axes: Any, points: dict[str, tuple[float, float]]) -> None:
    """Write the names beside the points, moved up or down where another name is."""
    taken: list[tuple[float, float]] = []
    for method, point in points.items():
        if any(map(math.isnan, point)):
            continue
        x, y = axes.transData.transform(point) * 72 / axes.figure.dpi
        shifts = [sign * 11 * step + 4 for step in range(len(points)) for sign in (-1, 1)]
        shift = next(
            (s for s in shifts if all(abs(x - u) > 75 or abs(y + s - v) > 10 for u, v in taken)), 4
        )
        taken.append((x, y + shift))
        colour = COLOURS.get(method, "#34495e")
        axes.annotate(method, point, (7, shift), textcoords="offset points", color=colour)


def draw_figures(
    cells: Cells,
    problems: Sequence[Problem],
    methods: Sequence[str],
    folder: Path,
    name: str = "accuracy",
) -> None:
    """Error against time, and relevant against irrelevant variables selected.

    Over the problems that every method finished or, if there are none, all problems.
    """
    shared = common(cells, problems, methods)
    which = "that all methods finished" if shared else "not all finished by every method"
    shared = shared or list(problems)
    points = {m: method_point(cells, shared, m) for m in methods}
    scatter(
        folder / f"{name}-time.svg",
        {m: (p.seconds, p.left) for m, p in points.items()},
        (
            f"Error left and time, {len(shared)} problems {which}",
            "seconds of a fit with its search, median",
            "error left, median and quartiles",
        ),
        lambda axes: axes.set_xscale("log"),
        {m: p.left_range for m, p in points.items()},
    )
    true = [p for p in shared if p.groups]
    points = {m: method_point(cells, true, m) for m in methods}
    scatter(
        folder / f"{name}-selection.svg",
        {m: (p.false, p.found) for m, p in points.items()},
        (
            f"Variables selected, {len(true)} problems of known truth {which}",
            "irrelevant variables selected, mean number",
            "relevant variables selected, mean share",
        ),
        _selection_axes,
    )


def _selection_axes(axes: Any) -> None:
    axes.set_xscale("symlog", linthresh=0.5)
    axes.set_xlim(left=-0.05)
    axes.set_ylim(-0.03, 1.1)


def facts(lines: Sequence[Line], runs: Sequence[dict[str, Any]]) -> str:
    """Machine, versions and command, from the records of the runs."""
    versions: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for name, version in line.versions.items():
            versions[name].add(version)
    shown = ", ".join(f"{name} {' and '.join(sorted(v))}" for name, v in sorted(versions.items()))
    machines = list(dict.fromkeys(run["machine"] for run in runs)) or ["not recorded"]
    commands = list(dict.fromkeys(run["command"] for run in runs))
    on_gpu = sorted({line.method for line in lines if line.device.startswith("cuda")})
    items = [f"Machine: {'; '.join(machines)}"]
    if on_gpu:
        items.append(f"On the GPU: {', '.join(on_gpu)}; the others on the CPU")
    items += [f"Versions: {shown}", *(f"Command: `{command}`" for command in commands)]
    items.append(f"Fits: {len(lines)}, {sum(line.status == 'ok' for line in lines)} ended well")
    return "\n".join(f"- {item}" for item in items)


def write(results: Path, docs: Path) -> None:
    """Write the page and its figures."""
    lines = [line for row in read(results) if (line := Line.of(row)).problem in PROBLEMS]
    if not lines:
        raise SystemExit(f"{results} has no results.")
    record = results.with_suffix(".json")
    runs = json.loads(record.read_text(encoding="utf-8")) if record.exists() else []
    cells = by_cell(lines)
    seen = {problem for problem, _ in cells}
    problems = [p for p in PROBLEMS.values() if p.name in seen]
    methods = [m for m in METHODS if m != "mean" and any(m == key[1] for key in cells)]
    families = {
        title: [p for p in problems if p.family == family] for family, title in FAMILIES.items()
    }
    families = {title: some for title, some in families.items() if some}
    known_truth = {t: s for t, some in families.items() if (s := [p for p in some if _truth(p)])}
    real = [p for p in problems if not _truth(p)]
    docs.mkdir(parents=True, exist_ok=True)
    draw_figures(cells, problems, methods, docs)
    text = TEXT.format(
        facts=facts(lines, runs),
        summary=summary_table(cells, problems, methods),
        pairs=pair_table(cells, problems, methods),
        errors=sections(families, lambda some: error_table(cells, some, methods)),
        selections=sections(known_truth, lambda some: selection_table(cells, some, methods)),
        real=real_table(cells, real, methods) if real else "No results.",
        problems=table(
            ("name", "rows", "inputs", "what it is"),
            [
                (f"`{p.name}`", f"{p.n_train:,}", f"{p.n_features:,}", _escaped(p.formula))
                for p in problems
            ],
        ),
    )
    (docs / "accuracy.md").write_text(text, encoding="utf-8")


def sections(families: dict[str, list[Problem]], body: Callable[[Sequence[Problem]], str]) -> str:
    """A heading and a table for each family."""
    return "\n\n".join(f"### {title}\n\n{body(some)}" for title, some in families.items())


def _truth(problem: Problem) -> bool:
    return problem.groups is not None


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def main(
    argv: Sequence[str] | None = None,
    written: Callable[[Path, Path], None] = write,
    folder: Path = HERE,
) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a page and its figures from the results.")
    parser.add_argument("--results", type=Path, default=folder / "results.csv")
    parser.add_argument("--docs", type=Path, default=folder.parents[1] / "docs")
    options = parser.parse_args(argv)
    written(options.results, options.docs)


if __name__ == "__main__":
    main()
