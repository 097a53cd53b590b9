"""Ridge regressions on all predictors but a few, for any target, from one decomposition."""

from __future__ import annotations

import numpy as np
from scipy import linalg

PENALTIES = np.logspace(-5, 2, 15)
"""Of the ridge regressions, for each row: predictors have unit variance."""

LEAST_SHARE = 1e-10
"""Directions of less variance, as a share of the largest, are left out: they are rounding."""


LEAST_LEFT = 1e-9
"""Least share of a row that its own residual is."""


class Regressions:
    """Ridge regressions on predictors ``P`` (n x p), some of them left out.

    With ``P = U S V'`` (centred) and ``A = (P'P + n l)^-1 = (V S^2 / (S^2 + n l) V' ...)``, the
    coefficients on all predictors are ``w = A P't``, and those with zeros at the predictors ``u``
    are ``w - A_.u A_uu^-1 w_u``: the minimum under that constraint.  So one decomposition serves
    every target and everything that is left out.  The penalty ``l`` is the one of the lowest mean
    square of the residuals that each row has when it is left out,
    ``(t_i - m_i) / (1 - 1/n - h_i)`` with ``h`` the diagonal of the hat matrix.
    """

    def __init__(self, P: np.ndarray) -> None:
        n, p = P.shape
        self._center = P.mean(axis=0)
        self._P = P - self._center
        if p <= n:
            squares, V = linalg.eigh(self._P.T @ self._P)
        else:
            squares, U = linalg.eigh(self._P @ self._P.T)
        kept = squares > LEAST_SHARE * max(float(squares.max(initial=0.0)), np.finfo(float).tiny)
        self._s = np.sqrt(squares[kept])
        if p <= n:
            self._V = V[:, kept]
            self._U = self._P @ self._V / self._s
        else:
            self._U = U[:, kept]
            self._V = self._P.T @ self._U / self._s

    def means(
        self, t: np.ndarray, without: np.ndarray, P_new: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The mean of a target given the other predictors at new rows, and what is left.

        ``without`` are the positions of the predictors that are left out.  What is left is of each
        row that was learned from, if it had not been.
        """
        n = t.size
        away = t - t.mean()
        best, least = np.zeros(self._P.shape[1]), away * n / max(n - 1, 1)
        along = self._U.T @ away
        for penalty in n * PENALTIES:
            w, h = self._solved(along, without, penalty)
            left = (away - self._P @ w) / np.maximum(1 - 1 / n - h, LEAST_LEFT)
            if left @ left < least @ least:
                best, least = w, left
        return t.mean() + (P_new - self._center) @ best, least

    def _solved(
        self, along: np.ndarray, without: np.ndarray, penalty: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and the diagonal of the hat matrix."""
        s, U, V = self._s, self._U, self._V
        shrunk = s**2 / (s**2 + penalty)
        w = V @ (shrunk / s * along)
        h = U**2 @ shrunk
        if without.size:
            # A = V diag(1 / (s^2 + l)) V' + (1 - VV') / l
            V_u = V[without]
            A_u = V @ ((1 / (s**2 + penalty) - 1 / penalty)[:, None] * V_u.T)
            A_u[without] += np.eye(without.size) / penalty
            fit_u = U @ ((shrunk / s)[:, None] * V_u.T)  # P A_u
            factor = linalg.cho_factor(A_u[without])
            w = w - A_u @ linalg.cho_solve(factor, w[without])
            h = h - np.sum(fit_u * linalg.cho_solve(factor, fit_u.T).T, axis=1)
        return w, h
