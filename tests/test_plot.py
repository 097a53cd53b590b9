"""The plots draw the model's own numbers, where they are told to, for any number of variables."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from sklearn.inspection import partial_dependence  # noqa: E402

from srff import RFFRegressor, SRFFRegressor, plot, srff_path  # noqa: E402
from srff.inspect.plot import style  # noqa: E402
from srff.inspect.plot.paths import _apart, chosen_row  # noqa: E402
from srff.reproduction.baselines import LassoBaseline, MeanBaseline  # noqa: E402

QUICK = {"n_components": 20, "max_iter": 4, "random_state": 0}
LONG = [f"measurement_station_north_{k}_mean_over_the_last_24_hours_{k:02d}" for k in range(5)]


def quick(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SRFFRegressor(**QUICK | settings).fit(X, y)


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((250, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, 250)


@pytest.fixture(scope="module")
def model(data):
    return quick(*data)


@pytest.fixture(scope="module")
def alternating(data):
    return quick(*data, solver="alternating", refine=None)


@pytest.fixture(scope="module")
def along(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return srff_path(*data, alphas=np.logspace(-1, -5, 6), **QUICK)


@pytest.fixture(scope="module")
def nothing(data):
    """A model that keeps no variable."""
    model = quick(data[0], np.random.RandomState(1).standard_normal(250))
    assert not model.scale_.any()
    return model


def with_scales(model, scale, names=None):
    """The model as if it had been fitted on other variables."""
    model = copy.copy(model)
    model.scale_, model.n_features_in_ = np.asarray(scale, dtype=float), len(scale)
    model.fold_agreement_ = model.importances_ = None
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(autouse=True)
def _settings_and_figures_stay():
    before, figures = dict(matplotlib.rcParams), plt.get_fignums()
    yield
    assert dict(matplotlib.rcParams) == before
    for number in set(plt.get_fignums()) - set(figures):
        plt.close(number)


def drawn(axes):
    """The figure of some axes can be drawn without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Earlier versions of matplotlib with later ones of its parser.
        warnings.simplefilter("ignore", DeprecationWarning)
        np.ravel(axes)[0].figure.draw_without_rendering()
    return axes


def names_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


def title(ax):
    return " ".join(ax.get_title(loc="left").replace("\N{NO-BREAK SPACE}", " ").split())


def texts(ax):
    return " ".join(" ".join(text.get_text() for text in ax.texts).split())


# Where things are drawn


DRAWERS = {
    "scales": lambda m, X, y, ax: plot.scales(m, ax=ax),
    "path": lambda m, X, y, ax: plot.path(m, ax=ax),
    "fit": lambda m, X, y, ax: plot.fit(m, X, y, ax=ax),
    "effect": lambda m, X, y, ax: plot.effect(m, X, sample=20, ax=ax),
    "stability": lambda m, X, y, ax: plot.stability([m, m], ax=ax),
    "convergence": lambda m, X, y, ax: plot.convergence(m, ax=ax),
}


@pytest.mark.parametrize("draw", DRAWERS.values(), ids=DRAWERS)
def test_axes_that_are_given_are_used_and_no_other_figure_is_made(draw, model, data, ax):
    before = plt.get_fignums()
    axes = np.ravel(drawn(draw(model, *data, ax)))
    assert plt.get_fignums() == before
    assert all(isinstance(a, Axes) and a.figure is ax.figure for a in axes)
    if axes.size == 1:
        assert axes[0] is ax
    assert any(a.has_data() for a in axes)


@pytest.mark.parametrize("draw", DRAWERS.values(), ids=DRAWERS)
def test_without_axes_a_new_figure_is_made(draw, model, data):
    before = set(plt.get_fignums())
    figure = np.ravel(drawn(draw(model, *data, None)))[0].figure
    assert set(plt.get_fignums()) - before == {figure.number}


@pytest.mark.parametrize("draw", DRAWERS.values(), ids=DRAWERS)
def test_a_model_without_variables_is_said_to_be_one(draw, nothing, data, ax):
    axes = np.ravel(drawn(draw(nothing, *data, ax)))
    said = " ".join(texts(a) + title(a) for a in axes)
    assert "No variable" in said or "the mean" in said or "R²" in said


@pytest.mark.parametrize("size", [(6.4, 4.8), (3, 2.5)])
@pytest.mark.parametrize("draw", DRAWERS.values(), ids=DRAWERS)
def test_text_can_be_read_in_a_large_and_a_small_figure(draw, size, model, data):
    axes = drawn(draw(model, *data, Figure(figsize=size, layout="constrained").subplots()))
    for axis in np.ravel(axes):
        for label in [*axis.get_xticklabels(), *axis.get_yticklabels(), axis.xaxis.label]:
            assert 5 <= label.get_fontsize() <= matplotlib.rcParams["font.size"]


@pytest.mark.parametrize("draw", DRAWERS.values(), ids=DRAWERS)
def test_a_model_that_is_not_fitted_is_refused(draw, data, ax):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        draw(SRFFRegressor(), *data, ax)


def test_axes_of_the_wrong_kind_or_number_are_refused(model, data):
    with pytest.raises(TypeError, match="ax='here' must be one matplotlib Axes or None"):
        plot.scales(model, ax="here")
    with pytest.raises(ValueError, match=r"one matplotlib Axes or 2 of them; got 3 of \['Axes'\]"):
        plot.fit(model, *data, ax=Figure().subplots(1, 3))
    with pytest.raises(ValueError, match="to be divided in 2; or pass 2 Axes"):
        plot.fit(model, *data, ax=Figure().add_axes((0, 0, 1, 1)))


def test_a_missing_matplotlib_is_named_with_its_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from srff import SRFFRegressor, plot\n"
        "try: plot.stability([[True]])\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "srff.plot needs matplotlib: pip install 'srff[plot]'."


# Names


def test_long_names_lose_their_middle():
    assert style.shortened("abcdefghijklmnop", 9) == "abcd…mnop"
    assert style.shortened("short", 9) == "short"
    assert style.shortened("two\nlines", 20) == "two lines"


def test_names_that_become_alike_get_their_number():
    names = np.array(["begin_" + middle + "_finish" for middle in "xyz"], dtype=object)
    first, second = style.shown_names(names, [2, 0], 9)
    assert first != second
    assert first.endswith("[2]")
    assert second.endswith("[0]")


def test_dollars_in_names_are_no_mathematics(model, ax):
    plot.scales(with_scales(model, [1.0], [r"cost $\frac$ each"]), ax=ax)
    drawn(ax)


def test_the_names_of_a_data_frame_are_drawn_and_cut(data):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    X, y = data
    fitted = quick(pandas.DataFrame(X, columns=LONG), y)
    for layout in ("constrained", None):
        ax = drawn(plot.scales(fitted, ax=Figure(layout=layout).subplots()))
        order = np.argsort(-fitted.scale_)[: np.count_nonzero(fitted.scale_)]
        for label, column in zip(names_of(ax), order, strict=True):
            assert "…" in label
            head, tail = label.split("…")
            assert LONG[column].startswith(head)
            assert LONG[column].endswith(tail)
        left = min(t.get_window_extent().x0 for t in ax.get_yticklabels())
        assert left >= -5


# Scales


def test_bars_are_the_scales_above_zero_in_falling_order(model, ax):
    plot.scales(model, ax=ax)
    selected = np.flatnonzero(model.scale_)
    order = selected[np.argsort(-model.scale_[selected])]
    assert widths(ax) == model.scale_[order].tolist()
    assert names_of(ax) == [f"x{j}" for j in order]
    zero = 5 - selected.size
    assert title(ax).startswith(f"{selected.size} of 5 variables selected; the other {zero} have")


def test_of_a_thousand_variables_the_largest_are_drawn_and_the_others_counted(model):
    scale = np.zeros(1000)
    scale[100:150] = np.arange(50, 0, -1)
    ax = drawn(plot.scales(with_scales(model, scale), top=12))
    assert names_of(ax) == [f"x{j}" for j in range(100, 112)]
    assert title(ax) == "The largest 12 of 50 scales above zero; 950 are zero"


def test_fewer_bars_are_drawn_where_their_names_would_not_fit(model):
    ax = Figure(figsize=(3, 2.5), layout="constrained").subplots()
    drawn(plot.scales(with_scales(model, np.arange(1, 101)), top=60, ax=ax))
    assert 10 <= len(ax.patches) < 20
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(above.y0 > below.y1 - 1 for above, below in pairwise(boxes))
    assert title(ax) == f"The largest {len(ax.patches)} of 100 scales above zero"


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        ([0.5], "The only variable selected"),
        ([0.5, 1.0], "All 2 variables selected"),
        ([0.5, 0.0], "1 of 2 variables selected; the other one has scale zero"),
    ],
)
def test_the_title_counts_variables_in_words(scale, said, model, ax):
    assert title(drawn(plot.scales(with_scales(model, scale), ax=ax))) == said


def test_scales_are_refused_for_a_top_of_zero_and_for_a_model_without_any(model, data):
    with pytest.raises(ValueError, match="top=0 must be an integer of at least 1"):
        plot.scales(model, top=0)
    with pytest.raises(TypeError, match="MeanBaseline has no scale_"):
        plot.scales(MeanBaseline().fit(*data))


# Stability


def test_bars_count_the_fits_that_selected_a_variable(ax):
    selections = np.arange(7)[:, None] < [7, 0, 2, 4, 6]
    names = list("abcde")
    plot.stability(selections, names=names, ax=ax)
    counts = selections.sum(axis=0)
    assert dict(zip(names_of(ax), widths(ax), strict=True)) == {
        name: count for name, count in zip(names, counts, strict=True) if count
    }
    assert widths(ax) == sorted(widths(ax), reverse=True)
    assert title(ax) == "1 variable selected in all 7 fits; 1 of 5 never selected"


def test_models_are_read_by_their_scales_or_their_selected_columns(model, nothing, data, ax):
    lasso = LassoBaseline().fit(*data)
    plot.stability([model, lasso, nothing], ax=ax)
    expected = (model.scale_ > 0) + np.isin(np.arange(5), lasso.selected_).astype(int)
    assert dict(zip(names_of(ax), widths(ax), strict=True)) == {
        f"x{j}": expected[j] for j in range(5) if expected[j]
    }


def test_a_data_frame_of_selections_brings_its_names(ax):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    plot.stability(pandas.DataFrame({"u": [True, True], "v": [False, True]}), ax=ax)
    assert names_of(ax) == ["u", "v"]


def test_what_is_no_set_of_selections_is_refused(model, data):
    with pytest.raises(TypeError, match=r"sequence of fitted models .* got SRFFRegressor"):
        plot.stability(model)
    with pytest.raises(ValueError, match=r"got an array of shape \(1, 2\) and type float64"):
        plot.stability([[0.5, 1.0]])
    with pytest.raises(ValueError, match=r"got an array of shape \(0,\)"):
        plot.stability([])
    with pytest.raises(ValueError, match=r"\[1\] was fitted on 1 variable \(x0\), but .* on 5"):
        plot.stability([model, with_scales(model, [1.0])])
    with pytest.raises(ValueError, match="names has 1 names for 2 variables"):
        plot.stability([[True, False]], names=["a"])
    with pytest.raises(TypeError, match="MeanBaseline in models_or_selections selects no"):
        plot.stability([MeanBaseline().fit(*data)])


# Paths


def test_the_candidates_and_the_chosen_one_are_drawn(model, ax):
    plot.path(model, ax=ax)
    table = model.path_
    *kinds, chosen = ax.collections
    drawn_points = np.concatenate([points.get_offsets() for points in kinds])
    expected = np.column_stack([table["n_variables"], table["validation_error"]])
    assert sorted(map(tuple, drawn_points.tolist())) == sorted(map(tuple, expected.tolist()))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [*dict.fromkeys(table["kind"]), "chosen"]
    row = chosen_row(model)
    assert chosen.get_offsets().tolist() == [expected[row].tolist()]
    assert table["kind"][row] == model.model_kind_
    assert table["alpha"][row] == model.alpha_
    assert table["n_variables"][row] == np.count_nonzero(model.scale_)
    assert table["validation_error"][row] == model.validation_error_


def test_candidates_of_one_kind_are_set_out_along_alpha(alternating, ax):
    plot.path(alternating, ax=drawn(ax))
    full, chosen = ax.collections
    table = alternating.path_
    assert not table["stopped"].any()  # every alpha is followed to its end
    assert len(full.get_offsets()) == len(table["alpha"])
    best = np.flatnonzero(table["alpha"] == alternating.alpha_)[0]
    expected = [table["alpha"][best], table["validation_error"][best]]
    assert chosen.get_offsets().tolist() == [expected]
    assert ax.get_xscale() == "log"
    plot.path(alternating, x="n_variables", ax=(other := Figure().subplots()))
    assert other.get_xlabel() == "variables in the model"


def test_budgets_are_told_apart_where_all_candidates_are_scales(data, ax):
    fitted = quick(*data, refine=None)
    plot.path(fitted, ax=drawn(ax))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(labels) == 4
    assert all(label.startswith("scales, budget ") for label in labels[:3])


def test_a_fit_without_validation_rows_shows_its_training_error(data, ax):
    fitted = quick(*data, refine=None, alpha=1e-3, budget=2.0)
    plot.path(fitted, ax=drawn(ax))
    assert ax.get_ylabel() == "training error (RMSE)"
    assert len(ax.collections) == 2


def test_a_target_without_anything_to_learn_has_no_candidates(data, ax):
    with pytest.warns(UserWarning, match="constant"):
        fitted = SRFFRegressor(**QUICK).fit(data[0], np.ones(250))
    assert texts(plot.path(fitted, ax=ax)) == "No candidates: there was nothing to learn"


def test_scales_and_errors_are_drawn_along_alpha(along):
    figure = Figure(layout="constrained")
    names = ["one", "two", "three", "four", "five"]
    above, below = drawn(plot.path(along, names=names, ax=figure.subplots(2, 1)))
    order = {text.get_text(): number for number, text in enumerate(above.texts)}
    assert set(order) <= set(names)
    for label, number in order.items():
        line = above.lines[number]
        assert np.array_equal(line.get_xdata(), along.alphas)
        assert np.array_equal(line.get_ydata(), along.scales[:, names.index(label)])
        assert above.texts[number].get_color() == line.get_color()
    validation, training, best = below.lines[:3]
    assert np.array_equal(validation.get_ydata(), along.validation_error)
    assert np.array_equal(training.get_ydata(), along.training_error)
    assert best.get_ydata()[0] == along.validation_error.min()
    assert np.count_nonzero(along.scales[along.best]) == int(title(above).split()[0])


def test_a_path_of_a_thousand_variables_names_the_strongest_alone(along, ax):
    rng = np.random.RandomState(0)
    weak = rng.uniform(0, 0.01, (along.alphas.size, 995))
    many = replace(along, scales=np.hstack([along.scales, weak]))
    above, _ = drawn(plot.path(many, ax=ax))
    assert len(above.texts) <= len(style.COLOURS)
    assert {text.get_text() for text in above.texts} & {"x0", "x1", "x2"}
    rest = np.count_nonzero(many.scales.any(axis=0)) - len(above.texts)
    assert len(above.collections[0].get_segments()) == rest


def test_a_path_of_one_alpha_can_be_drawn(along, ax):
    first = {
        name: getattr(along, name)[:1]
        for name in ("alphas", "scales", "coefs", "training_error", "validation_error")
    }
    drawn(plot.path(replace(along, best=0, **first), ax=ax))


def test_paths_are_refused_for_wrong_names_and_axes(along, model, data):
    with pytest.raises(ValueError, match="names has 1 names for 5 variables"):
        plot.path(along, names=["a"])
    with pytest.raises(ValueError, match="x='beta' is unknown; accepted: 'auto', 'alpha'"):
        plot.path(model, x="beta")
    with pytest.raises(TypeError, match="MeanBaseline has no path_"):
        plot.path(MeanBaseline().fit(*data))


def test_labels_are_moved_apart_as_little_as_needed():
    heights = np.array([0.5, 0.1, 0.52, 0.9])
    moved = _apart(heights, 0.1)
    assert moved == pytest.approx([0.46, 0.1, 0.56, 0.9])
    crowded = _apart(np.zeros(5), 0.1)
    assert np.diff(crowded) == pytest.approx(np.full(4, 0.1))
    assert crowded.min() >= 0


# Convergence


def test_the_objective_is_drawn_at_each_iteration(model, alternating):
    for fitted in (model, alternating):
        ax = drawn(plot.convergence(fitted, ax=Figure().subplots()))
        assert np.array_equal(ax.lines[0].get_ydata(), fitted.objective_)
        assert np.array_equal(ax.lines[0].get_xdata(), np.arange(fitted.objective_.size))


def test_a_model_that_is_solved_at_once_has_nothing_to_converge(data, ax):
    fitted = RFFRegressor(n_components=20, random_state=0).fit(*data)
    assert texts(plot.convergence(fitted, ax=ax)).startswith("Nothing was iterated")


# Fit


def test_points_are_predictions_and_residuals(model, data):
    X, y = data
    left, right = drawn(plot.fit(model, X, y, ax=Figure(layout="constrained").subplots(1, 2)))
    predicted = model.predict(X)
    assert np.array_equal(left.collections[0].get_offsets(), np.column_stack([y, predicted]))
    expected = np.column_stack([predicted, y - predicted])
    assert np.array_equal(right.collections[0].get_offsets(), expected)
    rmse = np.sqrt(np.mean((y - predicted) ** 2))
    assert title(left) == f"R² = {r2_score(y, predicted):.3f}, RMSE = {rmse:.3g}"
    assert title(right) == "250 rows"


def test_many_rows_are_counted_in_hexagons(model, data, ax):
    X, y = np.tile(data[0], (10, 1)), np.tile(data[1], 10)
    left, right = drawn(plot.fit(model, X, y, ax=ax))
    for axis in (left, right):
        assert axis.collections[0].get_array().sum() == 2500
    assert title(left).startswith(f"R² = {r2_score(y, model.predict(X)):.3f}")
    assert title(right) == "2,500 rows"


def test_a_constant_target_has_an_error_but_no_share_of_variance(model, data, ax):
    left, _ = drawn(plot.fit(model, data[0], np.ones(250), ax=ax))
    assert title(left).startswith("RMSE = ")


def test_rows_that_do_not_match_are_refused(model, data):
    X, y = data
    with pytest.raises(ValueError, match="X has 4 features, but SRFFRegressor is expecting 5"):
        plot.fit(model, X[:, :4], y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[250, 249\]"):
        plot.fit(model, X, y[:-1])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        plot.fit(model, X, np.where(y > 0, y, np.nan))
    with pytest.raises(ValueError, match="X has 4 features, but SRFFRegressor is expecting 5"):
        plot.effect(model, X[:, :4])


# Effect


def test_curves_are_scikit_learns_partial_dependence(model, data, ax):
    X, _ = data
    axes = drawn(plot.effect(model, X, [1, "x0"], pairs=0, sample=1000, ax=ax))
    assert [axis.get_xlabel() for axis in axes] == ["x1", "x0"]
    for axis, column in zip(axes, (1, 0), strict=True):
        expected = partial_dependence(model, X, [column], grid_resolution=40, kind="average")
        assert axis.lines[0].get_xdata() == pytest.approx(expected["grid_values"][0])
        assert axis.lines[0].get_ydata() == pytest.approx(expected["average"][0])


def test_by_default_the_selected_variables_are_drawn_strongest_first_then_a_pair(model, data, ax):
    axes = drawn(plot.effect(model, data[0], sample=20, ax=ax))
    order = [f"x{j}" for j in np.argsort(-model.scale_) if model.scale_[j] > 0]
    labels = [axis.get_xlabel() for axis in axes]
    assert labels == [*order, order[0]]
    assert axes[-1].get_ylabel() == order[1]


def test_pairs_are_taken_from_the_first_features_on(model, data, ax):
    axes = plot.effect(model, data[0], [4, 3, 2], pairs=3, sample=10, ax=ax)
    pairs = [(axis.get_xlabel(), axis.get_ylabel()) for axis in axes[3:]]
    assert pairs == [("x4", "x3"), ("x4", "x2"), ("x3", "x2")]
    single = plot.effect(model, data[0], [4], pairs=3, sample=10, ax=Figure().subplots())
    assert len(single) == 1


def test_a_variable_that_is_not_used_is_flat(model, data, ax):
    unused = int(np.flatnonzero(model.scale_ == 0)[0])
    curve, surface = drawn(
        plot.effect(model, data[0], [unused], pairs=[(unused, unused - 1)], sample=10, ax=ax)
    )
    assert np.ptp(curve.lines[0].get_ydata()) == 0
    assert surface.get_xlabel() == f"x{unused}"


def test_data_frames_of_whole_numbers_and_rare_values_can_be_drawn(data, ax):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    rng = np.random.RandomState(0)
    rare = np.where(rng.uniform(size=250) < 0.02, rng.standard_normal(250), 0)
    frame = pandas.DataFrame({"count": rng.poisson(3, 250), "flag": rng.randint(2, size=250)})
    frame = frame.assign(rare=rare)
    fitted = quick(frame, frame["count"] * frame["flag"], inputs="standard")
    axes = drawn(plot.effect(fitted, frame, ["count", "flag", "rare"], pairs=3, ax=ax))
    assert [axis.get_xlabel() for axis in axes[:3]] == ["count", "flag", "rare"]
    assert hasattr(fitted, "feature_names_in_")


def test_a_polars_frame_and_a_model_on_quantiles_can_be_drawn(data, ax):
    polars = pytest.importorskip("polars", reason="polars is not installed (extra: test)")
    X, y = data
    frame = polars.DataFrame(X, schema=list("abcde"))
    fitted = quick(frame, y, inputs="quantile")
    assert drawn(plot.effect(fitted, frame, ["a"], sample=50, ax=ax))[0].get_xlabel() == "a"
    drawn(plot.fit(fitted, frame, y, ax=Figure().subplots()))


def test_features_that_are_not_there_are_named(model, data):
    X, _ = data
    with pytest.raises(
        ValueError, match=r"features has 'x00', which is no variable .*; close are 'x0'"
    ):
        plot.effect(model, X, ["x00"])
    with pytest.raises(ValueError, match="pairs has column 5, but there are 5"):
        plot.effect(model, X, [0], pairs=[(0, 5)])
    with pytest.raises(ValueError, match=r"pairs has \(0, 1, 2\), which is not a pair"):
        plot.effect(model, X, [0], pairs=[(0, 1, 2)])
    with pytest.raises(TypeError, match=r"features='x0' must be a list .*\['x0'\]"):
        plot.effect(model, X, "x0")
    with pytest.raises(TypeError, match="pairs=None must be a number or a list of pairs"):
        plot.effect(model, X, pairs=None)
    with pytest.raises(TypeError, match="features must be given: MeanBaseline has no scales"):
        plot.effect(MeanBaseline().fit(*data), X)
