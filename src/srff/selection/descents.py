"""Descents of the default fit: down a few penalties from a start, or on from a candidate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from srff._utils.checkpoint import have_shapes
from srff.core.candidate import Candidate, Member, validated
from srff.core.coefficients import Coefficients, decreasing
from srff.core.descent import descend
from srff.core.engine import Engine
from srff.core.losses import Loss, Squared
from srff.core.objectives import Evidence, Objective, TrainingLoss
from srff.core.parametrisations import Frequencies
from srff.selection.config import Numbers
from srff.selection.search import Effort, Search


@dataclass(frozen=True)
class Start:
    """Where a descent begins: frequencies on some columns, and coefficients near the best."""

    kind: str
    columns: np.ndarray
    point: Frequencies
    near: Coefficients = field(repr=False)
    family: str = ""
    """Of the starts of a fit the best one of each family goes on."""


@dataclass(frozen=True)
class DescentEnd:
    """Where one descent ended, as a checkpoint keeps it."""

    vector: np.ndarray
    coef: np.ndarray
    constant: np.ndarray
    alpha: float
    training_error: float
    validation_error: float
    objective: tuple[float, ...]
    seconds: float


def descend_penalties(
    search: Search,
    start: Start,
    alphas: np.ndarray,
    loss: Loss,
    *,
    effort: Effort | None = None,
    rival: float = inf,
    engine: Engine | None = None,
) -> Candidate:
    """Descend at each alpha in turn, each from where the last ended; the best on validation.

    It ends when the validation error rises: smaller penalties overfit the more.  ``rival`` is an
    error that another has reached: far behind it there is no use in going on.
    """
    best: Candidate | None = None
    seconds = 0.0
    for alpha in decreasing(alphas):
        goal = TrainingLoss(float(alpha), loss)
        candidate = _descended(
            search, start, goal, effort or search.request.effort, engine or search.engine
        )
        assert candidate.point is not None
        start = replace(start, point=candidate.point, near=candidate.coefficients)
        seconds += candidate.seconds
        if best is not None and not candidate.validation_error < best.validation_error:
            break
        best = candidate
        if best.validation_error > search.config.race * rival:
            break
    assert best is not None
    return replace(best, seconds=seconds)


def descend_evidence(search: Search, start: Start, alpha: float, loss: Squared) -> Candidate:
    """One descent on the evidence, the penalty learned with the frequencies unless it is given."""
    effort, engine = search.request.effort.twice(), search.engine
    if search.request.alpha is not None:
        return _descended(search, start, Evidence(alpha, loss), effort, engine)
    return _descended(
        search, start, Evidence(alpha, loss), effort, engine, lambda a: Evidence(a, loss)
    )


def without(candidate: Candidate, kept: np.ndarray) -> Start:
    """The candidate on some of its columns; ``kept`` are positions among them."""
    assert candidate.point is not None
    return Start(
        candidate.kind,
        candidate.columns[kept],
        candidate.point.drop(kept),
        candidate.coefficients,
    )


def continue_from(search: Search, start: Start, last: Candidate, shares: Numbers) -> Candidate:
    """Learned on after ``last``, whose own penalty ``shares`` are of."""
    alphas = search.alphas(last.alpha, shares)
    effort = search.request.effort.half()
    return descend_penalties(search, start, alphas, last.loss, effort=effort)


def continue_with_more_rows(search: Search, candidate: Candidate) -> Candidate:
    """The candidate learned on from where it stands, with the rows of the last descents."""
    assert candidate.point is not None
    start = Start(candidate.kind, candidate.columns, candidate.point, candidate.coefficients)
    further = descend_penalties(
        search,
        start,
        search.alphas(candidate.alpha, (search.config.more_rows_alpha,)),
        candidate.loss,
        effort=search.request.effort.half(),
        engine=search.more_rows,
    )
    return replace(further, seconds=candidate.seconds + further.seconds)


def _descended(
    search: Search,
    start: Start,
    objective: Objective,
    effort: Effort,
    engine: Engine,
    at_alpha: Callable[[float], Objective] | None = None,
) -> Candidate:
    """The candidate at the end of one descent; the descent is a step of the checkpoint."""

    def candidate(
        point: Frequencies, alpha: float, coef: np.ndarray, constant: np.ndarray
    ) -> Candidate:
        return Candidate(
            start.kind,
            search.scaling,
            start.columns,
            (Member(point.W, point.b, alpha, coef, constant),),
            objective.loss,
            point=point,
            n_rows=engine.n,
        )

    def descent() -> DescentEnd:
        begun = time.perf_counter()
        end = descend(
            engine,
            objective,
            start.point,
            start.columns,
            near=start.near,
            max_iter=effort.max_iter,
            tol=effort.tol,
            tick=search.log.tick,
            at_alpha=at_alpha,
        )
        e = end.found
        found = validated(candidate(end.point, end.alpha, e.coef, e.constant), search.validation)
        return DescentEnd(
            end.point.vector(),
            e.coef,
            e.constant,
            end.alpha,
            e.training_error,
            found.validation_error,
            end.objective,
            time.perf_counter() - begun,
        )

    def fits(end: DescentEnd) -> bool:
        numbers = end.vector, end.coef, end.constant
        like = start.point.vector(), *start.near
        return have_shapes(numbers, like) and len(end.objective) > 0 and end.alpha > 0

    label = f"{start.kind}, {start.columns.size} variables, alpha {objective.alpha:.6g}"
    end = search.problem.checkpoint.run(DescentEnd, label, engine, descent, fits)
    search.log.evaluated(len(end.objective))
    return replace(
        candidate(start.point.at(end.vector), end.alpha, end.coef, end.constant),
        validation_error=end.validation_error,
        training_error=end.training_error,
        seconds=end.seconds,
        objective=end.objective,
    )
