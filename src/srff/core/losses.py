"""Losses: what a row costs, as a function of its targets and of the model's outputs.

A model's outputs are ``F = Z a + c``.  A loss is convex in them; all that a fit asks of it is its
value, its slope and a bound of its curvature for a block of rows, in any library of the array API,
so that every engine works with every loss.  Targets ``Y`` and outputs ``F`` have two dimensions
(rows x targets, rows x outputs).

A loss is one small class here: see the documentation for how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from srff._utils.parameters import is_number

Array = Any


LARGEST_LOG = 40.0
"""The largest logarithm of a rate."""


LEAST_SHARE = 1e-15
"""The smallest share of a class: rounding brings smaller ones to zero, which has no logarithm."""

LARGEST_TARGET = 1e300
"""The largest target: some way below the largest number, so that sums of a few do not overflow."""

LARGEST_RATE = 1e15
"""The largest count: some way below the rate of that logarithm."""


class Loss(ABC):
    """A loss ``l(y, f)`` of one row, convex in the outputs ``f``."""

    name: str
    """What users call it."""

    quadratic: bool = False
    """Whether coefficients are solved from statistics; see :class:`Squared`."""

    standardises: bool = False
    """Whether targets are brought to mean zero and unit spread first: for losses that mean the same
    in any unit of the target."""

    def n_outputs(self, n_targets: int) -> int:
        """Outputs of the model for so many columns of targets."""
        return n_targets

    @abstractmethod
    def value(self, Y: Array, F: Array) -> Array:
        """The loss of each row, at least zero: (rows,)."""

    @abstractmethod
    def slope(self, Y: Array, F: Array) -> Array:
        """Its derivative in the outputs: (rows, outputs)."""

    @abstractmethod
    def curvature(self, Y: Array, F: Array) -> Array:
        """A number for each row that the second derivative is not above, or not much: (rows,)."""

    def start(self, mean: np.ndarray) -> np.ndarray | None:
        """The best constant outputs from the mean of the targets; None if it does not tell."""
        return None

    def prediction(self, F: np.ndarray) -> np.ndarray:
        """What ``predict`` gives for some outputs, in the units of the targets."""
        return F

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets that the loss is not made for, or that have no room for a difference."""
        largest = float(np.abs(y).max(initial=0.0))
        if largest > LARGEST_TARGET:
            raise ValueError(
                f"y needs numbers of at most {LARGEST_TARGET:g}, got {largest:g}; take a larger "
                "unit."
            )

    def reported(self, value: Any, spread: float) -> Any:
        """A mean loss as users read it; ``spread`` is the unit of standardised targets."""
        return value * spread if self.standardises else value


@dataclass(frozen=True)
class Squared(Loss):
    """``||y - f||^2``: the mean of the target is predicted.

    Coefficients come from the statistics ``Z'Z`` and ``Z'Y`` alone.
    """

    name = "squared"
    quadratic = True
    standardises = True

    def targets(self, Y: Array) -> Array:
        """What the outputs are to be near to."""
        return Y

    def value(self, Y: Array, F: Array) -> Array:
        """The squared length of the residual."""
        r = self.targets(Y) - F
        return array_namespace(F).sum(r * r, axis=1)

    def slope(self, Y: Array, F: Array) -> Array:
        """``-2 (y - f)``."""
        return (F - self.targets(Y)) * 2.0

    def curvature(self, Y: Array, F: Array) -> Array:
        """Two."""
        return array_namespace(F).full_like(F[:, 0], 2.0)

    def reported(self, value: Any, spread: float) -> Any:
        """The root of the mean, in the target's units."""
        return np.sqrt(value) * spread


SQUARED = Squared()


@dataclass(frozen=True)
class Scores(Squared):
    """Squared loss on the scores of another loss: its downhill slope at the best constant.

    For class labels these are the indicators less the shares of the classes, and the loss is
    Brier's score.  Whatever the target's distribution depends on moves the scores, to first order
    as much as the loss itself; variables are looked for with this loss, in one solve a point.
    """

    loss: Loss
    constant: tuple[float, ...]
    unit: float
    """The root of the mean square of the scores, which are divided by it."""
    name = "scores"

    def targets(self, Y: Array) -> Array:
        """The scores."""
        xp = array_namespace(Y)
        c = xp.asarray(np.array(self.constant), dtype=Y.dtype, device=device(Y))
        F = xp.zeros((Y.shape[0], c.shape[0]), dtype=Y.dtype, device=device(Y)) + c
        return self.loss.slope(Y, F) * (-1.0 / self.unit)

    def n_outputs(self, n_targets: int) -> int:
        """As many as the loss has."""
        return self.loss.n_outputs(n_targets)

    def reported(self, value: Any, spread: float) -> Any:
        """The root of the mean, in the unit of the scores."""
        return np.sqrt(value) * self.unit


@dataclass(frozen=True)
class Logistic(Loss):
    """Two classes, ``y`` 0 or 1: ``log(1 + exp f) - y f``, minus the log of the class's chance."""

    name = "logistic"

    def value(self, Y: Array, F: Array) -> Array:
        """Minus the log of the chance of the row's class."""
        xp = array_namespace(F)
        above = xp.where(F > 0, F, xp.zeros_like(F))
        return xp.sum(above - F * Y + xp.log1p(xp.exp(-xp.abs(F))), axis=1)

    def slope(self, Y: Array, F: Array) -> Array:
        """``p - y``."""
        return _sigmoid(F) - Y

    def curvature(self, Y: Array, F: Array) -> Array:
        """``p (1 - p)``."""
        p = _sigmoid(F[:, 0])
        return p * (1 - p)

    def start(self, mean: np.ndarray) -> np.ndarray:
        """The log of the odds."""
        mean = np.clip(mean, LEAST_SHARE, 1 - LEAST_SHARE)
        return np.log(mean / (1 - mean))


@dataclass(frozen=True)
class Multinomial(Loss):
    """Several classes, ``y`` an indicator of each: ``log sum_k exp f_k - f_y``."""

    name = "multinomial"

    def value(self, Y: Array, F: Array) -> Array:
        """Minus the log of the chance of the row's class."""
        xp = array_namespace(F)
        F = F - xp.max(F, axis=1, keepdims=True)
        return xp.log(xp.sum(xp.exp(F), axis=1)) - xp.sum(F * Y, axis=1)

    def slope(self, Y: Array, F: Array) -> Array:
        """``p - y``."""
        return _softmax(F) - Y

    def curvature(self, Y: Array, F: Array) -> Array:
        """A bound of the largest eigenvalue of ``diag(p) - p p'``.

        It is at most the largest ``p_k``, since ``p p'`` only lowers it, and at most the largest
        ``2 p_k (1 - p_k)``, by Gershgorin's circles.
        """
        xp = array_namespace(F)
        p = _softmax(F)
        top, circle = xp.max(p, axis=1), xp.max(2 * p * (1 - p), axis=1)
        return xp.where(top < circle, top, circle)

    def start(self, mean: np.ndarray) -> np.ndarray:
        """The logs of the shares of the classes, less their mean."""
        c = np.log(np.maximum(mean, LEAST_SHARE))
        return c - c.mean()


@dataclass(frozen=True)
class Poisson(Loss):
    """Counts and rates, ``y`` at least zero: half the deviance of a Poisson law, ``exp f``."""

    name = "poisson"

    def value(self, Y: Array, F: Array) -> Array:
        """``y log(y / exp f) - (y - exp f)``."""
        xp = array_namespace(F)
        positive = xp.where(Y > 0, Y, xp.ones_like(Y))
        # As y (exp d - 1 - d), which rounding does not bring below zero.
        F = _held(F)
        d = F - xp.log(positive)
        return xp.sum(xp.where(Y > 0, positive * (xp.expm1(d) - d), xp.exp(F)), axis=1)

    def slope(self, Y: Array, F: Array) -> Array:
        """``exp f - y``."""
        return array_namespace(F).exp(_held(F)) - Y

    def curvature(self, Y: Array, F: Array) -> Array:
        """The largest ``exp f``."""
        xp = array_namespace(F)
        return xp.max(xp.exp(_held(F)), axis=1)

    def start(self, mean: np.ndarray) -> np.ndarray:
        """The logs of the means."""
        return np.log(mean)

    def prediction(self, F: np.ndarray) -> np.ndarray:
        """The rate."""
        return np.exp(F)

    def check_targets(self, y: np.ndarray) -> None:
        """Counts are not negative, and not all zero."""
        if (y < 0).any():
            raise ValueError(f"loss='poisson' needs y of at least 0, got {y.min():g}.")
        if (y > LARGEST_RATE).any():
            raise ValueError(
                f"loss='poisson' needs y of at most {LARGEST_RATE:g}, got {y.max():g}; count in a "
                "larger unit."
            )
        if not (y.sum(axis=0) > 0).all():
            raise ValueError("loss='poisson' needs a y that is not zero in every row.")


@dataclass(frozen=True)
class Pinball(Loss):
    """A quantile of the target: ``(q - [y < f]) (y - f)``, smoothed.

    The kink at zero is rounded by a logistic distribution of width ``smoothing``, in units of the
    target's spread: the loss is ``q r + h log(1 + exp(-r / h))`` with ``r = y - f``.

    Parameters
    ----------
    quantile : float, default=0.5
        Which one, between 0 and 1; 0.5 is the median.
    smoothing : float, default=0.05
        The width ``h``.
    """

    quantile: float = 0.5
    smoothing: float = 0.05
    name = "pinball"
    standardises = True

    def __post_init__(self) -> None:
        for what, high in (("quantile", 1), ("smoothing", 10)):
            value = getattr(self, what)
            if not (is_number(value) and 0 < value < high):
                raise ValueError(f"{what}={value!r} must be a number between 0 and {high}.")

    def value(self, Y: Array, F: Array) -> Array:
        """The smoothed loss, summed over targets."""
        xp = array_namespace(F)
        r = (Y - F) / self.smoothing
        below = xp.where(r < 0, -r, xp.zeros_like(r))
        soft = self.quantile * r + below + xp.log1p(xp.exp(-xp.abs(r)))
        return xp.sum(soft, axis=1) * self.smoothing

    def slope(self, Y: Array, F: Array) -> Array:
        """``[y < f] - q``, smoothed."""
        return _sigmoid((F - Y) / self.smoothing) - self.quantile

    def curvature(self, Y: Array, F: Array) -> Array:
        """That of the parabola which touches the loss here and is nowhere below it."""
        xp = array_namespace(F)
        u = xp.abs((Y - F) / self.smoothing)
        u = xp.where(u > 1e-3, u, xp.full_like(u, 1e-3))
        return xp.max(xp.tanh(u / 2) / (2 * u), axis=1) / self.smoothing


LOSSES: dict[str, Loss] = {"squared": SQUARED, "poisson": Poisson(), "pinball": Pinball()}
"""The losses of a regression by their names."""


def get_loss(loss: Any) -> Loss:
    """The loss of a name, or the loss itself."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    accepted = ", ".join(map(repr, LOSSES))
    raise ValueError(f"loss={loss!r} is unknown; accepted: {accepted} or a srff.losses.Loss.")


def class_loss(n_classes: int) -> Loss:
    """The loss of so many classes."""
    return Logistic() if n_classes == 2 else Multinomial()


def chances(F: np.ndarray) -> np.ndarray:
    """The chances of the classes from the outputs of either loss of classes: (rows, classes)."""
    if F.shape[1] > 1:
        return _softmax(F)
    return _sigmoid(np.concatenate([-F, F], axis=1))  # one minus a chance would lose the small ones


def likeliest(F: np.ndarray) -> np.ndarray:
    """The number of the most likely class of each row, from the same outputs."""
    best = F[:, 0] > 0 if F.shape[1] == 1 else np.argmax(F, axis=1)
    return best.astype(np.intp)


def log_chances(F: np.ndarray) -> np.ndarray:
    """The logs of the chances, also where these are too small for a float."""
    if F.shape[1] == 1:
        return -np.logaddexp(0.0, np.concatenate([F, -F], axis=1))
    return F - np.logaddexp.reduce(F, axis=1, keepdims=True)


def _sigmoid(F: Array) -> Array:
    """``1 / (1 + exp(-F))``, without overflow."""
    xp = array_namespace(F)
    e = xp.exp(-xp.abs(F))
    return xp.where(F >= 0, xp.ones_like(e), e) / (1 + e)


def _held(F: Array) -> Array:
    """Outputs that are held where a step too far would overflow: no mean loss is so large."""
    xp = array_namespace(F)
    return xp.where(F < LARGEST_LOG, F, xp.full_like(F, LARGEST_LOG))


def _softmax(F: Array) -> Array:
    xp = array_namespace(F)
    e = xp.exp(F - xp.max(F, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)
