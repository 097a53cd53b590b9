"""Algorithm 1: it descends, stays on the simplex, stops at a stationary point, finds variables."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from small_problems import alternated, prepare
from srff import SRFFRegressor, srff_path
from srff.core.features import Expansion
from srff.core.groups import Groups
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED
from srff.core.simplex import project_simplex
from srff.paper.algorithm1 import Algorithm1, _MeanLoss
from srff.paper.alpha_search import RACE, alpha_grid, lowest, search_alternating
from srff.paper.reference import algorithm1
from srff.reproduction.datasets import make_se2

PAPER = {"solver": "alternating", "refine": None, "n_components": 300, "random_state": 0}


@pytest.fixture
def problem(ring):
    X, y = ring
    with prepare(
        X,
        y[:, None],
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=60,
        budget=2.0,
        validation=0.3,
        dtype="float64",
        n_jobs=1,
    ) as problem:
        yield problem


def model(problem, state):
    W = state.scale[:, None] * problem.E
    return Expansion(np.arange(len(W)), W, problem.b, state.coef, state.constant)


def solve(problem, alpha=1e-3, max_iter=100, tol=1e-6):
    return alternated(problem, alpha, max_iter=max_iter, tol=tol)[-1]


@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-6])
def test_the_objective_never_increases_and_is_the_papers(problem, alpha):
    state = solve(problem, alpha, max_iter=60)
    assert (np.diff(state.objective) <= 0).all()
    # Recomputed from the rows: ||y - Z a||^2 / n + alpha ||a||^2.
    loss = problem.training.loss(SQUARED, model(problem, state))
    assert state.training_error == pytest.approx(loss, rel=1e-9)
    assert state.objective[-1] == pytest.approx(loss + alpha * np.sum(state.coef**2), rel=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_recorded_objective_never_increases_in_either_precision(ring, dtype):
    model = SRFFRegressor(alpha=1e-4, dtype=dtype, tol=0.0, max_iter=40, **PAPER)
    with pytest.warns(ConvergenceWarning):
        model.fit(*ring)
    assert (np.diff(model.objective_) <= 0).all()


@pytest.mark.parametrize("alpha", [1e-1, 1e-2, 1e-3])
def test_the_solver_is_the_papers_algorithm_as_it_is_printed(alpha):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((120, 4))
    y = 3 * np.exp(-(X[:, 0] ** 2) - X[:, 1] ** 2) + rng.normal(0, 0.05, 120)
    n_iter, D = 4, 20
    with prepare(
        X,
        y[:, None],
        None,
        rng,
        kernel=Gaussian(),
        n_components=D,
        budget=1.6,
        validation=None,
        dtype="float64",
        n_jobs=1,
    ) as p:
        # The argmin of Step 2 that the paper writes: as many inner steps as it takes.
        *_, state = alternated(p, alpha, max_iter=n_iter, tol=0.0, inner_steps=1000)
        U, u = p.standard(X), (y - p.targets.center) / p.targets.spread
        printed = (U, u, 120 * D * alpha, p.E, p.b, p.budget)
    a, _, J = algorithm1(*printed, n_iter + 1)
    _, gamma, _ = algorithm1(*printed, n_iter)  # it ends with Step 2, the solver with Step 1
    np.testing.assert_allclose(state.objective, np.array(J) / 120, rtol=3e-3)
    np.testing.assert_allclose(state.scale, gamma, atol=2e-3)
    # Its features have no 1 / sqrt(D).
    np.testing.assert_allclose(state.coef[:, 0], np.sqrt(D) * a, atol=0.01)
    assert J[-1] < 0.95 * J[0]


@pytest.mark.parametrize("groups", [np.arange(6), np.array([0, 1, 1, 2, 3, 3])])
def test_the_gradient_of_step_2_agrees_with_differences(problem, groups):
    state = solve(problem, max_iter=3)
    p = problem
    algorithm = Algorithm1(p.training, p.loss, p.E, p.b, Groups(groups), 0.0)
    mean_loss = _MeanLoss(algorithm, state, np.arange(6))
    x = np.random.RandomState(1).uniform(0.1, 0.6, np.unique(groups).size)
    value, slope = mean_loss.gradient(x)
    assert value == pytest.approx(mean_loss.value(x), rel=1e-12)
    differences = [
        (mean_loss.value(x + h) - mean_loss.value(x - h)) / 2e-6 for h in 1e-6 * np.eye(x.size)
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-6)


def test_the_scales_stay_on_the_simplex(problem):
    state = solve(problem)
    assert (state.scale >= 0).all()
    assert state.scale.sum() == pytest.approx(problem.budget)


def test_it_ends_at_a_stationary_point_of_the_scales(problem):
    state = solve(problem, tol=1e-9, max_iter=1000)
    assert state.converged
    _, dW, _ = problem.training.loss_pull_back(SQUARED, model(problem, state))
    slope = np.sum(dW * problem.E, axis=1)
    # At a minimum over the simplex a projected gradient step goes nowhere.
    step = 0.1 * problem.budget / np.linalg.norm(slope)
    moved = project_simplex(state.scale - step * slope, problem.budget) - state.scale
    start_slope = np.linalg.norm(slope - slope[state.scale > 0].mean())
    assert np.abs(moved).max() < 0.02 * problem.budget
    inside = slope[state.scale > 0]
    assert np.ptp(inside) < 0.05 * max(start_slope, np.abs(slope).max())
    assert (slope[state.scale == 0] >= inside.min() - 1e-3).all()


def test_the_scale_of_an_unused_column_is_exactly_zero(ring):
    model = SRFFRegressor(**PAPER | {"n_components": 100}, alpha=1e-3, budget=2).fit(*ring)
    assert (model.scale_[:2] > 0.5).all()
    assert (model.scale_[2:] == 0).sum() >= 3
    assert model.get_support().tolist() == (model.scale_ > 0).tolist()


def test_the_five_variables_of_se2_have_the_largest_scales():
    for seed in range(2):
        X, y = make_se2(1500, random_state=seed)
        options = PAPER | {"random_state": seed}
        model = SRFFRegressor(alpha=2e-3, max_iter=30, tol=1e-3, **options).fit(X, y)
        assert sorted(np.argsort(model.scale_)[-5:]) == [10, 11, 12, 13, 14]


def test_a_solver_that_runs_out_of_iterations_warns(ring):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = SRFFRegressor(max_iter=2, alpha=1e-3, **PAPER).fit(*ring)
    assert model.n_iter_ == 2
    assert model.objective_.size == 3


def test_the_grid_has_fifty_values_below_the_largest_eigenvalue(problem):
    statistics = problem.training_statistics(problem.scale)
    alphas = alpha_grid(statistics)
    assert alphas.size == 50
    assert alphas[0] == pytest.approx(np.linalg.eigvalsh(statistics.G / statistics.n)[-1])
    np.testing.assert_allclose(np.diff(np.log(alphas)), np.log(alphas[1] / alphas[0]))


def test_of_equal_errors_the_largest_alpha_is_chosen():
    assert lowest([3.0, 1.0 + 1e-13, 1.0, np.inf]) == 1


def test_the_race_ends_with_the_answer_of_the_whole_grid(problem):
    alphas = alpha_grid(problem.training_statistics(problem.scale))[5:45]
    full = search_alternating(problem, alphas, max_iter=24, tol=1e-4, race=False)
    raced = search_alternating(problem, alphas, max_iter=24, tol=1e-4)
    assert not any(c.stopped for c in full.runs)
    left = sum(not c.stopped for c in raced.runs)
    assert left == dict(RACE)[16]
    assert np.sqrt(raced.best.validation_error) <= 1.01 * np.sqrt(full.best.validation_error)
    done = [sum(c.state.n_iter for c in r.runs) for r in (raced, full)]
    assert done[0] < done[1] / 2


def test_the_path_function_runs_every_alpha_to_its_end(ring):
    X, y = ring
    path = srff_path(X, y, n_components=40, max_iter=15, dtype="float32", random_state=0)
    assert path.alphas.shape == (50,)
    assert path.scales.shape == (50, 6)
    assert path.best == np.argmin(path.validation_error)
    model = SRFFRegressor(
        solver="alternating",
        refine=None,
        n_components=40,
        max_iter=15,
        dtype="float32",
        random_state=0,
        alpha=path.alphas[path.best],
        validation=0.2,
    ).fit(X, y)
    np.testing.assert_allclose(model.scale_, path.scales[path.best], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.path_["validation_error"][0], path.validation_error.min())


def test_the_path_takes_weights_own_alphas_and_own_validation(ring):
    X, y = ring
    weight = np.r_[np.zeros(50), np.ones(250)]
    options = {"alphas": [1e-2, 1e-4], "n_components": 30, "max_iter": 10, "random_state": 0}
    weighted = srff_path(X, y, sample_weight=weight, **options)
    without = srff_path(X[50:], y[50:], **options)
    np.testing.assert_array_equal(weighted.scales, without.scales)
    given = srff_path(X[:200], y[:200], validation=(X[200:], y[200:]), **options)
    assert np.isfinite(given.validation_error).all()
    with pytest.raises(ValueError, match="5 features"):
        srff_path(X, y, validation=(X[:, :5], y), **options)
    with pytest.raises(ValueError, match="no path to follow"):
        srff_path(X, np.ones(300))
    with pytest.raises(ValueError, match="alpha=-1"):
        srff_path(X, y, alphas=[-1.0])
