"""Ridge solutions against scikit-learn's, the loss against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.linear_model import Ridge

from srff.core import coefficients, objectives
from srff.core.features import Statistics


@pytest.fixture
def problem():
    rng = np.random.RandomState(0)
    Z, Y = rng.standard_normal((50, 8)), rng.standard_normal((50, 2))
    return Z, Y, Statistics(Z.T @ Z, Z.T @ Y, float(np.sum(Y**2)), 50.0)


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 1.0])
def test_ridge_is_scikit_learns(problem, alpha):
    Z, Y, statistics = problem
    expected = Ridge(alpha=50 * alpha, fit_intercept=False).fit(Z, Y).coef_.T
    np.testing.assert_allclose(coefficients.ridge(statistics, alpha), expected, rtol=1e-8)
    path = coefficients.ridge_path(statistics, np.array([0.3, alpha]))
    np.testing.assert_allclose(path[1], expected, rtol=1e-8)


def test_losses_are_what_they_say(problem):
    Z, Y, statistics = problem
    a = np.random.RandomState(1).standard_normal((8, 2))
    mse = np.sum((Y - Z @ a) ** 2) / 50
    assert coefficients.squared_loss(statistics, a) == pytest.approx(mse)
    expected = mse + 0.7 * np.sum(a**2)
    assert coefficients.penalised_loss(statistics, a, 0.7) == pytest.approx(expected)


def test_a_singular_matrix_and_a_tiny_alpha_still_give_the_minimum_norm_solution():
    Z = np.array([[1.0, 1.0], [2.0, 2.0]])
    statistics = Statistics(Z.T @ Z, Z.T @ np.ones((2, 1)), 2.0, 2.0)
    a = coefficients.ridge(statistics, 1e-300)
    np.testing.assert_allclose(a, np.linalg.pinv(Z) @ np.ones((2, 1)), rtol=1e-4)


def training_loss(alpha):
    return lambda statistics: coefficients.training_loss(statistics, alpha)


def evidence(alpha):
    return objectives.Evidence(alpha).of


def test_the_training_objective_is_the_ridge_problem_at_its_best(problem):
    Z, Y, statistics = problem
    e = coefficients.training_loss(statistics, 0.1)
    a = Ridge(alpha=50 * 0.1, fit_intercept=False).fit(Z, Y).coef_.T
    np.testing.assert_allclose(e.coef, a, rtol=1e-10)
    assert e.value == pytest.approx(np.sum((Y - Z @ a) ** 2) / 50 + 0.1 * np.sum(a**2))
    assert e.training_error == pytest.approx(np.sum((Y - Z @ a) ** 2) / 50)
    np.testing.assert_array_equal(e.constant, np.zeros(2))


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("targets", [1, 2])
def test_the_evidence_is_the_log_density_of_the_target_at_the_best_noise(problem, alpha, targets):
    Z, Y, _ = problem
    Y = Y[:, :targets]
    statistics = Statistics(Z.T @ Z, Z.T @ Y, float(np.sum(Y**2)), 50.0)
    covariance = Z @ Z.T / (50 * alpha) + np.eye(50)

    def negative_log_density(log_noise):
        normal = stats.multivariate_normal(np.zeros(50), np.exp(log_noise) * covariance)
        return -sum(normal.logpdf(y) for y in Y.T) / 50

    best = optimize.minimize_scalar(negative_log_density, bounds=(-10, 10), method="bounded")
    e = objectives.Evidence(alpha).of(statistics)
    constant = targets * (np.log(2 * np.pi) + 1) / 2
    assert e.value + constant == pytest.approx(best.fun, abs=1e-8)
    np.testing.assert_allclose(e.coef, coefficients.ridge(statistics, alpha), rtol=1e-10)


@pytest.mark.parametrize("objective", [training_loss, evidence])
def test_the_slope_in_the_statistics_agrees_with_central_differences(problem, objective):
    _, _, S = problem
    of = objective(0.05)
    e = of(S)
    dG = e.pull * e.coef @ e.coef.T + (0 if e.curve is None else e.curve)
    dc = -2 * e.pull * e.coef
    rng = np.random.RandomState(2)
    for _ in range(5):
        P, Q = rng.standard_normal(S.G.shape), rng.standard_normal(S.c.shape)
        P = P + P.T
        up, down = (of(Statistics(S.G + h * P, S.c + h * Q, S.s, S.n)).value for h in (1e-5, -1e-5))
        expected = (up - down) / 2e-5
        assert np.sum(dG * P) + np.sum(dc * Q) == pytest.approx(expected, rel=1e-6)


def test_alpha_by_the_evidence_is_the_best_of_a_fine_grid():
    rng = np.random.RandomState(3)
    Z = rng.standard_normal((200, 10))
    Y = Z @ rng.standard_normal((10, 1)) + 3 * rng.standard_normal((200, 1))
    S = Statistics(Z.T @ Z, Z.T @ Y, float(np.sum(Y**2)), 200.0)
    fine = np.logspace(-4, 2, 2001)
    values = [objectives.Evidence(alpha).of(S).value for alpha in fine]
    alpha = objectives.evidence_alpha(S, np.logspace(-4, 2, 13))
    assert np.log(alpha) == pytest.approx(np.log(fine[np.argmin(values)]), abs=0.01)
    assert objectives.evidence_alpha(S, np.array([0.3])) == pytest.approx(0.3)


def test_the_evidence_stands_a_singular_matrix_and_a_tiny_alpha():
    Z = np.ones((4, 3))
    S = Statistics(Z.T @ Z, Z.T @ np.ones((4, 1)), 4.0, 4.0)
    e = objectives.Evidence(1e-300).of(S)
    assert np.isfinite(e.value)
    assert np.isfinite(e.curve).all()
