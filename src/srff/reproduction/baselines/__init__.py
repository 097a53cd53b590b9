"""The paper's baselines behind one interface: scikit-learn regressors with ``selected_``."""

from srff.reproduction.baselines.base import MeanBaseline
from srff.reproduction.baselines.denovas import Denovas
from srff.reproduction.baselines.hsic import HSICLasso
from srff.reproduction.baselines.linear import LassoBaseline, RidgeBaseline
from srff.reproduction.baselines.spam import SPAM

__all__ = ["SPAM", "Denovas", "HSICLasso", "LassoBaseline", "MeanBaseline", "RidgeBaseline"]
