"""XGBoost with early stopping and a random search; selected as for LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from methods.common import Fitted, Pair, above_mean, draws, search_size

DEFAULTS = {
    "max_depth": 6,
    "min_child_weight": 1,
    "learning_rate": 0.3,
    "colsample_bytree": 1.0,
    "subsample": 1.0,
    "reg_lambda": 1.0,
}
SPACE = {
    "max_depth": (2, 3, 4, 6, 8),
    "min_child_weight": (1, 5, 20),
    "learning_rate": (0.02, 0.05, 0.1),
    "colsample_bytree": (0.4, 0.7, 1.0),
    "subsample": (0.6, 0.8, 1.0),
    "reg_lambda": (0.1, 1.0, 10.0),
}
N_CANDIDATES, MAX_ROUNDS, PATIENCE = 20, 3000, 50


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """The best of a random search that begins at the defaults."""
    fixed = {"objective": "reg:squarederror", "nthread": n_threads, "seed": seed}
    fixed |= {"tree_method": "hist", "verbosity": 0}
    data, held = xgboost.QuantileDMatrix(*train), xgboost.DMatrix(*validation)
    best: tuple[float, xgboost.Booster, dict[str, Any]] | None = None
    for candidate in draws(SPACE, DEFAULTS, search_size(train, N_CANDIDATES), seed):
        booster = xgboost.train(
            fixed | candidate,
            data,
            MAX_ROUNDS,
            evals=[(held, "validation")],
            early_stopping_rounds=PATIENCE,
            verbose_eval=False,
        )
        if best is None or booster.best_score < best[0]:
            best = (booster.best_score, booster, candidate | {"rounds": booster.best_iteration + 1})
    assert best is not None
    _, booster, settings = best
    booster = booster[: booster.best_iteration + 1]
    score = booster.get_score(importance_type="total_gain")
    gain = np.array([score.get(f"f{i}", 0.0) for i in range(train[0].shape[1])])
    settings |= {"n_split_on": int((gain > 0).sum())}
    return Fitted(lambda X: booster.predict(xgboost.DMatrix(X)), above_mean(gain), settings)
