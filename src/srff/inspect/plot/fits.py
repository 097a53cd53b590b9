"""How well a model predicts: predictions beside the target, chances beside what came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from srff._utils.arrays import to_host
from srff.inspect.outcome import Classes, Numbers, outcome_of
from srff.inspect.plot import style
from srff.inspect.wording import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 2000
"""Rows above which points would hide one another: they are counted in hexagons."""

MOST_TARGETS = 6
"""Targets that are drawn of several."""

MOST_BINS, ROWS_OF_A_BIN = 10, 20
"""Points of a calibration curve, and the rows that each needs."""


def fit(model: Any, X: Any, y: Any, *, ax: Any = None) -> np.ndarray:
    """Predictions against the target, and residuals against predictions; or chances of classes.

    Rows that the model has not seen show what it is worth.  More than 2,000 rows are counted in
    hexagons; the figures in the title are of all rows.

    Of a classifier, on the left the ROC curve (of each class against the others where there are
    more than two), on the right how often things come that are given a chance: on the line, chances
    can be taken at their word.  Bars are two standard errors.

    Parameters
    ----------
    model : fitted regressor or classifier
        One of this package, or another with scikit-learn's ``predict`` or ``predict_proba``.
    X : array-like of shape (n_samples, n_features)
        Inputs, with the columns that the model was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Target; of several the first 6 are drawn, each in a row.
    ax : matplotlib Axes, two of them (for each target), or None, default=None
        Where to draw; one Axes is divided, None is a new figure.

    Returns
    -------
    axes : ndarray of two matplotlib Axes, or two for each target

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from srff import RFFRegressor, plot
    >>> X = np.random.RandomState(0).standard_normal((200, 2))
    >>> model = RFFRegressor(n_components=50, random_state=0).fit(X, X[:, 0])
    >>> left, right = plot.fit(model, X, X[:, 0], ax=Figure().subplots(1, 2))
    >>> left.get_ylabel(), right.get_ylabel()
    ('predicted', 'residual (actual - predicted)')
    """
    check_is_fitted(model)
    outcome = outcome_of(model)
    if isinstance(outcome, Classes):
        return _of_classes(outcome, X, y, ax)
    actual = check_array(to_host(y), ensure_2d=False, dtype=np.float64, input_name="y")
    predicted = outcome.predict(X).astype(np.float64)
    check_consistent_length(predicted, actual)
    if predicted.ndim == 1:
        actual = column_or_1d(actual)
    if actual.shape != predicted.shape:
        raise ValueError(f"y has shape {actual.shape}; the predictions have {predicted.shape}.")
    if predicted.ndim == 1:
        axes = style.several_axes(ax, 2, 2, (style.WIDTH, 3.2))
        _of_numbers(outcome, axes, actual, predicted)
        return axes
    shown = min(predicted.shape[1], MOST_TARGETS)
    axes = style.several_axes(ax, 2 * shown, 2, (style.WIDTH, 0.4 + 2.8 * shown))
    for t in range(shown):
        pair = axes[2 * t : 2 * t + 2]
        _of_numbers(outcome, pair, actual[:, t], predicted[:, t], f"target {t}: ")
    return axes


def _of_numbers(
    outcome: Numbers, axes: np.ndarray, actual: np.ndarray, predicted: np.ndarray, name: str = ""
) -> None:
    """One target: predictions on the left, residuals on the right."""
    limits = _padded(np.concatenate([actual, predicted]))
    left, right = axes

    _cloud(left, actual, predicted, limits, limits)
    left.axline((limits[0], limits[0]), slope=1, color=style.RED, linewidth=1)
    left.set(xlabel="actual", ylabel="predicted", xlim=limits, ylim=limits)

    residual = actual - predicted
    across, up = _padded(predicted), _padded(residual)
    _cloud(right, predicted, residual, across, up)
    right.axhline(0, color=style.RED, linewidth=1)
    right.set(xlabel="predicted", ylabel="residual (actual - predicted)", xlim=across, ylim=up)

    style.title(left, name + _quality(outcome, actual, predicted))
    style.title(right, plural(actual.size, "row"))
    for axis in axes:
        style.tidy(axis)
        style.few_ticks(axis)


def _quality(outcome: Numbers | Classes, actual: np.ndarray, predicted: np.ndarray) -> str:
    """The figures of the model's loss."""
    parts = outcome.quality(actual, predicted)
    # A line may end between the two, not within one.
    return ", ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)


def _of_classes(outcome: Classes, X: Any, y: Any, ax: Any) -> np.ndarray:
    """ROC curves on the left, calibration on the right."""
    classes = np.asarray(outcome.model.classes_)
    chances = outcome.predict(X).astype(np.float64)
    code = outcome.known_targets(y, chances.shape[0])[:, 0].astype(np.intp)
    axes = style.several_axes(ax, 2, 2, (style.WIDTH, 3.2))
    left, right = axes
    for axis in axes:
        axis.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.8, linestyle=":")
        axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    _roc(left, classes, code, chances)
    _calibration(right, classes, code, chances)
    style.title(left, _quality(outcome, code, chances))
    style.title(right, plural(code.size, "row"))
    for axis in axes:
        style.tidy(axis)
        style.few_ticks(axis)
    return axes


def _roc(ax: Axes, classes: np.ndarray, code: np.ndarray, chances: np.ndarray) -> None:
    """The share of a class that is found, against the share of others taken for it."""
    from sklearn.metrics import auc, roc_curve

    ax.set(xlabel="share of the others taken for it", ylabel="share of a class found")
    counts = np.bincount(code, minlength=classes.size)
    there = [k for k in range(classes.size) if 0 < counts[k] < code.size]
    if not there:
        style.say(ax, "All rows are of one class")
        return
    if classes.size == 2:
        there = [1]
    there.sort(key=lambda k: -counts[k])
    for number, k in enumerate(there[: len(style.COLOURS)]):
        false, true, _ = roc_curve(code == k, chances[:, k])
        label = f"{style.plain(str(classes[k]), 16)}: AUC {auc(false, true):.3f}"
        ax.plot(false, true, color=style.COLOURS[number], linewidth=1.4, label=label)
    more = len(there) - len(style.COLOURS)
    size = 0.8 * style.text_size(ax)
    title = f"and {more:,} more" if more > 0 else None
    ax.legend(loc="lower right", fontsize=size, title_fontsize=size, title=title, frameon=False)


def _calibration(ax: Axes, classes: np.ndarray, code: np.ndarray, chances: np.ndarray) -> None:
    """How often comes what is given a chance."""
    from sklearn.calibration import calibration_curve

    if classes.size == 2:
        came, chance = code == 1, chances[:, 1]
        name = style.plain(str(classes[1]), 16)
        ax.set(xlabel=f"chance of {name}", ylabel=f"share of {name}")
    else:
        came, chance = np.argmax(chances, axis=1) == code, chances.max(axis=1)
        ax.set(xlabel="chance of the likeliest class", ylabel="share that are of it")
    bins = int(np.clip(code.size // ROWS_OF_A_BIN, 1, MOST_BINS))
    seen, given = calibration_curve(came, chance, n_bins=bins, strategy="quantile")
    error = 2 * np.sqrt(given * (1 - given) * seen.size / code.size)
    look: dict[str, Any] = {"color": style.BLUE, "linewidth": 1.2, "marker": "o", "markersize": 4}
    ax.errorbar(given, seen, yerr=error, elinewidth=0.8, **look)


def _padded(values: np.ndarray) -> tuple[float, float]:
    """Limits with a little room around the values, some even if they are all the same."""
    low, high = float(values.min()), float(values.max())
    pad = 0.05 * (high - low) or 0.05 * abs(low) or 1.0
    return low - pad, high + pad


def _cloud(
    ax: Axes,
    x: np.ndarray,
    y: np.ndarray,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
) -> None:
    """Points, or counts of them in hexagons."""
    if x.size <= MANY:
        area = float(np.clip(3000 / x.size, 4, 18))
        ax.scatter(x, y, s=area, color=style.BLUE, alpha=0.5, linewidths=0)
        return
    width, height = style.room(ax)
    across = max(int(width / 5), 10)
    upright = max(int(across * height / width / np.sqrt(3)), 5)  # regular hexagons
    ax.hexbin(
        x,
        y,
        gridsize=(across, upright),
        extent=(*xlim, *ylim),
        bins="log",
        mincnt=1,
        cmap="cividis",
        linewidths=0,
    )
