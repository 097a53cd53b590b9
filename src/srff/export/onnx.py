"""A fitted model as an ONNX graph: how it predicts, in standard operators.

Columns are brought to a common scale in float64 whatever the type of the inputs: ``x - center``
loses nothing there, where in float32 a column around a million would lose its last digits.
Random features are then in the precision that ``predict`` has them in, or a higher one that was
asked for, and the constant is added in float64.
"""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils import parameters
from srff._utils.version import __version__
from srff.core.losses import Loss, Poisson
from srff.data.encoding.columns import Category, Encoding
from srff.data.encoding.columns import Number as NumberColumn
from srff.data.scaling import Quantile, Standardise, Transform
from srff.estimators.base import RandomFeatureModel
from srff.estimators.classifier import SRFFClassifier
from srff.inspect.describe import names

if TYPE_CHECKING:
    import onnx

DTYPES = ("float32", "float64")

OPSET, IR_VERSION = 13, 7
"""The oldest that have the operators used here; onnxruntime 1.15 of 2023 reads them all."""

ML, ML_OPSET = "ai.onnx.ml", 2
"""Where the look-up of texts is."""

STRING = np.dtype(object)
"""The type of texts in arrays."""

TINY, HUGE = 1e-30, 1e30
"""Between these float32 has all its digits, and for what is some powers of ten from them too."""

COARSE = 1e-3
"""Share of a column's spread that float32 may round away before there is a warning."""


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
    >>> from srff.reproduction.datasets import make_se3
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
    known = names(model)
    graph = Graph(np.dtype(dtype), known)
    used = _write_model(graph, model)
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


@dataclass(frozen=True)
class Port:
    """What goes in or comes out: texts or numbers of a type, for each row."""

    name: str
    dtype: np.dtype
    width: int | None
    about: str

    def to_proto(self) -> onnx.ValueInfoProto:
        """Its declaration."""
        from onnx import TensorProto, helper

        text = self.dtype == STRING
        code = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(self.dtype)
        shape: list[str | int | None]
        shape = ["rows"] if self.width is None else ["rows", self.width]
        return helper.make_tensor_value_info(self.name, code, shape, self.about)


class Graph:
    """Nodes and constants in the order in which they were added; ``X`` goes in, ``y`` comes out.

    Where columns go in one by one, or something else comes out, ``inputs`` and ``outputs`` say so;
    other names then begin with ``prefix``, which none of the columns' does.
    """

    def __init__(self, dtype: np.dtype, names: list[str]) -> None:
        self.dtype, self.names = dtype, names
        self.warnings: list[str] = []
        self.inputs: list[Port] = []
        self.outputs = [Port("y", dtype, None, "The prediction.")]
        self.prefix = ""
        self.domains: set[str] = set()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, values: Any, dtype: Any = np.float64) -> str:
        """A named array."""
        from onnx import numpy_helper

        array = np.asarray(values, dtype=dtype, order="C")
        self._constants.append(numpy_helper.from_array(array, self.prefix + name))
        return self.prefix + name

    def add(
        self, operator: str, name: str, *inputs: str, domain: str = "", **attributes: Any
    ) -> str:
        """The result of an operator, under a name that no other has."""
        from onnx import helper

        self.domains.add(domain)
        if name not in {port.name for port in self.outputs}:
            name = self.prefix + name
        self._nodes.append(
            helper.make_node(
                operator, inputs, [name], name=f"{name}_{operator}", domain=domain, **attributes
            )
        )
        return name

    def cast(self, value: str, name: str, dtype: Any, given: Any) -> str:
        """The value in a type; the value itself if it is of that type already."""
        from onnx import helper

        if np.dtype(given) == np.dtype(dtype):
            return value
        return self.add("Cast", name, value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def out(self, value: str, name: str, given: Any) -> None:
        """Let a value of the ``given`` type out, as an output of the graph's type."""
        if self.cast(value, name, self.dtype, given) == value:
            self.add("Identity", name, value)

    def to_proto(self, name: str, about: str, used: np.ndarray) -> onnx.GraphProto:
        """The whole, with what goes in and comes out."""
        from onnx import helper

        shown = ", ".join(self.names[i] for i in used[:20]) + (", ..." if used.size > 20 else "")
        about_X = f"Inputs, one row a case; columns that are read: {shown or 'none'}."
        whole = Port("X", self.dtype, len(self.names), about_X)
        return helper.make_graph(
            self._nodes,
            name,
            [port.to_proto() for port in self.inputs or [whole]],
            [port.to_proto() for port in self.outputs],
            self._constants,
            doc_string=about,
        )


def _write_model(graph: Graph, model: Any) -> np.ndarray:
    """Write how the model predicts; the columns that are read.

    ``F = sqrt(2 / D) cos(U W + b) a + intercept``, and what is predicted from it.
    """
    used, encoding = model.columns_, model.encoding_
    source = used if encoding is None else encoding.source[used]
    _declare_outputs(graph, model)
    if encoding is not None and any(isinstance(column, Category) for column in encoding.columns):
        _declare_columns(graph, model, np.unique(source))
    if not used.size:
        _write_prediction(graph, model, _write_rows(graph, np.atleast_1d(model.intercept_)))
        return np.zeros(0, dtype=np.intp)
    a = model.coef_.reshape(model.offsets_.size, -1) * math.sqrt(2.0 / model.offsets_.size)
    _check_outputs(graph, model, a)
    input_map, W = model.input_map_, model.frequencies_
    dtype = np.promote_types(graph.dtype, model.block_dtype_)
    numeric = np.arange(used.size) if encoding is None else _numeric(encoding.take(used))
    _check_inputs(
        graph, source[numeric], model.center_[used[numeric]], model.spread_[used[numeric]]
    )
    if used.size == 1 and dtype == np.float64 and isinstance(input_map, Standardise):
        # onnxruntime takes a lone divisor into the product that follows, but rounds it to float32.
        input_map, W = Standardise(input_map.center, np.ones(1)), W / input_map.spread
    if encoding is None:
        x = _write_columns(graph, used)
    elif graph.inputs:
        x = _write_encoded(graph, model, encoding.take(used), np.unique(source))
    else:
        x = _write_filled(graph, encoding.take(used), _write_columns(graph, source))
    u = _write_transform(graph, x, input_map)
    u = graph.cast(u, "rounded_inputs", dtype, np.float64)
    T = graph.add("MatMul", "waves", u, graph.constant("frequencies", W, dtype))
    # Until 2026 onnxruntime had no cosine in float64, but a sine: cos(t) = sin(t + pi / 2).
    wave, shift = ("Sin", np.pi / 2) if dtype == np.float64 else ("Cos", 0.0)
    T = graph.add("Add", "phases", T, graph.constant("offsets", model.offsets_ + shift, dtype))
    Z = graph.add(wave, "features", T)
    F = graph.add("MatMul", "deviation", Z, graph.constant("coef", a, dtype))
    total = _write_total(graph, F, dtype, np.atleast_1d(model.intercept_))
    _write_prediction(graph, model, total)
    return np.unique(source)


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


def _declare_columns(graph: Graph, model: Any, read: np.ndarray) -> None:
    """An input for each column that is read."""
    taken = {port.name for port in graph.outputs}
    for k in read if read.size else [0]:
        name = graph.names[k] or f"x{k}"
        while name in taken:
            name += "_"
        taken.add(name)
        levels = model.levels_[k]
        text = levels is not None and levels.dtype == object
        what = "Numbers" if levels is None else "A category"
        about = f"{what}, one a row, of the column {graph.names[k]}."
        graph.inputs.append(Port(name, STRING if text else graph.dtype, 1, about))
    graph.prefix = "srff."
    while any(name.startswith(graph.prefix) for name in taken):
        graph.prefix = "_" + graph.prefix


def _write_encoded(graph: Graph, model: Any, encoding: Encoding, read: np.ndarray) -> str:
    """The encoded columns in use, in float64, from the columns that are read."""
    parts = []
    for port, k, column in zip(graph.inputs, read, encoding.columns, strict=True):
        if isinstance(column, Category):
            row = _write_level(graph, f"column_{k}", port, model.levels_[k], graph.names[k])
            table = graph.constant(f"column_{k}_table", column.table)
            parts.append(graph.add("Gather", f"column_{k}_encoded", table, row, axis=0))
        else:
            x = graph.cast(port.name, f"column_{k}_exact", np.float64, graph.dtype)
            parts.append(_write_number(graph, f"column_{k}", column, x))
    x = parts[0] if len(parts) == 1 else graph.add("Concat", "encoded", *parts, axis=1)
    if encoding.order is None:
        return x
    order = graph.constant("order", encoding.order, np.int64)
    return graph.add("Gather", "ordered", x, order, axis=1)


def _write_level(graph: Graph, tag: str, port: Port, levels: np.ndarray, name: str) -> str:
    """Each value's row in a category's table: :class:`srff.data.encoding.columns.Category`."""
    missing, unseen = levels.size, levels.size + 1
    column = graph.constant(f"{tag}_axis", [1], np.int64)
    if port.dtype == STRING:
        keys = [*levels.tolist(), *([] if "" in levels.tolist() else [""])]
        row = graph.add(
            "LabelEncoder",
            f"{tag}_rows",
            port.name,
            domain=ML,
            keys_strings=keys,
            values_int64s=[*range(len(keys))],
            default_int64=unseen,
        )
        return graph.add("Squeeze", f"{tag}_row", row, column)
    known = _distinct(levels, graph.dtype, name)
    table = graph.constant(f"{tag}_levels", known, graph.dtype)
    first, last = np.zeros(1, dtype=np.int64), np.array([known.size - 1])
    place = _write_search(graph, f"{tag}_", port.name, table, first, last)
    here = graph.add("Gather", f"{tag}_level", table, place, axis=0)
    equal = graph.add("Equal", f"{tag}_is_level", here, port.name)
    other = graph.constant(f"{tag}_unseen", unseen, np.int64)
    row = graph.add("Where", f"{tag}_known", equal, place, other)
    gap = graph.add("IsNaN", f"{tag}_is_missing", port.name)
    row = graph.add(
        "Where", f"{tag}_rows", gap, graph.constant(f"{tag}_missing", missing, np.int64), row
    )
    return graph.add("Squeeze", f"{tag}_row", row, column)


def _distinct(levels: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """Levels that are numbers, as the graph's inputs have them."""
    with np.errstate(over="ignore"):
        known = levels.astype(dtype)
    same = np.flatnonzero(known[1:] == known[:-1])
    if same.size:
        one, other = levels.tolist()[same[0] : same[0] + 2]
        advice = "use dtype='float64'" if dtype == np.float32 else "make them texts"
        raise ValueError(
            f"dtype='{dtype.name}' cannot tell the levels {one!r} and {other!r} of the column "
            f"{name} apart; {advice}."
        )
    return known


def _write_number(graph: Graph, tag: str, column: NumberColumn, x: str) -> str:
    """A column of numbers, filled in, and the mark of what was missing: (rows, 1 or 2)."""
    if column.fill is None and not column.indicator:
        return x
    gap = graph.add("IsNaN", f"{tag}_is_missing", x)
    parts = []
    if column.value:
        fill = graph.constant(f"{tag}_fill", np.nan if column.fill is None else column.fill)
        parts.append(graph.add("Where", f"{tag}_filled", gap, fill, x))
    if column.indicator:
        parts.append(graph.cast(gap, f"{tag}_mark", np.float64, np.bool_))
    return parts[0] if len(parts) == 1 else graph.add("Concat", f"{tag}_both", *parts, axis=1)


def _write_filled(graph: Graph, encoding: Encoding, x: str) -> str:
    """Numbers filled in, and marks of what was missing, all columns at once.

    ``x`` has the column of the user that each encoded one comes from.
    """
    fills, marks = [], []
    for column in encoding.columns:
        assert isinstance(column, NumberColumn)
        fill = np.nan if column.fill is None else column.fill
        fills += [fill] * column.value + [0.0] * column.indicator
        marks += [False] * column.value + [True] * column.indicator
    if encoding.order is not None:
        fills, marks = [fills[k] for k in encoding.order], [marks[k] for k in encoding.order]
    gap = graph.add("IsNaN", "is_missing", x)
    x = graph.add("Where", "filled", gap, graph.constant("fill", fills), x)
    if not any(marks):
        return x
    mark = graph.cast(gap, "mark", np.float64, np.bool_)
    return graph.add("Where", "encoded", graph.constant("is_mark", marks, np.bool_), mark, x)


def _numeric(encoding: Encoding) -> np.ndarray:
    """The encoded columns that are the user's numbers."""
    mask = [
        flag
        for column in encoding.columns
        for flag in (
            [False] * column.width
            if isinstance(column, Category)
            else [True] * column.value + [False] * column.indicator
        )
    ]
    ordered = np.array(mask, dtype=bool)
    return np.flatnonzero(ordered if encoding.order is None else ordered[encoding.order])


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
    _write_vector(graph, total)


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


def _write_columns(graph: Graph, columns: np.ndarray) -> str:
    """Some columns of X, in float64."""
    places = graph.constant("columns", columns, np.int64)
    x = graph.add("Gather", "selected", "X", places, axis=1)
    return graph.cast(x, "inputs", np.float64, graph.dtype)


def _write_vector(graph: Graph, total: str) -> None:
    """A column in float64 as the vector that comes out."""
    total = graph.cast(total, "rounded_total", graph.dtype, np.float64)
    # A product with a vector would give this shape too, but onnxruntime refuses it for no rows.
    graph.add("Squeeze", "y", total, graph.constant("column", [1], np.int64))


def _write_total(graph: Graph, terms: str, given: Any, intercept: np.ndarray) -> str:
    """The terms and the constants in float64."""
    terms = graph.cast(terms, "exact_deviation", np.float64, given)
    return _write_shift(graph, "total", terms, "intercept", intercept)


def _write_shift(graph: Graph, name: str, x: str, constant: str, values: np.ndarray) -> str:
    """``x`` plus a constant for each column."""
    # onnxruntime removes an Add of one number that float32 would round to zero, such as 1e-60.
    lost = values.size == 1 and abs(float(values[0])) < TINY
    return graph.add("Sum" if lost else "Add", name, x, graph.constant(constant, values))


def _write_transform(graph: Graph, x: str, transform: Transform) -> str:
    """The columns on a common scale."""
    if isinstance(transform, Standardise):
        x = _write_shift(graph, "centered", x, "minus_center", -transform.center)
        return graph.add("Div", "standardised", x, graph.constant("spread", transform.spread))
    if isinstance(transform, Quantile):
        return _write_scores(graph, x, transform)
    raise TypeError(
        f"input_map_ is of type {type(transform).__name__}; to_onnx knows Standardise and Quantile."
    )


def _write_scores(graph: Graph, x: str, transform: Quantile) -> str:
    """Normal scores: lines between knots, constant before the first and after the last."""
    sizes = np.array([knots.size for knots in transform.knots])
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    everything = np.concatenate(transform.knots)
    knots = graph.constant("knots", everything)
    # Where, not Min and Max: in those some runtimes lose a NaN.
    for comparison, name, ends in (("Less", "low", first), ("Greater", "high", last)):
        end = graph.constant(f"{name}_end", everything[ends])
        beyond = graph.add(comparison, f"is_{name}", x, end)
        x = graph.add("Where", f"not_{name}", beyond, end, x)
    place = _write_search(graph, "", x, knots, first, last)
    distance = graph.add("Sub", "distance", x, graph.add("Gather", "knot", knots, place, axis=0))
    slopes = graph.constant(
        "slopes", np.concatenate([*map(_slopes, transform.knots, transform.scores)])
    )
    slope = graph.add("Gather", "slope", slopes, place, axis=0)
    rise = graph.add("Mul", "rise", slope, distance)
    scores = graph.constant("scores_at_knots", np.concatenate(transform.scores))
    return graph.add("Add", "score", rise, graph.add("Gather", "base", scores, place, axis=0))


def _slopes(knots: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The slope from each knot on; the last knot's is zero."""
    return np.append(np.diff(scores) / np.diff(knots), 0.0)


def _write_search(
    graph: Graph, tag: str, x: str, table: str, first: np.ndarray, last: np.ndarray
) -> str:
    """The place of the last knot that is not above each value, the first one's if all are.

    By binary search, all rows and columns at once, in one list of the knots of all columns;
    ``first`` and ``last`` are the places of each column's.
    """
    place = graph.constant(f"{tag}first_knots", first, np.int64)
    n_bits = int((last - first).max()).bit_length()
    end = graph.constant(f"{tag}last_knots", last, np.int64) if n_bits else ""
    for bit in reversed(range(n_bits)):
        step = graph.constant(f"{tag}step_{bit}", 2**bit, np.int64)
        further = graph.add("Add", f"{tag}further_{bit}", place, step)
        further = graph.add("Min", f"{tag}candidate_{bit}", further, end)
        knot = graph.add("Gather", f"{tag}knot_{bit}", table, further, axis=0)
        passed = graph.add("LessOrEqual", f"{tag}passed_{bit}", knot, x)
        place = graph.add("Where", f"{tag}place_{bit}", passed, further, place)
    return place


def _check_inputs(
    graph: Graph, columns: np.ndarray, center: np.ndarray, spread: np.ndarray
) -> None:
    """Refuse columns that float32 cannot hold; warn of those that it holds badly."""
    if graph.dtype == np.float64:
        return
    size = np.maximum(np.abs(center), spread)
    for column, value in zip(columns, size, strict=True):
        if not TINY < value < HUGE:
            raise ValueError(
                f"dtype='float32' cannot hold the column {graph.names[column]}, with values "
                f"around {value:.3g}; use dtype='float64'."
            )
    step = float(np.finfo(np.float32).eps) * np.abs(center) / spread
    coarse = np.flatnonzero(step > COARSE)
    if coarse.size:
        shown = ", ".join(f"{graph.names[columns[s]]} (mean {center[s]:.4g})" for s in coarse[:5])
        more = f" and {coarse.size - 5} more" if coarse.size > 5 else ""
        graph.warnings.append(
            f"dtype='float32' rounds inputs to steps of up to {step.max():.2g} times their spread, "
            f"for {shown}{more}; dtype='float64' keeps them."
        )


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


def _metadata(model: Any, names: list[str], used: np.ndarray) -> dict[str, str]:
    """What the metadata say of the model."""
    about = {
        "estimator": type(model).__name__,
        "srff_version": __version__,
        "feature_names": json.dumps(names),
        "used_features": json.dumps([names[i] for i in used]),
    }
    if isinstance(model, SRFFClassifier):
        about["classes"] = json.dumps(model.classes_.tolist())
    return {**about, "model_kind": model.model_kind_, "inputs": model.input_map_.name}


def _onnx() -> Any:
    """The package, imported only here: it is an extra."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'srff[onnx]'.") from error
    return onnx
