"""From many variables to few: learn, drop the least needed, learn again.

Each round descends from where the last one ended, down a few values of alpha, and keeps the point
that validates best; then the variables that are needed least leave.  What comes back is one panel
of candidates for every size on the way.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from srff.core.candidate import Candidate
from srff.selection.compare import rise
from srff.selection.descents import without
from srff.selection.lines import Descent, Line, run
from srff.selection.panel import Folds, Panel, best_panel, side_by_side, size_of
from srff.selection.search import Search


def eliminate(folds: Folds, firsts: list[Panel]) -> list[Panel]:
    """Panels of falling size from each of ``firsts``, which are among them.

    All take one step after the other, side by side, each until it is hopeless or behind.  Where a
    number of variables is asked for, they go on to that one, hopeless or not.
    """
    search = folds[0]
    sizes = [[first] for first in firsts]
    while going := [line for line in sizes if _goes_on(folds, line, sizes)]:
        search.log.stage("elimination", len(sizes) - len(going), len(sizes))
        lines = run(smaller(folds, [line[-1] for line in going]))
        for of_line, line in zip(going, lines, strict=True):
            of_line.append(line.best)
    return [panel for line in sizes for panel in line]


def polished(folds: Folds, panel: Panel) -> Panel:
    """The panel learned on from where it stands, for longer: sizes on the way have seen little.

    A size of which much is still to be learned looks no better than one that is too small.
    """
    each = [_on(search, candidate) for search, candidate in zip(folds, panel.each, strict=True)]
    return run([Line(folds, tuple(each))], anew=True)[0].best


def _on(search: Search, candidate: Candidate) -> Descent | Candidate:
    if not candidate.columns.size:
        return candidate
    start = without(candidate, np.arange(candidate.columns.size))
    return Descent(start, search.alphas(candidate.alpha, search.config.next_alphas))


def smaller(folds: Folds, panels: list[Panel]) -> list[Line]:
    """Lines from panels without their least needed variables."""
    sizes = [max(_next_size(folds[0], size_of(folds, p)), folds[0].fewest) for p in panels]
    tasks = [
        partial(_smaller, search, candidate, size)
        for panel, size in zip(panels, sizes, strict=True)
        for search, candidate in zip(folds, panel.each, strict=True)
    ]
    made = iter(side_by_side(folds, tasks))
    return [Line(folds, tuple(next(made) for _ in folds)) for _ in panels]


def _goes_on(folds: Folds, line: list[Panel], lines: list[list[Panel]]) -> bool:
    """Whether the next smaller size of an elimination is worth a descent."""
    search = folds[0]
    if size_of(folds, line[-1]) <= search.fewest:
        return False
    if search.request.n_variables is not None:
        return True
    rivals = [panel for other in lines if other is not line for panel in other]
    return not (
        hopeless(search, line) or behind(folds, line, rivals) or outdone(folds, line[-1], rivals)
    )


def outdone(folds: Folds, panel: Panel, rivals: list[Panel]) -> bool:
    """Whether a rival of the same size or less is better beyond doubt, where few are left."""
    config, size = folds[0].config, size_of(folds, panel)
    small = [rival for rival in rivals if size_of(folds, rival) <= size <= config.one_by_one]
    if not small or panel.error <= (best := best_panel(small)).error:
        return False
    mean, error = rise(folds, panel, best)
    return bool(mean[0] > config.outdone * error[0])


def _smaller(search: Search, last: Candidate, size: int) -> Descent | Candidate:
    """On without the least needed variables; the candidate itself if it has so few."""
    if search.size(last) <= size:
        return last
    parts = search.groups.among(last.columns)
    strongest = np.argsort(-importance(search, last), kind="stable")[:size]
    start = without(last, np.sort(np.concatenate([parts[k] for k in strongest])))
    return Descent(start, search.alphas(last.alpha, search.config.next_alphas))


def _next_size(search: Search, now: int) -> int:
    """A third leave at a time, one by one where there are few."""
    if now <= search.config.one_by_one:
        return now - 1
    return min(now - 1, int(np.ceil(now * (1 - search.config.leaving_share))))


def importance(search: Search, candidate: Candidate) -> np.ndarray:
    """An order of the candidate's groups by how much they are needed: the larger, the more.

    First come those whose shuffling clearly raises the loss, by its rise: they may act slowly, with
    small frequencies.  Then the others, by their strength, how fast the model varies along them:
    where it is large, they may act in interactions of a high order that no single shuffle shows
    yet.  What must be kept comes before all.  Rows are those that are held out; with folds, those
    that the model has learned from, since a fold's own rows judge what is left in the end.
    """
    parts = search.groups.among(candidate.columns)
    strength = candidate.strength()
    strength = np.array([np.linalg.norm(strength[part]) for part in parts])
    score = strength / max(strength.max(), np.finfo(float).tiny)
    if score.size <= search.config.shuffled:
        rows = search.engine if search.problem.others else search.validation
        risen, error = rows.permutation_loss(candidate.loss, candidate.expansion(), parts)
        clear = risen > search.config.clear_rise * error
        score[clear] = 1 + risen[clear]
    first = np.array([candidate.columns[part[0]] for part in parts], dtype=np.intp)
    score[np.isin(first, search.forced)] = np.inf
    return score


def hopeless(search: Search, panels: list[Panel]) -> bool:
    """Whether the last few sizes were all clearly worse than the best so far."""
    last, factor = search.config.hopeless_sizes, search.config.clearly_worse
    errors = [panel.error for panel in panels]
    return len(errors) > last and min(errors[-last:]) > factor * min(errors)


def behind(folds: Folds, panels: list[Panel], rivals: list[Panel]) -> bool:
    """Whether the last few sizes were all clearly worse than a rival of the same size or less."""
    last, factor = folds[0].config.hopeless_sizes, folds[0].config.clearly_worse

    def beaten(panel: Panel) -> bool:
        return any(
            size_of(folds, rival) <= size_of(folds, panel) and panel.error > factor * rival.error
            for rival in rivals
        )

    return len(panels) > last and all(map(beaten, panels[-last:]))
