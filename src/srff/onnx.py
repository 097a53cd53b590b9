"""A fitted model as an ONNX graph: how each estimator predicts, in standard operators.

Columns are brought to a common scale in float64 whatever the type of the inputs: ``x - center``
loses nothing there, where in float32 a column around a million would lose its last digits.
Random features are then in the precision that ``predict`` has them in, or a higher one that was
asked for, and the constant is added in float64.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import BSpline, PPoly
from sklearn.utils.validation import check_is_fitted

from srff import __version__, parameters
from srff.base import RandomFeatureRegressor
from srff.baselines import (
    SPAM,
    Denovas,
    HSICLasso,
    LassoBaseline,
    MeanBaseline,
    RidgeBaseline,
)
from srff.baselines.spam import FunctionBasis
from srff.display import names
from srff.transforms import Quantile, Standardise, Transform

if TYPE_CHECKING:
    import onnx

DTYPES = ("float32", "float64")

OPSET, IR_VERSION = 13, 7
"""The oldest that have the operators used here; onnxruntime 1.15 of 2023 reads them all."""

TINY, HUGE = 1e-30, 1e30
"""Between these float32 has all its digits, and for what is some powers of ten from them too."""

COARSE = 1e-3
"""Share of a column's spread that float32 may round away before there is a warning."""


def to_onnx(model: Any, *, dtype: str = "float32") -> onnx.ModelProto:
    """A fitted model as an ONNX graph, for runtimes without Python.

    The graph has one input ``X`` of shape (rows, n_features_in_), any number of rows, and one
    output ``y`` of shape (rows,).  It reads the columns that the model uses and no other; a
    missing value (NaN) in one of these gives NaN.

    Parameters
    ----------
    model : estimator
        A fitted :class:`srff.SRFFRegressor`, :class:`srff.RFFRegressor` or regressor of
        :mod:`srff.baselines`.
    dtype : {"float32", "float64"}, default="float32"
        Type of ``X`` and ``y``.  With float32 the random features between them are in the precision
        of ``model.predict``: float32, or float64 for a model of few rows.  With float64 they are in
        float64; it is some three times slower, and for inputs or targets that float32 cannot hold,
        such as a column whose values differ in the seventh digit only.

    Returns
    -------
    graph : onnx.ModelProto
        Its metadata have the ``estimator``, the ``srff_version``, and as JSON lists
        ``feature_names`` and ``used_features``, and ``model_kind`` and ``inputs`` where the model
        has them.

    Notes
    -----
    Needs onnx: ``pip install 'srff[onnx]'``.

    Examples
    --------
    >>> import onnxruntime
    >>> from srff import RFFRegressor
    >>> from srff.datasets import make_se3
    >>> from srff.onnx import to_onnx
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
    if _write.dispatch(type(model)) is _write.dispatch(object):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"model is {what}; to_onnx takes a fitted SRFFRegressor, RFFRegressor or regressor of "
            "srff.baselines."
        )
    check_is_fitted(model)
    columns = np.arange(model.n_features_in_)
    known = names(model)
    graph = Graph(np.dtype(dtype), known)
    used = _write(model, graph, columns)
    for message in graph.warnings:
        warnings.warn(message, UserWarning, stacklevel=2)
    about = (
        f"{type(model).__name__} of srff {__version__}: reads {used.size} of {columns.size} "
        "columns of X and predicts y."
    )
    proto = onnx.helper.make_model(
        graph.to_proto(type(model).__name__, about, used),
        producer_name="srff",
        producer_version=__version__,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string=about,
    )
    onnx.helper.set_model_props(proto, _metadata(model, known, used))
    return proto


class Graph:
    """Nodes and constants in the order in which they were added; ``X`` goes in, ``y`` comes out."""

    def __init__(self, dtype: np.dtype, names: list[str]) -> None:
        self.dtype, self.names = dtype, names
        self.warnings: list[str] = []
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, values: Any, dtype: Any = np.float64) -> str:
        """A named array."""
        from onnx import numpy_helper

        array = np.ascontiguousarray(values, dtype=dtype)
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:
        """The result of an operator, under a name that no other has."""
        from onnx import helper

        self._nodes.append(
            helper.make_node(operator, inputs, [name], name=f"{name}_{operator}", **attributes)
        )
        return name

    def cast(self, value: str, name: str, dtype: Any, given: Any) -> str:
        """The value in a type; the value itself if it is of that type already."""
        from onnx import helper

        if np.dtype(given) == np.dtype(dtype):
            return value
        return self.add("Cast", name, value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def to_proto(self, name: str, about: str, used: np.ndarray) -> onnx.GraphProto:
        """The whole, with what goes in and comes out."""
        from onnx import helper

        shown = ", ".join(self.names[i] for i in used[:20]) + (", ..." if used.size > 20 else "")
        about_X = f"Inputs, one row a case; columns that are read: {shown or 'none'}."
        number = helper.np_dtype_to_tensor_dtype(self.dtype)
        return helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info("X", number, ["rows", len(self.names)], about_X)],
            [helper.make_tensor_value_info("y", number, ["rows"], "The prediction.")],
            self._constants,
            doc_string=about,
        )


@singledispatch
def _write(model: Any, graph: Graph, columns: np.ndarray) -> np.ndarray:
    """Write how the model predicts; ``columns`` are its inputs' places in X.

    Returns the places of the columns that are read.
    """
    raise NotImplementedError


@_write.register
def _(model: RandomFeatureRegressor, graph: Graph, columns: np.ndarray) -> np.ndarray:
    """``y = sqrt(2 / D) cos(U W + b) a + intercept``."""
    used = np.flatnonzero(model.scale_)
    if not used.size:
        return _write_constant(graph, model.intercept_)
    _check_inputs(graph, columns[used], model.center_[used], model.spread_[used])
    amplitude = math.sqrt(2.0 / model.coef_.size)
    _check_target(graph, model.coef_ * amplitude, model.intercept_)
    input_map, W = model.input_map_, model.frequencies_
    dtype = np.promote_types(graph.dtype, model.block_dtype_)
    if used.size == 1 and dtype == np.float64 and isinstance(input_map, Standardise):
        # onnxruntime takes a lone divisor into the product that follows, but rounds it to float32.
        input_map, W = Standardise(input_map.center, np.ones(1)), W / input_map.spread
    u = _write_transform(graph, _write_columns(graph, columns[used]), input_map)
    u = graph.cast(u, "rounded_inputs", dtype, np.float64)
    T = graph.add("MatMul", "waves", u, graph.constant("frequencies", W, dtype))
    # Until 2026 onnxruntime had no cosine in float64, but a sine: cos(t) = sin(t + pi / 2).
    wave, shift = ("Sin", np.pi / 2) if dtype == np.float64 else ("Cos", 0.0)
    T = graph.add("Add", "phases", T, graph.constant("offsets", model.offsets_ + shift, dtype))
    Z = graph.add(wave, "features", T)
    a = graph.constant("coef", model.coef_[:, None] * amplitude, dtype)
    _write_sum(graph, graph.add("MatMul", "deviation", Z, a), dtype, model.intercept_)
    return columns[used]


@_write.register
def _(model: MeanBaseline, graph: Graph, columns: np.ndarray) -> np.ndarray:
    return _write_constant(graph, model.intercept_)


@_write.register(RidgeBaseline)
@_write.register(LassoBaseline)
def _(model: Any, graph: Graph, columns: np.ndarray) -> np.ndarray:
    """``y = X w + intercept``."""
    used = np.flatnonzero(model.coef_)
    if not used.size:
        return _write_constant(graph, model.intercept_)
    _check_target(graph, np.ones(1), model.intercept_)  # how large X w is only X knows
    x = _write_columns(graph, columns[used])
    terms = graph.add("MatMul", "deviation", x, graph.constant("coef", model.coef_[used, None]))
    _write_sum(graph, terms, np.float64, model.intercept_)
    return columns[used]


@_write.register
def _(model: HSICLasso, graph: Graph, columns: np.ndarray) -> np.ndarray:
    """The random features on what was selected."""
    if model.model_ is None:
        return _write_constant(graph, model.intercept_)
    return _write(model.model_, graph, columns[model.selected_])


@_write.register
def _(model: Denovas, graph: Graph, columns: np.ndarray) -> np.ndarray:
    """``y = sum_i a_i exp(-||u - u_i||^2 / (2 sigma^2)) + intercept``."""
    used = model.selected_
    if not used.size:
        return _write_constant(graph, model.intercept_)
    _check_target(graph, model.dual_coef_, model.intercept_)
    u = _write_standard(graph, model, columns, used)
    # Column by column, as the coefficients may be large with either sign: the square multiplied
    # out, one product, loses half of the digits.
    squares = ""
    for s, row_values in enumerate(model.rows_.T):
        place = graph.constant(f"place_{s}", [s], np.int64)
        values = graph.add("Gather", f"values_{s}", u, place, axis=1)
        rows = graph.constant(f"rows_{s}", row_values)
        apart = graph.add("Sub", f"apart_{s}", values, rows)
        square = graph.add("Mul", f"square_{s}", apart, apart)
        squares = graph.add("Add", f"squares_{s}", squares, square) if squares else square
    factor = graph.constant("factor", -0.5 / model.refit_sigma_**2)
    K = graph.add("Exp", "kernel", graph.add("Mul", "exponent", squares, factor))
    terms = graph.add("MatMul", "deviation", K, graph.constant("coef", model.dual_coef_[:, None]))
    _write_sum(graph, terms, np.float64, model.intercept_)
    return columns[used]


@_write.register
def _(model: SPAM, graph: Graph, columns: np.ndarray) -> np.ndarray:
    """``y = sum_j f_j(u_j) + intercept``, each function as its polynomials between knots."""
    used = model.selected_
    if not used.size:
        return _write_constant(graph, model.intercept_)
    _check_target(graph, np.array([model.y_spread_]), model.intercept_)
    u = _write_standard(graph, model, columns, used)
    pieces = [
        _polynomials(model.bases_[j], model.y_spread_ * w)
        for j, w in zip(used, model.coef_, strict=True)
    ]
    f = _write_piecewise(graph, u, [p[0] for p in pieces], [p[1] for p in pieces])
    axes = graph.constant("along_variables", [1], np.int64)
    terms = graph.add("ReduceSum", "deviation", f, axes, keepdims=1)
    _write_sum(graph, terms, np.float64, model.intercept_)
    return columns[used]


def _write_constant(graph: Graph, value: float) -> np.ndarray:
    """The same value for every row."""
    _check_target(graph, np.zeros(0), value)
    first = graph.constant("first", [0], np.int64)
    shape = graph.add("Gather", "n_rows", graph.add("Shape", "shape", "X"), first, axis=0)
    graph.add("Expand", "y", graph.constant("intercept", value, graph.dtype), shape)
    return np.zeros(0, dtype=np.intp)


def _write_columns(graph: Graph, columns: np.ndarray) -> str:
    """Some columns of X, in float64."""
    places = graph.constant("columns", columns, np.int64)
    x = graph.add("Gather", "selected", "X", places, axis=1)
    return graph.cast(x, "inputs", np.float64, graph.dtype)


def _write_sum(graph: Graph, terms: str, given: Any, intercept: float) -> None:
    """The terms, of shape (rows, 1) and the ``given`` type, and the constant."""
    terms = graph.cast(terms, "exact_deviation", np.float64, given)
    total = _write_shift(graph, "total", terms, "intercept", np.array([intercept]))
    total = graph.cast(total, "rounded_total", graph.dtype, np.float64)
    # A product with a vector would give this shape too, but onnxruntime refuses it for no rows.
    graph.add("Squeeze", "y", total, graph.constant("column", [1], np.int64))


def _write_shift(graph: Graph, name: str, x: str, constant: str, values: np.ndarray) -> str:
    """``x`` plus a constant for each column."""
    # onnxruntime removes an Add of one number that float32 would round to zero, such as 1e-60.
    lost = values.size == 1 and abs(float(values[0])) < TINY
    return graph.add("Sum" if lost else "Add", name, x, graph.constant(constant, values))


def _write_standard(graph: Graph, model: Any, columns: np.ndarray, used: np.ndarray) -> str:
    """The columns that a baseline uses, standardised."""
    center, spread = model.center_[used], model.spread_[used]
    _check_inputs(graph, columns[used], center, spread)
    x = _write_columns(graph, columns[used])
    return _write_transform(graph, x, Standardise(center, spread))


def _write_transform(graph: Graph, x: str, transform: Transform) -> str:
    """The columns on a common scale."""
    if isinstance(transform, Standardise):
        x = _write_shift(graph, "centered", x, "minus_center", -transform.center)
        return graph.add("Div", "standardised", x, graph.constant("spread", transform.spread))
    if isinstance(transform, Quantile):
        lines = [_lines(k, s) for k, s in zip(transform.knots, transform.scores, strict=True)]
        return _write_piecewise(graph, x, transform.knots, lines)
    raise TypeError(
        f"input_map_ is of type {type(transform).__name__}; to_onnx knows Standardise and Quantile."
    )


def _lines(knots: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Slope and value at each knot; the last knot's slope is zero."""
    return np.stack([np.append(np.diff(scores) / np.diff(knots), 0.0), scores])


def _polynomials(basis: FunctionBasis, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``Z w`` as knots and the polynomial from each knot on, highest power first."""
    splines = basis.splines.bsplines_[0]
    t, k = splines.t, splines.k
    weights = basis.rotation @ coef
    f = BSpline(t, splines.c @ weights, k)
    knots = t[k : t.size - k]
    powers = np.zeros((k + 1, knots.size))
    powers[:, :-1] = PPoly.from_spline((f.t, f.c, k)).c[:, k : t.size - k - 1]
    powers[-1, -1] = f(knots[-1])
    powers[-1] -= basis.mean @ weights
    return knots, powers


def _write_piecewise(
    graph: Graph, x: str, knots: Sequence[np.ndarray], powers: Sequence[np.ndarray]
) -> str:
    """Piecewise polynomials of each column, constant before the first knot and after the last.

    ``powers[s][:, j]`` are the coefficients from knot j of column s on, in powers of the distance
    to it, highest first; those of the last knot are its value alone.  The knot is found by binary
    search, all rows and columns at once, in one list of the knots of all columns.
    """
    sizes = np.array([k.size for k in knots])
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    everything = np.concatenate(knots)
    table = graph.constant("knots", everything)
    # Where, not Min and Max: in those some runtimes lose a NaN.
    for comparison, name, ends in (("Less", "low", first), ("Greater", "high", last)):
        end = graph.constant(f"{name}_end", everything[ends])
        beyond = graph.add(comparison, f"is_{name}", x, end)
        x = graph.add("Where", f"not_{name}", beyond, end, x)

    place = graph.constant("first_knots", first, np.int64)
    n_bits = int(sizes.max() - 1).bit_length()
    end = graph.constant("last_knots", last, np.int64) if n_bits else ""
    for bit in reversed(range(n_bits)):
        step = graph.constant(f"step_{bit}", 2**bit, np.int64)
        further = graph.add("Add", f"further_{bit}", place, step)
        further = graph.add("Min", f"candidate_{bit}", further, end)
        knot = graph.add("Gather", f"knot_{bit}", table, further, axis=0)
        passed = graph.add("LessOrEqual", f"passed_{bit}", knot, x)
        place = graph.add("Where", f"place_{bit}", passed, further, place)

    distance = graph.add("Sub", "distance", x, graph.add("Gather", "knot", table, place, axis=0))
    degree = powers[0].shape[0] - 1
    value = ""
    for i, name in enumerate(f"power_{degree - i}" for i in range(degree + 1)):
        values = graph.constant(f"{name}_table", np.concatenate([p[i] for p in powers]))
        term = graph.add("Gather", name, values, place, axis=0)
        if value:
            value = graph.add("Mul", f"{name}_product", value, distance)
            term = graph.add("Add", f"{name}_sum", value, term)
        value = term
    return value


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
    if isinstance(model, RandomFeatureRegressor):
        about["model_kind"] = model.model_kind_
        about["inputs"] = model.input_map_.name
    return about


def _onnx() -> Any:
    """The package, imported only here: it is an extra."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'srff[onnx]'.") from error
    return onnx
