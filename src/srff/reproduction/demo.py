"""The main job on built-in data: find the 5 variables of SE1 among 18."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.metrics import root_mean_squared_error

from srff.estimators.regressor import SRFFRegressor
from srff.estimators.rff import RFFRegressor
from srff.reproduction.datasets import SE1, Truth, make_se1

N_TRAIN, N_VALIDATION, N_TEST = 5000, 1000, 5000


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found."""

    truth: Truth
    model: SRFFRegressor
    errors: dict[str, float]


def run_demo(n_samples: int = N_TRAIN, random_state: int = 0, verbose: int = 1) -> DemoResult:
    """Fit SE1, choose alpha on other rows, measure the error on rows that no model has seen."""
    rows, target = make_se1(n_samples + N_VALIDATION + N_TEST, random_state)
    cuts = (n_samples, n_samples + N_VALIDATION)
    X, X_validation, X_test = np.split(rows, cuts)
    y, y_validation, y_test = np.split(target, cuts)
    held_out = (X_validation, y_validation)
    common: dict[str, Any] = {"random_state": random_state, "validation": held_out}
    models = {
        "mean of the target": DummyRegressor(),
        "random features, all variables (RFF)": RFFRegressor(**common),
        "sparse random features (SRFF)": SRFFRegressor(verbose=verbose, **common),
    }
    errors = {
        name: root_mean_squared_error(y_test, model.fit(X, y).predict(X_test))
        for name, model in models.items()
    }
    model = models["sparse random features (SRFF)"]
    assert isinstance(model, SRFFRegressor)
    errors["the noise: nothing can be better"] = SE1.noise_floor
    return DemoResult(SE1, model, {k: float(np.round(v, 6)) for k, v in errors.items()})
