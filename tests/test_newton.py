"""Coefficients of losses that are not quadratic: against scikit-learn, SciPy and differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from small_problems import alternated, prepare
from srff.core.coefficients import ridge, solver_of
from srff.core.descent import descend
from srff.core.features import Expansion, random_features
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED, Logistic, Multinomial, Pinball, Poisson
from srff.core.newton import HAIR, newton
from srff.core.objectives import TrainingLoss
from srff.core.parametrisations import Free, Metric, Scales
from srff.data.engines import BlockPlan, DeviceEngine, LocalEngine
from srff.data.engines.blocks import Standardisation
from srff.data.scaling import Standardise

N, D = 400, 15
COLUMNS = np.array([0, 2])
RNG = np.random.RandomState(0)
X = RNG.standard_normal((N, 4))
W, B = RNG.standard_normal((2, D)), RNG.uniform(0, 2 * np.pi, D)
Z = random_features(X[:, COLUMNS], W, B)
SIGNAL = 2 * np.sin(X[:, 0]) + X[:, 0] * X[:, 2]
CLASSES = np.digitize(SIGNAL + RNG.logistic(size=N), [-1.0, 1.5])
WEIGHT = RNG.uniform(0.2, 2, N)
TARGETS = {
    "logistic": (Logistic(), (CLASSES > 0).astype(float)[:, None]),
    "multinomial": (Multinomial(), np.eye(3)[CLASSES]),
    "poisson": (Poisson(), RNG.poisson(np.exp(0.5 * SIGNAL)).astype(float)[:, None]),
    "two rates": (Poisson(), RNG.poisson(np.exp(np.c_[0.5 * SIGNAL, X[:, 2]])).astype(float)),
    "pinball": (Pinball(0.8, 0.3), (SIGNAL + RNG.standard_normal(N))[:, None]),
}
ALPHAS = [1.0, 1e-2, 1e-4]


def engine_of(Y, weight=None, kind=LocalEngine, dtype=np.float64, **options):
    standard = Standardisation(Standardise(np.zeros(4), np.ones(4)), np.zeros(Y.shape[1]), 1.0)
    plan = BlockPlan(70, cached=True)
    return kind(X, Y, weight, standard, plan, np.dtype(dtype), **options)


def zero(Y):
    return np.zeros((D, Y.shape[1])), np.zeros(Y.shape[1])


def solve(name, alpha, weight=None, **options):
    loss, Y = TARGETS[name]
    with engine_of(Y, weight, **options) as engine:
        return newton(engine, loss, alpha, W, B, COLUMNS, zero(Y))


def objective(name, alpha, weight, a, c):
    """Mean loss and penalties, from whole arrays."""
    loss, Y = TARGETS[name]
    mean = np.average(loss.value(Y, Z @ a + c), weights=weight)
    return mean + alpha * np.sum(a**2) + HAIR * np.sum(c**2)


def minimum(name, alpha, weight=None):
    """The lowest objective that SciPy finds."""
    loss, Y = TARGETS[name]
    w = np.ones(N) if weight is None else weight
    q = Y.shape[1]

    def value(x):
        a, c = x[:-q].reshape(D, q), x[-q:]
        g = loss.slope(Y, Z @ a + c) * (w / w.sum())[:, None]
        slope = np.append((Z.T @ g + 2 * alpha * a).ravel(), g.sum(axis=0) + 2 * HAIR * c)
        return objective(name, alpha, weight, a, c), slope

    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 1e-14, "gtol": 1e-9}
    return optimize.minimize(
        value, np.zeros(D * q + q), jac=True, method="L-BFGS-B", options=options
    ).fun


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_classes_are_scikit_learns_logistic_regression(name, alpha, weighted):
    weight = WEIGHT if weighted else None
    y = CLASSES > 0 if name == "logistic" else CLASSES
    # Their sum over rows with a half of the squares: C = 1 / (2 n alpha).
    total = WEIGHT.sum() if weighted else N
    model = LogisticRegression(C=1 / (2 * total * alpha), tol=1e-8, max_iter=5000)
    model.fit(Z, y, sample_weight=weight)
    theirs = objective(name, alpha, weight, model.coef_.T, model.intercept_)
    found = solve(name, alpha, weight)
    assert found.value == pytest.approx(theirs, rel=2e-6)
    assert found.value == pytest.approx(objective(name, alpha, weight, found.a, found.c))
    penalties = alpha * np.sum(found.a**2) + HAIR * np.sum(found.c**2)
    assert found.loss == pytest.approx(found.value - penalties)
    outputs, expected = Z @ found.a + found.c, Z @ model.coef_.T + model.intercept_
    outputs, expected = (F - F.mean(axis=1, keepdims=True) for F in (outputs, expected))
    np.testing.assert_allclose(outputs, expected, atol=0.01)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_counts_are_scikit_learns_poisson_regression(alpha, weighted):
    weight = WEIGHT if weighted else None
    _, Y = TARGETS["poisson"]
    # Half a mean deviance and half of the squares.
    model = PoissonRegressor(alpha=2 * alpha, tol=1e-8, max_iter=5000)
    model.fit(Z, Y[:, 0], sample_weight=weight)
    theirs = objective("poisson", alpha, weight, model.coef_[:, None], model.intercept_)
    found = solve("poisson", alpha, weight)
    assert found.value == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(
        np.exp(Z @ found.a + found.c)[:, 0], model.predict(Z), rtol=0.01, atol=0.01
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", TARGETS)
def test_no_descent_of_scipys_ends_lower(name, alpha, weighted):
    weight = WEIGHT if weighted else None
    found = solve(name, alpha, weight)
    assert found.value == pytest.approx(minimum(name, alpha, weight), rel=2e-6)


def test_the_squared_loss_gives_the_ridge_with_a_constant():
    y = SIGNAL + 3.0
    with engine_of(y[:, None]) as engine:
        found = newton(engine, SQUARED, 1e-2, W, B, COLUMNS, zero(y[:, None]))
    expected = Ridge(alpha=N * 1e-2).fit(Z, y)
    np.testing.assert_allclose(found.a[:, 0], expected.coef_, rtol=1e-5)
    assert found.c[0] == pytest.approx(expected.intercept_, rel=1e-6)


@pytest.mark.parametrize("name", TARGETS)
def test_any_start_leads_to_the_same_end(name):
    loss, Y = TARGETS[name]
    rng = np.random.RandomState(1)
    with engine_of(Y) as engine:
        near = newton(engine, loss, 1e-3, W, B, COLUMNS, zero(Y))
        far = rng.normal(0, 3, (D, Y.shape[1])), rng.normal(0, 1, Y.shape[1])
        away = newton(engine, loss, 1e-3, W, B, COLUMNS, far)
        before = engine.n_passes
        again = newton(engine, loss, 1e-3, W, B, COLUMNS, (near.a, near.c))
        assert engine.n_passes - before <= 3  # it is there already
    assert away.value == pytest.approx(near.value, rel=1e-5)
    assert again.value <= near.value


@pytest.mark.parametrize("name", TARGETS)
def test_a_weight_of_two_is_the_row_written_twice(name):
    loss, Y = TARGETS[name]
    counts = np.random.RandomState(2).randint(0, 3, N)
    weighted = solve(name, 1e-3, counts.astype(float))
    rows = np.repeat(np.arange(N), counts)
    with engine_of(Y, rows=rows) as engine:
        repeated = newton(engine, loss, 1e-3, W, B, COLUMNS, zero(Y))
    assert weighted.value == pytest.approx(repeated.value, rel=1e-9)
    np.testing.assert_allclose(weighted.a, repeated.a, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", TARGETS)
def test_rows_in_float32_and_on_torch_lead_to_the_same_objective(name):
    expected = solve(name, 1e-3).value
    assert solve(name, 1e-3, dtype=np.float32).value == pytest.approx(expected, rel=1e-5)
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    on_torch = solve(name, 1e-3, kind=DeviceEngine, device="cpu")
    assert on_torch.value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_classes_that_can_be_told_apart_need_the_penalty_alone(name):
    loss, Y = TARGETS[name]
    apart = np.digitize(Z[:, 0], np.quantile(Z[:, 0], [0.3, 0.7]))
    Y = np.eye(3)[apart] if name == "multinomial" else (apart > 0).astype(float)[:, None]
    with engine_of(Y) as engine:
        found = newton(engine, loss, 1e-6, W, B, COLUMNS, zero(Y))
    y = apart if name == "multinomial" else apart > 0
    model = LogisticRegression(C=1 / (2 * N * 1e-6), tol=1e-9, max_iter=20000).fit(Z, y)
    F = Z @ model.coef_.T + model.intercept_
    theirs = np.mean(loss.value(Y, F)) + 1e-6 * np.sum(model.coef_**2)
    assert np.isfinite(found.a).all()
    assert found.value <= theirs * (1 + 1e-3)


def test_a_class_of_no_row_keeps_a_finite_constant():
    Y = np.eye(4)[CLASSES]
    with engine_of(Y) as engine:
        found = newton(engine, Multinomial(), 1e-3, W, B, COLUMNS, zero(Y))
    three = solve("multinomial", 1e-3)
    assert np.isfinite(found.c).all()
    assert found.loss == pytest.approx(three.loss, rel=1e-3)
    assert found.c[3] < found.c[:3].min() - 5


class Endless(Logistic):
    """A loss without a bound of its curvature."""

    def curvature(self, Y, F):
        return np.full(len(F), np.inf)


def test_statistics_that_are_not_finite_are_said():
    _, Y = TARGETS["logistic"]
    with (
        engine_of(Y) as engine,
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match="weighted statistics are not finite"),
    ):
        newton(engine, Endless(), 1e-3, W, B, COLUMNS, zero(Y))


# The objective with the coefficients eliminated.


@pytest.mark.parametrize("name", TARGETS)
def test_the_path_is_the_solutions_of_its_penalties(name):
    loss, Y = TARGETS[name]
    with engine_of(Y) as engine:
        path = solver_of(loss).path(engine, (W, B, COLUMNS), np.array(ALPHAS), zero(Y))
    for e, alpha in zip(path, ALPHAS, strict=True):
        alone = solve(name, alpha)
        assert e.value == pytest.approx(alone.value, rel=3e-6)
        penalties = alpha * np.sum(e.coef**2) + HAIR * np.sum(e.constant**2)
        assert e.training_error + penalties == pytest.approx(e.value, rel=1e-9)
    assert sorted((e.value for e in path), reverse=True) == [e.value for e in path]


def test_the_path_of_a_quadratic_loss_is_the_ridge():
    y = SIGNAL[:, None] - SIGNAL.mean()
    with engine_of(y) as engine:
        path = solver_of(SQUARED).path(engine, (W, B, COLUMNS), np.array(ALPHAS), zero(y))
        S = engine.statistics(W, B, COLUMNS)
    for e, alpha in zip(path, ALPHAS, strict=True):
        np.testing.assert_allclose(e.coef, ridge(S, alpha), rtol=1e-7, atol=1e-10)
        expected = np.mean((y - Z @ e.coef) ** 2) + alpha * np.sum(e.coef**2)
        assert e.value == pytest.approx(expected)


def parametrisations():
    rng = np.random.RandomState(3)
    E = rng.standard_normal((3, 8))
    b = rng.uniform(0, 2 * np.pi, 8)
    L = 0.6 * np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    return {
        "scales": Scales(np.array([0.5, 0.3, 0.8]), E, b),
        "shared scales": Scales(np.array([0.5, 0.7]), E, b, np.array([0, 1, 0])),
        "metric": Metric(L, E, b),
        "free": Free(0.5 * E, b),
    }


THREE = np.array([0, 2, 3])
POINTS = parametrisations()


def begin(point, Y):
    return np.zeros((point.b.size, Y.shape[1])), np.zeros(Y.shape[1])


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("name", TARGETS)
def test_the_slope_of_the_eliminated_objective_agrees_with_differences(name, kind, monkeypatch):
    # An error of the inner solve is an error of the differences: here it goes on for longer.
    monkeypatch.setattr("srff.core.newton.TOLERANCE", 1e-13)
    loss, Y = TARGETS[name]
    point, goal = POINTS[kind], TrainingLoss(0.05, loss)
    with engine_of(Y, WEIGHT) as engine:
        e = goal.evaluate(engine, point.W, point.b, THREE, begin(point, Y))
        slope = point.chain(*goal.slopes(engine, e, point.W, point.b, THREE))

        def value(vector):
            there = point.at(vector)
            start = e.coef, e.constant
            return goal.evaluate(engine, there.W, there.b, THREE, start).value

        rng = np.random.RandomState(6)
        x = point.vector()
        for _ in range(3):
            way = rng.standard_normal(x.size)
            expected = (value(x + 1e-4 * way) - value(x - 1e-4 * way)) / 2e-4
            assert slope @ way == pytest.approx(expected, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("name", TARGETS)
def test_the_tolerance_of_a_fit_is_enough_for_the_slope(name):
    loss, Y = TARGETS[name]
    point, goal = POINTS["free"], TrainingLoss(1e-3, loss)
    with engine_of(Y) as engine:
        e = goal.evaluate(engine, point.W, point.b, THREE, begin(point, Y))
        slope = point.chain(*goal.slopes(engine, e, point.W, point.b, THREE))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("srff.core.newton.TOLERANCE", 1e-13)
            e = goal.evaluate(engine, point.W, point.b, THREE, (e.coef, e.constant))
        exact = point.chain(*goal.slopes(engine, e, point.W, point.b, THREE))
    assert np.linalg.norm(slope - exact) < 0.05 * np.linalg.norm(exact)


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("name", ["logistic", "multinomial", "poisson"])
def test_each_parametrisation_descends_for_these_losses_too(name, kind):
    loss, Y = TARGETS[name]
    point = POINTS[kind]
    with engine_of(Y) as engine:
        found = descend(
            engine,
            TrainingLoss(1e-3, loss),
            point,
            THREE,
            near=begin(point, Y),
            max_iter=10,
            tol=1e-6,
        )
        end = Expansion(THREE, found.point.W, found.point.b, found.found.coef, found.found.constant)
        assert found.found.training_error == pytest.approx(engine.loss(loss, end), rel=1e-9)
    assert found.found.value < 0.99 * found.objective[0]
    assert found.found.value == pytest.approx(min(found.objective), rel=1e-5)


@pytest.fixture(params=["logistic", "multinomial", "poisson", "pinball"])
def problem(request):
    loss, Y = TARGETS[request.param]
    with prepare(
        X,
        Y,
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=20,
        budget=2.0,
        validation=None,
        loss=loss,
        dtype="float64",
        n_jobs=1,
    ) as problem:
        yield problem


def test_the_alternation_never_raises_the_objective_and_stays_on_the_simplex(problem):
    engine, loss, E, b = problem.training, problem.loss, problem.E, problem.b
    states = alternated(problem, max_iter=15, tol=1e-6)
    for state in states:
        assert (np.diff(state.objective) <= 0).all()
        assert (state.scale >= 0).all()
        assert state.scale.sum() == pytest.approx(2.0)
    W = state.scale[:, None] * E
    model = Expansion(np.arange(4), W, b, state.coef, state.constant)
    mean = engine.loss(loss, model)
    assert state.training_error == pytest.approx(mean, rel=1e-9)
    assert state.objective[-1] == pytest.approx(mean + 1e-3 * np.sum(state.coef**2), rel=1e-9)
    assert state.objective[-1] < state.objective[0] - 0.01 * abs(state.objective[0])
    # The two variables of the signal are those that it finds.
    assert set(np.argsort(state.scale)[-2:]) == {0, 2}


def test_the_projected_descent_is_no_worse_than_the_alternation(problem):
    options = {"max_iter": 30, "tol": 1e-6}
    paper = alternated(problem, **options)[-1]
    goal = TrainingLoss(1e-3, problem.loss)
    *_, state = problem.descend_scales(problem.training, goal, problem.scale, **options)
    assert state.scale.sum() == pytest.approx(2.0)
    assert (state.scale >= 0).all()
    # Where they end depends on the draw: in another minimum, but not far above.
    assert state.objective[-1] <= paper.objective[-1] * 1.06


def test_the_search_is_for_the_scores_at_the_best_constant(problem):
    loss = problem.search_loss
    engine = problem.training
    c = np.array(loss.constant)
    _, slope, curvature, square = engine.constant_statistics(problem.loss, c)
    np.testing.assert_allclose(slope, 0, atol=1e-4)
    assert 2 * problem.unit == pytest.approx(curvature)
    assert loss.unit == pytest.approx(np.sqrt(square))
    # In their unit the scores have mean zero and, all targets together, unit variance.
    S = engine.statistics(0 * problem.E, 0 * problem.b, np.arange(4), loss)
    assert S.s / S.n == pytest.approx(1.0)
    np.testing.assert_allclose(S.c / S.n, 0, atol=1e-3)
    assert replace(loss, unit=2 * loss.unit) != loss
