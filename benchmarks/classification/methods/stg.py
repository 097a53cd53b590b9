"""Stochastic gates (STG): penalty and number of epochs chosen by validation log loss.

Asked for a number of variables it opens the gates that are the most open, and closes the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from classification.methods.common import log_losses, n_classes, only
from sklearn.preprocessing import StandardScaler

from methods.common import Fitted, Pair
from methods.stg import BATCHES, EPOCHS, LAMBDAS, TRAINING, load_stg, train_network

CLOSED = -1.0


def fit(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    device: str,
    n_features: int | None = None,
) -> Fitted:
    """Selected are the gates that are not closed; the width of the noise is the default."""
    STG = load_stg()
    torch.set_num_threads(n_threads)
    (X, y), (Xv, yv) = train, validation
    scaler, k = StandardScaler().fit(X), n_classes(train, validation)
    U = scaler.transform(X)

    def predict(network: Any, Z: np.ndarray) -> np.ndarray:
        inputs = torch.as_tensor(scaler.transform(Z), dtype=torch.float32, device=device)
        network.eval()
        with torch.no_grad():
            logits = network({"input": inputs})["logits"]
        return torch.softmax(logits, dim=1).double().cpu().numpy()

    best: tuple[float, Any, dict[str, Any]] = (np.inf, None, {})
    for how in TRAINING:
        optimizer = str(how["optimizer"])
        for lam in X.shape[1] * np.array(LAMBDAS):
            torch.manual_seed(seed)
            model = STG(
                task_type="classification",
                device=torch.device(device),
                input_dim=X.shape[1],
                output_dim=k,
                batch_size=-(-X.shape[0] // BATCHES[optimizer]),
                sigma=0.5,
                lam=float(lam),
                random_state=seed,
                **how,
            )
            error, epochs, network = train_network(
                model, U, y, lambda net: log_losses(yv, predict(net, Xv)), EPOCHS[optimizer]
            )
            if error < best[0]:
                settings = {"optimizer": optimizer, "lambda": float(lam), "epochs": epochs}
                best = (error, network, settings)
    _, network, settings = best
    if network is None:
        raise FloatingPointError("Every training diverged.")
    selected = network.get_gates("prob") > 0
    if n_features is not None:
        openness = network.get_gates("raw")
        selected = only(np.argsort(-openness, kind="stable")[:n_features], X.shape[1])
        with torch.no_grad():
            network.mu[torch.as_tensor(~selected)] = CLOSED
    return Fitted(lambda Z: predict(network, Z), selected, settings)
