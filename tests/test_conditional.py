"""Columns drawn given all others: the regressions, the laws, the copies, and near copies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import RidgeCV

from srff.data.conditional.copies import Conditional, calibrated, learned_chances
from srff.data.conditional.laws import Latent, LevelLaw
from srff.data.conditional.near_copies import clusters
from srff.data.conditional.predictors import normal_scores, predictors
from srff.data.conditional.regressions import PENALTIES, Regressions


def chain(n, d, rho, seed=0):
    """Normal columns, each of correlation rho with the one before."""
    X = np.random.RandomState(seed).standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def numbers(X):
    """Rows to learn from and rows aside, of columns of numbers."""
    aside = np.arange(len(X)) % 2 == 0
    return Conditional(X, (None,) * X.shape[1], np.flatnonzero(~aside), np.flatnonzero(aside))


def drawn(conditional, unit, count=1, seed=0):
    """Copies of a unit's columns: (count, rows, columns)."""
    rng = np.random.default_rng(seed)
    return conditional.copies(np.array(unit), rng).draw(rng, count)


# Regressions.


@pytest.mark.parametrize(("n", "p"), [(60, 10), (40, 80)])
def test_one_decomposition_gives_the_ridge_regression_without_any_predictor(n, p):
    rng = np.random.RandomState(0)
    few = rng.standard_normal((4, p))
    P, P_new = (rng.standard_normal((k, 4)) @ few + rng.standard_normal((k, p)) for k in (n, 7))
    t = P[:, :3] @ [1.0, 2.0, 3.0] + rng.standard_normal(n)
    for without in ([1, 4], [0], []):
        others = np.setdiff1d(np.arange(p), without)
        expected = RidgeCV(alphas=n * PENALTIES).fit(P[:, others], t)
        means, left = Regressions(P).means(t, np.array(without, dtype=int), P_new)
        np.testing.assert_allclose(means, expected.predict(P_new[:, others]), rtol=1e-8)
        assert np.mean(left**2) == pytest.approx(-expected.best_score_, rel=1e-6)


def test_a_target_that_nothing_predicts_has_its_mean():
    rng = np.random.RandomState(1)
    P = rng.standard_normal((200, 30))
    means, _ = Regressions(P).means(rng.standard_normal(200), np.zeros(0, int), P[:5])
    assert np.abs(means).max() < 0.2


# Laws.


def test_normal_scores_are_those_of_mean_ranks():
    values = np.array([3.0, 1.0, 1.0, 9.0])
    expected = stats.norm.ppf((stats.rankdata(values) - 0.5) / 4)
    np.testing.assert_allclose(normal_scores(values), expected)


def test_a_score_maps_back_to_the_value_that_it_came_from():
    column = np.random.RandomState(0).choice([0.0, 1.0, 5.0, np.nan], 300)
    latent = Latent.of(column, np.random.default_rng(0))
    known = ~np.isnan(column)
    np.testing.assert_array_equal(latent.values(latent.scores[known]), column[known])
    assert np.isnan(latent.scores[~known]).all()
    assert latent.scores[known].mean() == pytest.approx(0.0, abs=1e-9)


def test_residuals_of_levels_hold_nothing_of_what_their_chances_came_from():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(4000)
    chances = np.stack([1 / (1 + np.exp(z)), 1 - 1 / (1 + np.exp(z))], axis=1)
    place = (rng.random(4000) > chances[:, 0]).astype(int)
    law = LevelLaw.of(np.array([7.0, 9.0]), chances, place, rng)
    assert stats.kstest(law.residuals, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(law.residuals, z)[0, 1]) < 0.05
    np.testing.assert_array_equal(law.values(law.residuals), np.array([7.0, 9.0])[place])


def test_means_that_are_too_far_out_are_drawn_in():
    rng = np.random.RandomState(0)
    z = rng.standard_normal(500)
    means = 3 * (0.5 * z + rng.standard_normal(500)) + 4
    a_b = np.polyfit(means, z, 1)
    expected = np.polyval(a_b, means)
    np.testing.assert_allclose(calibrated(means, z, np.ones(500, bool)), expected)
    np.testing.assert_allclose(calibrated(-means, z, np.ones(500, bool)), z.mean())


def test_chances_follow_the_predictors_and_no_level_is_impossible():
    rng = np.random.RandomState(0)
    P = rng.standard_normal((2000, 3))
    place = (P[:, 0] + 0.5 * rng.standard_normal(2000) > 0).astype(int)
    chances = learned_chances(P, place, 3, np.array([[3.0, 0, 0], [-3.0, 0, 0]]))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert chances[0, 1] > 0.95
    assert chances[1, 0] > 0.95
    assert chances.min() > 0


# Copies.


def test_copies_stand_to_other_columns_as_the_column_does():
    X = chain(4000, 5, 0.8)
    conditional = numbers(X)
    copy = drawn(conditional, [2])[0, :, 0]
    real = X[conditional.aside]
    for j in (0, 1, 3, 4):
        expected = np.corrcoef(real[:, 2], real[:, j])[0, 1]
        assert np.corrcoef(copy, real[:, j])[0, 1] == pytest.approx(expected, abs=0.05)
    # Beyond what its neighbours tell a copy knows nothing of the column.
    both = np.column_stack([np.ones(len(real)), real[:, [1, 3]]])
    left = [v - both @ np.linalg.lstsq(both, v, rcond=None)[0] for v in (real[:, 2], copy)]
    assert abs(np.corrcoef(left)[0, 1]) < 0.05
    np.testing.assert_allclose(np.sort(copy)[50:-50], np.sort(real[:, 2])[50:-50], atol=0.2)


def test_copies_follow_a_bend_where_there_are_rows_enough():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((3000, 4))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * rng.standard_normal(3000)
    conditional = numbers(X)
    copy = drawn(conditional, [1])[0, :, 0]
    square = X[conditional.aside, 0] ** 2
    assert np.corrcoef(copy, square)[0, 1] > 0.85


def test_copies_of_a_column_whose_square_is_known_have_its_size():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((3000, 4))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * rng.standard_normal(3000)
    conditional = numbers(X)
    copy, real = drawn(conditional, [0])[0, :, 0], X[conditional.aside, 0]
    assert np.corrcoef(np.abs(copy), np.abs(real))[0, 1] > 0.6
    assert np.corrcoef(copy, real)[0, 1] == pytest.approx(0.0, abs=0.1)  # the sign is lost


def test_copies_of_heavy_tails_are_far_out_where_the_others_are():
    rng = np.random.RandomState(0)
    X = chain(3000, 6, 0.5) / np.sqrt(rng.chisquare(3, (3000, 1)) / 3)
    conditional = numbers(X)
    copies, real = drawn(conditional, [5], 10)[:, :, 0], X[conditional.aside]
    size = np.abs(real[:, :4]).mean(axis=1)

    def far(column):
        return stats.spearmanr(np.abs(column), size)[0]

    assert far(real[:, 5]) > 0.25
    assert np.mean([far(copy) for copy in copies]) > 0.6 * far(real[:, 5])


def test_columns_of_a_unit_are_drawn_together():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((2000, 4))
    X[:, 1] = 0.95 * X[:, 0] + 0.3 * rng.standard_normal(2000)
    both = drawn(numbers(X), [0, 1])[0]
    assert np.corrcoef(both.T)[0, 1] > 0.9
    alone = drawn(numbers(X), [3])[0, :, 0]
    assert abs(np.corrcoef(alone, X[::2, 3])[0, 1]) < 0.1


def test_gaps_are_drawn_as_well():
    X = chain(3000, 3, 0.8)
    X[X[:, 0] > 0.8, 1] = np.nan
    conditional = numbers(X)
    copy = drawn(conditional, [1])[0, :, 0]
    gaps, far = np.isnan(copy), X[conditional.aside, 0] > 0.8
    assert gaps.mean() == pytest.approx(np.isnan(X[:, 1]).mean(), abs=0.04)
    assert gaps[far].mean() > 0.6
    assert gaps[~far].mean() < 0.1


def test_levels_are_drawn_given_numbers_and_numbers_of_few_values_as_levels():
    X = chain(3000, 2, 0.0)
    level = (X[:, 0] + 0.3 * np.random.RandomState(1).standard_normal(3000) > 0).astype(float)
    codes = np.column_stack([X, level])
    for levels in ((None, None, np.array(["a", "b"])), (None, None, None)):
        conditional = Conditional(codes, levels, np.arange(1500), np.arange(1500, 3000))
        copy = drawn(conditional, [2])[0, :, 0]
        assert set(copy) == {0.0, 1.0}
        assert np.mean(copy == (codes[1500:, 0] > 0)) > 0.8
        assert np.mean(copy != codes[1500:, 2]) > 0.02


def test_a_missing_level_is_one_of_the_levels():
    level = np.random.RandomState(0).choice([0.0, 1.0, np.nan], 400)
    codes = np.column_stack([level, np.random.RandomState(1).standard_normal(400)])
    levels = (np.array(["a", "b"], dtype=object), None)
    copy = drawn(Conditional(codes, levels, np.arange(200), np.arange(200, 400)), [0])[0, :, 0]
    assert np.isnan(copy).mean() == pytest.approx(1 / 3, abs=0.1)


# Near copies.


def test_columns_that_are_almost_functions_of_one_another_are_one_cluster():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((500, 8))
    X[:, 3] = X[:, 0] - X[:, 1]  # three that make a fourth superfluous
    X[:, 5] = X[:, 4] + 0.1 * rng.standard_normal(500)
    X[:, 7] = np.exp(3 * X[:, 6])  # the same ranks
    found = clusters(predictors(X, (None,) * 8), 8)
    assert found.tolist() == [0, 0, 1, 0, 2, 2, 3, 3]


def test_columns_that_only_move_together_are_not():
    X = chain(2000, 6, 0.9)
    assert clusters(predictors(X, (None,) * 6), 6).tolist() == [*range(6)]


def test_a_category_in_other_words_is_a_near_copy():
    rng = np.random.RandomState(0)
    code = rng.randint(0, 3, 300).astype(float)
    codes = np.column_stack([code, 2 - code, rng.standard_normal(300)])
    levels = (np.array(["a", "b", "c"]), np.array(["x", "y", "z"]), None)
    assert clusters(predictors(codes, levels), 3).tolist() == [0, 0, 1]


def test_with_fewer_rows_than_columns_only_pairs_are_looked_at():
    X = np.random.RandomState(0).standard_normal((30, 60))
    X[:, 7] = -2 * X[:, 3]
    found = clusters(predictors(X, (None,) * 60), 60)
    assert found.max() == 58
    assert found[3] == found[7]


def test_a_level_of_minus_two_is_no_gap():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.choice([-2.0, 0.0, 2.0], 200), rng.normal(size=200)], axis=1)
    every = np.arange(200)
    drawn = Conditional(codes, (None, None), every, every).copies(np.array([0]), rng).draw(rng, 5)
    assert set(np.unique(drawn)) == {-2.0, 0.0, 2.0}
    codes[::4, 0] = np.nan
    drawn = Conditional(codes, (None, None), every, every).copies(np.array([0]), rng).draw(rng, 5)
    assert np.isnan(drawn).mean() == pytest.approx(0.25, abs=0.1)
