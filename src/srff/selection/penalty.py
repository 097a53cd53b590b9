"""The penalty that validates best at given frequencies: a choice that needs no descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srff.core.coefficients import Coefficients, Evaluation, Waves, solver_of, training_loss
from srff.core.engine import Engine
from srff.core.losses import Loss, Squared


@dataclass(frozen=True)
class Penalised:
    """The coefficients at a penalty, and their mean loss on the validation rows."""

    alpha: float
    found: Evaluation
    error: float


def at_penalties(
    engine: Engine,
    validation: Engine,
    waves: Waves,
    alphas: np.ndarray,
    loss: Loss,
    near: Coefficients,
) -> list[Penalised]:
    """The coefficients at falling penalties."""
    solver = solver_of(loss)
    if isinstance(loss, Squared):
        # A Cholesky factor for each of a few alphas: cheaper than the eigenvalues of many.
        S = engine.statistics(*waves, loss)
        found = [training_loss(S, float(alpha)) for alpha in alphas]
    else:
        found = solver.path(engine, waves, alphas, near)
    errors = solver.errors(validation, waves, [(e.coef, e.constant) for e in found])
    return [Penalised(*each) for each in zip(alphas.tolist(), found, errors, strict=True)]


def best_penalty(
    engine: Engine,
    validation: Engine,
    waves: Waves,
    alphas: np.ndarray,
    loss: Loss,
    near: Coefficients,
) -> tuple[float, Evaluation, float]:
    """Of falling penalties the one of the lowest validation error, with its coefficients."""
    each = at_penalties(engine, validation, waves, alphas, loss, near)
    best = min(each, key=lambda p: p.error)
    return best.alpha, best.found, best.error
