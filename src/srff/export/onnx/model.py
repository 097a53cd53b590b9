"""How a model predicts: random features, their sum, and what is made of it.

Features are in the precision that ``predict`` has them in, or a higher one that was asked for, and
the constant is added in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srff.core.losses import Loss, Poisson
from srff.data.scaling import Standardise
from srff.estimators.classifier import SRFFClassifier
from srff.export.onnx.graph import HUGE, TINY, Graph, Port
from srff.export.onnx.inputs import check_inputs, declare_columns, write_inputs
from srff.export.onnx.scaling import write_transform


def write_model(graph: Graph, model: Any) -> np.ndarray:
    """Write how the model predicts; the columns that are read.

    ``F = sqrt(2 / D) cos(U W + b) a + intercept``, and what is predicted from it.
    """
    used, encoding = model.columns_, model.encoding_
    read = np.unique(used if encoding is None else encoding.source[used])
    _declare_outputs(graph, model)
    declare_columns(graph, model, read)
    intercept = np.atleast_1d(model.intercept_)
    if not used.size:
        _write_prediction(graph, model, _write_rows(graph, intercept))
        return read
    a = model.coefficients_.reshape(model.offsets_.size, -1) * math.sqrt(2.0 / model.offsets_.size)
    _check_outputs(graph, model, a)
    check_inputs(graph, model)
    dtype = np.promote_types(graph.dtype, model.block_dtype_)
    Z = _write_features(graph, model, dtype)
    F = graph.add("MatMul", "deviation", Z, graph.constant("coef", a, dtype))
    F = graph.cast(F, "exact_deviation", np.float64, dtype)
    _write_prediction(graph, model, graph.shift("total", F, "intercept", intercept))
    return read


def _write_features(graph: Graph, model: Any, dtype: np.dtype) -> str:
    """The random features in a precision."""
    input_map, W = model.input_map_, model.frequencies_
    if W.shape[0] == 1 and dtype == np.float64 and isinstance(input_map, Standardise):
        # onnxruntime takes a lone divisor into the product that follows, but rounds it to float32.
        input_map, W = Standardise(input_map.center, np.ones(1)), W / input_map.spread
    u = write_transform(graph, write_inputs(graph, model), input_map)
    u = graph.cast(u, "rounded_inputs", dtype, np.float64)
    T = graph.add("MatMul", "waves", u, graph.constant("frequencies", W, dtype))
    # Until 2026 onnxruntime had no cosine in float64, but a sine: cos(t) = sin(t + pi / 2).
    wave, shift = ("Sin", np.pi / 2) if dtype == np.float64 else ("Cos", 0.0)
    T = graph.add("Add", "phases", T, graph.constant("offsets", model.offsets_ + shift, dtype))
    return graph.add(wave, "features", T)


def _declare_outputs(graph: Graph, model: Any) -> None:
    """What comes out of a model that is not a vector of numbers."""
    if isinstance(model, SRFFClassifier):
        labels = _labels(model.classes_)
        graph.outputs = [
            Port("label", labels.dtype, None, "The most likely class."),
            Port("probabilities", graph.dtype, labels.size, "The chances of the classes."),
        ]
    elif model.n_targets_ is not None:
        graph.outputs = [Port("y", graph.dtype, model.n_targets_, "The predictions.")]


def _write_rows(graph: Graph, values: np.ndarray) -> str:
    """The same numbers for every row: (rows, numbers), in float64."""
    source = graph.inputs[0].name if graph.inputs else "X"
    first = graph.constant("first", [0], np.int64)
    n = graph.add("Gather", "n_rows", graph.add("Shape", "shape", source), first, axis=0)
    width = graph.constant("n_outputs", [values.size], np.int64)
    shape = graph.add("Concat", "shape_of_outputs", n, width, axis=0)
    return graph.add("Expand", "total", graph.constant("intercept", values[None, :]), shape)


def _write_prediction(graph: Graph, model: Any, total: str) -> None:
    """What is predicted from the outputs ``F``, of shape (rows, outputs) in float64."""
    if isinstance(model, SRFFClassifier):
        _write_classes(graph, model, total)
        return
    loss = model._loss()
    own = type(loss).prediction
    if own is Poisson.prediction:
        total = graph.add("Exp", "rate", total)
    elif own is not Loss.prediction:
        raise TypeError(
            f"loss={loss!r} has a prediction of its own; to_onnx knows those of srff.losses."
        )
    if model.n_targets_ is not None:
        graph.out(total, "y", np.float64)
        return
    total = graph.cast(total, "rounded_total", graph.dtype, np.float64)
    # A product with a vector would give this shape too, but onnxruntime refuses it for no rows.
    graph.add("Squeeze", "y", total, graph.constant("column", [1], np.int64))


def _write_classes(graph: Graph, model: SRFFClassifier, total: str) -> None:
    """The most likely class, and the chances of all."""
    known = _labels(model.classes_)
    labels = graph.constant("classes", known, known.dtype)
    if model.classes_.size == 2:
        second = graph.add("Greater", "is_second", total, graph.constant("even", 0.0))
        second = graph.add("Squeeze", "second", second, graph.constant("column", [1], np.int64))
        best = graph.cast(second, "best", np.int64, np.bool_)
        p = graph.add("Sigmoid", "chance", total)
        q = graph.add("Sub", "other_chance", graph.constant("one", 1.0), p)
        chances = graph.add("Concat", "chances", q, p, axis=1)
    else:
        best = graph.add("ArgMax", "best", total, axis=1, keepdims=0)
        chances = graph.add("Softmax", "chances", total, axis=1)
    graph.add("Gather", "label", labels, best, axis=0)
    graph.out(chances, "probabilities", np.float64)


def _labels(classes: np.ndarray) -> np.ndarray:
    """Classes as texts or int64."""
    if classes.dtype.kind in "OU":
        return classes.astype(object)
    labels = classes.astype(np.int64)
    for label, given in zip(labels.tolist(), classes.tolist(), strict=True):
        if label != given:
            raise ValueError(
                f"classes_ has {given!r}; to_onnx takes texts and whole numbers below 2**63."
            )
    return labels


def _check_outputs(graph: Graph, model: Any, a: np.ndarray) -> None:
    """Refuse a target among several that float32 cannot hold; chances and rates it can."""
    if isinstance(model, SRFFClassifier) or type(model._loss()).prediction is not Loss.prediction:
        return
    for deviations, intercept in zip(a.T, np.atleast_1d(model.intercept_), strict=True):
        _check_target(graph, deviations, float(intercept))


def _check_target(graph: Graph, deviations: np.ndarray, intercept: float) -> None:
    """Refuse a target that float32 cannot hold; ``deviations`` are numbers of its size."""
    if graph.dtype == np.float64:
        return
    size = max(float(np.abs(deviations).max(initial=0.0)), abs(intercept))
    if size and not TINY < size < HUGE:
        raise ValueError(
            f"dtype='float32' cannot hold the target, with values around {size:.3g}; use "
            "dtype='float64'."
        )
