"""Descent over the frequencies with the coefficients eliminated: each point is solved exactly.

An objective of :mod:`srff.core.objectives` is a function of ``W`` and ``b`` alone; its value takes
a pass over the rows for the statistics, its gradient one more for the pull-back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from srff._utils.checkpoint import NO_CHECKPOINT, Checkpoint
from srff.core.engine import Engine
from srff.core.groups import Groups, each_column, first_of_each, shared
from srff.core.objectives import Evaluation, Objective, Coefficients
from srff.core.simplex import project_simplex

MEMORY = 5
"""A spectral step need only improve on the worst of so many values before it."""

SHORTEST = 1e-3
"""Where the line search gives up, as a share of the full step."""


@dataclass(frozen=True)
class ScaleState:
    """Scales on the simplex on their way down: small, and the objective with them."""

    scale: np.ndarray
    objective: tuple[float, ...]
    converged: bool = False

    @property
    def n_iter(self) -> int:
        """Iterations done."""
        return len(self.objective) - 1


def descend_scales(
    engine: Engine,
    objective: Objective,
    E: np.ndarray,
    b: np.ndarray,
    scale: np.ndarray,
    *,
    start: Coefficients,
    groups: Groups,
    max_iter: int,
    tol: float,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Iterator[ScaleState]:
    """Spectral projected gradient on the simplex of ``scale``'s sum, one state an iteration.

    The step is Barzilai and Borwein's; a step is shortened until it improves on the worst of the
    last few values.  Rows of zeros in ``E`` are columns that do not vary.  The columns of a unit
    have one scale, which counts once.
    """
    usable = np.flatnonzero(E.any(axis=1))
    unit = groups.positions(usable)
    x = first_of_each(scale[usable], unit)
    budget = float(x.sum())
    latest = start

    def evaluate(x: np.ndarray) -> Evaluation:
        nonlocal latest
        gamma = each_column(x, unit)
        used = gamma > 0
        W = gamma[used, None] * E[usable[used]]
        e = objective.evaluate(engine, W, b, usable[used], latest)
        latest = e.coef, e.constant
        return e

    def gradient(x: np.ndarray, e: Evaluation) -> np.ndarray:
        W = each_column(x, unit)[:, None] * E[usable]
        dW, _ = objective.slopes(engine, e, W, b, usable)
        return shared(np.sum(dW * E[usable], axis=1), unit)

    def near() -> dict[str, np.ndarray]:
        """Where the next solve starts: part of a step, so that a fit goes on to the same bits."""
        return {"coef": latest[0], "constant": latest[1]}

    def begun(x: np.ndarray) -> dict[str, Any]:
        e = evaluate(x)
        return {"value": e.value, "slope": gradient(x, e), **near()}

    def advanced(
        x: np.ndarray, slope: np.ndarray, step: float, values: tuple[float, ...]
    ) -> dict[str, Any]:
        """One iteration; nothing if no step lowers the objective."""
        direction = project_simplex(x - step * slope, budget) - x
        decrease = float(direction @ slope)
        length = 1.0
        while True:
            trial = x + length * direction
            trial[trial < 1e-12 * budget] = 0.0
            e = evaluate(trial)
            if e.value <= max(values[-MEMORY:]) + 1e-4 * length * decrease:
                break
            length /= 3
            if length < SHORTEST:
                return {}
        following = gradient(trial, e)
        move, change = trial - x, following - slope
        curvature = float(move @ change)
        return {
            "x": trial,
            "slope": following,
            "value": e.value,
            "step": float(move @ move) / curvature if curvature > 0 else 2 * step,
            "done": abs(decrease) <= tol * max(abs(e.value), tol),
            **near(),
        }

    found = checkpoint.step("start on the simplex", engine, partial(begun, x))
    slope, latest = found["slope"], (found["coef"], found["constant"])
    steepest = float(np.linalg.norm(slope - slope.mean()))
    if steepest == 0.0:
        return
    step = 0.1 * budget / steepest
    values: tuple[float, ...] = (float(found["value"]),)
    for number in range(max_iter):
        work = partial(advanced, x, slope, step, values)
        found = checkpoint.step(f"iteration {number + 1} on the simplex", engine, work)
        if "x" not in found:
            return
        x, slope, step = found["x"], found["slope"], float(found["step"])
        latest = found["coef"], found["constant"]
        values = (*values, float(found["value"]))
        full = np.zeros_like(scale)
        full[usable] = each_column(x, unit)
        yield ScaleState(full, values, bool(found["done"]))
        if found["done"]:
            return
