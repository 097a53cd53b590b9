"""Descent over the frequencies, with the coefficients solved for at every point.

``min over p of V(W(p), b(p))``, an objective of :mod:`srff.core.objectives` at a parametrisation of
the frequencies, by L-BFGS; and the loop of every method that goes from state to state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from scipy import optimize

from srff.core.coefficients import LARGEST_ALPHA, SMALLEST_ALPHA, Coefficients, Evaluation
from srff.core.engine import Engine
from srff.core.objectives import Objective
from srff.core.parametrisations import Frequencies

HISTORY = 20
"""Pairs of steps and slopes that L-BFGS remembers."""


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, the objective at each evaluation, and what was found at the end."""

    point: Frequencies
    objective: tuple[float, ...]
    found: Evaluation = field(repr=False)
    alpha: float
    """The penalty at the end."""


def descend(
    engine: Engine,
    objective: Objective,
    point: Frequencies,
    columns: np.ndarray,
    *,
    near: Coefficients,
    max_iter: int,
    tol: float,
    tick: Callable[[], None] = lambda: None,
    at_alpha: Callable[[float], Objective] | None = None,
) -> Descent:
    """L-BFGS from ``point``; stops when the objective's relative decrease is below ``tol``.

    ``columns`` are those that the rows of ``W`` belong to, ``near`` coefficients to solve from at
    the first point; each further solve begins at the last one's.  ``tick`` is called at each
    evaluation.
    With ``at_alpha``, which makes the objective of a penalty, ``log alpha`` is one more coordinate.
    """
    values: list[float] = []
    last: tuple[np.ndarray, Evaluation] | None = None

    def at(vector: np.ndarray) -> tuple[Frequencies, Objective]:
        if at_alpha is None:
            return point.at(vector), objective
        return point.at(vector[:-1]), at_alpha(float(np.exp(vector[-1])))

    def evaluate(there: Frequencies, goal: Objective) -> Evaluation:
        begin = near if last is None else (last[1].coef, last[1].constant)
        return goal.evaluate(engine, there.W, there.b, columns, begin)

    def value(vector: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal last
        tick()
        there, goal = at(vector)
        e = evaluate(there, goal)
        last = vector.copy(), e
        values.append(e.value)
        slope = there.chain(*goal.slopes(engine, e, there.W, there.b, columns))
        return e.value, slope if at_alpha is None else np.append(slope, e.alpha_slope)

    first = point.vector()
    bounds = None
    if at_alpha is not None:
        # A line search that tries any penalty ends in numbers that are none.
        ends = np.log(SMALLEST_ALPHA), np.log(max(LARGEST_ALPHA, objective.alpha))
        bounds = [(None, None)] * first.size + [ends]
        first = np.append(first, np.log(objective.alpha))
    result = optimize.minimize(
        value,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": max_iter, "maxcor": HISTORY, "ftol": tol, "gtol": 1e-9},
    )
    there, goal = at(result.x)
    # The end is the last point that was evaluated, but for a line search that failed.
    if last is not None and np.array_equal(last[0], result.x):
        return Descent(there, tuple(values), last[1], goal.alpha)
    return Descent(there, tuple(values), evaluate(there, goal), goal.alpha)


class State(Protocol):
    """Where an iterative method stands."""

    @property
    def n_iter(self) -> int:
        """Iterations done."""

    @property
    def converged(self) -> bool:
        """Whether there is nothing left to gain."""


AnyState = TypeVar("AnyState", bound=State)


def iterations(
    advance: Callable[[AnyState], AnyState], state: AnyState, max_iter: int
) -> Iterator[AnyState]:
    """The states after ``state``, to convergence or ``max_iter`` iterations in all."""
    while not state.converged and state.n_iter < max_iter:
        following = advance(state)
        if following.n_iter == state.n_iter:  # no step was found
            return
        state = following
        yield state
