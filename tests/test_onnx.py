"""A model as an ONNX graph predicts what the model predicts."""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import srff
from srff import RFFRegressor, SRFFClassifier, SRFFRegressor
from srff.core.losses import Pinball, Poisson
from srff.data.encoding.columns import Category, Encoding, Number
from srff.data.scaling import Quantile, Standardise
from srff.export.onnx import to_onnx
from srff.export.onnx.convert import IR_VERSION, OPSET
from srff.export.onnx.graph import Graph
from srff.export.onnx.inputs import write_columns
from srff.export.onnx.scaling import write_transform
from srff.reproduction.baselines import Denovas, MeanBaseline

onnx = pytest.importorskip("onnx", reason="onnx is not installed (extra: onnx)")
onnxruntime = pytest.importorskip(
    "onnxruntime", reason="onnxruntime is not installed (extra: onnx)"
)

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

PAGE = Path(__file__).parents[1] / "docs" / "deploying.md"
KINDS = ["scales", "metric", "low order", "wide", "frequencies", "blend"]
DTYPES = ["float32", "float64"]
QUICK = {"n_components": 20, "max_iter": 4, "random_state": 0, "n_jobs": 1}


def additive(X):
    return np.sin(2 * X[:, 0]) + X[:, 1] ** 2


def ridge(X):
    return np.sin(3 * X[:, 0] + 2 * X[:, 1])


def steps(X):
    return (X[:, 0] > 0) + 1.0 * (X[:, 1] > 0.5)


def apart(X):
    return 2 * X[:, 1] + np.sin(3 * X[:, 4])


# Each with the kind of model that it ends with, where the arithmetic is as on most machines.
FITS = {
    "scales": (SRFFRegressor(refine=None, **QUICK), additive),
    "alternating": (SRFFRegressor(refine=None, solver="alternating", tol=0.1, **QUICK), additive),
    "metric": (SRFFRegressor(refine="metric", **QUICK), ridge),
    "low order": (SRFFRegressor(refine="metric", **QUICK), steps),
    "wide": (SRFFRegressor(refine="metric", **QUICK | {"n_components": "auto"}), additive),
    "frequencies": (SRFFRegressor(refine="frequencies", **QUICK), additive),
    "blend": (SRFFRegressor(**QUICK), additive),
    "float32": (SRFFRegressor(dtype="float32", **QUICK), ridge),
    "quantile": (SRFFRegressor(inputs="quantile", **QUICK), additive),
    "RFF": (RFFRegressor(n_components=50, random_state=0, n_jobs=1), additive),
}


@pytest.fixture(scope="module")
def fitted():
    """The models of ``FITS``, each fitted when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            model, target = FITS[name]
            rng = np.random.default_rng(0)
            X = rng.normal(size=(200, 5))
            y = 7 + target(X) + rng.normal(0, 0.05, 200)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few iterations
                made[name] = model.fit(X, y)
        return made[name]

    return get


def hand_made(kind, seed, transform="standard", *, block_dtype=np.float32, offset=0.0):
    """A model with random arrays: three of seven columns and 40 features."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.choice(7, 3, replace=False))
    model = SRFFRegressor(n_jobs=1)
    model.n_features_in_, model.model_kind_, model.block_dtype_ = 7, kind, np.dtype(block_dtype)
    model.center_, model.spread_ = offset + rng.normal(size=7), rng.uniform(0.5, 2, 7)
    model.scale_, model.columns_ = np.zeros(7), columns
    model.scale_[columns] = 1.0
    model.levels_ = model.encoding_ = model.n_targets_ = None
    model.frequencies_ = rng.normal(size=(3, 40))
    model.offsets_ = rng.uniform(0, 2 * np.pi, 40)
    model.coefficients_, model.intercept_ = rng.normal(size=40), float(rng.normal())
    if transform == "standard":
        model.input_map_ = Standardise(model.center_, model.spread_).take(columns)
    else:
        model.input_map_ = Quantile.fit(rows(model, 400, seed)[:, columns])
    return model


def rows(model, n, seed):
    """Rows around a model's means, some of them far out."""
    rng = np.random.default_rng(1000 + seed)
    U = rng.standard_t(4, size=(n, model.n_features_in_))
    if not hasattr(model, "center_") or model.center_.size != model.n_features_in_:
        return U
    return model.center_ + model.spread_ * U


def session(graph):
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def run(graph, X):
    return session(graph).run(["y"], {"X": X})[0]


def difference(model, dtype, X):
    """Largest difference from ``predict`` on the same numbers, in spreads of the predictions."""
    X = X.astype(dtype)
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    onnx.shape_inference.infer_shapes(graph, check_type=True, strict_mode=True, data_prop=True)
    expected, given = model.predict(X), run(graph, X)
    assert given.dtype == dtype
    assert given.shape == expected.shape
    return np.abs(given - expected).max() / (expected.std() or 1.0)


@pytest.mark.parametrize("name", FITS)
def test_a_fitted_model_and_its_graph_agree(fitted, name):
    model = fitted(name)
    X = rows(model, 300, 0)
    assert model.predict(X).std() > 0
    assert difference(model, "float32", X) < 1e-5
    in_float32 = getattr(model, "block_dtype_", None) == np.float32
    assert difference(model, "float64", X) < (1e-5 if in_float32 else 1e-11)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("transform", ["standard", "quantile"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_with_either_map_of_the_inputs_agrees(kind, transform, seed):
    in_float32 = hand_made(kind, seed, transform)
    in_float64 = hand_made(kind, seed, transform, block_dtype=np.float64)
    X = rows(in_float32, 200, seed)
    for model in (in_float32, in_float64):
        assert difference(model, "float32", X) < 1e-5
    assert difference(in_float64, "float64", X) < 1e-12
    # A graph in float64 does not depend on the precision of the fit.
    np.testing.assert_array_equal(
        run(to_onnx(in_float32, dtype="float64"), X), run(to_onnx(in_float64, dtype="float64"), X)
    )


def test_the_graph_is_gather_standardise_product_cosine_product():
    operators = [node.op_type for node in to_onnx(hand_made("scales", 0)).graph.node]
    assert operators == [
        *("Gather", "Cast", "Add", "Div", "Cast"),
        *("MatMul", "Add", "Cos", "MatMul", "Cast", "Add", "Cast", "Squeeze"),
    ]


@pytest.mark.parametrize("name", ["blend", "quantile"])
def test_the_reference_implementation_of_onnx_says_the_same(fitted, name):
    from onnx.reference import ReferenceEvaluator

    model = fitted(name)
    X = rows(model, 100, 1)
    y = ReferenceEvaluator(to_onnx(model, dtype="float64")).run(["y"], {"X": X})[0]
    np.testing.assert_allclose(y, model.predict(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_cosine_in_float64_is_a_sine(dtype):
    # The kernels that onnxruntime has on a CPU: Cos in float64 came in 2026.
    operators = {n.op_type for n in to_onnx(hand_made("scales", 0), dtype=dtype).graph.node}
    assert ("Sin" if dtype == "float64" else "Cos") in operators
    assert len(operators & {"Sin", "Cos"}) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", [1, 2, 3, 40, 255, 256, 257, 258, 3000])
def test_normal_scores_are_those_of_numpy_to_the_last_bit(values, dtype):
    """Ends, knots, ties, points beside a knot, beyond the ends and infinite ones."""
    rng = np.random.default_rng(values)
    levels = np.sort(rng.lognormal(size=values)).astype(dtype)
    sample = np.stack([rng.choice(levels, 4000), rng.normal(size=4000).astype(dtype)], axis=1)
    sample[:values, 0] = levels
    transform = Quantile.fit(sample)
    for s, knots in enumerate(transform.knots):
        at = knots.astype(dtype)
        x = np.concatenate(
            [
                at,
                np.nextafter(at, at.dtype.type(-np.inf)),
                np.nextafter(at, at.dtype.type(np.inf)),
                rng.uniform(knots[0] - 1, knots[-1] + 1, 500).astype(dtype),
                [-np.inf, np.inf],
                [np.nan] if knots.size > 1 else [],  # of one knot NumPy's answer is its score
            ]
        ).astype(dtype)
        graph = Graph(np.dtype(dtype), ["x"])
        scores = write_transform(
            graph, write_columns(graph, np.zeros(1, dtype=int)), transform.take(np.array([s]))
        )
        scores = graph.cast(scores, "scores", graph.dtype, np.float64)
        graph.add("Squeeze", "y", scores, graph.constant("column", [1], np.int64))
        model = onnx.helper.make_model(
            graph.to_proto("scores", "", np.zeros(0, dtype=int)),
            opset_imports=[onnx.helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        expected = np.interp(x, knots, transform.scores[s]).astype(dtype)
        np.testing.assert_array_equal(run(model, x[:, None]), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["scales", "quantile"])
def test_a_missing_value_is_not_hidden(fitted, name, dtype):
    model = fitted(name)
    used = np.flatnonzero(model.scale_)
    X = np.zeros((2, model.n_features_in_), dtype=dtype)
    X[1, used[-1]] = np.nan
    y = run(to_onnx(model, dtype=dtype), X)
    assert np.isfinite(y[0])
    assert np.isnan(y[1])


def test_columns_that_are_not_used_are_not_read(fitted):
    model = fitted("blend")
    X = np.random.default_rng(1).normal(size=(20, 5)).astype("float32")
    other = X.copy()
    other[:, model.scale_ == 0] = np.nan
    assert np.isnan(other).any()
    graph = to_onnx(model)
    np.testing.assert_array_equal(run(graph, other), run(graph, X))


def test_a_reduced_model_takes_the_selected_columns_alone(fitted):
    model = fitted("quantile")
    X = np.random.default_rng(1).normal(size=(20, 5)).astype("float32")
    np.testing.assert_array_equal(
        run(to_onnx(model.reduced()), X[:, model.get_support()]), run(to_onnx(model), X)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "model",
    [
        SRFFRegressor(**QUICK),
        SRFFRegressor(inputs="quantile", **QUICK),
        RFFRegressor(random_state=0, n_jobs=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_constant_target_gives_a_constant_graph(model, dtype):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the target is constant
        model.fit(X, np.full(40, 2.5))
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    np.testing.assert_allclose(run(graph, X.astype(dtype)), np.full(40, 2.5), rtol=1e-6)
    assert run(graph, X[:0].astype(dtype)).shape == (0,)


def test_a_model_that_found_nothing_predicts_the_mean():
    rng = np.random.default_rng(0)
    model = SRFFRegressor(**QUICK).fit(rng.normal(size=(200, 5)), rng.normal(size=200))
    assert model.model_kind_ == "mean"
    assert difference(model, "float64", rng.normal(size=(10, 5))) == 0


@pytest.mark.parametrize("name", ["blend", "quantile", "RFF"])
def test_no_rows_give_no_answers_and_one_row_one(fitted, name):
    model = fitted(name)
    graph = to_onnx(model)
    X = np.ones((1, model.n_features_in_), dtype="float32")
    assert run(graph, X[:0]).shape == (0,)
    assert run(graph, X).shape == (1,)


@pytest.mark.parametrize(
    "model",
    [
        SRFFRegressor(**QUICK),
        SRFFRegressor(inputs="quantile", **QUICK),
        RFFRegressor(n_components=20, random_state=0, n_jobs=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_table_of_a_single_column_works(model):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(100, 1))
    model.fit(X, X[:, 0] + np.sin(3 * X[:, 0]) + rng.normal(0, 0.3, 100))
    assert model.predict(X).std() > 0
    assert difference(model, "float32", X) < 1e-5
    assert difference(model, "float64", X) < 1e-10


def test_a_column_with_far_outliers_is_rounded_as_predict_rounds_it():
    """Phases of thousands: what float32 makes of them hangs on the order of the operations."""
    X = np.exp(np.random.default_rng(0).normal(size=(300, 1)) * 2)
    model = RFFRegressor(n_components=50, dtype="float32", random_state=0, n_jobs=1)
    model.fit(X, np.sin(X[:, 0]))
    model.frequencies_ *= 200
    assert np.abs(model.input_map_(X) @ model.frequencies_).max() > 1000
    assert difference(model, "float32", X) < 1e-5


@pytest.mark.parametrize("block_dtype", DTYPES)
@pytest.mark.parametrize("transform", ["standard", "quantile"])
@pytest.mark.parametrize("offset", [3e3, 1e6, -1e7])
def test_a_large_offset_of_the_inputs_loses_nothing(offset, transform, block_dtype):
    model = hand_made("metric", 0, transform, block_dtype=block_dtype, offset=offset)
    X = rows(model, 200, 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert difference(model, "float32", X) < 1e-5
    # What float32 rounds off the inputs themselves is another matter, which the user is told.
    assert bool(caught) == (abs(offset) > 1e4)
    assert difference(model, "float64", X) < (1e-5 if block_dtype == "float32" else 1e-10)


def test_inputs_that_float32_rounds_coarsely_are_named():
    model = hand_made("scales", 0, offset=1e6)
    model.feature_names_in_ = np.array([f"gauge {s}" for s in range(7)], dtype=object)
    first = np.flatnonzero(model.scale_)[0]
    with pytest.warns(UserWarning, match=rf"gauge {first} \(mean 1e\+06\).*float64") as caught:
        to_onnx(model)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        to_onnx(model, dtype="float64")


@pytest.mark.parametrize("size", [1e60, 1e-60])
def test_numbers_beyond_float32_are_refused_and_float64_takes_them(size):
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.sin(X[:, 0])
    inputs = RFFRegressor(n_components=20, random_state=0, n_jobs=1).fit(X * [1, size], y)
    with pytest.raises(ValueError, match=r"dtype='float32' cannot hold the column x1.*float64"):
        to_onnx(inputs)
    single = RFFRegressor(n_components=20, random_state=0, n_jobs=1).fit(X[:, :1] * size, y)
    assert difference(single, "float64", X[:, :1] * size) < 1e-8
    assert difference(inputs, "float64", X * [1, size]) < 1e-11
    target = RFFRegressor(n_components=20, random_state=0, n_jobs=1).fit(X, y * size)
    with pytest.raises(ValueError, match=r"dtype='float32' cannot hold the target.*float64"):
        to_onnx(target)
    assert difference(target, "float64", X) < 1e-11


@pytest.mark.parametrize("name", ["blend", "quantile", "RFF"])
@pytest.mark.parametrize("width", [4, 6])
def test_a_wrong_number_of_columns_fails_at_run_time(fitted, name, width):
    from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

    with pytest.raises(InvalidArgument, match="X"):
        run(to_onnx(fitted(name)), np.zeros((3, width), dtype="float32"))


def test_the_file_says_what_it_is():
    model = hand_made("metric", 0, "quantile")
    model.feature_names_in_ = np.array([f"größe {s}" for s in range(7)], dtype=object)
    graph = to_onnx(model)
    (x,), (y,) = session(graph).get_inputs(), session(graph).get_outputs()
    assert (x.name, x.shape, x.type) == ("X", ["rows", 7], "tensor(float)")
    assert (y.name, y.shape, y.type) == ("y", ["rows"], "tensor(float)")
    meta = session(graph).get_modelmeta()
    assert meta.producer_name == "srff"
    assert meta.graph_name == "SRFFRegressor"
    assert "reads 3 of 7 columns" in meta.description
    assert "reads 3 of 7 columns" in graph.graph.doc_string
    about = meta.custom_metadata_map
    names = model.feature_names_in_
    assert json.loads(about["feature_names"]) == names.tolist()
    assert json.loads(about["used_features"]) == names[model.scale_ > 0].tolist()
    assert about["estimator"] == "SRFFRegressor"
    assert about["srff_version"] == srff.__version__
    assert (about["model_kind"], about["inputs"]) == ("metric", "quantile")
    assert all(node.name for node in graph.graph.node)


# Several targets, rates, classes, categories and gaps.


def with_outputs(model, n, seed=0):
    """The model with random coefficients for so many outputs."""
    rng = np.random.default_rng(seed)
    model.coefficients_ = rng.normal(size=(model.offsets_.size, n))
    model.intercept_ = rng.normal(size=n)
    return model


def classifier(classes, seed=0, **changes):
    """A classifier with random arrays."""
    model = hand_made("scales", seed, **changes)
    if len(classes) > 2:
        with_outputs(model, len(classes), seed)
    made = SRFFClassifier(n_jobs=1)
    vars(made).update({k: v for k, v in vars(model).items() if k.endswith("_")})
    made.classes_ = np.array(classes)
    return made


def table_model(make=SRFFRegressor, *, reads=(0, 1, 2, 3, 4, 5), refuses=False, seed=0):
    """A model of seven columns with categories, random arrays; one that refuses what is missing."""
    rng = np.random.default_rng(seed)
    model = make(n_jobs=1)
    model.levels_ = (
        None,
        np.array(["blue", "größe", "red"], dtype=object),
        None,
        np.array([False, True]),
        np.array([-3, 7, 9]),
        np.array([0.1, 0.2, 1e6, np.inf]),
        None,
    )
    columns = []
    for k, levels in enumerate(model.levels_):
        if levels is None:
            columns.append(Number() if refuses else Number(0.7, indicator=k == 2))
            continue
        table = rng.normal(size=(levels.size + 2, 1 + k % 3))
        if refuses:
            table[-2:] = np.nan
        columns.append(Category(table))
    model.encoding_ = Encoding(tuple(columns))
    source = model.encoding_.source
    model.columns_ = np.flatnonzero(np.isin(source, reads))
    model.n_features_in_, model.model_kind_ = 7, "scales"
    model.block_dtype_ = np.dtype(np.float64)
    model.center_, model.spread_ = rng.normal(size=source.size), rng.uniform(0.5, 2, source.size)
    model.scale_ = np.isin(np.arange(7), reads).astype(float)
    model.frequencies_ = rng.normal(size=(model.columns_.size, 40))
    model.offsets_ = rng.uniform(0, 2 * np.pi, 40)
    model.coefficients_, model.intercept_ = rng.normal(size=40), float(rng.normal())
    model.input_map_ = Standardise(model.center_, model.spread_).take(model.columns_)
    model.feature_names_in_ = np.array(["a", "colour", "size", "on", "code", "x y", "e"], object)
    if make is SRFFClassifier:
        model.classes_ = np.array(["yes", "no", "?"])
        model.classes_.sort()
        with_outputs(model, 3)
    else:
        model.n_targets_ = None
    return model


def table(model, n=60, *, odd=True, seed=1):
    """Rows of such a model: all levels, and where ``odd`` gaps and levels that it does not know."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)).astype(object)
    for k, levels in enumerate(model.levels_):
        if levels is not None:
            X[:, k] = rng.choice(levels.astype(object), n)
        if odd:
            X[k : n : k + 5, k] = None
    if odd:
        X[::9, 1], X[::8, 4], X[::7, 5], X[1::7, 5] = "violet", 8, 0.15, -np.inf
    return X


def columns(graph, X, names):
    """What the graph's inputs are given: texts, numbers and NaN."""
    given = {}
    for port in session(graph).get_inputs():
        x = X[:, [list(names).index(port.name)]]
        if port.type == "tensor(string)":
            given[port.name] = np.where(x == None, "", x)  # noqa: E711
        else:
            dtype = "float32" if port.type == "tensor(float)" else "float64"
            given[port.name] = x.astype(float).astype(dtype)
    return given


@pytest.mark.parametrize("block_dtype", DTYPES)
@pytest.mark.parametrize("transform", ["standard", "quantile"])
def test_several_targets_come_out_as_columns(transform, block_dtype):
    for q in (1, 3):
        model = with_outputs(hand_made("scales", 0, transform, block_dtype=block_dtype), q)
        model.n_targets_ = q
        X = rows(model, 200, 0)
        assert model.predict(X).shape == (200, q)
        assert difference(model, "float32", X) < 1e-5
        assert difference(model, "float64", X) < (1e-5 if block_dtype == "float32" else 1e-11)
        assert run(to_onnx(model), X[:0].astype("float32")).shape == (0, q)


def test_a_target_among_several_that_float32_cannot_hold_is_refused():
    model = with_outputs(hand_made("scales", 0), 2)
    model.n_targets_ = 2
    model.coefficients_[:, 1] *= 1e-60
    model.intercept_[1] *= 1e-60
    with pytest.raises(ValueError, match="dtype='float32' cannot hold the target"):
        to_onnx(model)
    to_onnx(model, dtype="float64")


@pytest.mark.parametrize("loss", ["poisson", Poisson()])
def test_rates_are_exponentials(loss):
    model = hand_made("scales", 0, block_dtype=np.float64).set_params(loss=loss)
    X = rows(model, 200, 0)
    assert (model.predict(X) > 0).all()
    assert difference(model, "float32", X) < 1e-5
    assert difference(model, "float64", X) < 1e-11


def test_a_quantile_is_predicted_as_it_stands_and_an_unknown_link_is_refused():
    model = hand_made("scales", 0, block_dtype=np.float64).set_params(loss=Pinball(0.9))
    assert difference(model, "float64", rows(model, 200, 0)) < 1e-11

    class Odds(Pinball):
        def prediction(self, F):
            return np.exp(F) / 2

    with pytest.raises(TypeError, match="prediction of its own; to_onnx knows those of srff"):
        to_onnx(model.set_params(loss=Odds()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "classes",
    [["no", "yes"], ["a", "größe", ""], [False, True], [3, -7, 2**40], [1.0, 2.0]],
    ids=str,
)
def test_labels_and_chances_are_those_of_the_classifier(classes, dtype):
    model = classifier(sorted(classes), block_dtype=np.float64)
    X = rows(model, 300, 0).astype(dtype)
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    onnx.shape_inference.infer_shapes(graph, check_type=True, strict_mode=True, data_prop=True)
    label, p = session(graph).run(["label", "probabilities"], {"X": X})
    assert label.dtype == (object if isinstance(classes[0], str) else np.int64)
    assert p.dtype == dtype
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-6)
    assert set(label) == set(classes)
    np.testing.assert_array_equal(label, model.predict(X))
    empty = session(graph).run(None, {"X": X[:0]})
    assert [part.shape for part in empty] == [(0,), (0, len(classes))]
    meta = session(graph).get_modelmeta()
    assert "predicts label and probabilities" in meta.description
    assert json.loads(meta.custom_metadata_map["classes"]) == sorted(classes)


def test_chances_of_outputs_far_apart_do_not_overflow():
    for classes in (["a", "b"], ["a", "b", "c"]):
        model = classifier(classes, block_dtype=np.float64)
        model.coefficients_ = model.coefficients_ * 1e4
        X = rows(model, 100, 0).astype("float32")
        p = session(to_onnx(model)).run(["probabilities"], {"X": X})[0]
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-6)


def test_a_class_that_is_no_whole_number_is_refused():
    with pytest.raises(ValueError, match=r"classes_ has 0\.5; to_onnx takes texts and whole"):
        to_onnx(classifier([0.5, 1.0]))


@pytest.mark.parametrize("make", [SRFFRegressor, SRFFClassifier])
def test_a_model_that_reads_nothing_gives_a_constant(make):
    model = table_model(make, reads=())
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    X = table(model, 4)
    assert [port.name for port in session(graph).get_inputs()] == ["a"]
    given = session(graph).run(None, {"a": np.zeros((4, 1), "float32")})
    expected = model.predict(X)
    if make is SRFFRegressor:
        np.testing.assert_allclose(given[0], expected, rtol=1e-6)
    else:
        np.testing.assert_array_equal(given[0], expected)
        np.testing.assert_allclose(given[1], model.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reads", [(0, 1, 2, 3, 4, 5), (1,), (5,), (3, 6), (2, 4)], ids=str)
def test_categories_and_gaps_are_encoded_in_the_graph(reads, dtype):
    model = table_model(reads=reads)
    X = table(model)
    X[:, [0, 2, 6]] = X[:, [0, 2, 6]].astype(dtype)
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    onnx.shape_inference.infer_shapes(graph, check_type=True, strict_mode=True, data_prop=True)
    inputs = session(graph).get_inputs()
    assert [port.name for port in inputs] == [str(model.feature_names_in_[k]) for k in reads]
    assert all(port.shape == ["rows", 1] for port in inputs)
    texts = [port.name for port in inputs if port.type == "tensor(string)"]
    assert texts == (["colour"] if 1 in reads else [])
    given = columns(graph, X, model.feature_names_in_)
    expected = model.predict(X)
    y = session(graph).run(["y"], given)[0]
    assert len(np.unique(expected)) > 3
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-5 if dtype == "float32" else 1e-11)
    none = session(graph).run(["y"], {name: x[:0] for name, x in given.items()})[0]
    assert none.shape == (0,)
    used = session(graph).get_modelmeta().custom_metadata_map["used_features"]
    assert json.loads(used) == [port.name for port in inputs]


def test_a_classifier_of_a_table_agrees_after_a_fit():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    model = table_model()
    X = table(model, 300)
    frame = pd.DataFrame({"colour": X[:, 1], "size": X[:, 2].astype(float), "on": X[:, 3]})
    frame["on"] = frame["on"].astype("boolean")
    value = 2.0 * (frame["colour"] == "red") + frame["size"].fillna(1) + 1.0 * (X[:, 3] == True)  # noqa: E712
    y = np.array(["low", "middle", "high"])[np.digitize(value, [0.3, 1.6])]
    settings = {"refine": None, "alpha": 1e-3, "budget": 3.0, "missing": "impute"}
    fitted = SRFFClassifier(**QUICK, **settings, dtype="float64").fit(frame, y)
    assert {"colour", "size", "on"} == set(fitted.get_feature_names_out())
    graph = to_onnx(fitted)
    given = columns(graph, X[:, 1:4], frame.columns)
    label, p = session(graph).run(["label", "probabilities"], given)
    np.testing.assert_allclose(p, fitted.predict_proba(frame), rtol=0, atol=1e-5)
    assert (label == fitted.predict(frame)).mean() > 0.99


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transform", ["standard", "quantile"])
def test_gaps_in_numbers_are_filled_in_the_graph(transform, dtype):
    model = hand_made("scales", 0, transform, block_dtype=np.float64)
    columns = tuple(Number(0.5, indicator=k % 2 == 0) for k in range(7))
    model.levels_, model.encoding_ = (None,) * 7, Encoding(columns)
    source = model.encoding_.source
    rng = np.random.default_rng(0)
    X = rows(model, 200, 0).astype(dtype)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    model.columns_ = np.array([0, 1, 2, 4, 7])  # a number and its mark, single numbers, a mark
    assert source[model.columns_].tolist() == [0, 0, 1, 2, 4]
    model.center_, model.spread_ = rng.normal(size=source.size), rng.uniform(0.5, 2, source.size)
    model.frequencies_ = rng.normal(size=(5, 40))
    if transform == "standard":
        model.input_map_ = Standardise(model.center_, model.spread_).take(model.columns_)
    else:
        model.input_map_ = Quantile.fit(model.encoding_(X.astype(float))[:, model.columns_])
    assert difference(model, dtype, X) < (1e-5 if dtype == "float32" else 1e-11)


def test_what_predict_refuses_gives_nan():
    model = table_model(refuses=True)
    X = table(model, 5, odd=False)
    X[1, 0], X[2, 1], X[3, 1], X[4, 4] = None, None, "violet", 8
    y = session(to_onnx(model)).run(["y"], columns(to_onnx(model), X, model.feature_names_in_))[0]
    assert np.isnan(y).tolist() == [False, True, True, True, True]
    for row in X[1:]:
        with pytest.raises(ValueError, match=r"missing value or NaN|did not see"):
            model.predict(row[None, :])


def test_an_empty_text_is_a_level_where_the_fit_had_it():
    model = table_model(reads=(1,))
    levels = np.array(["", "größe", "red"], dtype=object)
    model.levels_ = (None, levels, *model.levels_[2:])
    X = table(model, 30, odd=False)
    X[0, 1] = "violet"
    given = {"colour": X[:, [1]]}
    np.testing.assert_allclose(
        session(to_onnx(model)).run(["y"], given)[0], model.predict(X), rtol=0, atol=1e-5
    )


def test_columns_may_have_any_names():
    model = table_model(make=SRFFClassifier, reads=(0, 1, 2, 3))
    model.feature_names_in_ = np.array(
        ["label", "srff.waves", "", "probabilities", "label_", "coef", "g"], dtype=object
    )
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    names = [port.name for port in session(graph).get_inputs()]
    assert names == ["label_", "srff.waves", "x2", "probabilities_"]
    X = table(model)
    given = columns(graph, X[:, :4], names)
    label, p = session(graph).run(["label", "probabilities"], given)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-6)


def test_levels_that_float32_cannot_tell_apart_are_named():
    model = table_model(reads=(5,))
    model.levels_ = (*model.levels_[:5], np.array([0.1, 0.1 + 1e-12, 1.0, 2.0]), None)
    with pytest.raises(ValueError, match=r"levels 0\.1 and 0\.1000.*of the column x y apart.*64"):
        to_onnx(model)
    to_onnx(model, dtype="float64")
    model.levels_ = (*model.levels_[:5], np.array([2**60, 2**60 + 1, 2**61, 2**62]), None)
    with pytest.raises(ValueError, match=r"the column x y apart; make them texts"):
        to_onnx(model, dtype="float64")


def test_the_reference_implementation_of_onnx_encodes_the_same():
    from onnx.reference import ReferenceEvaluator

    model = table_model()
    X = table(model)
    graph = to_onnx(model, dtype="float64")
    given = columns(graph, X, model.feature_names_in_)
    y = ReferenceEvaluator(graph).run(["y"], given)[0]
    np.testing.assert_allclose(y, model.predict(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("model", [SRFFRegressor(), SRFFClassifier(), RFFRegressor()])
def test_a_model_that_is_not_fitted_is_refused(model):
    with pytest.raises(NotFittedError, match=type(model).__name__):
        to_onnx(model)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (LinearRegression(), "LinearRegression"),
        (MeanBaseline(), "MeanBaseline"),
        (Denovas(), "Denovas"),
        (make_pipeline(StandardScaler(), SRFFRegressor()), "Pipeline"),
        (SRFFRegressor, "class SRFFRegressor"),
        (None, "NoneType"),
    ],
)
def test_an_estimator_of_another_kind_is_named(model, name):
    with pytest.raises(TypeError, match=rf"{name}.*SRFFRegressor, SRFFClassifier or RFFRegressor"):
        to_onnx(model)


@pytest.mark.parametrize("dtype", ["float16", "auto", None, np.float32])
def test_another_dtype_is_refused(dtype):
    with pytest.raises(ValueError, match=r"^dtype=.*accepted: 'float32', 'float64'"):
        to_onnx(hand_made("scales", 0), dtype=dtype)


def test_without_onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'srff[onnx]'")):
        to_onnx(hand_made("scales", 0))


def test_the_package_offers_it():
    assert srff.to_onnx is to_onnx


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not beside the tests")
@pytest.mark.parametrize("name", ["blend", "quantile", "float32", "RFF", "mean"])
def test_the_code_of_the_page_predicts_what_the_model_predicts(fitted, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 5)).astype("float32")
    if name == "mean":
        model = SRFFRegressor(**QUICK).fit(rng.normal(size=(200, 5)), rng.normal(size=200))
    else:
        model = fitted(name)
    names = {"model": model, "X_new": X}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    expected = model.predict(X)
    spread = expected.std() or 1.0
    np.testing.assert_allclose(names["y_onnx"], expected, rtol=0, atol=1e-5 * spread)
    exact = 1e-5 if model.block_dtype_ == np.float32 else 1e-12
    np.testing.assert_allclose(names["y_numpy"], expected, rtol=0, atol=exact * spread)
