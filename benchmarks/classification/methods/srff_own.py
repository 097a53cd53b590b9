"""SRFFClassifier as one would call it: all rows, validation rows of its own choice among them."""

from __future__ import annotations

import numpy as np
from classification.methods.srff import fitted

from methods.common import Fitted, Pair


def fit(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    device: str,
    n_features: int | None = None,
) -> Fitted:
    """The same rows as the other methods have, for it to divide."""
    X, y = (np.concatenate(parts) for parts in zip(train, validation, strict=True))
    return fitted((X, y), seed, n_threads, device, n_features)
