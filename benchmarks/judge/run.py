"""Few rows, many columns, pure noise: what a default fit finds, and how sure that is.

    python benchmarks/judge/run.py "few rows" "ring+xor+sum 512" --draws 6 --jobs 2 --out judge.csv

Designs are those of ``designs.py``; ``noise`` stands for all of pure noise.  One thread a fit, no
validation set.  A line for each fit goes to the file as it is made, and the means are printed.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import numpy as np  # noqa: E402
from designs import DESIGNS, NOISE, Draw  # noqa: E402

COLUMNS = (
    "design", "seed", "seconds", "selected", "true", "false", "exact", "expected", "se",
    "log_loss", "error", "lasso_log_loss", "lasso_error", "shares_log_loss",
)  # fmt: skip


def cell(design: str, seed: int) -> dict[str, Any]:
    """One fit."""
    from srff import SRFFClassifier, SRFFRegressor

    warnings.simplefilter("ignore")
    draw = DESIGNS[design](seed)
    model = (SRFFClassifier if draw.classes else SRFFRegressor)(random_state=seed, n_jobs=1)
    begun = time.process_time()
    model.fit(draw.X, draw.y)
    row: dict[str, Any] = {"design": design, "seed": seed}
    row["seconds"] = time.process_time() - begun
    found = set(np.flatnonzero(model.get_support()).tolist())
    row |= {"selected": len(found), "expected": model.expected_error_}
    row["se"] = model.expected_error_se_
    if draw.relevant is not None:
        true = len(found & set(draw.relevant))
        row |= {"true": true, "false": len(found) - true}
        row["exact"] = int(found == set(draw.relevant))
    return row | (_tested(model, draw) if draw.test is not None else {})


def _tested(model: Any, draw: Draw) -> dict[str, float]:
    """Log loss and error on the test rows, beside the logistic lasso and the shares of classes."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.metrics import log_loss
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    assert draw.test is not None
    X, y = draw.test
    lasso = LogisticRegressionCV(
        penalty="l1", solver="liblinear", scoring="neg_log_loss", cv=5, max_iter=2000
    )
    lasso = make_pipeline(StandardScaler(), lasso).fit(draw.X, draw.y)
    shares = np.unique(draw.y, return_counts=True)[1] / draw.y.size
    labels = model.classes_
    return {
        "log_loss": log_loss(y, model.predict_proba(X), labels=labels),
        "error": float(np.mean(model.predict(X) != y)),
        "lasso_log_loss": log_loss(y, lasso.predict_proba(X), labels=labels),
        "lasso_error": float(np.mean(lasso.predict(X) != y)),
        "shares_log_loss": log_loss(y, np.tile(shares, (y.size, 1)), labels=labels),
    }


def means(rows: list[dict[str, Any]]) -> str:
    """A line for each design."""
    lines = []
    for design in dict.fromkeys(row["design"] for row in rows):
        these = [row for row in rows if row["design"] == design]
        keys = [key for key in COLUMNS[2:] if key in these[0]]
        values = [f"{key} {np.mean([row[key] for row in these]):.3g}" for key in keys]
        kept = sum(row["selected"] > 0 for row in these)
        lines.append(f"{design}: {len(these)} draws, {kept} keep something; {', '.join(values)}")
    return "\n".join(lines)


def main() -> None:
    """Run all cells and print the means."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("design", nargs="+", help=", ".join(DESIGNS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    names = [n for name in options.design for n in (NOISE if name == "noise" else [name])]
    seeds = range(options.first_seed, options.first_seed + options.draws)
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs) as pool, options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for done in as_completed([pool.submit(cell, n, seed) for seed in seeds for n in names]):
            rows.append(done.result())
            writer.writerow(rows[-1])
            file.flush()
    print(means(sorted(rows, key=lambda row: (names.index(row["design"]), row["seed"]))))


if __name__ == "__main__":
    main()
