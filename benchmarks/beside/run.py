"""The same table asked of LightGBM, Boruta, LassoNet and srff: what each answers, and its seconds.

    python benchmarks/beside/run.py product diabetes steps many --draws 2 --out results.csv

The tools are called as docs/guide/coming_from.md shows them, with one thread each.  Seconds are of
the processor, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

Rows = tuple[np.ndarray, np.ndarray]
Answer = tuple[list[int], float]
"""The variables that are selected, and the error on the test rows."""

RELEVANT = {"product": range(4), "steps": range(4), "many": range(15), "diabetes": ()}
COLUMNS = ("table", "draw", "tool", "relevant", "others", "selected", "rmse", "seconds")


def product(rng: np.random.RandomState) -> Rows:
    """A product of two, a wave, a line; a near copy of the wave's column, ten that go together."""
    X = rng.standard_normal((1500, 15))
    X[:, 5:] = 0.6 * X[:, [0]] + 0.8 * X[:, 5:]
    X[:, 4] = 0.9 * X[:, 2] + 0.44 * X[:, 4]
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3]
    return X, y + rng.normal(0, 0.3, 1500)


def steps(rng: np.random.RandomState) -> Rows:
    """Four steps at different places, one of them only where another variable is large."""
    X = rng.uniform(-1, 1, (1500, 15))
    y = (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > -0.2) * (X[:, 2] > 0) + (X[:, 3] > 0.5)
    return X, y + rng.normal(0, 0.3, 1500)


def many(rng: np.random.RandomState) -> Rows:
    """Fifteen of twenty variables, each with a small bend of its own."""
    X = rng.uniform(-1, 1, (1500, 20))
    y = sum(np.sin(2 * X[:, j] + j) for j in range(15)) / 2
    return X, y + rng.normal(0, 0.5, 1500)


def drawn(table: str, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from and rows to judge by: 500 and 1,000, of diabetes 331 and 111."""
    if table == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return tuple(train_test_split(X, y, random_state=draw))
    X, y = {"product": product, "steps": steps, "many": many}[table](np.random.RandomState(draw))
    return X[:500], X[500:], y[:500], y[500:]


def rmse(y: np.ndarray, predicted: np.ndarray) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((np.ravel(predicted) - y) ** 2)))


def ask_lightgbm(X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> Answer:
    """The gain of each column; selected are those of more than the mean."""
    import lightgbm as lgb

    X_fit, X_stop, y_fit, y_stop = train_test_split(X, y, test_size=0.2, random_state=0)
    trees = lgb.LGBMRegressor(
        n_estimators=2000,
        learning_rate=0.05,
        importance_type="gain",
        n_jobs=1,
        random_state=0,
        verbose=-1,
    )
    trees.fit(X_fit, y_fit, eval_set=[(X_stop, y_stop)], callbacks=[lgb.early_stopping(50, False)])
    gain = trees.feature_importances_ / trees.feature_importances_.sum()
    return np.flatnonzero(gain > gain.mean()).tolist(), rmse(y_test, trees.predict(X_test))


def ask_boruta(X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> Answer:
    """The columns that it confirms; the error is of a forest on these alone."""
    from boruta import BorutaPy

    forest = RandomForestRegressor(max_depth=5, n_jobs=1, random_state=0)
    search = BorutaPy(forest, n_estimators="auto", max_iter=50, random_state=0).fit(X, y)
    kept = search.support_
    last = RandomForestRegressor(300, n_jobs=1, random_state=0).fit(X[:, kept], y)
    return np.flatnonzero(kept).tolist(), rmse(y_test, last.predict(X_test[:, kept]))


def ask_lassonet(X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> Answer:
    """The point of the path with the lowest error on a fifth of the rows."""
    import torch
    from lassonet import LassoNetRegressor

    torch.set_num_threads(1)
    scaler, middle, spread = StandardScaler().fit(X), y.mean(), y.std()
    Z, t = scaler.transform(X).astype("f4"), ((y - middle) / spread).astype("f4")
    Z_fit, Z_stop, t_fit, t_stop = train_test_split(Z, t, test_size=0.2, random_state=0)
    net = LassoNetRegressor(path_multiplier=1.05, random_state=0, torch_seed=0, verbose=0)
    path = net.path(Z_fit, t_fit, X_val=Z_stop, y_val=t_stop, return_state_dicts=True)
    best = min(path, key=lambda point: point.val_loss)
    net.load(best)
    predicted = middle + spread * np.ravel(net.predict(scaler.transform(X_test).astype("f4")))
    return np.flatnonzero(best.selected.numpy()).tolist(), rmse(y_test, predicted)


def ask_srff(X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> Answer:
    """A default fit."""
    from srff import SRFFRegressor

    model = SRFFRegressor(n_jobs=1, random_state=0).fit(X, y)
    return model.get_support(indices=True).tolist(), rmse(y_test, model.predict(X_test))


TOOLS: dict[str, Callable[..., Answer]] = {
    "srff": ask_srff,
    "LightGBM": ask_lightgbm,
    "Boruta": ask_boruta,
    "LassoNet": ask_lassonet,
}


def main(given: Sequence[str] | None = None) -> None:
    """Ask every tool of every table, draw after draw; lines are added to the file at once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", choices=sorted(RELEVANT))
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(given)
    new = not args.out.exists()
    with args.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for draw in range(args.first, args.first + args.draws):
            for table in args.tables:
                rows = drawn(table, draw)
                for tool in args.tools:
                    begin = time.process_time()
                    with threadpool_limits(1):
                        selected, error = TOOLS[tool](*rows)
                    seconds = time.process_time() - begin
                    right = len(set(selected) & set(RELEVANT[table]))
                    names = " ".join(map(str, selected))
                    line = (table, draw, tool, right, len(selected) - right, names)
                    writer.writerow((*line, f"{error:.4g}", f"{seconds:.2g}"))
                    file.flush()
                    print(*line, f"{error:.4g}", f"{seconds:.2g} s", flush=True)


if __name__ == "__main__":
    main()
