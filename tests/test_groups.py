"""Columns that are kept or dropped together: what is accepted, and what the solvers do with it."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import alternated, prepare, search_of
from srff import SRFFClassifier, SRFFRegressor
from srff.core.descent import descend
from srff.core.groups import Groups, each_column, first_of_each, parse_groups, shared
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED, Logistic, Multinomial
from srff.core.objectives import Evidence, TrainingLoss
from srff.core.parametrisations import Scales
from srff.core.simplex import project_simplex
from srff.selection.descents import Start, descend_penalties
from srff.selection.eliminate import eliminate, importance
from srff.selection.panel import panel_of
from srff.selection.search import Effort

# What is accepted.

NAMES = ["age", "red", "green", "blue", "size"]
EXPECTED = [0, 1, 1, 1, 2]


@pytest.mark.parametrize(
    "groups",
    [
        [[1, 2, 3]],
        [(1, 2, 3), [0], [4]],
        ([1, 2, 3],),
        [range(1, 4)],
        [np.array([1, 2, 3])],
        [[1, -3, -2]],
        [["red", "green", "blue"]],
        [["red", 2, "blue"]],
        [[], [3, 2, 1]],
        {"colour": ["red", "green", "blue"]},
        {"colour": [1, 2, 3], "rest": [4]},
        ["a", "b", "b", "b", "c"],
        ("a", "b", "b", "b", "c"),
        [7, 3, 3, 3, 0],
        np.array([9, 1, 1, 1, 4]),
        np.array(["x", "colour", "colour", "colour", "y"]),
        [None, "b", "b", "b", 2.5],
    ],
    ids=repr,
)
def test_groups_are_lists_labels_or_a_mapping(groups):
    found = parse_groups(groups, 5, NAMES)
    assert found.tolist() == EXPECTED
    assert found.dtype == np.intp


def test_without_groups_each_column_is_its_own():
    assert parse_groups(None, 3).tolist() == [0, 1, 2]
    assert parse_groups([[], []], 3).tolist() == [0, 1, 2]


def test_groups_are_numbered_by_their_first_columns():
    assert parse_groups([[4, 1], [3, 0]], 5).tolist() == [0, 1, 2, 0, 1]
    assert parse_groups([5, 2, 5, 0, 2], 5).tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("colour", "groups='colour' must be a list of lists"),
        (3, "groups=3 must be"),
        (np.ones((2, 2)), r"groups=array(?s:.*) must be a list"),
        ({1, 2}, "groups={1, 2} must be"),
        ([1, 2], "2 labels; there are 5 columns"),
        (np.arange(6), "6 labels; there are 5 columns"),
        ([[0, 1], 2], "groups holds 2 beside lists"),
        ([[0, 5]], "column 5; there are 5 columns"),
        ([[0, -6]], "column -6; there are 5 columns"),
        ([[0, 1], [1]], "column 1 more than once"),
        ([[0, 1], [-4]], "column -4 more than once"),
        ([["red", 1]], "column 1 more than once"),
        ([["pink"]], "column 'pink': there is no column of that name"),
        ([[1.0]], "column 1.0"),
        ([[True]], "column True"),
        ([[None]], "column None"),
    ],
)
def test_what_is_no_group_is_named(groups, message):
    with pytest.raises(ValueError, match=message):
        parse_groups(groups, 5, NAMES)


def test_names_need_columns_that_have_some():
    with pytest.raises(ValueError, match="column 'red': the columns have no names"):
        parse_groups([["red"]], 5)


# Groups of some columns.


def test_groups_of_some_columns():
    groups = Groups(np.array([0, 1, 1, 2, 1]))
    columns = np.array([1, 3, 4])
    assert not groups.trivial
    assert groups.count(columns) == 2
    assert [part.tolist() for part in groups.among(columns)] == [[0, 2], [1]]
    assert groups.positions(columns).tolist() == [0, 1, 0]
    assert groups.completed(np.array([4]), np.array([0, 1, 3, 4])).tolist() == [1, 4]


def test_single_columns_are_groups_too():
    groups = Groups.single(4)
    columns = np.array([1, 3])
    assert groups.trivial
    assert groups.count(columns) == 2
    assert [part.tolist() for part in groups.among(columns)] == [[0], [1]]
    assert groups.positions(columns) is None
    assert groups.completed(np.array([3, 1]), np.arange(4)).tolist() == [1, 3]


def test_a_group_has_the_sum_of_its_columns_slopes_and_gives_each_its_value():
    group = np.array([0, 1, 0, 2])
    values = np.array([1.0, 10.0, 100.0, 1000.0])
    np.testing.assert_array_equal(shared(values, group), [101, 10, 1000])
    np.testing.assert_array_equal(first_of_each(values, group), [1, 10, 1000])
    np.testing.assert_array_equal(each_column(np.array([5, 6, 7]), group), [5, 6, 5, 7])
    for function in (shared, first_of_each, each_column):
        np.testing.assert_array_equal(function(values, None), values)
    assert shared(np.zeros(0), np.zeros(0, dtype=int)).size == 0


# Solvers.

GROUPS = np.array([0, 1, 1, 2, 3, 3, 0])
"""Columns 1 and 2 carry the signal together with 3; column 6 does not vary."""

PAIR, SINGLE = [1, 2], 3


def table(n=300):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 7))
    X[:, 6] = 1.0
    signal = np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, signal, rng


def prepared(loss, groups=GROUPS, validation=None):
    X, signal, rng = table()
    if loss is SQUARED:
        Y = (signal + rng.normal(0, 0.1, 300))[:, None]
    elif isinstance(loss, Logistic):
        Y = (signal + 0.3 * rng.logistic(size=300) > 0).astype(float)[:, None]
    else:
        Y = np.eye(3)[np.digitize(signal + 0.3 * rng.logistic(size=300), [-0.7, 0.7])]
    return prepare(
        X,
        Y,
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=30,
        budget=2.0,
        validation=validation,
        loss=loss,
        groups=Groups(groups),
        dtype="float64",
        n_jobs=1,
    )


LOSSES = pytest.mark.parametrize(
    "loss", [SQUARED, Logistic(), Multinomial()], ids=["squared", "logistic", "multinomial"]
)


def of_groups(scale):
    """The scale of each group, after a look that its columns agree."""
    assert scale[6] == 0
    varying = GROUPS[:6]
    for group in range(4):
        assert np.ptp(scale[:6][varying == group]) == 0
    return np.array([scale[:6][varying == group][0] for group in range(4)])


@LOSSES
def test_the_even_start_counts_each_group_once(loss):
    with prepared(loss) as problem:
        np.testing.assert_allclose(of_groups(problem.scale), 0.5)
        assert problem.budget == pytest.approx(2.0)


@LOSSES
def test_the_alternation_keeps_a_groups_columns_at_one_scale(loss):
    with prepared(loss) as problem:
        states = alternated(problem, max_iter=15, tol=1e-6)
    for state in states:
        assert of_groups(state.scale).sum() == pytest.approx(2.0)
        assert (state.scale >= 0).all()
        assert (np.diff(state.objective) <= 0).all()
    assert states[-1].objective[-1] < 0.95 * states[-1].objective[0]
    assert set(np.argsort(of_groups(states[-1].scale))[-2:]) == {1, 2}


@LOSSES
def test_the_projected_descent_keeps_a_groups_columns_at_one_scale(loss):
    with prepared(loss) as problem:
        engine, goal = problem.training, TrainingLoss(1e-3, loss)
        states = list(problem.descend_scales(engine, goal, problem.scale, max_iter=25, tol=1e-8))
        for state in states:
            assert of_groups(state.scale).sum() == pytest.approx(2.0)
        last = states[-1].scale
        W = last[:, None] * problem.E
        start = problem.at_constant()
        again = goal.evaluate(engine, W, problem.b, np.arange(7), start)
    values = states[-1].objective
    assert min(values) == pytest.approx(values[-1], rel=1e-3)
    assert values[-1] < 0.9 * values[0]
    assert again.value == pytest.approx(values[-1], rel=1e-5)
    assert set(np.argsort(of_groups(last))[-2:]) == {1, 2}


def test_the_projected_descent_ends_where_a_long_projected_gradient_ends():
    goal = TrainingLoss(1e-2)
    with prepared(SQUARED) as problem:
        engine, E, b = problem.training, problem.E, problem.b
        *_, state = problem.descend_scales(engine, goal, problem.scale, max_iter=200, tol=1e-10)
        x, columns, groups = np.full(4, 0.5), np.arange(6), GROUPS[:6]
        for _ in range(400):
            W = x[groups][:, None] * E[:6]
            e = goal.evaluate(engine, W, b, columns, problem.at_constant())
            slope = np.sum(goal.slopes(engine, e, W, b, columns)[0] * E[:6], axis=1)
            total = np.array([slope[groups == group].sum() for group in range(4)])
            x = project_simplex(x - 0.1 * total, 2.0)
    assert state.objective[-1] == pytest.approx(e.value, rel=1e-4)
    np.testing.assert_allclose(of_groups(state.scale), x, atol=0.02)


@LOSSES
def test_groups_of_one_column_are_no_groups(loss):
    alone = np.array([5, 0, 3, 1, 6, 2, 4])  # groups of one column, in another order
    ends = []
    for groups in (np.arange(7), alone):
        with prepared(loss, groups) as problem:
            options = {"max_iter": 5, "tol": 1e-6}
            paper = alternated(problem, **options)[-1]
            goal = TrainingLoss(1e-3, loss)
            *_, state = problem.descend_scales(problem.training, goal, problem.scale, **options)
        ends.append((paper.scale, state.scale))
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("objective", [TrainingLoss, Evidence])
def test_the_slope_of_a_shared_scale_agrees_with_differences(objective):
    columns = np.array([1, 2, 3, 4])
    with prepared(SQUARED) as problem:
        engine, b = problem.training, problem.b
        point = Scales(np.array([0.7, 0.4, 0.2]), problem.E[columns], b, np.array([0, 0, 1, 2]))
        goal = objective(0.01)

        def value(gamma):
            W = point.at(gamma).W
            return goal.evaluate(engine, W, b, columns, problem.at_constant()).value

        e = goal.evaluate(engine, point.W, b, columns, problem.at_constant())
        slope = point.chain(*goal.slopes(engine, e, point.W, b, columns))
        for k, move in enumerate(1e-5 * np.eye(3)):
            expected = (value(point.gamma + move) - value(point.gamma - move)) / 2e-5
            assert slope[k] == pytest.approx(expected, rel=1e-5)


def test_shared_scales_descend_and_drop_whole_groups():
    columns = np.array([1, 2, 3, 4, 5])
    with prepared(SQUARED) as problem:
        group = problem.groups.positions(columns)
        point = Scales(np.full(3, 0.5), problem.E[columns], problem.b, group)
        found = descend(
            problem.training,
            TrainingLoss(1e-3),
            point,
            columns,
            near=problem.at_constant(),
            max_iter=20,
            tol=1e-8,
        )
    assert found.found.value < 0.8 * found.objective[0]
    strength = found.point.strength()
    assert strength[0] == strength[1]
    assert strength[3] == strength[4] < 0.5 * strength[0]
    small = found.point.drop(np.array([0, 1, 2]))
    np.testing.assert_array_equal(small.W, found.point.W[:3])
    assert small.gamma.size == 2
    last = found.point.drop(np.array([2, 3, 4]))
    np.testing.assert_array_equal(last.W, found.point.W[2:])
    np.testing.assert_array_equal(last.strength(), strength[2:])


@pytest.fixture(scope="module")
def eliminated():
    with prepared(SQUARED, validation=0.2) as problem:
        columns = problem.usable
        group = problem.groups.positions(columns)
        point = Scales(np.full(4, 0.5), problem.E[columns], problem.b, group)
        search = search_of(problem, effort=Effort(10, 1e-6), n_variables=2)
        start = Start("scales", columns, point, problem.at_constant())
        first = descend_penalties(search, start, np.array([1e-2, 1e-3, 1e-4]), SQUARED)
        panels = eliminate((search,), [panel_of((search,), [first])])
        yield search, [panel.each[0] for panel in panels]


def test_groups_leave_as_a_whole(eliminated):
    _, models = eliminated
    assert models[0].columns.size == 6
    for model in models:
        for group in range(4):
            members = np.flatnonzero(GROUPS[:6] == group)
            assert np.isin(members, model.columns).sum() in (0, members.size)
    assert models[-1].columns.tolist() == [*PAIR, SINGLE]


def test_a_groups_importance_is_that_of_shuffling_all_its_columns(eliminated):
    search, models = eliminated
    model = models[0]
    score = importance(search, model)
    assert score.shape == (4,)
    assert set(np.argsort(score)[-2:]) == {1, 2}
    parts = search.groups.among(model.columns)
    rise, _ = search.validation.permutation_loss(SQUARED, model.expansion(), parts)
    alone, _ = search.validation.permutation_loss(
        SQUARED, model.expansion(), [np.array([k]) for k in range(6)]
    )
    assert rise[2] == pytest.approx(alone[3])  # the group of one
    assert rise[1] > max(alone[1], alone[2])
    assert score[1] == pytest.approx(1 + rise[1])


# Whole fits.


QUICK = {"n_components": 40, "max_iter": 6, "random_state": 0}


@pytest.mark.parametrize(
    "settings",
    [{}, {"solver": "profile", "refine": None}, {"solver": "alternating", "refine": None}],
    ids=["default", "profile", "alternating"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_keeps_a_group_whole_and_says_so(settings):
    X, signal, rng = table()
    y = signal + rng.normal(0, 0.1, 300)
    model = SRFFRegressor(**QUICK, groups=GROUPS, budget=2.0, **settings).fit(X, y)
    support = model.get_support()
    assert support[[*PAIR, SINGLE]].all()
    for group in range(4):
        assert np.unique(support[group == GROUPS]).size == 1  # the column that does not vary too
    if not settings:
        assert np.flatnonzero(support).tolist() == [*PAIR, SINGLE]
    else:
        each = [np.unique(model.scale_[group == GROUPS]) for group in range(4)]
        assert np.concatenate(each).sum() == pytest.approx(2.0)  # each group counts once


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_classifier_keeps_a_group_whole():
    X, signal, rng = table()
    y = np.where(signal + 0.2 * rng.logistic(size=300) > 0, "yes", "no")
    groups = {"pair": PAIR, "idle": [4, 5]}
    model = SRFFClassifier(
        n_components=40, max_iter=10, random_state=0, groups=groups, solver="profile", refine=None
    ).fit(X, y)
    assert model.scale_[1] == model.scale_[2] > 0
    assert model.scale_[4] == model.scale_[5]
    assert model.score(X, y) > 0.8


def test_as_many_groups_as_are_asked_for_are_kept():
    X, signal, rng = table()
    y = signal + rng.normal(0, 0.1, 300)
    model = SRFFRegressor(**QUICK, groups=GROUPS, n_features_to_select=1).fit(X, y)
    assert model.get_support(indices=True).tolist() in ([*PAIR], [SINGLE])
    assert np.unique(GROUPS[model.get_support()]).size == 1


def test_groups_of_a_frame_may_be_named():
    pandas = pytest.importorskip("pandas")
    X, signal, _ = table()
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    settings = {"solver": "alternating", "refine": None, "alpha": 1e-3, "tol": 0.1}
    named = SRFFRegressor(**QUICK | settings, groups={"pair": ["b", "c"], "rest": ["e", "f"]})
    placed = SRFFRegressor(**QUICK | settings, groups=[[1, 2], [4, 5]])
    one, other = named.fit(frame, signal).scale_, placed.fit(X, signal).scale_
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="column 'z': there is no column of that name"):
        SRFFRegressor(groups=[["z"]]).fit(frame, signal)
    with pytest.raises(ValueError, match="3 labels; there are 7 columns"):
        SRFFRegressor(groups=[1, 2, 3]).fit(X, signal)
