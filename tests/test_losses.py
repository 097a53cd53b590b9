"""Losses: slopes and curvatures against differences, sums of rows against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats
from sklearn.metrics import log_loss, mean_pinball_loss, mean_poisson_deviance

from srff.core import features
from srff.core.features import Expansion
from srff.core.losses import (
    SQUARED,
    Logistic,
    Loss,
    Multinomial,
    Pinball,
    Poisson,
    Scores,
    chances,
    class_loss,
    get_loss,
    log_chances,
)
from srff.core.newton import best_constant
from srff.data.engines import BlockPlan, LocalEngine
from srff.data.engines.blocks import Standardisation
from srff.data.scaling import Standardise

ROWS = 30
COUNTS = [7, 11, 12]
"""Rows of each of three classes."""


def labels(rng):
    return rng.permutation(np.repeat(np.arange(3), COUNTS))


def targets(loss, rng, n_targets=2):
    """Targets that a loss is made for, of thirty rows."""
    if isinstance(loss, Scores):
        return targets(loss.loss, rng, n_targets)
    if isinstance(loss, Logistic):
        return (labels(rng) > 0).astype(float)[:, None]
    if isinstance(loss, Multinomial):
        return np.eye(3)[labels(rng)]
    if isinstance(loss, Poisson):
        return rng.poisson(2.0, (ROWS, n_targets)).astype(float)
    return rng.standard_normal((ROWS, n_targets))


EVERY = [
    SQUARED,
    Logistic(),
    Multinomial(),
    Poisson(),
    Pinball(0.8, 0.3),
    Pinball(),
    Scores(Logistic(), (0.4,), 0.5),
    Scores(Multinomial(), (0.1, -0.3, 0.2), 0.7),
    Scores(Poisson(), (0.5, 0.7), 1.3),
]
NAMES = ["squared", "logistic", "multinomial", "poisson", "pinball", "median", "scores of logistic"]
NAMES += ["scores of multinomial", "scores of poisson"]


def each(losses=EVERY, names=NAMES):
    return pytest.mark.parametrize("loss", losses, ids=names)


@pytest.fixture
def rng():
    return np.random.RandomState(0)


def second_derivative(loss, y, f, step=1e-5):
    """Of one row: central differences of the slope."""
    moves = step * np.eye(f.size)
    sides = [loss.slope(np.tile(y, (f.size, 1)), f + sign * moves) for sign in (1, -1)]
    return (sides[0] - sides[1]) / (2 * step)


@each()
def test_the_slope_is_the_derivative_of_the_value_in_every_array_library(xp, rng, loss):
    Y = targets(loss, rng)
    F = rng.normal(0, 1.5, (ROWS, loss.n_outputs(Y.shape[1])))
    slope = np.asarray(loss.slope(xp.asarray(Y), xp.asarray(F)))
    assert slope.shape == F.shape
    assert slope.dtype == np.float64
    for k in range(F.shape[1]):
        move = np.zeros(F.shape[1])
        move[k] = 1e-5
        up, down = (
            np.asarray(loss.value(xp.asarray(Y), xp.asarray(F + sign * move))) for sign in (1, -1)
        )
        np.testing.assert_allclose(slope[:, k], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)


@each()
def test_every_array_library_gives_the_same_numbers(xp, rng, loss):
    Y = targets(loss, rng)
    F = rng.normal(0, 3, (ROWS, loss.n_outputs(Y.shape[1])))
    for name in ("value", "slope", "curvature"):
        function = getattr(loss, name)
        there = np.asarray(function(xp.asarray(Y), xp.asarray(F)))
        np.testing.assert_allclose(there, function(Y, F), rtol=1e-12, atol=1e-14)


@each()
def test_float32_rows_stay_float32(xp, rng, loss):
    Y = targets(loss, rng).astype(np.float32)
    F = rng.standard_normal((ROWS, loss.n_outputs(Y.shape[1]))).astype(np.float32)
    for name in ("value", "slope", "curvature"):
        found = np.asarray(getattr(loss, name)(xp.asarray(Y), xp.asarray(F)))
        assert found.dtype == np.float32


@each()
def test_values_are_not_negative_and_curvatures_are_positive(rng, loss):
    Y = targets(loss, rng)
    F = rng.normal(0, 3, (ROWS, loss.n_outputs(Y.shape[1])))
    assert loss.value(Y, F).shape == loss.curvature(Y, F).shape == (ROWS,)
    assert (loss.value(Y, F) >= 0).all()
    assert (loss.curvature(Y, F) > 0).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_brings_no_deviance_below_zero(xp, rng, dtype):
    Y = (rng.poisson(50.0, (2000, 1)) + 1.0).astype(dtype)
    F = np.log(Y) + rng.normal(0, 1e-4, Y.shape).astype(dtype)
    found = np.asarray(Poisson().value(xp.asarray(Y), xp.asarray(F)))
    assert (found >= 0).all()  # models are compared by roots
    exact = Poisson().value(Y.astype(float), F.astype(float))
    np.testing.assert_allclose(found, exact, atol=1e-10 if dtype == "float64" else 1e-4)


@each([SQUARED, Logistic(), Poisson()], ["squared", "logistic", "poisson"])
def test_the_curvature_of_one_output_is_exact(rng, loss):
    Y = targets(loss, rng, n_targets=1)
    F = rng.normal(0, 1.5, (ROWS, 1))
    exact = [second_derivative(loss, y, f)[0, 0] for y, f in zip(Y, F, strict=True)]
    np.testing.assert_allclose(loss.curvature(Y, F), exact, rtol=1e-6, atol=1e-9)


@each([Multinomial(), Poisson(), SQUARED], ["multinomial", "poisson", "squared"])
def test_no_eigenvalue_of_the_second_derivative_is_above_the_curvature(rng, loss):
    Y = targets(loss, rng)
    for spread in (0.1, 1.0, 4.0):
        F = rng.normal(0, spread, (ROWS, loss.n_outputs(Y.shape[1])))
        top = [
            np.linalg.eigvalsh(second_derivative(loss, y, f))[-1] for y, f in zip(Y, F, strict=True)
        ]
        bound = loss.curvature(Y, F)
        assert (bound >= np.array(top) - 1e-7).all()
        assert (bound <= 2.1 * np.array(top) + 1e-7).all()  # and it is of use


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_parabola_of_the_pinball_loss_is_nowhere_below_it(rng, quantile):
    loss = Pinball(quantile, 0.2)
    Y = rng.standard_normal((ROWS, 1))
    F = Y + np.linspace(-3, 3, ROWS)[:, None]
    value, slope, curvature = loss.value(Y, F), loss.slope(Y, F)[:, 0], loss.curvature(Y, F)
    for move in np.linspace(-6, 6, 121):
        parabola = value + move * slope + move**2 / 2 * curvature
        assert (loss.value(Y, F + move) <= parabola + 1e-9).all()


def test_values_are_those_of_scikit_learn(rng):
    F = rng.normal(0, 2, (ROWS, 3))
    Y = targets(Multinomial(), rng)
    assert Multinomial().value(Y, F).mean() == pytest.approx(
        log_loss(Y, special.softmax(F, axis=1))
    )
    y, f = targets(Logistic(), rng), F[:, :1]
    assert Logistic().value(y, f).mean() == pytest.approx(log_loss(y[:, 0], special.expit(f[:, 0])))
    counts = rng.poisson(1.0, (ROWS, 1)).astype(float)
    deviance = mean_poisson_deviance(counts[:, 0], np.exp(f[:, 0]))
    assert Poisson().value(counts, f).mean() == pytest.approx(deviance / 2)
    exact = mean_pinball_loss(F[:, 0], F[:, 1], alpha=0.3)
    assert Pinball(0.3, 1e-6).value(F[:, :1], F[:, 1:2]).mean() == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("f", [800.0, -800.0])
def test_far_outputs_overflow_nowhere(xp, f):
    Y = xp.asarray([[0.0], [1.0]])
    F = xp.asarray([[f], [f]])
    costs = np.maximum([f, -f], 0.0)
    both = xp.concat([F, -F], axis=1) if hasattr(xp, "concat") else xp.cat([F, -F], dim=1)
    with np.errstate(over="raise", invalid="raise"):
        np.testing.assert_allclose(np.asarray(Logistic().value(Y, F)), costs)
        sure = float(f > 0)
        np.testing.assert_allclose(np.asarray(Logistic().slope(Y, F))[:, 0], [sure, sure - 1])
        of_two = Multinomial().value(xp.asarray([[0.0, 1.0], [1.0, 0.0]]), both / 2)
        np.testing.assert_allclose(np.asarray(of_two), costs)
        pinball = Pinball(0.25).value(Y, F)
        share = 0.75 if f > 0 else 0.25
        np.testing.assert_allclose(np.asarray(pinball), share * np.abs(f - np.array([0, 1])))


def test_a_rate_too_large_is_finite_and_far_from_good(xp):
    Y, F = xp.asarray([[0.0], [3.0]]), xp.asarray([[1e5], [1e5]])
    for name in ("value", "slope", "curvature"):
        found = np.asarray(getattr(Poisson(), name)(Y, F))
        assert np.isfinite(found).all()
        assert (found > 1e15).all()


def test_two_classes_are_the_same_to_either_loss(rng):
    y, f = targets(Logistic(), rng), rng.standard_normal((ROWS, 1))
    Y, F = np.hstack([1 - y, y]), np.hstack([-f / 2, f / 2])
    np.testing.assert_allclose(Logistic().value(y, f), Multinomial().value(Y, F), rtol=1e-12)
    np.testing.assert_allclose(chances(f), chances(F), rtol=1e-12)
    np.testing.assert_allclose(log_chances(f), log_chances(F), rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_chances(F)), chances(F), rtol=1e-12)
    assert np.isfinite(log_chances(np.array([[900.0]]))).all()


@each(EVERY[6:], NAMES[6:])
def test_scores_are_the_downhill_slopes_at_a_constant_in_their_unit(rng, loss):
    Y = targets(loss, rng)
    F = np.tile(loss.constant, (ROWS, 1))
    np.testing.assert_allclose(loss.targets(Y), -loss.loss.slope(Y, F) / loss.unit)
    assert loss.reported(4.0, 17.0) == pytest.approx(2 * loss.unit)


def test_errors_are_reported_in_the_targets_units():
    assert SQUARED.reported(4.0, 3.0) == 6.0
    assert Pinball().reported(4.0, 3.0) == 12.0
    assert Poisson().reported(4.0, 3.0) == Logistic().reported(4.0, 3.0) == 4.0
    np.testing.assert_allclose(Poisson().prediction(np.log([2.0, 3.0])), [2.0, 3.0])


def test_losses_are_known_by_name_or_given():
    assert get_loss("squared") is SQUARED
    assert isinstance(get_loss("poisson"), Poisson)
    given = Pinball(0.9)
    assert get_loss(given) is given
    for wrong in ("hinge", None, 3, Pinball, ["squared"]):
        with pytest.raises(ValueError, match=r"loss=.*accepted: 'squared', 'poisson', 'pinball'"):
            get_loss(wrong)
    assert isinstance(class_loss(2), Logistic)
    assert isinstance(class_loss(3), Multinomial)


@pytest.mark.parametrize("quantile", [0, 1, -0.1, "half", True, np.nan])
def test_a_quantile_is_a_number_between_zero_and_one(quantile):
    with pytest.raises(ValueError, match=r"quantile=.*between 0 and 1"):
        Pinball(quantile)
    with pytest.raises(ValueError, match="smoothing=0 "):
        Pinball(0.5, 0)


def test_counts_are_not_negative_and_not_all_zero():
    Poisson().check_targets(np.array([[0.0], [2.5]]))
    with pytest.raises(ValueError, match="at least 0, got -2"):
        Poisson().check_targets(np.array([[1.0], [-2.0]]))
    with pytest.raises(ValueError, match="not zero in every row"):
        Poisson().check_targets(np.array([[1.0, 0.0], [2.0, 0.0]]))


# Sums over the rows of an engine.

D, N_FEATURES = 6, 4
COLUMNS = np.array([0, 2, 3])


def engine_of(Y, X=None, weight=None, rows=7):
    X = np.random.RandomState(4).standard_normal((len(Y), N_FEATURES)) if X is None else X
    inputs = Standardise(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    standard = Standardisation(inputs, np.zeros(Y.shape[1]), 1.0)
    return LocalEngine(X, Y, weight, standard, BlockPlan(rows, cached=True), np.dtype(np.float64))


@pytest.fixture(params=[True, False], ids=["weighted", "plain"])
def weight(request):
    return np.random.RandomState(5).uniform(0.2, 3, ROWS) if request.param else None


def model_of(loss, Y):
    rng = np.random.RandomState(6)
    q = loss.n_outputs(Y.shape[1])
    W, b = rng.standard_normal((COLUMNS.size, D)), rng.uniform(0, 6, D)
    return Expansion(COLUMNS, W, b, rng.standard_normal((D, q)), rng.standard_normal(q))


def mean_loss(loss, X, Y, weight, W, b, a, c):
    """Row by row."""
    w = np.ones(len(Y)) if weight is None else weight
    total = 0.0
    for x, y, share in zip(X[:, COLUMNS], Y, w, strict=True):
        z = np.sqrt(2 / b.size) * np.cos(x @ W + b)
        total += share * loss.value(y[None, :], (z @ a + c)[None, :])[0]
    return total / w.sum()


def differences(function, point, step=1e-5):
    found = np.empty_like(point)
    for index in np.ndindex(*point.shape):
        move = np.zeros_like(point)
        move[index] = step
        found[index] = (function(point + move) - function(point - move)) / (2 * step)
    return found


@each()
def test_the_passes_of_an_engine_agree_with_differences_of_a_loop_over_rows(rng, loss, weight):
    X, Y = rng.standard_normal((ROWS, N_FEATURES)), targets(loss, rng)
    model = model_of(loss, Y)
    parts = {"W": model.W, "b": model.b, "a": model.a, "c": model.c}

    def mean(**changes):
        return mean_loss(loss, X, Y, weight, **parts | changes)

    with engine_of(Y, X, weight) as engine:
        value, dW, db = engine.loss_pull_back(loss, model)
        assert engine.loss(loss, model) == pytest.approx(mean(), rel=1e-12)
        assert value == pytest.approx(mean(), rel=1e-12)
        np.testing.assert_allclose(dW, differences(lambda W: mean(W=W), model.W), atol=1e-8)
        np.testing.assert_allclose(db, differences(lambda b: mean(b=b), model.b), atol=1e-8)
        value, slope = engine.loss_slope(loss, model)
        assert value == pytest.approx(mean(), rel=1e-12)
        np.testing.assert_allclose(slope[:-1], differences(lambda a: mean(a=a), model.a), atol=1e-8)
        np.testing.assert_allclose(slope[-1], differences(lambda c: mean(c=c), model.c), atol=1e-8)


@each()
def test_weighted_statistics_are_second_moments_with_the_curvatures(rng, loss, weight):
    X, Y = rng.standard_normal((ROWS, N_FEATURES)), targets(loss, rng)
    model = model_of(loss, Y)
    Z = features.random_features(X[:, COLUMNS], model.W, model.b)
    w = np.ones(ROWS) if weight is None else weight
    h = w * loss.curvature(Y, Z @ model.a + model.c)
    expected = np.zeros((D + 1, D + 1))
    for z, share in zip(Z, h, strict=True):
        expected += share * np.outer([*z, 1.0], [*z, 1.0]) / w.sum()
    with engine_of(Y, X, weight) as engine:
        value, slope, second = engine.weighted_statistics(loss, model)
        np.testing.assert_allclose(second, expected, rtol=1e-10, atol=1e-12)
        alone = engine.loss_slope(loss, model)
        assert value == pytest.approx(alone[0], rel=1e-12)
        np.testing.assert_allclose(slope, alone[1], rtol=1e-10, atol=1e-12)


@each([Logistic(), Poisson()], ["logistic", "poisson"])
def test_for_one_output_the_second_derivative_is_that_of_the_mean_loss(rng, loss, weight):
    X, Y = rng.standard_normal((ROWS, N_FEATURES)), targets(loss, rng, n_targets=1)
    model = model_of(loss, Y)
    with engine_of(Y, X, weight) as engine:
        _, _, second = engine.weighted_statistics(loss, model)

        def slope(x):
            there = Expansion(COLUMNS, model.W, model.b, x[:-1, None], x[-1:])
            return engine.loss_slope(loss, there)[1][:, 0]

        x = np.append(model.a[:, 0], model.c)
        numeric = [(slope(x + move) - slope(x - move)) / 2e-5 for move in 1e-5 * np.eye(D + 1)]
    np.testing.assert_allclose(second, numeric, atol=1e-8)


@each()
def test_comparisons_of_models_are_of_the_losses_of_rows(rng, loss, weight):
    X, Y = rng.standard_normal((ROWS, N_FEATURES)), targets(loss, rng)
    one = model_of(loss, Y)
    other = Expansion(np.array([1]), one.W[:1, :4], one.b[:4], -one.a[:4], 2 * one.c)
    w = np.ones(ROWS) if weight is None else weight
    F = [features.random_features(X[:, p.columns], p.W, p.b) @ p.a + p.c for p in (one, other)]
    rows = [loss.value(Y, f) for f in F]
    with engine_of(Y, X, weight) as engine:
        mean, error = engine.difference(loss, one, other)
        shares = np.array([[1.0, 0.0], [0.25, 0.75]])
        blends = engine.blend_losses(loss, shares, [one, other])
    for k, delta in enumerate((rows[0] - rows[1], np.sqrt(rows[0]) - np.sqrt(rows[1]))):
        average = np.average(delta, weights=w)
        assert mean[k] == pytest.approx(average)
        spread = np.average((delta - average) ** 2, weights=w)
        assert error[k] == pytest.approx(np.sqrt(spread / (w.sum() - 1)))
    means = [loss.value(Y, s[0] * F[0] + s[1] * F[1]) for s in shares]
    np.testing.assert_allclose(blends, [np.average(m, weights=w) for m in means])


@each()
def test_the_columns_of_a_group_are_shuffled_together(rng, loss, weight):
    X, Y = rng.standard_normal((ROWS, N_FEATURES)), targets(loss, rng)
    model = model_of(loss, Y)
    groups = [np.array([1]), np.array([0, 2])]  # positions among the model's columns
    w = np.ones(ROWS) if weight is None else weight

    def rows_of(X):
        Z = features.random_features(X[:, COLUMNS], model.W, model.b)
        return loss.value(Y, Z @ model.a + model.c)

    with engine_of(Y, X, weight, rows=ROWS) as engine:
        rise, error = engine.permutation_loss(loss, model, groups)
    order = np.random.RandomState(ROWS).permutation(ROWS)
    for group, found, spread in zip(groups, rise, error, strict=True):
        moved = X.copy()
        moved[:, COLUMNS[group]] = X[order][:, COLUMNS[group]]
        delta = rows_of(moved) - rows_of(X)
        average = np.average(delta, weights=w)
        assert found == pytest.approx(average)
        variance = np.average((delta - average) ** 2, weights=w)
        assert spread == pytest.approx(np.sqrt(variance / (w.sum() - 1)))


# The best constant.


class Untold:
    """A loss that says nothing of its best constant: it is found by steps."""

    def start(self, mean):
        return None


class UntoldLogistic(Untold, Logistic):
    pass


class UntoldMultinomial(Untold, Multinomial):
    pass


class UntoldPoisson(Untold, Poisson):
    pass


@pytest.mark.parametrize("loss", [Multinomial(), UntoldMultinomial()], ids=["told", "by steps"])
def test_the_best_constant_of_classes_is_the_log_of_their_shares(rng, weight, loss):
    y = labels(rng)
    w = np.ones(ROWS) if weight is None else weight
    shares = np.bincount(y, weights=w) / w.sum()
    with engine_of(np.eye(3)[y], weight=weight) as engine:
        found = best_constant(engine, loss, shares)
    np.testing.assert_allclose(special.softmax(found.c), shares, rtol=1e-4)
    assert found.loss == pytest.approx(stats.entropy(shares), rel=1e-8)


@pytest.mark.parametrize("loss", [Logistic(), UntoldLogistic()], ids=["told", "by steps"])
def test_the_best_constant_of_two_classes_is_the_log_of_their_odds(rng, weight, loss):
    y = targets(Logistic(), rng)
    mean = np.average(y[:, 0], weights=weight)
    with engine_of(y, weight=weight) as engine:
        found = best_constant(engine, loss, np.array([mean]))
    assert found.c[0] == pytest.approx(special.logit(mean), rel=1e-4)
    assert found.curvature == pytest.approx(mean * (1 - mean), rel=1e-4)
    assert found.spread**2 == pytest.approx(mean * (1 - mean), rel=1e-4)


@pytest.mark.parametrize("loss", [Poisson(), UntoldPoisson()], ids=["told", "by steps"])
def test_the_best_constant_of_counts_is_the_log_of_their_means(rng, weight, loss):
    Y = targets(Poisson(), rng) * [1.0, 7.0]
    means = np.average(Y, weights=weight, axis=0)
    with engine_of(Y, weight=weight) as engine:
        found = best_constant(engine, loss, means)
    np.testing.assert_allclose(found.c, np.log(means), atol=1e-4)


def test_a_class_that_these_rows_lack_has_its_share_of_all_rows(rng):
    y = labels(rng)
    some = y[y > 0]
    with engine_of(np.eye(3)[some]) as engine:
        found = best_constant(engine, Multinomial(), np.array(COUNTS) / ROWS)
    np.testing.assert_allclose(special.softmax(found.c), np.array(COUNTS) / ROWS, rtol=1e-10)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_best_constant_of_the_pinball_loss_is_the_quantile(rng, quantile):
    y = rng.standard_normal((4000, 1))
    with engine_of(y, rows=500) as engine:
        found = best_constant(engine, Pinball(quantile, 0.01), y.mean(axis=0))
    assert found.c[0] == pytest.approx(np.quantile(y, quantile), abs=0.01)


@each([Logistic(), Multinomial(), Poisson()], ["logistic", "multinomial", "poisson"])
def test_these_losses_tell_their_best_constant_from_the_mean(rng, loss):
    Y = targets(loss, rng)
    with engine_of(Y) as engine:
        start = loss.start(Y.mean(axis=0))
        np.testing.assert_allclose(engine.constant_statistics(loss, start)[1], 0, atol=1e-12)
        np.testing.assert_array_equal(best_constant(engine, loss, Y.mean(axis=0)).c, start)


def test_a_constant_of_the_squared_loss_is_the_mean(rng, weight):
    Y = targets(SQUARED, rng)
    with engine_of(Y, weight=weight) as engine:
        found = best_constant(engine, SQUARED, np.zeros(2))
    np.testing.assert_allclose(found.c, np.average(Y, weights=weight, axis=0), rtol=1e-10)


def test_every_loss_of_the_module_is_tested_here():
    known = {type(loss) for loss in EVERY}
    assert {kind for kind in _below(Loss) if kind.__module__ == Loss.__module__} <= known


def _below(kind):
    return {kind, *(k for each in kind.__subclasses__() for k in _below(each))} - {Loss}
