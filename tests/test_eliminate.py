"""Elimination and the last models, step by step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from problems import prepare
from srff.core.candidate import Candidate, Member, validated
from srff.core.features import random_features
from srff.core.groups import Groups
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED
from srff.core.objectives import TrainingLoss
from srff.core.parametrisations import Metric, Scales
from srff.selection import final as finish
from srff.selection.eliminate import (
    Effort,
    behind,
    eliminate,
    grown,
    hopeless,
    importance,
    top_eigenvalue,
    walk,
)

EFFORT = Effort(8, 1e-5)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((360, 10))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, 360)
    with prepare(
        X,
        y[:, None],
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=30,
        budget=None,
        validation=0.2,
        n_jobs=1,
    ) as problem:
        yield problem


@pytest.fixture(scope="module")
def data(problem):
    return problem.scaled["standard"]


def walked(problem, data, point, columns, alphas, kind):
    return walk(
        data,
        data.training(),
        point,
        columns,
        np.array(alphas),
        kind,
        start=problem.at_constant(),
        loss=problem.loss,
        effort=EFFORT,
    )


@pytest.fixture(scope="module")
def first(problem, data):
    point = Scales(problem.scale, problem.E, problem.b)
    return walked(problem, data, point, np.arange(10), [1e-2, 1e-3, 1e-4], "scales")


@pytest.fixture(scope="module")
def chosen(problem, data):
    point = Metric(np.eye(3), problem.E[:3], problem.b)
    return walked(problem, data, point, np.arange(3), [1e-2, 1e-3, 1e-4], "metric")


def test_the_unit_of_alpha_is_the_largest_eigenvalue(problem, data):
    point = Scales(problem.scale, problem.E, problem.b)
    S = data.training().statistics(point.W, point.b, np.arange(10))
    expected = np.linalg.eigvalsh(S.G / S.n)[-1]
    assert top_eigenvalue(data.training(), point, np.arange(10)) == pytest.approx(expected)


def test_a_walk_keeps_the_best_on_validation(problem, data):
    point = Scales(problem.scale, problem.E, problem.b)
    columns = np.arange(10)
    alone = [walked(problem, data, point, columns, [alpha], "scales") for alpha in (1.0, 1e-3)]
    both = walked(problem, data, point, columns, [1e-3, 1.0], "scales")
    assert both.validation_error <= alone[0].validation_error
    assert both.alpha in (1.0, 1e-3)
    assert both.validation_error == pytest.approx(data.validation.loss(SQUARED, both.expansion()))
    assert both.objective[-1] <= both.objective[0]


def at(problem, data, point, columns, alpha, kind, engine=None):
    """The model at a point, solved on all training rows or on those of an engine."""
    engine = engine or data.training()
    e = TrainingLoss(alpha).evaluate(engine, point.W, point.b, columns, problem.at_constant())
    members = (Member(point.W, point.b, alpha, e.coef, e.constant),)
    model = Candidate(kind, "standard", columns, members, SQUARED, point=point, n_rows=engine.n)
    return validated(model, data.validation)


def test_a_walk_gives_up_when_the_error_has_risen(problem, data, monkeypatch):
    errors = iter([1.0, 1.05, 1.2, 0.1])

    def judged_so(model, validation):
        return replace(model, validation_error=next(errors))

    monkeypatch.setattr("srff.selection.eliminate.judged", judged_so)
    point = Scales(problem.scale, problem.E, problem.b)
    model = walked(problem, data, point, np.arange(10), [1e-1, 1e-2, 1e-3, 1e-4], "scales")
    assert (model.validation_error, model.alpha) == (1.0, 1e-1)
    assert next(errors) == 0.1  # the last alpha was not tried


def test_elimination_gives_a_model_of_each_size(data, first, monkeypatch):
    monkeypatch.setattr("srff.selection.eliminate.hopeless", lambda models: False)
    models = eliminate(data, data.training(), first, [], effort=EFFORT)
    assert [m.columns.size for m in models] == [10, 7, 5, 4, 3, 2, 1]
    for larger, smaller in pairwise(models):
        assert set(smaller.columns) < set(larger.columns)
    (three,) = [m for m in models if m.columns.size == 3]
    assert three.columns.tolist() == [0, 1, 2]
    assert three.validation_error == min(m.validation_error for m in models)


def test_elimination_stops_when_it_is_hopeless_and_holds_a_single_alpha(data, first, monkeypatch):
    monkeypatch.setattr("srff.selection.eliminate.hopeless", lambda models: len(models) == 3)
    models = eliminate(data, data.training(), first, [], effort=EFFORT, shares=np.ones(1))
    assert [m.columns.size for m in models] == [10, 7, 5]
    assert {m.alpha for m in models} == {first.alpha}


def test_a_size_that_is_asked_for_is_reached_hopeless_or_not(data, first, monkeypatch):
    monkeypatch.setattr("srff.selection.eliminate.hopeless", lambda models: True)
    for size in (4, 1):
        models = eliminate(data, data.training(), first, [], size=size, effort=EFFORT)
        assert models[-1].columns.size == size


def test_errors_far_above_the_best_are_hopeless(first):
    def after(*errors):
        return hopeless([replace(first, validation_error=e) for e in errors])

    assert not after(1.0, 2.0, 2.0)
    assert after(1.0, 2.0, 2.0, 2.0)
    assert not after(1.0, 2.0, 1.1, 2.0)


def test_an_elimination_ends_when_smaller_rivals_are_clearly_better(first):
    groups = Groups.single(10)

    def of(size, error):
        return replace(first, columns=np.arange(size), validation_error=error)

    models = [of(size, 2.0) for size in (10, 7, 5, 4)]
    assert not behind(models, [], groups)
    assert behind(models, [of(4, 1.0)], groups)
    assert not behind(models, [of(5, 1.0)], groups)  # nothing as small as the last was better
    assert not behind(models, [of(3, 1.9)], groups)  # not clearly
    assert not behind(models[:3], [of(3, 1.0)], groups)  # too early to tell


def test_a_model_grows_on_more_rows_from_where_it_stands(problem, data, chosen):
    few = data.training(100)
    small = at(problem, data, chosen.point, chosen.columns, chosen.alpha, "metric", few)
    more = grown(data, data.training(), small, small.alpha, EFFORT, lambda: None)
    assert small.n_rows < more.n_rows == data.training().n
    assert more.validation_error < small.validation_error
    assert more.columns.tolist() == small.columns.tolist()


def test_the_variables_that_matter_are_the_most_important(data, first):
    score = importance(data, first)
    assert set(np.argsort(-score)[:3]) == {0, 1, 2}


def test_a_variable_that_is_missed_comes_before_a_faster_one_that_is_not(problem, data):
    columns = np.array([0, 1, 2, 9])
    point = Scales(np.array([0.5, 0.4, 0.4, 0.6]), problem.E[columns], problem.b)
    model = at(problem, data, point, columns, 1e-4, "scales")
    assert model.strength().argmax() == 3
    assert importance(data, model).argmax() != 3


def plan(problem, **changes):
    settings = {
        "kinds": ("scales", "metric", "frequencies"),
        "n_components": 30,
        "n_wide": 128,
        "n_free": 0,
        "fixed_alpha": False,
        "effort": EFFORT,
        "problem": replace(problem, rng=np.random.RandomState(0)),
    }
    return finish.Plan(**settings | changes)


def test_all_kinds_compete_and_none_reads_other_columns(problem, data, chosen, monkeypatch):
    monkeypatch.setattr(finish, "WIDE_FIRST", 64)
    ticks = []
    models = finish.finish(
        data, *[data.training()] * 2, chosen, plan(problem), lambda: ticks.append(1)
    )
    assert [m.columns.tolist() for m in models] == [[0, 1, 2]] * len(models)
    assert ticks
    kinds = {m.kind for m in models}
    assert kinds == {"scales", "metric", "low order", "wide", "frequencies", "blend"}
    for model in models:
        error = data.validation.loss(SQUARED, model.expansion())
        assert model.validation_error == pytest.approx(error, rel=1e-4, abs=1e-6)
    best = min(m.validation_error for m in models[:-1])
    assert models[-1].kind == "blend"
    assert models[-1].validation_error <= best * (1 + 1e-6)


def test_a_fixed_alpha_is_that_of_every_kind(problem, data, chosen):
    models = finish.finish(
        data, *[data.training()] * 2, chosen, plan(problem, fixed_alpha=True), lambda: None
    )
    assert {m.alpha for model in models for m in model.members} == {chosen.alpha}


def test_kinds_that_are_not_asked_for_do_not_compete(problem, data, chosen):
    models = finish.finish(
        data,
        *[data.training()] * 2,
        chosen,
        plan(problem, kinds=("frequencies",), n_wide=0),
        lambda: None,
    )
    assert {m.kind for m in models} == {"frequencies", "blend"}


def test_a_model_that_stands_twice_in_a_mean_counts_twice(problem, data, chosen):
    other = at(problem, data, chosen.point, chosen.columns, 10.0, "metric")
    mean = finish._mean([chosen, other, chosen], data, "blend")
    U = np.random.RandomState(0).standard_normal((5, 3))

    def values(model):
        p = model.expansion()
        return random_features(U, p.W, p.b) @ p.a + p.c

    expected = (2 * values(chosen) + values(other)) / 3
    np.testing.assert_allclose(values(mean), expected, rtol=1e-10)
    assert len(mean.members) == 2


def test_a_square_metric_has_the_same_distribution(problem, data):
    L = np.random.RandomState(0).standard_normal((2, 5))
    point = Metric(L, problem.E[:5], problem.b)
    model = at(problem, data, point, np.arange(2), 1e-2, "metric")
    square = finish._square(model)
    assert square.shape == (2, 2)
    np.testing.assert_allclose(square @ square.T, L @ L.T, rtol=1e-10)
