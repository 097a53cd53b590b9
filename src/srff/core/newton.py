"""Coefficients of a loss that is not quadratic: Newton steps on weighted statistics.

At given frequencies ``F = Z a + c``, and ::

    J(a, c) = mean l(Y, Z a + c) + alpha ||a||^2

is convex (a hair of a penalty on ``c`` keeps the constant of a class finite that has no row).  Its
slope takes a pass of rows x D operations, its second derivative, with a number for the curvature
of each row, one of rows x D^2: ``Z'hZ``, the weighted statistics.  The second derivative is taken
where the solve starts, and anew after a few steps or where none with it goes down; on the way it is
corrected by what the slopes tell (L-BFGS with the last steps).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from srff._utils import lapack
from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.losses import Loss

MAX_STEPS = 100
TOLERANCE, LITTLE = 1e-6, 1e-2
"""A solve ends when a step promises less than this share of the objective, or of ``LITTLE`` if that
is more: nobody cares for the digits of a log loss near zero."""

CORRECTIONS = 12
"""Steps that correct the second derivative."""

AGE = 6
"""Steps after which the second derivative is taken anew."""

SHORTEST_STEP = 1e-4

HAIR = 1e-8
"""The penalty of the constants."""

Pair = tuple[np.ndarray, np.ndarray, float]
"""A step, the change of the slope, and their product."""


@dataclass(frozen=True)
class Solution:
    """Coefficients and constants, the objective there, and the mean loss in it."""

    a: np.ndarray
    c: np.ndarray
    value: float
    loss: float


@dataclass(frozen=True)
class Constant:
    """The best constant outputs, and what the loss looks like there.

    ``loss`` is the mean loss, ``curvature`` the mean curvature and ``spread`` the root mean square
    of the slopes of the rows.
    """

    c: np.ndarray
    loss: float
    curvature: float
    spread: float


def best_constant(engine: Engine, loss: Loss, mean: np.ndarray) -> Constant:
    """The constant of the lowest loss: from the mean of the targets, or by steps of the curvature.

    The mean may be that of more rows than the engine has, which may lack a class.
    """
    known = loss.start(mean)
    c = np.zeros(loss.n_outputs(mean.size)) if known is None else known
    value, slope, curvature, square = engine.constant_statistics(loss, c)
    for _ in range(MAX_STEPS if known is None else 0):
        step = slope / max(curvature, np.finfo(float).tiny)
        decrement = float(slope @ step)
        if decrement <= 1e-10 * max(abs(value), 1e-300):
            break
        length = 1.0
        while True:
            trial = engine.constant_statistics(loss, c - length * step)
            if trial[0] <= value - 1e-4 * length * decrement or length < SHORTEST_STEP:
                break
            length /= 4
        if not trial[0] < value:
            break
        c = c - length * step
        value, slope, curvature, square = trial
    return Constant(c, value, curvature, float(np.sqrt(square)))


def newton(
    engine: Engine,
    loss: Loss,
    alpha: float,
    W: np.ndarray,
    b: np.ndarray,
    columns: np.ndarray,
    near: tuple[np.ndarray, np.ndarray],
) -> Solution:
    """The minimum of ``J`` from the coefficients (D x outputs) and constants ``near``."""
    model = Expansion(columns, W, b, *near)
    penalty = np.append(np.full(b.size, 2 * alpha), 2 * HAIR)[:, None]
    x = np.concatenate([model.a, model.c[None, :]])

    def there(x: np.ndarray) -> Expansion:
        return replace(model, a=x[:-1], c=x[-1])

    def objective(x: np.ndarray, value: float) -> float:
        return value + alpha * float(np.sum(x[:-1] ** 2)) + HAIR * float(np.sum(x[-1] ** 2))

    def taken(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The mean loss, the slope of J, and the factor of its second derivative."""
        value, slope, second = engine.weighted_statistics(loss, there(x))
        return value, slope + penalty * x, _factor(second, penalty[:, 0])

    mean, slope, factor = taken(x)
    value = objective(x, mean)
    pairs: list[Pair] = []
    age = 0
    for _ in range(MAX_STEPS):
        step = _direction(slope, factor, pairs)
        promise = float(np.vdot(slope, step))
        if promise <= 2 * TOLERANCE * max(value, LITTLE):
            break
        length = 1.0
        while True:
            trial = x - length * step
            new_mean, g = engine.loss_slope(loss, there(trial))
            new_value = objective(trial, new_mean)
            if new_value <= value - 1e-4 * length * promise:
                break
            length /= 4
            if length < SHORTEST_STEP:
                break
        if not new_value < value:  # nothing left but rounding, or a stale second derivative
            if not age:
                break
            mean, slope, factor = taken(x)
            pairs, age = [], 0
            continue
        g = g + penalty * trial
        pairs = [*pairs[1 - CORRECTIONS :], *_pair(trial - x, g - slope)]
        x, value, mean, slope, age = trial, new_value, new_mean, g, age + 1
        if age >= AGE:
            mean, slope, factor = taken(x)
            age = 0
    return Solution(x[:-1], x[-1], value, mean)


def _pair(s: np.ndarray, y: np.ndarray) -> list[Pair]:
    """A step and the change of the slope along it, where that tells of a curvature."""
    product = float(np.vdot(s, y))
    return [(s, y, product)] if product > 0 else []


def _direction(slope: np.ndarray, factor: np.ndarray, pairs: list[Pair]) -> np.ndarray:
    """The inverse of the second derivative, corrected by some steps, times the slope."""
    q = slope.copy()
    shares = []
    for s, y, product in reversed(pairs):
        shares.append(float(np.vdot(s, q)) / product)
        q -= shares[-1] * y
    r = np.asfortranarray(q)
    lapack.solve(factor, r)
    for (s, y, product), share in zip(pairs, reversed(shares), strict=True):
        r += (share - float(np.vdot(y, r)) / product) * s
    return r


def _factor(second: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """The Cholesky factor of the second derivative, raised a little where it is too flat."""
    if not np.isfinite(second).all():
        raise ValueError("The weighted statistics are not finite.")
    mean = max(float(np.trace(second)) / second.shape[0], np.finfo(float).tiny)
    raised = 1e-10 * mean
    while True:
        A = np.asfortranarray(second + np.diag(penalty + raised))
        if lapack.factor(A):
            return A
        raised *= 100
