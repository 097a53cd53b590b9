"""What the model says of its variables: partial dependence, alone and in pairs."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted, validate_data

from srff._utils import parameters
from srff._utils.arrays import to_host
from srff.data.encoding.frames import UNSEEN, coded
from srff.inspect.evaluate import coded_inputs, outputs_of
from srff.inspect.outcome import Output, outcome_of
from srff.inspect.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE, SURFACE = 40, 15
"""Values of a variable at which a curve and a surface are computed."""

MOST_LEVELS = 12
"""Levels of a category that are drawn: the most frequent."""

MANY_LEVELS = 6
"""Names of levels above which slanted ones would run into each other."""

COLUMNS = 3
"""Most plots beside each other."""

MISSING = "missing"

Panel = tuple[int, ...]


def effect(
    model: Any,
    X: Any,
    features: Iterable[int | str] | None = None,
    *,
    pairs: int | Iterable[tuple[int | str, int | str]] = 1,
    target: Any = None,
    top: int = 5,
    sample: int = 300,
    random_state: Any = 0,
    ax: Any = None,
) -> np.ndarray:
    """Partial dependence of the prediction on single variables, and on pairs of them.

    The mean prediction over a sample of rows, where one variable, or two, are set to the values
    along the axes: by scikit-learn's ``partial_dependence``.  Ticks inside the frame are the
    deciles of the variable.  Of a classifier it is the chance of a class.  A category has a point
    for each level; a dashed line is the prediction where the variable is missing.

    Parameters
    ----------
    model : SRFFRegressor, SRFFClassifier or RFFRegressor
        A fitted model; a baseline of this package too, where ``features`` are given.
    X : array-like of shape (n_samples, n_features)
        Rows to average over, with the columns that the model was fitted on.
    features : iterable of int or str, or None, default=None
        Columns, by number or name, to draw a curve of; None is the ``top`` selected ones.
    pairs : int or iterable of pairs, default=1
        Pairs of columns to draw a surface of; a number takes so many pairs of ``features``, from
        the first ones on.
    target : class label, int or None, default=None
        The class whose chance is drawn, or the number of one of several targets.  None is the
        second of two classes, the first six of several (in a pair, that of them which varies most),
        or the first target.
    top : int, default=5
        Most curves where ``features`` is None: those of the largest scales.
    sample : int, default=300
        Most rows to average over.
    random_state : int, RandomState instance or None, default=0
        Seed of the choice of rows.
    ax : matplotlib Axes, as many as there are plots, or None, default=None
        Where to draw; one Axes is divided, None is a new figure.

    Returns
    -------
    axes : ndarray of matplotlib Axes
        One for each variable, then one for each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from srff import RFFRegressor, plot
    >>> X = np.random.RandomState(0).standard_normal((100, 3))
    >>> model = RFFRegressor(n_components=50, random_state=0).fit(X, X[:, 0] * X[:, 1])
    >>> axes = plot.effect(model, X, [0, 1], sample=50, ax=Figure().subplots())
    >>> [axis.get_xlabel() for axis in axes]
    ['x0', 'x1', 'x0']
    """
    style.check_matplotlib()
    check_is_fitted(model)
    parameters.check_integer("top", top, 1)
    parameters.check_integer("sample", sample, 1)
    outcome = outcome_of(model)
    outputs = outcome.drawn_outputs(target, len(style.COLOURS))
    names = style.variable_names(model)
    single = _features(model, features, names, top)
    panels: list[Panel] = [(j,) for j in single] + _pairs(pairs, single, names)
    if not panels:
        axis = style.one_axes(ax)
        said = "No variable selected: the prediction is the same for all rows"
        return np.array([style.only_say(axis, said)], dtype=object)
    answer = Answer(model)
    rows = _rows(model, X, sample, random_state, {j for panel in panels for j in panel})
    axes = _axes(ax, len(panels))
    results = [_dependence(answer, rows, panel, outputs) for panel in panels]
    label = outcome.axis_label(style.plain(outputs[0][1], 16), len(outputs) == 1)
    _display(axes, panels, results, _Scene(answer, rows, names, outputs, label))
    if not np.iterable(ax):
        _label_the_first(axes[: len(single)], label)
    return axes


class Answer(RegressorMixin, BaseEstimator):
    """What a model says of *coded* rows (:mod:`srff.data.encoding.frames`): predictions or chances.

    A missing category has the number after the last level here, so that it is one of the values.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Answer:
        """Nothing: the model is fitted."""
        return self

    def levels(self, column: int) -> list[str] | None:
        """The levels of a category, the last one for missing values; None for numbers."""
        known = getattr(self.model, "levels_", None)
        if known is None or known[column] is None:
            return None
        return [*map(str, known[column].tolist()), MISSING]

    def imputes(self, column: int) -> bool:
        """Whether the model has seen that a number can be missing."""
        encoding = getattr(self.model, "encoding_", None)
        return encoding is not None and bool(getattr(encoding.columns[column], "indicator", False))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predictions (rows,) or (rows, targets), or chances of the classes."""
        model = _without_names(self.model)
        outcome = outcome_of(model)
        if getattr(model, "encoding_", None) is None:
            return outcome.predict(X)
        X = X.copy()
        for k in range(X.shape[1]):
            levels = self.levels(k)
            if levels is not None:
                X[X[:, k] == len(levels) - 1, k] = np.nan
        return outcome.predictions(outputs_of(model, coded_inputs(model, X)))


@dataclass(frozen=True)
class _Scene:
    """What all plots share."""

    answer: Answer
    rows: np.ndarray = field(repr=False)
    names: np.ndarray
    outputs: list[Output]
    """Numbers of the outputs that are drawn, and their names; one without has none."""
    label: str


def _features(model: Any, given: Any, names: np.ndarray, top: int) -> list[int]:
    """Numbers of the columns to draw."""
    if given is not None:
        if isinstance(given, str | Integral):
            raise TypeError(f"features={given!r} must be a list of columns, such as [{given!r}].")
        return [_column("features", column, names) for column in given]
    if not hasattr(model, "scale_"):
        raise TypeError(
            f"features must be given: {type(model).__name__} has no scales to choose them by."
        )
    order = np.argsort(-model.scale_, kind="stable")[:top]
    return [int(j) for j in order if model.scale_[j] > 0]


def _pairs(given: Any, single: Sequence[int], names: np.ndarray) -> list[Panel]:
    """Numbers of the pairs of columns to draw."""
    if isinstance(given, Integral):
        parameters.check_integer("pairs", given, 0)
        # Both of a pair count alike: (0, 1), (0, 2), (1, 2), (0, 3), ...
        found = sorted(combinations(range(len(single)), 2), key=lambda p: (p[0] + p[1], p[1]))
        return [(single[i], single[j]) for i, j in found[: int(given)]]
    try:
        couples = [tuple(pair) for pair in given]
    except TypeError:
        raise TypeError(f"pairs={given!r} must be a number or a list of pairs.") from None
    for couple in couples:
        if len(couple) != 2:
            raise ValueError(f"pairs has {couple!r}, which is not a pair of columns.")
    return [(_column("pairs", i, names), _column("pairs", j, names)) for i, j in couples]


def _column(parameter: str, column: Any, names: np.ndarray) -> int:
    """The number of a column that is given by its number or its name."""
    if isinstance(column, Integral) and not isinstance(column, bool):
        number = int(column)
        if not -names.size <= number < names.size:
            raise ValueError(f"{parameter} has column {number}, but there are {names.size}.")
        return number % names.size
    places = np.flatnonzero(names == column)
    if not places.size:
        close = difflib.get_close_matches(str(column), list(map(str, names)), n=3)
        hint = f"; close are {', '.join(map(repr, close))}" if close else ""
        raise ValueError(f"{parameter} has {column!r}, which is no variable of the model{hint}.")
    return int(places[0])


def _rows(model: Any, X: Any, sample: int, random_state: Any, drawn: set[int]) -> np.ndarray:
    """Some of the rows, checked, as float64; categories as the numbers of their levels.

    Of a table with categories only the columns that the model reads or that are drawn are looked
    at; the others are zero.
    """
    X = to_host(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows > sample:
        X = resample(X, replace=False, n_samples=sample, random_state=random_state)
    if getattr(model, "encoding_", None) is None:
        return validate_data(model, X, dtype=np.float64, reset=False)
    validate_data(model, X, reset=False, skip_check_array=True)
    needed = np.union1d(model.encoding_.needed(model.columns_), sorted(drawn)).astype(np.intp)
    codes = np.zeros((X.shape[0], len(model.levels_)))
    codes[:, needed] = coded(X, model.levels_, needed)
    return codes


def _without_names(model: Any) -> Any:
    """The model for plain arrays, which need no checks of names."""
    if not hasattr(model, "feature_names_in_"):
        return model
    model = copy.copy(model)
    del model.feature_names_in_
    return model


def _axes(ax: Any, count: int) -> np.ndarray:
    """Axes in a few columns; a new figure grows with its rows."""
    columns = 2 if count == 4 else min(count, COLUMNS)
    rows = -(-count // columns)
    size = (4.8, 3.6) if count == 1 else (style.WIDTH, 0.3 + (2.0 if columns > 2 else 2.6) * rows)
    return style.several_axes(ax, count, columns, size)


def _dependence(answer: Answer, rows: np.ndarray, panel: Panel, outputs: list[Output]) -> Any:
    """Means of the prediction on the grid of one plot: one table for each output drawn."""
    from sklearn.inspection import partial_dependence

    levels = [answer.levels(j) for j in panel]
    rows = rows.copy()
    for j, known in zip(panel, levels, strict=True):
        rows[:, j] = _filled(rows[:, j]) if known is None else _drawn_codes(rows[:, j], len(known))
    low, high = np.quantile(rows[:, panel], (0.05, 0.95), axis=0)
    grid = CURVE if len(panel) == 1 else SURFACE
    found = partial_dependence(
        answer,
        rows,
        panel,
        kind="average",
        grid_resolution=max([grid, *(len(known) for known in levels if known is not None)]),
        categorical_features=[j for j, known in zip(panel, levels, strict=True) if known] or None,
        # A column that is nearly always the same has no middle to keep to.
        percentiles=(0.05, 0.95) if (low < high).all() else (0, 1),
    )
    found["average"] = found["average"][[k for k, _ in outputs]]
    return found


def _filled(values: np.ndarray) -> np.ndarray:
    """Numbers with their median where they are missing: it is a value that they have."""
    gaps = np.isnan(values)
    if not gaps.any():
        return values
    there = np.sort(values[~gaps])
    return np.where(gaps, there[there.size // 2] if there.size else 0.0, values)


def _drawn_codes(codes: np.ndarray, n_values: int) -> np.ndarray:
    """Levels that are drawn, the most frequent, the number after the last for missing ones."""
    codes = np.where(np.isnan(codes), n_values - 1, codes)
    seen = codes[codes != UNSEEN].astype(np.intp)
    frequent = np.argsort(-np.bincount(seen, minlength=n_values), kind="stable")[:MOST_LEVELS]
    return np.where(np.isin(codes, frequent), codes, frequent[0])


def _display(axes: np.ndarray, panels: list[Panel], results: list[Any], scene: _Scene) -> None:
    """Draw every plot; the curves with the same limits."""
    used = sorted({j for panel in panels for j in panel})
    letters = style.letters_beside(axes[0], 0.75)
    labels = dict(zip(used, style.shown_names(scene.names, used, letters), strict=True))
    numeric = [all(scene.answer.levels(j) is None for j in panel) for panel in panels]
    absent = [_where_missing(scene, panel) for panel in panels]
    flat = [r.average for r, panel in zip(results, panels, strict=True) if len(panel) == 1]
    limits = {1: _limits([*flat, *(a for a in absent if a is not None)])} if flat else {}
    _continuous(
        axes[numeric],
        [panel for panel, wanted in zip(panels, numeric, strict=True) if wanted],
        [result for result, wanted in zip(results, numeric, strict=True) if wanted],
        scene,
        labels,
        limits,
    )
    for number, (axis, panel, result) in enumerate(zip(axes, panels, results, strict=True)):
        if not numeric[number]:
            _with_levels(axis, panel, result, scene, labels)
        gap = absent[number]
        if gap is not None:
            for value, colour in zip(gap, style.COLOURS, strict=False):
                axis.axhline(value, color=colour, linewidth=1, linestyle="--")
            size = 0.8 * style.text_size(axis)
            at: dict[str, Any] = {"xy": (1, gap[0]), "xycoords": axis.get_yaxis_transform()}
            axis.annotate(MISSING, **at, ha="right", va="bottom", fontsize=size)
        if len(panel) == 1:
            axis.set(ylim=limits[1], ylabel=scene.label)
    if len(scene.outputs) > 1:
        _class_legend(axes, panels, scene)


def _where_missing(scene: _Scene, panel: Panel) -> np.ndarray | None:
    """The mean predictions where a number is missing in all rows; None if it never is."""
    (j, *others) = panel
    if others or scene.answer.levels(j) is not None or not scene.answer.imputes(j):
        return None
    rows = scene.rows.copy()
    rows[:, j] = np.nan
    said = scene.answer.predict(rows)
    said = said.reshape(said.shape[0], -1).mean(axis=0)
    return said[[k for k, _ in scene.outputs]]


def _continuous(
    axes: np.ndarray,
    panels: list[Panel],
    results: list[Any],
    scene: _Scene,
    labels: dict[int, str],
    limits: dict[int, tuple[float, float]],
) -> None:
    """Curves and surfaces of numbers, by scikit-learn; then mend sizes, limits and labels."""
    if not panels:
        return
    from matplotlib.patheffects import withStroke
    from sklearn.inspection import PartialDependenceDisplay

    used = sorted({j for panel in panels for j in panel})
    deciles = {j: np.nanquantile(scene.rows[:, j], np.arange(0.1, 1, 0.1)) for j in used}
    most = [
        _most_varied(result) if len(panel) == 2 else 0
        for result, panel in zip(results, panels, strict=True)
    ]
    shown = [_only(result, output) for result, output in zip(results, most, strict=True)]
    surfaces = [r.average for r, panel in zip(shown, panels, strict=True) if len(panel) == 2]
    if surfaces:
        limits = limits | {2: _limits(surfaces)}
    display = PartialDependenceDisplay(
        shown, features=panels, feature_names=labels, target_idx=0, deciles=deciles
    )
    display.plot(
        ax=axes,
        line_kw={"color": style.BLUE},
        contour_kw={"cmap": "viridis", "alpha": 1.0},
        pdp_lim=limits,
    )
    outline = [withStroke(linewidth=1.2, foreground="0.2")]  # read on any colour
    for number, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        style.tidy(axis)
        size = style.text_size(axis)
        style.few_ticks(axis)
        for marks in (display.deciles_vlines_[number], display.deciles_hlines_[number]):
            if marks is not None:
                marks.remove()
        _rug(axis, deciles[panel[0]], "x")
        if len(panel) == 2:
            _rug(axis, deciles[panel[1]], "y")
            for text in axis.texts:
                text.set(fontsize=0.8 * size, color="white", path_effects=outline)
            if not np.ptp(shown[number].average):
                style.say(axis, "no effect", color="white")
            if len(scene.outputs) > 1:
                style.title(axis, f"chance of {style.plain(scene.outputs[most[number]][1], 16)}")
        else:
            (values,) = results[number]["grid_values"]
            for curve, colour in zip(results[number].average[1:], style.COLOURS[1:], strict=False):
                axis.plot(values, curve, color=colour)


def _most_varied(result: Any) -> int:
    """The output that changes most over a grid."""
    return int(np.argmax([np.ptp(table) for table in result.average]))


def _only(result: Any, output: int) -> Any:
    """The result of one output."""
    one = copy.copy(result)
    one["average"] = result.average[[output]]
    return one


def _with_levels(
    ax: Axes, panel: Panel, result: Any, scene: _Scene, labels: dict[int, str]
) -> None:
    """A plot with a category: points at its levels, curves for its levels, or a chequered table."""
    style.tidy(ax, grid="y" if len(panel) == 1 else None)
    levels = [scene.answer.levels(j) for j in panel]
    grids = result["grid_values"]
    if len(panel) == 1:
        for values, colour in zip(result.average, style.COLOURS, strict=False):
            look: dict[str, Any] = {"color": colour, "marker": "o", "linewidth": 0.6}
            ax.plot(range(values.size), values, markersize=5, linestyle=":", **look)
        _level_ticks(ax, levels[0], grids[0], "x")
        ax.set_xlabel(labels[panel[0]])
        return
    output = _most_varied(result)
    table = result.average[output]
    name = style.plain(scene.outputs[output][1], 16)
    label = f"chance of {name}" if len(scene.outputs) > 1 else scene.label
    if levels[0] is not None and levels[1] is not None:
        ax.imshow(table.T, origin="lower", aspect="auto", cmap="viridis")
        _level_ticks(ax, levels[0], grids[0], "x")
        _level_ticks(ax, levels[1], grids[1], "y")
        _numbers_on(ax, table)
        ax.set(xlabel=labels[panel[0]], ylabel=labels[panel[1]])
        style.title(ax, label)
        return
    # One curve along the number for each of the first levels.
    number = 1 if levels[0] is not None else 0
    known = levels[1 - number]
    assert known is not None
    curves = table if number == 1 else table.T
    for curve, code, colour in zip(curves, grids[1 - number], style.COLOURS, strict=False):
        ax.plot(grids[number], curve, color=colour, label=style.plain(known[int(code)], 16))
    size = 0.8 * style.text_size(ax)
    title = style.plain(labels[panel[1 - number]], 16)
    ax.legend(title=title, fontsize=size, title_fontsize=size, frameon=False)
    ax.set(xlabel=labels[panel[number]], ylabel=label)
    style.few_ticks(ax)


def _level_ticks(ax: Axes, levels: list[str] | None, codes: np.ndarray, side: str) -> None:
    """The names of levels beside an axis, slanted where there is no room."""
    assert levels is not None
    width, size = style.room(ax)[0], style.text_size(ax)
    names = [style.plain(levels[int(code)], 14) for code in codes]
    if side == "y":
        ax.set_yticks(range(len(names)), names, fontsize=0.85 * size)
        return
    crowded = sum(map(len, names)) * style.GLYPH * size > 0.8 * width
    look: dict[str, Any] = {}
    if crowded:
        look = {"rotation": 90} if len(names) > MANY_LEVELS else {"rotation": 35, "ha": "right"}
    ax.set_xticks(range(len(names)), names, fontsize=0.85 * size, **look)
    ax.set_xlim(-0.5, len(names) - 0.5)


def _numbers_on(ax: Axes, table: np.ndarray) -> None:
    """The values of a chequered table, where there is room for them."""
    from matplotlib.patheffects import withStroke

    size = 0.75 * style.text_size(ax)
    if table.shape[0] * 5 * style.GLYPH * size > style.room(ax)[0]:
        return
    outline = [withStroke(linewidth=1.2, foreground="0.2")]
    for (i, j), value in np.ndenumerate(table):
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        ax.text(i, j, f"{value:.3g}", color="white", path_effects=outline, **place)


def _class_legend(axes: np.ndarray, panels: list[Panel], scene: _Scene) -> None:
    """Which colour is which class, in the first plot of curves."""
    from matplotlib.lines import Line2D

    first = next((axis for axis, panel in zip(axes, panels, strict=True) if len(panel) == 1), None)
    if first is None:
        return
    handles = [
        Line2D([], [], color=colour, label=style.plain(name, 14))
        for (_, name), colour in zip(scene.outputs, style.COLOURS, strict=False)
    ]
    size = 0.75 * style.text_size(first)
    total = len(outcome_of(scene.answer.model).labels)
    title = f"{len(handles)} of {total} classes" if len(handles) < total else None
    first.legend(handles=handles, fontsize=size, title=title, title_fontsize=size, framealpha=0.6)


def _label_the_first(axes: np.ndarray, label: str) -> None:
    """Curves beside each other have the same limits: the first of a row says them."""
    for before, axis in pairwise(axes):
        if axis.get_ylabel() == before.get_ylabel() == label and not _first_of_row(axis):
            axis.tick_params(labelleft=False)
    for axis in axes:
        if axis.get_ylabel() == label and not _first_of_row(axis):
            axis.set_ylabel("")


def _first_of_row(ax: Axes) -> bool:
    place = ax.get_subplotspec()
    return place is None or place.is_first_col()


def _limits(values: list[np.ndarray]) -> tuple[float, float]:
    """Limits around all values, apart even where the prediction never changes."""
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    pad = 0.05 * (high - low)
    if pad <= 1e-9 * max(abs(low), abs(high)):
        pad = 0.05 * abs(low) or 1.0
    return float(low - pad), float(high + pad)


def _rug(ax: Axes, values: np.ndarray, side: str) -> None:
    """Short lines inside the frame at some values."""
    limits = ax.get_xlim(), ax.get_ylim()
    look: dict[str, Any] = {"color": style.GREY, "linewidth": 0.8}
    if side == "x":
        ax.vlines(values, 0, 0.04, transform=ax.get_xaxis_transform(), **look)
    else:
        ax.hlines(values, 0, 0.04, transform=ax.get_yaxis_transform(), **look)
    ax.set(xlim=limits[0], ylim=limits[1])
