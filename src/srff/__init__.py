"""srff: which variables matter in a nonlinear model, and the model that uses only them."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "ModelFileError",
    "RFFRegressor",
    "SRFFClassifier",
    "SRFFPath",
    "SRFFRegressor",
    "__version__",
    "load",
    "plot",
    "save",
    "srff_path",
    "to_onnx",
]

if TYPE_CHECKING:
    from srff import plot
    from srff.classifier import SRFFClassifier
    from srff.estimators import RFFRegressor, SRFFRegressor
    from srff.io import ModelFileError, load, save
    from srff.onnx import to_onnx
    from srff.path import SRFFPath, srff_path
else:
    # Names are imported when they are first asked for: `import srff` alone loads nothing.
    _HOMES = {
        "ModelFileError": "srff.io",
        "RFFRegressor": "srff.estimators",
        "SRFFClassifier": "srff.classifier",
        "SRFFPath": "srff.path",
        "SRFFRegressor": "srff.estimators",
        "load": "srff.io",
        "save": "srff.io",
        "srff_path": "srff.path",
        "to_onnx": "srff.onnx",
    }

    def __getattr__(name):
        from importlib import import_module

        if name == "plot":
            return import_module("srff.plot")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
