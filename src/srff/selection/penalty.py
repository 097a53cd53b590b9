"""The penalty that validates best at given frequencies: a choice that needs no descent."""

from __future__ import annotations

import numpy as np

from srff.core.coefficients import Coefficients, Evaluation, Waves, solver_of, training_loss
from srff.core.engine import Engine
from srff.core.losses import Loss, Squared


def best_penalty(
    engine: Engine,
    validation: Engine,
    waves: Waves,
    alphas: np.ndarray,
    loss: Loss,
    near: Coefficients,
) -> tuple[float, Evaluation, float]:
    """Of falling penalties the one of the lowest validation error, with its coefficients."""
    solver = solver_of(loss)
    if isinstance(loss, Squared):
        # A Cholesky factor for each of a few alphas: cheaper than the eigenvalues of many.
        S = engine.statistics(*waves, loss)
        found = [training_loss(S, float(alpha)) for alpha in alphas]
    else:
        found = solver.path(engine, waves, alphas, near)
    errors = solver.errors(validation, waves, [(e.coef, e.constant) for e in found])
    i = int(np.argmin(errors))
    return float(alphas[i]), found[i], errors[i]
