"""Descents in all folds at once, down the same penalties: all are chosen on all rows held out.

A penalty that each fold chose for itself, on few rows, would fit those rows; the loss pooled over
folds would be too good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from srff.core.candidate import Candidate
from srff.selection.descents import Start, descend_penalties
from srff.selection.panel import Folds, Panel, best_panel, panel_of, side_by_side
from srff.selection.search import Effort, Search


@dataclass(frozen=True)
class Descent:
    """Where the candidate of a fold begins, and the falling penalties before it."""

    start: Start
    alphas: np.ndarray

    def at(self, number: int, search: Search, effort: Effort) -> Candidate:
        """The candidate at one of the penalties."""
        loss, alpha = search.problem.search_loss, self.alphas[number : number + 1]
        return descend_penalties(search, self.start, alpha, loss, effort=effort)

    def after(self, candidate: Candidate) -> Descent:
        """Where the next penalty goes on from."""
        assert candidate.point is not None
        on = replace(self.start, point=candidate.point, near=candidate.coefficients)
        return replace(self, start=on)


@dataclass(frozen=True)
class Line:
    """A descent in every fold, or a candidate that stays as it is; and the panels made so far."""

    folds: Folds
    each: tuple[Descent | Candidate, ...]
    key: tuple[str, str] = ("", "")
    """Family and kind of the start."""
    made: tuple[Panel, ...] = ()
    running: bool = True
    patient: bool = False
    """Whether it sees some penalties before it may drop out."""

    @property
    def best(self) -> Panel:
        """The panel of the lowest error."""
        return best_panel(self.made)

    @property
    def number(self) -> int:
        """The place of its penalty."""
        return int(np.argmin([panel.error for panel in self.made]))

    @property
    def waits(self) -> bool:
        """Whether it is too early for it to drop out."""
        return self.patient and len(self.made) < self.folds[0].config.screened_rounds

    def tasks(self, effort: Effort) -> list[Callable[[], Candidate]]:
        """The descents at the next penalty."""
        number = len(self.made)
        return [
            partial(_same, d) if isinstance(d, Candidate) else partial(d.at, number, search, effort)
            for d, search in zip(self.each, self.folds, strict=True)
        ]

    def after(self, candidates: Sequence[Candidate]) -> Line:
        """The line after these; it ends when the error has risen, or with the last penalty."""
        panel = panel_of(self.folds, candidates)
        each = tuple(
            d if isinstance(d, Candidate) else d.after(c)
            for d, c in zip(self.each, candidates, strict=True)
        )
        made = (*self.made, panel)
        left = [d.alphas.size > len(made) for d in self.each if isinstance(d, Descent)]
        on = any(left) and all(left) and best_panel(made) is panel
        return replace(self, each=each, made=made, running=on)


def run(lines: list[Line], *, limit: float = inf, anew: bool = False) -> list[Line]:
    """All lines against each other, a round for each penalty.

    A line drops out when its error is more than ``limit`` times the best of all; a patient one
    later.  Lines that begin anew take twice the iterations of those that go on from what was
    learned.
    """
    every = tuple(search for line in lines for search in line.folds)
    log, effort = every[0].log, every[0].effort
    effort = effort if anew else effort.half()
    while any(line.running for line in lines):
        tasks = [line.tasks(effort) if line.running else [] for line in lines]
        made = iter(side_by_side(every, [task for each in tasks for task in each]))
        lines = [
            line.after([next(made) for _ in of_line]) if of_line else line
            for line, of_line in zip(lines, tasks, strict=True)
        ]
        log.add(*[line.made[-1].row() for line, t in zip(lines, tasks, strict=True) if t])
        best = min(line.best.error for line in lines)
        lines = [
            line if line.waits or line.best.error <= limit * best else replace(line, running=False)
            for line in lines
        ]
    return lines


def _same(candidate: Candidate) -> Candidate:
    return candidate
