"""The default fit as one story: starts, elimination, which variables are kept, the last model.

1. *Starts.*  All variables with even scales (a metric for up to 128 of them, scales for any
   number), at a few budgets; the variables that a screen of low orders finds; the scales of a
   projected descent on the simplex where there are many variables.  Inputs standardised and, where
   some are far from normal, as normal scores.
2. *Elimination* from the best start of each family, on at most 10,000 rows.
3. *Which variables are kept.*  The smallest candidate that is not significantly worse than the
   best, by a paired test of the loss on the validation rows; then one variable at a time by the
   same test.
   What the residuals still depend on may come back.  No variable is kept if the candidate is not
   significantly better than the best constant.
4. *The last model* on the variables that are left: several kinds compete.

What a step needs is in the files beside this one: ``starts`` and ``race``; ``eliminate``;
``compare`` and ``grow``; ``final``.  Every constant is in :mod:`srff.selection.config`.
"""

from __future__ import annotations

import numpy as np

from srff._utils.progress import Callback
from srff.core.candidate import Candidate, best_of, constant_candidate
from srff.data.problem import Problem
from srff.selection.compare import Judge
from srff.selection.config import Config
from srff.selection.descents import Start, continue_from, descend_penalties, without
from srff.selection.eliminate import eliminate, importance
from srff.selection.final import last_models
from srff.selection.grow import grow
from srff.selection.race import race
from srff.selection.search import Log, Request, Search


def find_model(
    problem: Problem, request: Request, config: Config, report: Callback
) -> tuple[Candidate, list[Candidate], int]:
    """The chosen model, every candidate that was considered, and the evaluations that it took."""
    log = Log(report, problem.targets.unit)

    search, runners = begin(problem, request, config, log)

    candidates = eliminate(search, runners)

    if request.n_variables is None:
        chosen = fewest_variables(search, candidates, n_eliminations=len(runners))
    else:
        chosen = best_of_size(search, candidates)
    if chosen is None:
        c = problem.constant.c
        constant = constant_candidate(search.scaling, search.validation, problem.loss, c)
        return constant, log.candidates, log.n_evaluations

    log.stage("last model")
    last = last_models(search, chosen)
    log.add(*last)
    return best_of(last), log.candidates, log.n_evaluations


# Step 1: starts.


def begin(
    problem: Problem, request: Request, config: Config, log: Log
) -> tuple[Search, list[Candidate]]:
    """The scaling of the inputs that does best, and the first candidates that go on from there.

    All starts of all scalings run against each other; of the winner's scaling the best candidate of
    every family goes on.  A candidate that is given to begin from is the only one.
    """
    if request.begin_from is not None:
        search = Search(problem, problem.scaled["standard"], request, config, log)
        return search, [_with_search_loss(search, request.begin_from)]
    scalings = [d for name, d in problem.scaled.items() if request.inputs in ("auto", name)]
    runners = race([Search(problem, data, request, config, log) for data in scalings])
    runners.sort(key=lambda runner: runner.best.validation_error)
    chosen, error = runners[0].search, runners[0].best.validation_error
    for data in problem.scaled.values():
        if data is not chosen.data:
            data.close()
    # Of each family the best, if it is not hopeless: the winner now may lose variables later.
    firsts: dict[str, Candidate] = {}
    for runner in runners:
        hopeful = runner.best.validation_error <= config.runner_error * error
        if runner.search is chosen and hopeful:
            firsts.setdefault(runner.start.family, runner.best)
    return chosen, list(firsts.values())


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


# Step 3: which variables are kept.


def fewest_variables(
    search: Search, candidates: list[Candidate], n_eliminations: int
) -> Candidate | None:
    """The smallest candidate that does not cost accuracy; None if no variable helps.

    Thin out, then let in what the residuals still depend on and thin out again, while that makes
    a significantly better candidate.  The last test is against the best constant, which is zero for
    the targets of the search.
    """
    search.log.stage("one by one")
    judge = Judge(search)
    chosen = thin(search, judge, candidates)
    for _ in range(search.config.growth_rounds):
        grown = grow(search, chosen)
        if grown is None:
            break
        search.log.add(grown)
        if not judge.worse(chosen, grown):
            break
        candidates.append(grown)
        chosen = thin(search, judge, candidates)
    zero, loss = np.zeros(search.problem.constant.c.size), search.problem.search_loss
    nothing = constant_candidate(search.scaling, search.validation, loss, zero)
    search.log.add(nothing)
    level = search.config.mean_level / n_eliminations
    return chosen if judge.worse(nothing, chosen, level) else None


def thin(search: Search, judge: Judge, candidates: list[Candidate]) -> Candidate:
    """The smallest candidate not significantly worse than the best, after dropping one by one.

    One of the least needed variables leaves at a time.  What is tried on the way joins the
    candidates.
    """
    config = search.config
    current = judge.smallest(candidates)
    while search.size(current) > 1:
        parts = search.groups.among(current.columns)
        weakest = np.argsort(importance(search, current), kind="stable")
        for weak in weakest[: config.thinning_tries]:
            kept = np.delete(np.arange(current.columns.size), parts[weak])
            start = without(current, kept)
            smaller = continue_from(search, start, current, config.thinning_alphas)
            candidates.append(smaller)
            search.log.add(smaller)
            if not judge.worse(smaller, judge.best(candidates)):
                current = smaller
                break
        else:
            break
    return judge.smallest(candidates)


def best_of_size(search: Search, candidates: list[Candidate]) -> Candidate:
    """The best candidate of the size that was asked for."""
    # Scales that were given to begin from may be fewer.
    reached = min(search.fewest, max(map(search.size, candidates)))
    return best_of([c for c in candidates if search.size(c) == reached])
