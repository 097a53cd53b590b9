"""Algorithm 1 of the paper: alternate between the coefficients and the scales.

Minimises, over coefficients ``a`` and scales ``gamma`` on the simplex of size ``budget``::

    J(a, gamma) = ||y - Z a||^2 / n + alpha ||a||^2,   Z = sqrt(2/D) cos(X diag(gamma) E + b)

Step 1 solves for ``a`` exactly; Step 2 takes projected gradient steps with FISTA's extrapolation
and backtracking on the first term at that ``a``.  Neither ever raises J.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from srff import objectives
from srff.constraints import project_simplex
from srff.engines import Engine
from srff.features import Statistics
from srff.journal import NO_JOURNAL, Journal

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
    alpha: float
    objective: tuple[float, ...]
    step_size: float = math.inf
    converged: bool = False

    @property
    def n_iter(self) -> int:
        """Outer iterations done."""
        return len(self.objective) - 1


def start(statistics: Statistics, scale: np.ndarray, alphas: np.ndarray) -> list[AlternatingState]:
    """Step 1 at the same scales for several alphas, from their statistics alone."""
    return [
        AlternatingState(scale, a, alpha, (objectives.penalised_loss(statistics, a, alpha),))
        for a, alpha in zip(objectives.ridge_path(statistics, alphas), alphas, strict=True)
    ]


def advance(
    engine: Engine,
    E: np.ndarray,
    b: np.ndarray,
    state: AlternatingState,
    *,
    tol: float,
    max_inner: int = INNER_STEPS,
) -> AlternatingState:
    """One outer iteration: Step 2 from ``state``, then Step 1."""
    scale, step_size = _descend(engine, E, b, state, max_inner)
    columns = np.flatnonzero(scale)
    statistics = engine.statistics(_frequencies(scale, E, columns), b, columns)
    coef = objectives.ridge(statistics, state.alpha)
    objective = objectives.penalised_loss(statistics, coef, state.alpha)
    previous = state.objective[-1]
    if not objective < previous:  # nothing left but rounding
        return replace(state, objective=(*state.objective, previous), converged=True)
    return AlternatingState(
        scale,
        coef,
        state.alpha,
        (*state.objective, objective),
        step_size,
        converged=previous - objective <= tol * previous,
    )


def alternating(
    engine: Engine,
    E: np.ndarray,
    b: np.ndarray,
    state: AlternatingState,
    *,
    max_iter: int,
    tol: float,
    max_inner: int = INNER_STEPS,
    journal: Journal = NO_JOURNAL,
) -> Iterator[AlternatingState]:
    """Outer iterations from ``state``, one state each, to convergence or ``max_iter`` in all."""

    def advanced(state: AlternatingState) -> dict[str, Any]:
        following = advance(engine, E, b, state, tol=tol, max_inner=max_inner)
        return vars(following) | {"objective": following.objective[-1]}

    while not state.converged and state.n_iter < max_iter:
        label = f"iteration {state.n_iter + 1}, alpha {state.alpha:.6g}"
        found = journal.step(label, engine, partial(advanced, state))
        state = AlternatingState(
            found["scale"],
            found["coef"],
            state.alpha,
            (*state.objective, float(found["objective"])),
            float(found["step_size"]),
            bool(found["converged"]),
        )
        yield state


def _frequencies(scale: np.ndarray, E: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The rows ``columns`` of ``W = diag(gamma) E``."""
    return scale[columns, None] * E[columns]


def _descend(
    engine: Engine, E: np.ndarray, b: np.ndarray, state: AlternatingState, max_inner: int
) -> tuple[np.ndarray, float]:
    """Step 2: FISTA on ``F(gamma) = ||y - Z a||^2 / n`` over the simplex, at fixed ``a``.

    The first gradient is taken in all columns; after it only those that are in use, or that the
    first step brings in, are touched: the others would stay at zero.
    Monotone: a step that would raise F is dropped and the extrapolation starts again.
    """
    a, budget = state.coef, state.scale.sum()

    def evaluate(gamma: np.ndarray, columns: np.ndarray) -> float:
        used = columns[gamma != 0]
        W = gamma[gamma != 0, None] * E[used]
        return engine.loss(W, b, a, used)

    def gradient(gamma: np.ndarray, columns: np.ndarray) -> tuple[float, np.ndarray]:
        value, dW, _ = engine.loss_pull_back(gamma[:, None] * E[columns], b, a, columns)
        return value, np.sum(dW * E[columns], axis=1)

    # Rows of zeros in E are columns that do not vary.
    usable = np.flatnonzero(E.any(axis=1))
    value, slope = gradient(state.scale[usable], usable)
    steepest = np.linalg.norm(slope - slope.mean())
    if steepest == 0.0:
        return state.scale, state.step_size
    # The very first step moves the scales by a tenth of the budget; later ones try twice the last.
    step = 0.1 * budget / steepest if math.isinf(state.step_size) else 2 * state.step_size
    first = project_simplex(state.scale[usable] - step * slope, budget)
    working = (state.scale[usable] > 0) | (first > 0)
    columns = usable[working]

    x = y = state.scale[columns]
    value_x = value_y = value
    slope_y = slope[working]
    momentum = 1.0
    for inner in range(max_inner):
        if inner:
            value_y, slope_y = gradient(y, columns)
        while True:
            p = project_simplex(y - step * slope_y, budget)
            move = p - y
            value_p = evaluate(p, columns)
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
    scale[columns] = x
    return scale, step
