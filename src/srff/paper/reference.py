"""Algorithm 1 of the paper as it is printed: plain NumPy, the paper's names, order and lambda.

To be read beside the paper, and compared with in the tests; :mod:`srff.paper.algorithm1` is what
the estimators run.  The paper's features have no ``1 / sqrt(D)`` and its squares are summed, so
its lambda is ``n D alpha``.
"""

from __future__ import annotations

import numpy as np

from srff.core.simplex import project_simplex


def algorithm1(
    X: np.ndarray,
    y: np.ndarray,
    lambda_: float,
    E: np.ndarray,
    b: np.ndarray,
    simplex: float,
    n_iter: int,
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Coefficients ``a`` (D), scales ``gamma`` (d) and ``J`` after each Step 1.

    ``X`` is n x d, ``y`` has n entries, ``E`` is d x D with a column for each ``epsilon_j``, and
    ``simplex`` is the size of the simplex that ``gamma`` starts evenly on.  Step 2 is plain
    projected gradient descent with backtracking, to its end.
    """
    gamma = np.full(X.shape[1], simplex / X.shape[1])
    J = []
    for _ in range(n_iter):
        # Step 1: solve for a, equations (randFeat2) and (RFLinearProblem).
        omega = gamma[:, None] * E
        Z = np.sqrt(2) * np.cos(X @ omega + b)
        a = np.linalg.solve(Z.T @ Z + lambda_ * np.eye(b.size), Z.T @ y)
        J.append(float(np.sum((y - Z @ a) ** 2) + lambda_ * a @ a))
        # Step 2: solve for gamma, equation (GammaProblem).
        gamma = _solve_gamma(X, y, a, gamma, E, b, simplex)
    return a, gamma, J


def _solve_gamma(
    X: np.ndarray,
    y: np.ndarray,
    a: np.ndarray,
    gamma: np.ndarray,
    E: np.ndarray,
    b: np.ndarray,
    simplex: float,
) -> np.ndarray:
    """``argmin over the simplex of J(gamma) = ||y - Z a||^2``, from ``gamma`` on."""

    def loss(gamma: np.ndarray) -> float:
        return float(np.sum((y - np.sqrt(2) * np.cos(X @ (gamma[:, None] * E) + b) @ a) ** 2))

    step = 1.0
    for _ in range(1000):
        T = X @ (gamma[:, None] * E) + b
        residual = y - np.sqrt(2) * np.cos(T) @ a
        # Equation (GammaGrad); the printed one lacks the factor 2 of a squared error.
        slope = 2 * np.sum((X.T @ (np.sqrt(2) * np.sin(T) * np.outer(residual, a))) * E, axis=1)
        while True:
            moved = project_simplex(gamma - step * slope, simplex)
            if loss(moved) <= loss(gamma) + slope @ (moved - gamma) / 2 or step < 1e-15:
                break
            step /= 2
        if np.abs(moved - gamma).max() < 1e-9 * simplex:
            break
        gamma, step = moved, 2 * step
    return gamma
