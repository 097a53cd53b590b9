"""The methods of the paper's tables, as scikit-learn regressors with ``selected_``."""

from srff.reproduction.baselines import (
    SPAM,
    Denovas,
    HSICLasso,
    LassoBaseline,
    MeanBaseline,
    RidgeBaseline,
)

__all__ = ["SPAM", "Denovas", "HSICLasso", "LassoBaseline", "MeanBaseline", "RidgeBaseline"]
