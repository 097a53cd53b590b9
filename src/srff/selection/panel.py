"""A candidate in each fold, made in the same way: what choices are made among.

Each learned without the rows of its fold, so that the losses of all, each on its own fold, are
losses of rows that were not learned from.  Without folds a panel is one candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from srff.core.candidate import Candidate, constant_candidate
from srff.selection.search import Search, together

Result = TypeVar("Result")

Folds = tuple[Search, ...]
"""The search in each fold; the first one's is that of the last model."""


@dataclass(frozen=True)
class Panel:
    """The candidates of the folds in their order, and the mean loss on all rows held out."""

    each: tuple[Candidate, ...]
    error: float

    def row(self) -> Candidate:
        """What is told of it: the first candidate, with the error of all."""
        return replace(self.each[0], validation_error=self.error)


def panel_of(folds: Folds, each: Sequence[Candidate]) -> Panel:
    """A panel of candidates that were validated on their folds."""
    return Panel(tuple(each), pooled(folds, [c.validation_error for c in each]))


def pooled(folds: Folds, means: Sequence[float]) -> float:
    """The mean over all rows held out from those of the folds."""
    return float(np.average(means, weights=[search.validation.n for search in folds]))


def size_of(folds: Folds, panel: Panel) -> int:
    """The number of groups of the largest."""
    return max(search.size(c) for search, c in zip(folds, panel.each, strict=True))


def best_panel(panels: Sequence[Panel]) -> Panel:
    """The panel of the lowest error, the first of equals."""
    return min(panels, key=lambda panel: panel.error)


def nothing(search: Search) -> Candidate:
    """The best constant of the search's targets, which is zero."""
    loss, zero = search.problem.search_loss, np.zeros(search.problem.constant.c.size)
    return constant_candidate(search.scaling, search.validation, loss, zero)


def in_each(
    folds: Folds, panel: Panel, step: Callable[[Search, Candidate], Result]
) -> list[Result]:
    """What a step makes of the candidate of each fold, side by side."""
    pairs = zip(folds, panel.each, strict=True)
    return side_by_side(folds, [partial(step, search, candidate) for search, candidate in pairs])


def side_by_side(folds: Folds, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Results of tasks that work on the rows of the search, in the order of the tasks."""
    return together(folds[0].problem, [search.engine for search in folds], tasks)


@dataclass(frozen=True)
class Untouched:
    """Panels that no held-out row has had a part in, and the folds that they are of.

    Neither which variables they have nor how they were learned was chosen by rows of these folds,
    so that under independence their losses are those of chance.
    """

    folds: Folds
    panels: tuple[Panel, ...]
    n_folds: int
    """How many there are in all."""

    @property
    def spread(self) -> float:
        """How much more gains vary by chance than shuffles show.

        With ``c_k`` what inputs and targets of fold k have in common by chance, the gain is the
        sum over folds k of ``c_k' sum_{j != k} c_j``: every pair of folds stands in it twice, each
        learning from the other.  A shuffle takes ``c_k`` anew and leaves the models, so that pairs
        are two numbers.  Of m folds out of K the variances are as ``m + K - 2`` to ``K - 1``.
        """
        m, K = len(self.folds), self.n_folds
        return float(np.sqrt((m + K - 2) / (K - 1))) if K > 1 else 1.0

    def of(self, folds: Folds, panels: Sequence[Panel]) -> Untouched:
        """With more panels of all folds, those of fewer folds if these have fewer."""
        left_out = len(folds) - len(self.folds)
        more = [panel_of(self.folds, panel.each[left_out:]) for panel in panels]
        return replace(self, panels=(*self.panels, *more))
