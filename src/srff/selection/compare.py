"""Which of two panels is better: paired tests of their losses on the rows held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import stats

from srff.core.candidate import Candidate, constant_candidate
from srff.selection.linear import even_lines
from srff.selection.panel import (
    Folds,
    Panel,
    Untouched,
    best_panel,
    in_each,
    nothing,
    panel_of,
    size_of,
)
from srff.selection.penalty import at_penalties
from srff.selection.search import Search


class Judge:
    """Compares panels by the loss of the problem on the rows held out.

    Candidates of the search were learned by its quadratic loss.  Where that is not the problem's
    own, each is judged with the coefficients of the problem's loss at the same frequencies, and the
    penalty that suits that loss.
    """

    def __init__(self, folds: Folds) -> None:
        self._folds, self._config = folds, folds[0].config
        self._quadratic = folds[0].problem.loss is folds[0].problem.search_loss
        self._solved: dict[int, tuple[Panel, Panel, int | None]] = {}

    def with_own_loss(self, panel: Panel) -> Panel:
        """The panel with the problem's loss; one of lines perhaps with even scales."""
        return self._solve(panel)[0]

    def even_penalty(self, panel: Panel) -> int | None:
        """The place of its penalty if it has even scales with that loss; None if it has not."""
        return self._solve(panel)[1]

    def _solve(self, panel: Panel) -> tuple[Panel, int | None]:
        """Both, once for each panel."""
        if id(panel) not in self._solved:
            solved, place = self._least_sure(self._in_each(panel, _with_own_loss)), None
            if self._may_be_even(panel):
                even = self._in_each(panel, _with_even_scales)
                best = min(range(len(even)), key=lambda k: even[k].error)
                if even[best].error < solved.error:
                    solved, place = even[best], best
            # With the panel itself, so that no other can have its id.
            self._solved[id(panel)] = panel, solved, place
        return self._solved[id(panel)][1:]

    def like(self, own: Panel, panel: Panel) -> Panel:
        """A panel with the problem's loss, with even scales and the penalty if ``own`` has them.

        Whether, and which penalty, is decided on columns that the rows held out have had no part in
        choosing: among thousands, others take any penalty for too large.
        """
        place = self.even_penalty(own)
        if place is None:
            return self._least_sure(self._in_each(panel, _with_own_loss))
        return self._in_each(panel, _with_even_scales)[place]

    def _in_each(
        self, panel: Panel, step: Callable[[Search, Candidate], list[Candidate]]
    ) -> list[Panel]:
        """Panels at falling penalties, one for all folds by its place; a constant has but one."""
        each = in_each(self._folds, panel, step)
        return [
            panel_of(self._folds, [candidates[min(k, len(candidates) - 1)] for candidates in each])
            for k in range(max(map(len, each)))
        ]

    def _may_be_even(self, panel: Panel) -> bool:
        """Whether these are lines of few rows, by a loss that is not the search's."""
        lines = all(c.kind in ("linear", "mean") for c in panel.each)
        some = any(c.columns.size for c in panel.each)
        few = self._folds[0].problem.n_rows < self._config.curve_rows
        return not self._quadratic and few and lines and some

    def _least_sure(self, panels: list[Panel]) -> Panel:
        """Of falling penalties the largest that is not worse than the best by a standard error.

        A log loss hardly tells penalties apart on few rows, and a model that is too sure costs
        more than one that is not sure enough.
        """
        best = best_panel(panels)
        for panel in panels:
            mean, error = rise(self._folds, panel, best)
            if panel is best or mean[0] <= self._config.least_sure * error[0]:
                return panel
        return best

    def error(self, panel: Panel) -> float:
        """The mean of the problem's loss."""
        return self.with_own_loss(panel).error

    def first_error(self, panel: Panel) -> float:
        """The same on the rows of the first fold."""
        return self.with_own_loss(panel).each[0].validation_error

    def best(self, panels: Sequence[Panel]) -> Panel:
        """The panel of the lowest loss, the first of equals."""
        return min(self.hopeful(panels), key=self.error)

    def hopeful(self, panels: Sequence[Panel]) -> list[Panel]:
        """Those not clearly worse by the loss of the search: only they are worth a solve."""
        limit = self._config.clearly_worse * best_panel(panels).error
        return [panel for panel in panels if self._quadratic or panel.error <= limit]

    def rise(self, first: Panel, second: Panel) -> tuple[np.ndarray, np.ndarray]:
        """:func:`rise` by the problem's own loss."""
        return rise(self._folds, self.with_own_loss(first), self.with_own_loss(second))

    def worse(self, first: Panel, second: Panel, level: float | None = None) -> bool:
        """Whether ``first`` is worse than ``second``: paired, one-sided t tests.

        Of the losses and of their roots; either may find a difference, each at half the level, that
        of keeping a variable unless another is given.  For keeping one a rise that is worth
        mentioning need only be hinted at: that it is not shown is no reason to drop.
        """
        n = sum(search.validation.n for search in self._folds)
        if n < self._config.fewest_rows:
            return False
        mean, error = self.rise(first, second)
        limit = stats.t.isf((level or self._folds[0].keep_level) / 2, max(n - 1, 1.0))
        if level is None and self._worth_mentioning(mean[0], second):
            limit = min(limit, self._config.hint)
        return bool(np.any(mean > limit * error))

    def _worth_mentioning(self, rise: float, panel: Panel) -> bool:
        """Whether a rise above a panel's loss is a share of it that counts though hardly shown.

        A loss that is next to nothing counts as a part of the best constant's.
        """
        share = self._folds[0].worth_mentioning
        if rise <= 0 or not np.isfinite(share):
            return False
        least = self._config.small_loss * self.error(self._constant)
        return rise > share * max(self.error(panel), least)

    @cached_property
    def _constant(self) -> Panel:
        return panel_of(self._folds, [nothing(search) for search in self._folds])

    def smallest(self, panels: Sequence[Panel]) -> Panel:
        """The smallest that is not worse than the best; of equals the better one."""
        panels = self._lines_if_few_rows(self.hopeful(panels))
        best = self.best(panels)
        for panel in sorted(panels, key=lambda p: (size_of(self._folds, p), self.error(p))):
            if panel is best or not self.worse(panel, best):
                return panel
        return best

    def _lines_if_few_rows(self, panels: list[Panel]) -> list[Panel]:
        """Of few rows the linear panels alone, unless the best of all is clearly better.

        Among many kinds of curves some fit few rows by chance; among lines fewer do.
        """
        lines = [p for p in panels if all(c.kind in ("linear", "mean") for c in p.each)]
        if self._folds[0].problem.n_rows >= self._config.curve_rows or not lines:
            return panels
        clearly = self.worse(self.best(lines), self.best(panels), self._config.curve_level)
        return panels if clearly else lines

    def expected(self, panels: Sequence[Panel], chosen: Panel) -> tuple[float, float]:
        """The mean loss on new rows of what is chosen among panels in this way; its standard error.

        For each fold the best by the rows of the others is taken: the lowest of many errors on the
        rows that chose it would be too low.  Without folds it is the error of ``chosen``.
        """
        own = [self.with_own_loss(panel) for panel in self.hopeful(panels)]
        rows = [search.validation for search in self._folds]
        n = np.array([each.n for each in rows])
        losses = n * np.array([[c.validation_error for c in panel.each] for panel in own])
        elsewhere = losses.sum(axis=1, keepdims=True) - losses
        taken = [own[k] for k in elsewhere.argmin(axis=0)]
        if n.size == 1:
            taken = [self.with_own_loss(chosen)]
        each = [panel.each[k] for k, panel in enumerate(taken)]
        mean = float(np.average([c.validation_error for c in each], weights=n))
        squares = [r.loss_squares(c.loss, c.expansion()) for r, c in zip(rows, each, strict=True)]
        variance = max(float(np.average(squares, weights=n)) - mean**2, 0.0)
        return mean, float(np.sqrt(variance / max(n.sum() - 1, 1.0)))


def rise(folds: Folds, first: Panel, second: Panel) -> tuple[np.ndarray, np.ndarray]:
    """How much larger the losses of ``first`` are, in the mean, and the standard errors.

    Two numbers each: of the losses of the rows held out, such as squared errors, and of their
    roots, which a few large ones do not drown.
    """
    pairs = zip(first.each, second.each, strict=True)
    n, total, squares = 0.0, np.zeros(2), np.zeros(2)
    for search, (one, two) in zip(folds, pairs, strict=True):
        if one is two:
            n += search.validation.n
            continue
        rows = search.validation
        mean, error = rows.difference(one.loss, one.expansion(), two.expansion())
        n, total = n + rows.n, total + rows.n * mean
        squares += rows.n * (error**2 * max(rows.n - 1, 1.0) + mean**2)
    mean = total / n
    variance = np.maximum(squares / n - mean**2, 0.0)
    return mean, np.sqrt(variance / max(n - 1, 1.0))


def chance(untouched: Untouched) -> float:
    """The p-value of panels where nothing depends on anything, by permutations.

    The largest gain of all panels is as rare as its rank among those of the shuffles.  Where there
    are more columns than rows the largest correlation of a column sees the same shuffles, and the
    rarer of the two is compared with the rarer ones of the shuffles.  Under independence the
    p-value is no more often below a level than the level says, whatever the law of the losses, and
    however many panels were tried.
    """
    search = untouched.folds[0]
    largest = [gains(untouched).max(axis=0)]
    if search.problem.usable.size > search.problem.n_rows:
        largest.append(largest_correlation(untouched.folds))
    rarest = np.min([np.mean(each >= each[:, None], axis=1) for each in largest], axis=0)
    return float(np.mean(rarest <= rarest[0]))


def gains(untouched: Untouched) -> np.ndarray:
    """How much lower the losses of panels are than with their outputs shuffled.

    The outputs of a panel are shuffled among the rows of each fold; gains are in units of how its
    shuffled losses vary, times :attr:`Untouched.spread`.  (panels, 1 + shuffles): as it is, then
    for each shuffle.  By the loss of the search.
    """
    shuffles = untouched.folds[0].config.shuffles
    losses = np.zeros((len(untouched.panels), 1 + shuffles))
    for k, search in enumerate(untouched.folds):
        models = [panel.each[k].expansion() for panel in untouched.panels]
        losses = losses + search.validation.shuffled_losses(
            search.problem.search_loss, models, (shuffles, k)
        )
    shuffled = losses[:, 1:]
    spread = np.maximum(shuffled.std(axis=1), np.finfo(float).tiny)
    gain = (shuffled.mean(axis=1)[:, None] - losses) / spread[:, None]
    gain[:, 0] /= untouched.spread
    return gain


def largest_correlation(folds: Folds) -> np.ndarray:
    """The largest of all columns' products with the targets, squared: as it is, then shuffled.

    With the shuffles of :func:`gains`.  Of few rows a column may stand out by itself where models
    of folds, which learn from each other's rows, do not.
    """
    first, config = folds[0], folds[0].config
    largest = np.zeros(1 + config.shuffles)
    usable = first.problem.usable
    for start in range(0, usable.size, config.shuffled_columns):
        columns = usable[start : start + config.shuffled_columns]
        products = sum(
            search.validation.shuffled_products(
                search.problem.search_loss, columns, (config.shuffles, k)
            )
            for k, search in enumerate(folds)
        )
        largest = np.maximum(largest, np.sum(np.square(products), axis=1).max(axis=0))
    return largest


def _with_even_scales(search: Search, candidate: Candidate) -> list[Candidate]:
    return even_lines(search, candidate.columns)


def _with_own_loss(search: Search, candidate: Candidate) -> list[Candidate]:
    """The candidate with the problem's loss, at penalties that may suit it."""
    problem = search.problem
    if candidate.loss is problem.loss:
        return [candidate]
    if not candidate.columns.size:
        c = problem.constant.c
        return [constant_candidate(candidate.transform, search.validation, problem.loss, c)]
    (m,) = candidate.members
    each = at_penalties(
        search.engine,
        search.validation,
        (m.W, m.b, candidate.columns),
        search.alphas(m.alpha * problem.unit, search.config.judged_alphas),
        problem.loss,
        problem.at_constant(m.b.size),
    )
    return [
        replace(
            candidate,
            members=(replace(m, alpha=p.alpha, coef=p.found.coef, constant=p.found.constant),),
            loss=problem.loss,
            validation_error=p.error,
        )
        for p in each
    ]
