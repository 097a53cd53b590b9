"""Stochastic gates (STG): penalty and number of epochs chosen by validation."""

from __future__ import annotations

import collections
import collections.abc
import copy
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from methods.common import Fitted, Pair, Scaler

LAMBDAS = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Penalties of one open gate; the package multiplies its own by the mean over all gates."""

TRAINING = (
    # The regression example of the package: full batches.
    {"hidden_dims": [60, 20], "activation": "tanh", "optimizer": "SGD", "learning_rate": 0.1},
    {"hidden_dims": [100, 50], "activation": "relu", "optimizer": "Adam", "learning_rate": 1e-3},
)
EPOCHS = {"SGD": 3000, "Adam": 1000}
BATCHES = {"SGD": 1, "Adam": 8}
CHECKS = 30
PATIENCE = 8
"""Checks without a lower validation error before training stops."""


def load_stg() -> Any:
    """The class STG of version 0.1.2 under a current Python.

    It uses names that ``collections`` lost in Python 3.10.  It imports h5py and lifelines for what
    is not needed here (reading files, survival); where they are not installed, empty modules stand
    in for them.
    """
    for name in ("Iterable", "Mapping", "Sequence", "Set"):
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    for name in ("h5py", "lifelines", "lifelines.utils"):
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].concordance_index = None  # type: ignore[attr-defined]
    from stg import STG

    return STG


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """Selected are the gates that are not closed; the width of the noise is the default."""
    STG = load_stg()
    torch.set_num_threads(n_threads)
    scaler = Scaler.of(train)
    (X, y), (Xv, yv) = scaler.pair(train), scaler.pair(validation)
    held = torch.as_tensor(Xv, dtype=torch.float32, device=device)
    best: tuple[float, Any, dict[str, Any]] = (np.inf, None, {})
    for how in TRAINING:
        optimizer = str(how["optimizer"])
        for lam in X.shape[1] * np.array(LAMBDAS):
            torch.manual_seed(seed)
            model = STG(
                task_type="regression",
                device=torch.device(device),
                input_dim=X.shape[1],
                output_dim=1,
                batch_size=-(-X.shape[0] // BATCHES[optimizer]),
                sigma=0.5,
                lam=float(lam),
                random_state=seed,
                **how,
            )
            error, epochs, network = train_network(
                model,
                X,
                y[:, None],
                lambda network: float(np.mean(np.square(yv - output(network, held)))),
                EPOCHS[optimizer],
            )
            if error < best[0]:
                best = (
                    error,
                    network,
                    {"optimizer": optimizer, "lambda": float(lam), "epochs": epochs},
                )
    _, network, settings = best
    if network is None:
        raise FloatingPointError("Every training diverged.")
    return Fitted(
        lambda Z: scaler.outputs(
            output(network, torch.as_tensor(scaler.inputs(Z), dtype=torch.float32, device=device))
        ),
        network.get_gates("prob") > 0,
        settings,
    )


def train_network(
    model: Any,
    X: np.ndarray,
    target: np.ndarray,
    validation_error: Callable[[Any], float],
    epochs: int,
) -> tuple[float, int, Any]:
    """Lowest validation error of the training, after how many epochs, and the network there."""
    step = epochs // CHECKS
    best: tuple[float, int, Any] = (np.inf, 0, None)
    for done in range(step, epochs + 1, step):
        model.fit(X, target, nr_epochs=step, verbose=False, shuffle=True)
        error = validation_error(model._model)
        if error < best[0]:
            best = (error, done, copy.deepcopy(model._model))
        if not np.isfinite(error) or done - best[1] >= PATIENCE * step:
            break
    return best


def output(network: Any, inputs: torch.Tensor) -> np.ndarray:
    """The network's prediction with its gates at rest."""
    network.eval()
    with torch.no_grad():
        return network({"input": inputs})["pred"].cpu().numpy().ravel()
