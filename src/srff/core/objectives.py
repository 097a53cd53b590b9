"""What is minimised over the frequencies: no function here ever sees a row.

An objective has its coefficients eliminated: it is a function of the frequencies alone, with its
slopes.  For the squared loss everything comes from the statistics.  With ``G = Z'Z``, ``c = Z'Y``,
``s = Y'Y`` and ``n``, the ridge problem of the paper's Step 1 is::

    J(a) = (||Y - Z a||^2 + n alpha ||a||^2) / n = (s - 2 a'c + a'G a) / n + alpha ||a||^2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg, optimize

from srff.core.engine import Engine
from srff.core.features import Expansion, Statistics
from srff.core.losses import SQUARED, Loss, Squared
from srff.core.newton import newton


def ridge(statistics: Statistics, alpha: float) -> np.ndarray:
    """``a = (G + n alpha I)^-1 c``, equation (RFLinearProblem) of the paper."""
    factor = _cholesky(statistics.G, statistics.n * alpha)
    if factor is None:  # alpha below the rounding of G
        return ridge_path(statistics, np.array([alpha]))[0]
    return _solved(factor, statistics.c)


def ridge_path(statistics: Statistics, alphas: np.ndarray) -> np.ndarray:
    """``ridge`` for every alpha from one eigendecomposition of ``G``: (n_alphas, D, q)."""
    eigenvalues, V = linalg.eigh(statistics.G)
    # Rounding leaves eigenvalues of either sign around zero: they carry no signal.
    eigenvalues = np.maximum(eigenvalues, 0.0)
    floor = np.finfo(np.float64).eps * max(eigenvalues[-1], np.finfo(np.float64).tiny)
    rotated = V.T @ statistics.c
    return np.stack(
        [
            V @ (rotated / (np.maximum(eigenvalues + statistics.n * a, floor))[:, None])
            for a in alphas
        ]
    )


def largest_eigenvalue(statistics: Statistics) -> float:
    """The largest eigenvalue of ``G / n``: the unit that alpha is measured in."""
    last = statistics.G.shape[0] - 1
    top = linalg.eigvalsh(statistics.G, subset_by_index=[last, last])[0]
    return float(top / statistics.n)


def squared_loss(statistics: Statistics, a: np.ndarray) -> float:
    """``||Y - Z a||^2 / n``."""
    fit = np.sum(a * (statistics.G @ a)) - 2 * np.sum(a * statistics.c)
    return float((statistics.s + fit) / statistics.n)


def penalised_loss(statistics: Statistics, a: np.ndarray, alpha: float) -> float:
    """The paper's objective divided by n: ``||Y - Z a||^2 / n + alpha ||a||^2``."""
    return squared_loss(statistics, a) + alpha * float(np.sum(a * a))


SMALLEST_ALPHA = 1e-8
"""Below this a penalty is lost in the rounding of float32 statistics, whose trace is about n."""

Coefficients = tuple[np.ndarray, np.ndarray]
"""Coefficients and constants."""


@dataclass(frozen=True)
class Evaluation:
    """The value of an objective at its best coefficients, and its slope in the features.

    With ``coef`` held (it is optimal, so the envelope theorem allows it) the objective changes with
    the features as ``pull`` times the sum of the rows' losses, and where ``curve`` is not None as
    ``<curve, G>`` too: a symmetric matrix.
    """

    value: float
    coef: np.ndarray
    constant: np.ndarray
    training_error: float
    pull: float
    curve: np.ndarray | None = None


class Objective(Protocol):
    """What a descent minimises."""

    @property
    def alpha(self) -> float:
        """The penalty."""

    @property
    def loss(self) -> Loss:
        """The loss of its coefficients."""

    def evaluate(
        self, engine: Engine, W: np.ndarray, b: np.ndarray, columns: np.ndarray, start: Coefficients
    ) -> Evaluation:
        """The value at some frequencies; ``start`` is near the best coefficients, perhaps."""

    def slopes(
        self, engine: Engine, e: Evaluation, W: np.ndarray, b: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives with respect to ``W`` and ``b`` at a point that was evaluated."""


@dataclass(frozen=True)
class TrainingLoss:
    """``min_a J(a)``, the paper's objective with the coefficients eliminated, for any loss."""

    alpha: float
    loss: Loss = SQUARED

    def evaluate(
        self, engine: Engine, W: np.ndarray, b: np.ndarray, columns: np.ndarray, start: Coefficients
    ) -> Evaluation:
        """From the statistics for a quadratic loss, by Newton's steps for another."""
        if isinstance(self.loss, Squared):
            return self.of(engine.statistics(W, b, columns, self.loss))
        found = newton(engine, self.loss, self.alpha, W, b, columns, start)
        return Evaluation(found.value, found.a, found.c, found.loss, 1 / engine.n)

    def of(self, statistics: Statistics) -> Evaluation:
        """The objective of a quadratic loss."""
        a = ridge(statistics, self.alpha)
        value = (statistics.s - float(np.sum(a * statistics.c))) / statistics.n
        return _quadratic(value, a, statistics, 1 / statistics.n)

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
    ``quad = (s - c'a) / n`` the best noise level ``v``.
    """

    alpha: float
    loss: Squared = SQUARED

    def evaluate(
        self, engine: Engine, W: np.ndarray, b: np.ndarray, columns: np.ndarray, start: Coefficients
    ) -> Evaluation:
        """From the statistics."""
        return self.of(engine.statistics(W, b, columns, self.loss))

    def of(self, statistics: Statistics) -> Evaluation:
        """The objective of some statistics."""
        G, c, n, q = statistics.G, statistics.c, statistics.n, statistics.c.shape[1]
        shift = n * self.alpha
        factor = _factor(G, shift)
        a = _solved(factor, c)
        # Statistics of float32 blocks know the noise to a millionth of the target's variance.
        quad = max(statistics.s - float(np.sum(a * c)), 1e-6 * statistics.s) / (n * q)
        log_det = 2 * float(np.sum(np.log(np.diag(factor)))) - G.shape[0] * np.log(shift)
        inverse, _ = linalg.lapack.dpotri(factor, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        value = q * (np.log(quad) + log_det / n) / 2
        return _quadratic(value, a, statistics, 1 / (2 * n * quad), inverse * (q / (2 * n)))

    def slopes(
        self, engine: Engine, e: Evaluation, W: np.ndarray, b: np.ndarray, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """One pull-back: ``dG = pull a a' + curve`` and ``dc = -2 pull a``."""
        assert e.curve is not None
        dG = e.curve + e.pull * (e.coef @ e.coef.T)
        return engine.pull_back(W, b, dG, -2 * e.pull * e.coef, columns, self.loss)


def _quadratic(
    value: float,
    a: np.ndarray,
    statistics: Statistics,
    pull: float,
    curve: np.ndarray | None = None,
) -> Evaluation:
    error = max(squared_loss(statistics, a), 0.0)
    return Evaluation(value, a, np.zeros(a.shape[1]), error, pull, curve)


def solve_path(
    engine: Engine,
    loss: Loss,
    W: np.ndarray,
    b: np.ndarray,
    columns: np.ndarray,
    alphas: np.ndarray,
    start: Coefficients,
) -> list[Evaluation]:
    """The training objective at one set of frequencies for several falling penalties.

    One pass and one eigendecomposition for a quadratic loss; for another, each solve begins where
    the last ended.
    """
    if isinstance(loss, Squared):
        S = engine.statistics(W, b, columns, loss)
        return [
            _quadratic(penalised_loss(S, a, float(alpha)), a, S, 1 / S.n)
            for a, alpha in zip(ridge_path(S, alphas), alphas, strict=True)
        ]
    found: list[Evaluation] = []
    for alpha in alphas:
        e = TrainingLoss(float(alpha), loss).evaluate(engine, W, b, columns, start)
        start = e.coef, e.constant
        found.append(e)
    return found


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


def _cholesky(G: np.ndarray, shift: float) -> np.ndarray | None:
    """The lower Cholesky factor of ``G + shift I``, rubbish above it; None if there is none."""
    A = np.array(G, dtype=np.float64, order="F")
    A[np.diag_indices_from(A)] += shift
    factor, failed = linalg.lapack.dpotrf(A, lower=1, clean=0, overwrite_a=1)
    return None if failed else factor


def _solved(factor: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``A^-1 c`` from the factor of A."""
    solution, _ = linalg.lapack.dpotrs(factor, c, lower=1)
    return solution


def _factor(G: np.ndarray, shift: float) -> np.ndarray:
    """The lower Cholesky factor of ``G + shift I``; a shift below the rounding of G is raised."""
    if not np.isfinite(np.trace(G)):
        raise ValueError("The statistics are not finite.")
    while (factor := _cholesky(G, shift)) is None:
        shift = max(10 * shift, np.finfo(float).eps * float(np.trace(G)))
    return factor
