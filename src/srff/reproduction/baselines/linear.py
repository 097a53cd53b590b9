"""Ridge and lasso, for a target that is linear in the standardised inputs.

::

    ridge:  min_w  ||y - X w||^2 / n + alpha ||w||^2
    lasso:  min_w  ||y - X w||^2 / (2 n) + lambda ||w||_1,  then a ridge on its variables
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import lasso_path

from srff.core.coefficients import largest_eigenvalue, ridge_path
from srff.core.features import Statistics
from srff.data.moments import center_and_spread
from srff.reproduction.baselines.base import (
    N_CANDIDATES,
    Baseline,
    Split,
    choose,
    lambda_grid,
    squared_errors,
)

ALPHA_RANGE = (1e3, 1e-7)
"""Ends of the ridge's grid, as shares of the largest eigenvalue of ``X'X / n``.

At the upper end the model is the mean, up to a thousandth: where nothing is linear, that is best.
"""


@dataclass(frozen=True)
class RidgePath:
    """The ridges of a whole grid, and which of them does best on the validation rows."""

    alphas: np.ndarray
    coefs: np.ndarray
    errors: np.ndarray

    @property
    def chosen(self) -> int:
        """Position of the chosen alpha."""
        return choose(self.errors)


def ridge_by_validation(statistics: Statistics, X: np.ndarray, y: np.ndarray) -> RidgePath:
    """The ridge for each of 50 data-dependent alphas, judged on the rows ``X, y``.

    One eigendecomposition serves the grid.  Without a column the only model is zero.
    """
    if not statistics.G.size:
        zero = np.zeros((X.shape[0], 1))
        return RidgePath(np.array([np.nan]), np.zeros((1, 0)), squared_errors(y, zero))
    alphas = largest_eigenvalue(statistics) * np.geomspace(*ALPHA_RANGE, N_CANDIDATES)
    coefs = ridge_path(statistics, alphas)[:, :, 0]
    return RidgePath(alphas, coefs, squared_errors(y, X @ coefs.T))


def lasso_supports(
    X: np.ndarray, y: np.ndarray, statistics: Statistics
) -> tuple[np.ndarray, np.ndarray]:
    """A falling grid of 50 lambdas, and for each a mask of the columns that the lasso uses."""
    c = statistics.c[:, 0]
    lambdas = lambda_grid(float(np.abs(c).max()) / X.shape[0], *X.shape)
    if not lambdas[0] > 0:  # nothing correlates with the target
        return lambdas[:1], np.zeros((1, X.shape[1]), dtype=bool)
    _, coefs, _ = lasso_path(
        X, y, alphas=lambdas, precompute=statistics.G, Xy=c, tol=1e-6, max_iter=10_000
    )
    masks = coefs.T != 0
    masks[0] = False  # up to rounding; the empty set is a candidate
    return lambdas, masks


class _LinearBaseline(Baseline):
    """What the linear baselines share: standardised inputs inside, the user's units outside."""

    def _fit(self, rows: Split, rng: np.random.RandomState) -> None:
        X, y, X_held, y_held = rows
        center, spread, _ = center_and_spread(X)
        mean = y.mean()
        U, U_held = (X - center) / spread, (X_held - center) / spread
        coef = self._choose(Split(U, y - mean, U_held, y_held - mean))
        self.coef_ = coef / spread
        self.intercept_ = float(mean - center @ self.coef_)

    @abstractmethod
    def _choose(self, rows: Split) -> np.ndarray:
        """Coefficients for centred data."""

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return X @ self.coef_ + self.intercept_


class RidgeBaseline(_LinearBaseline):
    """Ridge regression on the standardised inputs, alpha by validation error.

    Parameters
    ----------
    validation : pair (X, y) or None, default=None
        Rows that alpha is chosen on; None holds out a fifth of the training rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
        Coefficients, in the units of the data.
    intercept_ : float
        Constant of the model.
    alpha_ : float
        The penalty chosen, per row and for standardised inputs.
    path_ : dict of arrays
        One row per candidate: ``alpha`` and ``validation_error`` (RMSE).
    selected_ : None
        The method does not select.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.baselines import RidgeBaseline
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> RidgeBaseline(random_state=0).fit(X, X @ [1, 2, 0] + 4).predict([[1, 1, 1]]).round(3)
    array([7.])
    """

    def _choose(self, rows: Split) -> np.ndarray:
        X, y, X_held, y_held = rows
        path = ridge_by_validation(_statistics(X, y), X_held, y_held)
        self.alpha_ = float(path.alphas[path.chosen])
        self.path_ = {"alpha": path.alphas, "validation_error": np.sqrt(path.errors)}
        self.selected_ = None
        return path.coefs[path.chosen]


class LassoBaseline(_LinearBaseline):
    """The variables of a lasso, then a ridge on them; both penalties by validation error.

    Each distinct set of variables along a grid of 50 lambdas, the empty one included, is a
    candidate with a ridge and a grid of alphas of its own.

    Parameters
    ----------
    validation : pair (X, y) or None, default=None
        Rows that the set and alpha are chosen on; None holds out a fifth of the training rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
        Coefficients, in the units of the data; exactly zero for variables not selected.
    intercept_ : float
        Constant of the model.
    lambda_, alpha_ : float
        Penalty of the lasso that gave the set (the largest that gives it), and of the ridge.
    path_ : dict of arrays
        One row per candidate: ``lambda``, ``n_variables`` and ``validation_error`` (RMSE).
    selected_ : integer ndarray
        The variables of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.baselines import LassoBaseline
    >>> X = np.random.default_rng(0).normal(size=(200, 9))
    >>> LassoBaseline(random_state=0).fit(X, X[:, 2] - X[:, 5]).selected_
    array([2, 5])
    """

    def _choose(self, rows: Split) -> np.ndarray:
        X, y, X_held, y_held = rows
        whole = _statistics(X, y)
        lambdas, masks = lasso_supports(X, y, whole)
        _, first = np.unique(masks, axis=0, return_index=True)
        candidates = np.sort(first)
        paths = []
        for mask in masks[candidates]:
            part = Statistics(whole.G[np.ix_(mask, mask)], whole.c[mask], whole.s, whole.n)
            paths.append(ridge_by_validation(part, X_held[:, mask], y_held))
        errors = np.array([path.errors[path.chosen] for path in paths])
        best = choose(errors)
        path, mask = paths[best], masks[candidates[best]]
        self.lambda_ = float(lambdas[candidates[best]])
        self.alpha_ = float(path.alphas[path.chosen])
        self.path_ = {
            "lambda": lambdas[candidates],
            "n_variables": masks[candidates].sum(axis=1),
            "validation_error": np.sqrt(errors),
        }
        self.selected_ = np.flatnonzero(mask)
        coef = np.zeros(X.shape[1])
        coef[mask] = path.coefs[path.chosen]
        return coef


def _statistics(X: np.ndarray, y: np.ndarray) -> Statistics:
    """The statistics of a linear model: its features are the columns themselves."""
    return Statistics(X.T @ X, (X.T @ y)[:, None], float(y @ y), X.shape[0])
