"""LassoNet: its path, and the point of lowest validation loss.

Asked for a number of variables it takes the first point of the path with no more of them, as the
authors' own script does.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from lassonet import LassoNetClassifier
from sklearn.preprocessing import StandardScaler

from methods.common import Fitted, Pair

BATCHES, PATH_MULTIPLIER = 4, 1.05


def fit(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    device: str,
    n_features: int | None = None,
) -> Fitted:
    """Selected are the inputs that the point of the path still uses.

    The default network with mini-batches, which were better than whole ones where both were tried.
    """
    torch.set_num_threads(n_threads)
    (X, y), (Xv, yv) = train, validation
    scaler = StandardScaler().fit(X)
    settings: dict[str, Any] = {"path_multiplier": PATH_MULTIPLIER}
    settings |= {"batch_size": max(X.shape[0] // BATCHES, 64)}
    model = LassoNetClassifier(
        **settings, device=torch.device(device), torch_seed=seed, random_state=seed, verbose=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = model.path(
            scaler.transform(X),
            y,
            X_val=scaler.transform(Xv),
            y_val=yv,
            return_state_dicts=True,
        )
    if n_features is None:
        point = min(path, key=lambda item: item.val_loss)
    else:
        point = next(item for item in path if int(item.selected.sum()) <= n_features)
    model.load(point)
    return Fitted(
        lambda Z: np.asarray(model.predict_proba(scaler.transform(Z)), dtype=float),
        point.selected.numpy().astype(bool),
        settings | {"lambda": float(point.lambda_), "n_points": len(path)},
    )
