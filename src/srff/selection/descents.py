"""Descents of the default fit: down a few penalties from a start, or on from a candidate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

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
    objective: Callable[[float, Any], Objective] = TrainingLoss,
    effort: Effort | None = None,
    give_up: float | None = None,
    engine: Engine | None = None,
) -> Candidate:
    """Descend at each alpha in turn, each from where the last ended; the best on validation."""
    effort = effort or search.request.effort
    engine = engine or search.engine
    give_up = give_up or search.config.give_up
    best: Candidate | None = None
    seconds = 0.0
    for alpha in decreasing(alphas):
        candidate = _descended(search, start, objective(float(alpha), loss), effort, engine)
        assert candidate.point is not None
        start = replace(start, point=candidate.point, near=candidate.coefficients)
        seconds += candidate.seconds
        if best is None or candidate.validation_error < best.validation_error:
            best = candidate
        elif candidate.validation_error > give_up * best.validation_error:
            break
    assert best is not None
    return replace(best, seconds=seconds)


def descend_evidence(search: Search, start: Start, alpha: float, loss: Squared) -> Candidate:
    """One descent on the evidence, the penalty learned with the frequencies."""
    effort, engine = search.request.effort, search.engine
    return _descended(
        search, start, Evidence(alpha, loss), effort, engine, lambda a: Evidence(a, loss)
    )


def continue_on(
    search: Search, candidate: Candidate, kept: np.ndarray, shares: Numbers
) -> Candidate:
    """The candidate on some of its columns, learned on from where it stands.

    ``kept`` are positions among its columns, ``shares`` the penalties as shares of its own.
    """
    assert candidate.point is not None
    start = Start(
        candidate.kind,
        candidate.columns[kept],
        candidate.point.drop(kept),
        candidate.coefficients,
    )
    alphas = search.alphas(candidate.alpha, shares)
    effort = search.request.effort.half()
    return descend_penalties(search, start, alphas, candidate.loss, effort=effort)


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

    label = f"{start.kind}, {start.columns.size} variables, alpha {objective.alpha:.6g}"
    end = search.problem.checkpoint.run(DescentEnd, label, engine, descent)
    search.log.evaluated(len(end.objective))
    return replace(
        candidate(start.point.at(end.vector), end.alpha, end.coef, end.constant),
        validation_error=end.validation_error,
        training_error=end.training_error,
        seconds=end.seconds,
        objective=end.objective,
    )
