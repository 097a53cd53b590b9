"""Whether new rows are inside the intervals of ``predict(X, interval=...)`` as often as is said.

    python benchmarks/confidence/intervals.py --draws 20 --jobs 2 --out intervals.csv

A model for each draw by default settings, one thread, and 4,000 new rows.  The last line is a
control that must fail: the same rule with the errors of the rows that the model learned from.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import numpy as np  # noqa: E402

LEVELS = 0.5, 0.8, 0.9, 0.95
NEW_ROWS = 4000


def friedman(rng: np.random.RandomState, n: int, noise: str) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function of five of ten columns, with noise of some kind."""
    X = rng.uniform(size=(n, 10))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    f += 10 * X[:, 3] + 5 * X[:, 4]
    e = {
        "normal": lambda: rng.normal(size=n),
        "t(3)": lambda: rng.standard_t(3, n),
        "skewed": lambda: rng.exponential(size=n) ** 2,
        "uneven": lambda: rng.normal(size=n) * (0.2 + 2 * X[:, 0]),
    }[noise]()
    return X, f + e


def counts(rng: np.random.RandomState, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts whose rate is a curve in one of six columns."""
    X = rng.uniform(-1, 1, (n, 6))
    return X, 1.0 * rng.poisson(np.exp(1 + np.sin(3 * X[:, 0])))


DESIGNS: dict[str, tuple[int, Any]] = {
    "60 rows": (60, partial(friedman, noise="normal")),
    "200 rows": (200, partial(friedman, noise="normal")),
    "1,000 rows": (1000, partial(friedman, noise="normal")),
    "8,000 rows, a single hold-out": (8000, partial(friedman, noise="normal")),
    "500 rows, noise t(3)": (500, partial(friedman, noise="t(3)")),
    "500 rows, skewed noise": (500, partial(friedman, noise="skewed")),
    "500 rows, noise that grows with a variable": (500, partial(friedman, noise="uneven")),
    "500 rows, counts": (500, counts),
}


def cell(design: str, seed: int) -> dict[str, Any]:
    """The share of new rows inside, for each level, and of the intervals that must fail."""
    from srff import SRFFRegressor
    from srff.estimators.intervals import quantiles
    from srff.inspect.intervals import interval_of, unit

    warnings.simplefilter("ignore")
    n, make = DESIGNS[design]
    X, y = make(np.random.RandomState(seed), n)
    X_new, y_new = make(np.random.RandomState(10_000 + seed), NEW_ROWS)
    loss = "poisson" if "counts" in design else "squared"
    model = SRFFRegressor(random_state=seed, loss=loss, n_jobs=1).fit(X, y)
    row: dict[str, Any] = {"design": design, "seed": seed}
    said, known = model.predict(X_new)[:, None], model.predict(X)[:, None]
    own = quantiles((y[:, None] - known) / unit(model._loss(), known), np.ones(n))
    for level in LEVELS:
        both = (
            model.predict(X_new, interval=level)[1].T,
            interval_of(model._loss(), said, own, level),
        )
        for what, (low, high) in zip(("", "control "), both, strict=True):
            low, high = np.ravel(low), np.ravel(high)
            row[f"{what}{level}"] = float(np.mean((low <= y_new) & (y_new <= high)))
    return row


def show(rows: list[dict[str, Any]]) -> str:
    """The mean shares of each design, as rows of a table."""
    by: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by[row["design"]].append(row)
    out = []
    for design, own in by.items():
        for what in ("", "control "):
            each = np.array([[float(row[f"{what}{level}"]) for level in LEVELS] for row in own])
            mean, error = each.mean(axis=0), each.std(axis=0) / max(len(own) - 1, 1) ** 0.5
            cells = [f"{100 * m:.1f} ({100 * e:.1f})" for m, e in zip(mean, error, strict=True)]
            name = design if not what else "*errors of rows that were learned from*"
            out.append(f"| {name} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(out)


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    todo = [(design, seed) for seed in range(given.draws) for design in DESIGNS]
    columns = ["design", "seed", *(f"{w}{level}" for w in ("", "control ") for level in LEVELS)]
    rows = []
    with ProcessPoolExecutor(given.jobs) as pool, given.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in pool.map(cell, *zip(*todo, strict=True)):
            rows.append(row)
            writer.writerow(row)
            file.flush()
    print(show(rows))


if __name__ == "__main__":
    main()
