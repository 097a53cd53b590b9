"""xRFM: kernel, width, exponent, penalty and form of the metric chosen by a random search.

It weights variables and does not drop them; selected are those of more than mean weight on the
diagonal of the learned metric, the rule that is used for boosting too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from xrfm import xRFM
from xrfm.rfm_src.gpu_utils import memory_scaling_factor

from methods.common import Fitted, Pair, Scaler, above_mean, draws, rmse

DEFAULTS = {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": False, "reg": 1e-3}
SPACE = {
    "kernel": ("l2", "l2", "l1"),
    "bandwidth": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
    "exponent": (0.8, 1.0, 1.2, 1.4),
    "diag": (True, False),
    "reg": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
}
N_CANDIDATES, ITERS = 30, 5
SEARCH_ROWS, LEAF_ROWS = 3000, 10000


def build(
    train: Pair, validation: Pair, candidate: dict[str, Any], seed: int, n_threads: int, device: str
) -> xRFM:
    """Fit one candidate; tables above ``LEAF_ROWS`` are cut by its own tree."""
    model = {k: v for k, v in candidate.items() if k != "reg"} | {"bandwidth_mode": "constant"}
    rule = {"reg": candidate["reg"], "iters": ITERS, "verbose": False, "early_stop_rfm": True}
    rule |= {"get_agop_best_model": True, "return_best_params": True}
    place = torch.device(device)
    scale = memory_scaling_factor(place, quadratic=True)  # it multiplies the size by this
    return xRFM(
        rfm_params={"model": model, "fit": rule},
        max_leaf_size=int(LEAF_ROWS / scale) + 1,
        device=place,
        random_state=seed,
        n_threads=n_threads,
        tuning_metric="mse",
        verbose=False,
    ).fit(*train, *validation)


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """The search is on at most ``SEARCH_ROWS`` training rows, the last fit on all."""
    scaler = Scaler.of(train)
    (X, y), held = scaler.pair(train), scaler.pair(validation)
    X, held = X.astype(np.float32), (held[0].astype(np.float32), held[1])
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:SEARCH_ROWS]
    best, chosen = np.inf, DEFAULTS
    for candidate in draws(SPACE, DEFAULTS, N_CANDIDATES, seed):
        if candidate["kernel"] == "l1":
            candidate["exponent"] = 1.0  # others take twenty times as long
        try:
            model = build((X[rows], y[rows]), held, candidate, seed, n_threads, device)
            error = rmse(held[1], predict(model, held[0]))
        except (RuntimeError, ValueError):  # a kernel matrix that could not be solved
            continue
        if error < best:
            best, chosen = error, candidate
    model = build((X, y), held, chosen, seed, n_threads, device)
    return Fitted(
        lambda Z: scaler.outputs(predict(model, scaler.inputs(Z).astype(np.float32))),
        above_mean(weights(model, X.shape[1])),
        dict(chosen),
    )


def predict(model: xRFM, X: np.ndarray) -> np.ndarray:
    """Predictions in pieces."""
    parts = np.array_split(X, max(X.shape[0] // 5000, 1))
    return np.concatenate([np.asarray(model.predict(part)).ravel() for part in parts])


def weights(model: xRFM, n_features: int) -> np.ndarray:
    """The diagonal of the metric, averaged over leaves; ones where none was learned."""
    diagonals = []
    for M in model.collect_best_agops():
        if M is None:
            continue
        M = M.detach().cpu().numpy()
        diagonal = np.diag(M) if M.ndim == 2 else M
        diagonals.append(diagonal / max(diagonal.max(), 1e-30))
    return np.mean(diagonals, axis=0) if diagonals else np.ones(n_features)
