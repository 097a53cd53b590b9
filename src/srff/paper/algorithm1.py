"""Algorithm 1 of the paper, the solver in use: alternate between the coefficients and the scales.

Minimises, over coefficients ``a`` and scales ``gamma`` on the simplex of size ``budget``::

    J(a, gamma) = ||y - Z a||^2 / n + alpha ||a||^2,   Z = sqrt(2/D) cos(X diag(gamma) E + b)

or the mean of another loss in place of the squared one.  Step 1 solves for ``a`` exactly; Step 2
takes projected gradient steps with FISTA's extrapolation and backtracking on the first term at that
``a``.  Neither ever raises J.  :mod:`srff.paper.reference` is the same in plain NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from srff.core.coefficients import Coefficients, solver_of
from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.groups import Groups, each_column, first_of_each, shared
from srff.core.losses import Loss
from srff.core.objectives import TrainingLoss
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


@dataclass(frozen=True)
class Algorithm1:
    """The iteration: :meth:`first` is Step 1 at given scales, :meth:`advance` Step 2 and Step 1.

    Rows of zeros in ``E`` (d x D) are columns that do not vary.  The columns of a group have one
    scale, which counts once.
    """

    engine: Engine
    loss: Loss
    E: np.ndarray
    b: np.ndarray
    groups: Groups
    tol: float
    inner_steps: int = INNER_STEPS

    def first(
        self, scale: np.ndarray, alphas: np.ndarray, near: Coefficients
    ) -> list[AlternatingState]:
        """Step 1 at the same scales for several alphas."""
        columns = np.flatnonzero(scale)
        W = scale[columns, None] * self.E[columns]
        found = solver_of(self.loss).path(self.engine, (W, self.b, columns), alphas, near)
        return [
            AlternatingState(scale, e.coef, e.constant, float(alpha), (e.value,), e.training_error)
            for e, alpha in zip(found, alphas, strict=True)
        ]

    def advance(self, state: AlternatingState) -> AlternatingState:
        """One outer iteration: Step 2 from ``state``, then Step 1."""
        scale, step_size = self._step2(state)
        columns = np.flatnonzero(scale)
        W, near = scale[columns, None] * self.E[columns], (state.coef, state.constant)
        e = TrainingLoss(state.alpha, self.loss).evaluate(self.engine, W, self.b, columns, near)
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
            converged=previous - objective <= self.tol * previous,
        )

    def _step2(self, state: AlternatingState) -> tuple[np.ndarray, float]:
        """The scales after a few steps on the mean loss ``F(gamma)`` at fixed ``a``.

        The first gradient is taken in all columns; after it only those that are in use, or that the
        first step brings in, are touched: the others would stay at zero.
        """
        usable = np.flatnonzero(self.E.any(axis=1))
        everywhere = _MeanLoss(self, state, usable)
        old = first_of_each(state.scale[usable], everywhere.group)
        budget = float(old.sum())
        value, slope = everywhere.gradient(old)
        steepest = float(np.linalg.norm(slope - slope.mean()))
        if steepest == 0.0:
            return state.scale, state.step_size
        # The very first step moves the scales by a tenth of the budget; later ones try twice
        # the last.
        step = 0.1 * budget / steepest if math.isinf(state.step_size) else 2 * state.step_size
        working = (old > 0) | (project_simplex(old - step * slope, budget) > 0)
        there = _MeanLoss(self, state, usable[each_column(working, everywhere.group)])
        shortest = 1e-12 * budget / steepest
        x, step = _fista(
            there, old[working], (value, slope[working]), budget, step, shortest, self.inner_steps
        )
        scale = np.zeros_like(state.scale)
        scale[there.columns] = each_column(x, there.group)
        return scale, step


class _MeanLoss:
    """``F(gamma)``, the mean loss at fixed coefficients, over the scales of some columns."""

    def __init__(self, algorithm: Algorithm1, state: AlternatingState, columns: np.ndarray) -> None:
        self.columns, self.group = columns, algorithm.groups.positions(columns)
        self._engine, self._loss, self._b = algorithm.engine, algorithm.loss, algorithm.b
        self._E, self._coefficients = algorithm.E[columns], (state.coef, state.constant)

    def value(self, x: np.ndarray) -> float:
        gamma = each_column(x, self.group)
        used = gamma != 0
        W = gamma[used, None] * self._E[used]
        model = Expansion(self.columns[used], W, self._b, *self._coefficients)
        return self._engine.loss(self._loss, model)

    def gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and ``dF/dgamma_s = sum_j (dW * E)_sj``, equation (GammaGrad)."""
        W = each_column(x, self.group)[:, None] * self._E
        model = Expansion(self.columns, W, self._b, *self._coefficients)
        value, dW, _ = self._engine.loss_pull_back(self._loss, model)
        return value, shared(np.sum(dW * self._E, axis=1), self.group)


def _fista(
    F: _MeanLoss,
    x: np.ndarray,
    first: tuple[float, np.ndarray],
    budget: float,
    step: float,
    shortest: float,
    n_steps: int,
) -> tuple[np.ndarray, float]:
    """FISTA with backtracking on the simplex from ``x``, and the step's length at the end.

    ``first`` are value and gradient at ``x``.  Monotone: a step that would raise F is dropped and
    the extrapolation starts again.
    """
    y, (value_y, slope_y) = x, first
    value_x, momentum = value_y, 1.0
    for inner in range(n_steps):
        if inner:
            value_y, slope_y = F.gradient(y)
        while True:
            p = project_simplex(y - step * slope_y, budget)
            move = p - y
            value_p = F.value(p)
            bound = value_y + slope_y @ move + move @ move / (2 * step)
            if value_p <= bound or step < shortest:
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
    return x, step
