"""srff: which variables matter in a nonlinear model, and the model that uses only them."""

from typing import TYPE_CHECKING

from srff._utils.version import __version__

__all__ = [
    "Confidence",
    "CsvFiles",
    "ModelFileError",
    "Progress",
    "RFFRegressor",
    "SRFFClassifier",
    "SRFFPath",
    "SRFFRegressor",
    "SRFFSelector",
    "__version__",
    "confidence",
    "load",
    "plot",
    "save",
    "show_versions",
    "srff_path",
    "to_onnx",
]

if TYPE_CHECKING:
    from srff import plot
    from srff._utils.progress import Progress
    from srff._utils.show_versions import show_versions
    from srff.data.sources.csv_dialect import CsvFiles
    from srff.estimators.classifier import SRFFClassifier
    from srff.estimators.path import srff_path
    from srff.estimators.regressor import SRFFRegressor
    from srff.estimators.rff import RFFRegressor
    from srff.export.onnx import to_onnx
    from srff.export.save import ModelFileError, load, save
    from srff.inference.confidence import confidence
    from srff.inference.result import Confidence
    from srff.inference.selector import SRFFSelector
    from srff.paper.path import SRFFPath
else:
    # Names are imported when they are first asked for: `import srff` alone loads nothing.
    _HOMES = {
        "Confidence": "srff.inference.result",
        "CsvFiles": "srff.data.sources.csv_dialect",
        "ModelFileError": "srff.export.save",
        "Progress": "srff._utils.progress",
        "RFFRegressor": "srff.estimators.rff",
        "SRFFClassifier": "srff.estimators.classifier",
        "SRFFPath": "srff.paper.path",
        "SRFFRegressor": "srff.estimators.regressor",
        "SRFFSelector": "srff.inference.selector",
        "confidence": "srff.inference.confidence",
        "load": "srff.export.save",
        "save": "srff.export.save",
        "show_versions": "srff._utils.show_versions",
        "srff_path": "srff.estimators.path",
        "to_onnx": "srff.export.onnx",
    }
    _MODULES = ("baselines", "datasets", "kernels", "losses", "plot")

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"srff.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__, *_MODULES})
