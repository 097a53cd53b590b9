"""What a fitted model says of itself, and how it is judged on rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import (
    d2_log_loss_score,
    log_loss,
    mean_poisson_deviance,
    root_mean_squared_error,
)

from srff import SRFFClassifier, SRFFRegressor
from srff.core.losses import Pinball
from srff.inspect import describe
from srff.inspect.evaluate import assess
from srff.inspect.outcome import Classes, Numbers, Quantile, Rates, outcome_of
from srff.inspect.wording import share

SIMPLE = {"n_components": 20, "max_iter": 3, "refine": None, "solver": "alternating"}


def fitted(estimator, X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator(**SIMPLE | {"random_state": 0} | settings).fit(X, y)


@pytest.fixture(scope="module")
def X():
    return np.random.RandomState(0).standard_normal((300, 4))


def last_line(model):
    return repr(model).splitlines()[-1]


@pytest.mark.parametrize(
    ("loss", "said", "power"),
    [
        ("squared", "of the variance explained", 2),
        ("poisson", "half of the mean Poisson deviance", 1),
        (Pinball(0.9), "pinball loss of the 0.9 quantile", 1),
        ("pinball", "pinball loss of the median", 1),
    ],
    ids=str,
)
def test_the_error_is_named_and_compared_with_the_constant(X, loss, said, power):
    y = np.random.RandomState(1).poisson(np.exp(np.sin(X[:, 0])))
    model = fitted(SRFFRegressor, X, y, loss=loss)
    part = 1 - (model.validation_error_ / model.constant_error_) ** power
    assert describe.explained(model) == pytest.approx(part)
    assert said in last_line(model)
    assert share(abs(part)) in last_line(model)
    assert "variables" in last_line(model.set_params(loss="unknown"))


def test_a_classifier_speaks_of_its_log_loss(X):
    model = fitted(SRFFClassifier, X, X[:, 0] > 0)
    part = 1 - model.validation_error_ / model.constant_error_
    assert model.constant_error_ == pytest.approx(np.log(2), abs=0.02)
    expected = f"(log loss, {share(part)} less than that of the class shares)"
    assert last_line(model).endswith(expected)


def test_what_a_model_predicts_is_asked_in_one_place(X):
    y = np.random.RandomState(1).poisson(np.exp(np.sin(X[:, 0])))
    for loss, kind in (("squared", Numbers), ("poisson", Rates), (Pinball(0.9), Quantile)):
        outcome = outcome_of(fitted(SRFFRegressor, X, y, loss=loss))
        assert type(outcome) is kind
        assert not outcome.labels
    outcome = outcome_of(fitted(SRFFClassifier, X, np.where(X[:, 0] > 0, "b", "a")))
    assert type(outcome) is Classes
    assert outcome.labels == ("a", "b")
    # A loss of scikit-learn's own is none of ours.
    other = outcome_of(HistGradientBoostingRegressor(max_iter=2).fit(X, y))
    assert type(other) is Numbers
    assert other.loss.quadratic


@pytest.mark.parametrize(
    ("groups", "named"),
    [
        ({"pair": [0, 1]}, "pair (x0, x1)"),
        ([[0, 1]], "x0 + x1"),
        (["u", "u", "v", "w"], "u (x0, x1)"),
        ([5, 5, 6, 7], "x0 + x1"),
    ],
    ids=["mapping", "lists", "names", "numbers"],
)
def test_a_group_is_one_entry_with_its_columns_named(X, groups, named):
    model = fitted(SRFFRegressor, X, X[:, 0] * X[:, 1], groups=groups)
    first = next(entry for entry in describe.selected(model) if entry.inside)
    assert first.described == named
    assert first.columns == (0, 1)
    assert first.scale == model.scale_[0] == model.scale_[1]
    assert "of 3 variables or groups: " in last_line(model)
    assert named in last_line(model)
    # Groups that are set for another table do not spoil the words.
    assert "of 4 variables:" in last_line(model.set_params(groups=[[0, 9]]))


def test_a_group_of_many_columns_names_the_first(X):
    wide = np.column_stack([X, X])
    model = fitted(SRFFRegressor, wide, X[:, 0], groups=[list(range(7)), [7]])
    names = {entry.described for entry in describe.selected(model)}
    assert "x0 + x1 + x2 + 4 more" in names


def test_rows_judge_a_classifier(X):
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])]
    model = fitted(SRFFClassifier, X[:200], y[:200])
    found = assess(model, X[200:], y[200:])
    chance = model.predict_proba(X[200:])
    assert found.n_rows == 100
    assert found.error == pytest.approx(log_loss(y[200:], chance))
    assert found.explained == pytest.approx(d2_log_loss_score(y[200:], chance))
    assert found.classes is not None
    assert found.classes.accuracy == pytest.approx(model.score(X[200:], y[200:]))
    assert found.classes.confusion.sum(axis=1).tolist() == [np.sum(y[200:] == c) for c in "abc"]
    with pytest.raises(ValueError, match="y has the class 'd'; the model knows 'a', 'b', 'c'"):
        assess(model, X, np.full(300, "d"))


@pytest.mark.parametrize("weights", ["variance", "equal", [1.0, 3.0]], ids=str)
def test_rows_judge_several_targets_as_the_fit_does(X, weights):
    Y = np.column_stack([X[:, 0], 100 * np.sin(X[:, 1])])
    model = fitted(SRFFRegressor, X, Y, target_weights=weights, alpha=0.01, validation=(X, Y))
    found = assess(model, X, Y)
    assert found.error == pytest.approx(model.validation_error_, rel=0.05)
    error = root_mean_squared_error(Y, model.predict(X), multioutput="raw_values")
    assert [one.rmse for one in found.targets] == pytest.approx(error.tolist())
    if weights == "variance":
        assert found.error == pytest.approx(np.sqrt(np.sum(error**2)))
    with pytest.raises(ValueError, match="y has 1 columns; the model has 2"):
        assess(model, X, Y[:, 0])


def test_rows_judge_counts_by_half_their_deviance(X):
    y = np.random.RandomState(1).poisson(np.exp(np.sin(X[:, 0])))
    model = fitted(SRFFRegressor, X, y, loss="poisson")
    expected = mean_poisson_deviance(y, model.predict(X)) / 2
    assert assess(model, X, y).error == pytest.approx(expected)


def test_a_quantile_is_judged_in_the_units_of_the_target(X):
    y = 50 * X[:, 0] + 7
    settings = {"loss": Pinball(0.8), "alpha": 0.01, "validation": (X, y)}
    model = fitted(SRFFRegressor, X, y, **settings)
    assert assess(model, X, y).error == pytest.approx(model.validation_error_, rel=1e-3)


def test_the_columns_of_a_category_or_a_group_are_shuffled_together(X):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    rng = np.random.RandomState(0)
    frame = pandas.DataFrame(X[:, :2], columns=["a", "b"])
    frame["level"] = rng.choice(["p", "q", "r"], 300)
    y = 3.0 * (frame["level"] == "p") + frame["a"]
    model = fitted(SRFFRegressor, frame, y, alpha=1e-4, max_iter=10)
    found = assess(model, frame, y)
    by_name = {one.entry.name: one for one in found.importances}
    # Shuffling gives twice the variance of what the variable does.
    assert by_name["level"].rise == pytest.approx(2 * np.var(3 * (frame["level"] == "p")), rel=0.3)
    assert by_name["a"].rise == pytest.approx(2 * np.var(frame["a"]), rel=0.3)


def test_a_model_without_variables_misses_none(X):
    rng = np.random.RandomState(3)
    model = SRFFClassifier(n_components=10, max_iter=2, random_state=0)
    model.fit(X, rng.randint(0, 2, 300))
    assert not model.get_support().any()
    assert last_line(model).startswith("none of 4 variables matters; error on new rows: ")
    assert "class shares 0.69" in last_line(model)
    assert assess(model, X, rng.randint(0, 2, 300)).importances == ()


def test_a_name_that_a_terminal_would_obey_is_shown_escaped():
    rng = np.random.default_rng(0)
    name = "red\x1b[31m\u202e\n"
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({name: rng.normal(size=80), "b": rng.normal(size=80)})
    model = SRFFRegressor(effort="quick", n_components=10, max_iter=2, random_state=0)
    text = repr(model.fit(X, X[name]))
    assert r"red\x1b[31m\u202e\n" in text
    assert name not in text
