"""Descents with the coefficients eliminated: on the simplex, and over richer frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import alternated, prepare
from srff.core.descent import descend, iterations
from srff.core.kernels import Gaussian, low_order
from srff.core.objectives import Evidence, TrainingLoss, evidence_alpha
from srff.core.parametrisations import Free, LowOrder, Metric, Scales
from srff.core.simplex import project_simplex
from srff.core.simplex_descent import SimplexDescent

OBJECTIVES = [TrainingLoss, Evidence]


@pytest.fixture
def problem(ring):
    X, y = ring
    with prepare(
        np.column_stack([X, np.ones(300)]),  # a column that does not vary
        y[:, None],
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=30,
        budget=2.0,
        validation=None,
        dtype="float64",
        n_jobs=1,
    ) as problem:
        yield problem


def value(problem, goal, scale):
    return goal.evaluate(problem.training, *problem.frequencies(scale), problem.at_constant()).value


def descent(problem, goal, E=None, scale=None, *, max_iter, tol):
    E, scale = (problem.E if E is None else E), (problem.scale if scale is None else scale)
    steps = SimplexDescent(problem.training, goal, E, problem.b, problem.groups, tol)
    return iterations(steps.advance, steps.first(scale, problem.at_constant()), max_iter)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_descent_stays_on_the_simplex_and_goes_down(problem, objective):
    goal = objective(1e-2)
    states = list(descent(problem, goal, max_iter=20, tol=1e-8))
    assert [s.n_iter for s in states] == list(range(1, len(states) + 1))
    for state in states:
        assert (state.scale >= 0).all()
        assert state.scale[6] == 0
        assert state.scale.sum() == pytest.approx(problem.budget)
        assert state.objective[-1] == pytest.approx(value(problem, goal, state.scale), rel=1e-9)
    assert states[-1].objective[0] == pytest.approx(value(problem, goal, problem.scale))
    assert states[-1].objective[-1] < states[-1].objective[0] - 0.05


def test_the_descent_ends_where_a_long_projected_gradient_ends(problem):
    goal, E, b = TrainingLoss(1e-2), problem.E[:6], problem.b
    columns = np.arange(6)
    *_, state = descent(problem, goal, max_iter=200, tol=1e-10)
    x = problem.scale[:6]
    for _ in range(600):
        W = x[:, None] * E
        e = goal.evaluate(problem.training, W, b, columns, problem.at_constant())
        slope = np.sum(goal.slopes(problem.training, e, W, b, columns)[0] * E, axis=1)
        x = project_simplex(x - 0.1 * slope, problem.budget)
    assert state.converged
    assert state.objective[-1] == pytest.approx(e.value, rel=1e-4)
    np.testing.assert_allclose(state.scale[:6], x, atol=0.02)


def test_the_descent_is_no_worse_than_the_papers_alternation(problem):
    options = {"max_iter": 300, "tol": 1e-8}
    paper = alternated(problem, 1e-2, **options)[-1]
    *_, state = descent(problem, TrainingLoss(1e-2), **options)
    # Both measure the paper's objective; the alternation comes near the same place, slowly.
    assert state.objective[-1] <= paper.objective[-1] * (1 + 1e-6)
    assert state.objective[-1] == pytest.approx(paper.objective[-1], rel=0.05)
    assert state.n_iter < paper.n_iter


def test_a_flat_objective_ends_the_descent_at_once(problem):
    E = problem.E.copy()
    E[1:] = 0.0  # one usable column: the simplex is a point
    scale = np.r_[2.0, np.zeros(6)]
    goal = TrainingLoss(1e-2)
    assert list(descent(problem, goal, E, scale, max_iter=9, tol=1e-6)) == []


def points():
    rng = np.random.RandomState(5)
    b = rng.uniform(0, 2 * np.pi, 12)
    E = rng.standard_normal((3, 12))

    def draw(rows):
        return low_order(Gaussian(), np.random.RandomState(rows), (rows, 12))

    L = 0.6 * np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    return [
        Scales(np.array([0.5, 0.3, 0.8]), E, b),
        Metric(L, E, b),
        LowOrder(L, draw(3), b, draw),
        Free(0.5 * E, b),
    ]


COLUMNS = np.array([0, 1, 4])


def by_kind(function):
    return pytest.mark.parametrize("point", points(), ids=lambda p: type(p).__name__)(function)


@by_kind
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_slope_of_each_parametrisation_agrees_with_finite_differences(
    problem, objective, point
):
    goal, engine = objective(0.05), problem.training
    near = problem.at_constant(point.b.size)

    def value(vector):
        there = point.at(vector)
        return goal.evaluate(engine, there.W, there.b, COLUMNS, near).value

    e = goal.evaluate(engine, point.W, point.b, COLUMNS, near)
    slope = point.chain(*goal.slopes(engine, e, point.W, point.b, COLUMNS))
    x = point.vector()
    rng = np.random.RandomState(6)
    for _ in range(4):
        way = rng.standard_normal(x.size)
        expected = (value(x + 1e-5 * way) - value(x - 1e-5 * way)) / 2e-5
        assert slope @ way == pytest.approx(expected, rel=1e-5, abs=1e-8)


@by_kind
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_parametrisation_descends(problem, objective, point):
    ticks = []
    goal, near = objective(0.01), problem.at_constant(point.b.size)
    found = descend(
        problem.training,
        goal,
        point,
        COLUMNS,
        near=near,
        max_iter=15,
        tol=1e-6,
        tick=lambda: ticks.append(1),
    )
    end, values = found.point, found.objective
    assert type(end) is type(point)
    assert len(ticks) == len(values)
    assert min(values) < values[0] - 0.01
    reached = goal.evaluate(problem.training, end.W, end.b, COLUMNS, near)
    np.testing.assert_array_equal(found.found.coef, reached.coef)
    assert found.found.training_error == reached.training_error
    assert reached.value == pytest.approx(min(values), rel=1e-9)


@by_kind
def test_a_point_is_its_coordinates_and_drops_variables(point):
    same = point.at(point.vector())
    np.testing.assert_array_equal(same.W, point.W)
    np.testing.assert_array_equal(same.b, point.b)
    assert point.strength().shape == (3,)
    small = point.drop(np.array([0, 2]))
    assert small.W.shape == (2, 12)
    if not isinstance(point, LowOrder):
        np.testing.assert_array_equal(small.W, point.W[[0, 2]])
        np.testing.assert_allclose(small.strength(), point.strength()[[0, 2]])
    else:
        np.testing.assert_array_equal(small.L, point.L[np.ix_([0, 2], [0, 2])])
        left = np.any(point.E[[0, 2]], axis=0)
        assert 0 < left.sum() < 12
        np.testing.assert_array_equal(small.E[:, left], point.E[[0, 2]][:, left])
        assert np.any(small.E, axis=0).all()  # a feature along no kept direction is a new one


def test_the_evidences_slope_in_log_alpha_agrees_with_finite_differences(problem):
    S = problem.training_statistics(problem.scale)
    for alpha in (1e-4, 1e-2, 1.0):
        above, below = (Evidence(alpha * np.exp(h)).of(S).value for h in (1e-4, -1e-4))
        slope = Evidence(alpha).of(S).alpha_slope
        assert slope == pytest.approx((above - below) / 2e-4, rel=1e-5, abs=1e-9)


def test_a_penalty_that_is_learned_ends_where_the_evidence_has_it(problem):
    columns = np.arange(6)
    start = Metric(np.diag(problem.scale[:6]), problem.E[:6], problem.b)
    options = {"near": problem.at_constant(), "max_iter": 200, "tol": 1e-10}
    end = descend(problem.training, Evidence(1.0), start, columns, **options, at_alpha=Evidence)
    S = problem.training.statistics(end.point.W, end.point.b, columns)
    best = evidence_alpha(S, end.alpha * np.logspace(-2, 2, 9))
    assert end.alpha == pytest.approx(best, rel=0.5)
    held = descend(problem.training, Evidence(1.0), start, columns, **options)
    assert held.alpha == 1.0
    assert end.objective[-1] < held.objective[-1]
