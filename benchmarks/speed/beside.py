"""A default fit beside LightGBM's search of eight settings: the cells of benchmarks/ablation."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tables import table

CELLS = Path(__file__).resolve().parents[1] / "ablation" / "beside.csv"
METHODS = "srff", "lightgbm"


def beside_table(path: Path = CELLS) -> str:
    """Seconds, their ratio and errors on each problem: geometric means over seeds and machines."""
    cells: dict[str, dict[tuple[str, str], dict[str, dict[str, str]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok":
                cells[row["problem"]][row["machine"], row["seed"]][row["variant"]] = row
    machines = sorted({machine for draws in cells.values() for machine, _ in draws})
    head = ("problem", *(f"{m}: srff, s | LightGBM, s | ratio" for m in machines), "error")
    head = tuple(" | ".join(head).split(" | "))
    lines = []
    for problem, draws in cells.items():
        line, errors = [problem], []
        for machine in machines:
            both = [d for (m, _), d in draws.items() if m == machine and len(d) == len(METHODS)]
            seconds = [[float(d[name]["seconds"]) for d in both] for name in METHODS]
            errors += [float(d["srff"]["error"]) / float(d["lightgbm"]["error"]) for d in both]
            ours, theirs = map(_mean, seconds)
            line += [_short(ours), _short(theirs), _short(ours / theirs)]
        lines.append((*line, _short(_mean(errors))))
    ratios = [
        [float(line[3 * k + 3]) for line in lines if line[3 * k + 3]] for k in range(len(machines))
    ]
    total = [cell for each in ratios for cell in ("", "", _short(_mean(each)))]
    return table(head, [*sorted(lines), ("geometric mean", *total, "")])


def _mean(values: Iterable[float]) -> float:
    """The geometric mean; nan of nothing."""
    logs = np.log(list(values))
    return float(np.exp(logs.mean())) if logs.size else float("nan")


def _short(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


if __name__ == "__main__":
    print(beside_table())
