"""What is minimised over the frequencies: no function here ever sees a row.

An objective has its coefficients eliminated: it is a function ``V(W, b)`` of the frequencies alone,
with its slopes.  At the best coefficients ``a`` (the envelope theorem) it changes with the features
as ``pull`` times the sum of the rows' losses plus ``<curve, G>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg, optimize

from srff.core.coefficients import (
    Coefficients,
    Evaluation,
    factored,
    inverse_of_factored,
    quadratic_evaluation,
    solve_factored,
    solver_of,
)
from srff.core.engine import Engine
from srff.core.features import Expansion, Statistics
from srff.core.losses import SQUARED, Loss, Squared


class Objective(Protocol):
    """What a descent minimises."""

    @property
    def alpha(self) -> float:
        """The penalty."""

    @property
    def loss(self) -> Loss:
        """The loss of its coefficients."""

    def evaluate(
        self, engine: Engine, W: np.ndarray, b: np.ndarray, columns: np.ndarray, near: Coefficients
    ) -> Evaluation:
        """The value at some frequencies; ``near`` are coefficients near the best, perhaps."""

    def slopes(
        self, engine: Engine, e: Evaluation, W: np.ndarray, b: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives with respect to ``W`` and ``b`` at a point that was evaluated."""


@dataclass(frozen=True)
class TrainingLoss:
    """``T(W, b) = min_a J(a)``, the paper's objective with the coefficients eliminated."""

    alpha: float
    loss: Loss = SQUARED

    def evaluate(
        self, engine: Engine, W: np.ndarray, b: np.ndarray, columns: np.ndarray, near: Coefficients
    ) -> Evaluation:
        """From the statistics for a quadratic loss, by Newton's steps for another."""
        return solver_of(self.loss).solve(engine, (W, b, columns), self.alpha, near)

    def slopes(
        self, engine: Engine, e: Evaluation, W: np.ndarray, b: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """One pull-back."""
        model = Expansion(columns, W, b, e.coef, e.constant)
        _, dW, db = engine.loss_pull_back(self.loss, model)
        return e.pull * engine.n * dW, e.pull * engine.n * db


@dataclass(frozen=True)
class Evidence:
    """Negative log evidence of ``Y ~ N(0, v (Z Z' / (n alpha) + I))`` per row, ``v`` at its best.

    ``(log quad + log det(I + G / (n alpha)) / n) / 2`` for each target, with
    ``quad = (s - c'a) / n`` the best noise level ``v``.  Its derivative in ``log alpha`` is
    ``(alpha ||a||^2 / quad - tr(G A^-1) / n) / 2`` with ``A = G + n alpha I``.
    """

    alpha: float
    loss: Squared = SQUARED

    def evaluate(
        self, engine: Engine, W: np.ndarray, b: np.ndarray, columns: np.ndarray, near: Coefficients
    ) -> Evaluation:
        """From the statistics."""
        return self.of(engine.statistics(W, b, columns, self.loss))

    def of(self, statistics: Statistics) -> Evaluation:
        """The objective of some statistics."""
        G, c, n, q = statistics.G, statistics.c, statistics.n, statistics.c.shape[1]
        shift = n * self.alpha
        factor = factored(G, shift)
        a = solve_factored(factor, c)
        # Statistics of float32 blocks know the noise to a millionth of the target's variance.
        quad = max(statistics.s - float(np.sum(a * c)), 1e-6 * statistics.s) / (n * q)
        log_det = 2 * float(np.sum(np.log(np.diag(factor)))) - G.shape[0] * np.log(shift)
        inverse = inverse_of_factored(factor)
        value = q * (np.log(quad) + log_det / n) / 2
        explained = G.shape[0] - shift * float(np.trace(inverse))
        slope = q * (self.alpha * float(np.sum(a * a)) / (q * quad) - explained / n) / 2
        pull, curve = 1 / (2 * n * quad), inverse * (q / (2 * n))
        return quadratic_evaluation(value, a, statistics, pull, curve, slope)

    def slopes(
        self, engine: Engine, e: Evaluation, W: np.ndarray, b: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """One pull-back: ``dG = pull a a' + curve`` and ``dc = -2 pull a``."""
        assert e.curve is not None
        dG = e.curve + e.pull * (e.coef @ e.coef.T)
        return engine.pull_back(W, b, dG, -2 * e.pull * e.coef, columns, self.loss)


def evidence_alpha(statistics: Statistics, alphas: np.ndarray) -> float:
    """The alpha of a grid, refined between its neighbours, with the largest evidence."""
    n, q = statistics.n, statistics.c.shape[1]
    eigenvalues, V = linalg.eigh(statistics.G)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    power = np.sum((V.T @ statistics.c) ** 2, axis=1)

    def value(log_alpha: float) -> float:
        shift = n * np.exp(log_alpha)
        quad = statistics.s - float(np.sum(power / (eigenvalues + shift)))
        quad = max(quad, 1e-6 * statistics.s)
        return q * (n * np.log(quad) + float(np.sum(np.log1p(eigenvalues / shift))))

    logs = np.sort(np.log(alphas))
    best = int(np.argmin([value(x) for x in logs]))
    low, high = logs[max(best - 1, 0)], logs[min(best + 1, logs.size - 1)]
    if low == high:
        return float(np.exp(low))
    return float(np.exp(optimize.minimize_scalar(value, bounds=(low, high), method="bounded").x))
