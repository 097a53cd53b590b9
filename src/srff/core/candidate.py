"""A candidate: a model that a search considers, as plain data with its errors; what it found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from srff.core.coefficients import Coefficients
from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.losses import Loss
from srff.core.parametrisations import Frequencies


@dataclass(frozen=True)
class Member:
    """One set of random features with its coefficients; a candidate is a weighted mean of such."""

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
    ``n_rows`` are the rows that its coefficients were solved on.
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

    @property
    def alpha(self) -> float:
        """The penalty of the first member."""
        return self.members[0].alpha

    @property
    def coefficients(self) -> Coefficients:
        """The coefficients and constants of the first member, for a solve nearby."""
        return self.members[0].coef, self.members[0].constant

    def strength(self) -> np.ndarray:
        """How much each column is used, at the point where the candidate stands."""
        assert self.point is not None
        return self.point.strength()

    def expansion(self) -> Expansion:
        """All members as one set of features.

        Their sum has ``sqrt(2 / D)`` of the number ``D`` of all, a member of its own ``D_m``: its
        coefficients are multiplied by ``share sqrt(D / D_m)``.
        """
        total = sum(m.b.size for m in self.members)
        return Expansion(
            self.columns,
            np.concatenate([m.W for m in self.members], axis=1),
            np.concatenate([m.b for m in self.members]),
            np.concatenate([m.coef * (m.share * np.sqrt(total / m.b.size)) for m in self.members]),
            np.sum([m.share * m.constant for m in self.members], axis=0),
        )

    def scale(self) -> np.ndarray:
        """How fast the candidate varies along each column: ``scale_`` of an estimator.

        The scales themselves where it has such; else the root mean square of the
        frequencies, each counted by the square of its coefficient.
        """
        if self.kind == "scales" and self.point is not None:
            return self.point.strength()
        p = self.expansion()
        energy = np.sum(p.a**2, axis=1)
        total = energy.sum()
        energy = energy / total if total > 0 else np.full(energy.size, 1 / energy.size)
        return np.sqrt(p.W**2 @ energy)


@dataclass(frozen=True)
class Found:
    """What a search ends with."""

    model: Candidate
    candidates: list[Candidate] = field(repr=False)
    """Every candidate that was considered."""
    n_evaluations: int
    expected: tuple[float, float] = (nan, nan)
    """The mean loss on new rows, and its standard error."""
    n_judged: float = nan
    """Rows that these come from: all, each held out once, or those of one hold-out."""
    agreement: np.ndarray | None = None
    """For each column the share of the folds that chose it; None without folds."""
    held_out: tuple[Candidate, ...] = field(default=(), repr=False)
    """For each fold a candidate that has not seen its rows; none where nothing was found."""
    unseen: tuple[Candidate, ...] = field(default=(), repr=False)
    """The same, of columns that its rows had no part in choosing; constants where nothing was."""


def best_of(candidates: list[Candidate]) -> Candidate:
    """The candidate of the lowest validation error, the first of equals."""
    return min(candidates, key=lambda c: c.validation_error)


def constant_candidate(
    transform: str, validation: Engine, loss: Loss, constant: np.ndarray
) -> Candidate:
    """The candidate that predicts ``constant`` (outputs) everywhere and reads no column."""
    member = Member(np.zeros((0, 1)), np.zeros(1), np.inf, np.zeros((1, constant.size)), constant)
    constant_model = Candidate("mean", transform, np.zeros(0, dtype=np.intp), (member,), loss)
    return validated(constant_model, validation)


def validated(candidate: Candidate, validation: Engine) -> Candidate:
    """The candidate with its error on the validation rows."""
    error = validation.loss(candidate.loss, candidate.expansion())
    return replace(candidate, validation_error=error)
