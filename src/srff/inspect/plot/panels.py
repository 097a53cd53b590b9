"""Plots of partial dependence: curves, surfaces, and points at the levels of categories."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from srff.inspect.outcome import Output, outcome_of
from srff.inspect.plot import style
from srff.inspect.plot.dependence import MISSING, CodedPredictor, Panel, where_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY_LEVELS = 6
"""Names of levels above which slanted ones would run into each other."""


@dataclass(frozen=True)
class Scene:
    """What all plots share."""

    predictor: CodedPredictor
    rows: np.ndarray = field(repr=False)
    names: np.ndarray
    outputs: list[Output]
    """Numbers of the outputs that are drawn, and their names; one without has none."""
    label: str


def draw_panels(axes: np.ndarray, panels: list[Panel], results: list[Any], scene: Scene) -> None:
    """Draw every plot; the curves with the same limits."""
    used = sorted({j for panel in panels for j in panel})
    letters = style.letters_beside(axes[0], 0.75)
    labels = dict(zip(used, style.shown_names(scene.names, used, letters), strict=True))
    numeric = [all(scene.predictor.levels(j) is None for j in panel) for panel in panels]
    absent = [where_missing(scene.predictor, scene.rows, panel, scene.outputs) for panel in panels]
    flat = [r.average for r, panel in zip(results, panels, strict=True) if len(panel) == 1]
    flat += [end for pair in zip(panels, results, strict=True) for end in _band(scene, *pair)]
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
            style.plain_numbers(axis.yaxis, float(np.abs(limits[1]).max()))
    if len(scene.outputs) > 1:
        _class_legend(axes, panels, scene)


def _continuous(
    axes: np.ndarray,
    panels: list[Panel],
    results: list[Any],
    scene: Scene,
    labels: dict[int, str],
    limits: dict[int, tuple[float, float]],
) -> None:
    """Curves and surfaces of numbers, by scikit-learn; then mend sizes, limits and labels."""
    if not panels:
        return
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
    for number, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        style.tidy(axis)
        size = style.text_size(axis)
        style.few_ticks(axis)
        for marks in (display.deciles_vlines_[number], display.deciles_hlines_[number]):
            if marks is not None:
                marks.remove()
        for side, j in zip((axis.xaxis, axis.yaxis), panel, strict=False):
            if scene.predictor.is_date(j):
                style.dates(side)
        _rug(axis, deciles[panel[0]], "x")
        if len(panel) == 2:
            _rug(axis, deciles[panel[1]], "y")
            _colour_bar(axis, size)
            if not np.ptp(shown[number].average):
                style.say(axis, "no effect", color="white")
            if len(scene.outputs) > 1:
                style.title(axis, f"chance of {style.plain(scene.outputs[most[number]][1], 16)}")
        else:
            (values,) = results[number]["grid_values"]
            band = _band(scene, panel, results[number])
            if band:
                axis.fill_between(values, *band, color=style.BLUE, alpha=0.2, linewidth=0)
            for curve, colour in zip(results[number].average[1:], style.COLOURS[1:], strict=False):
                axis.plot(values, curve, color=colour)


def _band(scene: Scene, panel: Panel, result: Any) -> tuple[np.ndarray, ...]:
    """The lowest and the highest curve of the models of the folds; none if they are not known."""
    model = scene.predictor.model
    table = getattr(model, "effect_bands_", None)
    if table is None or len(panel) > 1 or len(scene.outputs) > 1:
        return ()
    own = table["input"] == panel[0]
    if not own.any():
        return ()
    (values,), curve = result["grid_values"], result["average"][0]
    low, high = (np.interp(values, table["value"][own], table[end][own]) for end in ("low", "high"))
    if outcome_of(model).labels and scene.outputs[0][0] == 0:
        low, high = -high, -low  # the first of two classes; bands are of the second
    return curve + low, curve + high


def _colour_bar(ax: Axes, size: float) -> None:
    """What the colours of a surface mean, beside it; numbers on the lines would hide each other."""
    for text in [*ax.texts]:
        text.remove()
    filled: Any = next(each for each in ax.collections if getattr(each, "filled", False))
    figure: Any = ax.figure
    bar = figure.colorbar(filled, ax=ax, pad=0.03)
    bar.ax.tick_params(labelsize=0.8 * size)
    style.plain_numbers(bar.ax.yaxis, float(np.abs(filled.levels).max()))
    bar.outline.set_visible(False)


def _most_varied(result: Any) -> int:
    """The output that changes most over a grid."""
    return int(np.argmax([np.ptp(table) for table in result.average]))


def _only(result: Any, output: int) -> Any:
    """The result of one output."""
    one = copy.copy(result)
    one["average"] = result.average[[output]]
    return one


def _with_levels(ax: Axes, panel: Panel, result: Any, scene: Scene, labels: dict[int, str]) -> None:
    """A plot with a category: points at its levels, curves for its levels, or a chequered table."""
    style.tidy(ax, grid="y" if len(panel) == 1 else None)
    levels = [scene.predictor.levels(j) for j in panel]
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


def _class_legend(axes: np.ndarray, panels: list[Panel], scene: Scene) -> None:
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
    total = len(outcome_of(scene.predictor.model).labels)
    title = f"{len(handles)} of {total} classes" if len(handles) < total else None
    first.legend(handles=handles, fontsize=size, title=title, title_fontsize=size, framealpha=0.6)


def label_the_first(axes: np.ndarray, label: str) -> None:
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
