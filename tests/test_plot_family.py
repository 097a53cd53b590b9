"""Plots of classifiers, of several targets, of groups, of categories and gaps, of other losses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")
pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
matplotlib.use("Agg")

from matplotlib.figure import Figure  # noqa: E402

from srff import SRFFClassifier, SRFFRegressor, plot  # noqa: E402
from srff.core.losses import Pinball  # noqa: E402

QUICK = {"n_components": 20, "max_iter": 3, "random_state": 0}
SIMPLE = QUICK | {"refine": None, "solver": "alternating", "alpha": 0.01}


def quick(estimator, X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator(**settings).fit(X, y)


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    X = pandas.DataFrame(rng.standard_normal((300, 2)), columns=["age", "dose"])
    X["colour"] = rng.choice(["red", "green", "blue"], 300)
    X["smokes"] = rng.uniform(size=300) < 0.5
    return X


@pytest.fixture(scope="module")
def score(table):
    return np.sin(2 * table.age) + 1.5 * (table.colour == "red") + table.smokes


@pytest.fixture(scope="module")
def gaps(table):
    X = table.copy()
    X.loc[::4, "age"] = np.nan
    X.loc[::6, "colour"] = None
    return X


@pytest.fixture(scope="module")
def two(table, score):
    return quick(SRFFClassifier, table, np.where(score > 1, "yes", "no"), **SIMPLE)


@pytest.fixture(scope="module")
def three(table, score):
    labels = np.array(["low", "mid", "high"])[np.digitize(score, [0.4, 1.4])]
    return quick(SRFFClassifier, table, labels, **SIMPLE), labels


@pytest.fixture(scope="module")
def imputing(gaps, score):
    return quick(SRFFRegressor, gaps, score, missing="impute", **SIMPLE)


@pytest.fixture
def ax():
    return Figure(figsize=(9, 6), layout="constrained").subplots()


def drawn(axes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.ravel(axes)[0].figure.draw_without_rendering()
    return axes


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def title(ax):
    return " ".join(ax.get_title(loc="left").replace("\N{NO-BREAK SPACE}", " ").split())


def test_of_two_classes_the_roc_and_the_calibration_are_drawn(two, table, score, ax):
    labels = np.where(score > 1, "yes", "no")
    left, right = drawn(plot.fit(two, table, labels, ax=ax))
    chance = two.predict_proba(table)[:, 1]
    area = roc_auc_score(labels, chance)
    (said,) = [text.get_text() for text in left.get_legend().get_texts()]
    assert said == f"yes: AUC {area:.3f}"
    assert title(left).startswith(f"accuracy = {100 * two.score(table, labels):.1f} %")
    curve = left.lines[1]
    assert np.trapezoid(curve.get_ydata(), curve.get_xdata()) == pytest.approx(area)
    points = right.lines[1]
    assert points.get_xdata().mean() == pytest.approx(chance.mean(), abs=1e-6)
    assert points.get_ydata().mean() == pytest.approx(np.mean(labels == "yes"), abs=1e-6)
    assert right.get_xlabel() == "chance of yes"


def test_each_of_three_classes_has_a_curve(three, table, ax):
    model, labels = three
    left, right = drawn(plot.fit(model, table, labels, ax=ax))
    assert {text.get_text().split(":")[0] for text in left.get_legend().get_texts()} == set(labels)
    assert right.get_xlabel() == "chance of the likeliest class"


def test_rows_of_one_class_have_no_roc_and_unknown_classes_are_named(two, table, ax):
    left, _ = drawn(plot.fit(two, table, np.full(300, "yes"), ax=ax))
    assert "one class" in " ".join(text.get_text() for text in left.texts)
    with pytest.raises(ValueError, match="y has the class 'perhaps'; the model knows 'no', 'yes'"):
        plot.fit(two, table, np.full(300, "perhaps"))


def test_several_targets_have_two_plots_each(table, score, ax):
    X, Y = table[["age", "dose"]], np.column_stack([score, 10 * table.dose])
    model = quick(SRFFRegressor, X, Y, **SIMPLE)
    axes = drawn(plot.fit(model, X, Y, ax=ax))
    assert [title(axis).split(":")[0] for axis in axes[::2]] == ["target 0", "target 1"]
    first, second = (drawn(plot.effect(model, X, ["dose"], target=t, pairs=0)) for t in (0, 1))
    assert second[0].get_ylabel() == "mean prediction, target 1"
    rise = [np.ptp(axis.lines[0].get_ydata()) for axis in (first[0], second[0])]
    assert rise[1] > 5 * rise[0]
    with pytest.raises(ValueError, match="target=2 must be below 2"):
        plot.effect(model, X, target=2)
    with pytest.raises(ValueError, match=r"y has shape \(300,\); the predictions have \(300, 2\)"):
        plot.fit(model, X, score)


def test_the_effect_on_a_class_is_its_mean_chance(two, table, ax):
    (axis,) = drawn(plot.effect(two, table, ["age"], pairs=0, sample=300, ax=ax))
    assert axis.get_ylabel() == "chance of yes"
    x, y = axis.lines[0].get_data()
    moved = table.assign(age=x[7])
    assert y[7] == pytest.approx(two.predict_proba(moved)[:, 1].mean())
    (other,) = plot.effect(two, table, ["age"], pairs=0, sample=300, target="no")
    np.testing.assert_allclose(other.lines[0].get_ydata(), 1 - y)
    with pytest.raises(ValueError, match="target='perhaps' must be a class: 'no', 'yes'"):
        plot.effect(two, table, target="perhaps")


def test_several_classes_are_curves_of_one_plot(three, table, ax):
    model, _ = three
    (axis,) = drawn(plot.effect(model, table, ["age"], pairs=0, ax=ax))
    total = sum(line.get_ydata() for line in axis.lines)
    np.testing.assert_allclose(total, 1)
    assert [text.get_text() for text in axis.get_legend().get_texts()] == model.classes_.tolist()


def test_the_levels_of_a_category_are_on_the_axis(imputing, gaps, ax):
    axes = plot.effect(imputing, gaps, ["colour", "smokes"], pairs=0, sample=300, ax=ax)
    colour, smokes = drawn(axes)
    assert ticks(colour) == ["blue", "green", "red", "missing"]
    assert ticks(smokes) == ["False", "True"]
    values = colour.lines[0].get_ydata()
    for level, value in zip(["blue", "green", "red", None], values, strict=True):
        assert value == pytest.approx(imputing.predict(gaps.assign(colour=level)).mean())
    assert values[2] > values[0] + 0.8


def test_a_dashed_line_is_the_prediction_where_a_number_is_missing(imputing, gaps, table, ax):
    (axis,) = drawn(plot.effect(imputing, gaps, ["age"], pairs=0, sample=300, ax=ax))
    curve, dashed = axis.lines
    expected = imputing.predict(gaps.assign(age=np.nan)).mean()
    assert dashed.get_ydata()[0] == pytest.approx(expected)
    assert [text.get_text() for text in axis.texts] == ["missing"]
    assert np.isfinite(curve.get_ydata()).all()


@pytest.mark.parametrize("pair", [("age", "colour"), ("colour", "age"), ("colour", "smokes")])
def test_pairs_with_a_category_are_drawn(imputing, gaps, pair, ax):
    *_, axis = drawn(plot.effect(imputing, gaps, [], pairs=[pair], ax=ax))
    if "age" in pair:
        assert axis.get_xlabel() == "age"
        said = {text.get_text() for text in axis.get_legend().get_texts()}
        assert said == {"blue", "green", "red", "missing"}
    else:
        assert ticks(axis) == ["blue", "green", "red", "missing"]
        assert axis.images[0].get_array().shape == (2, 4)


def test_columns_that_the_model_does_not_use_are_not_looked_at(table, score, ax):
    X = table.assign(noise=np.random.RandomState(1).choice(["u", "v"], 300))
    model = quick(SRFFRegressor, X, score, **QUICK)
    assert not model.get_support()[4]
    axes = drawn(plot.effect(model, X.assign(noise=0.0), ax=ax))
    assert "noise" not in [axis.get_xlabel() for axis in axes]


def test_a_group_is_one_bar_with_its_columns(table, ax):
    groups = {"body": ["age", "dose"]}
    X = table[["age", "dose"]].assign(other=table.smokes.astype(float))
    model = quick(SRFFRegressor, X, X.age * X.dose + X.other, groups=groups, **SIMPLE)
    drawn(plot.scales(model, ax=ax))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(names) == ["body (age, dose)", "other"]
    assert title(ax) == "All 2 variables or groups selected"
    assert (
        model.scale_[0]
        == model.scale_[1]
        == ax.patches[names.index("body (age, dose)")].get_width()
    )


def test_the_search_and_the_models_of_a_classifier_are_two_plots(table, score, ax):
    X = table[["age", "dose"]]
    model = quick(SRFFClassifier, X, table.age**2 + 0.3 * table.dose > 0.6, **QUICK)
    left, right = drawn(plot.path(model, ax=ax))
    assert left.get_ylabel() == "validation error (root of Brier's score)"
    assert right.get_ylabel() == "validation log loss"
    chosen = right.collections[-1].get_offsets()
    assert chosen[0][1] == pytest.approx(model.validation_error_)
    table_ = model.path_
    last = np.flatnonzero(table_["loss"] == "logistic")
    points = np.concatenate([c.get_offsets()[:, 1] for c in right.collections[:-1]])
    assert sorted(points) == pytest.approx(sorted(table_["validation_error"][last]))


@pytest.mark.parametrize(
    ("loss", "said"),
    [("poisson", "deviance / 2"), (Pinball(0.8), "predicted: the 0.8 quantile")],
    ids=["poisson", "pinball"],
)
def test_the_figures_are_those_of_the_loss(table, loss, said, ax):
    X = table[["age", "dose"]]
    y = np.random.RandomState(0).poisson(np.exp(np.sin(X.age)))
    model = quick(SRFFRegressor, X, y, loss=loss, **SIMPLE)
    left, _ = drawn(plot.fit(model, X, y, ax=ax))
    assert said in title(left)
    if loss == "poisson":
        assert "D² = " in title(left)
    else:
        below = np.mean(y < model.predict(X))
        assert f"{100 * below:.1f} % below" in title(left)
    one = drawn(plot.path(model, ax=Figure().subplots()))
    assert "RMSE" not in one.get_ylabel()
