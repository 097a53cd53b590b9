"""The screens: main effects, also fast ones, pairs without main effects, silence on noise."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import prepare
from srff.core.coefficients import ridge
from srff.core.features import Expansion
from srff.core.kernels import Gaussian
from srff.selection.config import ScreenConfig
from srff.selection.screen import marginal_screen, screen


def prepared(X, y, weight=None, device="cpu"):
    return prepare(
        X,
        y[:, None],
        weight,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=10,
        budget=1.0,
        validation=None,
        n_jobs=1,
        device=device,
    )


def screened(X, y, model=None, weight=None, most=40, device="cpu"):
    with prepared(X, y, weight, device) as problem:
        model = model(problem) if model else None
        config = ScreenConfig(handed_over=most)
        return screen(problem.training, problem.usable, config, model=model).significant()


@pytest.fixture
def inputs():
    return np.random.RandomState(0).standard_normal((800, 12))


def noise(seed=1):
    return np.random.RandomState(seed).standard_normal(800)


def test_a_fast_main_effect_is_found_with_its_frequency(inputs):
    found = screened(inputs, np.sin(6 * inputs[:, 4]) + 0.5 * noise())
    assert found.columns.tolist() == [4]
    assert 4 < found.scale[0] < 8


def test_the_stronger_effect_comes_first_and_most_is_kept_to(inputs):
    y = inputs[:, 7] + 0.4 * inputs[:, 2] + 0.5 * noise()
    assert screened(inputs, y).columns.tolist() == [7, 2]
    assert screened(inputs, y, most=1).columns.tolist() == [7]


def test_a_product_without_main_effects_is_found(inputs):
    found = screened(inputs, inputs[:, 3] * inputs[:, 8] + 0.3 * noise())
    assert {3, 8} <= set(found.columns)
    assert set(found.columns) == {3, 8}


def test_nothing_is_handed_over_on_noise(inputs):
    assert sum(screened(inputs, noise(seed)).columns.size == 0 for seed in range(10)) >= 9


def test_a_constant_column_and_a_single_column_do_no_harm(inputs):
    X = np.column_stack([inputs[:, 0], np.ones(800)])
    assert screened(X, inputs[:, 0] + noise()).columns.tolist() == [0]


def test_residuals_of_a_model_show_what_is_missing(inputs):
    y = 2 * np.sin(inputs[:, 1]) + 0.5 * np.cos(2 * inputs[:, 5]) + 0.2 * noise()

    def model(problem):
        rng = np.random.RandomState(2)
        columns = np.array([1])
        W, b = rng.standard_normal((1, 20)), rng.uniform(0, 2 * np.pi, 20)
        a = ridge(problem.training.statistics(W, b, columns), 1e-6)
        return Expansion(columns, W, b, a, np.zeros(1))

    assert set(screened(inputs, y).columns) == {1, 5}
    assert screened(inputs, y, model).columns.tolist() == [5]


def test_a_weight_of_two_is_the_row_written_twice(inputs):
    y = inputs[:, 7] + noise()
    counts = np.random.RandomState(3).randint(1, 3, 800).astype(float)
    weighted = screened(inputs, y, weight=counts)
    rows = np.repeat(np.arange(800), counts.astype(int))
    repeated = screened(inputs[rows], y[rows])
    np.testing.assert_array_equal(weighted.columns, repeated.columns)


def test_torch_finds_the_same(inputs):
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    y = inputs[:, 7] + inputs[:, 3] * inputs[:, 8] + 0.3 * noise()
    one, other = screened(inputs, y), screened(inputs, y, device="cpu:0")
    # The two of a pair have the same score up to rounding.
    assert one.columns[0] == other.columns[0] == 7
    assert set(one.columns) == set(other.columns) == {3, 7, 8}


def test_the_scores_are_p_values_under_independence(inputs):
    scores = []
    for seed in range(20):
        with prepared(inputs, noise(seed)) as problem:
            scores.append(marginal_screen(problem.training)[0])
    # The best of four bands: below 5 % about four times as often as one band, at most.
    assert 0.02 < np.mean(np.exp(-np.concatenate(scores)) < 0.05) < 0.25
