"""Projected descent of the scales on the simplex, with the coefficients eliminated.

Over ``gamma >= 0, sum gamma = budget`` an objective ``V(gamma)`` of :mod:`srff.core.objectives` at
``W = diag(gamma) E`` goes down by spectral projected gradient steps::

    d = P(gamma - t grad V) - gamma,    gamma <- gamma + l d

``P`` is the projection on the simplex, ``t`` Barzilai and Borwein's step, and the length ``l`` is
cut until the value improves on the worst of the last few.  A value takes a pass over the rows for
the statistics, a gradient one more for the pull-back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from srff.core.coefficients import Coefficients, Evaluation
from srff.core.engine import Engine
from srff.core.groups import Groups, each_column, first_of_each, shared
from srff.core.objectives import Objective
from srff.core.simplex import project_simplex

MEMORY = 5
"""A spectral step need only improve on the worst of so many values before it."""

SHORTEST = 1e-3
"""Where the line search gives up, as a share of the full step."""


@dataclass(frozen=True)
class SimplexState:
    """Scales on the simplex on their way down: small, and all that is needed to go on.

    ``slope`` has a number for each group that varies, ``step`` is the next one's length, and the
    coefficients are where the next solve begins.
    """

    budget: float
    scale: np.ndarray
    slope: np.ndarray
    step: float
    coef: np.ndarray
    constant: np.ndarray
    objective: tuple[float, ...]
    converged: bool = False

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return len(self.objective) - 1


class SimplexDescent:
    """The iteration: :meth:`first` makes a state of given scales, :meth:`advance` the next one.

    Rows of zeros in ``E`` are columns that do not vary.  The columns of a group have one scale,
    which counts once.
    """

    def __init__(
        self,
        engine: Engine,
        objective: Objective,
        E: np.ndarray,
        b: np.ndarray,
        groups: Groups,
        tol: float,
    ) -> None:
        self._engine, self._objective = engine, objective
        self._b, self._tol = b, tol
        self._usable = np.flatnonzero(E.any(axis=1))
        self._E, self._group = E[self._usable], groups.positions(self._usable)

    def first(self, scale: np.ndarray, near: Coefficients) -> SimplexState:
        """The state at ``scale``; the first step moves the scales by a tenth of the budget."""
        x = first_of_each(scale[self._usable], self._group)
        e = self._evaluate(x, near)
        slope = self._slope(x, e)
        steepest = float(np.linalg.norm(slope - slope.mean()))
        budget = float(x.sum())
        step = 0.1 * budget / steepest if steepest else 0.0
        end = steepest == 0.0
        return SimplexState(budget, scale, slope, step, e.coef, e.constant, (e.value,), end)

    def may_be_first(self, scale: np.ndarray, near: Coefficients, state: SimplexState) -> bool:
        """Whether a state that was kept has the shapes of :meth:`first` at these."""
        numbers = state.scale, state.slope, state.coef, state.constant
        slope = first_of_each(scale[self._usable], self._group)
        shapes = [array.shape for array in numbers]
        return shapes == [a.shape for a in (scale, slope, *near)] and len(state.objective) == 1

    def advance(self, state: SimplexState) -> SimplexState:
        """One iteration; the same scales, converged, if no step lowers the objective."""
        x = first_of_each(state.scale[self._usable], self._group)
        direction = project_simplex(x - state.step * state.slope, state.budget) - x
        decrease = float(direction @ state.slope)
        worst = max(state.objective[-MEMORY:])
        near, length = (state.coef, state.constant), 1.0
        while True:
            trial = x + length * direction
            trial[trial < 1e-12 * state.budget] = 0.0
            e = self._evaluate(trial, near)
            near = e.coef, e.constant
            if e.value <= worst + 1e-4 * length * decrease:
                break
            length /= 3
            if length < SHORTEST:
                return replace(state, converged=True)
        slope = self._slope(trial, e)
        move = trial - x
        curvature = float(move @ (slope - state.slope))
        scale = np.zeros_like(state.scale)
        scale[self._usable] = each_column(trial, self._group)
        return SimplexState(
            state.budget,
            scale,
            slope,
            float(move @ move) / curvature if curvature > 0 else 2 * state.step,
            e.coef,
            e.constant,
            (*state.objective, e.value),
            converged=abs(decrease) <= self._tol * max(abs(e.value), self._tol),
        )

    def _evaluate(self, x: np.ndarray, near: Coefficients) -> Evaluation:
        gamma = each_column(x, self._group)
        used = gamma > 0
        W = gamma[used, None] * self._E[used]
        return self._objective.evaluate(self._engine, W, self._b, self._usable[used], near)

    def _slope(self, x: np.ndarray, e: Evaluation) -> np.ndarray:
        """``sum_j (dW * E)_sj``, summed over the columns of a group."""
        W = each_column(x, self._group)[:, None] * self._E
        dW, _ = self._objective.slopes(self._engine, e, W, self._b, self._usable)
        return shared(np.sum(dW * self._E, axis=1), self._group)
