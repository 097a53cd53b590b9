"""HSIC lasso: inner products, path, blocks and what it finds."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from srff.core.bandwidth import neighbour_sigma
from srff.reproduction.baselines import HSICLasso, hsic


def standardised(seed, n, d=6):
    """Inputs and a target of the first two, side by side, with unit variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(0, 0.3, n)
    U = np.column_stack([X, y])
    return (U - U.mean(axis=0)) / U.std(axis=0)


def vectorised(U):
    """The n^2 x q matrix of centred and normalised Gram matrices, by the definition."""
    n = U.shape[0]
    H = np.eye(n) - 1 / n
    columns = []
    for u in U.T:
        K = np.array([[np.exp(-((a - b) ** 2) / 2) for a in u] for b in u])
        centred = H @ K @ H
        columns.append(centred.ravel() / np.linalg.norm(centred))
    return np.array(columns).T


def entry_order(coefs):
    """Variables in the order in which they first become positive along a path."""
    order = []
    for a in coefs:
        order += [int(k) for k in np.flatnonzero(a > 1e-12) if k not in order]
    return order


@pytest.mark.parametrize("entries", [1, 7 * 37 * 5, 2**18])
def test_inner_products_are_those_of_the_explicit_matrices(monkeypatch, entries):
    monkeypatch.setattr(hsic, "_ENTRIES", entries)  # one row, a few rows and all rows at a time
    U = standardised(0, n=37)
    V = vectorised(U)
    np.testing.assert_allclose(hsic.kernel_products(U), V.T @ V, atol=1e-12)


def test_a_constant_column_has_no_product_with_anything():
    U = standardised(0, n=30)
    U[:, 2] = 0.7
    products = hsic.kernel_products(U)
    assert not products[2].any()
    assert not products[:, 2].any()
    assert np.isfinite(products).all()


def test_a_single_outlier_keeps_unit_norm():
    U = standardised(0, n=1000, d=2)
    U[:, 0] = 0
    U[0, 0] = np.sqrt(1000)
    np.testing.assert_allclose(np.diag(hsic.kernel_products(U)), 1, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Objective did not converge")  # 1e-10 is below its rounding
@pytest.mark.parametrize("seed", range(3))
def test_path_solves_the_lasso_on_the_explicit_matrices(seed):
    U = standardised(seed, n=24)
    V = vectorised(U)
    K, L = V[:, :-1], V[:, -1]
    lambdas, coefs = hsic.hsic_path(hsic.kernel_products(U))
    assert lambdas[0] == pytest.approx((K.T @ L).max())
    assert 0 <= lambdas[-1] < 0.1 * lambdas[0]
    for share in (0.8, 0.4, 0.15, 0.03, 0.0):
        value = share * lambdas[0] + (1 - share) * lambdas[-1]
        lasso = Lasso(
            alpha=value / L.size, positive=True, fit_intercept=False, tol=1e-10, max_iter=100_000
        ).fit(K, L)
        # The path is linear between knots, which are listed with falling penalties.
        ours = [np.interp(value, lambdas[::-1], a[::-1]) for a in coefs.T]
        np.testing.assert_allclose(ours, lasso.coef_, atol=1e-6)
        assert lasso.coef_.any()


def test_path_without_any_positive_product_is_empty():
    products = np.eye(4)
    lambdas, coefs = hsic.hsic_path(products)
    assert lambdas.tolist() == [0]
    assert coefs.tolist() == [[0, 0, 0]]


def test_blocks_use_every_row_once_a_permutation():
    blocks = list(hsic.row_blocks(103, 20, 3, np.random.RandomState(0)))
    assert len(blocks) == 15
    assert {b.size for b in blocks} == {20, 21}
    for m in range(3):
        np.testing.assert_array_equal(
            np.sort(np.concatenate(blocks[5 * m : 5 * m + 5])), range(103)
        )
    assert not np.array_equal(blocks[0], blocks[5])


def test_block_products_are_the_mean_over_blocks():
    U = standardised(1, n=30)
    first, second = np.arange(0, 30, 2), np.arange(1, 30, 2)
    V, W = vectorised(U[first]), vectorised(U[second])
    ours = hsic.block_kernel_products(U, [first, second])
    np.testing.assert_allclose(ours, (V.T @ V + W.T @ W) / 2, atol=1e-12)
    np.testing.assert_allclose(
        hsic.block_kernel_products(U, hsic.row_blocks(30, 30, 2, np.random.RandomState(0))),
        hsic.kernel_products(U),
        atol=1e-12,
    )


def test_block_version_is_close_to_the_exact_one():
    U = standardised(2, n=1200)
    exact = hsic.kernel_products(U)
    errors = []
    for size in (25, 100, 400):
        blocks = hsic.row_blocks(1200, size, 3, np.random.RandomState(0))
        products = hsic.block_kernel_products(U, blocks)
        errors.append(np.abs(products - exact).max())
        assert set(entry_order(hsic.hsic_path(products)[1])[:2]) == {0, 1}
    # The products of independent variables are of the order of one over the size.
    assert errors[0] < 0.15
    assert errors[1] < 0.04
    assert errors[2] < 0.02
    assert errors[0] > errors[1] > errors[2]


def test_supports_are_distinct_in_order_and_thinned_from_the_end():
    coefs = np.tril(np.ones((60, 60)), -1)
    coefs = np.repeat(coefs, 2, axis=0)  # every set twice
    sizes = [s.size for s in hsic.distinct_supports(coefs, 25)]
    assert len(sizes) == 25
    assert sizes[:8] == list(range(1, 9))
    assert sizes[-1] == 59
    assert np.all(np.diff(sizes) > 0)
    assert [s.tolist() for s in hsic.distinct_supports(coefs[:6], 25)] == [[0], [0, 1]]


@pytest.mark.parametrize("block_size", [None, 100])
@pytest.mark.parametrize("seed", range(2))
def test_finds_the_variables_of_a_product_and_a_sum(seed, block_size):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 12))
    y = 2 * X[:, 3] * X[:, 7] + X[:, 10] ** 2 + rng.normal(0, 0.3, 900)
    model = HSICLasso(block_size, validation=(X[500:700], y[500:700]), n_jobs=1, random_state=seed)
    model.fit(X[:500], y[:500])
    assert set(entry_order(model.coefs_)[:3]) == {3, 7, 10}
    assert {3, 7, 10} <= set(model.selected_.tolist())
    best = np.argmin(model.path_["validation_error"])
    assert model.path_["n_variables"][best] == model.selected_.size
    # The last model of the path has all variables.
    assert model.path_["validation_error"][best] < 0.8 * model.path_["validation_error"][-1]


@pytest.mark.parametrize("block_size", [None, 50])
def test_entry_order_is_that_of_pyhsiclasso(block_size, capsys):
    reference = pytest.importorskip("pyHSICLasso", reason="the comparison needs pyHSICLasso")
    U = standardised(4, n=200, d=10)
    theirs = reference.HSICLasso()
    theirs.input(U[:, :-1], U[:, -1])
    theirs.regression(6, B=block_size or 0, M=1, n_jobs=1)
    # It cuts its first permutation, under this seed, into consecutive blocks.
    order = np.random.RandomState(0).permutation(200)
    blocks = np.array_split(order, 200 // (block_size or 200))
    _, coefs = hsic.hsic_path(hsic.block_kernel_products(U, blocks))
    assert entry_order(coefs)[:6] == entry_order(np.asarray(theirs.path).T)[:6]
    beta = np.asarray(theirs.beta).ravel()
    assert np.abs(coefs - beta).max(axis=1).min() < 1e-5  # float32 there


def test_the_second_stage_keeps_the_width_of_all_variables_unless_told_otherwise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = X[:, 1] * np.sin(X[:, 4]) + rng.normal(0, 0.1, 200)
    U = (X - X.mean(axis=0)) / X.std(axis=0)
    same = HSICLasso(random_state=0).fit(X, y)
    assert same.sigma_ == pytest.approx(neighbour_sigma(U[: int(0.8 * 200)]), rel=0.1)
    used = same.selected_.size
    assert same.model_.budget_ == pytest.approx(used / same.sigma_)
    assert same.path_["validation_error"].size <= 50
    anew = HSICLasso(refit_width="selected", random_state=0).fit(X, y)
    # Neighbours are nearer in fewer variables, so that the kernel is narrower.
    assert anew.model_.budget_ > anew.selected_.size / anew.sigma_
    with pytest.raises(ValueError, match="refit_width='none' is unknown"):
        HSICLasso(refit_width="none").fit(X, y)
