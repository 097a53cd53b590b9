"""Elimination and the last models, step by step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from small_problems import prepare, search_of
from srff.core.candidate import Candidate, Member, validated
from srff.core.features import random_features
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED
from srff.core.objectives import TrainingLoss
from srff.core.parametrisations import Metric, Scales
from srff.selection.blend import mean_of
from srff.selection.config import CONFIG
from srff.selection.descents import Start, continue_with_more_rows, descend_penalties
from srff.selection.draws import square_metric
from srff.selection.eliminate import behind, eliminate, hopeless, importance, outdone
from srff.selection.final import last_models
from srff.selection.panel import panel_of
from srff.selection.starts import first_alphas


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
def search(problem):
    return search_of(problem)


def begun(search, point, columns, kind):
    return Start(kind, columns, point, search.problem.at_constant(point.b.size))


def descended(search, point, columns, alphas, kind):
    start = begun(search, point, columns, kind)
    return descend_penalties(search, start, np.array(alphas), search.problem.loss)


@pytest.fixture(scope="module")
def even(problem):
    return Scales(problem.scale, problem.E, problem.b)


@pytest.fixture(scope="module")
def first(search, even):
    return descended(search, even, np.arange(10), [1e-2, 1e-3, 1e-4], "scales")


@pytest.fixture(scope="module")
def chosen(search, problem):
    point = Metric(np.eye(3), problem.E[:3], problem.b)
    return descended(search, point, np.arange(3), [1e-2, 1e-3, 1e-4], "metric")


def test_the_unit_of_alpha_is_the_largest_eigenvalue(problem, search, even):
    start = begun(search, even, np.arange(10), "scales")
    S = search.engine.statistics(even.W, even.b, np.arange(10))
    top = np.linalg.eigvalsh(S.G / S.n)[-1]
    np.testing.assert_allclose(first_alphas(search, start), top * np.array(CONFIG.first_alphas))
    given = search_of(problem, alpha=0.3)
    assert first_alphas(given, start).tolist() == [0.3]


def test_a_descent_down_the_penalties_keeps_the_best_on_validation(search, even):
    columns = np.arange(10)
    alone = [descended(search, even, columns, [alpha], "scales") for alpha in (1.0, 1e-3)]
    both = descended(search, even, columns, [1e-3, 1.0], "scales")
    assert both.validation_error <= alone[0].validation_error
    assert both.alpha in (1.0, 1e-3)
    assert both.validation_error == pytest.approx(search.validation.loss(SQUARED, both.expansion()))
    assert both.objective[-1] <= both.objective[0]


def at(search, point, columns, alpha, kind, engine=None):
    """The model at a point, solved on all training rows or on those of an engine."""
    engine = engine or search.engine
    near = search.problem.at_constant()
    e = TrainingLoss(alpha).evaluate(engine, point.W, point.b, columns, near)
    members = (Member(point.W, point.b, alpha, e.coef, e.constant),)
    model = Candidate(kind, "standard", columns, members, SQUARED, point=point, n_rows=engine.n)
    return validated(model, search.validation)


def test_a_descent_down_the_penalties_gives_up_when_the_error_has_risen(search, even, monkeypatch):
    errors = iter([1.0, 0.9, 0.91, 0.1])

    def validated_so(candidate, validation):
        return replace(candidate, validation_error=next(errors))

    monkeypatch.setattr("srff.selection.descents.validated", validated_so)
    model = descended(search, even, np.arange(10), [1e-1, 1e-2, 1e-3, 1e-4], "scales")
    assert (model.validation_error, model.alpha) == (0.9, 1e-2)
    assert next(errors) == 0.1  # the last alpha was not tried


def eliminated(search, first):
    """The candidates of the only fold."""
    panels = eliminate((search,), [panel_of((search,), [first])])
    return [panel.each[0] for panel in panels]


def test_elimination_gives_a_model_of_each_size(problem, first, monkeypatch):
    search = search_of(problem, config=replace(CONFIG, one_by_one=6))
    monkeypatch.setattr("srff.selection.eliminate.hopeless", lambda search, models: False)
    models = eliminated(search, first)
    assert [m.columns.size for m in models] == [10, 7, 5, 4, 3, 2, 1]  # a third at a time
    for larger, smaller in pairwise(models):
        assert set(smaller.columns) < set(larger.columns)
    (three,) = [m for m in models if m.columns.size == 3]
    assert three.columns.tolist() == [0, 1, 2]
    assert three.validation_error == min(m.validation_error for m in models)


def test_elimination_stops_when_it_is_hopeless_and_holds_a_given_alpha(problem, first, monkeypatch):
    stop = "srff.selection.eliminate.hopeless"
    monkeypatch.setattr(stop, lambda search, models: len(models) == 3)
    models = eliminated(search_of(problem, alpha=first.alpha), first)
    assert [m.columns.size for m in models] == [10, 9, 8]
    assert {m.alpha for m in models} == {first.alpha}


def test_a_size_that_is_asked_for_is_reached_hopeless_or_not(problem, first, monkeypatch):
    monkeypatch.setattr("srff.selection.eliminate.hopeless", lambda search, models: True)
    for size in (4, 1):
        models = eliminated(search_of(problem, n_variables=size), first)
        assert models[-1].columns.size == size


def test_errors_far_above_the_best_are_hopeless(search, first):
    def after(*errors):
        each = [replace(first, validation_error=e) for e in errors]
        return hopeless(search, [panel_of((search,), [candidate]) for candidate in each])

    assert not after(1.0)
    assert not after(1.0, 1.1)
    assert after(1.0, 1.1, 1.3)
    search = replace(search, config=replace(CONFIG, hopeless_sizes=2))
    assert not after(1.0, 1.1, 1.3)
    assert after(1.0, 1.3, 1.3)


def test_an_elimination_ends_when_smaller_rivals_are_clearly_better(search, first):
    def of(size, error):
        candidate = replace(first, columns=np.arange(size), validation_error=error)
        return panel_of((search,), [candidate])

    models = [of(size, 2.0) for size in (10, 7, 5, 4)]
    assert not behind((search,), models, [])
    assert behind((search,), models, [of(4, 1.0)])
    assert not behind((search,), models, [of(5, 1.0)])  # nothing as small as the last was better
    assert not behind((search,), models, [of(3, 1.9)])  # not clearly
    assert not behind((search,), models[:1], [of(3, 1.0)])  # too early to tell


def test_an_elimination_ends_when_another_of_its_size_is_better_beyond_doubt(
    search, first, monkeypatch
):
    def of(size, error):
        candidate = replace(first, columns=np.arange(size), validation_error=error)
        return panel_of((search,), [candidate])

    def differs(by):
        rise = lambda folds, one, two: (np.array([by, 0.0]), np.ones(2))  # noqa: E731
        monkeypatch.setattr("srff.selection.eliminate.rise", rise)

    limit = CONFIG.outdone
    differs(limit + 0.1)
    assert outdone((search,), of(5, 2.0), [of(5, 1.9)])
    assert not outdone((search,), of(5, 2.0), [of(6, 1.0)])  # larger
    assert not outdone((search,), of(5, 2.0), [of(4, 2.1)])  # not better
    assert not outdone((search,), of(5, 2.0), [])
    many = CONFIG.one_by_one + 1
    assert not outdone((search,), of(many, 2.0), [of(many, 1.0)])  # too early to tell
    differs(limit - 0.1)
    assert not outdone((search,), of(5, 2.0), [of(5, 1.0)])


def test_a_model_grows_on_more_rows_from_where_it_stands(problem, chosen):
    search = search_of(problem, config=replace(CONFIG, search_rows=100))
    small = at(search, chosen.point, chosen.columns, chosen.alpha, "metric")
    more = continue_with_more_rows(search, small)
    assert small.n_rows < more.n_rows == problem.training.n
    assert more.alpha == pytest.approx(CONFIG.more_rows_alpha * small.alpha)
    assert more.validation_error < small.validation_error
    assert more.columns.tolist() == small.columns.tolist()


def test_the_variables_that_matter_are_the_most_important(search, first):
    score = importance(search, first)
    assert set(np.argsort(-score)[:3]) == {0, 1, 2}


def test_a_variable_that_is_missed_comes_before_a_faster_one_that_is_not(search, problem):
    columns = np.array([1, 2, 9])
    point = Scales(np.array([0.5, 0.5, 0.55]), problem.E[columns], problem.b)
    model = at(search, point, columns, 1e-2, "scales")
    assert model.strength().argmax() == 2
    assert importance(search, model).argmin() == 2


def last(problem, chosen, report=lambda progress: None, **request):
    """The last models, with as many wide features as rows allow them quickly."""
    fresh = replace(problem, rng=np.random.RandomState(0))
    config = replace(CONFIG, wide_first=64)
    request = {"wide_features": 128} | request
    search = search_of(fresh, report=report, config=config, **request)
    return last_models(search, chosen, chosen.validation_error)


def test_all_kinds_compete_and_none_reads_other_columns(problem, search, chosen):
    reports = []
    models = last(problem, chosen, reports.append)
    assert [m.columns.tolist() for m in models] == [[0, 1, 2]] * len(models)
    assert reports
    kinds = {m.kind for m in models}
    assert kinds == {"scales", "metric", "low order", "wide", "frequencies", "blend"}
    for model in models:
        error = search.validation.loss(SQUARED, model.expansion())
        assert model.validation_error == pytest.approx(error, rel=1e-4, abs=1e-6)
    best = min(m.validation_error for m in models[:-1])
    assert models[-1].kind == "blend"
    assert models[-1].validation_error <= best * (1 + 1e-6)


def test_a_fixed_alpha_is_that_of_every_kind(problem, chosen):
    models = last(problem, chosen, alpha=chosen.alpha)
    assert {m.alpha for model in models for m in model.members} == {chosen.alpha}


def test_kinds_that_are_not_asked_for_do_not_compete(problem, chosen):
    models = last(problem, chosen, refine="frequencies", wide_features=0)
    assert {m.kind for m in models} == {"frequencies", "blend"}


def test_a_model_that_stands_twice_in_a_mean_counts_twice(search, chosen):
    other = at(search, chosen.point, chosen.columns, 10.0, "metric")
    mean = mean_of(search, [chosen, other, chosen], "blend")
    U = np.random.RandomState(0).standard_normal((5, 3))

    def values(model):
        p = model.expansion()
        return random_features(U, p.W, p.b) @ p.a + p.c

    expected = (2 * values(chosen) + values(other)) / 3
    np.testing.assert_allclose(values(mean), expected, rtol=1e-10)
    assert len(mean.members) == 2


def test_a_square_metric_has_the_same_distribution(search, problem):
    L = np.random.RandomState(0).standard_normal((2, 5))
    point = Metric(L, problem.E[:5], problem.b)
    model = at(search, point, np.arange(2), 1e-2, "metric")
    square = square_metric(model)
    assert square.shape == (2, 2)
    np.testing.assert_allclose(square @ square.T, L @ L.T, rtol=1e-10)
