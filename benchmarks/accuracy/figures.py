"""Figures of methods over many problems: error against time, and what was selected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from problem import Problem
from tables import Cells, good, method_point

COLOURS = {"srff": "#c0392b"}


def common(cells: Cells, problems: Sequence[Problem], methods: Sequence[str]) -> list[Problem]:
    """Problems that every method has a result for."""
    return [p for p in problems if all(good(cells, p.name, m) for m in methods)]


def scatter(
    path: Path,
    points: dict[str, tuple[float, float]],
    labels: tuple[str, str, str],
    prepare: Callable[[Any], None],
    ranges: dict[str, tuple[float, float]] | None = None,
) -> None:
    """A point with its name for each method."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "srff"
    figure, axes = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    for method, (x, y) in points.items():
        if math.isnan(x) or math.isnan(y):
            continue
        colour = COLOURS.get(method, "#34495e")
        if ranges is not None:
            axes.plot((x, x), ranges[method], color=colour, alpha=0.3, linewidth=2)
        axes.plot(x, y, "o", color=colour, markersize=7)
    title, x_label, y_label = labels
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    prepare(axes)
    figure.canvas.draw()  # the layout has to be known for the labels not to lie on each other
    place_labels(axes, points)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def place_labels(axes: Any, points: dict[str, tuple[float, float]]) -> None:
    """Write the names beside the points, moved up or down where another name is."""
    taken: list[tuple[float, float]] = []
    for method, point in points.items():
        if any(map(math.isnan, point)):
            continue
        x, y = axes.transData.transform(point) * 72 / axes.figure.dpi
        shifts = [sign * 11 * step + 4 for step in range(len(points)) for sign in (-1, 1)]
        shift = next(
            (s for s in shifts if all(abs(x - u) > 75 or abs(y + s - v) > 10 for u, v in taken)), 4
        )
        taken.append((x, y + shift))
        colour = COLOURS.get(method, "#34495e")
        axes.annotate(method, point, (7, shift), textcoords="offset points", color=colour)


def draw_figures(
    cells: Cells,
    problems: Sequence[Problem],
    methods: Sequence[str],
    folder: Path,
    name: str = "accuracy",
) -> None:
    """Error against time, and relevant against irrelevant variables selected.

    Over the problems that every method finished or, if there are none, all problems.
    """
    shared = common(cells, problems, methods)
    which = "that all methods finished" if shared else "not all finished by every method"
    shared = shared or list(problems)
    points = {m: method_point(cells, shared, m) for m in methods}
    scatter(
        folder / f"{name}-time.svg",
        {m: (p.seconds, p.left) for m, p in points.items()},
        (
            f"Error left and time, {len(shared)} problems {which}",
            "seconds of a fit with its search, median",
            "error left, median and quartiles",
        ),
        lambda axes: axes.set_xscale("log"),
        {m: p.left_range for m, p in points.items()},
    )
    true = [p for p in shared if p.groups]
    points = {m: method_point(cells, true, m) for m in methods}
    scatter(
        folder / f"{name}-selection.svg",
        {m: (p.false, p.found) for m, p in points.items()},
        (
            f"Variables selected, {len(true)} problems of known truth {which}",
            "irrelevant variables selected, mean number",
            "relevant variables selected, mean share",
        ),
        _selection_axes,
    )


def _selection_axes(axes: Any) -> None:
    axes.set_xscale("symlog", linthresh=0.5)
    axes.set_xlim(left=-0.05)
    axes.set_ylim(-0.03, 1.1)
