"""All starts of all scalings of the inputs against each other."""

from __future__ import annotations

from functools import partial

from srff.core.candidate import Candidate
from srff.selection.lines import Descent, Line, run
from srff.selection.panel import Folds, Panel, Untouched, nothing, panel_of, side_by_side
from srff.selection.search import Search
from srff.selection.starts import first_alphas, starts

Key = tuple[str, str]
"""Family and kind of a start."""


def race(scalings: list[Folds]) -> tuple[Folds, list[Panel], Untouched]:
    """The folds of the scaling that does best, the first panels that go on, all that are untouched.

    Of each family the best goes on, if it is not hopeless: the winner now may lose variables later.
    With many rows the first fold says which starts these are, and the others begin with them alone.
    """
    config, n_rows = scalings[0][0].config, scalings[0][0].problem.n_rows
    scalings[0][0].log.stage("start")
    leading = [folds[:1] for folds in scalings] if n_rows >= config.lead_rows else scalings
    lines = run(_lines(leading), limit=config.runner_error, anew=True)
    lines.sort(key=lambda line: line.best.error)
    chosen, error = lines[0].folds, lines[0].best.error
    firsts: dict[str, Line] = {}
    for line in lines:
        if line.folds is chosen and line.best.error <= config.runner_error * error:
            firsts.setdefault(line.key[0], line)
    folds = next(all_ for all_, led in zip(scalings, leading, strict=True) if led is chosen)
    panels = _followed(folds, list(firsts.values()))
    if len(chosen) == len(folds):
        made = [panel for line in lines if line.folds is chosen for panel in line.made]
        return folds, panels, Untouched(folds, tuple(made), len(folds))
    # The rows of the first fold have chosen among these.
    return folds, panels, Untouched(folds[len(chosen) :], (), len(folds)).of(folds, panels)


def _lines(scalings: list[Folds]) -> list[Line]:
    """One start in every fold; a fold whose screen found nothing has a constant in its place.

    So have all folds where no screen found anything.
    """
    folds = list(zip(*scalings, strict=True))  # each with its scalings
    of_folds = side_by_side(tuple(f[0] for f in folds), [partial(_descents, f) for f in folds])
    lines = []
    for k, scaling in enumerate(scalings):
        known = [descents[k] for descents in of_folds]
        for key in dict.fromkeys(key for descents in known for key in descents) or [("", "")]:
            each: list[Descent | Candidate] = [
                descents.get(key) or nothing(search)
                for descents, search in zip(known, scaling, strict=True)
            ]
            lines.append(Line(scaling, tuple(each), key, patient=key[0] == "screen"))
    return lines


def _descents(scalings: tuple[Search, ...]) -> list[dict[Key, Descent]]:
    """The starts of one fold for each scaling."""
    return [_descents_of(search, search.config.families) for search in scalings]


def _descents_of(search: Search, families: tuple[str, ...]) -> dict[Key, Descent]:
    return {
        (start.family, start.kind): Descent(start, first_alphas(search, start))
        for start in starts(search, families)
    }


def _followed(folds: Folds, lines: list[Line]) -> list[Panel]:
    """The best panels of the lines, with candidates of the folds that did not lead.

    These descend down the same penalties, as far as the best one.
    """
    led = len(lines[0].folds)
    if led == len(folds):
        return [line.best for line in lines]
    others = folds[led:]
    families = tuple(line.key[0] for line in lines)
    known = side_by_side(others, [partial(_descents_of, s, families) for s in others])
    tasks = [
        partial(_down, search, descents.get(line.key), line.number)
        for line in lines
        for search, descents in zip(others, known, strict=True)
    ]
    made = iter(side_by_side(folds, tasks))
    return [panel_of(folds, [*line.best.each, *(next(made) for _ in others)]) for line in lines]


def _down(search: Search, descent: Descent | None, last: int) -> Candidate:
    """The candidate at one of a descent's penalties, by way of those before."""
    if descent is None:
        return nothing(search)
    for number in range(last):
        descent = descent.after(descent.at(number, search, search.effort))
    return descent.at(last, search, search.effort)
