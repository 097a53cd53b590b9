"""The coefficients of the chosen model, solved on every row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from srff.core.candidate import Candidate
from srff.core.coefficients import ridge, solver_of
from srff.core.losses import Squared
from srff.data.problem import Problem
from srff.data.scaled import ScaledData


@dataclass(frozen=True)
class LastSolve:
    """Coefficients and constants of each member, as a checkpoint keeps them."""

    coefs: tuple[np.ndarray, ...]
    constants: tuple[np.ndarray, ...]


def solved_on_all_rows(problem: Problem, chosen: Candidate) -> Candidate:
    """The candidate with its coefficients solved on every row that may be learned from."""
    data = problem.scaled[chosen.transform]
    if chosen.kind == "mean" or (not problem.refit and chosen.n_rows == data.n):
        return chosen
    found = problem.checkpoint.run(
        LastSolve,
        "last solve",
        data.everything,
        lambda: _solve(data, chosen),
        partial(fits, chosen),
    )
    members = tuple(
        replace(member, coef=coef, constant=constant)
        for member, coef, constant in zip(chosen.members, found.coefs, found.constants, strict=True)
    )
    return replace(chosen, members=members)


def fits(chosen: Candidate, found: LastSolve) -> bool:
    """Whether coefficients that were kept are as many as the candidate has."""
    before = [(member.coef.shape, member.constant.shape) for member in chosen.members]
    return before == [
        (a.shape, c.shape) for a, c in zip(found.coefs, found.constants, strict=False)
    ]


def _solve(data: ScaledData, chosen: Candidate) -> LastSolve:
    """One pass for all members where the loss is quadratic; else one solve after the other."""
    members, loss = chosen.members, chosen.loss
    if isinstance(loss, Squared):
        points = [(member.W, member.b) for member in members]
        each = data.statistics_of_all_rows(points, chosen.columns, loss)
        coefs = [ridge(S, member.alpha) for S, member in zip(each, members, strict=True)]
        return LastSolve(tuple(coefs), tuple(member.constant for member in members))
    solver = solver_of(loss)
    found = [
        solver.solve(data.everything, (m.W, m.b, chosen.columns), m.alpha, (m.coef, m.constant))
        for m in members
    ]
    return LastSolve(tuple(e.coef for e in found), tuple(e.constant for e in found))
