"""The lasso of scikit-learn on standardised inputs, its penalty chosen by validation."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import lasso_path

from methods.common import Fitted, Pair, Scaler


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """The best of 100 penalties; selected are the coefficients that are not zero."""
    scaler = Scaler.of(train)
    (X, y), (Xv, yv) = scaler.pair(train), scaler.pair(validation)
    alphas, coefs, _ = lasso_path(X, y, n_alphas=100, eps=1e-4)
    best = int(np.argmin(np.mean(np.square(yv[:, None] - Xv @ coefs), axis=0)))
    coef = coefs[:, best]
    return Fitted(
        lambda Z: scaler.outputs(scaler.inputs(Z) @ coef), coef != 0, {"alpha": float(alphas[best])}
    )
