"""What the model says of its variables: partial dependence, alone and in pairs."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted, validate_data

from srff import parameters
from srff.arrays import to_host
from srff.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE, SURFACE = 40, 15
"""Values of a variable at which a curve and a surface are computed."""

COLUMNS = 3
"""Most plots beside each other."""

MEAN = "mean prediction"

Panel = tuple[int, ...]


def effect(
    model: Any,
    X: Any,
    features: Iterable[int | str] | None = None,
    *,
    pairs: int | Iterable[tuple[int | str, int | str]] = 1,
    top: int = 5,
    sample: int = 300,
    random_state: Any = 0,
    ax: Any = None,
) -> np.ndarray:
    """Partial dependence of the prediction on single variables, and on pairs of them.

    The mean prediction over a sample of rows, where one variable, or two, are set to the values
    along the axes: by scikit-learn's ``PartialDependenceDisplay``.  Ticks inside the frame are the
    deciles of the variable.

    Parameters
    ----------
    model : SRFFRegressor or RFFRegressor
        A fitted model; a baseline of this package too, where ``features`` are given.
    X : array-like of shape (n_samples, n_features)
        Rows to average over, with the columns that the model was fitted on.
    features : iterable of int or str, or None, default=None
        Columns, by number or name, to draw a curve of; None is the ``top`` selected ones.
    pairs : int or iterable of pairs, default=1
        Pairs of columns to draw a surface of; a number takes so many pairs of ``features``, from
        the first ones on.
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
    names = style.variable_names(model)
    single = _features(model, features, names, top)
    panels: list[Panel] = [(j,) for j in single] + _pairs(pairs, single, names)
    if not panels:
        axis = style.one_axes(ax)
        said = "No variable selected: the prediction is the same for all rows"
        return np.array([style.only_say(axis, said)], dtype=object)
    rows = _rows(model, X, sample, random_state)
    axes = _axes(ax, len(panels))
    nameless = _without_names(model)
    results = [_dependence(nameless, rows, panel) for panel in panels]
    _display(axes, panels, results, rows, names)
    if not np.iterable(ax):
        _label_the_first(axes)
    return axes


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


def _rows(model: Any, X: Any, sample: int, random_state: Any) -> np.ndarray:
    """Some of the rows, checked, as float64."""
    X = to_host(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows > sample:
        X = resample(X, replace=False, n_samples=sample, random_state=random_state)
    return validate_data(model, X, dtype=np.float64, reset=False)


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


def _dependence(model: Any, rows: np.ndarray, panel: Panel) -> Any:
    """Means of the prediction on the grid of one plot."""
    from sklearn.inspection import partial_dependence

    low, high = np.quantile(rows[:, panel], (0.05, 0.95), axis=0)
    return partial_dependence(
        model,
        rows,
        panel,
        kind="average",
        grid_resolution=CURVE if len(panel) == 1 else SURFACE,
        # A column that is nearly always the same has no middle to keep to.
        percentiles=(0.05, 0.95) if (low < high).all() else (0, 1),
    )


def _display(
    axes: np.ndarray,
    panels: list[Panel],
    results: list[Any],
    rows: np.ndarray,
    names: np.ndarray,
) -> None:
    """Draw by scikit-learn, then mend sizes, limits and labels."""
    from matplotlib.patheffects import withStroke
    from sklearn.inspection import PartialDependenceDisplay

    used = sorted({j for panel in panels for j in panel})
    letters = style.letters_beside(axes[0], 0.75)
    labels = dict(zip(used, style.shown_names(names, used, letters), strict=True))
    deciles = {j: np.quantile(rows[:, j], np.arange(0.1, 1, 0.1)) for j in used}
    limits = {
        size: _limits([r.average for r, p in zip(results, panels, strict=True) if len(p) == size])
        for size in {len(panel) for panel in panels}
    }
    display = PartialDependenceDisplay(
        results, features=panels, feature_names=labels, target_idx=0, deciles=deciles
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
            if not np.ptp(results[number].average):
                style.say(axis, "no effect", color="white")
        else:
            axis.set(ylim=limits[1], ylabel=MEAN)


def _label_the_first(axes: np.ndarray) -> None:
    """Curves beside each other have the same limits: the first of a row says them."""
    for before, axis in pairwise(axes):
        if axis.get_ylabel() == before.get_ylabel() == MEAN and not _first_of_row(axis):
            axis.tick_params(labelleft=False)
    for axis in axes:
        if axis.get_ylabel() == MEAN and not _first_of_row(axis):
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
