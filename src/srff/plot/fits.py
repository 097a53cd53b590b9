"""How well a model predicts: predictions beside the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from srff.arrays import to_host
from srff.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 2000
"""Rows above which points would hide one another: they are counted in hexagons."""


def fit(model: Any, X: Any, y: Any, *, ax: Any = None) -> np.ndarray:
    """Predictions against the target, and residuals against predictions.

    Rows that the model has not seen show what it is worth.  More than 2,000 rows are counted in
    hexagons; the figures in the title are of all rows.

    Parameters
    ----------
    model : fitted regressor
        One of this package, or another with scikit-learn's ``predict``.
    X : array-like of shape (n_samples, n_features)
        Inputs, with the columns that the model was fitted on.
    y : array-like of shape (n_samples,)
        Target.
    ax : matplotlib Axes, two of them, or None, default=None
        Where to draw; one Axes is divided, None is a new figure.

    Returns
    -------
    axes : ndarray of two matplotlib Axes

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
    actual = column_or_1d(
        check_array(to_host(y), ensure_2d=False, dtype=np.float64, input_name="y")
    )
    predicted = np.asarray(model.predict(X), dtype=np.float64).ravel()
    check_consistent_length(predicted, actual)
    axes = style.several_axes(ax, 2, 2, (style.WIDTH, 3.2))
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

    style.title(left, _figures(actual, predicted))
    style.title(right, style.plural(actual.size, "row"))
    for axis in axes:
        style.tidy(axis)
        style.few_ticks(axis)
    return axes


def _figures(actual: np.ndarray, predicted: np.ndarray) -> str:
    """R squared, where there is one, and the root mean squared error."""
    error = float(np.sqrt(np.mean((actual - predicted) ** 2)))
    number = f"{error:,.0f}" if 1000 <= error < 1e6 else f"{error:.3g}"
    parts = [f"RMSE = {number}"]
    if actual.size > 1 and np.ptp(actual):
        parts.insert(0, f"R² = {r2_score(actual, predicted):.3f}")
    # A line may end between the two, not within one.
    return ", ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)


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
