"""All starts against each other: a round for each penalty, from which those far behind drop out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from srff.core.candidate import Candidate, best_of
from srff.selection.descents import Start, descend_penalties
from srff.selection.search import Search, together
from srff.selection.starts import first_alphas, starts


@dataclass(frozen=True)
class Runner:
    """A start where it stands, the penalties before it, and what it has made so far."""

    search: Search
    start: Start
    alphas: np.ndarray
    made: tuple[Candidate, ...] = ()

    @property
    def best(self) -> Candidate:
        """The candidate that validates best."""
        return best_of(list(self.made))

    def descend(self) -> Candidate:
        """The candidate at the next penalty."""
        loss = self.search.problem.search_loss
        return descend_penalties(self.search, self.start, self.alphas[:1], loss)

    def after(self, candidate: Candidate) -> Runner:
        """The runner at the end of a descent; out of the race if its validation error has risen."""
        assert candidate.point is not None
        start = replace(self.start, point=candidate.point, near=candidate.coefficients)
        on = Runner(self.search, start, self.alphas[1:], (*self.made, candidate))
        return on if on.best is candidate else on.out()

    def out(self) -> Runner:
        """The runner with no penalty before it."""
        return replace(self, alphas=self.alphas[:0])


def race(searches: list[Search]) -> list[Runner]:
    """The starts of every scaling of the inputs, in their order, when all have run."""
    problem, log, limit = searches[0].problem, searches[0].log, searches[0].config.runner_error
    log.stage("start")
    engines = [search.engine for search in searches]
    runners = [Runner(s, start, first_alphas(s, start)) for s in searches for start in starts(s)]
    rounds = max(runner.alphas.size for runner in runners)
    for number in range(rounds):
        log.stage("start", number, rounds)
        running = [k for k, runner in enumerate(runners) if runner.alphas.size]
        made = together(problem, engines, [runners[k].descend for k in running])
        for k, candidate in zip(running, made, strict=True):
            runners[k] = runners[k].after(candidate)
        log.add(*made)
        error = min(runner.best.validation_error for runner in runners)
        runners = [r if r.best.validation_error <= limit * error else r.out() for r in runners]
    return runners
