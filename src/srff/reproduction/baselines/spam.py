"""SPAM, sparse additive models: a smooth function of each variable, most of them exactly zero.

::

    min_f  ||y - sum_j f_j(x_j)||^2 / (2 n) + lambda sum_j ||f_j||,    ||f||^2 = mean_i f(x_ij)^2

``f_j = Z_j w_j`` in a spline basis whose columns are centred and orthonormal over the training
rows, ``Z_j' Z_j = n I``.  Then ``||f_j|| = ||w_j||`` and the problem is a group lasso, which skglm
solves.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import SplineTransformer

from srff._utils import parameters
from srff.data.moments import center_and_spread
from srff.reproduction.baselines.base import Baseline, Split, choose, lambda_grid, squared_errors

RANK_TOLERANCE = 1e-6
"""Directions of a basis below this share of its largest singular value are not in the data."""

TOLERANCE = 1e-5
"""Largest violation of the optimality conditions, for a target of unit variance."""


@dataclass(frozen=True)
class FunctionBasis:
    """Centred, orthonormal functions of one variable: ``Z = (B(x) - mean) rotation``."""

    splines: SplineTransformer
    mean: np.ndarray
    rotation: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, n_knots: int, degree: int) -> Self | None:
        """Splines with knots at quantiles of ``x``; None if ``x`` does not vary.

        Quantiles that coincide are one knot, and combinations of splines that vanish on ``x`` are
        left out: a variable of two values has one function.
        """
        knots = np.unique(np.quantile(x, np.linspace(0, 1, n_knots)))
        if knots.size < 2:
            return None
        splines = SplineTransformer(knots=knots[:, None], degree=degree)
        B = splines.fit_transform(x[:, None])
        mean = B.mean(axis=0)
        _, values, Vt = linalg.svd(B - mean, full_matrices=False)
        kept = values > RANK_TOLERANCE * values[0]
        return cls(splines, mean, Vt[kept].T / values[kept] * np.sqrt(x.size))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """``Z`` for the values ``x``; beyond the training range functions are constant."""
        return (self.splines.transform(x[:, None]) - self.mean) @ self.rotation


def group_lasso_path(
    Z: np.ndarray, y: np.ndarray, sizes: list[int], lambdas: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Group-lasso coefficients for each lambda, each solve started from the one before.

    Parameters
    ----------
    Z : array of shape (n_rows, sum of sizes)
        Blocks of columns, one block a variable.
    y : array of shape (n_rows,)
        Centred target of about unit variance.
    sizes : list of int
        Columns in each block.
    lambdas : array
        Falling penalties.

    Returns
    -------
    coefs : array of shape (n_lambdas, n_columns)
    violations : array of shape (n_lambdas,)
        Largest violation of the optimality conditions of each solve.
    """
    solver = _group_lasso()(groups=sizes, fit_intercept=False, warm_start=True, tol=TOLERANCE)
    Z = np.asfortranarray(Z)
    coefs, violations = [], []
    for value in lambdas:
        solver.set_params(alpha=value).fit(Z, y)
        coefs.append(solver.coef_.copy())
        violations.append(solver.stop_crit_)
    return np.array(coefs), np.array(violations)


def largest_lambda(Z: np.ndarray, y: np.ndarray, sizes: list[int]) -> float:
    """The least lambda for which every function is zero: ``max_j ||Z_j' y|| / n``."""
    return float(np.sqrt(group_squares(Z.T @ y / y.size, sizes).max()))


def group_squares(w: np.ndarray, sizes: list[int]) -> np.ndarray:
    """``||w_j||^2`` for each group, along the last axis."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(np.square(w), starts, axis=-1)


class SPAM(Baseline):
    """Sparse additive models [1]_: a group lasso over one spline basis a variable.

    The penalty is chosen among 50 by validation error, and the coefficients are the group lasso's
    own: unlike the other sparse baselines there is no second fit on the selected variables.

    Parameters
    ----------
    n_knots : int, default=5
        Knots of each variable, at quantiles.  There are ``n_knots + degree - 2`` functions.
    degree : int, default=3
        Degree of the splines.
    validation : pair (X, y) or None, default=None
        Rows that the penalty is chosen on; None holds out a fifth of the training rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out.

    Attributes
    ----------
    selected_ : integer ndarray
        The variables whose function is not zero.
    importances_ : ndarray of shape (n_features_in_,)
        ``||f_j||``, the root mean square of each function over the training rows.
    lambda_ : float
        The penalty chosen, for a target of unit variance.
    coef_ : list of ndarrays
        Coefficients of the basis of each selected variable, for a target of unit variance.
    intercept_ : float
        The target's mean.
    path_ : dict of arrays
        One row per candidate: ``lambda``, ``n_variables`` and ``validation_error`` (RMSE).

    Notes
    -----
    Needs skglm: ``pip install 'srff[baselines]'``.

    References
    ----------
    .. [1] Ravikumar, Lafferty, Liu, Wasserman, "Sparse Additive Models", Journal of the Royal
       Statistical Society B 71 (2009); first at NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.baselines import SPAM
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = SPAM(random_state=0).fit(X, np.sin(2 * X[:, 1]))
    >>> int(model.importances_.argmax())
    1
    """

    def __init__(
        self,
        n_knots: int = 5,
        degree: int = 3,
        *,
        validation: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(validation=validation, random_state=random_state)
        self.n_knots = n_knots
        self.degree = degree

    def _check_parameters(self) -> None:
        parameters.check_integer("n_knots", self.n_knots, 2)
        parameters.check_integer("degree", self.degree, 1)
        _group_lasso()

    def _fit(self, rows: Split, rng: np.random.RandomState) -> None:
        X, y, X_held, y_held = rows
        self.center_, self.spread_, _ = center_and_spread(X)
        mean, spread, _ = center_and_spread(y[:, None])
        self.intercept_, self.y_spread_ = float(mean[0]), float(spread[0])
        bases = {
            j: basis
            for j, x in enumerate(self._units(X, slice(None)).T)
            if (basis := FunctionBasis.fit(x, self.n_knots, self.degree)) is not None
        }
        columns = np.array(list(bases), dtype=int)
        sizes = [basis.rotation.shape[1] for basis in bases.values()]
        Z, Z_held = self._design(X, bases), self._design(X_held, bases)
        target = (y - self.intercept_) / self.y_spread_
        top = largest_lambda(Z, target, sizes) if sizes else 0.0
        if top > 0:
            lambdas = lambda_grid(top, *Z.shape)
            coefs, violations = group_lasso_path(Z, target, sizes, lambdas)
        else:
            lambdas, violations = np.zeros(1), np.zeros(1)
            coefs = np.zeros((1, Z.shape[1]))
        squares = group_squares(coefs, sizes) if sizes else np.zeros((len(coefs), 0))
        errors = squared_errors((y_held - self.intercept_) / self.y_spread_, Z_held @ coefs.T)
        best = choose(errors)
        if violations[best] > TOLERANCE:
            warnings.warn(
                f"The group lasso stopped with its optimality conditions violated by "
                f"{violations[best]:.1e}; {TOLERANCE:.0e} was asked for.",
                ConvergenceWarning,
                stacklevel=3,
            )
        used = squares[best] > 0
        self.selected_ = columns[used]
        self.bases_ = {j: bases[j] for j in self.selected_}
        split = np.split(coefs[best], np.cumsum(sizes)[:-1]) if sizes else []
        self.coef_ = [w for w, kept in zip(split, used, strict=True) if kept]
        self.importances_ = np.zeros(X.shape[1])
        self.importances_[columns] = np.sqrt(squares[best]) * self.y_spread_
        self.lambda_ = float(lambdas[best])
        self.path_ = {
            "lambda": lambdas,
            "n_variables": np.count_nonzero(squares, axis=1),
            "validation_error": np.sqrt(errors) * self.y_spread_,
        }

    def _predict(self, X: np.ndarray) -> np.ndarray:
        if not self.bases_:
            return np.full(X.shape[0], self.intercept_)
        return self.intercept_ + self.y_spread_ * (
            self._design(X, self.bases_) @ np.concatenate(self.coef_)
        )

    def _units(self, X: np.ndarray, columns: Any) -> np.ndarray:
        return (X[:, columns] - self.center_[columns]) / self.spread_[columns]

    def _design(self, X: np.ndarray, bases: dict[int, FunctionBasis]) -> np.ndarray:
        """The columns ``Z_j`` of the given bases, side by side."""
        if not bases or not X.shape[0]:
            width = sum(basis.rotation.shape[1] for basis in bases.values())
            return np.zeros((X.shape[0], width))
        return np.hstack([basis(self._units(X, j)) for j, basis in bases.items()])


def _group_lasso() -> Any:
    """The estimator of skglm, imported only here: it is an extra, and slow to import."""
    try:
        from skglm import GroupLasso
    except ImportError as error:
        raise ImportError("SPAM needs skglm: pip install 'srff[baselines]'.") from error
    return GroupLasso
