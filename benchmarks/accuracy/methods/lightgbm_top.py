"""LightGBM's ranking by gain, then RBF kernel ridge on its first variables."""

from __future__ import annotations

import numpy as np

from methods.common import Fitted, Pair, ridge_on_ranking
from methods.lightgbm import best_booster, gains


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """The number of variables is chosen on the validation rows."""
    booster, _ = best_booster(train, validation, seed, n_threads)
    gain = gains(booster)
    ranking = np.argsort(-gain, kind="stable")[: int((gain > 0).sum())]
    return ridge_on_ranking(train, validation, ranking, seed)
