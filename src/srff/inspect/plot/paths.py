"""The search for a model: along alpha, among the candidates, and along a descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from srff._utils import parameters
from srff.inspect import describe
from srff.inspect.outcome import outcome_of
from srff.inspect.plot import style
from srff.inspect.wording import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P")
WIDE = 10.0
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""

SCORES = "scores"
"""The loss that variables are looked for with, in ``path_``: :class:`srff.core.losses.Scores`."""

AXES = ("auto", "alpha", "n_variables")
MANY_VARIABLES = 30
"""Numbers of variables above which their axis is logarithmic."""


def path(
    path_or_model: Any, *, names: Sequence[str] | None = None, x: str = "auto", ax: Any = None
) -> Any:
    """The models that were compared, and the one that was chosen.

    Of an :class:`srff.SRFFPath`, scales and errors along alpha.  Of a fitted model, the validation
    error of every candidate of ``path_``.  Where variables were looked for with another loss than
    the model has (those of a classifier by Brier's score), there are two plots: the search on the
    left, the models on the variables that were found on the right.

    Parameters
    ----------
    path_or_model : SRFFPath, SRFFRegressor, SRFFClassifier or RFFRegressor
        What :func:`srff.srff_path` returned, or a fitted model.
    names : sequence of str or None, default=None
        Names of the variables of an SRFFPath; None is x0, x1, ...
    x : {"auto", "alpha", "n_variables"}, default="auto"
        For a model, what its candidates are set out by; "auto" is alpha where all are of one kind.
    ax : matplotlib Axes, two of them where there are two plots, or None, default=None
        Where to draw; one Axes is divided where there are two plots, None is a new figure.

    Returns
    -------
    ax : matplotlib Axes, or ndarray of two of them

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from srff import RFFRegressor, plot
    >>> X = np.random.RandomState(0).standard_normal((200, 2))
    >>> model = RFFRegressor(n_components=50, random_state=0).fit(X, X[:, 0])
    >>> ax = plot.path(model, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('alpha', 'validation error (RMSE)')
    """
    parameters.check_choice("x", x, AXES)
    if hasattr(path_or_model, "alphas") and hasattr(path_or_model, "scales"):
        return _along_alpha(path_or_model, names, ax)
    model = path_or_model
    style.check_fitted(model, "path_")
    table = model.path_
    searched = np.asarray(table.get("loss", table["kind"])) == SCORES
    if searched.all() or not searched.any():
        return _candidates(model, x, style.one_axes(ax), np.ones(searched.size, dtype=bool))
    axes = style.several_axes(ax, 2, 2, (1.4 * style.WIDTH, 0.8 * style.HEIGHT))
    for axis, rows in zip(axes, (searched, ~searched), strict=True):
        _candidates(model, x, axis, rows)
    return axes


def convergence(model: Any, *, ax: Axes | None = None) -> Axes:
    """The objective at each iteration of the chosen model's descent.

    Parameters
    ----------
    model : SRFFRegressor or SRFFClassifier
        A fitted model.
    ax : matplotlib Axes or None, default=None
        Where to draw; None is a new figure.

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
    >>> ax = plot.convergence(model, ax=Figure().subplots())
    >>> ax.lines[0].get_ydata().size == model.objective_.size
    True
    """
    style.check_fitted(model, "objective_")
    ax = style.one_axes(ax)
    values = np.asarray(model.objective_, dtype=np.float64)
    if model.model_kind_ == "mean" or values.size < 2:
        mean = model.model_kind_ == "mean"
        kind = outcome_of(model).constant if mean else "solved at once"
        return style.only_say(ax, f"Nothing was iterated: the model is {kind}")
    steps = np.arange(values.size)
    marker = "o" if values.size <= 60 else None
    lowest = np.minimum.accumulate(values)
    ax.plot(steps, values, color=style.BLUE, linewidth=1.2, marker=marker, markersize=3)
    if (lowest < values).any():
        ax.plot(
            steps, lowest, color=style.RED, linewidth=1.2, linestyle="--", label="lowest so far"
        )
        ax.lines[0].set_label("each step")
        _legend(ax)
    ax.set(xlabel="iteration", ylabel="objective")
    _whole_numbers(ax)
    if _is_wide(values):
        style.logarithmic(ax, values)
    style.tidy(ax, grid="y")
    style.title(ax, f"Lowest {values.min():.3g}, iteration {int(values.argmin())} of {steps[-1]:,}")
    return ax


def _along_alpha(path: Any, names: Sequence[str] | None, ax: Any) -> np.ndarray:
    """Scales above, errors below, the penalty falling to the right."""
    alphas, values = np.asarray(path.alphas), np.asarray(path.scales)
    names_ = style.check_names(names, values.shape[1])
    axes = style.several_axes(ax, 2, 1, (style.WIDTH, 5.6))
    above, below = axes
    strongest = _strongest(values, path.best, _lines(above))
    letters = style.letters_beside(above, 0.25)
    labels = style.shown_names(names_, strongest.tolist(), letters)

    _background(above, alphas, np.delete(values, strongest, axis=1))
    marker = {"marker": "o", "markersize": 3} if alphas.size <= 10 else {}
    for number, column in enumerate(strongest):
        look: dict[str, Any] = {"color": style.COLOURS[number], "linewidth": 1.5, **marker}
        above.plot(alphas, values[:, column], **look)
    above.set_ylim(0, 1.05 * (values.max() or 1.0))

    errors = {"validation": (path.validation_error, "-"), "training": (path.training_error, "--")}
    errors = {kind: pair for kind, pair in errors.items() if np.isfinite(pair[0]).any()}
    colours = {"validation": style.BLUE, "training": style.GREY}
    for kind, (error, dash) in errors.items():
        below.plot(alphas, error, color=colours[kind], linestyle=dash, linewidth=1.5, **marker)
    if "validation" in errors:
        best = alphas[path.best], path.validation_error[path.best]
        below.plot(*best, "o", color=style.RED, markersize=5, zorder=5)
    if _is_wide(drawn := np.concatenate([error for error, _ in errors.values()])):
        style.logarithmic(below, drawn)

    for axis in axes:
        axis.set_xscale("log")
        axis.axvline(alphas[path.best], color=style.RED, linewidth=0.8, linestyle=":")
        style.tidy(axis, grid="y")
    above.tick_params(labelbottom=False)
    above.set(ylabel="scale")
    below.set(xlabel="alpha", ylabel="error (RMSE)")
    longest = max([len(label) for label in labels] + [len("validation")])
    limits = _with_room(alphas, longest, below)
    for axis in axes:
        axis.set_xlim(limits)
        _powers(axis, alphas)
        axis.spines["bottom"].set_bounds(*(10**end for end in _decades(alphas)))
    end = int(alphas.argmin())
    _label_ends(above, alphas[end], values[end, strongest], labels, style.COLOURS)
    _label_ends(
        below,
        alphas[end],
        np.array([error[end] for error, _ in errors.values()]),
        list(errors),
        [colours[kind] for kind in errors],
    )
    used = int(np.count_nonzero(values[path.best]))
    style.title(
        above,
        f"{used:,} of {plural(values.shape[1])} selected at the best alpha, "
        f"{alphas[path.best]:.2g}",
    )
    return axes


def _lines(ax: Axes) -> int:
    """How many lines can have a name beside them."""
    high = style.room(ax)[1] / (1.3 * style.text_size(ax))
    return int(np.clip(high, 1, len(style.COLOURS)))


def _strongest(scales: np.ndarray, best: int, count: int) -> np.ndarray:
    """The columns of the largest scales at the best alpha, then anywhere."""
    order = np.lexsort((-scales.max(axis=0), -scales[best]))
    return order[scales.max(axis=0)[order] > 0][:count]


def _background(ax: Axes, x: np.ndarray, values: np.ndarray) -> None:
    """All other lines, as one artist."""
    from matplotlib.collections import LineCollection

    values = values[:, values.any(axis=0)]
    if values.shape[1]:
        lines = [np.column_stack([x, column]) for column in values.T]
        alpha = float(np.clip(20 / len(lines), 0.15, 0.6))
        look: dict[str, Any] = {"colors": style.GREY, "linewidths": 0.6, "alpha": alpha}
        ax.add_collection(LineCollection(lines, zorder=1, **look))


def _with_room(alphas: np.ndarray, letters: int, ax: Axes) -> tuple[float, float]:
    """Limits of a falling alpha, with room on the right for names of so many letters."""
    low, high = _decades(alphas)
    share = min(0.9 * style.GLYPH * style.text_size(ax) * (letters + 2) / style.room(ax)[0], 0.5)
    span = high - low
    return 10 ** (high + 0.02 * span), 10 ** (low - span * share / (1 - share))


def _decades(alphas: np.ndarray) -> tuple[float, float]:
    """Logarithms of the ends of an axis of alpha: at least a decade apart."""
    low, high = float(np.log10(alphas.min())), float(np.log10(alphas.max()))
    missing = max(1.2 - (high - low), 0) / 2
    return low - missing, high + missing


def _powers(ax: Axes, alphas: np.ndarray) -> None:
    """Ticks at powers of ten where there are models, as many as can be read."""
    from matplotlib.ticker import NullLocator

    ends = _decades(alphas)
    low, high = int(np.ceil(ends[0])), int(np.floor(ends[1]))
    most = max(style.room(ax)[0] / (4.5 * style.text_size(ax)), 2)
    step = max(int(np.ceil((high - low + 1) / most)), 1)
    ax.set_xticks([10.0**power for power in range(low, high + 1, step)])
    ax.xaxis.set_minor_locator(NullLocator())


def _label_ends(
    ax: Axes, x: float, values: np.ndarray, labels: Sequence[str], colours: Sequence[str]
) -> None:
    """Names to the right of the ends of lines, moved apart where lines end close together."""
    size = 0.9 * style.text_size(ax)
    to_share = ax.transData + ax.transAxes.inverted()
    ends = np.array([to_share.transform((x, value)) for value in values]).reshape(-1, 2)
    heights = _apart(ends[:, 1], 1.2 * size / style.room(ax)[1])
    for (across, _), height, label, colour in zip(ends, heights, labels, colours, strict=False):
        place = (across, float(height))
        ax.annotate(
            label,
            place,
            xycoords="axes fraction",
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=size,
            color=colour,
        )


def _apart(heights: np.ndarray, gap: float) -> np.ndarray:
    """The nearest heights in [0, 1] that are ``gap`` apart, in the same order.

    With ``gap * rank`` taken off, what must be apart must only not fall.
    """
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(heights.size)
    top = max(1 - gap * heights.size, 0) + gap / 2
    out = np.empty(heights.size)
    out[order] = steps + isotonic_regression(heights[order] - steps, y_min=gap / 2, y_max=top)
    return out


def _candidates(model: Any, x: str, ax: Axes, rows: np.ndarray) -> Axes:
    """The errors of some candidates of a model's search, all of one loss."""
    table = {name: np.asarray(column)[rows] for name, column in model.path_.items()}
    kinds = table["kind"].astype(str)
    searched = bool((table.get("loss", kinds) == SCORES).any())
    judged = bool(np.isfinite(table["validation_error"]).any())
    what = "validation" if judged else "training"
    error = table[f"{what}_error"]
    if x == "auto":
        x = _axis(model, table, bool(rows.all()))
    if x == "kind":
        places = np.unique(kinds, return_inverse=True)[1].astype(np.float64)
    else:
        places = table[x].astype(np.float64)
    seen = np.isfinite(error) & np.isfinite(places)
    if not seen.any():
        return style.only_say(ax, "No candidates: there was nothing to learn")

    stopped = np.asarray(table["stopped"])
    area = 0.22 * style.text_size(ax) ** 2
    for number, (label, member) in enumerate(_groups(kinds, table["budget"])):
        look: dict[str, Any] = {
            "marker": MARKERS[number % len(MARKERS)],
            "s": area,
            "linewidths": 0.9,
            # After a round of marks the colours are one on: no two kinds have both alike.
            "edgecolors": style.COLOURS[(number + number // len(MARKERS)) % len(style.COLOURS)],
        }
        full, hollow = member & seen & ~stopped, member & seen & stopped
        if full.any() or not hollow.any():
            colour = look["edgecolors"]
            ax.scatter(places[full], error[full], facecolors=colour, label=label, **look)
        if hollow.any():
            text = f"{label}, stopped early"
            ax.scatter(places[hollow], error[hollow], facecolors="none", label=text, **look)
    chosen = _among(rows, chosen_row(model))
    if chosen is not None and seen[chosen]:
        ring: dict[str, Any] = {
            "facecolors": "none",
            "edgecolors": style.RED,
            "linewidths": 1.6,
            "zorder": 5,
        }
        ax.scatter([places[chosen]], [error[chosen]], s=5 * area, label="chosen", **ring)
        style.title(ax, f"{plural(error.size, 'candidate')}, chosen: {_described(model)}")
    else:
        style.title(ax, plural(error.size, "candidate"))
    ax.set_ylabel(f"{what} {_error_name(model, searched)}")
    if x == "kind":
        size = 0.9 * style.text_size(ax)
        names = np.unique(kinds)
        ax.set_xticks(range(names.size), names, rotation=30, ha="right", fontsize=size)
        ax.set_xlim(-0.5, names.size - 0.5)
    else:
        _set_out(ax, x, places[seen], describe.noun(model))
    if _is_wide(error[seen]):
        style.logarithmic(ax, error[seen])
    else:
        style.plain_numbers(ax.yaxis, float(error[seen].max()))
    style.tidy(ax, grid="y")
    _legend(ax)
    return ax


def _axis(model: Any, table: dict[str, np.ndarray], whole: bool) -> str:
    """What candidates are set out by, if nothing is asked for."""
    several = len(set(table["kind"].tolist())) > 1
    if not several and np.isfinite(table["alpha"]).all():
        return "alpha"
    if not whole and len(set(table["n_variables"].tolist())) == 1:
        return "kind"  # the last models are all on the variables that were found
    return "n_variables"


def _error_name(model: Any, searched: bool) -> str:
    """What an error in ``path_`` is."""
    outcome = outcome_of(model)
    if searched:
        return f"error ({outcome.search_error})"
    short = outcome.measure.short
    return f"error ({short})" if outcome.loss.quadratic else short


def _among(rows: np.ndarray, chosen: int | None) -> int | None:
    """The place of a row among some of the rows."""
    if chosen is None or not rows[chosen]:
        return None
    return int(np.count_nonzero(rows[:chosen]))


def chosen_row(model: Any) -> int | None:
    """The row of ``path_`` that became the model; None if none is like it."""
    table, error = model.path_, getattr(model, "validation_error_", np.nan)
    like = (np.asarray(table["kind"]) == model.model_kind_) & ~np.asarray(table["stopped"])
    like &= np.asarray(table["alpha"]) == model.alpha_
    if model.model_kind_ != "mean" and "loss" in table:
        like &= np.asarray(table["loss"]) != SCORES
    if np.isfinite(error):
        like &= np.isclose(table["validation_error"], error, rtol=1e-9, atol=0)
    rows = np.flatnonzero(like)
    return int(rows[0]) if rows.size else None


def _described(model: Any) -> str:
    """The kind and the size of the chosen model."""
    if model.model_kind_ == "mean":
        return outcome_of(model).constant
    count = len(describe.selected(model))
    return f"{count:,} {describe.noun(model, count)} ({model.model_kind_})"


def _groups(kinds: np.ndarray, budgets: Any) -> list[tuple[str, np.ndarray]]:
    """Candidates by kind, or by budget where all are of one kind and have a few budgets."""
    different = list(dict.fromkeys(kinds.tolist()))
    if len(different) == 1:
        rounded = np.array([f"{budget:.3g}" for budget in budgets])
        few = list(dict.fromkeys(rounded.tolist()))
        if 1 < len(few) <= len(style.COLOURS):
            return [(f"{different[0]}, budget {b}", rounded == b) for b in few]
    return [(kind, kinds == kind) for kind in different]


def _set_out(ax: Axes, x: str, places: np.ndarray, what: str) -> None:
    """The axis of alpha, or of the number of variables."""
    if x == "alpha":
        ax.set_xlabel("alpha")
        ax.set_xscale("log")
        low, high = _decades(places)
        margin = 0.04 * (high - low)
        ax.set_xlim(10 ** (low - margin), 10 ** (high + margin))
        _powers(ax, places)
        return
    ax.set_xlabel(f"{what} in the model")
    if places.max() <= MANY_VARIABLES:
        _whole_numbers(ax)
        ax.set_xlim(min(places.min(), 0.5) - 0.5, places.max() + 0.5)
        return
    from matplotlib.ticker import NullLocator

    ax.set_xscale("symlog", linthresh=1, linscale=0.3)
    ticks = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    shown = [t for t in ticks if t <= 1.2 * places.max() and (t or not places.min())]
    ax.set_xticks(shown, [f"{t:,}" for t in shown])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(-0.3 if not places.min() else 0.8 * places.min(), 1.3 * places.max())


def _whole_numbers(ax: Axes) -> None:
    """Ticks of the horizontal axis at integers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))


def _is_wide(values: np.ndarray) -> bool:
    """Whether positive values range over more than a factor of ``WIDE``."""
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() > 0 and values.max() > WIDE * values.min())


def _legend(ax: Axes) -> None:
    """The kinds, where they hide least."""
    size = 0.85 * style.text_size(ax)
    ax.legend(
        fontsize=size, frameon=True, framealpha=0.6, edgecolor="none", loc="best", borderpad=0.3
    )
