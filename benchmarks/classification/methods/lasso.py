"""Logistic regression with an l1 penalty on standardised inputs, chosen by validation log loss."""

from __future__ import annotations

import warnings

import numpy as np
from classification.methods.common import log_losses
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from methods.common import Fitted, Pair

PENALTIES, PATIENCE = np.logspace(-0.3, 4, 44), 8
"""Multiples of the C below which a model of two classes is empty, and how many may pass that are no
better and not empty: several classes are empty further up."""


def fit(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    device: str,
    n_features: int | None = None,
) -> Fitted:
    """Selected are the inputs with a coefficient that is not zero, for any class."""
    (X, y), (Xv, yv) = train, validation
    scaler = StandardScaler().fit(X)
    U, V = scaler.transform(X), scaler.transform(Xv)
    model = LogisticRegression(
        l1_ratio=1.0, solver="saga", warm_start=True, tol=1e-3, max_iter=300, random_state=seed
    )
    best, since = np.inf, 0
    for C in l1_min_c(U, y, loss="log") * PENALTIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(C=float(C)).fit(U, y)
        n_used = int((model.coef_ != 0).any(axis=0).sum())
        if n_features is not None and n_used > n_features:
            break
        loss = log_losses(yv, model.predict_proba(V))
        since += n_used > 0
        if loss < best:
            best, since = loss, 0
            chosen, coef, intercept = float(C), model.coef_.copy(), model.intercept_.copy()
        if since == PATIENCE:
            break
    model.coef_, model.intercept_ = coef, intercept
    return Fitted(
        lambda Z: model.predict_proba(scaler.transform(Z)), (coef != 0).any(axis=0), {"C": chosen}
    )
