"""The race between starts in all folds, and the penalty that validates best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from small_problems import prepare, search_of
from srff.core.coefficients import training_loss
from srff.core.kernels import Gaussian
from srff.core.losses import Poisson
from srff.core.parametrisations import Metric
from srff.selection import lines
from srff.selection.config import CONFIG
from srff.selection.descents import Start
from srff.selection.penalty import best_penalty
from srff.selection.race import race


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


def test_all_lines_run_until_their_error_rises_or_they_are_far_behind(problem, monkeypatch):
    errors = {"good": [1.0, 0.5, 0.2], "risen": [0.9, 0.95], "behind": [1.2, 0.9]}
    tried = {name: [] for name in errors}

    def descend_penalties(search, start, alphas, loss, effort):
        (alpha,) = alphas
        tried[start.family].append(alpha)
        error = errors[start.family][len(tried[start.family]) - 1]
        return replace(candidate, validation_error=error)

    search = search_of(problem)
    candidate = lines.descend_penalties(search, _start(problem), np.array([0.1]), problem.loss)
    monkeypatch.setattr(lines, "descend_penalties", descend_penalties)
    alphas = np.array([1.0, 0.1, 0.01])
    begun = [
        lines.Line((search,), (lines.Descent(replace(_start(problem), family=name), alphas),))
        for name in errors
    ]
    ended = lines.run(begun, limit=1.5)
    assert [line.best.error for line in ended] == [0.2, 0.9, 0.9]
    assert tried == {"good": [1.0, 0.1, 0.01], "risen": [1.0, 0.1], "behind": [1.0, 0.1]}
    assert len(search.log.candidates) == 7


def test_a_patient_line_that_is_behind_at_the_first_penalty_sees_another(problem, monkeypatch):
    errors = {"fast": [1.0, 0.9, 0.8], "slow": [2.0, 0.5, 0.1], "lost": [2.0, 1.9, 0.0]}
    tried = dict.fromkeys(errors, 0)

    def descend_penalties(search, start, alphas, loss, effort):
        tried[start.family] += 1
        return replace(candidate, validation_error=errors[start.family][tried[start.family] - 1])

    search = search_of(problem)
    candidate = lines.descend_penalties(search, _start(problem), np.array([0.1]), problem.loss)
    monkeypatch.setattr(lines, "descend_penalties", descend_penalties)
    alphas = np.array([1.0, 0.1, 0.01])
    begun = [
        lines.Line(
            (search,),
            (lines.Descent(replace(_start(problem), family=name), alphas),),
            patient=name != "fast",
        )
        for name in errors
    ]
    assert CONFIG.screened_rounds == 2
    lines.run(begun, limit=1.5)
    assert tried == {"fast": 2, "slow": 3, "lost": 2}


def test_folds_go_down_the_same_penalties_and_a_candidate_that_is_given_stays(problem):
    search = search_of(problem)
    folds = (search, search)
    alphas = np.array([1e-1, 1e-3])
    stays = lines.Descent(_start(problem), alphas).at(0, search, search.effort)
    (line,) = lines.run([lines.Line(folds, (lines.Descent(_start(problem), alphas), stays))])
    assert [panel.each[0].alpha for panel in line.made] == alphas[: len(line.made)].tolist()
    assert all(panel.each[1] is stays for panel in line.made)
    both = [c.validation_error for c in line.best.each]
    assert line.best.error == pytest.approx(np.mean(both))
    assert line.made[line.number] is line.best


@pytest.mark.parametrize("leads", [True, False])
def test_with_many_rows_the_first_fold_runs_the_race_and_the_others_follow(leads):
    rng = np.random.RandomState(0)
    X = rng.uniform(-2, 2, (300, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, 300)
    config = replace(CONFIG, lead_rows=200 if leads else 400, families=("metric", "scales"))
    with prepare(
        X, y[:, None], None, rng, kernel=Gaussian(), n_components=30, budget=None, validation=3
    ) as p:
        searches = tuple(search_of(fold, config=config) for fold in p.folds)
        folds, firsts, untouched = race([searches])
    assert folds is searches
    assert 1 <= len(firsts) <= 2
    assert untouched.folds == (folds[1:] if leads else folds)
    assert all(len(panel.each) == len(untouched.folds) for panel in untouched.panels)
    assert len(untouched.panels) == len(firsts) if leads else len(untouched.panels) > len(firsts)
    assert all(len(panel.each) == 3 for panel in firsts)
    assert all(c.columns.tolist() == list(range(6)) for panel in firsts for c in panel.each)
    # Whether the error that was told of a line is that of the first fold alone.
    told = {c.validation_error for c in searches[0].log.candidates}
    assert all((panel.each[0].validation_error in told) is leads for panel in firsts)
    assert all((panel.error in told) is not leads for panel in firsts)


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
