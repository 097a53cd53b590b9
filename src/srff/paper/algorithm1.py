"""Algorithm 1 of the paper: alternate between the coefficients and the scales.

Minimises, over coefficients ``a`` and scales ``gamma`` on the simplex of size ``budget``::

    J(a, gamma) = ||y - Z a||^2 / n + alpha ||a||^2,   Z = sqrt(2/D) cos(X diag(gamma) E + b)

or the mean of another loss in place of the squared one.  Step 1 solves for ``a`` exactly; Step 2
takes projected gradient steps with FISTA's extrapolation and backtracking on the first term at that
``a``.  Neither ever raises J.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from srff._utils.checkpoint import NO_CHECKPOINT, Checkpoint
from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.groups import Groups, each_column, first_of_each, shared
from srff.core.losses import Loss
from srff.core.objectives import Coefficients, TrainingLoss, solve_path
from srff.core.simplex import project_simplex

INNER_STEPS = 5
"""Steps of FISTA in Step 2.  The argmin that the paper writes is for coefficients that Step 1
changes at once, so more steps cost passes and do not lower the objective that is reached."""


@dataclass(frozen=True)
class AlternatingState:
    """Where the alternation stands; small, and all that is needed to go on.

    ``coef`` and ``objective[-1]`` belong to ``scale``: each state has just been through Step 1.
    """

    scale: np.ndarray
    coef: np.ndarray
    constant: np.ndarray
    alpha: float
    objective: tuple[float, ...]
    training_error: float
    step_size: float = math.inf
    converged: bool = False

    @property
    def n_iter(self) -> int:
        """Outer iterations done."""
        return len(self.objective) - 1


def first_states(
    engine: Engine,
    loss: Loss,
    E: np.ndarray,
    b: np.ndarray,
    scale: np.ndarray,
    alphas: np.ndarray,
    start: Coefficients,
) -> list[AlternatingState]:
    """Step 1 at the same scales for several alphas."""
    columns = np.flatnonzero(scale)
    W = _frequencies(scale, E, columns)
    found = solve_path(engine, loss, W, b, columns, alphas, start)
    return [
        AlternatingState(scale, e.coef, e.constant, float(alpha), (e.value,), e.training_error)
        for e, alpha in zip(found, alphas, strict=True)
    ]


def advance(
    engine: Engine,
    loss: Loss,
    E: np.ndarray,
    b: np.ndarray,
    state: AlternatingState,
    *,
    groups: Groups,
    tol: float,
    max_inner: int = INNER_STEPS,
) -> AlternatingState:
    """One outer iteration: Step 2 from ``state``, then Step 1."""
    scale, step_size = _descend(engine, loss, E, b, state, groups, max_inner)
    columns = np.flatnonzero(scale)
    W, start = _frequencies(scale, E, columns), (state.coef, state.constant)
    e = TrainingLoss(state.alpha, loss).evaluate(engine, W, b, columns, start)
    objective = e.training_error + state.alpha * float(np.sum(e.coef**2))
    previous = state.objective[-1]
    if not objective < previous:  # nothing left but rounding
        return replace(state, objective=(*state.objective, previous), converged=True)
    return AlternatingState(
        scale,
        e.coef,
        e.constant,
        state.alpha,
        (*state.objective, objective),
        e.training_error,
        step_size,
        converged=previous - objective <= tol * previous,
    )


def alternating(
    engine: Engine,
    loss: Loss,
    E: np.ndarray,
    b: np.ndarray,
    state: AlternatingState,
    *,
    groups: Groups,
    max_iter: int,
    tol: float,
    max_inner: int = INNER_STEPS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Iterator[AlternatingState]:
    """Outer iterations from ``state``, one state each, to convergence or ``max_iter`` in all."""

    def advanced(state: AlternatingState) -> dict[str, Any]:
        following = advance(engine, loss, E, b, state, groups=groups, tol=tol, max_inner=max_inner)
        return vars(following) | {"objective": following.objective[-1]}

    while not state.converged and state.n_iter < max_iter:
        label = f"iteration {state.n_iter + 1}, alpha {state.alpha:.6g}"
        found = checkpoint.step(label, engine, partial(advanced, state))
        state = AlternatingState(
            found["scale"],
            found["coef"],
            found["constant"],
            state.alpha,
            (*state.objective, float(found["objective"])),
            float(found["training_error"]),
            float(found["step_size"]),
            bool(found["converged"]),
        )
        yield state


def _frequencies(scale: np.ndarray, E: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The rows ``columns`` of ``W = diag(gamma) E``."""
    return scale[columns, None] * E[columns]


def _descend(
    engine: Engine,
    loss: Loss,
    E: np.ndarray,
    b: np.ndarray,
    state: AlternatingState,
    groups: Groups,
    max_inner: int,
) -> tuple[np.ndarray, float]:
    """Step 2: FISTA on the mean loss ``F(gamma)`` over the simplex, at fixed ``a``.

    The first gradient is taken in all columns; after it only those that are in use, or that the
    first step brings in, are touched: the others would stay at zero.
    Monotone: a step that would raise F is dropped and the extrapolation starts again.
    The columns of a unit have one scale, which counts once.
    """
    a, c = state.coef, state.constant

    def evaluate(x: np.ndarray, columns: np.ndarray, unit: np.ndarray | None) -> float:
        gamma = each_column(x, unit)
        used = columns[gamma != 0]
        W = gamma[gamma != 0, None] * E[used]
        return engine.loss(loss, Expansion(used, W, b, a, c))

    def gradient(
        x: np.ndarray, columns: np.ndarray, unit: np.ndarray | None
    ) -> tuple[float, np.ndarray]:
        W = each_column(x, unit)[:, None] * E[columns]
        value, dW, _ = engine.loss_pull_back(loss, Expansion(columns, W, b, a, c))
        return value, shared(np.sum(dW * E[columns], axis=1), unit)

    # Rows of zeros in E are columns that do not vary.
    usable = np.flatnonzero(E.any(axis=1))
    unit = groups.positions(usable)
    old = first_of_each(state.scale[usable], unit)
    budget = old.sum()
    value, slope = gradient(old, usable, unit)
    steepest = np.linalg.norm(slope - slope.mean())
    if steepest == 0.0:
        return state.scale, state.step_size
    # The very first step moves the scales by a tenth of the budget; later ones try twice the last.
    step = 0.1 * budget / steepest if math.isinf(state.step_size) else 2 * state.step_size
    first = project_simplex(old - step * slope, budget)
    working = (old > 0) | (first > 0)
    columns = usable[each_column(working, unit)]
    unit = groups.positions(columns)

    x = y = old[working]
    value_x = value_y = value
    slope_y = slope[working]
    momentum = 1.0
    for inner in range(max_inner):
        if inner:
            value_y, slope_y = gradient(y, columns, unit)
        while True:
            p = project_simplex(y - step * slope_y, budget)
            move = p - y
            value_p = evaluate(p, columns, unit)
            bound = value_y + slope_y @ move + move @ move / (2 * step)
            if value_p <= bound or step * steepest < 1e-12 * budget:
                break
            step /= 2
        if value_p < value_x:
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            y = p + (momentum - 1) / following * (p - x)
            decrease = value_x - value_p
            x, value_x, momentum = p, value_p, following
            if decrease <= 1e-6 * value_x:
                break
        elif momentum > 1:
            y, momentum = x, 1.0
        else:
            break
    scale = np.zeros_like(state.scale)
    scale[columns] = each_column(x, unit)
    return scale, step
