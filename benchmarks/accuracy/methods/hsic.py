"""HSIC lasso (pyHSICLasso, blocks), then RBF kernel ridge on the first variables of its ranking."""

from __future__ import annotations

import contextlib
import os

import numpy as np
from pyHSICLasso import HSICLasso

from methods.common import Fitted, Pair, Scaler, ridge_on_ranking

BLOCK, PERMUTATIONS, MAX_VARIABLES, MAX_ROWS = 20, 3, 50, 10000


def ranking(train: Pair, seed: int, n_threads: int) -> np.ndarray:
    """Variables in the order of their HSIC lasso coefficients.

    Blocks and permutations are the package's defaults.  It takes whole blocks of rows only, ranks
    at most all variables but one, and names an exception by a module that NumPy 2 has not.
    """
    if not hasattr(np.linalg, "linalg"):
        np.linalg.linalg = np.linalg  # type: ignore[attr-defined]
    np.random.seed(seed)
    X, y = Scaler.of(train).pair(train)
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:MAX_ROWS]
    rows = rows[: rows.size // BLOCK * BLOCK]
    model = HSICLasso()
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        model.input(X[rows], y[rows])
        model.regression(
            min(MAX_VARIABLES, X.shape[1] - 1), B=BLOCK, M=PERMUTATIONS, n_jobs=n_threads
        )
    order = np.asarray(model.get_index(), dtype=int)
    rest = np.setdiff1d(np.arange(X.shape[1]), order)
    return np.append(order, rest) if rest.size == 1 else order


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """The number of variables is chosen on the validation rows."""
    return ridge_on_ranking(train, validation, ranking(train, seed, n_threads), seed)
