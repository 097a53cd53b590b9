"""Classic tables: the same set for other seeds and other rows, and the error that is claimed.

    python benchmarks/judge/stability.py --out stability.csv --jobs 2
    python benchmarks/judge/stability.py --show stability.csv

scikit-learn's diabetes, breast cancer and wine, default settings, one thread a fit.

- ``seed``: all rows, five values of ``random_state``, folds that depend on it.
- ``split``: 80 % of the rows, 30 draws; the error on the other 20 %, beside the error that the
  model claims, and those of ridge or logistic regression and of boosted trees on the same rows.
- ``boruta``: the sets of Boruta (a random forest, default settings) on the rows of the first ten
  splits, where the package is installed.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import combinations
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

import numpy as np  # noqa: E402

TABLES = "diabetes", "breast cancer", "wine"
SEEDS, SPLITS, BORUTA = 5, 30, 10
COLUMNS = (
    *("table", "what", "number", "seconds", "kept", "claimed", "claimed_se", "error", "error_se"),
    *("lines", "trees"),
)


def rows_of(table: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Inputs, target, and whether it holds classes."""
    from sklearn import datasets

    load = {
        "diabetes": datasets.load_diabetes,
        "breast cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
    }[table]
    X, y = load(return_X_y=True)
    return X, y, table != "diabetes"


def cell(table: str, what: str, number: int) -> dict[str, Any]:
    """One fit."""
    from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

    from srff import SRFFClassifier, SRFFRegressor

    warnings.simplefilter("ignore")
    X, y, classes = rows_of(table)
    make = SRFFClassifier if classes else SRFFRegressor
    row: dict[str, Any] = {"table": table, "what": what, "number": number}
    if what == "seed":
        folds = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=number)
        model = make(random_state=number, validation=folds, n_jobs=1)
        begun = time.process_time()
        model.fit(X, y)
        return row | _kept(model.get_support(), begun)
    X, X_new, y, y_new = train_test_split(
        X, y, test_size=0.2, random_state=number, stratify=y if classes else None
    )
    begun = time.process_time()
    if what == "boruta":
        return row | _kept(_boruta(X, y, classes, number), begun)
    model = make(random_state=number, n_jobs=1).fit(X, y)
    row |= _kept(model.get_support(), begun)
    row |= {"claimed": model.expected_error_, "claimed_se": model.expected_error_se_}
    row["error"], row["error_se"] = _error(model, X_new, y_new, classes)
    for name, other in _others(classes).items():
        row[name] = _error(other.fit(X, y), X_new, y_new, classes)[0]
    return row


def _kept(support: np.ndarray, begun: float) -> dict[str, Any]:
    places = " ".join(map(str, np.flatnonzero(support).tolist()))
    return {"seconds": time.process_time() - begun, "kept": places}


def _boruta(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if classes else RandomForestRegressor
    forest = make(max_depth=5, n_jobs=1, random_state=seed)
    return np.asarray(BorutaPy(forest, "auto", random_state=seed).fit(X, y).support_)


def _others(classes: bool) -> dict[str, Any]:
    """Straight lines and boosted trees by scikit-learn, their settings searched."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    trees = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)()
    grid = {"max_iter": [30, 100], "max_leaf_nodes": [4, 15]}
    scoring = "neg_log_loss" if classes else "neg_mean_squared_error"
    line = (
        LogisticRegressionCV(max_iter=2000, scoring="neg_log_loss")
        if classes
        else RidgeCV(np.logspace(-3, 4, 15))
    )
    return {
        "lines": make_pipeline(StandardScaler(), line),
        "trees": GridSearchCV(trees, grid, scoring=scoring),
    }


def _error(model: Any, X: np.ndarray, y: np.ndarray, classes: bool) -> tuple[float, float]:
    """Log loss or RMSE, with its standard error."""
    if classes:
        chance = model.predict_proba(X)[np.arange(y.size), np.searchsorted(model.classes_, y)]
        loss = -np.log(np.maximum(chance, 1e-15))
        return float(loss.mean()), float(loss.std() / np.sqrt(y.size - 1))
    square = (y - model.predict(X)) ** 2
    error = float(np.sqrt(square.mean()))
    return error, float(square.std() / np.sqrt(y.size - 1) / (2 * error))


def jaccard(sets: list[set[str]]) -> float:
    """The mean over all pairs of the share of the union that both have."""
    pairs = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)]
    return float(np.mean(pairs))


def show(rows: list[dict[str, Any]]) -> str:
    """A line for each table."""
    lines = [
        "| table | Jaccard, 5 seeds | Jaccard, 10 draws of 80 % | Boruta's | kept | error (s.e.) "
        "| lines | trees | claimed | within 2 s.e. | seconds |",
        "|" + "---|" * 11,
    ]
    for table in TABLES:
        own = {
            what: sorted(
                (r for r in rows if r["table"] == table and r["what"] == what),
                key=lambda r: int(r["number"]),
            )
            for what in ("seed", "split", "boruta")
        }
        sets = {what: [set(r["kept"].split()) for r in own[what]] for what in own}

        def mean(key: str, of: list[dict[str, Any]] = own["split"]) -> float:
            return float(np.mean([float(r[key]) for r in of]))

        away = [
            abs(float(r["error"]) - float(r["claimed"]))
            / np.hypot(float(r["error_se"]), float(r["claimed_se"]))
            for r in own["split"]
        ]
        spread = np.std([float(r["error"]) for r in own["split"]])
        cells = [
            f"{jaccard(sets['seed']):.2f}",
            f"{jaccard(sets['split'][:BORUTA]):.2f}",
            f"{jaccard(sets['boruta']):.2f}" if sets["boruta"] else "",
            f"{np.mean([len(s) for s in sets['split']]):.1f}",
            f"{mean('error'):.4g} ({spread / len(away) ** 0.5:.2g})",
            *(f"{mean(key):.4g}" for key in ("lines", "trees", "claimed")),
            f"{sum(a <= 2 for a in away)} of {len(away)}",
            f"{mean('seconds', own['seed'] + own['split']):.1f}",
        ]
        lines.append(f"| {table} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--what", nargs="+", default=["seed", "split"])
    given = parser.parse_args()
    if given.show is not None:
        with given.show.open(newline="") as file:
            print(show([*csv.DictReader(file)]))
        return
    count = {"seed": SEEDS, "split": SPLITS, "boruta": BORUTA}
    todo = [(t, w, k) for w in given.what for k in range(count[w]) for t in TABLES]
    new = not given.out.exists()
    with ProcessPoolExecutor(given.jobs) as pool, given.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        for done in as_completed([pool.submit(cell, *one) for one in todo]):
            writer.writerow(done.result())
            file.flush()


if __name__ == "__main__":
    main()
