"""Denovas: a kernel machine whose partial derivatives are penalised, variable by variable.

::

    E(f) = ||y - S f||_n^2 + tau (2 sum_a ||D_a f||_n + nu ||f||_H^2),   ||r||_n^2 = sum_i r_i^2 / n

over the space H of a Gaussian kernel, with ``S f`` the values and ``D_a f`` the derivatives along
variable ``a`` at the n rows.  The minimiser is ``f = S* alpha + D* beta``, a combination of the
kernel and its derivatives at the rows; the module ``derivatives`` has the matrices.

Forward-backward splitting: half the gradient of the quadratic part is ``S*(S f - y) + tau nu f``,
of Lipschitz constant ``eta = ||K|| / n + tau nu``, so that one step is::

    h = (1 - tau nu / eta) f - S*(S f - y) / eta
    f = h - mu D* v,    v = argmin { ||h - mu D* v||_H : ||v_a||_n <= 1 for all a },  mu = tau / eta

The second line is the proximal operator of ``mu sum_a ||D_a f||_n``; ``v`` is found by accelerated
projected gradient with steps ``D (h - mu D* v) / (mu ||L|| / n)``.  At the minimum ``v_a`` is
``D_a f / ||D_a f||_n`` if that is not zero: a variable with ``||v_a||_n < 1`` has no derivative,
and is not selected.

Both stages stop on a duality gap.  For a fixed ``v``, ``E`` with ``<v_a, D_a f>_n`` in place of
``||D_a f||_n`` is least at ``beta = -v / nu``, ``(K / n + tau nu) alpha = y - S D* beta``, and its
value there is a lower bound of ``min E``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from srff._utils import parameters
from srff.core.bandwidth import neighbour_sigma
from srff.core.features import Statistics
from srff.data.engines import parse_memory
from srff.data.moments import center_and_spread
from srff.reproduction.baselines.base import Baseline, Split, choose
from srff.reproduction.baselines.derivatives import (
    Function,
    ImplicitGram,
    StoredGram,
    gaussian,
    slopes_norm,
)
from srff.reproduction.baselines.linear import RidgePath, ridge_by_validation

SMALLEST_TAU = 1e-3
"""Lower end of the path, as a share of its upper end, if not all variables are selected before."""

INNER_SHARE = 0.1
"""The inner iteration stops when its duality gap is this share of what it began with."""

BOUNDARY = 1 - 1e-8
"""A dual variable of at least this norm is on its sphere, where projections leave it exactly."""

_PREDICTION_ROWS = 4096


class MemoryLimitError(ValueError, MemoryError):
    """The matrices of a method do not fit in the memory that it was given."""


def required_bytes(n: int, d: int, n_held: int, stored: bool) -> float:
    """Memory of a fit on ``n`` rows: the matrices, and working copies for eigenvectors."""
    matrices = n**2 * (1 + d + d**2) if stored else 2 * n**2
    working = 6 * n**2 + n * n_held + 40 * n * d
    return 8.0 * (matrices + working)


def check_memory(shape: tuple[int, int], n_held: int, stored: bool, limit: Any) -> None:
    """Refuse what does not fit, before anything is allocated."""
    (n, d), bytes_allowed = shape, parse_memory(limit)
    needed = required_bytes(n, d, n_held, stored)
    if bytes_allowed is not None and needed > bytes_allowed:
        what = "n^2 (1 + d + d^2)" if stored else "2 n^2"
        remedy = " or matrices='implicit'" if stored else ""
        raise MemoryLimitError(
            f"Denovas needs {needed / 1e9:.3g} GB for n={n} rows and d={d} variables ({what} "
            f"numbers and working copies); memory_limit is {bytes_allowed / 1e9:.3g} GB. Use fewer "
            f"rows or columns, a higher memory_limit{remedy}."
        )


def norms(v: np.ndarray) -> np.ndarray:
    """``||v_a||_n`` of each row."""
    return np.sqrt(np.mean(np.square(v), axis=1))


def project_balls(v: np.ndarray) -> np.ndarray:
    """The nearest ``v`` with ``||v_a||_n <= 1`` for every row."""
    return v / np.maximum(norms(v), 1.0)[:, None]


def penalty_gap(slopes: np.ndarray, v: np.ndarray) -> float:
    """``sum_a ||D_a f||_n - <v_a, D_a f>_n``: zero where ``v`` is a subgradient."""
    return float(norms(slopes).sum() - np.sum(v * slopes) / v.shape[1])


class Objective:
    """``E`` for one data set and ``nu``, the two halves of a step, and the path of minimisers."""

    def __init__(self, gram: StoredGram | ImplicitGram, y: np.ndarray, nu: float) -> None:
        self.gram, self.y, self.nu = gram, y, nu
        self.eigenvalues, self.V = linalg.eigh(gram.K / gram.n)
        self.slopes_top = 1.01 * slopes_norm(gram)  # an estimate from below
        self.n_iter = 0

    def __call__(self, f: Function, tau: float) -> float:
        """``E(f)``."""
        penalty = 2 * norms(f.slopes).sum() + self.nu * f.squared_norm
        return float(np.mean(np.square(self.y - f.values)) + tau * penalty)

    def eta(self, tau: float) -> float:
        """The Lipschitz constant of :meth:`gradient`."""
        return float(self.eigenvalues[-1]) + tau * self.nu

    def gradient(self, f: Function, tau: float) -> Function:
        """Half the gradient of ``||y - S f||_n^2 + tau nu ||f||_H^2`` in H."""
        return self.gram.values_part(f.values - self.y) + (tau * self.nu) * f

    def prox(
        self, h: Function, mu: float, v: Function, floor: float = 0.0, max_iter: int = 1000
    ) -> tuple[Function, Function]:
        """``h - mu D* v`` with the best ``v``, and ``D* v``; the search begins at the given one.

        It ends when the gap of ``sum_a ||D_a f||_n`` is below ``floor``, or a share of what it was:
        the next gradient step moves ``h`` further than that.
        """
        u, t, step = v, 1.0, 1 / (mu * self.slopes_top)
        enough = max(floor, INNER_SHARE * penalty_gap(h.slopes - mu * v.slopes, v.beta))
        for _ in range(max_iter):
            last = v
            v = self.gram.slopes_part(project_balls(u.beta + step * (h.slopes - mu * u.slopes)))
            self.n_iter += 1
            if penalty_gap(h.slopes - mu * v.slopes, v.beta) <= enough:
                break
            if np.sum((u.beta - v.beta) * (v.beta - last.beta)) > 0:
                t = 1.0  # the momentum points uphill
            t, momentum = (1 + np.sqrt(1 + 4 * t * t)) / 2, t - 1
            u = v + (momentum / t) * (v - last)
        return h - mu * v, v

    def given_dual(self, v: Function, tau: float) -> Function:
        """The minimiser of ``E`` with ``<v_a, D_a f>_n`` in place of ``||D_a f||_n``."""
        f = (-1 / self.nu) * v
        rotated = self.V.T @ (self.y - f.values)
        alpha = self.V @ (rotated / (np.maximum(self.eigenvalues, 0.0) + tau * self.nu))
        return f + self.gram.values_part(alpha)

    def gap(self, f: Function, v: Function, tau: float) -> float:
        """``E(f)`` minus the lower bound that ``v`` gives: at least ``E(f) - min E``."""
        g = self.given_dual(v, tau)
        bound = (
            np.mean(self.y * (self.y - g.values)) + tau * np.sum(v.beta * g.slopes) / self.gram.n
        )
        return self(f, tau) - float(bound)

    def solve(
        self, tau: float, v: Function, tol: float, max_iter: int
    ) -> tuple[Function, Function, bool]:
        """The minimiser, ``D* v`` and whether the gap is below ``tol`` times a ridge's gain.

        That is ``E(0) - min E`` without the penalty on derivatives, the scale of the problem at
        this tau.  The start is a ``v``, as from another tau; ``max_iter`` bounds products with L.
        """
        f, eta = self.given_dual(v, tau), self.eta(tau)
        target = tol * float(np.mean(self.y * self.given_dual(0.0 * v, tau).values))
        # The errors of inexact steps add up over some eta / (tau nu) of them.
        floor = INNER_SHARE * target / (2 * tau) * (tau * self.nu / eta)
        end = self.n_iter + max_iter
        while self.n_iter < end:
            h = f - (1 / eta) * self.gradient(f, tau)
            f, v = self.prox(h, tau / eta, v, floor, end - self.n_iter)
            if self.gap(f, v, tau) <= target:
                return f, v, True
        return f, v, False

    def path(
        self, n_taus: int, tol: float, max_iter: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Falling taus, for each a mask of the selected variables, and whether it converged.

        The grid is log-spaced from a tau that selects nothing to one that selects everything, both
        found in steps of two, or to ``SMALLEST_TAU`` of its upper end.
        """
        slopes = self.gram.values_part(self.y).slopes
        zero = self.gram.slopes_part(np.zeros_like(slopes))
        # From v = 0 the first projected step reaches a sphere exactly here.
        high = float(norms(slopes).max()) / self.slopes_top
        if not high > np.finfo(float).eps:
            return np.zeros(1), np.zeros((1, self.gram.d), dtype=bool), np.ones(1, dtype=bool)
        while selected(v := self.solve(high, zero, tol, max_iter)[1]).any():
            high *= 2
        low, w = high, v
        while low > SMALLEST_TAU * high and not selected(w).all():
            low /= 2
            w = self.solve(low, w, tol, max_iter)[1]
        taus = np.geomspace(high, low, n_taus)
        masks, converged = np.zeros((n_taus, self.gram.d), dtype=bool), np.ones(n_taus, dtype=bool)
        for i in range(1, n_taus):
            _, v, converged[i] = self.solve(taus[i], v, tol, max_iter)
            masks[i] = selected(v)
        return taus, masks, converged


def selected(v: Function) -> np.ndarray:
    """A mask of the variables whose dual variable is on its sphere."""
    return norms(v.beta) >= BOUNDARY


class Denovas(Baseline):
    """Denovas [1]_, then kernel ridge regression on what it selects.

    The norms of the model's partial derivatives are penalised; a variable is selected if it has a
    derivative.  Each distinct set along a path of tau, the empty one included, is a candidate with
    a kernel ridge regression and a grid of ridges of its own; the validation error picks one.
    Inputs and target are standardised inside.

    Parameters
    ----------
    validation : pair (X, y) or None, default=None
        Rows that the set and the ridge are chosen on; None holds out a fifth of the training rows.
    n_taus : int, default=50
        Length of the path.
    smoothing : float, default=10.0
        ``nu`` in ``tau (2 sum_a ||D_a f||_n + nu ||f||^2)``: that is how the method's authors
        write it, so their default of 10 is taken as it stands.  The order in which variables enter
        hardly depends on it.
    memory_limit : str, number or None, default="8GB"
        Most memory for the matrices and working copies.  What needs more is refused at once.
    max_iter : int, default=1000
        Most products with the matrix of second derivatives for one tau.
    tol : float, default=0.03
        Largest duality gap, as a share of what a kernel ridge with the same smoothing gains over
        predicting zero.  A smaller one does not select better: near the exact minimum more
        variables enter at once, to fit noise.
    matrices : {"stored", "implicit"}, default="stored"
        "stored" keeps all derivatives in memory as the original does, n^2 (1 + d + d^2) numbers.
        "implicit" computes the same products from the kernel matrix, in O(n^2) memory, and faster.
    refit_width : {"same", "selected"}, default="same"
        Width of the ridge regressions' kernel: that of the path, or the median distance to the 20
        nearest neighbours again, in the selected variables alone.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out.

    Attributes
    ----------
    selected_ : integer ndarray
        The variables of the model.
    tau_, alpha_ : float
        The largest tau of the path that gives them, and the ridge penalty per row.
    sigma_, refit_sigma_ : float
        Kernel widths of the path and of the model, for standardised inputs.
    path_ : dict of arrays
        One row per candidate: ``tau``, ``n_variables`` and ``validation_error`` (RMSE).
    taus_, masks_ : ndarrays of shapes (n_taus,) and (n_taus, n_features_in_)
        The whole path.
    n_iter_ : int
        Products with the matrix of second derivatives.
    intercept_ : float
        The target's mean over the training rows.

    References
    ----------
    .. [1] Rosasco, Villa, Mosci, Santoro, Verri, "Nonparametric Sparsity and Regularization",
       Journal of Machine Learning Research 14 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from srff.baselines import Denovas
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> Denovas(random_state=0).fit(X, X[:, 1] * np.sin(X[:, 2])).selected_
    array([1, 2])
    """

    def __init__(
        self,
        validation: Any = None,
        n_taus: int = 50,
        smoothing: float = 10.0,
        memory_limit: str | float | None = "8GB",
        max_iter: int = 1000,
        tol: float = 0.03,
        matrices: str = "stored",
        refit_width: str = "same",
        random_state: Any = None,
    ) -> None:
        super().__init__(validation=validation, random_state=random_state)
        self.n_taus = n_taus
        self.smoothing = smoothing
        self.memory_limit = memory_limit
        self.max_iter = max_iter
        self.tol = tol
        self.matrices = matrices
        self.refit_width = refit_width

    def _check_parameters(self) -> None:
        parameters.check_integer("n_taus", self.n_taus, 2)
        parameters.check_positive("smoothing", self.smoothing)
        parameters.check_integer("max_iter", self.max_iter, 1)
        parameters.check_tolerance(self.tol)
        parameters.check_choice("matrices", self.matrices, ("stored", "implicit"))
        parameters.check_choice("refit_width", self.refit_width, ("same", "selected"))
        parse_memory(self.memory_limit)

    def _fit(self, rows: Split, rng: np.random.RandomState) -> None:
        X, y, X_held, y_held = rows
        check_memory(X.shape, X_held.shape[0], self.matrices == "stored", self.memory_limit)
        self.center_, self.spread_, varies = center_and_spread(X)
        mean, scale = (float(p[0]) for p in center_and_spread(y[:, None])[:2])
        U, U_held = (X - self.center_) / self.spread_, (X_held - self.center_) / self.spread_
        r, r_held = (y - mean) / scale, (y_held - mean) / scale
        self._search(U, r, varies)
        _, first = np.unique(self.masks_, axis=0, return_index=True)
        candidates = np.sort(first)
        refits = [
            self._refit(U[:, mask], r, U_held[:, mask], r_held) for mask in self.masks_[candidates]
        ]
        errors = np.array([path.errors[path.chosen] for _, path in refits])
        best = choose(errors)
        mask, (self.refit_sigma_, path) = self.masks_[candidates[best]], refits[best]
        self.selected_ = np.flatnonzero(mask)
        self.tau_ = float(self.taus_[candidates[best]])
        self.alpha_ = float(path.alphas[path.chosen])
        self.dual_coef_, self.rows_ = scale * path.coefs[path.chosen], U[:, mask]
        self.intercept_ = mean
        self.path_ = {
            "tau": self.taus_[candidates],
            "n_variables": self.masks_[candidates].sum(axis=1),
            "validation_error": scale * np.sqrt(errors),
        }

    def _search(self, U: np.ndarray, y: np.ndarray, varies: np.ndarray) -> None:
        """Set the path; a column that does not vary has no derivative to look at."""
        self.sigma_, self.n_iter_ = neighbour_sigma(U), 0
        self.taus_, self.masks_ = np.zeros(1), np.zeros((1, U.shape[1]), dtype=bool)
        if not (varies.any() and y.any()):
            return
        Gram = StoredGram if self.matrices == "stored" else ImplicitGram
        objective = Objective(Gram(U[:, varies], self.sigma_), y, self.smoothing)
        self.taus_, masks, converged = objective.path(self.n_taus, self.tol, self.max_iter)
        self.masks_ = np.zeros((self.taus_.size, U.shape[1]), dtype=bool)
        self.masks_[:, varies] = masks
        self.n_iter_ = objective.n_iter
        if not converged.all():
            warnings.warn(
                f"{np.sum(~converged)} of {converged.size} values of tau stopped at max_iter="
                f"{self.max_iter} before the gap was below tol={self.tol}; raise either.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _refit(
        self, U: np.ndarray, y: np.ndarray, U_held: np.ndarray, y_held: np.ndarray
    ) -> tuple[float, RidgePath]:
        """Kernel ridge regression ``(K + n alpha I)^-1 y`` for a grid of alphas."""
        if not U.shape[1]:
            empty = Statistics(np.zeros((0, 0)), np.zeros((0, 1)), float(y @ y), y.size)
            return self.sigma_, ridge_by_validation(empty, U_held, y_held)
        sigma = self.sigma_ if self.refit_width == "same" else neighbour_sigma(U)
        kernel = Statistics(gaussian(U, U, sigma), y[:, None], float(y @ y), y.size)
        return sigma, ridge_by_validation(kernel, gaussian(U_held, U, sigma), y_held)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        y = np.full(X.shape[0], self.intercept_)
        s = self.selected_
        for i in range(0, X.shape[0] if s.size else 0, _PREDICTION_ROWS):
            rows = slice(i, i + _PREDICTION_ROWS)
            U = (X[rows, s] - self.center_[s]) / self.spread_[s]
            y[rows] += gaussian(U, self.rows_, self.refit_sigma_) @ self.dual_coef_
        return y
