"""Tables on a terminal and, for the documentation, as a page with the figure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from srff.reproduction.comparison import failures, format_cell, median_scales, other_ways
from srff.reproduction.datasets import SE1, SE2, SE3
from srff.reproduction.published import SCALES_IN_TEXT, SPARSITY_FIGURE, TABLES, Cell, PaperTable
from srff.reproduction.replicate import Outcome
from srff.reproduction.results import by_cell

_COLOURS = {"better": "green", "same": "green", "worse": "yellow", "open": "dim"}
_MARKS = {"better": "**<**", "same": "**=**", "worse": "**>**", "open": "?"}
TRUTHS = {"SE1": SE1, "SE2": SE2, "SE3": SE3}


def print_table(
    console: Console, table: PaperTable, outcomes: Iterable[Outcome], methods: set[str]
) -> None:
    """One table in the paper's layout: the paper's figure, ours, and how they compare."""
    cells = by_cell(outcomes)
    columns = [m for m in table.methods if m in methods]
    shown = Table(
        "n",
        "",
        *columns,
        title=f"{table.caption}: test RMSE (std; replicates)",
        title_justify="left",
    )
    for problem, n in table.rows:
        texts = [format_cell(table, Cell(problem, n, m), cells) for m in columns]
        shown.add_row(_label(table, problem, n), "paper", *[t[0] for t in texts])
        shown.add_row("", "ours", *[t[1] for t in texts])
        marks = [f"[{_COLOURS[t[2]]}]{t[2]}[/]" if t[2] else "" for t in texts]
        shown.add_row("", "", *marks, end_section=True)
    console.print(shown)
    for line in other_ways(table, cells) + failures(table, cells):
        console.print(line, style="dim", highlight=False, markup=False)
    console.print()


def _label(table: PaperTable, problem: str, n: int) -> str:
    """The head of a row: the training rows, and of which problem where a table has several."""
    return f"{problem} {n:,}" if table.name == "real" else f"{n:,}"


def print_scales(console: Console, outcomes: Iterable[Outcome]) -> None:
    """The learned-sparsity figure and the scales that the text gives, as medians."""
    cells = by_cell(outcomes)
    for n, paper in SPARSITY_FIGURE.items():
        median = median_scales(cells.get(Cell("SE1", n, "SRFF"), []))
        if median is None:
            continue
        shown = Table(
            "SE1 variable", "paper", "ours", "", title=f"Learned scales, SE1, n = {n:,} (medians)"
        )
        for k, value in enumerate(median, start=1):
            bar = "█" * round(15 * value / max(median.max(), 1e-12))
            shown.add_row(f"x{k}", f"{paper.get(k, 0):.3f}", f"{value:.3f}", bar)
        console.print(shown)
    for line in scale_lines(cells):
        console.print(line, highlight=False)


def scale_lines(cells: dict[Cell, list[Outcome]]) -> list[str]:
    """For SE2 and SE3: medians of relevant and irrelevant scales beside the paper's ranges."""
    lines = []
    for cell, outcomes in sorted(cells.items(), key=lambda item: (item[0].problem, item[0].n)):
        text = SCALES_IN_TEXT.get((cell.problem, cell.n), SCALES_IN_TEXT.get((cell.problem, None)))
        median = median_scales(outcomes)
        if text is None or median is None or cell.method != "SRFF":
            continue
        (low, high), irrelevant = text
        relevant = list(TRUTHS[cell.problem].relevant)
        mine = median[relevant]
        lines.append(
            f"{cell.problem} n = {cell.n:,}: relevant {mine.min():.2f} to {mine.max():.2f} (paper "
            f"{low} to {high}), irrelevant at most {np.delete(median, relevant).max():.2f} "
            f"(paper {irrelevant})"
        )
    return lines


def markdown(outcomes: Iterable[Outcome]) -> str:
    """Every table as Markdown."""
    cells = by_cell(outcomes)
    parts = []
    for table in TABLES.values():
        parts.append(f"### {table.caption}\n")
        parts.append("| n | | " + " | ".join(table.methods) + " |")
        parts.append("|---" * (len(table.methods) + 2) + "|")
        for problem, n in table.rows:
            texts = [format_cell(table, Cell(problem, n, m), cells) for m in table.methods]
            label = _label(table, problem, n)
            parts.append(f"| {label} | paper | " + " | ".join(t[0] for t in texts) + " |")
            mine = [f"{t[1]} {_MARKS.get(t[2], '')}".strip() for t in texts]
            parts.append("| | ours | " + " | ".join(mine) + " |")
        parts.append("")
        parts += [f"- {line}" for line in other_ways(table, cells) + failures(table, cells)]
        parts.append("")
    parts.append("### Learned scales\n")
    parts += [f"- {line}" for line in scale_lines(cells)]
    return "\n".join(parts) + "\n"


def draw_sparsity(outcomes: Iterable[Outcome], path: Path) -> None:
    """The paper's figure: median scales of SE1 at the smallest and the largest training size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    cells = by_cell(outcomes)
    figure, axes = plt.subplots(2, 1, figsize=(8, 4.5), sharex=True, layout="constrained")
    for axis, (n, paper) in zip(axes, SPARSITY_FIGURE.items(), strict=True):
        median = median_scales(cells.get(Cell("SE1", n, "SRFF"), []))
        positions = np.arange(1, SE1.n_features + 1)
        theirs = [paper.get(int(k), 0.0) for k in positions]
        axis.bar(positions - 0.2, theirs, width=0.4, label="paper", color="0.7")
        if median is not None:
            axis.bar(positions + 0.2, median, width=0.4, label="srff", color="C0")
        axis.set(title=f"n = {n:,}", ylabel="median scale", xticks=positions)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    axes[1].set_xlabel("variable (1, 3, 7, 8, 9 are in the formula)")
    figure.savefig(path)
    plt.close(figure)
