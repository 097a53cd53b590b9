"""How much worse held-out rows are predicted without each variable, and which pairs act together.

A variable is drawn anew given all others, by laws that each half of the rows learns from the other
(:mod:`srff.data.conditional.copies`): what others tell of it as well is not missed.  The model
without it is the mean of what the model says of several draws.  Each row is predicted by the
candidate of the fold that holds it out, so that nothing here is of rows that were learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from srff._utils.threads import row_blocks
from srff.core import features
from srff.core.candidate import Candidate
from srff.core.losses import LEAST_SHARE, Logistic, Loss, Multinomial, Poisson, chances
from srff.data.conditional.copies import Conditional
from srff.data.encoding.frames import Levels
from srff.data.problem import Problem
from srff.data.sides import Rows, Sides

MOST_ROWS = 2000
"""Most held-out rows that variables are drawn anew on."""

FEWEST_ROWS = 20
"""Fewest: of fewer no law of a column can be learned."""

COPIES = 3, 10
"""Fewest and most copies of each variable."""

MOST_COSINES = 5e7
"""Rows times features, copies and variables: what is drawn costs no more than half a second."""

BLOCK_COSINES = 2**22
"""Rows times features at a time, in float64."""

OTHERS = 100
"""Most columns beside those in use that copies are drawn given: those most like these."""

MOST_CURVED = 20
"""Variables up to which laws are learned from bent predictors too: that takes half of the time."""

CATEGORY_VALUES = 30
"""Columns of one input that take so many values together are one category."""

PAIRED = 8
"""Variables whose pairs are looked at: those that are missed most."""

RARE = 0.05
"""Share of gaps up to which a variable is drawn anew only where it has a value."""

Units = list[np.ndarray]
"""The columns of the encoded table that come and go together, for each variable in use."""


@dataclass(frozen=True)
class Missed:
    """What held-out rows say of each variable in use, and of pairs of them."""

    rise: np.ndarray
    """Of the mean loss without the variable, as a share of what the model takes off it."""
    error: np.ndarray
    """Its standard error."""
    pairs: list[tuple[int, int]]
    """Positions of two variables."""
    together: np.ndarray
    """The share of the outputs' variance that the two make only together."""


def missed(
    problem: Problem, sides: list[Sides], each: tuple[Candidate, ...], units: Units
) -> Missed | None:
    """What the rows that folds hold out say; None where they are too few, or nothing is explained.

    ``each`` are the candidates of the folds, none of which has learned from its fold's rows.
    """
    if len(each) != len(sides) or not units:
        return None
    judge = _Judge.of(problem, each, [held for _, held in sides])
    if judge.fold.size < FEWEST_ROWS:
        return None
    every = np.arange(judge.fold.size)
    base = judge.losses(every)
    gain = float(problem.constant.loss - np.average(base, weights=judge.weight))
    if not gain > 0:
        return None
    table = _Table.of(problem, judge.X, units)
    width = max(candidate.expansion().b.size for candidate in each)
    copies = int(np.clip(MOST_COSINES / (base.size * width * len(units)), *COPIES))
    curves = len(units) <= MOST_CURVED
    rise = np.zeros((len(units), base.size))
    drawn = [judge.X[:, columns].copy() for columns in table.columns]
    half = np.arange(base.size) % 2 == 0
    for aside in (np.flatnonzero(half), np.flatnonzero(~half)):
        learn = np.delete(every, aside)
        conditional = Conditional(table.codes, table.levels, learn, aside, curves)
        for k, columns in enumerate(table.columns):
            rng = np.random.default_rng(k)
            law = conditional.copies(table.positions[k], rng)
            said = []
            for _ in range(copies):
                drawn[k][aside] = table.decoded(k, law.draw(rng, 1)[0])
                said.append(judge.outputs(aside, (columns, drawn[k])))
            without = judge.problem.loss.value(judge.Y[aside], averaged(problem.loss, said))
            rise[k, aside] = without - base[aside]
    if problem.loss.quadratic:
        # The mean of K copies varies by a K-th of what one does.
        rise *= copies / (copies + 1)
    mean = rise @ judge.weight / judge.weight.sum()
    error = rise.std(axis=1) / np.sqrt(max(base.size - 1, 1))
    shown = np.argsort(-mean, kind="stable")[:PAIRED]
    pairs, together = _pairs(judge, table.columns, drawn, shown)
    return Missed(mean / gain, error / gain, pairs, together)


def said_of(problem: Problem, one: Candidate, X: np.ndarray) -> np.ndarray:
    """What a candidate predicts of rows in its own columns, in the user's units.

    Of two classes it is the chance of the second.
    """
    p, targets, loss = one.expansion(), problem.targets, problem.loss
    inputs = problem.scaled[one.transform].transform.take(p.columns)
    V, F = features.affine(p.W, p.b), np.tile(p.c, (X.shape[0], 1))
    for rows in row_blocks(X.shape[0], p.b.size, BLOCK_COSINES) if p.columns.size else ():
        U = np.hstack([inputs(X[rows]), np.ones((X[rows].shape[0], 1))])
        F[rows] += features.predict(U, V, p.a)
    F = targets.center + targets.spread * F
    return chances(F)[:, 1:] if isinstance(loss, Logistic) else loss.prediction(F)


def averaged(loss: Loss, outputs: list[np.ndarray]) -> np.ndarray:
    """The outputs whose predictions are the means: of chances for classes, of rates for counts."""
    if isinstance(loss, Logistic | Multinomial):
        p = np.clip(np.mean([chances(F) for F in outputs], axis=0), LEAST_SHARE, 1.0)
        F = np.log(p)
        return F[:, 1:] - F[:, :1] if isinstance(loss, Logistic) else F
    if isinstance(loss, Poisson):
        return np.logaddexp.reduce(outputs, axis=0) - np.log(len(outputs))
    return np.mean(outputs, axis=0)


Change = tuple[np.ndarray, np.ndarray]
"""Some columns, and other values of them: (rows, columns)."""


@dataclass(frozen=True)
class _Judge:
    """Held-out rows, each with the candidate that has not seen it."""

    problem: Problem
    models: list[_Model]
    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    fold: np.ndarray

    @classmethod
    def of(cls, problem: Problem, each: tuple[Candidate, ...], held: list[Rows]) -> _Judge:
        """At most so many rows of all folds together, with targets in the problem's units."""
        X, Y, weight = (
            np.concatenate([getattr(rows, name) for rows in held]) for name in ("X", "Y", "weight")
        )
        fold = np.repeat(np.arange(len(held)), [rows.Y.shape[0] for rows in held])
        few = np.sort(np.random.RandomState(0).permutation(fold.size)[:MOST_ROWS])
        X, fold = X[few], fold[few]
        models = [_Model.of(problem, c, X, np.flatnonzero(fold == k)) for k, c in enumerate(each)]
        Y = (Y[few] - problem.targets.center) / problem.targets.spread
        return cls(problem, models, X, Y, weight[few], fold)

    def losses(self, rows: np.ndarray, *changes: Change) -> np.ndarray:
        """The loss of some rows, with other values in some columns; these are of all rows."""
        return np.asarray(self.problem.loss.value(self.Y[rows], self.outputs(rows, *changes)))

    def outputs(self, rows: np.ndarray, *changes: Change) -> np.ndarray:
        """The outputs for these rows: (rows, outputs)."""
        out = np.zeros((rows.size, self.models[0].plain.shape[1]))
        for k, model in enumerate(self.models):
            here = np.flatnonzero(self.fold[rows] == k)
            if here.size:
                out[here] = model.outputs(rows[here], *changes)
        return out


@dataclass(frozen=True)
class _Model:
    """A candidate and the rows of its fold, mapped as it reads them."""

    columns: np.ndarray
    inputs: Any
    V: np.ndarray
    a: np.ndarray
    c: np.ndarray
    place: np.ndarray
    """Of each of all rows, among those of the fold."""
    mapped: np.ndarray
    plain: np.ndarray
    """The outputs of the fold's rows as they are."""

    @classmethod
    def of(cls, problem: Problem, one: Candidate, X: np.ndarray, rows: np.ndarray) -> _Model:
        """A candidate at its rows; copies differ by far more than float32 rounds."""
        p = one.expansion()
        inputs = problem.scaled[one.transform].transform.take(p.columns)
        V, a = features.affine(p.W, p.b).astype(np.float32), p.a.astype(np.float32)
        place = np.zeros(X.shape[0], dtype=np.intp)
        place[rows] = np.arange(rows.size)
        mapped = inputs(X[np.ix_(rows, p.columns)]) if p.columns.size else np.zeros((rows.size, 0))
        return cls(p.columns, inputs, V, a, p.c, place, mapped, _predicted(mapped, V, a) + p.c)

    def outputs(self, rows: np.ndarray, *changes: Change) -> np.ndarray:
        """The outputs for some rows of the fold; where nothing that it reads changes, as known."""
        at, U = self.place[rows], None
        for columns, values in changes:
            own = np.isin(columns, self.columns)
            if own.any():
                U = self.mapped[at] if U is None else U
                where = np.flatnonzero(np.isin(self.columns, columns))
                order = np.argsort(columns[own], kind="stable")
                U[:, where] = self.inputs.take(where)(values[np.ix_(rows, own)][:, order])
        return self.plain[at] if U is None else _predicted(U, self.V, self.a) + self.c


def _predicted(U: np.ndarray, V: np.ndarray, a: np.ndarray) -> np.ndarray:
    """``Z a`` of mapped rows."""
    if not U.shape[1]:
        return np.zeros((U.shape[0], a.shape[1]))
    ones = np.ones((U.shape[0], 1))
    return features.predict(np.hstack([U, ones]).astype(np.float32), V, a).astype(np.float64)


def _pairs(
    judge: _Judge, units: Units, drawn: list[np.ndarray], shown: np.ndarray
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """``E (f(x) - f(x_i) - f(x_j) + f(x_ij))^2 / 4`` over the variance of f, pair by pair.

    ``x_i`` has variable i drawn anew.  It is zero for a function that is a sum of one without i and
    one without j, whatever else it is of.
    """
    every = np.arange(judge.fold.size)

    def outputs(*which: int) -> np.ndarray:
        F = judge.outputs(every, *((units[k], drawn[k]) for k in which))
        return F - F.mean(axis=1, keepdims=True) if F.shape[1] > 1 else F

    pairs = [(int(i), int(j)) for i, j in combinations(sorted(shown.tolist()), 2)]
    if judge.problem.loss.quadratic and judge.Y.shape[1] > 1:
        return [], np.zeros(0)  # several targets have no common level to take off
    plain, alone = outputs(), {int(k): outputs(int(k)) for k in shown}
    spread = float(np.sum(np.var(plain, axis=0)))
    share = np.zeros(len(pairs))
    for at, (i, j) in enumerate(pairs):
        mixed = plain - alone[i] - alone[j] + outputs(i, j)
        share[at] = float(np.mean(np.sum(mixed**2, axis=1))) / 4 / (spread or 1.0)
    return pairs, np.minimum(share, 1.0)


@dataclass(frozen=True)
class _Table:
    """The columns in use and those most like them, coded so that copies can be drawn."""

    codes: np.ndarray
    levels: Levels
    columns: Units
    """Of each unit, the columns that are drawn anew."""
    positions: list[np.ndarray]
    """Of each unit, among the columns of ``codes``."""
    values: list[np.ndarray | None]
    """Of each unit that is one category, the rows of its columns by their code."""

    @classmethod
    def of(cls, problem: Problem, X: np.ndarray, units: Units) -> _Table:
        """The codes of rows of the encoded table."""
        codes: list[np.ndarray] = []
        levels: list[np.ndarray | None] = []
        drawn, positions, values = [], [], []
        for columns in units:
            category = _as_category(X[:, columns]) if columns.size > 1 else None
            if category is None and columns.size > 1:
                columns = columns[~_rare(X[:, columns])]
            own = X[:, columns].T if category is None else category[1][None]
            drawn.append(columns)
            positions.append(len(codes) + np.arange(len(own)))
            values.append(None if category is None else category[0])
            levels += [None] * len(own) if category is None else [np.arange(len(category[0]))]
            codes += [*own]
        others = _others(problem, X, units)
        codes += [*X[:, others].T]
        known = (*levels, *(None for _ in others))
        return cls(np.stack(codes, axis=1), known, drawn, positions, values)

    def decoded(self, unit: int, codes: np.ndarray) -> np.ndarray:
        """The columns of a unit from drawn codes (rows, coded columns)."""
        values = self.values[unit]
        return codes if values is None else values[codes[:, 0].astype(np.intp)]


def _as_category(X: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The different rows and the number of each, where they are few."""
    values, code = np.unique(X, axis=0, return_inverse=True)
    few = len(values) <= CATEGORY_VALUES
    return (values, code.reshape(-1).astype(np.float64)) if few else None


def _rare(X: np.ndarray) -> np.ndarray:
    """Columns that nearly always have one value: marks of few gaps, which stay where they are."""
    return np.array([np.mean(x != np.median(x)) < RARE for x in X.T])


def _others(problem: Problem, X: np.ndarray, units: Units) -> np.ndarray:
    """Columns that are not in use, in an order of their own: those most like some that are."""
    used = np.concatenate(units)
    others = problem.in_own_order(np.setdiff1d(problem.usable, used))
    if others.size <= OTHERS:
        return others
    U = problem.standard(X)
    U = (U - U.mean(axis=0)) / np.maximum(U.std(axis=0), 1e-9)
    alike = np.abs(U[:, used].T @ U[:, others]).max(axis=0)
    return others[np.sort(np.argsort(-alike, kind="stable")[:OTHERS])]
