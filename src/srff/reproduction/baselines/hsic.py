"""HSIC lasso: the variables whose kernels together look like the kernel of the target.

::

    min_{a >= 0}  ||L - sum_k a_k K_k||_F^2 / 2 + lambda sum_k a_k

``K_k`` is the Gram matrix of a Gaussian kernel on variable ``k`` and ``L`` on the target, both
centred and of unit Frobenius norm.  Only the inner products ``<K_k, K_l>`` and ``<K_k, L>`` enter,
so no matrix of size n^2 d is formed: a few rows of the kernels are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path_gram

from srff._utils import parameters
from srff.core.bandwidth import neighbour_sigma
from srff.data.moments import center_and_spread
from srff.data.problem import SIGMA_ROWS
from srff.estimators.rff import RFFRegressor
from srff.reproduction.baselines.base import N_CANDIDATES, Baseline, Split, choose

EXACT_ROWS = 2000
"""Up to this many rows ``block_size="auto"`` is one block of all rows."""

AUTO_BLOCK = 200
"""Rows of a block above that."""

MAX_STEPS = 100
"""Steps of the path that are followed; later sets are too large to be worth a fit."""

MAX_CANDIDATES = N_CANDIDATES
"""Most sets of variables that the second stage is fitted on, as many as the paper has lambdas."""

_ENTRIES = 2**18
"""Kernel values held at a time."""


def kernel_products(U: np.ndarray) -> np.ndarray:
    """Inner products of the centred Gram matrices of the columns of ``U``, normalised.

    The kernel is ``exp(-(u - u')^2 / 2)``: width one, for columns of unit variance.  With ``m_k``
    the means of the rows of an uncentred ``K_k`` and ``g_k`` its mean::

        <H K_k H, H K_l H> = <K_k, K_l> - 2 n <m_k, m_l> + n^2 g_k g_l

    Each kernel value is computed once.  Memory is O(n q + q^2) beside a fixed piece of the kernels.

    Parameters
    ----------
    U : array of shape (n_rows, q)
        Standardised columns.

    Returns
    -------
    products : array of shape (q, q)
        Cosines between the centred matrices; zero for a column that is constant over the rows.
    """
    n, q = U.shape
    raw = np.zeros((q, q))
    sums = np.zeros((n, q))
    height = max(1, _ENTRIES // (n * q))
    for start in range(0, n, height):
        stop = min(start + height, n)
        # Symmetry: these rows from the diagonal on; what is right of the square counts twice.
        K = U[start:stop, None, :] - U[None, start:, :]
        np.square(K, out=K)
        K *= -0.5
        np.exp(K, out=K)
        square, rest = K[:, : stop - start], K[:, stop - start :]
        sums[start:stop] += K.sum(axis=1)
        sums[stop:] += rest.sum(axis=0)
        values, inner = K.reshape(-1, q), square.reshape(-1, q)
        raw += 2 * (values.T @ values) - inner.T @ inner
    means = sums / n
    total = means.mean(axis=0)
    products = raw - 2 * n * (means.T @ means) + n**2 * np.outer(total, total)
    squares = np.diag(products)
    varies = squares > 1e-10 * np.diag(raw)  # what remains of a constant column is rounding
    scale = np.where(varies, 1 / np.sqrt(np.where(varies, squares, 1.0)), 0.0)
    return products * scale * scale[:, None]


def row_blocks(
    n: int, block_size: int, n_permutations: int, rng: np.random.RandomState
) -> Iterator[np.ndarray]:
    """Rows in random order cut into blocks of ``block_size``, ``n_permutations`` times over.

    The remainder is spread over the blocks, so that every row is used.
    """
    for _ in range(n_permutations):
        yield from np.array_split(rng.permutation(n), max(n // block_size, 1))


def block_kernel_products(U: np.ndarray, blocks: Iterable[np.ndarray]) -> np.ndarray:
    """The mean of :func:`kernel_products` over blocks of rows: O(n B) kernels instead of O(n^2)."""
    total, count = np.zeros((U.shape[1], U.shape[1])), 0
    for rows in blocks:
        total += kernel_products(U[rows])
        count += 1
    return total / count


def hsic_path(products: np.ndarray, max_steps: int = MAX_STEPS) -> tuple[np.ndarray, np.ndarray]:
    """The path of the non-negative lasso, from the inner products with the target's last.

    Returns
    -------
    lambdas : array of shape (n_knots,)
        Falling penalties at which the set of variables changes, and the last one reached.
    coefs : array of shape (n_knots, d)
        ``a`` at each of them.
    """
    G, c = products[:-1, :-1], products[:-1, -1]
    if not (c > 0).any():
        return np.zeros(1), np.zeros((1, c.size))
    _, _, coefs = lars_path_gram(
        Xy=c, Gram=G, n_samples=1, max_iter=max_steps, method="lasso", positive=True
    )
    # scikit-learn takes the last penalty of a positive path from a variable that stays outside;
    # every point is a solution for the residual of the variables inside, which is the largest.
    return (c - coefs.T @ G).max(axis=1), coefs.T


def distinct_supports(coefs: np.ndarray, limit: int = MAX_CANDIDATES) -> list[np.ndarray]:
    """Distinct non-empty sets of variables in the order of the path, at most ``limit`` of them.

    Of a longer list the kept positions are log-spaced: small sets differ more than large ones.
    """
    masks = coefs > 0
    _, first = np.unique(masks, axis=0, return_index=True)
    supports = [np.flatnonzero(masks[i]) for i in np.sort(first) if masks[i].any()]
    if len(supports) <= limit:
        return supports
    return [supports[i] for i in log_positions(len(supports), limit)]


def log_positions(length: int, count: int) -> np.ndarray:
    """``count`` increasing positions below ``length``, one by one at first, then further apart."""
    positions = np.geomspace(1, length, count).round().astype(int)
    for i in range(1, count):  # rounding repeats the first ones
        positions[i] = max(positions[i], positions[i - 1] + 1)
    return positions - 1


class HSICLasso(Baseline):
    """HSIC lasso [1]_ and, as it does not predict, random Fourier features on what it selects.

    The sets of variables along the path are candidates: a :class:`srff.RFFRegressor` is fitted on
    each, with its own choice of alpha, and the validation error picks one.

    Parameters
    ----------
    block_size : int, None or "auto", default="auto"
        Rows in a block of block HSIC lasso [2]_.  None is the exact method, one block of all rows;
        "auto" is exact up to 2,000 rows, and 200 above.
    n_permutations : int, default=3
        Times that the rows are cut into blocks; the exact method needs none.
    refit_width : {"same", "selected"}, default="same"
        The kernel width of the random features: that of all variables, as the paper has it for
        every method, or measured anew in the selected ones.
    n_jobs : int or None, default=None
        Threads of the random features; None is all cores.
    validation : pair (X, y) or None, default=None
        Rows that the set and alpha are chosen on; None holds out a fifth of the training rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out, of the blocks and of the random features.

    Attributes
    ----------
    selected_ : integer ndarray
        The variables of the chosen set.
    model_ : RFFRegressor or None
        The model on them; None if nothing depends on the target, and the mean is predicted.
    intercept_ : float
        The target's mean over the training rows.
    sigma_ : float
        The median distance to the 20 nearest neighbours in all variables.
    lambdas_ : ndarray of shape (n_knots,)
        Penalties at which the path's set of variables changes.
    coefs_ : ndarray of shape (n_knots, n_features_in_)
        The lasso's coefficients there.
    path_ : dict of arrays
        One row per candidate: ``n_variables`` and ``validation_error`` (RMSE).

    References
    ----------
    .. [1] Yamada, Jitkrittum, Sigal, Xing, Sugiyama, "High-Dimensional Feature Selection by
       Feature-Wise Kernelized Lasso", Neural Computation 26 (2014).
    .. [2] Climente-Gonzalez, Azencott, Kaski, Yamada, "Block HSIC Lasso: model-free biomarker
       detection for ultra-high dimensional data", Bioinformatics 35 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from srff.baselines import HSICLasso
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> HSICLasso(random_state=0).fit(X, X[:, 1] * np.sin(X[:, 4])).selected_
    array([1, 4, 5])
    """

    def __init__(
        self,
        block_size: int | str | None = "auto",
        n_permutations: int = 3,
        *,
        refit_width: str = "same",
        n_jobs: int | None = None,
        validation: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(validation=validation, random_state=random_state)
        self.block_size = block_size
        self.n_permutations = n_permutations
        self.refit_width = refit_width
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        if isinstance(self.block_size, str):
            parameters.check_choice("block_size", self.block_size, ("auto",))
        elif self.block_size is not None:
            parameters.check_integer("block_size", self.block_size, 2)
        parameters.check_integer("n_permutations", self.n_permutations, 1)
        parameters.check_choice("refit_width", self.refit_width, ("same", "selected"))

    def _fit(self, rows: Split, rng: np.random.RandomState) -> None:
        X, y, X_held, y_held = rows
        columns = np.column_stack([X, y])
        center, spread, varies = center_and_spread(columns)
        U = (columns - center) / spread
        products = self._products(U, rng)
        self.sigma_ = neighbour_sigma(rng.permutation(U[:, :-1][:, varies[:-1]])[:SIGMA_ROWS])
        self.lambdas_, self.coefs_ = hsic_path(products)
        self.intercept_ = float(center[-1])
        self.model_, self.selected_ = None, np.arange(0)
        # One seed for every candidate: sets are compared under the same draw.
        seed = rng.randint(np.iinfo(np.int32).max)
        supports = distinct_supports(self.coefs_)
        models, errors = [], []
        for support in supports:
            model = RFFRegressor(
                budget=support.size / self.sigma_ if self.refit_width == "same" else "auto",
                validation=(X_held[:, support], y_held),
                n_jobs=self.n_jobs,
                random_state=seed,
            ).fit(X[:, support], y)
            models.append(model)
            errors.append(np.mean(np.square(y_held - model.predict(X_held[:, support]))))
        if models:
            best = choose(errors)
            self.model_, self.selected_ = models[best], supports[best]
        self.path_ = {
            "n_variables": np.array([s.size for s in supports]),
            "validation_error": np.sqrt(errors),
        }

    def _products(self, U: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        size = self.block_size
        if size == "auto":
            size = None if U.shape[0] <= EXACT_ROWS else AUTO_BLOCK
        if size is None or size >= U.shape[0]:
            return kernel_products(U)
        return block_kernel_products(U, row_blocks(U.shape[0], int(size), self.n_permutations, rng))

    def _predict(self, X: np.ndarray) -> np.ndarray:
        if self.model_ is None:
            return np.full(X.shape[0], self.intercept_)
        return self.model_.predict(X[:, self.selected_])
