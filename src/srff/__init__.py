"""srff: which variables matter in a nonlinear regression, and the model that uses only them."""

from srff.estimators import RFFRegressor, SRFFRegressor
from srff.path import SRFFPath, srff_path

__version__ = "0.1.0"

__all__ = ["RFFRegressor", "SRFFPath", "SRFFRegressor", "__version__", "srff_path"]
