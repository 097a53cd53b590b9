"""Write the golden model files of the present format, with their predictions beside them.

A file that was released is never written again: srff must go on loading it.  A new format gets
files of its own, ``v2-*`` and so on.  ``v2-hsic`` and ``v2-denovas`` hold baselines, which are no
longer stored: that is what they say when they are loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor, confidence
from srff.core.kernels import Matern
from srff.export.format.container import FORMAT
from srff.export.save import save


def rows(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = np.exp(rng.standard_normal((n, 5)))
    return X, np.sin(2 * np.log(X[:, 0])) + X[:, 1] + rng.normal(0, 0.1, n)


def table(n: int, seed: int) -> dict[str, np.ndarray]:
    """Numbers with gaps, texts (a missing one is "?"), truths and codes."""
    rng = np.random.RandomState(seed)
    numbers = rng.standard_normal((n, 2))
    numbers[rng.uniform(size=n) < 0.1, 1] = np.nan
    return {
        "numbers": numbers,
        "colour": rng.choice(["red", "grün", "", "?"], n),
        "flag": rng.uniform(size=n) < 0.5,
        "code": rng.choice([3, 7, 9], n),
    }


def joined(parts: Mapping[str, np.ndarray]) -> np.ndarray:
    """A table as an array of objects."""
    colour = np.where(parts["colour"] == "?", None, parts["colour"].astype(object))
    return np.column_stack([parts["numbers"].astype(object), colour, parts["flag"], parts["code"]])


def classified(X: np.ndarray) -> np.ndarray:
    numbers = np.nan_to_num(X[:, :2].astype(float), nan=2.0)
    value = numbers.sum(axis=1) + 2 * (X[:, 2] == "red") - 1.5 * X[:, 3].astype(float)
    return np.array(["low", "middle", "high"])[np.digitize(value, [-0.5, 1.0])]


def fitted() -> dict[str, tuple[Any, Any]]:
    """Models, and rows for each to predict: an array, or the parts of a table."""
    import pandas as pd

    X, y = rows()
    X_new = np.exp(np.random.RandomState(1).standard_normal((50, 5)))
    quick = {"n_components": 20, "max_iter": 3, "random_state": 0, "dtype": "float64"}
    named = pd.DataFrame(X, columns=["a", "b", "größe", "d", "e"])
    several = np.column_stack([y, np.sin(3 * np.log(X[:, 0]))])
    counts = np.random.RandomState(2).poisson(np.exp(1.5 * np.sin(2 * np.log(X[:, 0]))))
    T, T_new = joined(table(200, 0)), table(50, 1)
    T_new["colour"] = np.where(np.arange(50) < 5, "violet", T_new["colour"])
    standard = SRFFRegressor(Matern(2.5), **quick, inputs="standard").fit(X, y)
    standard.confidence_ = confidence(standard, X, y)
    return {
        "srff-standard": (standard, X_new),
        "srff-quantile": (SRFFRegressor(**quick, inputs="quantile").fit(named, y), X_new),
        "srff-targets": (SRFFRegressor(**quick, groups=[[0, 4]]).fit(X, several), X_new),
        "srff-poisson": (SRFFRegressor(**quick, loss="poisson").fit(X, counts), X_new),
        "srff-classifier": (
            SRFFClassifier(
                **quick,
                categorical_features=[2, 3, 4],
                missing="impute",
                class_weight={"low": 1, "middle": 2.0, "high": 1.5},
            ).fit(T, classified(T)),
            T_new,
        ),
        "rff": (RFFRegressor(n_components=20, random_state=0, dtype="float64").fit(X, y), X_new),
    }


def main() -> None:
    folder = Path(__file__).parent
    for name, (model, X) in fitted().items():
        path = folder / f"v{FORMAT}-{name}.srff"
        if path.exists():
            sys.exit(f"{path} was released: it is not written again.")
        save(model, path)
        parts = X if isinstance(X, dict) else {"X": X}
        X = joined(X) if isinstance(X, dict) else X
        if isinstance(model, SRFFClassifier):
            parts = {**parts, "p": model.predict_proba(X)}
        np.savez(path.with_suffix(".npz"), **parts, y=model.predict(X))


if __name__ == "__main__":
    main()
