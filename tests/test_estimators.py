"""What the estimators promise beyond scikit-learn's conventions."""

from __future__ import annotations

import re
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from small_problems import ring_rows
from srff import RFFRegressor, SRFFRegressor
from srff._utils.progress import Progress
from srff.core.features import random_features

PAPER = {"solver": "alternating", "refine": None, "random_state": 0}
SIMPLEX = {"solver": "profile", "refine": None, "random_state": 0}
QUICK = PAPER | {"n_components": 50, "alpha": 1e-3, "max_iter": 5, "tol": 0.1}


@pytest.fixture(params=[PAPER, SIMPLEX], ids=["alternating", "profile"], scope="module")
def fitted(request):
    model = SRFFRegressor(n_components=40, budget=2, tol=1e-2, **request.param)
    return model.fit(*ring_rows())


def test_columns_that_are_not_selected_change_not_one_bit(ring, fitted):
    X, _ = ring
    other = X.copy()
    support = fitted.get_support()
    assert 0 < support.sum() < X.shape[1]
    other[:, ~support] = np.random.RandomState(1).uniform(-1e30, 1e30, (300, (~support).sum()))
    np.testing.assert_array_equal(fitted.predict(other), fitted.predict(X))


def test_the_reduced_model_is_the_same_over_the_selected_columns(ring, fitted):
    X, _ = ring
    small = fitted.reduced()
    support = fitted.get_support()
    assert small.n_features_in_ == support.sum()
    assert small.get_support().all()
    np.testing.assert_array_equal(small.predict(X[:, support]), fitted.predict(X))
    assert fitted.n_features_in_ == 6  # the whole model is left as it was
    with pytest.raises(ValueError, match="features"):
        small.predict(X)


def test_the_reduced_model_keeps_names_and_drops_validation_rows(ring):
    pd = pytest.importorskip("pandas")
    X, y = ring
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SRFFRegressor(
        n_components=60, alpha=1e-3, budget=2, tol=1e-3, validation=(frame[:50], y[:50]), **PAPER
    ).fit(frame[50:], y[50:])
    small = model.reduced()
    assert list(small.feature_names_in_) == list(model.get_feature_names_out())
    assert small.validation is None
    chosen = frame[list(small.feature_names_in_)]
    np.testing.assert_array_equal(small.predict(chosen), model.predict(frame))


def test_prediction_is_intercept_plus_features_times_coefficients(ring, fitted):
    X, _ = ring
    s = fitted.get_support()
    U = (X[:, s] - fitted.center_[s]) / fitted.spread_[s]
    Z = random_features(U, fitted.frequencies_, fitted.offsets_)
    np.testing.assert_allclose(
        fitted.predict(X), fitted.intercept_ + Z @ fitted.coefficients_, rtol=1e-6
    )


@pytest.mark.parametrize("n_jobs", [2, 7])
def test_the_model_is_bitwise_the_same_for_any_number_of_threads(n_jobs):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((6000, 5))
    y = np.sin(X[:, 0] * X[:, 1]) + rng.normal(0, 0.1, 6000)
    options = PAPER | {"n_components": 64, "alpha": 1e-3, "max_iter": 3, "tol": 0.05}
    one = SRFFRegressor(n_jobs=1, **options).fit(X, y)
    many = SRFFRegressor(n_jobs=n_jobs, **options).fit(X, y)
    for name in ("scale_", "coefficients_", "alpha_", "frequencies_"):
        np.testing.assert_array_equal(getattr(many, name), getattr(one, name))
    np.testing.assert_array_equal(many.predict(X), one.predict(X))


def test_predictions_are_bitwise_the_same_for_any_threads_and_memory_order(ring):
    model = RFFRegressor(n_components=600, alpha=1e-2, dtype="float32", random_state=0).fit(*ring)
    X = np.random.RandomState(1).standard_normal((40_000, 6))  # several blocks to a thread's turn
    expected = model.set_params(n_jobs=1).predict(X)
    s = slice(20_000, 20_300)
    Z = random_features((X[s] - model.center_) / model.spread_, model.frequencies_, model.offsets_)
    error = expected[s] - (model.intercept_ + Z @ model.coefficients_)
    assert np.abs(error).max() < 1e-5 * expected.std()
    for n_jobs in (2, 3, 7):
        again = model.set_params(n_jobs=n_jobs).predict(np.asfortranarray(X))
        np.testing.assert_array_equal(again, expected)


ALL = [
    SRFFRegressor(n_components=30, max_iter=8, tol=1e-2, **PAPER),
    SRFFRegressor(n_components=50, **SIMPLEX),
    RFFRegressor(n_components=50, random_state=0),
]


@pytest.mark.parametrize("estimator", ALL)
def test_integer_weights_equal_repeated_rows(ring, estimator):
    X, y = ring
    counts = np.random.RandomState(0).randint(0, 3, 300)
    model = clone(estimator)
    weighted = model.fit(X, y, sample_weight=counts).predict(X)
    score = model.score(X, y, sample_weight=counts)
    repeated = clone(estimator).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted, repeated.predict(X))
    repeated_score = repeated.score(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert score == pytest.approx(repeated_score, rel=1e-6)


def test_rff_is_ridge_regression_on_its_features(ring):
    X, y = ring
    model = RFFRegressor(alpha=0.01, n_components=50, random_state=0).fit(X, y)
    Z = random_features((X - X.mean(0)) / X.std(0), model.frequencies_, model.offsets_)
    ridge = Ridge(alpha=300 * 0.01, fit_intercept=False).fit(Z, y - y.mean())
    np.testing.assert_allclose(model.coefficients_, ridge.coef_, rtol=1e-6)
    assert np.unique(model.scale_).size == 1
    assert model.scale_[0] == pytest.approx(1 / model.sigma_)


@pytest.mark.parametrize("estimator", ALL)
def test_validation_rows_of_ones_own_choose_alpha_and_are_not_learned_from(ring, estimator):
    X, y = ring
    model = clone(estimator).set_params(validation=(X[200:], y[200:])).fit(X[:200], y[:200])
    n_budgets = 3 if model.get_params().get("solver") == "profile" else 1
    assert model.path_["alpha"].size == 50 * n_budgets
    k = np.nanargmin(np.where(model.path_["stopped"], np.inf, model.path_["validation_error"]))
    assert model.alpha_ == model.path_["alpha"][k]
    error = np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2))
    assert error == pytest.approx(model.path_["validation_error"][k], rel=1e-5)


def test_predictions_follow_the_units_of_the_data(ring):
    X, y = ring
    model = SRFFRegressor(**QUICK).fit(X, y)
    shift, unit = np.arange(6.0) * 100, 10.0 ** np.arange(-3, 3)
    moved = SRFFRegressor(**QUICK).fit(X * unit + shift, 1e4 * y + 5e5)
    np.testing.assert_allclose(moved.scale_, model.scale_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        moved.predict(X * unit + shift), 1e4 * model.predict(X) + 5e5, rtol=1e-6
    )


def test_a_column_given_twice_shares_its_scale(ring):
    X, y = ring
    twice = np.column_stack([X, X[:, 0]])
    model = SRFFRegressor(n_components=100, alpha=1e-4, **PAPER).fit(twice, y)
    assert model.scale_[1] > 0
    assert model.scale_[0] + model.scale_[6] > 0
    assert model.score(twice, y) > 0.8


def test_the_memory_limit_does_not_change_the_answer_beyond_rounding(ring):
    X, y = ring
    free = SRFFRegressor(**QUICK).fit(X, y)
    tight = SRFFRegressor(memory_limit="1.2MB", n_jobs=1, **QUICK).fit(X, y)
    np.testing.assert_allclose(tight.predict(X), free.predict(X), rtol=1e-6)
    with pytest.raises(ValueError, match="too small"):
        SRFFRegressor(memory_limit=1000, **QUICK).fit(X, y)


def test_a_prediction_needs_no_room_for_products_of_features(ring):
    X, y = ring
    model = RFFRegressor(n_components=600, alpha=1e-2, n_jobs=1, random_state=0).fit(X, y)
    free = model.predict(X)
    tight = model.set_params(memory_limit="3MB").predict(X)  # 600 x 600 sums would be 9 MB
    np.testing.assert_allclose(tight, free, rtol=1e-6)


def test_fortran_order_float32_and_lists_are_accepted(ring):
    X, y = ring
    expected = SRFFRegressor(**QUICK).fit(X, y).predict(X)
    for form in (np.asfortranarray(X), X.tolist()):
        again = SRFFRegressor(**QUICK).fit(form, y).predict(form)
        np.testing.assert_array_equal(again, expected)
    single = SRFFRegressor(**QUICK).fit(X.astype(np.float32), y)
    assert np.corrcoef(single.predict(X.astype(np.float32)), expected)[0, 1] > 0.95


def test_the_callback_hears_of_progress(ring):
    reports: list[Progress] = []
    SRFFRegressor(n_components=30, max_iter=5, tol=0.1, callback=reports.append, **PAPER).fit(*ring)
    assert reports
    assert all(0 < r.done <= r.total for r in reports)
    done = [r.done for r in reports]
    assert done == sorted(set(done))  # by more than one where an alpha has ended early
    assert reports[-1].done == reports[-1].total
    assert "best error" in reports[-1].message


def test_an_interrupted_fit_leaves_no_threads(ring):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((5000, 3))
    before = set(threading.enumerate())

    def interrupt(report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SRFFRegressor(n_components=64, n_jobs=3, callback=interrupt, **PAPER).fit(X, X[:, 0])
    assert set(threading.enumerate()) == before


def test_importances_are_shares(fitted):
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(fitted.feature_importances_ * fitted.budget_, fitted.scale_)


def test_torch_on_the_cpu_gives_the_same_variables(ring):
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    X, y = ring
    options = QUICK | {"n_components": 60, "max_iter": 10, "tol": 1e-2}
    numpy_model = SRFFRegressor(**options).fit(X, y)
    # "cpu" is NumPy; with a number it is torch's own CPU device.
    torch_model = SRFFRegressor(device="cpu:0", **options).fit(X, y)
    np.testing.assert_allclose(torch_model.scale_, numpy_model.scale_, atol=1e-6)
    np.testing.assert_allclose(torch_model.predict(X), numpy_model.predict(X), rtol=1e-5)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e150])
def test_the_magnitude_of_the_target_does_not_matter(ring, magnitude):
    X, y = ring
    # Nothing to choose: which rows are held out depends on the values of the target.
    options = {"n_components": 30, "max_iter": 4, "random_state": 0, "refine": None}
    options |= {"alpha": 1e-3, "budget": 2.0}
    plain, scaled = (SRFFRegressor(**options).fit(X, y * unit) for unit in (1.0, magnitude))
    np.testing.assert_array_equal(plain.scale_ > 0, scaled.scale_ > 0)
    np.testing.assert_allclose(plain.predict(X), scaled.predict(X) / magnitude, atol=1e-6)
    with pytest.warns(UserWarning, match="The target is constant"):
        assert not SRFFRegressor(**options).fit(X, y * 1e-310).scale_.any()


def test_a_fitted_model_shows_its_variables_in_terminals_and_notebooks(ring):
    X, y = ring
    names = ["<b>bold</b>", "beta", "c", "d", "e", "f"]
    model = SRFFRegressor(n_components=30, max_iter=4, random_state=0)
    unfitted = repr(model)
    assert "variables" not in unfitted + model._repr_html_()
    model.fit(pd.DataFrame(X, columns=names), y)
    first, last = repr(model).rsplit("\n", 1)
    assert first == unfitted
    assert last.startswith(f"{int(model.get_support().sum())} of 6 variables: ")
    assert {"<b>bold</b>", "beta"} <= set(re.split("[:;,] | \\(", last))
    assert "; error on new rows: " in last
    assert "; 300 rows held out in 5 folds); " in last
    assert "&lt;b&gt;bold" in model._repr_html_()
    bundle = model._repr_mimebundle_()
    assert bundle["text/html"] == model._repr_html_() or "variables: " in bundle["text/html"]
    assert bundle["text/plain"] == repr(model)
    with pytest.warns(UserWarning, match="constant"):
        assert "none of 6 variables matters" in repr(SRFFRegressor().fit(X, np.ones(300)))
