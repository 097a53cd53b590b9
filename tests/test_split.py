"""Choices among rows, and standardisation."""

from __future__ import annotations

import numpy as np
import pytest

from srff.core.bandwidth import neighbour_sigma
from srff.data.kinds import written_out
from srff.data.moments import center_and_spread, moments
from srff.data.split import Ends, key_multipliers, merge_rows, row_keys, sample_rows, split_rows


@pytest.fixture
def table():
    rng = np.random.RandomState(0)
    return rng.standard_normal((400, 3)), rng.standard_normal((400, 1))


def keys(X, y, seed=0):
    return row_keys(X, y, key_multipliers(np.random.RandomState(seed), X.shape[1]))


def test_keys_depend_on_the_values_and_the_seed_alone(table):
    X, y = table
    order = np.random.RandomState(1).permutation(400)
    np.testing.assert_array_equal(keys(X[order], y[order]), keys(X, y)[order])
    assert np.unique(keys(X, y)).size == 400
    assert (keys(X, y, 1) != keys(X, y)).all()
    np.testing.assert_array_equal(
        keys(np.asfortranarray(X.astype(np.float32)), y),
        keys(X.astype(np.float32).astype(float), y),
    )


@pytest.mark.parametrize(
    "unit",
    [
        lambda v: np.ldexp(v, 700),
        lambda v: -np.ldexp(-v, -900),
        lambda v: 2.54 * v,
        lambda v: 1.8 * v + 32,
        lambda v: 1e-290 * v,
        lambda v: v / 3.6,
    ],
)
def test_no_unit_changes_the_key_of_a_row_between_the_ends(unit):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(5000, 3)), rng.integers(1, 3, 5000), np.ones(5000)])
    X[:, 1] = np.exp(2 * X[:, 1])
    X[7, 0] = -1e9  # all others are far from it and from one another's places
    y = 1e6 + rng.normal(size=(5000, 1))
    multipliers = key_multipliers(np.random.RandomState(0), 5)
    plain = row_keys(X, y, multipliers, ends=Ends.of(X, y))
    other = row_keys(unit(X), unit(y), multipliers, ends=Ends.of(unit(X), unit(y)))
    np.testing.assert_array_equal(other, plain)
    assert np.unique(plain).size == 5000


def test_the_ends_of_all_rows_are_those_of_their_parts(table):
    X, y = table
    whole, parts = Ends.of(X, y), Ends.of(X[:7], y[:7]).plus(Ends.of(X[7:], y[7:]))
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_array_equal(parts.high, whole.high)


def test_minus_zero_is_zero():
    y = np.zeros((1, 1))
    np.testing.assert_array_equal(keys(np.array([[-0.0]]), y), keys(np.array([[0.0]]), y))


def test_a_small_change_of_one_value_changes_the_key(table):
    X, y = table
    changed = X.copy()
    changed[:, 2] = np.nextafter(changed[:, 2], np.inf)
    assert (keys(changed, y) != keys(X, y)).all()


def test_an_input_and_a_further_target_do_not_change_places_unseen():
    X, Y = np.array([[1.0], [2.0]]), np.array([[0.0, 2.0, 5.0], [0.0, 1.0, 5.0]])
    assert np.unique(keys(X, Y)).size == 2
    assert np.unique(keys(X, Y[:, [1, 0, 2]] * [1, 1, 0])).size == 2
    assert np.unique(keys(np.ones((2, 1)), np.array([[0.0, 3.0, 1.0], [1.0, 3.0, 0.0]]))).size == 2


def test_a_split_by_weights_is_the_split_of_repeated_rows(table):
    X, y = table
    counts = np.random.RandomState(2).randint(1, 4, 400)
    k = keys(X, y)
    held = split_rows(k, counts.astype(float), 0.25)
    repeated = split_rows(np.repeat(k, counts), None, 0.25)
    np.testing.assert_array_equal(np.repeat(held, counts), repeated)
    assert counts[held].sum() / counts.sum() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(("n", "expected"), [(1, 0), (2, 1), (3, 1), (10, 2)])
def test_a_split_of_few_rows_leaves_one_on_either_side(n, expected):
    k = keys(np.arange(float(n))[:, None], np.zeros((n, 1)))
    assert split_rows(k, None, 0.2).sum() == expected


def test_copies_of_a_row_never_stand_on_both_sides(table):
    X, y = table
    k = keys(np.vstack([X, X]), np.vstack([y, y]))
    held = split_rows(k, None, 0.3)
    np.testing.assert_array_equal(held[:400], held[400:])


def test_a_sample_has_distinct_rows(table):
    X, y = table
    rows = sample_rows(keys(np.vstack([X, X]), np.vstack([y, y])), 150)
    assert rows.size == 150
    assert np.unique(np.vstack([X, X])[rows], axis=0).shape[0] == 150


@pytest.mark.parametrize("weighted", [True, False])
def test_equal_rows_are_merged_into_one_of_their_joint_weight(table, weighted):
    X, y = table
    counts = np.random.RandomState(2).randint(1, 4, 400)
    rows = np.random.RandomState(3).permutation(np.repeat(np.arange(400), counts))
    weight = np.random.RandomState(4).uniform(0.5, 2, rows.size) if weighted else None
    same, k = keys(X, y)[rows], keys(X, y, 1)[rows]
    kinds, mass = merge_rows(same, weight, k)
    order = np.argsort(keys(X, y, 1))
    np.testing.assert_array_equal(X[rows[kinds]], X[order])
    np.testing.assert_array_equal(y[rows[kinds]], y[order])
    expected = np.bincount(rows, weights=weight, minlength=400)[order]
    np.testing.assert_allclose(mass, expected, rtol=1e-12)


def test_rows_without_copies_keep_no_weights_of_one(table):
    X, y = table
    for weight in (None, np.ones(400)):
        assert merge_rows(keys(X, y), weight, keys(X, y))[1] is None
    assert merge_rows(keys(X, y), np.full(400, 2.0), keys(X, y))[1].tolist() == [2.0] * 400


@pytest.mark.parametrize("magnitude", [1e-200, 1e-12, 1.0, 1e12, 1e200])
def test_standardisation_of_any_magnitude(magnitude):
    x = np.random.RandomState(0).standard_normal((500, 1))
    center, spread, varies = center_and_spread(x * magnitude + 3 * magnitude)
    assert varies.all()
    np.testing.assert_allclose(center, magnitude * (x.mean(0) + 3), rtol=1e-10)
    np.testing.assert_allclose(spread, magnitude * x.std(0), rtol=1e-10)


def test_weights_are_repetitions_in_the_standardisation():
    rng = np.random.RandomState(0)
    X, counts = rng.standard_normal((100, 2)), rng.randint(1, 5, 100)
    left, right = moments(X, counts.astype(float)), moments(np.repeat(X, counts, axis=0))
    for one, other in zip(left.standard(), right.standard(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(left.varies, right.varies)


def test_a_constant_column_does_not_vary_and_divides_by_one():
    X = np.column_stack([np.full(5, 1e12 + 0.1), np.arange(5.0)])
    center, spread, varies = center_and_spread(X)
    assert varies.tolist() == [False, True]
    assert spread[0] == 1.0
    assert center[0] == pytest.approx(1e12 + 0.1)


def test_sigma_is_the_median_distance_to_the_neighbours():
    X = np.random.RandomState(0).standard_normal((60, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    expected = np.median(np.sort(D, axis=1)[:, 1:21])
    assert neighbour_sigma(X) == pytest.approx(expected)


def test_sigma_with_fewer_rows_than_neighbours_uses_all_others():
    X = np.array([[0.0], [1.0], [3.0]])
    assert neighbour_sigma(X) == 2.0
    assert neighbour_sigma(X[:1]) == 1.0


def test_rows_are_written_as_often_as_they_count_while_there_is_room():
    X, Y = np.arange(3.0)[:, None], np.arange(3.0)[:, None]
    rows, targets, weight = written_out(X, Y, np.array([4.0, 1.4, 0.2]), 20_000)
    assert rows[:, 0].tolist() == targets[:, 0].tolist() == [0, 0, 0, 0, 1, 2]
    assert weight.tolist() == [1, 1, 1, 1, 1.4, 0.2]
    many = np.array([3e6, 1e6, 1e6])
    rows, _, weight = written_out(X, Y, many, 20_000)
    assert len(rows) == 20_000
    np.testing.assert_allclose(np.bincount(rows[:, 0].astype(int), weight), many)
