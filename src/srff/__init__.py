"""srff: which variables matter in a nonlinear regression, and the model that uses only them."""

from srff.estimators import RFFRegressor, SRFFRegressor

__version__ = "0.1.0"

__all__ = ["RFFRegressor", "SRFFRegressor", "__version__"]
