"""What the model says of its variables: partial dependence, alone and in pairs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils import parameters
from srff.inspect.outcome import outcome_of
from srff.inspect.plot import style
from srff.inspect.plot.dependence import CodedPredictor, Panel, dependence, sampled_rows
from srff.inspect.plot.panels import Scene, draw_panels, label_the_first

COLUMNS = 3
"""Most plots beside each other."""


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
    deciles of the variable.  A band goes from the lowest to the highest curve of the models of the
    folds (``effect_bands_``).  Of a classifier it is the chance of a class.  A category has a point
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
    predictor = CodedPredictor(model)
    rows = sampled_rows(model, X, sample, random_state, {j for panel in panels for j in panel})
    axes = _axes(ax, len(panels))
    results = [dependence(predictor, rows, panel, outputs) for panel in panels]
    label = outcome.axis_label(style.plain(outputs[0][1], 16), len(outputs) == 1)
    draw_panels(axes, panels, results, Scene(predictor, rows, names, outputs, label))
    if not np.iterable(ax):
        label_the_first(axes[: len(single)], label)
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


def _axes(ax: Any, count: int) -> np.ndarray:
    """Axes in a few columns; a new figure grows with its rows."""
    columns = 2 if count == 4 else min(count, COLUMNS)
    rows = -(-count // columns)
    size = (4.8, 3.6) if count == 1 else (style.WIDTH, 0.3 + (2.0 if columns > 2 else 2.6) * rows)
    return style.several_axes(ax, count, columns, size)
