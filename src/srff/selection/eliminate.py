"""From many variables to few: learn, drop the weakest, learn again.

Each round descends the profile objective from where the last one ended, down a few values of
alpha, and keeps the point that validates best; then the variables that are used least leave.  What
comes back is one model for every size on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from srff.core.candidate import Member, Candidate, validated
from srff.core.descent import descend
from srff.core.engine import Engine
from srff.core.groups import Groups
from srff.core.losses import SQUARED, Loss, Squared
from srff.core.objectives import (
    SMALLEST_ALPHA,
    Objective,
    Coefficients,
    TrainingLoss,
    largest_eigenvalue,
)
from srff.core.parametrisations import Frequencies
from srff.data.problem import ScaledData

FIRST_ALPHAS = np.logspace(-1, -5, 9)
"""Penalties of the first round, as shares of the largest eigenvalue of ``G / n``."""

NEXT_ALPHAS = np.logspace(0.5, -1, 4)
"""Penalties of the next rounds, as shares of the last round's choice."""

GIVE_UP = 1.1
"""A walk down alpha ends when the validation error has risen by this factor over its best."""

SHARE = 1 / 3
"""Share of the variables that leave at a time, while there are more than ``ONE_BY_ONE``."""

ONE_BY_ONE = 6

SHUFFLED = 128
"""Most variables that are shuffled one by one."""

CLEAR = 3.0
"""Standard errors from which on a rise is clear."""

ROUNDS, WORSE = 3, 1.2
"""An elimination ends when so many sizes in turn were worse than the best by this factor."""

Tick = Callable[[], None]


@dataclass(frozen=True)
class Effort:
    """How long to descend: iterations at each alpha, and the relative decrease to stop at."""

    max_iter: int = 30
    tol: float = 1e-5

    def half(self) -> Effort:
        """Half of the iterations: enough from where another descent ended."""
        return replace(self, max_iter=max(self.max_iter // 2, 1))


DEFAULT = Effort()


def top_eigenvalue(
    engine: Engine, point: Frequencies, columns: np.ndarray, loss: Squared = SQUARED
) -> float:
    """The largest eigenvalue of ``G / n``, the unit of alpha."""
    return largest_eigenvalue(engine.statistics(point.W, point.b, columns, loss))


def falling(alphas: np.ndarray) -> np.ndarray:
    """Penalties that are not lost in rounding, each once, the largest first."""
    return np.unique(np.maximum(alphas, SMALLEST_ALPHA))[::-1]


def walk(
    data: ScaledData,
    engine: Engine,
    point: Frequencies,
    columns: np.ndarray,
    alphas: np.ndarray,
    kind: str,
    *,
    start: Coefficients,
    loss: Loss,
    objective: Callable[[float, Any], Objective] = TrainingLoss,
    effort: Effort = DEFAULT,
    give_up: float = GIVE_UP,
    tick: Tick = lambda: None,
) -> Candidate:
    """Descend at each alpha in turn, each from where the last ended; the best on validation."""
    best: Candidate | None = None
    seconds = 0.0
    for alpha in falling(alphas):
        goal = objective(float(alpha), loss)
        model = _descended(
            data, engine, point, columns, kind, goal, start=start, effort=effort, tick=tick
        )
        assert model.point is not None
        point, start = model.point, (model.members[0].coef, model.members[0].constant)
        seconds += model.seconds
        if best is None or model.validation_error < best.validation_error:
            best = model
        elif model.validation_error > give_up * best.validation_error:
            break
    assert best is not None
    return replace(best, seconds=seconds)


def _descended(
    data: ScaledData,
    engine: Engine,
    begin: Frequencies,
    columns: np.ndarray,
    kind: str,
    objective: Objective,
    *,
    start: Coefficients,
    effort: Effort,
    tick: Tick,
) -> Candidate:
    """The model at the end of one descent: a step of the fit's journal."""
    alpha, loss = objective.alpha, objective.loss

    def model(point: Frequencies, coef: np.ndarray, constant: np.ndarray) -> Candidate:
        member = Member(point.W, point.b, alpha, coef, constant)
        return Candidate(
            kind, data.transform.name, columns, (member,), loss, point=point, n_rows=engine.n
        )

    def descent() -> dict[str, Any]:
        end = descend(engine, objective, begin, columns, start=start, **vars(effort), tick=tick)
        assert data.validation is not None
        found = validated(model(end.point, end.found.coef, end.found.constant), data.validation)
        return {
            "vector": end.point.vector(),
            "coef": end.found.coef,
            "constant": end.found.constant,
            "training_error": end.found.training_error,
            "validation_error": found.validation_error,
            "objective": end.objective,
        }

    label = f"{kind}, {columns.size} variables, alpha {alpha:.6g}"
    found = data.checkpoint.step(label, engine, descent)
    return replace(
        model(begin.at(found["vector"]), found["coef"], found["constant"]),
        validation_error=float(found["validation_error"]),
        training_error=float(found["training_error"]),
        seconds=float(found["seconds"]),
        objective=tuple(found["objective"].tolist()),
    )


def without(
    data: ScaledData,
    engine: Engine,
    model: Candidate,
    kept: np.ndarray,
    shares: np.ndarray,
    *,
    effort: Effort = DEFAULT,
    tick: Tick = lambda: None,
) -> Candidate:
    """The model on some of its columns, learned on from where it stands.

    ``kept`` are positions among its columns, ``shares`` the penalties as shares of its own.
    """
    assert model.point is not None
    return walk(
        data,
        engine,
        model.point.drop(kept),
        model.columns[kept],
        model.alpha * shares,
        model.kind,
        start=model.start,
        loss=model.loss,
        effort=effort,
        tick=tick,
    )


def grown(
    data: ScaledData, engine: Engine, model: Candidate, alpha: float, effort: Effort, tick: Tick
) -> Candidate:
    """The model learned on from where it stands, with the rows of another engine."""
    assert model.point is not None
    further = walk(
        data,
        engine,
        model.point,
        model.columns,
        np.array([alpha]),
        model.kind,
        start=model.start,
        loss=model.loss,
        effort=effort,
        tick=tick,
    )
    return replace(further, seconds=model.seconds + further.seconds)


def eliminate(
    data: ScaledData,
    engine: Engine,
    first: Candidate,
    rivals: list[Candidate],
    *,
    size: int | None = None,
    shares: np.ndarray = NEXT_ALPHAS,
    effort: Effort = DEFAULT,
    tick: Tick = lambda: None,
) -> list[Candidate]:
    """Models of falling size from ``first``, which is among them, until it is hopeless.

    ``rivals`` are the models of eliminations that were done before.  Where a number of units is
    asked for, it goes on to that one, hopeless or not.
    """
    models = [first]
    effort = effort.half()
    groups, fewest = data.groups, size or 1
    while groups.count(models[-1].columns) > fewest:
        if size is None and (hopeless(models) or behind(models, rivals, groups)):
            break
        last = models[-1]
        parts = groups.among(last.columns)
        now = len(parts)
        left = now - 1 if now <= ONE_BY_ONE else min(now - 1, int(np.ceil(now * (1 - SHARE))))
        left = max(left, fewest)
        strongest = np.argsort(-importance(data, last), kind="stable")[:left]
        kept = np.sort(np.concatenate([parts[k] for k in strongest]))
        models.append(without(data, engine, last, kept, shares, effort=effort, tick=tick))
    return models


def importance(data: ScaledData, model: Candidate) -> np.ndarray:
    """An order of the model's units by how much they are needed: the larger, the more.

    First come those whose shuffling on the validation rows clearly raises the loss, by its rise:
    they may act slowly, with small frequencies.  Then the others, by their strength, how fast the
    model varies along them: where it is large, they may act in interactions of a high order that
    no single shuffle shows yet.
    """
    parts = data.groups.among(model.columns)
    strength = model.strength()
    strength = np.array([np.linalg.norm(strength[part]) for part in parts])
    score = strength / max(strength.max(), np.finfo(float).tiny)
    if score.size <= SHUFFLED and data.validation is not None:
        rise, error = data.validation.permutation_loss(model.loss, model.prediction(), parts)
        clear = rise > CLEAR * error
        score[clear] = 1 + rise[clear]
    return score


def hopeless(models: list[Candidate]) -> bool:
    """Whether the last few sizes were all clearly worse than the best so far."""
    errors = [m.validation_error for m in models]
    return len(errors) > ROUNDS and min(errors[-ROUNDS:]) > WORSE * min(errors)


def behind(models: list[Candidate], rivals: list[Candidate], groups: Groups) -> bool:
    """Whether the last few sizes were all clearly worse than a rival of the same size or less."""

    def beaten(model: Candidate) -> bool:
        return any(
            groups.count(rival.columns) <= groups.count(model.columns)
            and model.validation_error > WORSE * rival.validation_error
            for rival in rivals
        )

    return len(models) > ROUNDS and all(beaten(model) for model in models[-ROUNDS:])
