"""How good a model is on rows that are given, and how much each of its variables is missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.inspect.describe import Entry, selected
from srff.inspect.outcome import ClassFigures, TargetError, outcome_of

SHUFFLED_ROWS = 2000
"""Rows that shuffles are computed on."""


@dataclass(frozen=True)
class Importance:
    """The rise of the mean loss when a variable is shuffled, and its standard error."""

    entry: Entry
    rise: float
    standard_error: float


@dataclass(frozen=True)
class Assessment:
    """A model on some rows; ``error`` is of the kind of its ``validation_error_``."""

    n_rows: int
    error: float
    explained: float
    importances: tuple[Importance, ...]
    targets: tuple[TargetError, ...] = ()
    classes: ClassFigures | None = None


def assess(model: Any, X: Any, y: Any, n_shuffled: int = SHUFFLED_ROWS) -> Assessment:
    """How good a fitted model of this package is on some rows.

    Parameters
    ----------
    model : SRFFRegressor or SRFFClassifier
        Fitted.
    X, y : array-like
        Rows, best such that the model was not fitted on.
    n_shuffled : int, default=2000
        Most rows that are shuffled.

    Returns
    -------
    assessment : Assessment

    Examples
    --------
    >>> import numpy as np
    >>> from srff import SRFFRegressor
    >>> from srff.inspect.evaluate import assess
    >>> X = np.random.RandomState(0).standard_normal((300, 4))
    >>> model = SRFFRegressor(n_components=20, max_iter=4, random_state=0)
    >>> model = model.fit(X[:200], X[:200, 2] ** 2)
    >>> found = assess(model, X[200:], X[200:, 2] ** 2)
    >>> [one.entry.name for one in found.importances], found.explained > 0.9
    (['x2'], True)
    """
    outcome, U = outcome_of(model), used_inputs(model, X)
    Y, F = outcome.known_targets(y, U.shape[0]), outputs_of(model, U)
    mean_loss = outcome.row_losses(Y, F).mean()
    return Assessment(
        U.shape[0],
        float(outcome.loss.reported(mean_loss, float(model.target_spread_))),
        outcome.explained(Y, F) if np.ptp(Y, axis=0).any() else float("nan"),
        _importances(model, U, Y, n_shuffled),
        **outcome.figures(Y, F),
    )


def used_inputs(model: Any, X: Any) -> np.ndarray:
    """The encoded columns that the model reads: (rows, ``columns_.size``)."""
    inputs, columns = model._selected_inputs(X)
    return np.asarray(inputs, dtype=np.float64)[:, columns]


def coded_inputs(model: Any, codes: np.ndarray) -> np.ndarray:
    """The same from coded rows: see :mod:`srff.data.encoding.frames`."""
    encoding, columns = model.encoding_, model.columns_
    return np.asarray(encoding.take(columns)(codes[:, encoding.needed(columns)]))


def outputs_of(model: Any, U: np.ndarray) -> np.ndarray:
    """``Z a + c`` of columns that :func:`used_inputs` gave: (rows, outputs)."""
    return np.asarray(model._outputs_of(U, np.arange(U.shape[1])))


def _importances(
    model: Any, U: np.ndarray, Y: np.ndarray, n_shuffled: int
) -> tuple[Importance, ...]:
    """For each selected variable, the rise of the mean loss when its values are shuffled."""
    outcome, rng = outcome_of(model), np.random.RandomState(0)
    few = np.sort(rng.permutation(U.shape[0])[:n_shuffled])
    U, Y = U[few], Y[few]
    plain = outcome.row_losses(Y, outputs_of(model, U))
    loss, spread = outcome.loss, float(model.target_spread_)
    unit = float(loss.reported(1.0, spread)) ** (2 if loss.quadratic else 1)
    # The user's column that each of the model's columns comes from.
    encoding = model.encoding_
    source = model.columns_ if encoding is None else encoding.source[model.columns_]
    out = {}
    for entry in sorted(selected(model), key=lambda entry: entry.columns):
        own = np.isin(source, entry.columns)
        moved = U.copy()
        moved[:, own] = U[rng.permutation(U.shape[0])][:, own]
        delta = (outcome.row_losses(Y, outputs_of(model, moved)) - plain) * unit
        error = delta.std() / np.sqrt(max(delta.size - 1, 1))
        out[entry] = Importance(entry, float(delta.mean()), float(error))
    return tuple(out[entry] for entry in selected(model))
