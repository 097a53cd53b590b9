"""Which of two models is better: paired tests of their losses on the validation rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from srff.core.candidate import Candidate, validated, constant_candidate
from srff.core.engine import Engine
from srff.core.groups import Groups
from srff.core.objectives import SMALLEST_ALPHA, TrainingLoss
from srff.data.problem import Problem, ScaledData

FEWEST = 5
"""Validation rows below which nothing is significant."""

KEEP_LEVEL = 0.05
"""Level of the paired test by which a variable must be missed to be kept."""


def significantly_worse(
    validation: Engine, first: Candidate, second: Candidate, level: float = KEEP_LEVEL
) -> bool:
    """Whether ``first`` has larger losses than ``second``: paired, one-sided t tests.

    Of the losses of the rows, such as squared errors, and of their roots, which a few large ones do
    not drown; either may find a difference, each at half the level.
    """
    if validation.n < FEWEST:
        return False
    mean, error = validation.difference(second.loss, first.prediction(), second.prediction())
    limit = stats.t.isf(level / 2, max(validation.n - 1, 1.0))
    return bool(np.any(mean > limit * error))


class Judge:
    """Compares models by the loss of the problem on the validation rows.

    Models of the search were learned by its quadratic loss.  Where that is not the problem's own,
    each is judged by its twin: the same frequencies with the coefficients of the problem's loss.
    """

    def __init__(self, problem: Problem, data: ScaledData, engine: Engine) -> None:
        assert data.validation is not None
        self._problem, self._engine, self._validation = problem, engine, data.validation
        self._twins: dict[int, tuple[Candidate, Candidate]] = {}

    def twin(self, model: Candidate) -> Candidate:
        """The model with the problem's loss."""
        if model.loss is self._problem.loss:
            return model
        if id(model) not in self._twins:
            # With the model itself, so that no other can have its id.
            self._twins[id(model)] = model, self._solved(model)
        return self._twins[id(model)][1]

    def _solved(self, model: Candidate) -> Candidate:
        problem = self._problem
        (m,) = model.members
        if not model.columns.size:
            name, c = model.transform, problem.constant.c
            return constant_candidate(name, self._validation, problem.loss, c)
        alpha = max(m.alpha * problem.unit, SMALLEST_ALPHA)
        goal = TrainingLoss(alpha, problem.loss)
        e = goal.evaluate(self._engine, m.W, m.b, model.columns, problem.start(m.b))
        member = replace(m, alpha=alpha, coef=e.coef, constant=e.constant)
        twin = replace(model, members=(member,), loss=problem.loss)
        return validated(twin, self._validation)

    def best(self, models: list[Candidate]) -> Candidate:
        """The model of the lowest loss, the first of equals."""
        return min(models, key=lambda m: self.twin(m).validation_error)

    def worse(self, first: Candidate, second: Candidate, level: float = KEEP_LEVEL) -> bool:
        """Whether ``first`` is significantly worse than ``second``."""
        return significantly_worse(self._validation, self.twin(first), self.twin(second), level)

    def smallest(self, candidates: list[Candidate], groups: Groups) -> Candidate:
        """The smallest model not significantly worse than the best; of equals the better one."""
        best = self.best(candidates)
        for model in sorted(
            candidates, key=lambda m: (groups.count(m.columns), self.twin(m).validation_error)
        ):
            if model is best or not self.worse(model, best):
                return model
        return best
