"""What is minimised, given the statistics: no function here ever sees a row.

With ``G = Z'Z``, ``c = Z'Y``, ``s = Y'Y`` and ``n``, the ridge problem of the paper's Step 1 is::

    J(a) = (||Y - Z a||^2 + n alpha ||a||^2) / n = (s - 2 a'c + a'G a) / n + alpha ||a||^2
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from srff.features import Statistics


def ridge(statistics: Statistics, alpha: float) -> np.ndarray:
    """``a = (G + n alpha I)^-1 c``, equation (RFLinearProblem) of the paper."""
    A = statistics.G + statistics.n * alpha * np.eye(statistics.G.shape[0])
    try:
        return linalg.cho_solve(linalg.cho_factor(A, lower=True), statistics.c)
    except linalg.LinAlgError:  # alpha below the rounding of G
        return ridge_path(statistics, np.array([alpha]))[0]


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


def squared_loss(statistics: Statistics, a: np.ndarray) -> float:
    """``||Y - Z a||^2 / n``."""
    fit = np.sum(a * (statistics.G @ a)) - 2 * np.sum(a * statistics.c)
    return float((statistics.s + fit) / statistics.n)


def penalised_loss(statistics: Statistics, a: np.ndarray, alpha: float) -> float:
    """The paper's objective divided by n: ``||Y - Z a||^2 / n + alpha ||a||^2``."""
    return squared_loss(statistics, a) + alpha * float(np.sum(a * a))
