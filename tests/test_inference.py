"""p-values by copies, false discovery control over splits, stability, and the check of copies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from srff.inference.multiple import (
    combined_p_values,
    compound_e_values,
    confirmed_by_e_values,
    confirmed_in_split,
    e_values_of_splits,
)
from srff.inference.randomisation import ENOUGH_AS_GOOD, MOST_COPIES, missed
from srff.inference.sampler_check import told_apart
from srff.inference.stability import stability

# One unit on some rows.


def tried(own, means):
    """The p-value of a mean loss beside given means of copies, in the order of drawing."""
    given = iter(means)
    rows = np.full(4, own)

    def copied(count):
        return np.array([np.full(4, next(given)) for _ in range(count)])

    return missed(rows, np.ones(4), copied).p_value


def test_a_null_unit_has_uniform_p_values_whatever_the_law_of_the_losses():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(400):
        losses = rng.pareto(1.5, size=(MOST_COPIES + 1, 5))
        drawn = iter(losses[1:])
        copied = lambda count, drawn=drawn: np.array([next(drawn) for _ in range(count)])  # noqa: E731
        p.append(missed(losses[0], np.ones(5), copied).p_value)
    for level in (0.01, 0.05, 0.1, 0.5):
        assert np.mean(np.array(p) <= level) <= level + 3 * np.sqrt(level * (1 - level) / 400)
    assert np.mean(np.array(p) <= 0.5) > 0.4


def test_drawing_ends_when_enough_copies_are_as_good():
    # Every second one is as good: the tenth of these is the twentieth copy.
    assert tried(1.0, np.tile([2.0, 0.5], 500)) == ENOUGH_AS_GOOD / 20
    # All are: a unit that the model does not use.
    assert tried(1.0, np.ones(1000)) == 1.0


def test_a_unit_that_no_copy_matches_has_the_smallest_p_value_of_its_copies():
    means = 2.0 + 0.1 * np.random.RandomState(0).standard_normal(1000)
    assert tried(1.0, means) == 1 / (MOST_COPIES + 1)
    assert tried(1.0, np.append(0.5, means)) == 2 / (MOST_COPIES + 1)


def test_a_unit_far_from_all_copies_has_a_p_value_below_that():
    means = 2.0 + 0.001 * np.random.RandomState(0).standard_normal(100)
    z = (means.mean() - 1.0) / means.std(ddof=1)
    assert tried(1.0, means) == pytest.approx(1 / (1 + z**2))


def test_rows_count_by_their_weights_and_the_rise_is_of_each():
    losses, weight = np.array([1.0, 1.0, 5.0]), np.array([1.0, 1.0, 0.0])
    copies = np.array([0.9, 0.9, 100.0])  # worse on the row that does not count alone
    found = missed(losses, weight, lambda count: np.tile(copies, (count, 1)))
    assert found.p_value == 1.0
    np.testing.assert_allclose(found.rise, copies - losses)


# Several units, several splits.


def test_a_split_confirms_by_benjamini_and_hochberg_among_those_that_it_chose():
    p = np.array([0.001, 0.03, 0.9, 0.04, 0.0])
    chosen = np.array([True, True, True, False, False])
    # 0.03 <= 2/3 0.05; not chosen ones do not count however small.
    assert confirmed_in_split(p, chosen, 0.05).tolist() == [True, True, False, False, False]
    assert confirmed_in_split(p, chosen, 0.04).tolist() == [True, False, False, False, False]
    assert not confirmed_in_split(p, np.zeros(5, bool), 0.5).any()


def test_e_values_of_a_split_share_what_its_rate_allows():
    confirmed = np.array([True, False, True, False])
    np.testing.assert_allclose(compound_e_values(confirmed, 0.05), [40.0, 0, 40.0, 0])
    assert not compound_e_values(np.zeros(4, bool), 0.05).any()


def test_units_that_half_of_the_splits_confirm_are_confirmed():
    d, q = 100, 0.1
    one, two = np.zeros((2, d), bool)
    one[[3, 4]] = two[[3, 4]] = True
    nothing = np.zeros(d, bool)

    def confirmed(*splits):
        e_values = e_values_of_splits(np.stack(splits), q / 2)
        return np.flatnonzero(confirmed_by_e_values(e_values, q)).tolist()

    assert confirmed(one, two) == [3, 4]
    assert confirmed(one, nothing) == [3, 4]
    assert confirmed(one, nothing, nothing) == []


def test_what_one_split_alone_confirms_is_not_confirmed_by_much_elsewhere():
    d, q = 20, 0.1
    splits = np.zeros((5, d), bool)
    splits[:4, :6] = True
    splits[4, 7] = True  # alone, so that its split gives it six times what others have
    mean = np.mean([compound_e_values(each, q / 2) for each in splits], axis=0)
    assert np.flatnonzero(confirmed_by_e_values(mean, q)).tolist() == [*range(6), 7]
    e_values = e_values_of_splits(splits, q / 2)
    assert np.flatnonzero(confirmed_by_e_values(e_values, q)).tolist() == [*range(6)]


def test_false_discoveries_of_dependent_splits_stay_below_the_rate():
    rng = np.random.default_rng(0)
    d, q, false = 50, 0.2, []
    for _ in range(400):
        shared = rng.standard_normal(d)
        shared[:5] -= 4.0
        e = []
        for _ in range(5):
            z = 0.9 * shared + np.sqrt(1 - 0.81) * rng.standard_normal(d)
            p = stats.norm.cdf(z)
            e.append(confirmed_in_split(p, np.ones(d, bool), q / 2))
        sure = confirmed_by_e_values(e_values_of_splits(np.stack(e), q / 2), q)
        false.append(sure[5:].sum() / max(sure.sum(), 1))
    assert 0 < np.mean(false) <= q


def test_the_combined_p_value_is_twice_the_median_of_the_corrected_ones():
    p = np.array([[0.01, 1.0], [0.02, 0.001], [0.03, 1.0]])
    chosen = np.array([[True, False], [True, True], [True, False]])
    np.testing.assert_allclose(combined_p_values(p, chosen), [2 * 0.03, 1.0])


def test_stability_is_one_where_all_agree_and_zero_by_chance():
    same = np.tile(np.arange(20) < 5, (5, 1))
    assert stability(same) == (1.0, 1.0, 1.0)
    rng = np.random.RandomState(0)
    drawn = [stability([rng.permutation(20) < 5 for _ in range(10)])[0] for _ in range(200)]
    assert np.mean(drawn) == pytest.approx(0.0, abs=0.02)
    assert np.isnan(stability(np.zeros((5, 20), bool))).all()


def test_the_interval_of_stability_covers_its_mean():
    rng = np.random.RandomState(1)
    share = np.r_[np.full(5, 0.9), np.full(15, 0.1)]
    found = np.array([stability(rng.random_sample((60, 20)) < share) for _ in range(200)])
    inside = (found[:, 1] <= found[:, 0].mean()) & (found[:, 0].mean() <= found[:, 2])
    assert 0.88 <= inside.mean() <= 1.0


# Copies that can be told from real rows.


def rows(n=1500):
    rng = np.random.default_rng(0)
    others = rng.standard_normal((n, 3))
    return rng, others, others[:, :1] + 0.5 * rng.standard_normal((n, 1))


def test_copies_of_the_right_law_are_not_told_apart():
    rng, others, real = rows()
    drawn = others[:, :1] + 0.5 * rng.standard_normal(real.shape)
    found = told_apart(others, real, drawn, rng)
    assert found.share == pytest.approx(0.5, abs=0.05)
    assert not found.doubtful


def test_copies_that_ignore_the_other_columns_are():
    rng, others, real = rows()
    found = told_apart(others, real, rng.permutation(real), rng)
    assert found.share > 0.7
    assert found.doubtful


def test_copies_with_the_right_mean_and_a_wrong_spread_are():
    rng, others, real = rows()
    drawn = others[:, :1] + 1.0 * rng.standard_normal(real.shape)
    assert told_apart(others, real, drawn, rng).doubtful


def test_equal_copies_are_right_half_of_the_time():
    rng, others, real = rows(200)
    found = told_apart(others, real, real, rng)
    assert found.share == pytest.approx(0.5, abs=0.1)
    assert not found.doubtful
