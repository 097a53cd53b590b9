"""Means of candidates: over draws of one kind, and a greedy blend of several kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srff.core.candidate import Candidate, best_of, validated
from srff.selection.search import Search


def mean_of(search: Search, candidates: list[Candidate], kind: str) -> Candidate:
    """The mean of candidates on the same columns; one that stands several times counts so often."""
    distinct = {id(candidate): candidate for candidate in candidates}
    counts = {key: sum(id(c) == key for c in candidates) for key in distinct}
    members = tuple(
        replace(member, share=member.share * counts[key] / len(candidates))
        for key, candidate in distinct.items()
        for member in candidate.members
    )
    first = candidates[0]
    mean = Candidate(
        kind,
        search.scaling,
        first.columns,
        members,
        first.loss,
        seconds=sum(c.seconds for c in candidates),
        objective=first.objective,
        n_rows=first.n_rows,
    )
    return validated(mean, search.validation)


def blend(search: Search, candidates: list[Candidate]) -> Candidate:
    """A mean of several kinds: one after the other joins that lowers the error most.

    A candidate may join more than once.  The best one of each kind takes part.
    """
    kinds = dict.fromkeys(candidate.kind for candidate in candidates)
    best = [best_of([c for c in candidates if c.kind == kind]) for kind in kinds]
    expansions = [candidate.expansion() for candidate in best]
    count = np.zeros(len(best))
    error = np.inf
    while count.sum() < search.config.blend_members:
        trials = count + np.eye(len(best))
        shares = trials / trials.sum(axis=1, keepdims=True)
        errors = search.validation.blend_losses(best[0].loss, shares, expansions)
        if not errors.min() < error * (1 - search.config.blend_gain):
            break
        error, count = errors.min(), trials[np.argmin(errors)]
    chosen = [c for c, times in zip(best, count, strict=True) for _ in range(int(times))]
    return mean_of(search, chosen, "blend")
