"""The coefficients of the chosen model, solved on every row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srff.core.candidate import Candidate
from srff.core.losses import Squared
from srff.core.objectives import TrainingLoss, ridge
from srff.data.problem import Problem


def refitted(problem: Problem, model: Candidate) -> Candidate:
    """The model with its coefficients solved on every row that may be learned from."""
    data = problem.scaled[model.transform]
    if model.kind == "mean" or (not problem.refit and model.n_rows == data.n):
        return model

    loss = model.loss

    def solves() -> dict[str, np.ndarray]:
        if isinstance(loss, Squared):
            points = [(member.W, member.b) for member in model.members]
            each = data.statistics_of_all_rows(points, model.columns, loss)
            return {
                str(number): ridge(S, member.alpha)
                for number, (S, member) in enumerate(zip(each, model.members, strict=True))
            }
        found: dict[str, np.ndarray] = {}
        for number, m in enumerate(model.members):
            e = TrainingLoss(m.alpha, loss).evaluate(
                data.everything, m.W, m.b, model.columns, (m.coef, m.constant)
            )
            found |= {str(number): e.coef, f"constant {number}": e.constant}
        return found

    coefs = problem.checkpoint.step("last solve", data.everything, solves)
    members = tuple(
        replace(m, coef=coefs[str(k)], constant=coefs.get(f"constant {k}", m.constant))
        for k, m in enumerate(model.members)
    )
    return replace(model, members=members)
