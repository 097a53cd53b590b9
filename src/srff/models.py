"""A candidate model as plain data, and the paired test between two of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import stats

from srff.engines import Engine
from srff.features import Prediction
from srff.groups import Units
from srff.losses import Loss, Squared
from srff.objectives import SMALLEST_ALPHA, Start, TrainingLoss, ridge
from srff.problem import Problem, View
from srff.solvers.refine import Frequencies

FEWEST = 5
"""Validation rows below which nothing is significant."""

KEEP_LEVEL = 0.05
"""Level of the paired test by which a variable must be missed to be kept."""


@dataclass(frozen=True)
class Member:
    """One set of random features with its coefficients; a model is a weighted mean of such."""

    W: np.ndarray
    b: np.ndarray
    alpha: float
    coef: np.ndarray
    constant: np.ndarray
    share: float = 1.0


@dataclass(frozen=True)
class Model:
    """A model on some columns, and what it was judged by.

    Errors are means of ``loss``, NaN where they were not measured.
    ``n_rows`` are the rows that its coefficients were solved on; ``stopped`` says that it was left
    before its end and cannot be chosen.
    """

    kind: str
    transform: str
    columns: np.ndarray
    members: tuple[Member, ...] = field(repr=False)
    loss: Loss
    validation_error: float = float("nan")
    training_error: float = float("nan")
    point: Frequencies | None = field(default=None, repr=False)
    seconds: float = 0.0
    objective: tuple[float, ...] = field(default=(), repr=False)
    n_rows: float = 0.0
    stopped: bool = False

    @property
    def alpha(self) -> float:
        """The penalty of the first member."""
        return self.members[0].alpha

    @property
    def start(self) -> Start:
        """The coefficients and constants of the first member, for a solve nearby."""
        return self.members[0].coef, self.members[0].constant

    def strength(self) -> np.ndarray:
        """How much each column is used, at the point where the model stands."""
        assert self.point is not None
        return self.point.strength()

    def prediction(self) -> Prediction:
        """All members as one set of features: ``sqrt(2/D)`` is of the number of all."""
        total = sum(m.b.size for m in self.members)
        return Prediction(
            self.columns,
            np.concatenate([m.W for m in self.members], axis=1),
            np.concatenate([m.b for m in self.members]),
            np.concatenate([m.coef * (m.share * np.sqrt(total / m.b.size)) for m in self.members]),
            np.sum([m.share * m.constant for m in self.members], axis=0),
        )

    def scale(self) -> np.ndarray:
        """How fast the model varies along each column: see the user's documentation.

        The scales themselves where the model has such; else the root mean square of the
        frequencies, each counted by the square of its coefficient.
        """
        if self.kind == "scales" and self.point is not None:
            return self.point.strength()
        p = self.prediction()
        energy = np.sum(p.a**2, axis=1)
        total = energy.sum()
        energy = energy / total if total > 0 else np.full(energy.size, 1 / energy.size)
        return np.sqrt(p.W**2 @ energy)


def best_of(models: list[Model]) -> Model:
    """The model of the lowest validation error, the first of equals."""
    return min(models, key=lambda m: m.validation_error)


def mean_model(transform: str, validation: Engine, loss: Loss, constant: np.ndarray) -> Model:
    """The model that is the same everywhere and reads nothing."""
    member = Member(np.zeros((0, 1)), np.zeros(1), np.inf, np.zeros((1, constant.size)), constant)
    model = Model("mean", transform, np.zeros(0, dtype=np.intp), (member,), loss)
    return judged(model, validation)


def judged(model: Model, validation: Engine) -> Model:
    """The model with its error on the validation rows."""
    return replace(model, validation_error=validation.loss(model.loss, model.prediction()))


def significantly_worse(
    validation: Engine, first: Model, second: Model, level: float = KEEP_LEVEL
) -> bool:
    """Whether ``first`` has larger losses than ``second``: paired, one-sided t tests.

    Of the losses of the rows, such as squared errors, and of their roots, which a few large ones do
    not drown; either may find a difference, each at half the level.
    """
    if validation.n < FEWEST:
        return False
    mean, error = validation.difference(second.loss, first.prediction(), second.prediction())
    limit = stats.t.isf(level / 2, max(validation.n - 1, 1.0))
    return bool(np.any(mean > limit * error))


class Judge:
    """Compares models by the loss of the problem on the validation rows.

    Models of the search were learned by its quadratic loss.  Where that is not the problem's own,
    each is judged by its twin: the same frequencies with the coefficients of the problem's loss.
    """

    def __init__(self, problem: Problem, view: View, engine: Engine) -> None:
        assert view.validation is not None
        self._problem, self._engine, self._validation = problem, engine, view.validation
        self._twins: dict[int, tuple[Model, Model]] = {}

    def twin(self, model: Model) -> Model:
        """The model with the problem's loss."""
        if model.loss is self._problem.loss:
            return model
        if id(model) not in self._twins:
            # With the model itself, so that no other can have its id.
            self._twins[id(model)] = model, self._solved(model)
        return self._twins[id(model)][1]

    def _solved(self, model: Model) -> Model:
        problem = self._problem
        (m,) = model.members
        if not model.columns.size:
            name, c = model.transform, problem.constant.c
            return mean_model(name, self._validation, problem.loss, c)
        alpha = max(m.alpha * problem.unit, SMALLEST_ALPHA)
        goal = TrainingLoss(alpha, problem.loss)
        e = goal.evaluate(self._engine, m.W, m.b, model.columns, problem.start(m.b))
        member = replace(m, alpha=alpha, coef=e.coef, constant=e.constant)
        twin = replace(model, members=(member,), loss=problem.loss)
        return judged(twin, self._validation)

    def best(self, models: list[Model]) -> Model:
        """The model of the lowest loss, the first of equals."""
        return min(models, key=lambda m: self.twin(m).validation_error)

    def worse(self, first: Model, second: Model, level: float = KEEP_LEVEL) -> bool:
        """Whether ``first`` is significantly worse than ``second``."""
        return significantly_worse(self._validation, self.twin(first), self.twin(second), level)

    def smallest(self, candidates: list[Model], units: Units) -> Model:
        """The smallest model not significantly worse than the best; of equals the better one."""
        best = self.best(candidates)
        for model in sorted(
            candidates, key=lambda m: (units.count(m.columns), self.twin(m).validation_error)
        ):
            if model is best or not self.worse(model, best):
                return model
        return best


def refitted(problem: Problem, model: Model) -> Model:
    """The model with its coefficients solved on every row that may be learned from."""
    view = problem.views[model.transform]
    if model.kind == "mean" or (not problem.refit and model.n_rows == view.n):
        return model

    loss = model.loss

    def solves() -> dict[str, np.ndarray]:
        if isinstance(loss, Squared):
            points = [(member.W, member.b) for member in model.members]
            each = view.statistics_of_all_rows(points, model.columns, loss)
            return {
                str(number): ridge(S, member.alpha)
                for number, (S, member) in enumerate(zip(each, model.members, strict=True))
            }
        found: dict[str, np.ndarray] = {}
        for number, m in enumerate(model.members):
            e = TrainingLoss(m.alpha, loss).evaluate(
                view.everything, m.W, m.b, model.columns, (m.coef, m.constant)
            )
            found |= {str(number): e.coef, f"constant {number}": e.constant}
        return found

    coefs = problem.journal.step("last solve", view.everything, solves)
    members = tuple(
        replace(m, coef=coefs[str(k)], constant=coefs.get(f"constant {k}", m.constant))
        for k, m in enumerate(model.members)
    )
    return replace(model, members=members)


def path_table(models: list[Model], problem: Problem) -> dict[str, np.ndarray]:
    """One row per candidate, errors as users read them."""

    def reported(model: Model, error: float) -> Any:
        return model.loss.reported(error, problem.y_unit)

    def column(values: list[Any], dtype: Any = np.float64) -> np.ndarray:
        return np.array(values, dtype=dtype)

    return {
        "kind": column([m.kind for m in models], object),
        "inputs": column([m.transform for m in models], object),
        "alpha": column([m.alpha for m in models]),
        "budget": column([problem.units.total(m.columns, m.scale()) for m in models]),
        "loss": column([m.loss.name for m in models], object),
        "training_error": column([reported(m, m.training_error) for m in models]),
        "validation_error": column([reported(m, m.validation_error) for m in models]),
        "n_variables": column([problem.units.count(m.columns) for m in models], np.intp),
        "n_iter": column([max(len(m.objective) - 1, 0) for m in models], np.intp),
        "seconds": column([m.seconds for m in models]),
        "stopped": column([m.stopped for m in models], bool),
    }
