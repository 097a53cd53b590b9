"""SRFFClassifier with its defaults; it is given the validation rows for its choices."""

from __future__ import annotations

from typing import Any

from methods.common import Fitted, Pair
from srff import SRFFClassifier

SHOWN = ("alpha_", "budget_", "n_iter_", "n_passes_", "validation_error_")


def fit(
    train: Pair,
    validation: Pair,
    seed: int,
    n_threads: int,
    device: str,
    n_features: int | None = None,
) -> Fitted:
    """Selected are the scales that are not zero."""
    return fitted(train, seed, n_threads, device, n_features, validation=validation)


def fitted(
    rows: Pair, seed: int, n_threads: int, device: str, n_features: int | None, **given: Any
) -> Fitted:
    """A fit on some rows."""
    model = SRFFClassifier(
        random_state=seed,
        device=device,
        n_jobs=n_threads,
        n_features_to_select=n_features,
        **given,
    ).fit(*rows)
    settings = {
        name.rstrip("_"): float(getattr(model, name))
        for name in SHOWN
        if isinstance(getattr(model, name, None), int | float)
    }
    settings |= {"kind": model.model_kind_, "inputs": model.input_map_.name}
    return Fitted(model.predict_proba, model.get_support(), settings)
