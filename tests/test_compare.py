"""Which of two candidates is better: the paired test, and the judge of the problem's own loss."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import prepare, search_of
from srff.core.candidate import Candidate, Member, constant_candidate, validated
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED, Logistic
from srff.core.objectives import TrainingLoss
from srff.core.parametrisations import Scales
from srff.selection.compare import Judge, significantly_worse
from srff.selection.config import CONFIG

LEVEL, FEWEST = CONFIG.keep_level, CONFIG.fewest_rows


def made(ring, loss=SQUARED):
    X, y = ring
    Y = y if loss is SQUARED else (y > np.median(y)).astype(float)
    return prepare(
        X,
        Y[:, None],
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=20,
        budget=2.0,
        validation=0.3,
        loss=loss,
        dtype="float64",
        n_jobs=1,
    )


@pytest.fixture
def problem(ring):
    with made(ring) as problem:
        yield problem


def on_columns(problem, columns):
    """A candidate of the search on some columns."""
    columns = np.array(columns)
    point = Scales(np.full(columns.size, 1.0), problem.E[columns], problem.b)
    engine, loss = problem.training, problem.search_loss
    e = TrainingLoss(1e-3, loss).evaluate(engine, point.W, point.b, columns, problem.at_constant())
    member = Member(point.W, point.b, 1e-3, e.coef, e.constant)
    model = Candidate("scales", "standard", columns, (member,), loss, point=point, n_rows=engine.n)
    return validated(model, problem.validation)


def worse(problem, first, second, level=LEVEL):
    return significantly_worse(problem.validation, first, second, level, FEWEST)


def test_a_model_without_a_needed_variable_is_significantly_worse(problem):
    full, part, idle = (on_columns(problem, c) for c in ([0, 1], [0], [4]))
    mean = constant_candidate("standard", problem.validation, SQUARED, np.zeros(1))
    assert worse(problem, part, full)
    assert not worse(problem, full, part)
    assert not worse(problem, full, full)
    assert worse(problem, mean, full, 1e-6)
    assert not worse(problem, mean, idle, 1e-6)


class Rows:
    """Validation rows on which two models differ by so many standard errors."""

    def __init__(self, *differences, n=100.0):
        self.n, self._differences = n, np.array(differences)

    def difference(self, loss, first, second):
        return self._differences, np.ones(2)


MODEL = Candidate(
    "blend",
    "standard",
    np.array([0]),
    (Member(np.ones((1, 2)), np.zeros(2), 0.1, np.ones((2, 1)), np.zeros(1)),),
    SQUARED,
)


@pytest.mark.parametrize(
    ("squared", "absolute", "expected"),
    [(1.9, 1.9, False), (2.05, 0, True), (0, 2.05, True), (-9, 1.9, False), (0, 0, False)],
)
def test_either_error_may_show_it_beyond_two_standard_errors(squared, absolute, expected):
    rows = Rows(squared, absolute)
    assert significantly_worse(rows, MODEL, MODEL, LEVEL, FEWEST) is expected


def test_nothing_is_significant_on_too_few_rows():
    assert significantly_worse(Rows(99, 99, n=5.0), MODEL, MODEL, LEVEL, FEWEST)
    assert not significantly_worse(Rows(99, 99, n=4.0), MODEL, MODEL, LEVEL, FEWEST)


@pytest.mark.parametrize("loss", [SQUARED, Logistic()], ids=["squared", "logistic"])
def test_the_judge_takes_the_smallest_model_that_is_not_worse_by_the_problems_loss(ring, loss):
    with made(ring, loss) as problem:
        judge = Judge(search_of(problem))
        candidates = [on_columns(problem, c) for c in ([0], [0, 1], [0, 1, 2, 3], [4])]
        assert judge.smallest(candidates) is candidates[1]
        assert judge.worse(candidates[0], candidates[1])
        own = judge.with_own_loss(candidates[1])
        assert own.loss is problem.loss
        assert (own is candidates[1]) == (loss is SQUARED)
        assert judge.with_own_loss(candidates[1]) is own
        error = problem.validation.loss(problem.loss, own.expansion())
        assert judge.error(candidates[1]) == pytest.approx(error)
        assert judge.best(candidates) is min(candidates, key=judge.error)
