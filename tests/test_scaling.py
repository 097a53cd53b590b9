"""Maps of single inputs: standard units, normal scores, and when the scores are worth a try."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from srff.data.moments import center_and_spread
from srff.data.scaling import N_KNOTS, Quantile, Standardise, needs_quantiles


def standard(X):
    return Standardise(*center_and_spread(X)[:2])


@pytest.fixture
def skewed():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.lognormal(0, 2, 3000), rng.standard_cauchy(3000)])
    return np.column_stack([X, rng.randint(0, 4, 3000), np.full(3000, 7.0)])


def test_standard_units_have_mean_zero_and_unit_spread(skewed):
    U = standard(skewed)(skewed)
    np.testing.assert_allclose(U.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(U.std(0), [1, 1, 1, 0], atol=1e-9)


def test_normal_scores_are_normal_and_keep_the_order(skewed):
    U = Quantile.fit(skewed)(skewed)
    np.testing.assert_allclose(U.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(U[:, :3].std(0), 1, atol=1e-9)
    for s in (0, 1):
        assert stats.kstest(U[:, s], "norm").statistic < 0.01
        np.testing.assert_array_equal(np.argsort(U[:, s]), np.argsort(skewed[:, s]))


def test_few_rows_have_a_knot_each_and_many_a_fixed_number(skewed):
    few, many = Quantile.fit(skewed[:100]), Quantile.fit(skewed)
    assert few.knots[0].size == 100
    assert many.knots[0].size <= N_KNOTS
    ranks = (stats.rankdata(skewed[:100, 0]) - 0.5) / 100
    expected = stats.norm.ppf(ranks)
    np.testing.assert_allclose(few(skewed[:100])[:, 0], expected / expected.std(), rtol=1e-6)


def test_ties_have_one_score_and_a_constant_column_is_zero(skewed):
    U = Quantile.fit(skewed)(skewed)
    for value in range(4):
        assert np.unique(U[skewed[:, 2] == value, 2]).size == 1
    assert np.unique(U[:, 2]).size == 4
    assert not U[:, 3].any()


def test_an_outlier_is_no_further_than_the_last_value_seen(skewed):
    quantile = Quantile.fit(skewed)
    far = np.array([[1e30, -1e30, 99.0, 8.0]])
    U = quantile(skewed)
    np.testing.assert_allclose(quantile(far)[0, :3], [U[:, 0].max(), U[:, 1].min(), U[:, 2].max()])
    assert np.abs(quantile(far)).max() < 5


def test_the_map_of_some_columns_is_the_map_of_a_table_of_them(skewed):
    columns = np.array([2, 0])
    for transform in (standard(skewed), Quantile.fit(skewed)):
        part = transform.take(columns)
        assert part.name == transform.name
        np.testing.assert_array_equal(part(skewed[:, columns]), transform(skewed)[:, columns])
        assert transform.take(np.zeros(0, dtype=int))(skewed[:, :0]).shape == (3000, 0)


@given(arrays(np.float64, (30, 1), elements=st.floats(-1e6, 1e6)))
def test_normal_scores_of_anything_are_finite_and_do_not_fall(X):
    quantile = Quantile.fit(X)
    scores = quantile(np.sort(X, axis=0))
    assert np.isfinite(scores).all()
    assert (np.diff(scores[:, 0]) >= 0).all()


def test_skewed_and_heavy_tailed_inputs_alone_need_quantiles(skewed):
    rng = np.random.RandomState(1)
    plain = np.column_stack(
        [rng.standard_normal(2000), rng.uniform(size=2000), rng.randint(0, 2, 2000), np.ones(2000)]
    )
    assert not needs_quantiles(plain, standard(plain))
    heavy = plain.copy()
    heavy[:, 0] = rng.standard_t(2, 2000)
    assert needs_quantiles(heavy, standard(heavy))
    assert needs_quantiles(skewed, standard(skewed))
