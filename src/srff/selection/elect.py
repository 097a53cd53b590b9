"""One set of variables for all folds: those that most of them chose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from srff.core.candidate import Candidate
from srff.core.parametrisations import Metric
from srff.selection.descents import Start, continue_from, descend_penalties, without
from srff.selection.eliminate import importance
from srff.selection.linear import line_on
from srff.selection.panel import Folds, Panel, side_by_side, size_of
from srff.selection.search import Search
from srff.selection.starts import first_alphas


def elected(folds: Folds, panels: list[Panel], chosen: Panel) -> list[Candidate]:
    """The chosen panel with one set of variables, as many as it has: a candidate for each fold.

    The groups that must be kept and those that most folds chose; of as many votes those that are
    needed more.
    """
    columns = _columns(folds, chosen)
    mains = folds if folds[0].averages or folds[0].n_forced else folds[:1]
    tasks: list[Callable[[], Candidate]] = []
    for k, search in enumerate(mains):
        own = chosen.each[k]
        if own.kind == "linear":
            tasks.append(partial(line_on, search, own, columns))
        else:
            known = [panel.each[k] for panel in (chosen, *panels)]
            tasks.append(partial(_on_columns, search, known, columns))
    return side_by_side(folds, tasks)


def _columns(folds: Folds, chosen: Panel) -> np.ndarray:
    """The columns of the elected groups."""
    groups, size = folds[0].groups, size_of(folds, chosen)
    forced = folds[0].forced
    if len(folds) == 1 and not forced.size:
        return chosen.each[0].columns
    votes: dict[int, float] = {}
    member: dict[int, np.ndarray] = {}
    for search, candidate in zip(folds, chosen.each, strict=True):
        parts = groups.among(candidate.columns)
        if not parts:
            continue
        rank = np.argsort(np.argsort(importance(search, candidate), kind="stable"))
        for part, place in zip(parts, rank, strict=True):
            columns = candidate.columns[part]
            group = int(groups.of[columns[0]])
            member[group] = columns
            # The share of a vote orders those of as many votes.
            votes[group] = votes.get(group, 0.0) + 1 + (1 + place) / (len(folds) * (size + 1))
    best = sorted(votes, key=lambda group: (-votes[group], group))[:size]
    if forced.size:
        stay = dict.fromkeys(groups.of[forced].tolist())
        member |= {group: forced[groups.of[forced] == group] for group in stay}
        best = list(dict.fromkeys([*stay, *best]))
        asked = folds[0].request.n_variables
        best = best if asked is None else best[: max(asked, len(stay))]
    return np.sort(np.concatenate([member[group] for group in best]))


def _on_columns(search: Search, known: list[Candidate], columns: np.ndarray) -> Candidate:
    """A candidate on these columns: one that is known, or the smallest that has them, less others.

    Where none has them all, one that begins anew.
    """
    own = [c for c in known if np.isin(columns, c.columns).all() and search.keeps(c)]
    if not own:
        return _begun(search, columns)
    nearest = min(own, key=lambda c: c.columns.size)
    if nearest.columns.size == columns.size:
        return nearest
    start = without(nearest, np.flatnonzero(np.isin(nearest.columns, columns)))
    made = continue_from(search, start, nearest, search.config.next_alphas)
    return made if search.keeps(made) else _begun(search, columns)


def _begun(search: Search, columns: np.ndarray) -> Candidate:
    """A metric on these columns from even scales."""
    problem, b = search.problem, search.b
    even = np.full(columns.size, 1 / np.sqrt(columns.size))
    point = Metric(np.diag(even), search.E[columns], b)
    start = Start("metric", columns, point, problem.at_constant(b.size))
    return descend_penalties(search, start, first_alphas(search, start), problem.search_loss)
