"""LassoNet: the whole path, its best point by validation, for a few networks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from lassonet import LassoNetRegressor

from methods.common import Fitted, Pair, Scaler

BATCHES = 8


def candidates(n: int) -> tuple[dict[str, Any], ...]:
    """The defaults on a path of larger steps, then mini-batches with one and two hidden layers."""
    batch = max(n // BATCHES, 64)
    return (
        {"hidden_dims": (100,), "path_multiplier": 1.05},
        {"hidden_dims": (100,), "batch_size": batch, "path_multiplier": 1.05},
        {"hidden_dims": (100, 100), "batch_size": batch, "path_multiplier": 1.05},
    )


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """Selected are the inputs that the best point of the paths still uses.

    The validation rows stop the training early, as in the package, and pick the point.
    """
    torch.set_num_threads(n_threads)
    scaler = Scaler.of(train)
    (X, y), (Xv, yv) = scaler.pair(train), scaler.pair(validation)
    best: tuple[float, LassoNetRegressor, Any, dict[str, Any]] | None = None
    for candidate in candidates(X.shape[0]):
        model = LassoNetRegressor(
            **candidate, device=torch.device(device), torch_seed=seed, random_state=seed, verbose=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = model.path(X, y, X_val=Xv, y_val=yv, return_state_dicts=True)
        point = min(path, key=lambda item: item.val_loss)
        if best is None or point.val_loss < best[0]:
            settings = {**candidate, "lambda": float(point.lambda_), "n_points": len(path)}
            best = (point.val_loss, model, point, settings)
    assert best is not None
    _, model, point, settings = best
    model.load(point)
    selected = point.selected.numpy().astype(bool)
    return Fitted(
        lambda Z: scaler.outputs(np.asarray(model.predict(scaler.inputs(Z))).ravel()),
        selected,
        settings,
    )
