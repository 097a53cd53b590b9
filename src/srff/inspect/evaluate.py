"""How good a model is on rows that are given, and how much each of its variables is missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srff._utils.arrays import to_host
from srff.data.conditional.copies import Conditional
from srff.data.encoding.frames import as_table, coded
from srff.inspect.describe import Entry, selected
from srff.inspect.judged import Judged, needed
from srff.inspect.outcome import ClassFigures, TargetError, outcome_of

DRAWN_ROWS = 2000
"""Most rows that variables are drawn anew on."""

DRAWS = 10
"""Copies of each variable."""


@dataclass(frozen=True)
class Importance:
    """The rise of the mean loss when a variable is drawn anew given the model's other variables.

    Beside it the standard error.
    """

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


def assess(model: Any, X: Any, y: Any, n_drawn: int = DRAWN_ROWS) -> Assessment:
    """How good a fitted model of this package is on some rows.

    Parameters
    ----------
    model : SRFFRegressor or SRFFClassifier
        Fitted.
    X, y : array-like
        Rows, best such that the model was not fitted on.
    n_drawn : int, default=2000
        Most rows that variables are drawn anew on.

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
        _importances(model, X, y, n_drawn),
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


def _importances(model: Any, X: Any, y: Any, n_drawn: int) -> tuple[Importance, ...]:
    """For each selected variable, the rise of the mean loss when it is drawn anew.

    Given the other variables of the model, by laws that each half of the rows learns from the other
    half: what others tell of a variable as well is not missed.
    """
    X, y, columns = to_host(X), np.asarray(to_host(y)), needed(model)
    levels = model.levels_ or (None,) * model.n_features_in_
    few = np.sort(np.random.RandomState(0).permutation(len(y))[:n_drawn])
    codes = coded(X.iloc[few] if hasattr(X, "iloc") else as_table(X)[few], levels, columns)
    own_levels = tuple(levels[k] for k in columns)
    rises: dict[Entry, list[np.ndarray]] = {entry: [] for entry in selected(model)}
    half = np.arange(few.size) % 2 == 0
    for aside in (np.flatnonzero(half), np.flatnonzero(~half)):
        learn = np.delete(np.arange(few.size), aside)
        conditional = Conditional(codes, own_levels, learn, aside)
        judged = Judged(model, codes[aside], levels, y[few[aside]])
        for number, (entry, rise) in enumerate(rises.items()):
            rng = np.random.default_rng(number)
            unit = np.array(entry.columns)
            copies = conditional.copies(np.flatnonzero(np.isin(columns, unit)), rng)
            drawn = judged.copied(columns[np.isin(columns, unit)], copies, rng, DRAWS)
            rise.append(drawn.mean(axis=0) - judged.losses)
    return tuple(_importance(entry, np.concatenate(rise)) for entry, rise in rises.items())


def _importance(entry: Entry, rise: np.ndarray) -> Importance:
    error = rise.std() / np.sqrt(max(rise.size - 1, 1))
    return Importance(entry, float(rise.mean()), float(error))
