"""The kernel, its first and its second derivatives between rows, as operators.

With ``k(s, t) = exp(-||s - t||^2 / (2 sigma^2))``, ``x_ij = x_i - x_j`` and ``d_a`` the derivative
along variable ``a`` of the first argument::

    K_ij = k(x_i, x_j),    (Z_a)_ij = d_{s_a} k = -x_ij,a K_ij / sigma^2
    (L_ab)_ij = d_{s_a} d_{t_b} k = K_ij (delta_ab / sigma^2 - x_ij,a x_ij,b / sigma^4)

They describe ``f = S* alpha + D* beta``, which is short for
``(sum_i alpha_i k(x_i, .) + sum_{a,i} beta_{a,i} (d_a k)(x_i, .)) / n``, at the rows: its values
``S f``, its slopes ``D_a f`` and its norm in the kernel's space H are ::

    S f = (K alpha + sum_a Z_a' beta_a) / n,    D_a f = (Z_a alpha + sum_b L_ab beta_b) / n
    ||f||_H^2 = (alpha' S f + sum_a beta_a' D_a f) / n
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import cdist


@dataclass(frozen=True)
class Function:
    """``S* alpha + D* beta`` with its values and slopes at the rows; vectors that add up."""

    alpha: np.ndarray
    beta: np.ndarray
    values: np.ndarray
    slopes: np.ndarray

    def __add__(self, other: Function) -> Function:
        return Function(
            self.alpha + other.alpha,
            self.beta + other.beta,
            self.values + other.values,
            self.slopes + other.slopes,
        )

    def __rmul__(self, c: float) -> Function:
        return Function(c * self.alpha, c * self.beta, c * self.values, c * self.slopes)

    def __sub__(self, other: Function) -> Function:
        return self + -1.0 * other

    @property
    def squared_norm(self) -> float:
        """``||f||_H^2``."""
        return float(self.alpha @ self.values + np.sum(self.beta * self.slopes)) / self.alpha.size


def gaussian(A: np.ndarray, B: np.ndarray, sigma: float) -> np.ndarray:
    """``exp(-||a - b||^2 / (2 sigma^2))`` for all rows of ``A`` and ``B``."""
    K = cdist(A, B, "sqeuclidean")
    K *= -0.5 / sigma**2
    return np.exp(K, out=K)


def derivative_matrices(X: np.ndarray, sigma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``K`` of shape (n, n), ``Z`` of shape (d n, n) and ``L`` of shape (d n, d n)."""
    n, d = X.shape
    K = gaussian(X, X, sigma)
    Z, L = np.empty((d, n, n)), np.empty((d, n, d, n))
    for a in range(d):
        np.subtract.outer(X[:, a], X[:, a], out=Z[a])
        Z[a] *= K / -(sigma**2)
        for b in range(a + 1):
            block = Z[a] * np.subtract.outer(X[:, b], X[:, b]) / sigma**2
            if a == b:
                block += K / sigma**2
            L[a, :, b, :] = L[b, :, a, :] = block  # each block is symmetric
    return K, Z.reshape(d * n, n), L.reshape(d * n, d * n)


class StoredGram:
    """``S*`` and ``D*`` with all matrices in memory, n^2 (1 + d + d^2) numbers: the original's."""

    def __init__(self, X: np.ndarray, sigma: float) -> None:
        self.n, self.d = X.shape
        self.K, self.Z, self.L = derivative_matrices(X, sigma)

    def values_part(self, alpha: np.ndarray) -> Function:
        """``S* alpha``."""
        slopes = (self.Z @ alpha).reshape(self.d, self.n)
        zero = np.zeros_like(slopes)
        return Function(alpha, zero, self.K @ alpha / self.n, slopes / self.n)

    def slopes_part(self, beta: np.ndarray) -> Function:
        """``D* beta``; the symmetric product reads half of ``L``, and reading it is the cost."""
        flat = beta.ravel()
        slopes = blas.dsymv(1 / self.n, self.L.T, flat).reshape(self.d, self.n)
        return Function(np.zeros(self.n), beta, flat @ self.Z / self.n, slopes)


class ImplicitGram:
    """The same products from ``K`` alone, in O(n^2) memory and O(n^2 d) time.

    With ``W_ij = K_ij (alpha_j + sum_b x_ij,b beta_b,j / sigma^2)``, a product of rank d + 1::

        n S f = W 1,    n D_a f = (K beta_a - x_a * (W 1) + W x_a) / sigma^2
    """

    def __init__(self, X: np.ndarray, sigma: float) -> None:
        self.n, self.d = X.shape
        self.K = gaussian(X, X, sigma)
        self.rows = np.column_stack([X, np.ones(self.n)])
        self.scale = 1 / sigma**2
        self.W = np.empty_like(self.K)

    def values_part(self, alpha: np.ndarray) -> Function:
        """``S* alpha``: here ``W = K diag(alpha)``."""
        return self._function(
            alpha, np.zeros((self.d, self.n)), self.K @ (alpha[:, None] * self.rows)
        )

    def slopes_part(self, beta: np.ndarray) -> Function:
        """``D* beta``."""
        offsets = np.einsum("ia,ai->i", self.rows[:, :-1], beta)
        np.matmul(self.rows, self.scale * np.vstack([beta, -offsets]), out=self.W)
        self.W *= self.K
        return self._function(np.zeros(self.n), beta, self.W @ self.rows)

    def _function(self, alpha: np.ndarray, beta: np.ndarray, W_rows: np.ndarray) -> Function:
        values = W_rows[:, -1] / self.n
        slopes = W_rows[:, :-1].T / self.n - self.rows[:, :-1].T * values
        if beta.any():
            slopes += beta @ self.K / self.n
        return Function(alpha, beta, values, self.scale * slopes)


def slopes_norm(gram: StoredGram | ImplicitGram) -> float:
    """``||L|| / n``."""
    shape, size = (gram.d, gram.n), gram.d * gram.n

    def product(x: np.ndarray) -> np.ndarray:
        return gram.slopes_part(x.reshape(shape)).slopes.ravel()

    start = np.random.RandomState(0).standard_normal(size)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    return float(eigsh(operator, k=1, tol=1e-3, v0=start, return_eigenvectors=False)[0])
