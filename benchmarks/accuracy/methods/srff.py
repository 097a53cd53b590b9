"""SRFFRegressor with its defaults."""

from __future__ import annotations

from methods.common import Fitted, Pair
from srff import SRFFRegressor

SHOWN = ("alpha_", "budget_", "n_iter_", "n_passes_")


def fit(train: Pair, validation: Pair, seed: int, n_threads: int, device: str) -> Fitted:
    """Selected are the scales that are not zero."""
    model = SRFFRegressor(
        random_state=seed, validation=validation, device=device, n_jobs=n_threads
    ).fit(*train)
    settings = {
        name.rstrip("_"): float(getattr(model, name)) for name in SHOWN if _has(model, name)
    }
    settings |= {"kind": model.model_kind_, "inputs": model.input_map_.name}
    return Fitted(model.predict, model.get_support(), settings)


def _has(model: object, name: str) -> bool:
    return isinstance(getattr(model, name, None), int | float)
