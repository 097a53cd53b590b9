"""The paper's tables with ours beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from srff.reproduction.published import (
    PAPER_REPLICATES,
    Cell,
    PaperFigure,
    PaperTable,
)
from srff.reproduction.replicate import Outcome, Settings, way

MARK = "†"
"""Beside figures that were made in another way than a run makes them now."""

ROUNDING = 0.0005
"""The paper's figures have three digits."""


@dataclass(frozen=True)
class Summary:
    """Our figure for a cell: mean and standard deviation over replicates, or why there is none.

    ``way`` says how they were run if not as by default; ``comparable`` is False where the rows
    were not the paper's.
    """

    mean: float
    std: float
    replicates: int
    status: str = "ok"
    way: str = ""
    comparable: bool = True


def summarise(outcomes: list[Outcome]) -> Summary | None:
    """Mean and standard deviation of the finished replicates."""
    finished = [o for o in outcomes if o.status == "ok"]
    if finished:
        errors = np.array([o.rmse for o in finished])
        return Summary(
            float(errors.mean()),
            float(errors.std(ddof=1)) if errors.size > 1 else math.nan,
            errors.size,
            way="" if finished[0].way == way(finished[0].method, Settings()) else finished[0].way,
            comparable=all(o.is_comparable for o in finished),
        )
    if outcomes:
        return Summary(math.nan, math.nan, 0, outcomes[0].status)
    return None


def verdict(ours: Summary | None, paper: PaperFigure | None) -> str:
    """Whether ours is "better" or "worse" by Welch's test at 5 %, or the "same".

    It is the same where a difference of one of the paper's standard deviations would have been
    seen; with too few replicates for that nothing but "open" can be said, with one nothing at all.
    """
    if ours is None or paper is None or not ours.comparable or ours.replicates < 2:
        return ""
    theirs, mine = paper.std**2 / PAPER_REPLICATES, ours.std**2 / ours.replicates
    freedom = theirs**2 / (PAPER_REPLICATES - 1) + mine**2 / (ours.replicates - 1)
    margin = 0.0
    if freedom > 0:
        margin = float(stats.t.ppf(0.975, (theirs + mine) ** 2 / freedom)) * math.sqrt(
            theirs + mine
        )
    difference = ours.mean - paper.mean
    if abs(difference) > margin + ROUNDING:
        return "better" if difference < 0 else "worse"
    return "same" if margin <= paper.std else "open"


def format_cell(
    table: PaperTable, cell: Cell, outcomes: dict[Cell, list[Outcome]]
) -> tuple[str, str, str]:
    """The paper's figure, ours, and the verdict, as texts."""
    paper, ours = table.figure(cell), summarise(outcomes.get(cell, []))
    theirs = f"{paper.mean:.3f} ({paper.std:.3f})" if paper else "-"
    if ours is None:
        mine = "not run"
    elif ours.status != "ok":
        mine = ours.status.split(":")[0] + " limit" * ours.status.startswith(("memory", "time"))
    elif ours.replicates == 1:
        mine = f"{ours.mean:.3f} (1)"
    else:
        mine = f"{ours.mean:.3f} ({ours.std:.3f}; {ours.replicates})"
    if ours is not None and ours.way:
        mine += MARK
    return theirs, mine, verdict(ours, paper)


def other_ways(table: PaperTable, outcomes: dict[Cell, list[Outcome]]) -> list[str]:
    """A sentence for each method whose figures were made in another way than the present one."""
    ways: dict[tuple[str, str], list[str]] = {}
    for cell in table.cells:
        summary = summarise(outcomes.get(cell, []))
        if summary is not None and summary.way:
            row = f"{cell.problem} {cell.n:,}"
            ways.setdefault((cell.method, summary.way), []).append(row)
    return [f"{MARK} {m}, {how}: {', '.join(rows)}" for (m, how), rows in ways.items()]


def failures(table: PaperTable, outcomes: dict[Cell, list[Outcome]]) -> list[str]:
    """A sentence for each cell that could not run, and for each problem whose data are missing."""
    lines = []
    for cell in table.cells:
        summary = summarise(outcomes.get(cell, []))
        if summary is None or summary.status == "ok":
            continue
        why, _, more = summary.status.partition(": ")
        missing = why == "no data"
        row = f"{cell.problem} {cell.n:,} {cell.method}"
        lines.append(f"{cell.problem} is left out: {more}" if missing else f"{row}: {why}: {more}")
    return list(dict.fromkeys(lines))


def median_scales(outcomes: list[Outcome]) -> np.ndarray | None:
    """The median over replicates of the learned scales."""
    scales = [np.array(o.scales.split(), dtype=float) for o in outcomes if o.scales]
    return np.median(scales, axis=0) if scales else None
