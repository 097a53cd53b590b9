"""The figures of docs/speed.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from profiling import GROUPS, REST
from tables import DISTURBED, Row, details, good, integer, seconds, value
from targets import curve, places, slope

DARK, RED = "#34495e", "#c0392b"
COLOURS = (RED, DARK, "#7f8c8d", "#d98880")
BAR_COLOURS = dict(
    zip(
        (*GROUPS, REST),
        (RED, "#e59866", DARK, "#7f8c8d", "#5d8aa8", "#f1c40f", "#a9cce3", "#d5d8dc"),
        strict=True,
    )
)


def pyplot() -> Any:
    """matplotlib, with files that do not change from run to run."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "srff"
    return plt


def draw_growth(rows: Sequence[Row], path: Path) -> None:
    """Seconds against rows, inputs and features."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
    labels = {"n": "rows n, d = 18", "d": "inputs d, n = 50,000", "D": "features D, n = 50,000"}
    times = [value(row, "seconds") for row in good(rows)] or [1.0]
    heights = min(times) / 2, max(times) * 2
    for axes, (what, label) in zip(panels, labels.items(), strict=True):
        colours = iter(COLOURS)
        for where in places(rows):
            for D in ("300", "auto") if what == "n" else (None,):
                points = curve(rows, where, what, D)
                if not points:
                    continue
                name = where if D is None else f"{where}, D = {D}"
                if what == "n":
                    name += f": n^{slope(points):.2f}"
                x, y = ([value(r, k) for r in points] for k in (what, "seconds"))
                colour = next(colours)
                axes.plot(x, y, "o-", color=colour, markersize=5, linewidth=1.5, label=name)
                for row in points:
                    if value(row, "other_load") > DISTURBED:  # a hollow point
                        at = value(row, what), value(row, "seconds")
                        axes.plot(*at, "o", color=colour, markerfacecolor="white", markersize=5)
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds of a fit")
        ticks = sorted({value(row, what) for row in good(rows) if what in row["what"].split()})
        axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
        axes.set_yticks([t for t in (1, 3, 10, 30, 100, 300, 1000, 3000) if t < heights[1]])
        axes.set_ylim(*heights)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_profile(rows: Sequence[Row], path: Path) -> None:
    """A bar of shares for each size."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(9, 1.4 + 0.55 * max(len(rows), 1)), layout="constrained")
    names = [f"n = {integer(r['n'])}\n{seconds(value(r, 'seconds'))} s" for r in rows]
    left = [0.0] * len(rows)
    for group in (*GROUPS, REST):
        shares = [100 * details(row)[group] for row in rows]
        axes.barh(names, shares, left=left, color=BAR_COLOURS[group], label=group, height=0.65)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="share of the time, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
