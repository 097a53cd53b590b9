"""Ridge solutions against scikit-learn's, the loss against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from srff import objectives
from srff.features import Statistics


@pytest.fixture
def problem():
    rng = np.random.RandomState(0)
    Z, Y = rng.standard_normal((50, 8)), rng.standard_normal((50, 2))
    return Z, Y, Statistics(Z.T @ Z, Z.T @ Y, float(np.sum(Y**2)), 50.0)


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 1.0])
def test_ridge_is_scikit_learns(problem, alpha):
    Z, Y, statistics = problem
    expected = Ridge(alpha=50 * alpha, fit_intercept=False).fit(Z, Y).coef_.T
    np.testing.assert_allclose(objectives.ridge(statistics, alpha), expected, rtol=1e-8)
    path = objectives.ridge_path(statistics, np.array([0.3, alpha]))
    np.testing.assert_allclose(path[1], expected, rtol=1e-8)


def test_losses_are_what_they_say(problem):
    Z, Y, statistics = problem
    a = np.random.RandomState(1).standard_normal((8, 2))
    mse = np.sum((Y - Z @ a) ** 2) / 50
    assert objectives.squared_loss(statistics, a) == pytest.approx(mse)
    expected = mse + 0.7 * np.sum(a**2)
    assert objectives.penalised_loss(statistics, a, 0.7) == pytest.approx(expected)


def test_a_singular_matrix_and_a_tiny_alpha_still_give_the_minimum_norm_solution():
    Z = np.array([[1.0, 1.0], [2.0, 2.0]])
    statistics = Statistics(Z.T @ Z, Z.T @ np.ones((2, 1)), 2.0, 2.0)
    a = objectives.ridge(statistics, 1e-300)
    np.testing.assert_allclose(a, np.linalg.pinv(Z) @ np.ones((2, 1)), rtol=1e-6)
