"""Boruta around a random forest, then a forest on the variables that it confirms."""

from __future__ import annotations

import numpy as np
from boruta import BorutaPy
from sklearn.ensemble import RandomForestRegressor

from methods.common import Fitted, Pair, rmse

CANDIDATES = tuple(
    {"max_features": share, "min_samples_leaf": leaf} for share in (0.33, 1.0) for leaf in (1, 5)
)
N_TREES, MAX_ITER, DEPTH = 300, 100, 7


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """Boruta with its documented advice (depth 3 to 7, automatic number of trees).

    If nothing is confirmed, the tentative variables are used; without any, the mean.
    """
    X, y = train
    forest = RandomForestRegressor(max_depth=DEPTH, n_jobs=n_threads)
    search = BorutaPy(forest, n_estimators="auto", max_iter=MAX_ITER, random_state=seed)
    search.fit(X, y)
    selected = np.asarray(search.support_ if search.support_.any() else search.support_weak_)
    settings = {"n_tentative": int(search.support_weak_.sum())}
    if not selected.any():
        return Fitted(lambda Z: np.full(Z.shape[0], y.mean()), selected, settings)
    models = [
        RandomForestRegressor(N_TREES, random_state=seed, n_jobs=n_threads, **candidate).fit(
            X[:, selected], y
        )
        for candidate in CANDIDATES
    ]
    errors = [rmse(validation[1], model.predict(validation[0][:, selected])) for model in models]
    best = int(np.argmin(errors))
    model = models[best]
    return Fitted(
        lambda Z: np.asarray(model.predict(Z[:, selected])), selected, settings | CANDIDATES[best]
    )
