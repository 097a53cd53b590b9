"""How sure it is of each variable: how much it is missed, and how many splits selected it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srff._utils import parameters
from srff.inspect.plot import style
from srff.inspect.plot.bars import capacity, size_of_bars
from srff.inspect.wording import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def confidence(found: Any, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """How much each variable is missed, with its interval, and how many splits selected it.

    Parameters
    ----------
    found : Confidence
        What :func:`srff.confidence` gave.
    top : int, default=20
        Most variables; fewer are drawn where their names would not fit into the height of ``ax``.
    ax : matplotlib Axes or None, default=None
        Where to draw; None is a new figure, as high as the variables need.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> import srff
    >>> from matplotlib.figure import Figure
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> found = srff.confidence(srff.SRFFRegressor(effort="quick", random_state=0), X, X[:, 2] ** 2)
    >>> ax = srff.plot.confidence(found, ax=Figure(layout="constrained").subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x2']
    """
    parameters.check_integer("top", top, 1)
    units = found.chosen
    ax = style.one_axes(ax, size_of_bars(min(top, units.size)))
    if not units.size:
        return style.only_say(ax, f"None of {plural(found.names.size)} was selected in any split")
    units = units[: min(top, capacity(ax))]
    low, high = found.rise_interval
    explained = found.gain > 0
    unit = 100 / found.gain if explained else 1.0
    places, sure = np.arange(units.size), found.confirmed_units[units]
    for mask, face, label in (
        (sure, style.BLUE, "confirmed"),
        (~sure, "none", "selected, not confirmed"),
    ):
        if mask.any():
            own = units[mask]
            ax.hlines(places[mask], unit * low[own], unit * high[own], color=style.GREY, lw=1.2)
            ax.plot(
                unit * found.rise[own],
                places[mask],
                "o" if face != "none" else "D",
                markerfacecolor=face,
                markeredgecolor=style.BLUE if face != "none" else style.GREY,
                markersize=6,
                label=label,
            )
    ax.axvline(0.0, color=style.GREY, linewidth=0.8)
    style.tidy(ax, grid="x")
    size = style.text_size(ax)
    names = style.shown_names(found.names, units.tolist(), style.letters_left(ax))
    doubtful = found.doubtful[units].tolist()
    labels = [f"{n} (doubtful)" if odd else n for n, odd in zip(names, doubtful, strict=True)]
    ax.set_yticks(places, labels, fontsize=0.9 * size)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(units.size, 3) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    counts = found.selected[:, units].sum(axis=0)
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        _beside(ax, f"{count}/{found.n_splits}", place, "data", 0.8 * size)
    _beside(ax, "splits", 1.0, "axes fraction", 0.8 * size)
    what = "rise of the loss without it"
    ax.set_xlabel(f"{what} (% of what is explained)" if explained else what)
    if sure.any() and not sure.all():
        # What is not confirmed stands below and has small rises.
        ax.legend(fontsize=0.8 * size, frameon=False, loc="lower right")
    n_sure, total = int(found.confirmed_units.sum()), found.chosen.size
    count, verb = f"{n_sure:,}" if n_sure else "None", "is" if n_sure < 2 else "are"
    # No line ends between a number and its unit.
    rate = f"FDR\u00a0{100 * found.q:.3g}\u00a0%"
    style.title(ax, f"{count} of {plural(total, 'selected variable')} {verb} confirmed at {rate}")
    return ax


def _beside(ax: Axes, text: str, height: float, of: str, size: float) -> None:
    """A text on the right of the axes, at a height of the data or a share of the axes'."""
    ax.annotate(
        text,
        (1.0, height),
        xycoords=("axes fraction", of),
        xytext=(4, 0),
        textcoords="offset points",
        va="center" if of == "data" else "bottom",
        fontsize=size,
        color=style.GREY,
        annotation_clip=False,
    )
