"""The main job on built-in data: find the 5 variables of SE1 among 18."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.metrics import root_mean_squared_error

from srff.datasets import make_se1
from srff.datasets.synthetic import Truth
from srff.estimators import RFFRegressor, SRFFRegressor

N_TRAIN, N_TEST = 5000, 5000


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found."""

    truth: Truth
    model: SRFFRegressor
    errors: dict[str, float]


def run_demo(n_samples: int = N_TRAIN, random_state: int = 0, verbose: int = 1) -> DemoResult:
    """Fit SE1 and measure the error on rows that no model has seen."""
    data = make_se1(n_samples + N_TEST, random_state, return_truth=True)
    train, test = slice(0, n_samples), slice(n_samples, None)
    X, y = data.data[train], data.target[train]
    models = {
        "mean of the target": DummyRegressor(),
        "random features, all variables (RFF)": RFFRegressor(random_state=random_state),
        "sparse random features (SRFF)": SRFFRegressor(random_state=random_state, verbose=verbose),
    }
    errors = {
        name: root_mean_squared_error(data.target[test], m.fit(X, y).predict(data.data[test]))
        for name, m in models.items()
    }
    model = models["sparse random features (SRFF)"]
    assert isinstance(model, SRFFRegressor)
    errors["the noise: nothing can be better"] = data.truth.noise_floor
    return DemoResult(data.truth, model, {k: float(np.round(v, 6)) for k, v in errors.items()})
