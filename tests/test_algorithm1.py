"""Algorithm 1: it descends, stays on the simplex, stops at a stationary point, finds variables."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from small_problems import alternated, prepare
from srff import RFFRegressor, SRFFRegressor, srff_path
from srff.core.features import Expansion
from srff.core.groups import Groups
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED
from srff.core.simplex import project_simplex
from srff.paper.algorithm1 import Algorithm1, _MeanLoss
from srff.paper.alpha_search import alpha_grid, lowest, search_alternating
from srff.paper.reference import algorithm1
from srff.reproduction.datasets import make_se2

PAPER = {"solver": "alternating", "refine": None, "n_components": 300, "random_state": 0}


def prepared(X, y, rng, n_components):
    return prepare(
        X,
        y[:, None],
        None,
        rng,
        kernel=Gaussian(),
        n_components=n_components,
        budget=2.0,
        validation=0.3,
        dtype="float64",
        n_jobs=1,
    )


@pytest.fixture
def problem(ring):
    with prepared(*ring, np.random.RandomState(0), 60) as problem:
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


@pytest.fixture
def slow_start():
    """A steep line and a small wave: penalties that let the wave in begin with overfitting."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 4))
    y = 3 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.05 * rng.standard_normal(150)
    with prepared(X, y, rng, 50) as problem:
        yield problem


def test_the_best_alpha_is_chosen_though_it_begins_slowest(slow_start):
    p = slow_start
    alphas = alpha_grid(p.training_statistics(p.scale))[[12, 18, 24, 39]]
    paths = [alternated(p, alpha, max_iter=400, tol=1e-4) for alpha in alphas]
    errors = [[p.validation_error(s.scale, s.coef, s.constant) for s in path] for path in paths]
    # After four iterations the last alpha is the worst of all, also if it gained thrice as much.
    early = np.sqrt([of[:5] for of in errors])
    assert (early.argmax(axis=0) == 3).all()
    assert (3 * early[:, 4] - 2 * early[:, 3]).argmax() == 3
    ends = np.array([of[-1] for of in errors])
    assert ends.argmin() == 3
    assert np.sqrt(ends[3]) < 0.6 * np.sqrt(ends[:3].min())
    found = search_alternating(p, alphas, max_iter=400, tol=1e-4)
    assert found.chosen == 3
    np.testing.assert_allclose([c.validation_error for c in found.candidates], ends, rtol=1e-9)


def test_with_patience_the_rest_of_the_grid_is_left_when_none_is_better(slow_start):
    p = slow_start
    alphas = alpha_grid(p.training_statistics(p.scale))[[12, 18, 24, 30, 36]]
    settings = {"max_iter": 20, "tol": 1e-4}
    whole = search_alternating(p, alphas, **settings)
    errors = np.array([c.validation_error for c in whole.candidates])
    reached = next(k for k in range(1, 5) if errors[k] >= errors[:k].min())
    left = search_alternating(p, alphas, patience=1, **settings)
    assert [c.validation_error for c in left.candidates] == errors[: reached + 1].tolist()
    assert left.chosen == errors[:reached].argmin()
    assert len(search_alternating(p, alphas, patience=5, **settings).runs) == 5


def test_with_fresh_draws_each_alpha_has_random_features_of_its_own(slow_start):
    p = slow_start
    alphas = alpha_grid(p.training_statistics(p.scale))[10:40:10]
    settings = {"max_iter": 10, "tol": 1e-4}
    one = search_alternating(p, alphas, **settings)
    fresh = search_alternating(p, alphas, fresh_draws=True, **settings)
    offsets = [np.array([c.point.b for c in found.candidates]) for found in (one, fresh)]
    assert (offsets[0] == p.b).all()
    assert [np.array_equal(b, p.b) for b in offsets[1]] == [True, False, False]
    assert not np.array_equal(offsets[1][1], offsets[1][2])
    # The first alpha has the draw of the problem, and so its result.
    errors = [[c.validation_error for c in found.candidates] for found in (one, fresh)]
    assert errors[1][0] == pytest.approx(errors[0][0], rel=1e-12)
    assert fresh.chosen == int(np.argmin(errors[1]))
    # A model stands with its own draw: its error can be had from what it consists of.
    for candidate in fresh.candidates:
        error = p.validation.loss(SQUARED, candidate.expansion())
        assert error == pytest.approx(candidate.validation_error, rel=1e-9)


@pytest.mark.parametrize("estimator", [SRFFRegressor(**PAPER), RFFRegressor(random_state=0)])
def test_the_estimators_choose_among_fresh_draws(estimator, ring):
    X, y = ring
    settings = {"n_components": 20, "fresh_draws": True}
    if isinstance(estimator, SRFFRegressor):
        settings["max_iter"] = 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [clone(estimator).set_params(**settings).fit(X, y) for _ in range(2)]
    errors = models[0].path_["validation_error"]
    assert errors.size == 50
    assert errors.min() == errors[models[0].path_["alpha"] == models[0].alpha_][0]
    np.testing.assert_array_equal(*[m.frequencies_ for m in models])


def test_fresh_draws_are_of_the_papers_solver(ring):
    with pytest.raises(ValueError, match="fresh_draws=True needs solver='alternating'"):
        SRFFRegressor(fresh_draws=True).fit(*ring)
    with pytest.raises(ValueError, match="fresh_draws=3 must be True or False"):
        RFFRegressor(fresh_draws=3).fit(*ring)


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
