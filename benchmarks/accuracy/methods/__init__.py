"""The methods: one module each, with ``fit(train, validation, seed, n_threads, device)``."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from methods.common import Fitted, Fitter


@dataclass(frozen=True)
class Method:
    """A method: its module here, the packages it stands on, and a guess of its cost.

    ``cost`` only orders the cells of a run: those that take long start first.
    """

    name: str
    packages: tuple[str, ...]
    cost: float
    device: bool = False
    package: str = "methods"

    def load(self) -> Fitter:
        """The function that fits it; its packages are imported here."""
        fitter: Fitter = importlib.import_module(f"{self.package}.{self.name}").fit
        return fitter


METHODS = {
    method.name: method
    for method in (
        Method("srff", ("srff",), 8, device=True),
        Method("lightgbm", ("lightgbm",), 3),
        Method("lightgbm_top", ("lightgbm",), 6),
        Method("xgboost", ("xgboost", "xgboost-cpu"), 4),
        Method("xrfm", ("xrfm", "torch"), 10, device=True),
        Method("lassonet", ("lassonet", "torch"), 12, device=True),
        Method("stg", ("stg", "torch"), 12, device=True),
        Method("hsic", ("pyHSICLasso",), 4),
        Method("boruta", ("boruta", "scikit-learn"), 8),
        Method("lasso", ("scikit-learn",), 0.1),
        Method("mean", ("numpy",), 0.01),
    )
}

__all__ = ["METHODS", "Fitted", "Method"]
