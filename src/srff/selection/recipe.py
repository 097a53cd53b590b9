"""The default fit as one story: starts, elimination, which variables are kept, the last model.

Up to some thousand rows all steps but the last run in several folds, each without its own rows, and
choices are made on the losses of all rows held out.

1. *Starts.*  All variables with even scales (a metric for up to 128 of them, scales for more); the
   variables that a screen of low orders finds; the scales of a projected descent on the simplex
   where there are many variables.  Inputs standardised and, where some are far from normal, as
   normal scores.
2. *Elimination* from the best start of each family, on at most 10,000 rows; and straight lines.
3. *Which variables are kept.*  The smallest panel of candidates that is not significantly worse
   than the best, by a paired test of the losses; then one variable at a time by the same test.
   What the residuals still depend on may come back.  No variable is kept if chance does as well.
4. *The last model* on the variables that most folds chose: several kinds compete.

What a step needs is in the files beside this one: ``starts`` and ``race``; ``eliminate`` and
``linear``; ``compare`` and ``grow``; ``elect`` and ``final``; ``panel`` and ``lines`` for all.
Every constant is in :mod:`srff.selection.config`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from srff._utils.progress import Callback
from srff.core.candidate import Candidate, Found, best_of, constant_candidate
from srff.data.problem import Problem
from srff.selection.compare import Judge, chance, gains
from srff.selection.config import Config
from srff.selection.descents import Start, descend_penalties, without
from srff.selection.elect import elected
from srff.selection.eliminate import eliminate, importance, polished
from srff.selection.final import last_models, mean_of_folds
from srff.selection.grow import grow
from srff.selection.linear import even_lines, line_on, straight_lines
from srff.selection.lines import Descent, Line, run
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
from srff.selection.race import race
from srff.selection.search import Log, Request, Search


def find_model(problem: Problem, request: Request, config: Config, report: Callback) -> Found:
    """The chosen model, every candidate that was considered, and how good it will be."""
    log = Log(report, problem.targets.unit)

    folds, firsts, untouched = begin(problem, request, config, log)

    panels = eliminate(folds, firsts)
    panels.append(polished(folds, best_panel(panels)))
    if "linear" in config.families and request.begin_from is None:
        lines = straight_lines(folds)
        panels += [best_panel(at) for at in lines]
        untouched = untouched.of(folds, [panel for at in lines for panel in at])

    judge, among = Judge(folds), panels
    if request.n_variables is None:
        chosen = fewest_variables(folds, judge, panels)
        if chosen is not None and not more_than_chance(folds, untouched, chosen):
            chosen = None
    else:
        chosen = best_of_size(folds, panels)
        among = [panel for panel in panels if size_of(folds, panel) == size_of(folds, chosen)]
    if chosen is None:
        if not folds[0].n_forced:
            return _nothing_found(folds, judge, log)
        chosen = panel_of(folds, [nothing(search) for search in folds])

    on_one_set = elected(folds, panels, chosen)
    found = chosen
    if folds[0].n_forced:  # other columns than those of any panel
        chosen = panel_of(folds, on_one_set)
        among = [chosen]
    if folds[0].averages:
        best, last = mean_of_folds(folds, judge, chosen, on_one_set)
        held_out, unseen = last.each, unseen_of(judge.with_own_loss(chosen), last)
        gain = panel_of(folds, unseen).error / max(judge.error(chosen), np.finfo(float).tiny)
    else:
        models = last_models(folds[0], on_one_set[0], judge.error(chosen))
        place = judge.even_penalty(chosen)
        if place is not None:
            models.append(even_lines(folds[0], on_one_set[0].columns)[place])
        log.add(*models)
        best = best_of(models)
        gain = best.validation_error / max(judge.first_error(chosen), np.finfo(float).tiny)
        held_out = judge.with_own_loss(chosen).each if len(folds) > 1 else (best,)
        unseen = [*held_out]
    return Found(
        best,
        log.candidates,
        log.n_evaluations,
        expected_of(judge, among, chosen, gain),
        judged_rows(folds),
        agreement(folds, found),
        held_out,
        tuple(unseen),
    )


def _nothing_found(folds: Folds, judge: Judge, log: Log) -> Found:
    """The best constant."""
    search, problem = folds[0], folds[0].problem
    constant = constant_candidate(
        search.scaling, search.validation, problem.loss, problem.constant.c
    )
    panel = panel_of(folds, [nothing(search) for search in folds])
    constant = replace(constant, validation_error=judge.error(panel))
    log.add(constant)
    return Found(
        constant,
        log.candidates,
        log.n_evaluations,
        judge.expected([panel], panel),
        judged_rows(folds),
        agreement(folds, panel),
        unseen=(constant,) * len(folds),
    )


def more_than_chance(folds: Folds, untouched: Untouched, chosen: Panel) -> bool:
    """Whether panels predict more than chance does.

    Those that no held-out row has had a part in; or the chosen one so much that its choice cannot
    be the reason.
    """
    config = folds[0].config
    if chance(untouched) <= config.mean_level:
        return True
    alone = Untouched(folds, (chosen,), len(folds))
    return bool(gains(alone)[0, 0] >= config.clear_gain)


# Step 1: starts.


def begin(
    problem: Problem, request: Request, config: Config, log: Log
) -> tuple[Folds, list[Panel], Untouched]:
    """The scaling of the inputs that does best, and the first panels that go on from there.

    All starts of all scalings run against each other; of the winner's scaling the best panel of
    every family goes on.  A candidate that is given to begin from is the only one, in no fold.
    """
    if request.begin_from is not None:
        search = Search(problem, problem.scaled["standard"], request, config, log)
        first = _with_search_loss(search, request.begin_from)
        panel = panel_of((search,), [first])
        return (search,), [panel], Untouched((search,), (panel,), 1)
    names = [name for name in problem.scaled if request.inputs in ("auto", name)]
    chosen, firsts, untouched = race(
        [
            tuple(Search(p, p.scaled[name], request, config, log) for p in problem.folds)
            for name in names
        ]
    )
    for fold, search in zip(problem.folds, chosen, strict=True):
        for data in fold.scaled.values():
            if data is not search.data:
                data.close()
    return chosen, firsts, untouched


def _with_search_loss(search: Search, candidate: Candidate) -> Candidate:
    """The candidate with the loss of the search: learned on from where it stands."""
    problem = search.problem
    if candidate.loss is problem.search_loss:
        return candidate
    assert candidate.point is not None
    near = problem.at_constant(candidate.point.b.size)
    start = Start(candidate.kind, candidate.columns, candidate.point, near)
    alphas = np.array([candidate.alpha / problem.unit])
    return descend_penalties(search, start, alphas, problem.search_loss)


# Step 3: how many variables are kept.


def fewest_variables(folds: Folds, judge: Judge, panels: list[Panel]) -> Panel | None:
    """The smallest panel that does not cost accuracy; None if a constant is as good.

    Thin out, then let in what the residuals still depend on and thin out again, while that makes
    a better panel.
    """
    log, config = folds[0].log, folds[0].config
    log.stage("one by one")
    chosen = thin(folds, judge, panels)
    for _ in range(config.growth_rounds):
        each = in_each(folds, chosen, grow)
        if all(isinstance(way, Candidate) for ways in each for way in ways):
            break
        starts = [Line(folds, ways) for ways in zip(*each, strict=True)]
        lines = run(starts, limit=config.growth_limit)
        grown = eliminate(folds, [best_panel([line.best for line in lines])])
        if not judge.worse(chosen, judge.best(grown)):
            break
        panels += grown
        chosen = thin(folds, judge, panels)
    constant = panel_of(folds, [nothing(search) for search in folds])
    log.add(constant.row())
    return chosen if judge.error(chosen) < judge.error(constant) else None


def thin(folds: Folds, judge: Judge, panels: list[Panel]) -> Panel:
    """The smallest panel that is not worse than the best, after dropping one by one.

    One of the least needed variables leaves at a time.  What is tried on the way joins the panels.
    """
    config = folds[0].config
    current = judge.smallest(panels)
    if folds[0].keep_level >= config.keep_most:
        return current  # what is rather missed than not: one by one that would fit the rows
    while 1 < (size := size_of(folds, current)) <= config.thinned:
        for weak in range(min(config.thinning_tries, size - folds[0].n_forced)):
            each = in_each(folds, current, partial(_less_one, size=size, weak=weak))
            smaller = run([Line(folds, tuple(each))])[0].best
            panels.append(smaller)
            if not judge.worse(smaller, judge.best(panels)):
                current = smaller
                break
        else:
            break
    return judge.smallest(panels)


def _less_one(search: Search, candidate: Candidate, size: int, weak: int) -> Descent | Candidate:
    """On without one of the least needed groups; as it is where it has fewer."""
    if search.size(candidate) < size:
        return candidate
    parts = search.groups.among(candidate.columns)
    leaving = parts[np.argsort(importance(search, candidate), kind="stable")[weak]]
    staying = np.delete(np.arange(candidate.columns.size), leaving)
    if candidate.kind == "linear":
        return line_on(search, candidate, candidate.columns[staying])
    start = without(candidate, staying)
    return Descent(start, search.alphas(candidate.alpha, search.config.thinning_alphas))


def best_of_size(folds: Folds, panels: list[Panel]) -> Panel:
    """The best panel of the size that was asked for."""
    # Scales that were given to begin from may be fewer.
    reached = min(folds[0].fewest, max(size_of(folds, panel) for panel in panels))
    there = [panel for panel in panels if size_of(folds, panel) == reached]
    whole = [
        panel
        for panel in there
        if all(search.keeps(c) for search, c in zip(folds, panel.each, strict=True))
    ]
    return best_panel(whole or there)


# How good the model will be, and how sure its variables are.


def expected_of(
    judge: Judge, panels: list[Panel], chosen: Panel, gain: float
) -> tuple[float, float]:
    """The loss of the last model on new rows, and its standard error.

    That of the panels, which all rows judge, times what the last model gains.
    """
    mean, error = judge.expected(panels, chosen)
    return mean * gain, error * gain


def unseen_of(chosen: Panel, last: Panel) -> list[Candidate]:
    """For each fold a model whose columns its rows had no part in choosing.

    The last one, but where the fold chose other columns than that has its own: among thousands of
    columns the choice alone makes noise look like an effect.
    """
    pairs = zip(chosen.each, last.each, strict=True)
    return [two if set(one.columns) == set(two.columns) else one for one, two in pairs]


def judged_rows(folds: Folds) -> float:
    """Rows that were held out, in all folds together."""
    return float(sum(search.validation.n for search in folds))


def agreement(folds: Folds, chosen: Panel) -> np.ndarray | None:
    """For each column the share of the folds that chose it."""
    if len(folds) == 1:
        return None
    share = np.zeros(folds[0].problem.scale.size)
    for candidate in chosen.each:
        share[candidate.columns] += 1 / len(folds)
    return share
