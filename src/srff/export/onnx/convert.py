"""A fitted model as an ONNX graph: how it predicts, in standard operators."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils import parameters
from srff._utils.version import __version__
from srff.estimators.base import RandomFeatureModel
from srff.export.onnx.graph import ML, Graph
from srff.export.onnx.model import write_model
from srff.inspect.describe import feature_names
from srff.inspect.outcome import outcome_of

if TYPE_CHECKING:
    import onnx

DTYPES = ("float32", "float64")

OPSET, ML_OPSET, IR_VERSION = 13, 2, 7
"""The oldest that have the operators used here; onnxruntime 1.15 of 2023 reads them all."""


def to_onnx(model: Any, *, dtype: str = "float32") -> onnx.ModelProto:
    """A fitted model as an ONNX graph, for runtimes without Python.

    The graph has one input ``X`` of shape (rows, n_features_in_), any number of rows, and one
    output ``y`` of shape (rows,), or (rows, n_targets) for several targets.  A classifier has two
    outputs: ``label`` of shape (rows,), texts or int64 (0 and 1 for booleans), and
    ``probabilities`` of shape (rows, n_classes).  The graph reads the columns that the model uses
    and no other.

    A model with categories has an input of shape (rows, 1) for each column that it reads, under
    the column's name (with underscores where an output has that name): texts for a category of
    texts, in which "" is a missing value unless it is a level; numbers for all others, False and
    True as 0 and 1.  It encodes them as ``predict`` does.  A model that reads nothing has its first
    column as an input, for the number of rows.

    Missing numbers are NaN.  They are filled in where the model was fitted with
    ``missing="impute"``; otherwise what ``predict`` refuses, an unknown level where it does so too,
    gives NaN, and a label that means nothing.

    Parameters
    ----------
    model : SRFFRegressor, SRFFClassifier or RFFRegressor
        A fitted model.
    dtype : {"float32", "float64"}, default="float32"
        Type of the numbers that go in and come out.  With float32 the random features between them
        are in the precision of ``model.predict``: float32, or float64 for a model of few rows.
        With float64 they are in float64; it is some three times slower, and for inputs or targets
        that float32 cannot hold, such as a column whose values differ in the seventh digit only.

    Returns
    -------
    graph : onnx.ModelProto
        Its metadata have the ``estimator``, the ``srff_version``, and as JSON lists
        ``feature_names`` and ``used_features``, the latter in the order of the inputs where each is
        one; then ``model_kind``, ``inputs``, and the ``classes`` of a classifier.

    Notes
    -----
    Needs onnx: ``pip install 'srff[onnx]'``.

    Examples
    --------
    >>> import onnxruntime
    >>> from srff import RFFRegressor
    >>> from srff.datasets import make_se3
    >>> from srff.export.onnx import to_onnx
    >>> X, y = make_se3(500, random_state=0)
    >>> model = RFFRegressor(random_state=0).fit(X[:, :10], y)
    >>> graph = to_onnx(model).SerializeToString()
    >>> session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    >>> X_new = X[:3, :10].astype("float32")
    >>> bool(abs(session.run(["y"], {"X": X_new})[0] - model.predict(X_new)).max() < 1e-4)
    True
    """
    onnx = _onnx()
    parameters.check_choice("dtype", dtype, DTYPES)
    if not isinstance(model, RandomFeatureModel):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"model is {what}; to_onnx takes a fitted SRFFRegressor, SRFFClassifier or "
            "RFFRegressor."
        )
    check_is_fitted(model)
    known = feature_names(model)
    graph = Graph(np.dtype(dtype), known)
    used = write_model(graph, model)
    for message in graph.warnings:
        warnings.warn(message, UserWarning, stacklevel=2)
    about = (
        f"{type(model).__name__} of srff {__version__}: reads {used.size} of {len(known)} "
        f"columns and predicts {' and '.join(port.name for port in graph.outputs)}."
    )
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    if ML in graph.domains:
        opsets.append(onnx.helper.make_opsetid(ML, ML_OPSET))
    proto = onnx.helper.make_model(
        graph.to_proto(type(model).__name__, about, used),
        producer_name="srff",
        producer_version=__version__,
        opset_imports=opsets,
        ir_version=IR_VERSION,
        doc_string=about,
    )
    onnx.helper.set_model_props(proto, _metadata(model, known, used))
    return proto


def _metadata(model: Any, names: list[str], used: np.ndarray) -> dict[str, str]:
    """What the metadata say of the model."""
    about = {
        "estimator": type(model).__name__,
        "srff_version": __version__,
        "feature_names": json.dumps(names),
        "used_features": json.dumps([names[i] for i in used]),
    }
    if outcome_of(model).labels:
        about["classes"] = json.dumps(outcome_of(model).labels)
    return {**about, "model_kind": model.model_kind_, "inputs": model.input_map_.name}


def _onnx() -> Any:
    """The package, imported only here: it is an extra."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'srff[onnx]'.") from error
    return onnx
