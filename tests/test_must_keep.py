"""Variables that stay whatever the rows say: in the last model, and others beside them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from small_problems import prepare, search_of
from srff import SRFFClassifier, SRFFRegressor, load, save
from srff.cli import app
from srff.core.groups import Groups, parse_columns
from srff.core.kernels import Gaussian
from srff.selection.panel import nothing

QUICK = {"effort": "quick", "n_components": 30, "max_iter": 5, "random_state": 0, "n_jobs": 1}
N = 250
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 8)), columns=list("abcdefgh"))
Y = np.sin(2 * X["a"]) + X["b"] ** 2 + RNG.normal(0, 0.1, N)


def names(model):
    return model.get_feature_names_out().tolist()


@pytest.mark.parametrize("given", [["h"], [7], [-1], [False] * 7 + [True], np.array(["h"])])
def test_a_variable_that_does_not_matter_stays_and_those_that_matter_too(given):
    model = SRFFRegressor(**QUICK, must_keep=given).fit(X, Y)
    assert names(model) == ["a", "b", "h"]
    assert model.scale_[7] < 0.2 * model.scale_[0]


def test_what_is_kept_anyway_changes_nothing_of_the_choice():
    assert names(SRFFRegressor(**QUICK, must_keep=["a"]).fit(X, Y)) == ["a", "b"]


def test_on_noise_they_stay_alone():
    noise = RNG.normal(size=N)
    assert names(SRFFRegressor(**QUICK).fit(X, noise)) == []
    model = SRFFRegressor(**QUICK, must_keep=["h", "c"]).fit(X, noise)
    assert names(model) == ["c", "h"]
    assert model.expected_error_ > 0.95 * noise.std()


def test_they_count_among_the_number_that_is_asked_for():
    for size in (2, 3):
        model = SRFFRegressor(**QUICK, must_keep=["h"], n_features_to_select=size).fit(X, Y)
        assert len(names(model)) == size
        assert "h" in names(model)
    assert names(model) == ["a", "b", "h"]


def test_the_error_to_expect_is_that_of_the_model_with_them():
    # With one place beside it one of the two that matter has to go.
    model = SRFFRegressor(**QUICK, must_keep=["h"], n_features_to_select=2).fit(X, Y)
    new = pd.DataFrame(np.random.default_rng(1).normal(size=(2000, 8)), columns=list(X))
    error = model.predict(new) - np.sin(2 * new["a"]) - new["b"] ** 2
    assert model.expected_error_ == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.35)


def test_the_error_to_expect_of_a_number_of_variables_is_that_of_so_many():
    model = SRFFRegressor(**QUICK, n_features_to_select=1).fit(X, Y)
    # What sin(2 a) or b^2 alone leaves: a variance of 2, or of one half.
    assert model.expected_error_ > 0.6


def test_a_group_and_a_category_stay_whole():
    table = X.assign(k=RNG.choice(["u", "v", "w"], N))
    model = SRFFRegressor(**QUICK, must_keep=["f", "k"], groups=[["f", "g"]]).fit(table, Y)
    assert names(model) == ["a", "b", "f", "g", "k"]
    labels = np.where(Y > 1, "high", "low")
    model = SRFFClassifier(**QUICK, must_keep=["k"]).fit(table, labels)
    assert {"b", "k"} <= set(names(model))
    assert names(model.reduced()) == names(model)
    assert model.reduced().must_keep[-1]


def test_many_rows_keep_them_too():
    rng = np.random.default_rng(2)
    many = rng.normal(size=(7000, 8))
    target = np.sin(2 * many[:, 0]) + rng.normal(0, 0.1, 7000)
    model = SRFFRegressor(**QUICK, must_keep=[5]).fit(many, target)
    assert model.get_support(indices=True).tolist() == [0, 5]
    assert model.n_folds_ == 0


def test_a_column_that_does_not_vary_cannot_stay():
    model = SRFFRegressor(**QUICK, must_keep=["h", "same"]).fit(X.assign(same=1.0), Y)
    assert names(model) == ["a", "b", "h"]


def test_it_is_saved_with_the_model(tmp_path):
    model = SRFFRegressor(**QUICK, must_keep=["h"]).fit(X, Y)
    save(model, tmp_path / "m.srff")
    again = load(tmp_path / "m.srff")
    assert again.must_keep == ["h"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        (["z"], {}, "must_keep has column 'z': there is no column of that name"),
        ([8], {}, "must_keep has column 8"),
        ("a", {}, "must_keep='a' must be a list"),
        ([True], {}, "mask of 1; there are 8"),
        (["a", "b"], {"n_features_to_select": 1}, "names 2 variables or groups"),
        (["a"], {"refine": None}, "must_keep needs refine"),
    ],
)
def test_what_cannot_be_kept_is_named(given, more, words):
    with pytest.raises(ValueError, match=words):
        SRFFRegressor(**QUICK, **more, must_keep=given).fit(X, Y)


def test_columns_are_positions_names_or_a_mask():
    assert parse_columns(None, 3).tolist() == []
    assert parse_columns([2, 0, 2], 3).tolist() == [0, 2]
    assert parse_columns(["c", 0], 3, ["a", "b", "c"]).tolist() == [0, 2]
    assert parse_columns(np.array([False, True, False]), 3).tolist() == [1]


def test_in_the_shell(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")
    monkeypatch.chdir(tmp_path)
    X.assign(same=1, y=Y).to_csv("t.csv", index=False)
    fast = ["--effort", "quick", "--set", "n_components=30", "--set", "max_iter=5", "--json"]

    def fit(*more):
        return CliRunner().invoke(app, ["fit", "t.csv", "-t", "y", "-f", *fast, *more])

    found = json.loads(fit("--must-keep", "h").stdout)
    assert "h" in [each["name"] for each in found["selected"]]
    assert "every row" in fit("--must-keep", "same").stderr.splitlines()[-1]
    assert fit("--must-keep", "zz").exit_code == 2


@pytest.mark.parametrize("must_keep", [(), (1,)])
def test_the_best_constant_keeps_all_that_must_be_kept_where_that_is_nothing(must_keep):
    rows = np.random.RandomState(0).standard_normal((60, 4))
    columns = {"groups": Groups(np.array([0, 0, 1, 2])), "kernel": Gaussian()}
    rng = np.random.RandomState(0)
    with prepare(
        rows, rows[:, :1], None, rng, validation=0.3, n_components=10, budget=None, **columns
    ) as problem:
        search = search_of(problem, must_keep=must_keep)
        assert search.n_forced == len(must_keep)
        assert search.keeps(nothing(search)) is (must_keep == ())
