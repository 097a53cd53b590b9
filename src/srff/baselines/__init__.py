"""The paper's baselines behind one interface: scikit-learn regressors with ``selected_``."""

from srff.baselines.base import MeanBaseline
from srff.baselines.denovas import Denovas
from srff.baselines.hsic import HSICLasso
from srff.baselines.linear import LassoBaseline, RidgeBaseline
from srff.baselines.spam import SPAM

__all__ = ["SPAM", "Denovas", "HSICLasso", "LassoBaseline", "MeanBaseline", "RidgeBaseline"]
