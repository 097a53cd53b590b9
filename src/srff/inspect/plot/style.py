"""What the plots share: axes, sizes of text, colours and names that fit.

Nothing here changes matplotlib's settings: text and frames keep the colours of the user's style, so
that plots can stand on a dark or a transparent ground.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff.inspect.describe import feature_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, RED, GREEN, PINK, ORANGE, SKY = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
)
"""Okabe and Ito's colours, that people with any colour vision can tell apart."""

COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY)
GREY = "0.5"
"""Seen on a light and on a dark ground."""

WIDTH, HEIGHT = 6.4, 4.8
"""Inches of a usual figure: text has its usual size there."""

SMALLEST = 6.5
"""Points of the smallest text."""

GLYPH = 0.62
"""Mean width of a letter as a share of the text's size."""

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def check_matplotlib() -> None:
    """Say what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("srff.plot needs matplotlib: pip install 'srff[plot]'.") from None


def one_axes(ax: Any, size: tuple[float, float] = (WIDTH, HEIGHT)) -> Axes:
    """The axes given, or those of a new figure."""
    check_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        return several_axes(None, 1, 1, size)[0]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax={ax!r} must be one matplotlib Axes or None.")
    return ax


def several_axes(
    ax: Any, count: int, columns: int, size: tuple[float, float] = (WIDTH, HEIGHT)
) -> np.ndarray:
    """``count`` axes in ``columns`` columns.

    Those of a new figure for None; one Axes is divided; as many Axes as are needed are taken as
    they are.
    """
    check_matplotlib()
    from matplotlib.axes import Axes

    rows = -(-count // columns)
    if ax is None:
        from matplotlib import pyplot as plt

        figure: Any = plt.figure(figsize=size, layout="constrained")
        grid: Any = figure.add_gridspec(rows, columns)
    elif isinstance(ax, Axes):
        place = ax.get_subplotspec()
        if place is None:
            raise ValueError(
                f"ax must be Axes of a grid (such as of plt.subplots) to be divided in {count}; or "
                f"pass {count} Axes."
            )
        ax.set_axis_off()
        figure, grid = ax.figure, place.subgridspec(rows, columns)
    else:
        given = np.asarray(ax, dtype=object).ravel()
        if given.size != count or not all(isinstance(a, Axes) for a in given):
            raise ValueError(
                f"ax must be None, one matplotlib Axes or {count} of them; got {given.size} of "
                f"{sorted({type(a).__name__ for a in given})}."
            )
        return given
    axes = np.empty(count, dtype=object)
    for number in range(count):
        axes[number] = figure.add_subplot(grid[divmod(number, columns)])
    return axes


def room(ax: Axes) -> tuple[float, float]:
    """Points of the width and the height of the axes, before a layout has moved them."""
    figure, place = ax.figure, ax.get_position(original=True)
    points = 72 / figure.dpi
    return place.width * figure.bbox.width * points, place.height * figure.bbox.height * points


def text_size(ax: Axes) -> float:
    """Points of the text: the user's size in a usual figure, less in a small one."""
    import matplotlib

    usual = float(matplotlib.rcParams["font.size"])
    width, height = room(ax)
    share = min(width / (0.775 * 72 * WIDTH), height / (0.5 * 72 * HEIGHT))
    return float(np.clip(usual * share**0.3, min(SMALLEST, usual), usual))


def tidy(ax: Axes, *, grid: Literal["x", "y"] | None = None) -> None:
    """No box, text of a fitting size, and light lines across ``grid``'s axis."""
    size = text_size(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=0.9 * size)
    ax.xaxis.label.set_fontsize(size)
    ax.yaxis.label.set_fontsize(size)
    for offset in (ax.xaxis.get_offset_text(), ax.yaxis.get_offset_text()):
        offset.set_fontsize(0.9 * size)
    if grid is not None:
        ax.grid(axis=grid, color=GREY, alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)


def dates(axis: Any) -> None:
    """Days since 1970 as dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=2, maxticks=4)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


def few_ticks(ax: Axes) -> None:
    """As many numbers on both axes as can be read."""
    from matplotlib.ticker import MaxNLocator

    (width, height), size = room(ax), text_size(ax)
    ax.xaxis.set_major_locator(MaxNLocator(int(np.clip(width / (4.5 * size), 1, 8))))
    ax.yaxis.set_major_locator(MaxNLocator(int(np.clip(height / (2.5 * size), 2, 8))))
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        plain_numbers(axis, float(np.abs(limits).max()))


UNITS = ((1e12, "tn"), (1e9, "bn"), (1e6, "M"), (1e3, "k"))
"""Letters for large numbers on an axis."""

LARGE = 1e5
"""From which on they have one."""


def plain_numbers(axis: Any, largest: float) -> None:
    """Numbers that can be read one by one: no power of ten that stands far from them."""
    from matplotlib.ticker import FuncFormatter

    size, letter = next(((s, u) for s, u in UNITS if largest >= s), (1.0, ""))
    if not LARGE <= largest < 1e15:
        return
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / size:,.3g}{letter if x else ''}"))


def logarithmic(ax: Axes, values: np.ndarray) -> None:
    """A vertical axis of logarithms with plain numbers, some between the powers where it is short.

    matplotlib's own would write 2 x 10^-7 and the like at every line of a short axis.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_yscale("log")
    values = values[np.isfinite(values)]
    short = np.log10(values.max() / values.min()) < 2.5
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(NullLocator())


def title(ax: Axes, text: str) -> None:
    """A title in as many lines as it needs; a layout gives names on the left their room."""
    size = text_size(ax)
    beside = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0)
    width = min(room(ax)[0], 1.2 * room(ax)[0] - beside * GLYPH * size)
    letters = max(int(width / (GLYPH * size)), 16)
    ax.set_title(textwrap.fill(text, letters), loc="left", fontsize=size)


def only_say(ax: Axes, text: str) -> Axes:
    """A sentence in place of a plot that has nothing to show."""
    ax.set_axis_off()
    say(ax, text)
    return ax


def say(ax: Axes, text: str, **look: Any) -> None:
    """A sentence in the middle of the axes."""
    size = text_size(ax)
    letters = max(int(0.9 * room(ax)[0] / (GLYPH * size)), 12)
    place: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, textwrap.fill(text, letters), fontsize=size, **place, **look)


def variable_names(model: Any) -> np.ndarray:
    """The columns' names, or x0, x1, ... where the model was fitted without."""
    return np.array(feature_names(model), dtype=object)


def default_names(count: int) -> np.ndarray:
    """x0, x1, ..., as scikit-learn calls columns without names."""
    return np.array([f"x{j}" for j in range(count)], dtype=object)


def check_names(names: Any, count: int) -> np.ndarray:
    """One name for each of ``count`` variables; None is x0, x1, ..."""
    if names is None:
        return default_names(count)
    given = np.array([str(name) for name in names], dtype=object)
    if given.size != count:
        raise ValueError(f"names has {given.size} names for {count} variables.")
    return given


def shown_names(names: np.ndarray, columns: Sequence[int], letters: int) -> list[str]:
    """Names of some columns as they are drawn, of about ``letters`` letters, no two alike.

    Long ones lose their middle: a table's names often differ at the end alone.  Those that become
    alike get their column's number.
    """
    cut = [shortened(str(names[j]), letters) for j in columns]
    repeated = {name for name in cut if cut.count(name) > 1}
    drawn = [
        f"{shortened(name, letters - 4)} [{j}]" if name in repeated else name
        for name, j in zip(cut, columns, strict=True)
    ]
    # matplotlib reads what is between two dollars as mathematics.
    return [name.replace("$", r"\$") for name in drawn]


def shortened(name: str, letters: int) -> str:
    """The name on one line; its middle is left out if it has more than ``letters`` letters."""
    name = " ".join(name.split())
    letters = max(letters, 5)
    if len(name) <= letters:
        return name
    tail = (letters - 1) // 2
    return f"{name[: letters - 1 - tail]}{ELLIPSIS}{name[-tail:]}"


def plain(text: str, letters: int) -> str:
    """A text of the data that matplotlib draws as it is, its middle left out if it is long."""
    return shortened(text, letters).replace("$", r"\$")


def letters_beside(ax: Axes, share: float = 0.4) -> int:
    """How many letters of a name fit into a share of the axes' width."""
    return max(int(share * room(ax)[0] / (GLYPH * text_size(ax))), 8)


def letters_left(ax: Axes) -> int:
    """How many letters of a name fit to the left of the axes.

    A layout makes room; without one there is the margin, or the gap to the axes on the left.
    """
    figure: Any = ax.figure
    if figure.get_layout_engine() is not None:
        return letters_beside(ax)
    left = ax.get_position(original=True).x0
    ends = [other.get_position(original=True).x1 for other in figure.axes if other is not ax]
    free = left - max((end for end in ends if end <= left), default=0.0)
    points = free * figure.bbox.width * 72 / figure.dpi - 10
    return max(int(points / (GLYPH * 0.9 * text_size(ax))), 8)


def check_fitted(model: Any, attribute: str) -> None:
    """A fitted model that has what is drawn."""
    check_is_fitted(model)
    if not hasattr(model, attribute):
        raise TypeError(
            f"model must be a fitted model of srff: {type(model).__name__} has no {attribute}."
        )
