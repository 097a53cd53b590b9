"""Tables of methods on problems, from the lines of a results file."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from problem import Problem

SELECTION = ("n_selected", "n_true", "true_selected", "false_selected", "exact")
COST = ("seconds", "peak_mb", "n", "d")
FIGURES = {"error": "rmse", "worst": "rmse_mean", "floor": "floor"}
FIGURES |= {name: name for name in (*SELECTION, *COST)}
"""What is read from the results, and the column that it is in."""


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
