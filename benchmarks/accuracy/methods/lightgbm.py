"""LightGBM with early stopping and a random search.

Boosting uses most columns a little; selected are those of more than mean gain, the default rule of
scikit-learn's SelectFromModel.  How many columns were split on at all is in the settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import lightgbm
import numpy as np

from methods.common import Fitted, Pair, above_mean, draws, search_size

DEFAULTS = {
    "num_leaves": 31,
    "min_child_samples": 20,
    "learning_rate": 0.1,
    "feature_fraction": 1.0,
    "lambda_l2": 0.0,
}
SPACE = {
    "num_leaves": (4, 8, 15, 31, 63),
    "min_child_samples": (5, 10, 20, 50),
    "learning_rate": (0.02, 0.05, 0.1),
    "feature_fraction": (0.4, 0.7, 1.0),
    "lambda_l2": (0.0, 1.0, 10.0),
}
REGRESSION = {"objective": "regression", "metric": "rmse"}
N_CANDIDATES, MAX_ROUNDS, PATIENCE = 20, 3000, 50


def best_booster(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    loss: dict[str, Any] = REGRESSION,
    candidates: Iterable[dict[str, Any]] | None = None,
) -> tuple[lightgbm.Booster, dict[str, Any]]:
    """The booster of lowest validation error and its settings."""
    fixed = loss | {"num_threads": n_threads, "verbosity": -1}
    fixed |= {"seed": seed, "deterministic": True, "force_row_wise": True}
    if candidates is None:
        candidates = draws(SPACE, DEFAULTS, search_size(train, N_CANDIDATES), seed)
    best: tuple[float, lightgbm.Booster, dict[str, Any]] | None = None
    for candidate in candidates:
        data = lightgbm.Dataset(*train, params=fixed | candidate)
        booster = lightgbm.train(
            fixed | candidate,
            data,
            MAX_ROUNDS,
            valid_sets=[lightgbm.Dataset(*validation, reference=data)],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        error = booster.best_score["valid_0"][loss["metric"]]
        if best is None or error < best[0]:
            best = (error, booster, candidate | {"rounds": booster.best_iteration})
    assert best is not None
    return best[1], best[2]


def gains(booster: lightgbm.Booster) -> np.ndarray:
    """Total gain of each column."""
    return np.asarray(
        booster.feature_importance("gain", iteration=booster.best_iteration), dtype=float
    )


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """The best of a random search that begins at the defaults."""
    booster, settings = best_booster(train, validation, seed, n_threads)
    gain = gains(booster)
    settings |= {"n_split_on": int((gain > 0).sum())}
    return Fitted(lambda X: np.asarray(booster.predict(X)), above_mean(gain), settings)
