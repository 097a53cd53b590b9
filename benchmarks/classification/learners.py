"""The learners that chosen variables are given to, as in LassoNet's experiments.

Extremely randomised trees, 50 of them, and a network with one hidden layer whose width is chosen
on the validation rows.
"""

from __future__ import annotations

import numpy as np
from problem import Draw
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_TREES = 50
WIDTHS = (1 / 3, 2 / 3, 1.0, 4 / 3)
"""Of the hidden layer, as multiples of the number of all inputs: those of the LassoNet paper."""

MAX_EPOCHS = 1000


def constant_accuracy(draw: Draw) -> float:
    """Test accuracy of the most frequent class, for no variables."""
    return float(np.mean(draw.test[1] == np.bincount(draw.train[1]).argmax()))


def tree_accuracy(draw: Draw, selected: np.ndarray, seed: int) -> float:
    """Test accuracy of the trees; nothing is chosen, so they learn from the validation rows too."""
    if not selected.any():
        return constant_accuracy(draw)
    (X, y), (Xv, yv), (Xt, yt) = draw.train, draw.validation, draw.test
    trees = ExtraTreesClassifier(N_TREES, random_state=seed)
    trees.fit(np.concatenate((X, Xv))[:, selected], np.concatenate((y, yv)))
    return float(trees.score(Xt[:, selected], yt))


def network_accuracy(draw: Draw, selected: np.ndarray, seed: int) -> float:
    """Test accuracy of the network with the width of best validation accuracy."""
    if not selected.any():
        return constant_accuracy(draw)
    (X, y), (Xv, yv), (Xt, yt) = draw.train, draw.validation, draw.test
    networks = [
        make_pipeline(
            StandardScaler(),
            MLPClassifier((max(round(w * X.shape[1]), 2),), max_iter=MAX_EPOCHS, random_state=seed),
        ).fit(X[:, selected], y)
        for w in WIDTHS
    ]
    best = max(networks, key=lambda network: network.score(Xv[:, selected], yv))
    return float(best.score(Xt[:, selected], yt))
