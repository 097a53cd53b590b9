"""The paper's tables with ours beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from srff.reproduction.published import (
    PAPER_REPLICATES,
    Cell,
    PaperFigure,
    PaperTable,
    paper_figure,
)
from srff.reproduction.replicate import Outcome


@dataclass(frozen=True)
class Summary:
    """Our figure for a cell: mean and standard deviation over replicates, or why there is none."""

    mean: float
    std: float
    replicates: int
    status: str = "ok"


def summarise(outcomes: list[Outcome]) -> Summary | None:
    """Mean and standard deviation of the finished replicates."""
    errors = np.array([o.rmse for o in outcomes if o.status == "ok"])
    if errors.size:
        std = float(errors.std(ddof=1)) if errors.size > 1 else 0.0
        return Summary(float(errors.mean()), std, errors.size)
    if outcomes:
        return Summary(math.nan, math.nan, 0, outcomes[0].status)
    return None


def verdict(ours: Summary | None, paper: PaperFigure | None) -> str:
    """Whether ours is "better", the "same" within two standard errors, or "worse"."""
    if ours is None or paper is None or ours.status != "ok":
        return ""
    error = math.sqrt(paper.std**2 / PAPER_REPLICATES + ours.std**2 / ours.replicates)
    difference = ours.mean - paper.mean
    # The paper's figures are rounded to three digits.
    if abs(difference) <= 2 * error + 0.0005:
        return "same"
    return "better" if difference < 0 else "worse"


def format_cell(cell: Cell, outcomes: dict[Cell, list[Outcome]]) -> tuple[str, str, str]:
    """The paper's figure, ours, and the verdict, as texts."""
    paper, ours = paper_figure(cell), summarise(outcomes.get(cell, []))
    theirs = f"{paper.mean:.3f} ({paper.std:.3f})" if paper else "-"
    if ours is None:
        mine = "not run"
    elif ours.status != "ok":
        mine = ours.status.split(":")[0] + " limit" * ours.status.startswith(("memory", "time"))
    else:
        mine = f"{ours.mean:.3f} ({ours.std:.3f})"
    return theirs, mine, verdict(ours, paper)


def replicate_counts(table: PaperTable, outcomes: dict[Cell, list[Outcome]]) -> str:
    """How many replicates each row's figures are of."""
    parts = []
    for problem, n in table.rows:
        counts = {
            sum(o.status == "ok" for o in outcomes[cell])
            for method in table.methods
            if (cell := Cell(problem, n, method)) in outcomes
        } - {0}
        if counts:
            spread = str(max(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
            parts.append(f"{problem} {n:,}: {spread}")
    return "replicates: " + "; ".join(parts) if parts else "no replicate yet"


def failures(table: PaperTable, outcomes: dict[Cell, list[Outcome]]) -> list[str]:
    """A sentence for each cell that could not run."""
    lines = []
    for cell in table.cells:
        summary = summarise(outcomes.get(cell, []))
        if summary is not None and summary.status != "ok":
            lines.append(f"{cell.problem} {cell.n:,} {cell.method}: {summary.status}")
    return lines


def median_scales(outcomes: list[Outcome]) -> np.ndarray | None:
    """The median over replicates of the learned scales."""
    scales = [np.array(o.scales.split(), dtype=float) for o in outcomes if o.scales]
    return np.median(scales, axis=0) if scales else None
