"""LightGBM with early stopping on the log loss and a small random search.

Selected are the columns of more than mean gain.  Asked for a number of variables it takes those of
the largest gain, and is fitted again on these with the settings found.
"""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
from classification.methods.common import n_classes, only

from methods.common import Fitted, Pair, Predict, above_mean, draws
from methods.lightgbm import DEFAULTS, SPACE, best_booster, gains

LARGE = 400_000
"""Values of the table times classes from which on trees of several classes are kept small."""

LARGE_DEFAULTS = DEFAULTS | {"num_leaves": 8, "feature_fraction": 0.2, "max_bin": 63}
LARGE_SPACE = SPACE | {
    "num_leaves": (4, 8, 15),
    "learning_rate": (0.1,),
    "feature_fraction": (0.1, 0.2, 0.4),
    "max_bin": (31, 63),
}
N_CANDIDATES, N_LARGE, LARGE_ROUNDS = 12, 3, 300


def fit(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    device: str,
    n_features: int | None = None,
) -> Fitted:
    """The best of a random search that begins at the defaults."""
    k = n_classes(train, validation)
    loss: dict[str, Any] = {"objective": "binary", "metric": "binary_logloss"}
    if k > 2:
        loss = {"objective": "multiclass", "metric": "multi_logloss", "num_class": k}
    search = (SPACE, DEFAULTS, N_CANDIDATES)
    if k > 2 and k * train[0].size > LARGE:
        search = (LARGE_SPACE, LARGE_DEFAULTS, N_LARGE)
        loss |= {"num_iterations": LARGE_ROUNDS}
    candidates = draws(*search, seed)
    booster, settings = best_booster(train, validation, seed, n_threads, loss, candidates)
    gain = gains(booster)
    found = {name: value for name, value in settings.items() if name in search[1]}
    settings |= {"n_split_on": int((gain > 0).sum())}
    if n_features is None:
        return Fitted(probabilities(booster), above_mean(gain), settings)
    columns = np.argsort(-gain, kind="stable")[:n_features]
    (X, y), (Xv, yv) = train, validation
    booster, _ = best_booster(
        (X[:, columns], y), (Xv[:, columns], yv), seed, n_threads, loss, [found]
    )
    predict = probabilities(booster)
    return Fitted(lambda Z: predict(Z[:, columns]), only(columns, X.shape[1]), settings)


def probabilities(booster: lightgbm.Booster) -> Predict:
    """A column for each class."""

    def predict(X: np.ndarray) -> np.ndarray:
        p = np.asarray(booster.predict(X))
        return p if p.ndim == 2 else np.stack((1 - p, p), axis=1)

    return predict
