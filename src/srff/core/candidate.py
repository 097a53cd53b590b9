"""A candidate: a model that a search considers, as plain data with its errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from srff.core.coefficients import Coefficients
from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.losses import Loss
from srff.core.parametrisations import Frequencies


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
class Candidate:
    """A model on some columns, and how well it does.

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
    def coefficients(self) -> Coefficients:
        """The coefficients and constants of the first member, for a solve nearby."""
        return self.members[0].coef, self.members[0].constant

    def strength(self) -> np.ndarray:
        """How much each column is used, at the point where the model stands."""
        assert self.point is not None
        return self.point.strength()

    def expansion(self) -> Expansion:
        """All members as one set of features: ``sqrt(2/D)`` is of the number of all."""
        total = sum(m.b.size for m in self.members)
        return Expansion(
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
        p = self.expansion()
        energy = np.sum(p.a**2, axis=1)
        total = energy.sum()
        energy = energy / total if total > 0 else np.full(energy.size, 1 / energy.size)
        return np.sqrt(p.W**2 @ energy)


def best_of(models: list[Candidate]) -> Candidate:
    """The model of the lowest validation error, the first of equals."""
    return min(models, key=lambda m: m.validation_error)


def constant_candidate(
    transform: str, validation: Engine, loss: Loss, constant: np.ndarray
) -> Candidate:
    """The model that is the same everywhere and reads nothing."""
    member = Member(np.zeros((0, 1)), np.zeros(1), np.inf, np.zeros((1, constant.size)), constant)
    model = Candidate("mean", transform, np.zeros(0, dtype=np.intp), (member,), loss)
    return validated(model, validation)


def validated(model: Candidate, validation: Engine) -> Candidate:
    """The model with its error on the validation rows."""
    return replace(model, validation_error=validation.loss(model.loss, model.expansion()))
