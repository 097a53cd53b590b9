"""From many variables to few: learn, drop the least needed, learn again.

Each round descends from where the last one ended, down a few values of alpha, and keeps the point
that validates best; then the variables that are needed least leave.  What comes back is one
candidate for every size on the way.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from srff.core.candidate import Candidate
from srff.selection.descents import Start, continue_from, without
from srff.selection.search import Search, together


def eliminate(search: Search, firsts: list[Candidate]) -> list[Candidate]:
    """Candidates of falling size from each of ``firsts``, which are among them.

    All take one step after the other, side by side, each until it is hopeless or behind.  Where a
    number of variables is asked for, they go on to that one, hopeless or not.
    """
    log, config = search.log, search.config
    lines = [[first] for first in firsts]
    while going := [line for line in lines if _goes_on(search, line, lines)]:
        log.stage("elimination", len(lines) - len(going), len(lines))
        starts = [_smaller(search, line[-1]) for line in going]
        made = together(
            search.problem,
            [search.engine],
            [
                partial(continue_from, search, start, line[-1], config.next_alphas)
                for start, line in zip(starts, going, strict=True)
            ],
        )
        for line, candidate in zip(going, made, strict=True):
            line.append(candidate)
        log.add(*made)
    return [candidate for line in lines for candidate in line]


def _goes_on(search: Search, line: list[Candidate], lines: list[list[Candidate]]) -> bool:
    """Whether the next smaller size of an elimination is worth a descent."""
    if search.size(line[-1]) <= search.fewest:
        return False
    if search.request.n_variables is not None:
        return True
    rivals = [candidate for other in lines if other is not line for candidate in other]
    return not (hopeless(search, line) or behind(search, line, rivals))


def _smaller(search: Search, last: Candidate) -> Start:
    """The candidate without its least needed variables."""
    parts = search.groups.among(last.columns)
    left = max(_next_size(search, len(parts)), search.fewest)
    strongest = np.argsort(-importance(search, last), kind="stable")[:left]
    return without(last, np.sort(np.concatenate([parts[k] for k in strongest])))


def _next_size(search: Search, now: int) -> int:
    """A third leave at a time, one by one where there are few."""
    if now <= search.config.one_by_one:
        return now - 1
    return min(now - 1, int(np.ceil(now * (1 - search.config.leaving_share))))


def importance(search: Search, candidate: Candidate) -> np.ndarray:
    """An order of the candidate's groups by how much they are needed: the larger, the more.

    First come those whose shuffling on the validation rows clearly raises the loss, by its rise:
    they may act slowly, with small frequencies.  Then the others, by their strength, how fast the
    model varies along them: where it is large, they may act in interactions of a high order that
    no single shuffle shows yet.
    """
    parts = search.groups.among(candidate.columns)
    strength = candidate.strength()
    strength = np.array([np.linalg.norm(strength[part]) for part in parts])
    score = strength / max(strength.max(), np.finfo(float).tiny)
    if score.size <= search.config.shuffled:
        rise, error = search.validation.permutation_loss(
            candidate.loss, candidate.expansion(), parts
        )
        clear = rise > search.config.clear_rise * error
        score[clear] = 1 + rise[clear]
    return score


def hopeless(search: Search, candidates: list[Candidate]) -> bool:
    """Whether the last few sizes were all clearly worse than the best so far."""
    last, factor = search.config.hopeless_sizes, search.config.clearly_worse
    errors = [candidate.validation_error for candidate in candidates]
    return len(errors) > last and min(errors[-last:]) > factor * min(errors)


def behind(search: Search, candidates: list[Candidate], rivals: list[Candidate]) -> bool:
    """Whether the last few sizes were all clearly worse than a rival of the same size or less."""
    last, factor = search.config.hopeless_sizes, search.config.clearly_worse

    def beaten(candidate: Candidate) -> bool:
        return any(
            search.size(rival) <= search.size(candidate)
            and candidate.validation_error > factor * rival.validation_error
            for rival in rivals
        )

    return len(candidates) > last and all(map(beaten, candidates[-last:]))
