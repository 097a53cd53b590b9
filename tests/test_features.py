"""The block functions against direct formulas, finite differences and every array library."""

from __future__ import annotations

import numpy as np
import pytest

from srff.core import features
from srff.core.kernels import Gaussian, Laplace, Matern
from srff.core.losses import SQUARED, Pinball


def affine(X, W, b):
    """``X`` with a column of ones, and the offsets as a row of frequencies."""
    return np.hstack([X, np.ones((len(X), 1), dtype=X.dtype)]), features.affine(W, b)


def on(xp, block, *names):
    """Arrays of the block in an array library; ``X1`` and ``V`` are its affine form."""
    X1, V = affine(block["X"], block["W"], block["b"])
    block = block | {"X1": X1, "V": V, "loss": SQUARED}
    return [xp.asarray(v) if isinstance(v := block[n], np.ndarray) else v for n in names]


def direct_features(X, W, b):
    """Row by row, feature by feature, from the formula of the paper."""
    D = W.shape[1]
    return np.array(
        [[np.sqrt(2 / D) * np.cos(np.dot(x, W[:, j]) + b[j]) for j in range(D)] for x in X]
    )


def test_features_follow_the_formula_in_every_array_library(xp, block):
    Z = features.random_features(*on(xp, block, "X", "W", "b"))
    expected = direct_features(block["X"], block["W"], block["b"])
    np.testing.assert_allclose(np.asarray(Z), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weighted", [True, False])
def test_statistics_are_the_weighted_second_moments(xp, block, weighted):
    if not weighted:
        block["weight"] = None
    G, c, s = features.statistics(*on(xp, block, "X1", "Y", "weight", "loss", "V"))
    Z = direct_features(block["X"], block["W"], block["b"])
    w = block["weight"] if weighted else np.ones(len(Z))
    np.testing.assert_allclose(np.asarray(G), Z.T @ np.diag(w) @ Z, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.asarray(c), Z.T @ np.diag(w) @ block["Y"], atol=1e-12)
    np.testing.assert_allclose(float(s), np.sum(w[:, None] * block["Y"] ** 2), rtol=1e-12)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("weighted", [True, False])
def test_loss_and_its_derivative_agree_with_central_differences(xp, block, weighted, targets):
    if not weighted:
        block["weight"] = None
    block |= {name: block[name][:, :targets] for name in ("Y", "a")}
    block["c"] = block["c"][:targets]
    value, dV = features.loss_pull_back(*on(xp, block, "X1", "Y", "weight", "loss", "V", "a", "c"))
    dW, db = np.asarray(dV)[:-1], np.asarray(dV)[-1]
    (alone,) = features.loss(*on(xp, block, "X1", "Y", "weight", "loss", "V", "a", "c"))
    np.testing.assert_allclose(float(value), float(alone), rtol=1e-12)

    def loss(W, b=block["b"]):
        r = block["Y"] - direct_features(block["X"], W, b) @ block["a"] - block["c"]
        w = block["weight"] if weighted else np.ones(len(r))
        return np.sum(w[:, None] * r**2)

    np.testing.assert_allclose(float(value), loss(block["W"]), rtol=1e-12)
    assert relative_error(dW, central_differences(loss, block["W"])) < 1e-6
    numeric = central_differences(lambda b: loss(block["W"], b), block["b"])
    assert relative_error(db, numeric) < 1e-6


def test_pull_back_agrees_with_central_differences_for_any_function_of_the_statistics(xp, block):
    rng = np.random.RandomState(1)
    D, q = block["a"].shape
    P = rng.standard_normal((D, D))
    Q = rng.standard_normal((D, q))

    def objective(W, b=block["b"]):
        Z = direct_features(block["X"], W, b) * np.sqrt(block["weight"])[:, None]
        Y = block["Y"] * np.sqrt(block["weight"])[:, None]
        return np.sum(np.sin(P * (Z.T @ Z))) + np.sum(Q * (Z.T @ Y) ** 2)

    G, c, _ = features.statistics(*on(np, block, "X1", "Y", "weight", "loss", "V"))
    dG = P * np.cos(P * G)
    block["dG"], block["dc"] = (dG + dG.T) / 2, 2 * Q * c
    (dV,) = features.pull_back(*on(xp, block, "X1", "Y", "weight", "loss", "V", "dG", "dc"))
    dW, db = np.asarray(dV)[:-1], np.asarray(dV)[-1]
    assert relative_error(dW, central_differences(objective, block["W"])) < 1e-6
    numeric = central_differences(lambda b: objective(block["W"], b), block["b"])
    assert relative_error(db, numeric) < 1e-6


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Matern(0.5), Matern(1.5), Matern(2.5)])
def test_the_derivative_in_the_scales_agrees_with_central_differences(kernel):
    rng = np.random.RandomState(2)
    X, Y = rng.standard_normal((60, 4)), rng.standard_normal((60, 1))
    E, b = kernel.sample(rng, (4, 20)), rng.uniform(0, 2 * np.pi, 20)
    a, gamma, c = rng.standard_normal((20, 1)), rng.uniform(0.1, 1, 4), np.array([0.2])

    def loss(gamma):
        X1, V = affine(X, gamma[:, None] * E, b)
        return float(features.loss(X1, Y, None, SQUARED, V, a, c)[0])

    X1, V = affine(X, gamma[:, None] * E, b)
    dW = features.loss_pull_back(X1, Y, None, SQUARED, V, a, c)[1][:-1]
    # Laplace draws are heavy-tailed: the step must be small against the largest phase's period.
    numeric = central_differences(loss, gamma, step=1e-6)
    assert relative_error(np.sum(dW * E, axis=1), numeric) < 1e-6


def test_a_weight_of_two_counts_as_the_row_written_twice(block):
    counts = np.random.RandomState(3).randint(0, 4, len(block["X"]))
    X, V = affine(block["X"], block["W"], block["b"])
    weighted = features.statistics(X, block["Y"], counts.astype(float), SQUARED, V)
    X, Y = np.repeat(X, counts, axis=0), np.repeat(block["Y"], counts, axis=0)
    repeated = features.statistics(X, Y, None, SQUARED, V)
    for left, right in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


def test_predict_is_the_features_times_the_coefficients(block):
    y = features.predict(*on(np, block, "X1", "V", "a"))
    expected = direct_features(block["X"], block["W"], block["b"]) @ block["a"]
    np.testing.assert_allclose(y, expected, rtol=1e-10)


def test_float32_blocks_stay_float32(xp, block):
    single = {k: v.astype(np.float32) for k, v in block.items()}
    G, c, s = features.statistics(*on(xp, single, "X1", "Y", "weight", "loss", "V"))
    pulled = features.loss_pull_back(*on(xp, single, "X1", "Y", "weight", "loss", "V", "a", "c"))
    assert {np.asarray(v).dtype for v in (G, c, s, *pulled)} == {np.dtype(np.float32)}


FREQUENCIES = np.array([0.7, 1.9])
SHARES = np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]])
GROUPS = ((0,), (1,), (2, 4), (3,))
COLUMNS = [np.array([0, 2, 3]), np.array([4, 1])]


def two_models(block):
    """Two models on other columns each, as (columns, W, b, a, c)."""
    W, b, a, c = (block[name] for name in ("W", "b", "a", "c"))
    return [
        (COLUMNS[0], W[COLUMNS[0]], b, a, c),
        (COLUMNS[1], W[COLUMNS[1], :7], b[:7], -a[:7], -c),
    ]


def given(xp, block):
    """X, Y, weight, and the models with the columns that they read, in an array library."""
    last = block["X"].shape[1]
    models = [
        tuple(xp.asarray(p) for p in (features.affine(W, b), a, c, np.append(columns, last)))
        for columns, W, b, a, c in two_models(block)
    ]
    return *on(xp, block, "X1", "Y", "weight"), models


def call(xp, block, name):
    """What a function of the low-order and comparing kind returns, as NumPy arrays."""
    X, Y, weight, models = given(xp, block)
    if name == "difference":
        out = features.difference(X, Y, weight, SQUARED, *models)
    elif name == "blend_losses":
        out = features.blend_losses(X, Y, weight, SQUARED, xp.asarray(SHARES), *models)
    elif name == "permutation_loss":
        out = features.permutation_loss(
            X, Y, weight, SQUARED, *on(xp, block, "V", "a", "c"), GROUPS
        )
    elif name == "pair_statistics":
        columns, total = xp.asarray(np.arange(block["X"].shape[1])), xp.ones_like(Y[:1, :].T)
        arguments = SQUARED, xp.asarray(FREQUENCIES), columns, total, None
        out = features.pair_statistics(X, Y, weight, *arguments)
    else:
        out = features.marginal_statistics(X, Y, weight, SQUARED, xp.asarray(FREQUENCIES), None)
    return [np.asarray(part) for part in out]


def naive(block, name):
    """The same, one row at a time."""
    X, Y, w = block["X"], block["Y"], block["weight"]
    w = np.ones(len(X)) if w is None else w
    residuals = [
        Y - direct_features(X[:, columns], W, b) @ a - c
        for columns, W, b, a, c in two_models(block)
    ]
    if name == "difference":
        sums, squares = np.zeros(2), np.zeros(2)
        for i in range(len(X)):
            one, other = (r[i] @ r[i] for r in residuals)
            delta = np.array([one - other, np.sqrt(one) - np.sqrt(other)])
            sums += w[i] * delta
            squares += w[i] * delta**2
        return [sums, squares]
    if name == "blend_losses":
        means = [share[0] * residuals[0] + share[1] * residuals[1] for share in SHARES]
        return [np.array([sum(w[i] * (r[i] @ r[i]) for i in range(len(X))) for r in means])]
    if name == "permutation_loss":

        def losses(X):
            F = direct_features(X, block["W"], block["b"]) @ block["a"] + block["c"]
            return np.sum((Y - F) ** 2, axis=1)

        deltas = []
        for group in map(list, GROUPS):
            moved = X.copy()
            moved[:, group] = X[block["order"]][:, group]
            deltas.append(losses(moved) - losses(X))
        return [np.array([np.sum(w * v**p) for v in deltas]) for p in (1, 2)]

    def waves(x):
        return [f(k * x) for k in FREQUENCIES for f in (np.cos, np.sin)]

    d, q = X.shape[1], Y.shape[1]
    if name == "marginal_statistics":
        moments, products = np.zeros((5, 5, d)), np.zeros((5, d, q))
        for i in range(len(X)):
            for s in range(d):
                u = np.array([1.0, *waves(X[i, s])])
                moments[:, :, s] += w[i] * np.outer(u, u)
                products[:, s] += w[i] * np.outer(u, Y[i])
        return [moments, products]
    means = [[np.average(u, weights=w) for u in waves(X[:, s])] for s in range(d)]
    sums, squares = np.zeros((4, 4, d, d)), np.zeros((4, 4, d, d))
    for i in range(len(X)):
        for s in range(d):
            for t in range(d):
                u = np.subtract(waves(X[i, s]), means[s])
                v = np.subtract(waves(X[i, t]), means[t])
                sums[:, :, s, t] += w[i] * Y[i].sum() * np.outer(u, v)
                squares[:, :, s, t] += w[i] * (Y[i].sum() * np.outer(u, v)) ** 2
    return [sums, squares]


SUMS = [
    "difference",
    "blend_losses",
    "permutation_loss",
    "marginal_statistics",
    "pair_statistics",
]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", SUMS)
def test_sums_over_rows_agree_with_a_loop_over_rows(xp, block, name, weighted):
    rows = len(block["X"])
    block["order"] = np.random.RandomState(rows).permutation(rows)
    if not weighted:
        block["weight"] = None
    for left, right in zip(call(xp, block, name), naive(block, name), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in SUMS if n != "permutation_loss"])
def test_in_these_sums_too_a_weight_of_two_is_the_row_written_twice(block, name):
    counts = np.random.RandomState(3).randint(0, 4, len(block["X"]))
    weighted = call(np, block | {"weight": counts.astype(float)}, name)
    rows = {n: np.repeat(block[n], counts, axis=0) for n in ("X", "Y")}
    repeated = call(np, block | rows | {"weight": None}, name)
    for left, right in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("entries", [1, 100, 10**6])
def test_losses_of_shuffled_outputs_agree_with_a_loop_over_shuffles(
    xp, block, entries, monkeypatch
):
    monkeypatch.setattr(features, "SHUFFLED_ENTRIES", entries)
    X, Y, weight, models = given(xp, block)
    (found,) = features.shuffled_losses(X, Y, weight, SQUARED, (7, 0), *models)
    n = len(block["X"])
    rng = np.random.RandomState(np.array([n, 0]))
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(7))]
    for losses, (columns, W, b, a, c) in zip(np.asarray(found), two_models(block), strict=True):
        F = direct_features(block["X"][:, columns], W, b) @ a + c
        expected = [block["weight"] @ np.sum((block["Y"] - F[o]) ** 2, axis=1) for o in orders]
        np.testing.assert_allclose(losses, expected, rtol=1e-9)


@pytest.mark.parametrize("weighted", [True, False])
def test_products_with_shuffled_rows_agree_with_a_loop_over_the_same_shuffles(xp, block, weighted):
    if not weighted:
        block["weight"] = None
    X, Y, weight, _ = given(xp, block)
    (found,) = features.shuffled_products(X, Y, weight, SQUARED, (7, 3))
    n = len(block["X"])
    rng = np.random.RandomState(np.array([n, 3]))
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(7))]
    w = block["weight"] if weighted else np.ones(n)
    for s, order in enumerate(orders):
        expected = block["X"][order].T @ (w[:, None] * block["Y"])
        np.testing.assert_allclose(np.asarray(found)[:, :, s], expected, rtol=1e-9, atol=1e-9)


def central_differences(function, point, step=1e-5):
    gradient = np.empty_like(point)
    for index in np.ndindex(*point.shape):
        up, down = point.copy(), point.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (function(up) - function(down)) / (2 * step)
    return gradient


def relative_error(left, right):
    return np.linalg.norm(left - right) / np.linalg.norm(right)


def test_reused_memory_changes_no_bit():
    rng = np.random.RandomState(0)
    V, U = rng.standard_normal((6, 30)), rng.standard_normal((6, 20))
    a, c, dG = rng.standard_normal((30, 1)), np.array([0.2]), rng.standard_normal((30, 30))
    calls = [
        lambda X, Y, w: features.statistics_of_each(X, Y, w, SQUARED, V, U, V + 1),
        lambda X, Y, w: features.loss(X, Y, w, SQUARED, V, a, c),
        lambda X, Y, w: features.loss_pull_back(X, Y, w, SQUARED, V, a, c),
        lambda X, Y, w: features.loss_slope(X, Y, w, Pinball(), V, a, c),
        lambda X, Y, w: features.weighted_statistics(X, Y, w, Pinball(), V, a, c),
        lambda X, Y, w: features.pull_back(X, Y, w, SQUARED, V, dG + dG.T, a),
    ]
    for call in calls:
        with features.reused_memory():
            for rows in (50, 80, 33):  # a last block is smaller
                X, Y = rng.standard_normal((rows, 6)), rng.standard_normal((rows, 1))
                for weight in (None, rng.uniform(0.5, 2, rows)):
                    reused = [np.array(part) for part in call(X, Y, weight)]
                    held, features._memory.arrays = features._memory.arrays, None
                    for one, other in zip(reused, call(X, Y, weight), strict=True):
                        np.testing.assert_array_equal(one, other)
                    features._memory.arrays = held
