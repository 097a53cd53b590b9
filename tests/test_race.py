"""The race between starts, and the penalty that validates best at given frequencies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from small_problems import prepare, search_of
from srff.core.coefficients import training_loss
from srff.core.kernels import Gaussian
from srff.core.losses import Poisson
from srff.core.parametrisations import Metric
from srff.selection import race as module
from srff.selection.config import CONFIG
from srff.selection.descents import Start
from srff.selection.penalty import best_penalty
from srff.selection.race import Runner, race


@pytest.fixture(scope="module")
def problem():
    rng = np.random.RandomState(0)
    X = rng.uniform(-2, 2, (300, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, 300)
    with prepare(
        X, y[:, None], None, rng, kernel=Gaussian(), n_components=30, budget=None, validation=0.2
    ) as p:
        yield p


def _start(problem, factor=1.0):
    point = Metric(np.diag(factor * problem.scale), problem.E, problem.b)
    return Start("metric", np.arange(6), point, problem.at_constant(), "metric")


def test_all_starts_run_until_their_error_rises_or_they_are_far_behind(problem, monkeypatch):
    errors = {"good": [1.0, 0.5, 0.2], "risen": [0.9, 0.95], "behind": [1.2, 0.9]}
    tried = {name: [] for name in errors}

    def descend_penalties(search, start, alphas, loss):
        (alpha,) = alphas
        tried[start.family].append(alpha)
        error = errors[start.family][len(tried[start.family]) - 1]
        return replace(candidate, validation_error=error)

    search = search_of(problem, config=replace(CONFIG, runner_error=1.5))
    real = module.descend_penalties
    candidate = real(search, _start(problem), np.array([0.1]), problem.search_loss)
    monkeypatch.setattr(module, "descend_penalties", descend_penalties)
    starts = [replace(_start(problem), family=name) for name in errors]
    monkeypatch.setattr(module, "starts", lambda search: starts)
    monkeypatch.setattr(module, "first_alphas", lambda *_: np.array([1.0, 0.1, 0.01]))
    runners = race([search])
    assert [r.start.family for r in runners] == list(errors)
    assert [r.best.validation_error for r in runners] == [0.2, 0.9, 0.9]
    assert tried == {"good": [1.0, 0.1, 0.01], "risen": [1.0, 0.1], "behind": [1.0, 0.1]}
    assert len(search.log.candidates) == 7


def test_a_runner_goes_on_from_where_it_ended(problem):
    search = search_of(problem)
    runner = Runner(search, _start(problem), np.array([1e-1, 1e-3]))
    first = runner.descend()
    further = runner.after(first)
    assert further.best is first
    assert further.alphas.tolist() == [1e-3]
    np.testing.assert_array_equal(further.start.point.W, first.point.W)
    assert further.after(further.descend()).out().alphas.size == 0


def test_the_best_penalty_is_the_one_of_the_lowest_validation_error(problem):
    waves = problem.scale[:, None] * problem.E, problem.b, np.arange(6)
    alphas = np.logspace(1, -6, 8)
    near = problem.at_constant()
    alpha, e, error = best_penalty(
        problem.training, problem.validation, waves, alphas, problem.loss, near
    )
    S, V = (engine.statistics(*waves) for engine in (problem.training, problem.validation))
    each = [training_loss(S, a).coef for a in alphas]
    errors = [float(V.s - 2 * np.sum(a * V.c) + np.sum(a * (V.G @ a))) / V.n for a in each]
    assert alpha == alphas[np.argmin(errors)]
    assert error == pytest.approx(min(errors), rel=1e-5)
    np.testing.assert_allclose(e.coef, each[int(np.argmin(errors))])


def test_the_best_penalty_of_a_loss_that_is_not_quadratic():
    rng = np.random.RandomState(1)
    X = rng.uniform(-2, 2, (200, 3))
    counts = rng.poisson(np.exp(np.sin(2 * X[:, 0]))).astype(float)
    with prepare(
        X,
        counts[:, None],
        None,
        rng,
        kernel=Gaussian(),
        n_components=20,
        budget=None,
        validation=0.3,
        loss=Poisson(),
    ) as p:
        waves = p.scale[:, None] * p.E, p.b, np.arange(3)
        alphas = np.array([1.0, 1e-2, 1e-6])
        alpha, e, error = best_penalty(
            p.training, p.validation, waves, alphas, p.loss, p.at_constant()
        )
        alone = [
            best_penalty(p.training, p.validation, waves, np.array([a]), p.loss, p.at_constant())[2]
            for a in alphas
        ]
    assert alpha == alphas[np.argmin(alone)]
    assert error == pytest.approx(min(alone), rel=1e-4)
    assert e.constant.shape == (1,)
