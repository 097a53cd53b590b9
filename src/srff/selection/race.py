"""All starts of all scalings of the inputs against each other."""

from __future__ import annotations

from functools import partial

from srff.core.candidate import Candidate
from srff.selection.lines import Descent, Line, run
from srff.selection.panel import Folds, nothing, side_by_side
from srff.selection.search import Search
from srff.selection.starts import first_alphas, starts


def race(scalings: list[Folds]) -> list[Line]:
    """The starts of every scaling, in their order, when all have run."""
    search = scalings[0][0]
    search.log.stage("start")
    return run(_lines(scalings), limit=search.config.runner_error, anew=True)


def _lines(scalings: list[Folds]) -> list[Line]:
    """One start in every fold; a fold whose screen found nothing has a constant in its place."""
    folds = list(zip(*scalings, strict=True))  # each with its scalings
    of_folds = side_by_side(tuple(f[0] for f in folds), [partial(_descents, f) for f in folds])
    lines = []
    for k, scaling in enumerate(scalings):
        known = [descents[k] for descents in of_folds]
        for key in dict.fromkeys(key for descents in known for key in descents):
            each: list[Descent | Candidate] = [
                descents.get(key) or nothing(search)
                for descents, search in zip(known, scaling, strict=True)
            ]
            lines.append(Line(scaling, tuple(each), key[0]))
    return lines


def _descents(scalings: tuple[Search, ...]) -> list[dict[tuple[str, str], Descent]]:
    """The starts of one fold for each scaling, by family and kind."""
    return [
        {(s.family, s.kind): Descent(s, first_alphas(search, s)) for s in starts(search)}
        for search in scalings
    ]
