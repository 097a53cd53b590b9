"""Which of two panels is better: paired tests, chance, the error on new rows, the own loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from small_problems import prepare, search_of
from srff.core.candidate import Candidate, Member, constant_candidate, validated
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED, Logistic
from srff.core.objectives import TrainingLoss
from srff.core.parametrisations import Scales
from srff.selection.compare import Judge, chance, gains, largest_correlation
from srff.selection.config import CONFIG
from srff.selection.panel import Untouched, nothing, panel_of
from srff.selection.recipe import more_than_chance

ALWAYS_5_PERCENT = replace(CONFIG, keep_rows=1, curve_rows=1, worth_mentioning=np.inf)


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


def judge_of(*problems, config=ALWAYS_5_PERCENT, **request):
    """The judge of some folds, and what makes a panel of candidates."""
    folds = tuple(search_of(problem, config=config, **request) for problem in problems)
    return Judge(folds), lambda *each: panel_of(folds, each)


def test_a_model_without_a_needed_variable_is_significantly_worse(problem):
    judge, panel = judge_of(problem)
    full, part, idle = (panel(on_columns(problem, c)) for c in ([0, 1], [0], [4]))
    mean = panel(constant_candidate("standard", problem.validation, SQUARED, np.zeros(1)))
    assert judge.worse(part, full)
    assert not judge.worse(full, part)
    assert not judge.worse(full, full)
    assert judge.worse(mean, full, 1e-6)
    assert not judge.worse(mean, idle, 1e-6)


class Rows:
    """Rows held out on which two models differ by so many standard errors."""

    def __init__(self, *differences, n=100.0, constant=1.0):
        self.n, self._differences, self.constant = n, np.array(differences), constant

    def difference(self, loss, first, second):
        return self._differences, np.ones(2)

    def loss(self, loss, model):
        return self.constant


def model(error=1.0):
    member = Member(np.ones((1, 2)), np.zeros(2), 0.1, np.ones((2, 1)), np.zeros(1))
    return Candidate("blend", "standard", np.array([0]), (member,), SQUARED, error)


def judged(problem, monkeypatch, *rows, config=ALWAYS_5_PERCENT, level=None, **request):
    """Whether a first panel is worse than a second on folds of these rows."""
    searches = [search_of(problem, config=config, **request) for _ in rows]
    by_search = {id(search): each for search, each in zip(searches, rows, strict=True)}
    kind = type(searches[0])
    monkeypatch.setattr(kind, "validation", property(lambda self: by_search[id(self)]))
    folds = tuple(searches)
    first, second = (panel_of(folds, [model() for _ in folds]) for _ in range(2))
    return Judge(folds).worse(first, second, level)


@pytest.mark.parametrize(
    ("squared", "absolute", "expected"),
    [(1.9, 1.9, False), (2.05, 0, True), (0, 2.05, True), (-9, 1.9, False), (0, 0, False)],
)
def test_either_error_may_show_it_beyond_two_standard_errors(
    problem, monkeypatch, squared, absolute, expected
):
    assert judged(problem, monkeypatch, Rows(squared, absolute)) is expected


@pytest.mark.parametrize(("errors", "share"), [(1.4, 1.0), (1.2, 1.0), (1.4, 1.5)])
def test_a_rise_worth_mentioning_need_only_be_hinted_at(problem, monkeypatch, errors, share):
    # The loss of the better model is 1, and a rise is so many standard errors of 1.
    config = replace(ALWAYS_5_PERCENT, worth_mentioning=share)
    rows = Rows(errors, 0.0)
    hinted = judged(problem, monkeypatch, rows, config=config)
    assert hinted == (errors > config.hint and errors > share)
    assert not judged(problem, monkeypatch, rows, config=config, keep="fewest")
    # Curves beside lines, at a level of their own, are no variables.
    assert not judged(problem, monkeypatch, rows, config=config, level=0.05)
    # Of few rows the level is higher instead: 5/3 of 5 % with 300.
    few = replace(config, keep_rows=500)
    assert not judged(problem, monkeypatch, rows, config=few)
    # Next to nothing, beside what a constant leaves.
    much = Rows(errors, 0.0, constant=100.0)
    assert not judged(problem, monkeypatch, much, config=config)


def test_what_each_fold_shows_a_little_all_show_together(problem, monkeypatch):
    rows = [Rows(1.2, 0.0)] * 5
    assert not judged(problem, monkeypatch, rows[0])
    assert judged(problem, monkeypatch, *rows)
    assert not judged(problem, monkeypatch, Rows(1.2, 0.0), Rows(-1.2, 0.0))


def test_nothing_is_significant_on_too_few_rows(problem, monkeypatch):
    assert judged(problem, monkeypatch, Rows(99, 99, n=5.0))
    assert not judged(problem, monkeypatch, Rows(99, 99, n=4.0))


@pytest.mark.parametrize("loss", [SQUARED, Logistic()], ids=["squared", "logistic"])
def test_the_judge_takes_the_smallest_model_that_is_not_worse_by_the_problems_loss(ring, loss):
    with made(ring, loss) as problem:
        judge, panel = judge_of(problem)
        panels = [panel(on_columns(problem, c)) for c in ([0], [0, 1], [0, 1, 2, 3], [4])]
        assert judge.smallest(panels) is panels[1]
        assert judge.worse(panels[0], panels[1])
        own = judge.with_own_loss(panels[1])
        assert own.each[0].loss is problem.loss
        assert (own.each[0] is panels[1].each[0]) == (loss is SQUARED)
        assert judge.with_own_loss(panels[1]) is own
        error = problem.validation.loss(problem.loss, own.each[0].expansion())
        assert judge.error(panels[1]) == pytest.approx(error)
        assert judge.best(panels) is min(panels, key=judge.error)


def test_with_few_rows_lines_stand_unless_curves_are_clearly_better(problem):
    judge, panel = judge_of(problem, config=replace(CONFIG, keep_rows=1))
    curve, idle = panel(on_columns(problem, [0, 1])), panel(on_columns(problem, [4]))
    line = panel(replace(idle.each[0], kind="linear"))
    assert judge.smallest([curve, line]) is curve
    close = panel(replace(curve.each[0], kind="linear", columns=np.array([0, 1])))
    assert judge.smallest([curve, close]) is close
    many, panel = judge_of(problem)
    assert many.smallest([panel(curve.each[0]), panel(close.each[0])]).each[0].kind == "scales"


@pytest.mark.parametrize(("keep", "level"), [("auto", 1 / 12), ("fewest", 0.05), ("best", 1.0)])
def test_the_level_of_keeping_a_variable_rises_as_rows_get_fewer(problem, keep, level):
    search = search_of(problem, keep=keep)  # 300 rows
    assert search.keep_level == pytest.approx(level)
    few = replace(search, problem=replace(problem, n_rows=20))
    assert few.keep_level == {"auto": CONFIG.keep_most, "fewest": 0.05, "best": 1.0}[keep]


def chance_of(problem, *columns, config=CONFIG):
    search = search_of(problem, config=config)
    each = [panel_of((search,), [on_columns(problem, c)]) for c in columns]
    return chance(Untouched((search,), tuple(each), 1))


def test_chance_is_told_from_what_depends_on_the_inputs(ring):
    X, y = ring
    with made(ring) as true, made((X, y[np.random.RandomState(1).permutation(300)])) as noise:
        assert chance_of(true, [0, 1], [4], [2, 3]) == 1 / (1 + CONFIG.shuffles)
        assert chance_of(noise, [0, 1], [4], [2, 3]) > 0.05


def test_a_column_that_stands_out_by_itself_is_told_from_chance_where_no_panel_is():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((80, 100))
    noise = rng.standard_normal(80)
    for y, found in ((4 * X[:, 3] + noise, True), (noise, False)):
        with made((X, y)) as problem:
            search = search_of(problem)
            panel = panel_of((search,), [on_columns(problem, [0])])
            gain = gains(Untouched((search,), (panel,), 1))[0]
            assert np.mean(gain >= gain[0]) > CONFIG.mean_level
            largest = largest_correlation((search,))
            held = problem.validation
            products = held.marginal_statistics(SQUARED, np.array([1e-4]))[1][2] / 1e-4
            assert largest[0] == pytest.approx(np.max(products**2), rel=1e-5)
            assert (chance_of(problem, [0]) <= CONFIG.mean_level) is found
            few = replace(search, problem=replace(problem, n_rows=101))
            assert chance(Untouched((few,), (panel,), 1)) > CONFIG.mean_level


def test_a_panel_far_beyond_chance_is_kept_though_none_of_the_untouched_is(ring):
    X, y = ring
    for rows, kept in (((X, y), True), ((X, y[np.random.RandomState(1).permutation(300)]), False)):
        with made(rows) as problem:
            search = search_of(problem, config=replace(CONFIG, clear_gain=4.0))
            idle, chosen = (panel_of((search,), [on_columns(problem, c)]) for c in ([4], [0, 1]))
            untouched = Untouched((search,), (idle,), 1)
            assert chance(untouched) > CONFIG.mean_level
            assert more_than_chance((search,), untouched, chosen) is kept


def test_gains_of_folds_that_learn_from_each_other_are_divided_by_more(problem):
    search = search_of(problem)
    panel = panel_of((search,), [on_columns(problem, [0, 1])])
    assert Untouched((search,), (panel,), 1).spread == 1.0
    assert Untouched((search,) * 5, (panel,), 5).spread == pytest.approx(np.sqrt(2))
    assert Untouched((search,) * 4, (panel,), 5).spread == pytest.approx(np.sqrt(7 / 4))


def test_the_p_value_of_chance_is_uniform_for_rare_classes():
    rng = np.random.RandomState(0)
    p = []
    for _ in range(60):
        rows = rng.standard_normal((80, 5)), (rng.permutation(80) < 6).astype(float)
        with made(rows) as problem:
            p.append(chance_of(problem, [0], [1, 2], [3], config=replace(CONFIG, shuffles=39)))
    p = np.array(p)
    assert np.mean(p <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)
    assert 0.3 < np.mean(p <= 0.5) < 0.7


def test_the_error_on_new_rows_is_not_the_lowest_of_many(problem):
    """Of panels that differ by chance alone the error of any is the error to expect."""
    folds = tuple(search_of(problem) for _ in range(5))
    judge = Judge(folds)
    candidate = on_columns(problem, [0, 1])
    means, lowest = [], []
    for seed in range(8):
        errors = np.random.RandomState(seed).uniform(0.5, 1.5, (100, 5))
        panels = [
            panel_of(folds, [replace(candidate, validation_error=e) for e in row]) for row in errors
        ]
        best = judge.best(panels)
        means.append(judge.expected(panels, best)[0])
        lowest.append(best.error)
    assert max(lowest) < 0.8
    assert np.mean(means) == pytest.approx(1.0, abs=0.15)


def test_without_folds_the_error_on_new_rows_is_that_of_the_chosen_panel(problem):
    judge, panel = judge_of(problem)
    chosen = panel(on_columns(problem, [0, 1]))
    mean, error = judge.expected([chosen, panel(on_columns(problem, [4]))], chosen)
    assert mean == pytest.approx(chosen.error)
    expansion = chosen.each[0].expansion()
    squares = problem.validation.loss_squares(SQUARED, expansion)
    n = problem.validation.n
    assert error == pytest.approx(np.sqrt((squares - mean**2) / (n - 1)))
    assert judge.expected([panel(nothing(search_of(problem)))], chosen)[0] > 0
