"""The best coefficients at given frequencies: the ridge solution, or Newton's steps.

For the squared loss everything comes from the statistics.  With ``G = Z'Z`` (D x D), ``c = Z'Y``
(D x q), ``s = Y'Y`` and ``n``, the problem of the paper's Step 1 is::

    J(a) = (||Y - Z a||^2 + n alpha ||a||^2) / n = (s - 2 a'c + a'G a) / n + alpha ||a||^2

:func:`solver_of` chooses between the two ways by the loss; no one else need ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from srff._utils import lapack
from srff.core.engine import Engine
from srff.core.features import Expansion, Statistics
from srff.core.losses import Loss, Squared
from srff.core.newton import newton

SMALLEST_ALPHA = 1e-8
"""Below this a penalty is lost in the rounding of float32 statistics, whose trace is about n."""

LARGEST_ALPHA = 1e8
"""Above this nothing is left of any coefficient: features have a mean square of about one."""

ROUNDING = 1e-12
"""Of the trace of ``G``: a shift below this is lost in a factor of it."""

Waves = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The frequencies ``W`` (columns x D), the offsets ``b`` (D), and the columns that they are of."""

Coefficients = tuple[np.ndarray, np.ndarray]
"""Coefficients (D x outputs) and constants (outputs)."""


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
    alpha_slope: float = 0.0
    """The derivative in ``log alpha``, where the objective has one."""


def ridge(statistics: Statistics, alpha: float) -> np.ndarray:
    """``a = (G + n alpha I)^-1 c``, equation (RFLinearProblem) of the paper."""
    return solve_factored(factored(statistics.G, statistics.n * alpha), statistics.c)


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


def decreasing(alphas: np.ndarray) -> np.ndarray:
    """Penalties that are not lost in rounding, each once, the largest first."""
    return np.unique(np.maximum(alphas, SMALLEST_ALPHA))[::-1]


class Solver(Protocol):
    """How the coefficients of a loss are found; ``near`` are some near the best, perhaps."""

    def solve(self, engine: Engine, waves: Waves, alpha: float, near: Coefficients) -> Evaluation:
        """``min J`` over the coefficients at one penalty."""

    def path(
        self, engine: Engine, waves: Waves, alphas: np.ndarray, near: Coefficients
    ) -> list[Evaluation]:
        """The same for several falling penalties at one set of frequencies."""

    def errors(self, rows: Engine, waves: Waves, each: list[Coefficients]) -> list[float]:
        """The mean losses on other rows of several coefficients at these frequencies."""


@dataclass(frozen=True)
class RidgeSolver:
    """A quadratic loss: one pass for the statistics, whatever the number of penalties."""

    loss: Squared

    def solve(self, engine: Engine, waves: Waves, alpha: float, near: Coefficients) -> Evaluation:
        """The ridge solution."""
        return training_loss(engine.statistics(*waves, self.loss), alpha)

    def path(
        self, engine: Engine, waves: Waves, alphas: np.ndarray, near: Coefficients
    ) -> list[Evaluation]:
        """All from one eigendecomposition."""
        S = engine.statistics(*waves, self.loss)
        return [
            quadratic_evaluation(penalised_loss(S, a, float(alpha)), a, S, 1 / S.n)
            for a, alpha in zip(ridge_path(S, alphas), alphas, strict=True)
        ]

    def errors(self, rows: Engine, waves: Waves, each: list[Coefficients]) -> list[float]:
        """From the statistics of those rows."""
        V = rows.statistics(*waves, self.loss)
        return [max(squared_loss(V, a), 0.0) for a, _ in each]


@dataclass(frozen=True)
class NewtonSolver:
    """Any other convex loss: Newton's steps, each solve from where the last one ended."""

    loss: Loss

    def solve(self, engine: Engine, waves: Waves, alpha: float, near: Coefficients) -> Evaluation:
        """Newton's steps from ``near``."""
        found = newton(engine, self.loss, alpha, *waves, near)
        return Evaluation(found.value, found.a, found.c, found.loss, 1 / engine.n)

    def path(
        self, engine: Engine, waves: Waves, alphas: np.ndarray, near: Coefficients
    ) -> list[Evaluation]:
        """One solve after the other."""
        found: list[Evaluation] = []
        for alpha in alphas:
            e = self.solve(engine, waves, float(alpha), near)
            near = e.coef, e.constant
            found.append(e)
        return found

    def errors(self, rows: Engine, waves: Waves, each: list[Coefficients]) -> list[float]:
        """A pass for each."""
        W, b, columns = waves
        return [rows.loss(self.loss, Expansion(columns, W, b, *given)) for given in each]


def solver_of(loss: Loss) -> Solver:
    """The way to the coefficients of a loss."""
    return RidgeSolver(loss) if isinstance(loss, Squared) else NewtonSolver(loss)


def training_loss(statistics: Statistics, alpha: float) -> Evaluation:
    """``min_a J(a) = (s - c'a) / n`` of a quadratic loss, from its statistics."""
    a = ridge(statistics, alpha)
    value = (statistics.s - float(np.sum(a * statistics.c))) / statistics.n
    return quadratic_evaluation(value, a, statistics, 1 / statistics.n)


def quadratic_evaluation(
    value: float,
    a: np.ndarray,
    statistics: Statistics,
    pull: float,
    curve: np.ndarray | None = None,
    alpha_slope: float = 0.0,
) -> Evaluation:
    """What an objective of a quadratic loss is at its coefficients ``a``."""
    error = max(squared_loss(statistics, a), 0.0)
    return Evaluation(value, a, np.zeros(a.shape[1]), error, pull, curve, alpha_slope)


def cholesky(G: np.ndarray, shift: float) -> np.ndarray | None:
    """The lower Cholesky factor of ``G + shift I``, rubbish above it; None if there is none."""
    A = np.array(G, dtype=np.float64, order="F")
    A[np.diag_indices_from(A)] += shift
    return A if lapack.factor(A) else None


def factored(G: np.ndarray, shift: float) -> np.ndarray:
    """The factor of ``G + shift I``; a shift below the rounding of G is raised."""
    if not np.isfinite(np.trace(G)):
        raise ValueError("The statistics are not finite.")
    while (factor := cholesky(G, shift)) is None:
        shift = max(10 * shift, ROUNDING * float(np.trace(G)))
    return factor


def solve_factored(factor: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``A^-1 c`` from the factor of A."""
    solution = np.array(c, dtype=np.float64, order="F")
    lapack.solve(factor, solution)
    return solution


def inverse_of_factored(factor: np.ndarray) -> np.ndarray:
    """``A^-1`` from the factor of A, which is lost."""
    lapack.invert(factor)
    return np.tril(factor) + np.tril(factor, -1).T
