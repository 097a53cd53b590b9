"""Units and order never matter: keys of rows and columns, and models that follow from them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from small_problems import prepare
from srff import SRFFClassifier, SRFFRegressor
from srff.core.kernels import Gaussian
from srff.data.content import content_of, dense_ranks
from srff.data.dataset import MemoryDataset
from srff.data.encoding.level_means import fold_keys
from srff.data.split import key_multipliers

SMALL = {"n_components": 20, "max_iter": 3, "random_state": 0, "n_jobs": 1}


@pytest.fixture
def table():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.standard_normal((200, 3)), rng.randint(0, 3, (200, 2))])
    return X, rng.standard_normal((200, 1))


def content(X, Y, seed=0):
    return content_of(X, Y, key_multipliers(np.random.RandomState(seed), X.shape[1]))


def smooth(n, d=6):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.3, n)


def test_equal_numbers_have_equal_ranks():
    ranks = dense_ranks(np.array([[3.0, -1.0, 3.0, -0.0, 0.0], [1, 2, 3, 4, 4]]))
    assert ranks.tolist() == [[2, 0, 2, 1, 1], [0, 1, 2, 3, 3]]


@pytest.mark.parametrize(
    "increasing",
    [lambda v: 4 * v, lambda v: v + 3.7, np.exp, lambda v: 1e-30 * v, np.arctan],
    ids=["times four", "moved", "exp", "tiny", "arctan"],
)
def test_no_increasing_map_of_inputs_or_target_changes_a_key(table, increasing):
    X, Y = table
    one, other = content(X, Y), content(increasing(X), increasing(Y))
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.columns, other.columns)


def test_keys_follow_rows_and_columns_wherever_they_stand(table):
    X, Y = table
    rows, columns = np.random.RandomState(1).permutation(200), np.array([3, 0, 4, 2, 1])
    one, other = content(X, Y), content(X[rows][:, columns], Y[rows])
    np.testing.assert_array_equal(other.rows, one.rows[rows])
    np.testing.assert_array_equal(other.columns, one.columns[columns])
    assert np.unique(one.rows).size == 200
    assert np.unique(one.columns).size == 5


def test_copies_of_rows_change_no_key(table):
    X, Y = table
    rows = np.repeat(np.arange(200), np.random.RandomState(1).randint(1, 4, 200))
    one, other = content(X, Y), content(X[rows], Y[rows])
    np.testing.assert_array_equal(other.rows, one.rows[rows])
    np.testing.assert_array_equal(other.columns, one.columns)


def test_another_seed_gives_other_keys(table):
    assert (content(*table).rows != content(*table, seed=1).rows).all()
    assert (content(*table).columns != content(*table, seed=1).columns).all()


def test_columns_that_only_other_columns_tell_apart_have_keys_of_their_own():
    X = np.random.RandomState(0).randint(0, 2, (60, 30))
    X[:30] = np.sort(X[:30], axis=0)  # many columns have the same counts beside the target
    Y = np.repeat([[0.0], [1.0]], 30, axis=0)
    assert np.unique(content(X, Y).columns).size == np.unique(X, axis=1).shape[1]


def test_rows_of_a_table_that_looks_the_same_with_columns_changed_about_are_not_merged():
    X = np.array(list(product([1.0, 2.0, 3.0], repeat=2)))  # has (1, 2) and (2, 1)
    Y = X.sum(axis=1, keepdims=True)
    found = content(X, Y)
    assert np.unique(found.rows).size == 6  # they cannot be told from one another
    assert np.unique(found.same).size == 9
    multipliers = key_multipliers(np.random.RandomState(0), 2)
    assert MemoryDataset(X, Y, None, multipliers, None, 1).n_rows == 9


def test_a_table_without_columns_has_keys_too():
    found = content(np.zeros((3, 0)), np.array([[1.0], [2.0], [1.0]]))
    assert np.unique(found.rows).size == 2
    assert found.columns.size == 0


def test_the_places_of_several_targets_count(table):
    X, Y = table
    Y = np.column_stack([Y, X[:, 0]])
    assert (content(X, Y).rows != content(X, Y[:, ::-1]).rows).all()


def test_a_column_has_its_draws_wherever_it_stands(table):
    X, Y = table
    columns = np.array([3, 0, 4, 2, 1])

    def draws(X):
        options = {"kernel": Gaussian(), "n_components": 10, "validation": 0.25}
        with prepare(X, Y, None, np.random.RandomState(0), **options) as problem:
            return problem.E

    np.testing.assert_array_equal(draws(X[:, columns]), draws(X)[columns])


def test_folds_of_means_by_level_know_no_units(table):
    X, Y = table
    keys = fold_keys(X, Y, 0)
    np.testing.assert_array_equal(keys, fold_keys(3 * X + 1, Y * 7, 0))
    assert not np.array_equal(keys, fold_keys(X, Y, 1))


@pytest.mark.parametrize("n", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_four_times_the_inputs_and_the_target_give_four_times_the_predictions(n):
    X, y = smooth(n)
    one, other = SRFFRegressor(**SMALL).fit(X, y), SRFFRegressor(**SMALL).fit(4 * X, 4 * y)
    np.testing.assert_array_equal(other.predict(4 * X), 4 * one.predict(X))
    np.testing.assert_array_equal(other.scale_, one.scale_)


def test_another_origin_gives_the_same_model():
    X, y = smooth(200)
    one, other = SRFFRegressor(**SMALL).fit(X, y), SRFFRegressor(**SMALL).fit(X + 3.7, y - 2)
    np.testing.assert_allclose(other.predict(X + 3.7), one.predict(X) - 2, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [False, True])
def test_the_order_of_the_columns_changes_no_selection(classes):
    X, y = smooth(400, 8)
    if classes:
        y = y > 0
    estimator = (SRFFClassifier if classes else SRFFRegressor)(**SMALL)
    selected = estimator.fit(X, y).get_support()
    assert selected.any()
    for seed in range(3):
        order = np.random.RandomState(seed).permutation(8)
        np.testing.assert_array_equal(estimator.fit(X[:, order], y).get_support(), selected[order])
