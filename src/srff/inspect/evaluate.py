"""How good a model is on rows that are given, and how much each of its variables is missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import (
    confusion_matrix,
    d2_log_loss_score,
    d2_pinball_score,
    d2_tweedie_score,
    r2_score,
    roc_auc_score,
)
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from srff._utils.arrays import to_host
from srff.core.losses import Pinball, chances, likeliest
from srff.data.encoding.outcome import Outcome
from srff.inspect.describe import Entry, loss_of, selected

SHUFFLED_ROWS = 2000
"""Rows that shuffles are computed on."""


@dataclass(frozen=True)
class TargetError:
    """One target: its root mean squared error and R squared."""

    rmse: float
    r2: float


@dataclass(frozen=True)
class ClassFigures:
    """How well classes are told apart.

    ``confusion`` has a row for each class and a column for each that was predicted.
    """

    accuracy: float
    largest: float
    """The share of the most frequent class: the accuracy of always saying that."""
    auc: float
    """The area under the ROC curve; of more than two classes the mean of one against the others."""
    confusion: np.ndarray


@dataclass(frozen=True)
class Missed:
    """The rise of the mean loss when a variable is shuffled, and its standard error."""

    entry: Entry
    rise: float
    error: float


@dataclass(frozen=True)
class Judgement:
    """A model on some rows; ``error`` is of the kind of its ``validation_error_``."""

    n_rows: int
    error: float
    explained: float
    targets: tuple[TargetError, ...]
    classes: ClassFigures | None
    missed: tuple[Missed, ...]


def judge(model: Any, X: Any, y: Any, n_shuffled: int = SHUFFLED_ROWS) -> Judgement:
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
    judgement : Judgement

    Examples
    --------
    >>> import numpy as np
    >>> from srff import SRFFRegressor
    >>> from srff.inspect.evaluate import judge
    >>> X = np.random.RandomState(0).standard_normal((300, 4))
    >>> model = SRFFRegressor(n_components=20, max_iter=4, random_state=0)
    >>> model = model.fit(X[:200], X[:200, 2] ** 2)
    >>> found = judge(model, X[200:], X[200:, 2] ** 2)
    >>> [one.entry.name for one in found.missed], found.explained > 0.9
    (['x2'], True)
    """
    U = used_inputs(model, X)
    Y = known_targets(model, y, U.shape[0])
    F = outputs_of(model, U)
    losses = row_losses(model, Y, F)
    loss, spread = loss_of(model), float(model.target_spread_)
    error = float(loss.reported(losses.mean(), spread))
    is_classifier = hasattr(model, "classes_")
    return Judgement(
        U.shape[0],
        error,
        _explained(model, Y, F),
        () if is_classifier else _of_targets(Y, predictions_of(model, F)),
        _of_classes(model, Y, F) if is_classifier else None,
        _missed(model, U, Y, n_shuffled),
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


def predictions_of(model: Any, F: np.ndarray) -> np.ndarray:
    """Predictions of the targets, or chances of the classes: (rows, targets or classes)."""
    return chances(F) if hasattr(model, "classes_") else loss_of(model).prediction(F)


def class_codes(classes: np.ndarray, y: Any) -> np.ndarray:
    """The number of each label among the classes of a fit."""
    known = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    labels = column_or_1d(np.asarray(to_host(y))).tolist()
    unknown = next((label for label in labels if label not in known), None)
    if unknown is not None:
        listed = ", ".join(map(repr, list(known)[:8])) + (", ..." if len(known) > 8 else "")
        raise ValueError(f"y has the class {unknown!r}; the model knows {listed}.")
    return np.array([known[label] for label in labels], dtype=np.intp)


def known_targets(model: Any, y: Any, n_rows: int) -> np.ndarray:
    """Targets as columns of numbers, classes as their numbers: (rows, targets)."""
    if hasattr(model, "classes_"):
        Y = class_codes(model.classes_, y)[:, None].astype(np.float64)
    else:
        Y = check_array(to_host(y), ensure_2d=False, dtype=np.float64, input_name="y")
        Y = Y[:, None] if Y.ndim == 1 else Y
        n_targets = model.n_targets_ or 1
        if Y.shape[1] != n_targets:
            raise ValueError(f"y has {Y.shape[1]} columns; the model has {n_targets}.")
    check_consistent_length(np.empty(n_rows), Y)
    return Y


def row_losses(model: Any, Y: np.ndarray, F: np.ndarray) -> np.ndarray:
    """The loss of each row, in the units that the model was fitted in."""
    loss = loss_of(model)
    if hasattr(model, "classes_"):
        return np.asarray(loss.value(Outcome(model.classes_.size)(Y)[0], F))
    if not loss.standardises:
        return np.asarray(loss.value(Y, F))
    unit = _units(model, Y)
    return np.asarray(loss.value(Y / unit, F / unit))


def _units(model: Any, Y: np.ndarray) -> np.ndarray:
    """What targets are divided by.

    Where several have weights, their spreads are not kept with the model: those of the rows stand
    for them.
    """
    weights = getattr(model, "target_weights", "variance")
    if Y.shape[1] == 1 or (isinstance(weights, str) and weights == "variance"):
        return np.full(Y.shape[1], float(model.target_spread_) or 1.0)
    shares = np.ones(Y.shape[1]) if isinstance(weights, str) else np.asarray(weights, dtype=float)
    spread = Y.std(axis=0)
    return np.where(spread > 0, spread, 1.0) / np.sqrt(np.maximum(shares / shares.sum(), 1e-12))


def _explained(model: Any, Y: np.ndarray, F: np.ndarray) -> float:
    """The share of the loss of the rows' own best constant that is removed."""
    loss, predicted = loss_of(model), predictions_of(model, F)
    if Y.shape[0] < 2 or not np.ptp(Y, axis=0).any():
        return float("nan")
    if hasattr(model, "classes_"):
        return float(d2_log_loss_score(Y[:, 0], predicted, labels=np.arange(model.classes_.size)))
    if loss.name == "poisson":
        predicted = np.maximum(predicted, np.finfo(float).tiny)  # a rate of zero has no deviance
        return float(
            np.mean(
                [d2_tweedie_score(y, p, power=1) for y, p in zip(Y.T, predicted.T, strict=True)]
            )
        )
    if isinstance(loss, Pinball):
        return float(d2_pinball_score(Y, predicted, alpha=loss.quantile))
    if loss.quadratic:
        unit = _units(model, Y)
        return float(1 - np.mean((Y - F) ** 2 / unit**2) / np.mean(np.var(Y / unit, axis=0)))
    return float("nan")


def _of_targets(Y: np.ndarray, predicted: np.ndarray) -> tuple[TargetError, ...]:
    out = []
    for y, p in zip(Y.T, predicted.T, strict=True):
        r2 = r2_score(y, p) if y.size > 1 and np.ptp(y) else float("nan")
        out.append(TargetError(float(np.sqrt(np.mean((y - p) ** 2))), float(r2)))
    return tuple(out)


def _of_classes(model: Any, Y: np.ndarray, F: np.ndarray) -> ClassFigures:
    code, p = Y[:, 0].astype(np.intp), chances(F)
    n_classes = model.classes_.size
    counts = np.bincount(code, minlength=n_classes)
    auc = float("nan")
    if counts.all():
        auc = float(
            roc_auc_score(code, p[:, 1])
            if n_classes == 2
            else roc_auc_score(code, p, multi_class="ovr", labels=np.arange(n_classes))
        )
    table = confusion_matrix(code, likeliest(F), labels=np.arange(n_classes))
    return ClassFigures(
        float(np.trace(table) / code.size), float(counts.max() / code.size), auc, table
    )


def _missed(model: Any, U: np.ndarray, Y: np.ndarray, most: int) -> tuple[Missed, ...]:
    """For each selected variable, the rise of the mean loss when its values are shuffled."""
    rng = np.random.RandomState(0)
    few = np.sort(rng.permutation(U.shape[0])[:most])
    U, Y = U[few], Y[few]
    plain = row_losses(model, Y, outputs_of(model, U))
    loss, spread = loss_of(model), float(model.target_spread_)
    unit = float(loss.reported(1.0, spread)) ** (2 if loss.quadratic else 1)
    # The user's column that each of the model's columns comes from.
    encoding = model.encoding_
    source = model.columns_ if encoding is None else encoding.source[model.columns_]
    out = {}
    for entry in sorted(selected(model), key=lambda entry: entry.columns):
        own = np.isin(source, entry.columns)
        moved = U.copy()
        moved[:, own] = U[rng.permutation(U.shape[0])][:, own]
        delta = (row_losses(model, Y, outputs_of(model, moved)) - plain) * unit
        error = delta.std() / np.sqrt(max(delta.size - 1, 1))
        out[entry] = Missed(entry, float(delta.mean()), float(error))
    return tuple(out[entry] for entry in selected(model))
