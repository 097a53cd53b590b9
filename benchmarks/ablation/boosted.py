"""What a user would do instead: LightGBM with a search of eight settings and a refit.

A fifth of the rows decide, early stopping included; the best setting is fitted again on all rows
with the rounds that it stopped at.
"""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
from classification.methods.lightgbm import (
    LARGE,
    LARGE_DEFAULTS,
    LARGE_ROUNDS,
    LARGE_SPACE,
    probabilities,
)
from methods.common import above_mean, draws
from methods.lightgbm import DEFAULTS, REGRESSION, SPACE, best_booster, gains
from sklearn.model_selection import train_test_split

N_SETTINGS = 8
HELD_OUT = 0.2


class Boosted:
    """The refitted booster, with the methods of an estimator that a benchmark asks."""

    model_kind_, n_evaluations_ = "boosted", 0

    def __init__(self, booster: lightgbm.Booster) -> None:
        self._booster = booster

    def predict(self, X: np.ndarray) -> np.ndarray:
        """A number for each row."""
        return np.asarray(self._booster.predict(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """A column for each class."""
        return probabilities(self._booster)(X)

    def get_support(self) -> np.ndarray:
        """Columns of more than mean gain."""
        return above_mean(gains(self._booster))


def boosted(X: np.ndarray, y: np.ndarray, n_classes: int, seed: int) -> Boosted:
    """The best of eight settings, fitted on all rows; no class means a regression."""
    loss: dict[str, Any] = dict(REGRESSION)
    if n_classes == 2:
        loss = {"objective": "binary", "metric": "binary_logloss"}
    elif n_classes:
        loss = {"objective": "multiclass", "metric": "multi_logloss", "num_class": n_classes}
    space, first = SPACE, DEFAULTS
    if n_classes > 2 and n_classes * X.size > LARGE:
        space, first = LARGE_SPACE, LARGE_DEFAULTS
        loss |= {"num_iterations": LARGE_ROUNDS}
    X_fit, X_held, y_fit, y_held = train_test_split(
        X, y, test_size=HELD_OUT, random_state=seed, stratify=y if n_classes else None
    )
    settings = draws(space, first, N_SETTINGS, seed)
    _, found = best_booster((X_fit, y_fit), (X_held, y_held), seed, 1, loss, settings)
    rounds = found.pop("rounds")
    fixed = loss | {"num_threads": 1, "verbosity": -1, "seed": seed, "deterministic": True}
    fixed |= found | {"force_row_wise": True, "num_iterations": rounds}
    return Boosted(lightgbm.train(fixed, lightgbm.Dataset(X, y, params=fixed)))
