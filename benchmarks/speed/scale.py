"""Write docs/scale.md: sources beside each other, and the cost model beside single passes.

python benchmarks/speed/scale.py --results benchmarks/speed/results.csv --docs docs
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import HERE, read
from page import main
from scipy.optimize import nnls
from tables import Row, good, integer, number, seconds, table, value, yes

CORES = 2
"""Of the machine that the passes were taken on: more workers than these do not help."""

PARTITION_ROWS = 65_536
TEXT = (HERE / "scale.txt").read_text(encoding="utf-8")

MULTIPLIES = {
    "statistics": lambda d, D: 2 * (d + 1) * D + D * D,
    "loss and slope": lambda d, D: 4 * (d + 1) * D + 4 * D,
    "loss": lambda d, D: 2 * (d + 1) * D + 2 * D,
}
"""Floating-point operations of a row's products, by the kind of pass."""

WAVES = {"statistics": 1, "loss and slope": 2, "loss": 1}
"""Cosines and sines of a row, as a multiple of D."""


@dataclass(frozen=True)
class Pass:
    """One measured pass."""

    source: str
    kind: str
    n: int
    d: int
    D: int
    at_a_time: int
    seconds: float


def passes(rows: Sequence[Row]) -> list[Pass]:
    """The passes of the part ``cost``."""
    found = []
    for row in good(rows):
        match = re.fullmatch(r"(.*): (.*), (\d)", row["what"])
        assert match is not None
        sizes = (int(row[k]) for k in ("n", "d", "D"))
        found.append(Pass(match[1], match[2], *sizes, int(match[3]), value(row, "seconds")))
    return found


@dataclass(frozen=True)
class Rates:
    """What one core does, and what a cluster adds."""

    multiply: float
    """Seconds of a floating-point operation."""
    wave: float
    """Seconds of a cosine or sine."""
    read: dict[str, float]
    """Seconds of reading a byte anew, by source; none where rows are kept."""
    latency: float
    """Seconds of a pass on workers that has next to nothing to do."""
    task: float
    """Seconds that a partition more adds to it: all go through one scheduler."""

    @classmethod
    def of(cls, measured: Sequence[Pass]) -> Rates:
        """From the passes of one thread, and of one worker."""
        alone = [p for p in measured if p.at_a_time == 1]
        memory = [p for p in alone if p.source == "memory"]
        A = np.array(
            [[p.n * MULTIPLIES[p.kind](p.d, p.D), p.n * WAVES[p.kind] * p.D] for p in memory]
        )
        taken = np.array([p.seconds for p in memory])
        # Relative errors: the long passes are not all that counts.
        (multiply, wave), _ = nnls(A / taken[:, None], np.ones(len(taken)))
        known = {(p.kind, p.D): p.seconds for p in memory}

        def more(source: str) -> float:
            return float(
                np.median([p.seconds - known[p.kind, p.D] for p in alone if p.source == source])
            )

        n, d = memory[0].n, memory[0].d
        few = {
            int(p.source.split()[0]): p.seconds
            for p in measured
            if p.source.endswith("rows") and p.kind == "loss"
        }
        task, latency = np.polyfit(list(few), list(few.values()), 1)
        read = {
            "Parquet, read anew": more("Parquet, read anew") / (4 * n * d),
            "Dask, read anew": (more("Dask, read anew") - more("Dask, kept")) / (4 * n * d),
        }
        return cls(multiply, wave, read, float(latency), float(task))

    def seconds(self, source: str, kind: str, n: float, d: int, D: int, at_a_time: int) -> float:
        """What a pass takes."""
        row = MULTIPLIES[kind](d, D) * self.multiply + WAVES[kind] * D * self.wave
        row += 4 * d * self.read.get(source, 0.0)
        tasks = 0.0
        if source.startswith("Dask"):
            tasks = self.latency + np.ceil(n / PARTITION_ROWS) * self.task
        return float(n * row / at_a_time + tasks)


def compared(measured: Sequence[Pass], rates: Rates) -> str:
    """Passes of several threads and workers beside what the model says of them."""
    lines = []
    for source in dict.fromkeys(p.source for p in measured if not p.source.endswith("rows")):
        for D in sorted({p.D for p in measured}):
            for k in (1, 2, 4):
                cells = []
                for kind in MULTIPLIES:
                    for p in measured:
                        if (p.source, p.D, p.at_a_time, p.kind) == (source, D, k, kind):
                            said = rates.seconds(source, kind, p.n, p.d, D, min(k, CORES))
                            cells.append(f"{number(p.seconds)} ({number(said)})")
                if cells:
                    lines.append([source, str(D), str(k), *cells])
    return table(("rows", "D", "threads or workers", *MULTIPLIES), lines)


def source_table(rows: Sequence[Row]) -> str:
    """Whole fits, and what each takes over the one from memory."""
    rows = good(rows)
    memory = {row["what"].split(": ")[1]: row for row in rows if row["what"].startswith("memory")}
    lines = []
    for row in rows:
        source, solver = row["what"].split(": ")
        other = memory.get(solver)
        same = other is not None and (other["n"], other["D"]) == (row["n"], row["D"])
        ratio = number(value(row, "seconds") / value(other, "seconds")) if same else ""
        a_pass = seconds(value(row, "seconds") / value(row, "n_passes"))
        lines.append(
            [
                source,
                solver,
                integer(row["n"]),
                row["D"],
                seconds(value(row, "seconds")),
                ratio,
                row["n_passes"],
                a_pass if solver == "paper" else "",
                f"{value(row, 'peak_mb'):,.0f}",
                yes(row["exact"]) if solver == "default" else "",
            ]
        )
    head = ("rows from", "solver", "n", "D", "seconds", "over memory", "passes", "s a pass")
    return table((*head, "peak over the start, MB", "variables right"), lines)


def write(results: Path, docs: Path) -> None:
    """Write the page."""
    rows = [row for row in read(results) if row["device"] == "cpu"]
    measured = passes([row for row in rows if row["part"] == "cost"])
    if not measured:
        raise SystemExit(f"{results} has no results of the part cost.")
    rates = Rates.of(measured)
    n, d, D, cores = 1e9, 200, 300, 50 * 16

    def large(kind: str, source: str = "Dask, kept", columns: int = d) -> str:
        return seconds(rates.seconds(source, kind, n, columns, D, cores))

    text = TEXT.format(
        sources=source_table([row for row in rows if row["part"] == "sources"]),
        compared=compared(measured, rates),
        gflops=number(1e-9 / rates.multiply),
        waves=number(1e-6 / rates.wave),
        parquet=number(1e-6 / rates.read["Parquet, read anew"]),
        dask=number(1e-6 / rates.read["Dask, read anew"]),
        task=number(1000 * rates.task, 2),
        latency=number(1000 * rates.latency, 2),
        tasks=seconds(n / PARTITION_ROWS * rates.task),
        survey=seconds(4 * n * d * rates.read["Dask, read anew"] / cores),
        statistics=large("statistics"),
        slope=large("loss and slope"),
        loss=large("loss"),
        last=large("statistics", "Dask, read anew", 10),
    )
    (docs / "scale.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(write, __doc__ or "")
