"""Which of two candidates is better: paired tests of their losses on the validation rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from srff.core.candidate import Candidate, constant_candidate
from srff.core.engine import Engine
from srff.selection.penalty import best_penalty
from srff.selection.search import Search


def significantly_worse(
    validation: Engine, first: Candidate, second: Candidate, level: float, fewest_rows: int
) -> bool:
    """Whether ``first`` has larger losses than ``second``: paired, one-sided t tests.

    Of the losses of the rows, such as squared errors, and of their roots, which a few large ones do
    not drown; either may find a difference, each at half the level.
    """
    if validation.n < fewest_rows:
        return False
    mean, error = validation.difference(second.loss, first.expansion(), second.expansion())
    limit = stats.t.isf(level / 2, max(validation.n - 1, 1.0))
    return bool(np.any(mean > limit * error))


class Judge:
    """Compares candidates by the loss of the problem on the validation rows.

    Candidates of the search were learned by its quadratic loss.  Where that is not the problem's
    own, each is judged with the coefficients of the problem's loss at the same frequencies, and the
    penalty that suits that loss.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._solved: dict[int, tuple[Candidate, Candidate]] = {}

    def with_own_loss(self, candidate: Candidate) -> Candidate:
        """The candidate with the problem's loss."""
        if candidate.loss is self._search.problem.loss:
            return candidate
        if id(candidate) not in self._solved:
            # With the candidate itself, so that no other can have its id.
            self._solved[id(candidate)] = candidate, self._solve(candidate)
        return self._solved[id(candidate)][1]

    def _solve(self, candidate: Candidate) -> Candidate:
        search, problem = self._search, self._search.problem
        (m,) = candidate.members
        if not candidate.columns.size:
            c = problem.constant.c
            return constant_candidate(candidate.transform, search.validation, problem.loss, c)
        alpha, e, error = best_penalty(
            search.engine,
            search.validation,
            (m.W, m.b, candidate.columns),
            search.alphas(m.alpha * problem.unit, search.config.judged_alphas),
            problem.loss,
            problem.at_constant(m.b.size),
        )
        member = replace(m, alpha=alpha, coef=e.coef, constant=e.constant)
        return replace(candidate, members=(member,), loss=problem.loss, validation_error=error)

    def error(self, candidate: Candidate) -> float:
        """The validation error by the problem's loss."""
        return self.with_own_loss(candidate).validation_error

    def best(self, candidates: list[Candidate]) -> Candidate:
        """The candidate of the lowest loss, the first of equals."""
        return min(candidates, key=self.error)

    def worse(self, first: Candidate, second: Candidate, level: float | None = None) -> bool:
        """Whether ``first`` is significantly worse than ``second``."""
        config = self._search.config
        return significantly_worse(
            self._search.validation,
            self.with_own_loss(first),
            self.with_own_loss(second),
            config.keep_level if level is None else level,
            config.fewest_rows,
        )

    def smallest(self, candidates: list[Candidate]) -> Candidate:
        """The smallest not significantly worse than the best; of equals the better one."""
        best = self.best(candidates)
        for candidate in sorted(candidates, key=lambda c: (self._search.size(c), self.error(c))):
            if candidate is best or not self.worse(candidate, best):
                return candidate
        return best
