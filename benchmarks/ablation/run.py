"""What each part of the default fit costs and gives: variants of its constants, side by side.

    python benchmarks/ablation/run.py --variant default --variant 'small: n_components=100' \
        --seeds 2 --jobs 16 --out ablation.csv

A variant is a name and settings: parameters of the estimator, or fields of
:class:`srff.selection.config.Config`.  Every variant sees the same draws, with no validation set;
each fit has one thread.  The table at the end has, for each variant, the time and the error as
ratios to the first variant's (geometric means over problems and seeds), and the selections.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "accuracy"), str(HERE.parent), str(HERE.parents[1] / "src")]

import numpy as np  # noqa: E402

LARGEST = 10_000
"""Training rows of the largest problem that is run."""


def problems() -> dict[str, Any]:
    """The problems of both benchmarks by their names; with ``SRFF_DATA`` the real ones too."""
    from classification.problems import REAL as TABLES
    from classification.problems import SYNTHETIC as CLASSES
    from real import REAL
    from synthetic import OTHERS, PAPER

    real = (*REAL, *TABLES) if os.environ.get("SRFF_DATA") else ()
    return {p.name: p for p in (*PAPER, *OTHERS, *CLASSES, *real) if p.n_train <= LARGEST}


def settings_of(text: str) -> tuple[str, dict[str, Any]]:
    """A variant's name and settings from ``name: a=1, b=(2, 3)``."""
    name, _, rest = text.partition(":")
    values = eval(f"dict({rest})", {"inf": float("inf")}) if rest.strip() else {}
    return name.strip(), values


def fitted(settings: dict[str, Any], classes: bool, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """A model by a variant's settings; ``boosted`` for LightGBM's search."""
    if "boosted" in settings:
        from boosted import boosted

        return boosted(X, y, np.unique(y).size if classes else 0, seed)
    from srff import SRFFClassifier, SRFFRegressor
    from srff.selection.config import CONFIG

    kind = SRFFClassifier if classes else SRFFRegressor
    given = {k: v for k, v in settings.items() if k in kind().get_params()}
    constants = {k: v for k, v in settings.items() if k not in given}
    changed = type(kind.__name__, (kind,), {"selection_config": replace(CONFIG, **constants)})
    return changed(random_state=seed, n_jobs=1, **given).fit(X, y)


def cell(problem: str, variant: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """One fit: its time, its error as a share of the constant's, its selection."""
    warnings.simplefilter("ignore")
    row: dict[str, Any] = {"problem": problem, "variant": variant, "seed": seed}
    try:
        return row | _measured(problems()[problem], settings, seed)
    except Exception as error:
        traceback.print_exc()
        return row | {"status": f"{type(error).__name__}: {error}"}


def _measured(problem: Any, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    from problem import score

    draw = problem.draw(seed)
    (X, y), (X_test, y_test) = draw.train, draw.test
    classes = hasattr(problem, "n_classes")
    begun = time.perf_counter()
    model = fitted(settings, classes, X, y, seed)
    seconds = time.perf_counter() - begun
    if classes:
        p = np.clip(model.predict_proba(X_test), 1e-15, 1.0)
        error = float(-np.mean(np.log(p[np.arange(y_test.size), y_test.astype(int)])))
        shares = np.bincount(y.astype(int), minlength=p.shape[1]) / y.size
        constant = float(-np.mean(np.log(shares[y_test.astype(int)])))
    else:
        error = float(np.sqrt(np.mean((y_test - model.predict(X_test)) ** 2)))
        constant = float(np.sqrt(np.mean((y_test - y.mean()) ** 2)))
    found = score(problem, model.get_support(), draw.names)
    return {
        "status": "ok",
        "seconds": seconds,
        "error": error,
        "share": error / constant,
        "kind": model.model_kind_,
        "evaluations": model.n_evaluations_,
        "true": found.true,
        "false": found.false,
        "exact": None if found.exact is None else int(found.exact),
        "selected": int(model.get_support().sum()),
    }


def table(rows: list[dict[str, Any]], variants: list[str]) -> str:
    """Ratios to the first variant, over the cells that both have."""
    done = {(r["problem"], r["seed"], r["variant"]): r for r in rows if r.get("status") == "ok"}
    lines = ["| variant | cells | time | error, median | error, mean | exact | true | false |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for variant in variants:
        cells = [k[:2] for k in done if k[2] == variant and (*k[:2], variants[0]) in done]
        if not cells:
            continue
        these = [done[(*c, variant)] for c in cells]
        first = [done[(*c, variants[0])] for c in cells]
        times = np.log([a["seconds"] / b["seconds"] for a, b in zip(these, first, strict=True)])
        errors = np.log([a["error"] / b["error"] for a, b in zip(these, first, strict=True)])
        known = [r for r in these if r["exact"] is not None]
        lines.append(
            f"| {variant} | {len(cells)} | {np.exp(times.mean()):.3f} "
            f"| {100 * np.expm1(np.median(errors)):+.2f} % "
            f"| {100 * np.expm1(errors.mean()):+.2f} % "
            f"| {sum(r['exact'] for r in known)} | {sum(r['true'] for r in known)} "
            f"| {sum(r['false'] for r in known)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run all cells, the longest problems first, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", action="append", required=True)
    parser.add_argument("--problem", action="append", help="only these")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--most-seconds", type=float, default=1e9, help="start no cell after this")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    variants = [settings_of(text) for text in arguments.variant]
    known = problems()
    names = arguments.problem or sorted(known, key=lambda k: -known[k].n_train)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows: list[dict[str, Any]] = []
    begun = time.time()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(_timely, begun + arguments.most_seconds, name, *variant, seed)
            for seed in seeds
            for name in names
            for variant in variants
        ]
        for future in as_completed(futures):
            row = future.result()
            if row is not None:
                rows.append(row)
                if row.get("status") != "ok":
                    print(row, flush=True)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with arguments.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    print(table(rows, [name for name, _ in variants]))
    print(f"{len(rows)} cells in {time.time() - begun:.0f} s")


def _timely(
    until: float, problem: str, variant: str, settings: dict[str, Any], seed: int
) -> dict[str, Any] | None:
    """A cell, unless time has run out before it."""
    return None if time.time() > until else cell(problem, variant, settings, seed)


if __name__ == "__main__":
    main()
