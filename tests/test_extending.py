"""The page on extending: its code runs as it stands, and what it says of its classes holds."""

from __future__ import annotations

import pickle
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import optimize
from sklearn.base import clone

from small_problems import prepare
from srff import SRFFRegressor
from srff.core.features import random_features
from srff.core.kernels import Gaussian, get_kernel
from srff.core.newton import best_constant
from srff.core.parametrisations import Free, Metric, Scales

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def page():
    """The names of the page after its code has run from the first line to the last."""
    module = ModuleType("page")
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    code = compile("\n".join(blocks), PAGE.name, "exec", dont_inherit=True)
    sys.modules["page"] = module  # where a class of the page looks itself up
    try:
        exec(code, vars(module))
        yield SimpleNamespace(**vars(module))
    finally:
        del sys.modules["page"]


@pytest.fixture
def outputs():
    """Targets, outputs and steps of outputs, on both sides of the kink."""
    return np.random.RandomState(0).normal(0, 0.3, (3, 40, 2))


def _library(name):
    extra = {"torch": "gpu", "array_api_strict": "test"}.get(name)
    return pytest.importorskip(name, reason=f"{name} is not installed (extra: {extra})")


def test_the_page_finds_both_variables_beside_rows_that_are_far_off(page):
    assert page.robust.get_support(indices=True).tolist() == [0, 1]
    assert page.error(page.robust) < 0.1 * page.error(page.plain)


@pytest.mark.parametrize("name", ["numpy", "torch", "array_api_strict"])
def test_the_loss_is_the_same_in_any_library(name, page, outputs):
    xp = _library(name)
    Y, F, _ = outputs
    there = [xp.asarray(each) for each in (Y, F)]
    for function in (page.Huber().value, page.Huber().slope, page.Huber().curvature):
        np.testing.assert_allclose(np.asarray(function(*there)), function(Y, F), rtol=1e-12)


def test_the_loss_is_nowhere_above_the_parabola_of_its_curvature(page, outputs):
    Y, F, step = outputs
    loss = page.Huber(delta=0.2)
    slope = np.sum(loss.slope(Y, F) * step, axis=1)
    parabola = loss.value(Y, F) + slope + loss.curvature(Y, F) * np.sum(step**2, axis=1) / 2
    assert (loss.value(Y, F + step) <= parabola + 1e-12).all()
    assert (loss.value(Y, F) >= 0).all()


def test_the_best_constant_of_the_loss_is_its_minimum(page):
    rng = np.random.RandomState(1)
    X, Y = rng.normal(size=(80, 2)), rng.standard_cauchy((80, 1))
    loss = page.Huber()
    with prepare(X, Y, None, rng, **_settings(), loss=loss) as problem:
        U = (Y - problem.targets.center) / problem.targets.spread
        found = best_constant(problem.training, loss, np.zeros(1)).c
    least = optimize.minimize_scalar(lambda c: loss.value(U, np.full((80, 1), c)).mean())
    np.testing.assert_allclose(found, least.x, atol=1e-4)


def test_an_estimator_with_these_classes_is_cloned_and_pickled(page):
    model = SRFFRegressor(loss=page.Huber(0.2), kernel=page.RationalQuadratic(2.0))
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(page.robust))
    np.testing.assert_array_equal(again.predict(page.X), page.robust.predict(page.X))


@pytest.mark.parametrize("nu", [0.5, 1.0, 4.0])
def test_the_mean_of_cosines_is_the_kernel(nu, page):
    rng = np.random.RandomState(2)
    kernel = page.RationalQuadratic(nu)
    differences = rng.normal(size=(5, 2))
    E = get_kernel(kernel).sample(rng, (2, 200_000))
    found = np.cos(differences @ E).mean(axis=1)
    np.testing.assert_allclose(found, kernel.evaluate(differences), atol=0.01)


def test_the_objective_is_generalised_cross_validation(page):
    """Against the matrix that takes the targets to the fitted values."""
    with _problem() as problem:
        point = Scales(problem.scale, problem.E, problem.b)
        alpha, n = 1e-3, problem.training.n
        e = _evaluated(page.CrossValidation(alpha), problem, point)
        X, Y, _ = _table()
        Z = random_features(problem.standard(X), point.W, point.b)
        Y = (Y - problem.targets.center) / problem.targets.spread
        hat = Z @ np.linalg.solve(Z.T @ Z + n * alpha * np.eye(Z.shape[1]), Z.T)
        rss = np.sum((Y - hat @ Y) ** 2)
    np.testing.assert_allclose(e.value, np.log(n * rss / (n - np.trace(hat)) ** 2), rtol=1e-8)
    np.testing.assert_allclose(e.training_error, rss / n, rtol=1e-8)


@pytest.mark.parametrize("kind", ["scales", "metric", "frequencies"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_slope_of_the_objective_is_that_of_differences(kind, weighted, page):
    with _problem(weighted) as problem:
        point = {
            "scales": Scales(problem.scale, problem.E, problem.b),
            "metric": Metric(np.diag(problem.scale), problem.E, problem.b),
            "frequencies": Free(problem.scale[:, None] * problem.E, problem.b),
        }[kind]
        objective = page.CrossValidation(alpha=1e-4)
        e = _evaluated(objective, problem, point)
        columns = np.arange(3)
        slopes = objective.slopes(problem.training, e, point.W, point.b, columns)
        along = np.random.RandomState(3).normal(size=point.vector().size)
        up, down = (
            _evaluated(objective, problem, point.at(point.vector() + h * along)).value
            for h in (1e-5, -1e-5)
        )
    np.testing.assert_allclose(point.chain(*slopes) @ along, (up - down) / 2e-5, rtol=1e-5)


def test_the_objective_keeps_off_noise_that_the_training_loss_follows(page):
    useless = slice(2, None)
    assert page.scales[useless].max() < 0.05 < page.other_scales[useless].min()


def test_a_fit_tries_the_objective_beside_its_own(page, monkeypatch):
    tried = []

    class Noted(page.CrossValidation):
        def evaluate(self, *arguments):
            tried.append(self.alpha)
            return super().evaluate(*arguments)

    monkeypatch.setattr("srff.selection.descents.Evidence", Noted)
    model = SRFFRegressor(**page.quick).fit(page.X, page.truth)
    assert tried
    assert model.get_support(indices=True).tolist() == [0, 1]


def _settings():
    return {"kernel": Gaussian(), "n_components": 15, "budget": None, "validation": None}


def _table():
    """Rows with three inputs and two targets."""
    rng = np.random.RandomState(4)
    X = rng.uniform(-2, 2, (60, 3))
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]], axis=1) + rng.normal(0, 0.1, (60, 2))
    return X, Y, rng


def _problem(weighted=False):
    X, Y, rng = _table()
    weight = rng.uniform(0.5, 2, 60) if weighted else None
    return prepare(X, Y, weight, rng, **_settings(), dtype="float64")


def _evaluated(objective, problem, point):
    start = problem.at_constant()
    return objective.evaluate(problem.training, point.W, point.b, np.arange(3), start)
