"""Splits that a user brings: folds, splitters, indices, and groups of rows that stay together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor, load, save
from srff._utils.checkpoint import CheckpointError, described
from srff.data import dataset
from srff.data.dataset import MemoryDataset, Respects
from srff.data.folds import group_folds
from srff.data.split import key_multipliers
from srff.estimators.validation import GivenRows, brings_splits, is_pair

SMALL = {"n_components": 20, "max_iter": 3, "random_state": 0, "n_jobs": 1}
N = 120


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((N, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.3, N)


@pytest.fixture
def groups():
    return np.random.RandomState(1).randint(0, 12, N)


def sides(model, X, y, weight=None, row_groups=None):
    """The inputs that each split learns from and holds out, in units of the user's columns."""
    with model.set_params(dtype="float64")._prepare(X, y, weight, row_groups) as problem:
        return [
            tuple(
                {tuple(np.round(row, 6)) for row in _raw(problem, engine)}
                for engine in (fold.training, fold.validation)
            )
            for fold in problem.folds
        ]


def _raw(problem, engine):
    blocks = np.concatenate([block[0][:-1].T for block in engine._blocks])
    return blocks * problem.standard.spread + problem.standard.center


def chosen(X, rows):
    return {tuple(np.round(row, 6)) for row in X[rows]}


def test_two_things_are_rows_and_targets_unless_both_are_tuples_of_two():
    train, test = np.arange(3), np.arange(3, 5)
    assert is_pair((np.eye(3), np.arange(3)))
    assert is_pair([[[1, 2], [3, 4]], [5, 6]])
    assert not is_pair([(train, test), (test, train)])
    assert brings_splits([(train, test), (test, train)])
    assert brings_splits([(train, test)])
    assert brings_splits(KFold(2))
    assert not brings_splits("ab")
    assert not brings_splits(None)


def test_a_number_of_folds_holds_each_row_out_once(rows):
    X, y = rows
    held = [held for _, held in sides(SRFFRegressor(validation=4, **SMALL), X, y)]
    assert [len(each) for each in held] == [30] * 4
    assert len(set.union(*held)) == N


@pytest.mark.parametrize("kind", ["splitter", "list", "generator"])
def test_rows_are_held_out_as_the_user_says(rows, kind):
    X, y = rows
    splitter = KFold(3, shuffle=True, random_state=0)
    expected = list(splitter.split(X))
    given = {"splitter": splitter, "list": expected, "generator": splitter.split(X)}[kind]
    found = sides(SRFFRegressor(validation=given, **SMALL), X, y)
    assert found == [(chosen(X, train), chosen(X, test)) for train, test in expected]


def test_the_split_that_learns_from_most_rows_comes_first(rows):
    X, y = rows
    found = sides(SRFFRegressor(validation=TimeSeriesSplit(3), **SMALL), X, y)
    assert [len(train) for train, _ in found] == [90, 60, 30]
    assert found[0][1] == chosen(X, slice(90, 120))


def test_indices_count_rows_of_weight_zero(rows):
    X, y = rows
    weight = np.ones(N)
    weight[::3] = 0.0
    model = SRFFRegressor(validation=[(np.arange(60), np.arange(60, N))], **SMALL)
    ((train, test),) = sides(model, X, y, weight)
    used = np.flatnonzero(weight)
    assert train == chosen(X, used[used < 60])
    assert test == chosen(X, used[used >= 60])


def test_a_splitter_sees_the_users_rows_labels_and_groups(rows, groups):
    class Watching:
        def split(self, X, y=None, groups=None):
            self.seen = X, y, groups
            yield np.arange(60), np.arange(60, N)

    X, y = rows
    frame, labels = pd.DataFrame(X, columns=list("abcd")), np.where(y > 0, "high", "low")
    watching, groups = Watching(), np.repeat([0, 1], 60)
    SRFFClassifier(validation=watching, **SMALL).fit(frame, labels, row_groups=groups)
    seen_X, seen_y, seen_groups = watching.seen
    assert seen_X is frame
    assert seen_y is labels
    np.testing.assert_array_equal(seen_groups, groups)


def test_stratified_folds_take_the_users_classes(rows):
    X, y = rows
    labels = np.where(y > 0, "high", "low")
    model = SRFFClassifier(validation=StratifiedKFold(3), **SMALL).fit(X, labels)
    assert model.score(X, labels) > 0.7


@pytest.mark.parametrize("validation", [None, 3, 0.3, GroupKFold(3)], ids=str)
def test_rows_of_a_group_never_stand_on_both_sides(rows, groups, validation):
    X, y = rows
    group_of = {tuple(np.round(row, 6)): g for row, g in zip(X, groups, strict=True)}
    found = sides(SRFFRegressor(validation=validation, **SMALL), X, y, row_groups=groups)
    for train, test in found:
        assert train
        assert test
        assert not {group_of[row] for row in train} & {group_of[row] for row in test}
    assert len(found) == {None: 5, 3: 3, 0.3: 1}.get(validation, 3)


def test_the_order_of_the_rows_leaves_no_trace_with_groups(rows, groups):
    X, y = rows
    order = np.random.RandomState(3).permutation(N)
    model = SRFFRegressor(**SMALL)
    one = model.fit(X, y, row_groups=groups).predict(X)
    other = model.fit(X[order], y[order], row_groups=groups[order]).predict(X)
    np.testing.assert_array_equal(one, other)


def test_equal_rows_of_different_groups_are_not_merged():
    X, Y = np.repeat(np.arange(5.0)[:, None], 4, axis=0), np.zeros((20, 1))
    multipliers = key_multipliers(np.random.RandomState(0), 1)
    kinds = [
        MemoryDataset(X, Y, None, multipliers, None, 1, Respects(groups=groups)).n_rows
        for groups in (None, np.tile([0, 1], 10))
    ]
    assert kinds == [5, 10]


def test_folds_of_groups_have_about_the_same_weight():
    sizes = np.array([30, 5, 7, 25, 3, 20, 10, 20])
    keys = np.repeat(np.random.RandomState(0).randint(0, 2**60, 8), sizes).astype(np.uint64)
    folds = group_folds(keys, None, 4)
    assert sorted(test.size for _, test in folds) == [30, 30, 30, 30]


@pytest.mark.parametrize("solver", ["alternating", "profile"])
def test_the_papers_method_uses_one_split(rows, solver):
    X, y = rows
    options = {**SMALL, "solver": solver, "refine": None}
    ((train, test),) = sides(SRFFRegressor(validation=4, **options), X, y)
    assert (len(train), len(test)) == (90, 30)
    ((_, last),) = sides(SRFFRegressor(validation=TimeSeriesSplit(3), **options), X, y)
    assert last == chosen(X, slice(90, N))
    assert np.isfinite(RFFRegressor(validation=KFold(3), random_state=0).fit(X, y).score(X, y))


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ([(np.arange(9), np.arange(5, 15))], "split 0 has row 5 in train and in test"),
        ([(np.arange(9), np.arange(N - 1, N + 3))], "test row 120; the rows are 0 to 119"),
        ([(np.arange(9), np.array([-1]))], "test row -1"),
        ([([], [1])], "split 0 has no train rows"),
        ([([0, 1], [2]), ([0.5], [1])], "split 1 has train of float64"),
        ([([True, False], [2])], "train of bool"),
        ([([0, 1], [2], [3])], "a pair \\(train, test\\) of indices is needed"),
        ((np.arange(5), np.arange(3)), r"one split is written \[\(train, test\)\]"),
        (([0, 1], [2]), "looks like indices of rows"),
        ([[np.arange(5), np.arange(5, 9)], [np.arange(4), np.arange(5, 9)]], "several are tuples"),
        ([], "gives no split"),
        (GroupKFold(3), "row_groups of fit are its groups"),
        (KFold(500), "cannot split the rows: Cannot have number of splits"),
        (500, "needs 500 rows of positive weight; got 120"),
        (1, "a number of folds of at least 2"),
        (2.0, "a number of folds of at least 2"),
        (True, "validation=True must be"),
        ("folds", "validation='folds' must be"),
    ],
)
def test_splits_that_cannot_be_are_refused(rows, validation, message):
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(validation=validation, **SMALL).fit(*rows)


@pytest.mark.parametrize(
    ("validation", "groups", "message"),
    [
        (KFold(3), np.arange(N) % 7, "rows of the group 0 in train and in test"),
        (13, np.arange(N) % 12, "needs 13 groups in row_groups of positive weight; got 12"),
        (None, np.zeros(N), "needs 2 groups in row_groups of positive weight; got 1"),
        (None, np.arange(5), r"row_groups has the shape \(5,\)"),
        (None, np.where(np.arange(N) == 4, np.nan, 1.0), "row_groups has no label in row 4"),
        (None, np.array(["a", None] * 60, dtype=object), "row_groups has no label in row 1"),
        (None, np.array(["a", 1] * 60, dtype=object), "cannot be put in order"),
    ],
)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_that_cannot_be_are_refused(rows, validation, groups, message):
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(validation=validation, **SMALL).fit(*rows, row_groups=groups)


@pytest.mark.parametrize("form", ["parquet", "csv", "dask"])
def test_groups_of_files_and_dask_are_a_column(rows, groups, form, tmp_path):
    X, y = rows
    names = np.char.add("patient ", groups.astype(str))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=1.0, patient=names)
    frame.loc[3, "w"] = 0.0
    table = tmp_path / f"table.{form}"
    if form == "parquet":
        frame.to_parquet(table, row_group_size=50)
    elif form == "csv":
        frame.to_csv(table, index=False)
    else:
        table = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    model = SRFFRegressor(validation=GroupKFold(3), **SMALL)
    one = model.fit(table, "y", sample_weight="w", row_groups="patient")
    assert one.feature_names_in_.tolist() == list("abcd")
    predicted = one.predict(frame[list("abcd")])
    other = clone(model).fit(frame[list("abcd")], y, sample_weight=frame["w"], row_groups=names)
    np.testing.assert_array_equal(predicted, other.predict(frame[list("abcd")]))


def test_groups_and_splits_of_a_stream_are_refused_and_of_arrays_are_not(
    rows, groups, tmp_path, monkeypatch
):
    X, y = rows
    monkeypatch.setattr(dataset, "STREAM_ROWS", 100)
    path = tmp_path / "table.parquet"
    pd.DataFrame(X, columns=list("abcd")).assign(y=y, g=groups).to_parquet(path)
    with pytest.raises(ValueError, match=r"at most 100 rows of files.* there are 120"):
        SRFFRegressor(**SMALL).fit(path, "y", row_groups="g")
    with pytest.raises(ValueError, match="at most 100 rows of files"):
        SRFFRegressor(validation=KFold(3), **SMALL).fit(path, "y")
    assert len(sides(SRFFRegressor(validation=KFold(3), **SMALL), X, y)) == 3
    assert len(sides(SRFFRegressor(**SMALL), X, y, row_groups=groups)) == 5


@pytest.mark.parametrize("table", ["blocks", "files"])
def test_groups_of_files_are_named(rows, table, tmp_path):
    X, y = rows
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "t.parquet")
    given = ([(X, y)], None) if table == "blocks" else (tmp_path / "t.parquet", "y")
    with pytest.raises(ValueError, match="row_groups must be"):
        SRFFRegressor(**SMALL).fit(*given, row_groups=np.arange(N))


def test_groups_are_routed_through_scikit_learns_tools(rows, groups):
    X, y = rows
    with config_context(enable_metadata_routing=True):
        model = SRFFRegressor(validation=GroupKFold(2), **SMALL).set_fit_request(row_groups=True)
        pipeline = make_pipeline(StandardScaler(), model)
        grid = {"srffregressor__n_components": [10]}
        search = GridSearchCV(pipeline, grid, cv=2).fit(X, y, row_groups=groups)
    assert search.best_score_ > 0
    plain = make_pipeline(StandardScaler(), SRFFRegressor(validation=GroupKFold(2), **SMALL))
    assert plain.fit(X, y, srffregressor__row_groups=groups).score(X, y) > 0


@pytest.mark.parametrize(
    "validation", [GroupKFold(3), [(np.arange(60), np.arange(60, N))], 3], ids=["G", "list", "3"]
)
def test_a_model_with_splits_is_cloned_shown_saved_and_reduced(rows, groups, validation, tmp_path):
    X, y = rows
    model = clone(SRFFRegressor(validation=validation, **SMALL))
    model.fit(X, y, row_groups=groups if isinstance(validation, GroupKFold) else None)
    assert "validation" in repr(model)
    save(model, tmp_path / "model.srff")
    loaded = load(tmp_path / "model.srff")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.validation == (3 if validation == 3 else None)
    assert (model.reduced().validation is None) == isinstance(validation, list)


def test_a_splitter_is_described_by_what_it_holds():
    folds = np.arange(5000) % 3
    other = folds.copy()
    other[2500] = 0
    assert described(PredefinedSplit(folds)) == described(PredefinedSplit(folds.copy()))
    assert described(PredefinedSplit(folds)) != described(PredefinedSplit(other))
    one, same = (KFold(3, shuffle=True, random_state=np.random.RandomState(0)) for _ in range(2))
    assert described(one) == described(same)
    assert described(KFold(3)) != described(KFold(4))
    assert described(RepeatedKFold(n_repeats=2)) != described(RepeatedKFold(n_repeats=3))
    assert described(KFold(3).split(folds)) == "generator"


def test_other_groups_or_splits_are_another_fit(rows, groups, tmp_path):
    X, y = rows
    model = SRFFRegressor(**SMALL, checkpoint=tmp_path / "a")
    model.fit(X, y, row_groups=groups)
    model.fit(X, y, row_groups=groups)
    with pytest.raises(CheckpointError, match="rows is"):
        model.fit(X, y, row_groups=np.roll(groups, 1))
    model = SRFFRegressor(validation=KFold(3), **SMALL, checkpoint=tmp_path / "b").fit(X, y)
    with pytest.raises(CheckpointError, match="validation is"):
        model.set_params(validation=KFold(4)).fit(X, y)


def test_a_missing_group_of_pandas_is_found():
    labels = pd.array(["a", pd.NA, "b"], dtype="string")
    with pytest.raises(ValueError, match="no label in row 1"):
        _ = GivenRows(None, None, np.ones(3, dtype=bool), labels).groups
