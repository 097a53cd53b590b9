"""Several targets, groups of columns, categories and gaps, from the user's side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import r2_score
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff import SRFFClassifier, SRFFRegressor
from srff.core.losses import Pinball

QUICK = {"n_components": 30, "max_iter": 5, "refine": "metric", "random_state": 0}

EFFECT = {"red": 1.5, "blue": -1.5, "green": 0.0, "grey": 0.7}


def table(n=500, seed=0):
    """Numbers, a category, a boolean, a text of many levels; y depends on a, b and colour."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"))
    frame["colour"] = pd.Categorical(rng.choice(list(EFFECT), n))
    frame["flag"] = rng.rand(n) < 0.5
    frame["town"] = rng.choice([f"town {k}" for k in range(25)], n)
    y = frame["a"] * frame["b"] + frame["colour"].map(EFFECT).astype(float)
    return frame, (y + 0.1 * rng.standard_normal(n)).to_numpy()


@pytest.fixture(scope="module")
def fitted():
    frame, y = table()
    return SRFFRegressor(**QUICK).fit(frame, y), frame, y


# --- several targets ------------------------------------------------------------------------------


def two_targets(n=400, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 6))
    Y = np.stack([np.sin(2 * X[:, 0]), 10 * X[:, 3] ** 2 + 100], axis=1)
    return X, Y + 0.05 * rng.standard_normal((n, 2)) * [1, 10]


def test_several_targets_share_the_variables():
    X, Y = two_targets()
    model = SRFFRegressor(**QUICK, target_weights="equal").fit(X, Y)
    assert model.get_support(indices=True).tolist() == [0, 3]
    X, Y = two_targets(seed=1)
    P = model.predict(X)
    assert P.shape == Y.shape
    assert model.coefficients_.shape == (model.offsets_.size, 2)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, P))
    assert model.score(X, Y) > 0.95


def test_targets_count_by_their_variance_unless_told_otherwise():
    X, Y = two_targets()
    Y[:, 0] /= 1000
    assert SRFFRegressor(**QUICK).fit(X, Y).get_support(indices=True).tolist() == [3]
    weighted = SRFFRegressor(**QUICK, target_weights=[1.0, 0.0]).fit(X, Y)
    assert weighted.get_support(indices=True).tolist() == [0]
    equal = SRFFRegressor(**QUICK, target_weights="equal").fit(X, Y)
    assert equal.get_support(indices=True).tolist() == [0, 3]


def test_one_column_of_targets_is_a_target_with_two_dimensions():
    X, Y = two_targets(150)
    flat = SRFFRegressor(**QUICK).fit(X, Y[:, 1])
    column = SRFFRegressor(**QUICK).fit(X, Y[:, 1:])
    assert column.predict(X).shape == (150, 1)
    np.testing.assert_array_equal(column.predict(X)[:, 0], flat.predict(X))


@pytest.mark.parametrize("weights", ["even", [1.0], [1.0, -1.0], [0.0, 0.0], None])
def test_wrong_weights_of_targets_are_named(weights):
    X, Y = two_targets(60)
    with pytest.raises(ValueError, match="target_weights"):
        SRFFRegressor(**QUICK, target_weights=weights).fit(X, Y)


def test_a_constant_target_beside_another_does_no_harm():
    X, Y = two_targets(200)
    Y[:, 1] = 7.0
    model = SRFFRegressor(**QUICK).fit(X, Y)
    assert model.get_support(indices=True).tolist() == [0]
    np.testing.assert_allclose(model.predict(X)[:, 1], 7.0, atol=1e-6)


# --- groups ---------------------------------------------------------------------------------------


def grouped(n=400):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 8))
    return X, np.sin(2 * X[:, 0]) + X[:, 3] * X[:, 6] + 0.05 * rng.standard_normal(n)


LISTS = [[0, 1, 2], [3, 4], [5, 7]]


@pytest.mark.parametrize(
    "groups",
    [LISTS, np.array([9, 9, 9, 4, 4, 2, 1, 2]), {"one": [0, 1, 2], "two": [3, 4], "no": [5, 7]}],
)
def test_a_group_is_kept_or_dropped_whole(groups):
    X, y = grouped()
    model = SRFFRegressor(**QUICK, groups=groups).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 6]
    assert len(set(model.scale_[:3])) == 1
    assert model.scale_[3] == model.scale_[4]


def test_groups_by_the_names_of_columns():
    X, y = grouped()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    groups = [["a", "b", "c"], ["d", "e"], ["f", "h"]]
    one = SRFFRegressor(**QUICK, groups=groups).fit(frame, y)
    two = SRFFRegressor(**QUICK, groups=LISTS).fit(X, y)
    np.testing.assert_array_equal(one.predict(frame), two.predict(X))
    reduced = one.reduced()
    assert reduced.feature_names_in_.tolist() == list("abcdeg")
    np.testing.assert_array_equal(reduced.predict(frame[list("abcdeg")]), one.predict(frame))


@pytest.mark.parametrize("solver", ["profile", "alternating"])
def test_on_the_simplex_a_group_has_one_scale_that_counts_once(solver):
    X, y = grouped(200)
    model = SRFFRegressor(
        solver=solver, refine=None, alpha=1e-3, budget=3.0, n_components=40, max_iter=5, tol=0.1,
        groups=LISTS, random_state=0,
    ).fit(X, y)  # fmt: skip
    scale = model.scale_
    for group in LISTS:
        assert len(set(scale[group])) == 1
    assert scale[[0, 3, 5, 6]].sum() == pytest.approx(3.0)


def test_constant_columns_of_a_selected_group_are_marked_too():
    X, y = grouped(200)
    X[:, 1] = 5.0
    model = SRFFRegressor(**QUICK, groups=LISTS).fit(X, y)
    assert model.get_support()[[0, 1, 2]].all()
    np.testing.assert_array_equal(
        model.reduced().predict(X[:, model.get_support()]), model.predict(X)
    )


# --- categories -----------------------------------------------------------------------------------


def test_the_answer_names_the_users_columns(fitted):
    model, frame, y = fitted
    assert model.get_feature_names_out().tolist() == ["a", "b", "colour"]
    assert model.scale_.shape == (7,)
    assert model.score(frame, y) > 0.95


def test_pandas_polars_text_and_categories_are_one_table(fitted):
    model, frame, y = fitted
    text = frame.assign(colour=frame["colour"].astype(str))
    for other in (text, pl.from_pandas(text), pl.from_pandas(frame)):
        again = SRFFRegressor(**QUICK).fit(other, y)
        np.testing.assert_array_equal(again.predict(other), model.predict(frame))


def test_unseen_levels_are_handled_as_scikit_learn_does(fitted):
    """No indicator is set, as with handle_unknown="ignore"; other columns still count."""
    model, frame, _ = fitted
    new = frame.head(4).assign(colour="violet")
    predictions = model.predict(new)
    assert np.isfinite(predictions).all()
    assert len(set(predictions)) == 4


def test_columns_that_are_not_selected_may_hold_anything_known(fitted):
    model, frame, _ = fitted
    new = frame.assign(town="nowhere", flag=False, c=0.0)
    np.testing.assert_array_equal(model.predict(new), model.predict(frame))


def test_integer_codes_indicators_and_categories_lead_to_the_same_selection():
    rng = np.random.RandomState(0)
    n = 600
    codes = rng.randint(0, 5, n)
    numbers = rng.standard_normal((n, 4))
    y = np.array([0.0, 2.0, -1.0, 1.0, -2.0])[codes] * numbers[:, 0]
    y += 0.1 * rng.standard_normal(n)
    names = ["a", "b", "c", "d"]

    coded = pd.DataFrame(numbers, columns=names).assign(kind=codes)
    as_number = SRFFRegressor(**QUICK).fit(coded, y)
    asked = SRFFRegressor(**QUICK, categorical_features=["kind"]).fit(coded, y)
    as_category = SRFFRegressor(**QUICK).fit(coded.astype({"kind": "category"}), y)
    for model in (as_number, asked, as_category):
        assert model.get_feature_names_out().tolist() == ["a", "kind"]

    onehot = np.column_stack([numbers, np.eye(5)[codes]])
    groups = [[4, 5, 6, 7, 8]]
    as_indicators = SRFFRegressor(**QUICK, groups=groups).fit(onehot, y)
    assert as_indicators.get_support(indices=True).tolist() == [0, 4, 5, 6, 7, 8]
    np.testing.assert_array_equal(as_category.predict(coded.astype({"kind": "category"})),
                                  asked.predict(coded))  # fmt: skip


@pytest.mark.parametrize(
    "how", ["onehot", "target", OneHotEncoder(handle_unknown="ignore"), TargetEncoder()]
)
def test_every_way_to_encode_finds_the_same_columns(how):
    frame, y = table()
    model = SRFFRegressor(**QUICK, categories=how).fit(frame, y)
    assert model.get_feature_names_out().tolist() == ["a", "b", "colour"]


def test_a_category_of_many_levels_is_one_variable():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"x": rng.standard_normal(800), "noise": rng.standard_normal(800)})
    town = rng.randint(0, 40, 800)
    frame["town"] = [f"town {k}" for k in town]
    y = rng.standard_normal(40)[town] + frame["x"].to_numpy()
    model = SRFFRegressor(**QUICK).fit(frame, y)
    assert model.get_feature_names_out().tolist() == ["x", "town"]
    assert model.encoding_.width == 3  # the mean of the target at each town


def test_a_classifier_takes_categories_too():
    frame, y = table()
    model = SRFFClassifier(**QUICK | {"max_iter": 10}).fit(frame, np.where(y > 0, "up", "down"))
    assert model.get_feature_names_out().tolist() == ["a", "b", "colour"]
    reduced = model.reduced()
    np.testing.assert_array_equal(
        reduced.predict_proba(frame[["a", "b", "colour"]]), model.predict_proba(frame)
    )


def test_text_where_numbers_were_is_named(fitted):
    model, frame, _ = fitted
    with pytest.raises(ValueError, match=r"column 'a'.*'much'"):
        model.predict(frame.assign(a="much"))


# --- gaps -----------------------------------------------------------------------------------------


def gaps(n=500):
    frame, y = table(n)
    rng = np.random.RandomState(5)
    for name in ("a", "c", "colour"):
        frame[name] = frame[name].astype(object).where(rng.rand(n) > 0.1, None)
    return frame.astype({"a": float, "c": float}), y


def test_a_gap_is_an_error_that_says_where():
    frame, y = gaps()
    row = int(np.flatnonzero(frame["a"].isna())[0])
    with pytest.raises(ValueError, match=f"Column 'a' .* in row {row}"):
        SRFFRegressor(**QUICK).fit(frame, y)


def test_gaps_are_filled_and_do_not_matter_where_nothing_is_read():
    frame, y = gaps()
    model = SRFFRegressor(**QUICK, missing="impute").fit(frame, y)
    assert {"a", "b", "colour"} <= set(model.get_feature_names_out())
    assert "c" not in model.get_feature_names_out()
    new = frame.assign(c=np.nan, d=np.nan)
    np.testing.assert_array_equal(model.predict(new), model.predict(frame))
    assert np.isfinite(model.predict(frame.assign(b=np.nan))).all()


def test_that_a_value_is_missing_can_be_what_matters():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((400, 4))
    gone = rng.rand(400) < 0.3
    X[gone, 2] = np.nan
    y = 2.0 * gone + 0.1 * rng.standard_normal(400)
    model = SRFFRegressor(**QUICK, missing="impute").fit(X, y)
    assert model.get_support(indices=True).tolist() == [2]
    assert model.score(X, y) > 0.95


def test_infinity_is_refused_with_gaps_or_without():
    X = np.random.RandomState(0).standard_normal((50, 2))
    X[7, 1] = np.inf
    for missing in ("error", "impute"):
        with pytest.raises(ValueError, match="inf"):
            SRFFRegressor(**QUICK, missing=missing).fit(X, X[:, 0])


# --- losses ---------------------------------------------------------------------------------------


def test_counts_are_predicted_as_rates():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((800, 6))
    rate = np.exp(np.sin(2 * X[:, 0]) + 0.5 * X[:, 4])
    model = SRFFRegressor(**QUICK, loss="poisson").fit(X, rng.poisson(rate))
    assert model.get_support(indices=True).tolist() == [0, 4]
    assert (model.predict(X) > 0).all()
    assert np.corrcoef(np.log(model.predict(X)), np.log(rate))[0, 1] > 0.9
    with pytest.raises(ValueError, match="at least 0, got -1"):
        SRFFRegressor(loss="poisson").fit(X, np.full(800, -1.0))


def test_counts_of_a_file_are_checked_too(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")
    table = pd.DataFrame({"x": np.arange(50.0), "n": np.arange(50.0) - 3})
    table.to_parquet(tmp_path / "counts.parquet")
    with pytest.raises(ValueError, match="at least 0, got -3"):
        SRFFRegressor(loss="poisson").fit(tmp_path / "counts.parquet", "n")


@pytest.mark.parametrize("quantile", [0.1, 0.9])
@pytest.mark.slow
def test_quantiles_have_their_share_of_rows_below(quantile):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((1500, 5))
    y = X[:, 1] + np.exp(0.7 * X[:, 0]) * rng.standard_normal(1500)
    model = SRFFRegressor(**QUICK | {"max_iter": 3}, loss=Pinball(quantile)).fit(X, y)
    assert {0, 1} <= set(model.get_support(indices=True))
    assert np.mean(y < model.predict(X)) == pytest.approx(quantile, abs=0.03)


def test_an_unknown_loss_is_named():
    with pytest.raises(ValueError, match="loss='absolute' is unknown; accepted: 'squared'"):
        SRFFRegressor(loss="absolute").fit(np.arange(4.0)[:, None], np.arange(4.0))


@pytest.mark.parametrize("times", [10, 100])
def test_a_table_of_few_kinds_of_rows_is_learned_whole(times):
    """Part of each kind validates: none is held out altogether, and copies count as rows."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * times)
    for y in (X[:, 0] + X[:, 1], np.logical_xor(X[:, 0], X[:, 1]) * 1.0):
        assert SRFFClassifier(**QUICK).fit(X, y).score(X, y) == 1.0
        assert SRFFRegressor(**QUICK).fit(X, y).score(X, y) > 0.99
