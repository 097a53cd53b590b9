"""Candidates as data: members, scales, errors, the last solve, the table."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import prepare
from srff.core import coefficients, objectives
from srff.core.candidate import Candidate, Member, constant_candidate, validated
from srff.core.features import random_features
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED
from srff.core.parametrisations import Metric, Scales
from srff.estimators.fitted import path_table
from srff.estimators.last_solve import solved_on_all_rows


def members(shares, rng=None, columns=2, targets=1):
    rng = rng or np.random.RandomState(0)
    return tuple(
        Member(
            rng.standard_normal((columns, 3 + 4 * k)),
            rng.uniform(0, 6, 3 + 4 * k),
            0.1,
            rng.standard_normal((3 + 4 * k, targets)),
            rng.standard_normal(targets),
            share,
        )
        for k, share in enumerate(shares)
    )


@pytest.fixture(params=[0.3, None], ids=["held out", "pair"])
def problem(ring, request):
    X, y = ring
    pair = X[200:], y[200:, None], None
    with prepare(
        *((X, y[:, None]) if request.param else (X[:200], y[:200, None])),
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=20,
        budget=2.0,
        validation=request.param or pair,
        dtype="float64",
        n_jobs=1,
    ) as problem:
        yield problem


def on_columns(problem, columns, alpha=1e-3, engine=None):
    columns = np.array(columns)
    data = problem.scaled["standard"]
    point = Scales(np.full(columns.size, 1.0), problem.E[columns], problem.b)
    engine = engine or data.training()
    e = objectives.TrainingLoss(alpha).evaluate(
        engine, point.W, point.b, columns, problem.at_constant()
    )
    model = Candidate(
        "scales",
        "standard",
        columns,
        (Member(point.W, point.b, alpha, e.coef, e.constant),),
        SQUARED,
        training_error=e.training_error,
        point=point,
        n_rows=engine.n,
    )
    return validated(model, data.validation)


def test_a_model_of_several_members_is_the_weighted_mean_of_their_predictions():
    model = Candidate("blend", "standard", np.array([0, 2]), members([0.5, 0.3, 0.2]), SQUARED)
    X = np.random.RandomState(1).standard_normal((9, 2))
    p = model.expansion()
    expected = sum(
        m.share * (random_features(X, m.W, m.b) @ m.coef + m.constant) for m in model.members
    )
    np.testing.assert_allclose(random_features(X, p.W, p.b) @ p.a + p.c, expected, rtol=1e-12)
    assert model.alpha == 0.1


def test_the_scale_is_gamma_or_the_energy_weighted_frequencies():
    (member,) = members([1.0])
    columns = np.array([0, 1])
    scales = Scales(np.array([0.5, -2.0]), member.W, member.b)
    scaled = Candidate("scales", "standard", columns, (member,), SQUARED, point=scales)
    np.testing.assert_array_equal(scaled.scale(), [0.5, 2.0])
    free = Candidate("frequencies", "standard", columns, (member,), SQUARED)
    w = member.coef[:, 0] ** 2
    expected = [np.sqrt(np.sum(w * member.W[s] ** 2) / w.sum()) for s in range(2)]
    np.testing.assert_allclose(free.scale(), expected)
    silent = Member(member.W, member.b, 0.1, 0 * member.coef, member.constant)
    flat = Candidate("metric", "standard", columns, (silent,), SQUARED).scale()
    np.testing.assert_allclose(flat, np.sqrt(np.mean(member.W**2, axis=1)))


def test_the_mean_reads_nothing_and_is_judged(problem):
    mean = constant_candidate("standard", problem.validation, SQUARED, np.zeros(1))
    statistics = problem.validation.statistics(*problem.frequencies(problem.scale))
    assert mean.validation_error == pytest.approx(statistics.s / statistics.n)
    assert mean.scale().size == 0


def test_solved_coefficients_are_the_ridge_solution_and_judged_on_validation_rows(problem):
    model = on_columns(problem, [0, 1])
    (member,) = model.members
    S = problem.training.statistics(member.W, member.b, model.columns)
    np.testing.assert_allclose(member.coef, coefficients.ridge(S, 1e-3))
    V = problem.validation.statistics(member.W, member.b, model.columns)
    assert model.validation_error == pytest.approx(coefficients.squared_loss(V, member.coef))
    assert model.training_error == pytest.approx(coefficients.squared_loss(S, member.coef))
    assert validated(model, problem.validation).validation_error == model.validation_error


def test_the_last_solve_is_on_every_row_that_may_be_learned_from(problem):
    part = problem.scaled["standard"].training(100)
    model = on_columns(problem, [0, 1], engine=part)
    assert model.n_rows == part.n < problem.training.n
    last = solved_on_all_rows(problem, model)
    p = model.members[0]
    S = problem.training.statistics(p.W, p.b, model.columns)
    V = problem.validation.statistics(p.W, p.b, model.columns)
    if problem.refit:
        A, c, n = S.G + V.G, S.c + V.c, S.n + V.n
    else:
        A, c, n = S.G, S.c, S.n
    expected = np.linalg.solve(A + n * 1e-3 * np.eye(20), c)
    np.testing.assert_allclose(last.members[0].coef, expected, rtol=1e-6)
    mean = constant_candidate("standard", problem.validation, SQUARED, np.zeros(1))
    assert solved_on_all_rows(problem, mean) is mean
    whole = on_columns(problem, [0, 1])
    assert (solved_on_all_rows(problem, whole) is whole) == (not problem.refit)


def test_the_table_has_a_row_for_each_model_in_the_targets_units(problem):
    models = [
        on_columns(problem, [0, 1]),
        constant_candidate("standard", problem.validation, SQUARED, np.zeros(1)),
    ]
    table = path_table(models, problem)
    assert {column.shape for column in table.values()} == {(2,)}
    assert table["kind"].tolist() == ["scales", "mean"]
    assert table["n_variables"].tolist() == [2, 0]
    assert table["budget"].tolist() == [2.0, 0.0]
    expected = problem.targets.unit * np.sqrt(models[0].validation_error)
    assert table["validation_error"][0] == pytest.approx(expected)
    assert table["loss"].tolist() == ["squared", "squared"]
    assert not table["stopped"].any()


def test_strength_is_that_of_the_point():
    (member,) = members([1.0])
    point = Metric(np.array([[3.0, 4.0], [0.0, 1.0]]), member.W, member.b)
    model = Candidate("metric", "standard", np.array([0, 1]), (member,), SQUARED, point=point)
    np.testing.assert_allclose(model.strength(), [5.0, 1.0])
