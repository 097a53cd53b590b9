"""Intervals around predictions, from the errors of rows held out."""

import itertools

import numpy as np
import pytest

import srff
from srff import RFFRegressor, SRFFRegressor
from srff.core.losses import SQUARED, Poisson
from srff.estimators.intervals import quantiles
from srff.inspect.intervals import interval_of

QUICK = {"effort": "quick", "n_components": 40, "max_iter": 6, "random_state": 0}


def rows(n, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-2, 2, (n, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.standard_t(4, n)


@pytest.fixture(scope="module")
def model():
    return SRFFRegressor(**QUICK).fit(*rows(400))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_new_rows_are_inside_as_often_as_is_said(model, level):
    X, y = rows(5000, seed=1)
    said, ends = model.predict(X, interval=level)
    np.testing.assert_array_equal(said, model.predict(X))
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    # 400 errors tell a share with a standard error of up to 2.5 %.
    assert abs(inside.mean() - level) < 0.06


def test_errors_of_rows_that_a_model_learned_from_are_too_small():
    """What held-out rows are for: a smooth model of few rows is nearer to its own."""
    rng = np.random.RandomState(0)
    X, X_new = rng.uniform(-2, 2, (2, 60, 12))
    y, y_new = X[:, 0] + rng.normal(size=60), X_new[:, 0] + rng.normal(size=60)
    model = SRFFRegressor(**QUICK, n_features_to_select=8).fit(X, y)
    own, held = np.abs(y - model.predict(X)), np.abs(model.held_out_errors_)
    assert np.quantile(own, 0.9) < 0.8 * np.quantile(held, 0.9)
    _, ends = model.predict(X_new, interval=0.8)
    assert ((ends[:, 0] <= y_new) & (y_new <= ends[:, 1])).mean() > 0.65


def test_a_higher_share_has_a_wider_interval(model):
    X, _ = rows(50, seed=2)
    ends = [model.predict(X, interval=level)[1] for level in (0.5, 0.9, 0.99)]
    for narrow, wide in itertools.pairwise(ends):
        assert (wide[:, 0] < narrow[:, 0]).all()
        assert (wide[:, 1] > narrow[:, 1]).all()


def test_ends_are_order_statistics():
    rng = np.random.RandomState(0)
    errors = rng.normal(size=(99, 2))
    kept = quantiles(errors, np.ones(99))
    np.testing.assert_array_equal(kept, np.sort(errors, axis=0))
    said = rng.normal(size=(3, 2))
    low, high = interval_of(SQUARED, said, kept, 0.9)
    np.testing.assert_array_equal(low, said + np.sort(errors, axis=0)[4])
    np.testing.assert_array_equal(high, said + np.sort(errors, axis=0)[94])


def test_many_errors_are_kept_as_quantiles():
    errors = np.random.RandomState(0).permutation(10_000)[:, None] / 10_000
    kept = quantiles(errors, np.ones(10_000))
    assert kept.shape == (1999, 1)
    np.testing.assert_allclose(kept[:, 0], np.arange(1, 2000) / 2000, atol=2e-4)


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.RandomState(0)
    errors, weight = rng.normal(size=(200, 1)), rng.randint(1, 4, 200)
    of_copies = quantiles(np.repeat(errors, weight, axis=0), np.ones(weight.sum()))
    of_weights = quantiles(errors, weight.astype(float))
    at = np.linspace(0.02, 0.98, 49)
    few, many = (np.quantile(q[:, 0], at) for q in (of_weights, of_copies))
    np.testing.assert_allclose(few, many, atol=0.15)


def test_units_of_the_target_are_those_of_the_ends(model):
    X, y = rows(400)
    other = SRFFRegressor(**QUICK).fit(X, 4 * y)
    np.testing.assert_array_equal(
        other.predict(X, interval=0.9)[1], 4 * model.predict(X, interval=0.9)[1]
    )


def test_several_targets():
    X, y = rows(200)
    model = SRFFRegressor(**QUICK).fit(X, np.stack([y, 100 * X[:, 2]], axis=1))
    said, ends = model.predict(X[:7], interval=0.8)
    assert said.shape == (7, 2)
    assert ends.shape == (7, 2, 2)
    assert (ends[..., 0] < ends[..., 1]).all()


def test_counts_are_not_below_zero():
    rng = np.random.RandomState(0)
    X = rng.uniform(-1, 1, (500, 3))
    rate = np.exp(2 * X[:, 0])
    model = SRFFRegressor(**QUICK, loss="poisson").fit(X, 1.0 * rng.poisson(rate))
    _, ends = model.predict(X, interval=0.9)
    assert (ends[:, 0] >= 0).all()
    wide = np.diff(ends, axis=1)[:, 0]
    assert np.median(wide[rate > 3]) > 1.3 * np.median(wide[rate < 0.5])
    low, _ = interval_of(Poisson(), np.array([[4.0]]), np.array([[-1.0], [0.0], [2.0]]), 0.5)
    assert low[0, 0] == 2.0  # 4 - 1 sqrt(4)


def test_they_are_saved(model, tmp_path):
    srff.save(model, tmp_path / "model.srff")
    X, _ = rows(20, seed=3)
    loaded = srff.load(tmp_path / "model.srff")
    np.testing.assert_array_equal(
        loaded.predict(X, interval=0.9)[1], model.predict(X, interval=0.9)[1]
    )
    np.testing.assert_array_equal(
        model.reduced().predict(X[:, model.get_support()], interval=0.9)[1],
        model.predict(X, interval=0.9)[1],
    )


@pytest.mark.parametrize("level", [0, 1, 2.0, True, "a", float("nan")])
def test_what_is_no_share_is_refused(model, level):
    with pytest.raises(ValueError, match=r"interval=.* must be a number between 0 and 1"):
        model.predict(rows(5)[0], interval=level)


def test_more_than_the_rows_can_tell_is_refused(model):
    with pytest.raises(ValueError, match=r"as good as 400 equal .* the most is 0\.995"):
        model.predict(rows(5)[0], interval=0.999)


def test_without_rows_held_out_it_says_so():
    X, y = rows(100)
    model = SRFFRegressor(refine=None, alpha=0.1, budget=1.0, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match=r"needs the errors of rows held out"):
        model.fit(X, y).predict(X, interval=0.9)
    with pytest.raises(TypeError, match="interval"):
        RFFRegressor(alpha=0.1, random_state=0).fit(X, y).predict(X, interval=0.9)


def test_the_errors_of_few_rows_are_of_columns_that_these_had_no_part_in_choosing():
    """Forty rows of noise in 300 columns beside one that matters: folds choose other columns."""
    rng = np.random.RandomState(0)
    X, X_new = rng.normal(size=(40, 300)), rng.normal(size=(4000, 300))
    y, y_new = X[:, 0] + rng.normal(size=40), X_new[:, 0] + rng.normal(size=4000)
    model = SRFFRegressor(**QUICK, n_features_to_select=5).fit(X, y)
    _, ends = model.predict(X_new, interval=0.8)
    assert ((ends[:, 0] <= y_new) & (y_new <= ends[:, 1])).mean() > 0.72


def test_where_nothing_is_found_they_are_those_of_the_target():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(200, 5)), rng.exponential(size=200)
    model = SRFFRegressor(**QUICK).fit(X, y)
    assert not model.get_support().any()
    _, ends = model.predict(X, interval=0.9)
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    assert abs(inside.mean() - 0.9) < 0.02
