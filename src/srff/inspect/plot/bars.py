"""Bars of single variables: their scales, and how often they were selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils import parameters
from srff.inspect import describe
from srff.inspect.plot import style
from srff.inspect.wording import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 1.4
"""Height that a bar needs, as a share of its name's size."""

FEWEST, THICKEST = 3, 24.0
"""Fewer bars have the room of so many, and no bar is thicker than so many points: it is no wall."""


def scales(model: Any, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """The learned scales of the variables, the largest first.

    The paper's figure of the sparsity pattern.  Variables of scale zero have no bar; the title
    says how many there are.  A group of columns has one bar.

    Parameters
    ----------
    model : SRFFRegressor, SRFFClassifier or RFFRegressor
        A fitted model.
    top : int, default=20
        Most bars; fewer are drawn where their names would not fit into the height of ``ax``.
    ax : matplotlib Axes or None, default=None
        Where to draw; None is a new figure, as high as the bars need.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from srff import SRFFRegressor, plot
    >>> X = np.random.RandomState(0).standard_normal((200, 5))
    >>> model = SRFFRegressor(n_components=20, max_iter=4, random_state=0).fit(X, X[:, 3] ** 2)
    >>> ax = plot.scales(model, ax=Figure(layout="constrained").subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x3']
    >>> ax.get_title(loc="left")
    '1 of 5 variables selected; the other 4 have scale zero'
    """
    style.check_fitted(model, "scale_")
    parameters.check_integer("top", top, 1)
    total = describe.n_entries(model)
    used = sorted(describe.selected(model), key=lambda entry: -entry.scale)
    ax = style.one_axes(ax, size_of_bars(min(top, len(used))))
    what = describe.noun(model)
    if not used:
        return style.only_say(ax, f"No {describe.noun(model, 1)} selected: all scales are zero")
    shown = used[: min(top, capacity(ax))]
    names, firsts = style.variable_names(model), [entry.columns[0] for entry in shown]
    for entry in shown:
        names[entry.columns[0]] = entry.described
    _draw(ax, np.array([entry.scale for entry in shown]), names, np.array(firsts))
    ax.set_xlabel("scale (standardised inputs)")
    style.title(ax, _scales_title(len(shown), len(used), total, what))
    return ax


def stability(
    models_or_selections: Any,
    *,
    names: Sequence[str] | None = None,
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """How often each variable was selected over several fits, the most often first.

    Parameters
    ----------
    models_or_selections : sequence of fitted models, or array-like of shape (n_fits, n_features)
        Models of the same variables, such as fits to resampled rows or with other seeds; or what
        they selected, as booleans.
    names : sequence of str or None, default=None
        Names of the variables; None takes the models' own.
    top : int, default=20
        Most bars; fewer are drawn where their names would not fit into the height of ``ax``.
    ax : matplotlib Axes or None, default=None
        Where to draw; None is a new figure, as high as the bars need.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from srff import plot
    >>> selections = [[True, False, True], [False, False, True]]
    >>> ax = plot.stability(selections, names=["age", "height", "weight"], ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['weight', 'age']
    >>> [int(bar.get_width()) for bar in ax.patches]
    [2, 1]
    """
    parameters.check_integer("top", top, 1)
    selected, own = _selections(models_or_selections)
    n_fits, n_features = selected.shape
    names_ = own if names is None and own is not None else style.check_names(names, n_features)
    counts = selected.sum(axis=0)
    order = _largest(counts)
    ax = style.one_axes(ax, size_of_bars(min(top, order.size)))
    fits = plural(n_fits, "fit")
    if not order.size:
        return style.only_say(ax, f"No variable of {n_features:,} was selected in any of {fits}")
    shown = order[: min(top, capacity(ax))]
    _draw(ax, counts[shown], names_, shown, whole=n_fits)
    ax.set_xlabel(f"fits that selected it, of {n_fits:,}")
    style.title(ax, _stability_title(counts, n_fits, shown.size))
    return ax


def _largest(values: np.ndarray) -> np.ndarray:
    """Positions of the values above zero, the largest first, the first of equals first."""
    order = np.argsort(-values, kind="stable")
    return order[values[order] > 0]


def size_of_bars(count: int) -> tuple[float, float]:
    """Inches of a new figure of so many bars."""
    return style.WIDTH, float(np.clip(1.1 + 0.2 * max(count, FEWEST), 2.4, 60))


def capacity(ax: Axes) -> int:
    """The most bars whose names can be read."""
    return max(int(style.room(ax)[1] / (LINE * style.SMALLEST)), 1)


def _draw(
    ax: Axes,
    values: np.ndarray,
    names: np.ndarray,
    columns: np.ndarray,
    *,
    whole: int | None = None,
) -> None:
    """Horizontal bars with their values; ``whole`` is the length of a full one."""
    places = np.arange(values.size)
    slots = max(values.size, FEWEST)
    size = style.text_size(ax)
    labels = style.shown_names(names, columns.tolist(), style.letters_left(ax))
    pitch = style.room(ax)[1] / slots
    thick = min(0.72, THICKEST / pitch)
    bars = ax.barh(places, values, height=thick, color=style.BLUE, linewidth=0)
    style.tidy(ax, grid="x")
    size = min(0.9 * size, pitch / LINE)
    ax.set_yticks(places, labels, fontsize=size)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(slots - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    texts = [f"{v:.3g}" for v in values] if whole is None else [f"{v:,}" for v in values]
    ax.bar_label(bars, texts, padding=2, fontsize=0.9 * size, color=style.GREY)
    room = (max(map(len, texts)) + 1) * style.GLYPH * size / (0.75 * style.room(ax)[0])
    ax.set_xlim(0, (1 + room) * (values.max() if whole is None else whole))
    if whole is not None:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _scales_title(shown: int, selected: int, total: int, what: str = "variables") -> str:
    """How many variables were selected, are drawn, and are zero."""
    zero = total - selected
    if shown < selected:
        rest = f"; {zero:,} are zero" if zero else ""
        return f"The largest {shown:,} of {selected:,} scales above zero{rest}"
    if not zero:
        return "The only variable selected" if total == 1 else f"All {total:,} {what} selected"
    others = "the other one has" if zero == 1 else f"the other {zero:,} have"
    return f"{selected:,} of {total:,} {what} selected; {others} scale zero"


def _stability_title(counts: np.ndarray, n_fits: int, shown: int) -> str:
    """How many variables were always, at some time and never selected."""
    ever = int(np.count_nonzero(counts))
    always, never = int(np.count_nonzero(counts == n_fits)), counts.size - ever
    fits = "the fit" if n_fits == 1 else f"all {n_fits:,} fits"
    parts = [f"{plural(always)} selected in {fits}"]
    if shown < ever:
        parts.append(f"{shown:,} of {ever:,} drawn")
    if never:
        parts.append(f"{never:,} of {counts.size:,} never selected")
    return "; ".join(parts)


def _selections(given: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Booleans of fits by variables, and the variables' names if models have them."""
    accepted = "a sequence of fitted models or booleans of shape (n_fits, n_features)"
    if hasattr(given, "fit") or isinstance(given, str | dict):
        raise TypeError(f"models_or_selections must be {accepted}, got {type(given).__name__}.")
    if not isinstance(given, np.ndarray) and not hasattr(given, "columns"):
        given = list(given)
        if any(hasattr(model, "fit") for model in given):
            return _selections_of_models(given)
    names = getattr(given, "columns", None)
    table = np.asarray(given)
    if table.ndim != 2 or not table.shape[0] or not np.isin(table, (0, 1)).all():
        raise ValueError(
            f"models_or_selections must be {accepted}, got an array of shape {table.shape} and "
            f"type {table.dtype}."
        )
    return table.astype(bool), None if names is None else style.check_names(names, table.shape[1])


def _selections_of_models(models: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """What each model selected, and the names that all of them have."""
    rows = [_selected(model) for model in models]
    names = [style.variable_names(model) for model in models]
    for number, other in enumerate(names):
        if not np.array_equal(other, names[0]):
            raise ValueError(
                f"models_or_selections[{number}] was fitted on {_described(other)}, but "
                f"models_or_selections[0] on {_described(names[0])}."
            )
    return np.array(rows), names[0]


def _described(names: np.ndarray) -> str:
    """The number of variables and the first names."""
    first = ", ".join(map(str, names[:3])) + (", ..." if names.size > 3 else "")
    return f"{plural(names.size)} ({first})"


def _selected(model: Any) -> np.ndarray:
    """Booleans of the variables that a model uses."""
    check_is_fitted(model)
    if hasattr(model, "scale_"):
        return np.asarray(model.scale_) > 0
    if hasattr(model, "get_support"):
        return np.asarray(model.get_support())
    columns = getattr(model, "selected_", None)
    if columns is None:
        raise TypeError(f"{type(model).__name__} in models_or_selections selects no variables.")
    return np.isin(np.arange(model.n_features_in_), columns)
