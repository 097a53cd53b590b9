"""Bad and odd input: a clear error that names what is wrong, or a correct answer."""

from __future__ import annotations

import numpy as np
import pytest

from srff import RFFRegressor, SRFFRegressor
from srff._utils.parameters import check_names

PAPER = {"solver": "alternating", "refine": None, "random_state": 0}
# The smallest fit there is, where it does not matter what is fitted.
ANY = PAPER | {"n_components": 10, "alpha": 1.0, "max_iter": 1, "tol": 1.0}

BAD = [
    ({"alpha": 0}, "alpha=0 must be a finite number above 0 or 'auto'"),
    ({"alpha": -1.0}, "alpha=-1.0"),
    ({"alpha": "none"}, "alpha='none'"),
    ({"alpha": np.nan}, "alpha=nan"),
    ({"budget": 0.0}, "budget=0.0"),
    ({"budget": True}, "budget=True"),
    ({"budget": np.inf}, "budget=inf"),
    ({"kernel": "cosine"}, "kernel='cosine' is unknown; accepted names are"),
    ({"n_components": 0}, "n_components=0 must be an integer of at least 1"),
    ({"n_components": 2.5}, "n_components=2.5"),
    ({"dtype": "float16"}, "dtype='float16' must be 'auto', float32 or float64"),
    ({"dtype": "nonsense"}, "dtype='nonsense'"),
    ({"memory_limit": "much"}, "memory_limit='much'"),
    ({"device": 1}, "device=1"),
    ({"validation": 1.5}, "validation=1.5 must be None, a fraction"),
    ({"validation": "half"}, "validation='half'"),
    ({"validation": (1, 2, 3)}, r"split 0 is 1; a pair \(train, test\) of indices"),
    ({"validation": 1}, "number of folds of at least 2"),
]
BAD_SRFF = [
    ({"n_components": "many"}, "n_components='many' must be .* or 'auto'"),
    ({"n_components": None}, "n_components=None"),
    ({"max_iter": 0}, "max_iter=0"),
    ({"max_iter": 2.5}, "max_iter=2.5"),
    ({"max_iter": True}, "max_iter=True"),
    ({"tol": float("nan")}, "tol=nan"),
    ({"tol": -1}, "tol=-1"),
    ({"tol": "small"}, "tol='small'"),
    ({"solver": "newton"}, "solver='newton' is unknown; accepted: 'profile', 'alternating'"),
    ({"solver": None}, "solver=None is unknown"),
    ({"refine": "all"}, "refine='all' is unknown; accepted: 'auto', .*None"),
    ({"refine": True}, "refine=True is unknown"),
    ({"inputs": "raw"}, "inputs='raw' is unknown; accepted: 'auto', 'standard', 'quantile'"),
    ({"inputs": None}, "inputs=None is unknown"),
    ({"inputs": "quantile", "refine": None}, "inputs='quantile' needs"),
    ({"inputs": "quantile", "solver": "alternating"}, "inputs='quantile' needs"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD + BAD_SRFF)
def test_a_bad_parameter_is_named_with_its_value_and_what_is_accepted(ring, parameters, message):
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(**parameters).fit(*ring)


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_the_same_for_rff(ring, parameters, message):
    with pytest.raises(ValueError, match=message):
        RFFRegressor(**parameters).fit(*ring)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(300, -1.0), "sample_weight must not be negative"),
        (np.zeros(300), "sample_weight is zero for every row"),
        (np.ones(299), "inconsistent"),
        (np.ones((300, 2)), "one-dimensional"),
        (np.full(300, np.nan), "NaN"),
    ],
)
def test_bad_weights(ring, weight, message):
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(alpha=1.0).fit(*ring, sample_weight=weight)


def test_one_weight_for_all_rows_is_no_weight(ring):
    options = PAPER | {"alpha": 1e-2, "n_components": 20, "max_iter": 3, "tol": 0.1}
    plain = SRFFRegressor(**options).fit(*ring).predict(ring[0])
    weighted = SRFFRegressor(**options).fit(*ring, sample_weight=2.0).predict(ring[0])
    np.testing.assert_allclose(weighted, plain, rtol=1e-8)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(ring, value):
    X, y = ring
    bad = X.copy()
    bad[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        SRFFRegressor().fit(bad, y)
    model = SRFFRegressor(**ANY).fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(bad)


def test_text_in_a_numeric_column_is_refused(ring):
    X, y = ring
    with pytest.raises(ValueError, match="In column 0 there is 'many'; numbers are accepted"):
        SRFFRegressor().fit(np.where(X > 2, "many", X.astype(str)), y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_column_of_a_bad_value_is_named(ring, library):
    frames = pytest.importorskip(library)
    X, y = ring
    columns = {name: X[:, k] for k, name in enumerate("abcdef")}
    model = SRFFRegressor(**ANY).fit(frames.DataFrame(columns), y)
    text = frames.DataFrame(columns | {"c": ["red"] * 300})
    missing = frames.DataFrame(columns | {"d": np.r_[X[:7, 3], np.nan, X[8:, 3]]})
    # Text is a category, but not in a column that was numbers when the model was fitted.
    with pytest.raises(ValueError, match="In column 'c' there is 'red'; numbers are accepted"):
        model.predict(text)
    for call in (lambda frame: SRFFRegressor().fit(frame, y), model.predict):
        with pytest.raises(ValueError, match="In column 'd', row 7, there is nan"):
            call(missing)


def test_columns_of_the_same_name_are_refused(ring):
    pandas = pytest.importorskip("pandas")
    X, y = ring
    # Recent versions of scikit-learn refuse them by themselves.
    with pytest.raises(ValueError, match="'a'"):
        SRFFRegressor().fit(pandas.DataFrame(X, columns=list("aabcde")), y)
    with pytest.raises(ValueError, match="same name: 'a'"):
        check_names(np.array(list("aabcde"), dtype=object))


def test_wrong_width_at_predict(ring):
    model = SRFFRegressor(**ANY).fit(*ring)
    with pytest.raises(ValueError, match="6 features"):
        model.predict(np.zeros((3, 5)))


def test_a_constant_target_is_predicted_and_nothing_selected(ring):
    X, _ = ring
    with pytest.warns(UserWarning, match="target is constant"):
        model = SRFFRegressor(random_state=0).fit(X, np.full(300, 7.5))
    np.testing.assert_array_equal(model.predict(X), np.full(300, 7.5))
    assert not model.get_support().any()
    assert not model.feature_importances_.any()
    with pytest.raises(ValueError, match="No variable was selected"):
        model.reduced()


def test_constant_inputs_predict_the_mean():
    y = np.arange(30.0)
    with pytest.warns(UserWarning, match="Every input is constant"):
        model = SRFFRegressor(random_state=0).fit(np.ones((30, 2)), y)
    np.testing.assert_allclose(model.predict(np.ones((2, 2))), y.mean())


def test_a_constant_column_gets_scale_zero(ring):
    X, y = ring
    X = np.column_stack([X, np.full(300, 1e12 + 0.3)])
    model = SRFFRegressor(n_components=60, alpha=1e-3, tol=1e-3, **PAPER).fit(X, y)
    assert model.scale_[6] == 0
    assert model.spread_[6] == 1
    other = X.copy()
    other[:, 6] = -5.0
    np.testing.assert_array_equal(model.predict(other), model.predict(X))


def test_columns_of_very_different_magnitudes(ring):
    X, y = ring
    options = PAPER | {"n_components": 60, "alpha": 1e-3, "max_iter": 10, "tol": 1e-2}
    plain = SRFFRegressor(**options).fit(X, y)
    units = np.array([1e-12, 1e12, 1.0, 1e12, 1e-12, 1.0])
    scaled = SRFFRegressor(**options).fit(X * units, y)
    np.testing.assert_allclose(scaled.scale_, plain.scale_, atol=1e-5)
    np.testing.assert_allclose(scaled.predict(X * units), plain.predict(X), atol=1e-4)


@pytest.mark.parametrize("options", [PAPER, {"refine": None}, {}], ids=["paper", "simplex", "auto"])
@pytest.mark.parametrize("n", [2, 3, 5, 12, 21])
def test_fewer_rows_than_neighbours(n, options):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    options = {"n_components": 20, "random_state": 0, "max_iter": 100, "tol": 1e-2} | options
    model = SRFFRegressor(**options).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="1 sample"):
        SRFFRegressor().fit(np.ones((1, 2)), np.ones(1))


def test_one_column_is_enough(ring):
    X, y = ring
    model = SRFFRegressor(n_components=50, random_state=0).fit(X[:, :1], y)
    assert model.get_support().tolist() == [True]


@pytest.mark.parametrize("options", [PAPER, {"refine": None}, {}], ids=["paper", "simplex", "auto"])
def test_the_same_row_many_times(options):
    X, y = np.ones((40, 2)), np.ones(40)
    X[0], y[0] = 2.0, 3.0
    model = SRFFRegressor(**{"n_components": 20, "random_state": 0, "tol": 1e-2} | options).fit(
        X, y
    )
    assert np.isfinite(model.predict(X)).all()
