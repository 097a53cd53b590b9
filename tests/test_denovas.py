"""Denovas: its derivatives, its two half-steps, its minimum, and what it finds and refuses."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from srff.reproduction.baselines import Denovas, denovas
from srff.reproduction.baselines.denovas import Objective, norms
from srff.reproduction.baselines.derivatives import (
    ImplicitGram,
    StoredGram,
    derivative_matrices,
    slopes_norm,
)

SIGMA = 1.3
GRAMS = pytest.mark.parametrize("gram_class", [StoredGram, ImplicitGram])


def kernel(s, t):
    return np.exp(-np.sum((s - t) ** 2) / (2 * SIGMA**2))


def rows(n=12, d=3, seed=0):
    """Inputs, and a centred target of the first two columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(0, 0.1, n)
    return X, y - y.mean()


def product_data(seed, n=80):
    """A product of columns 1 and 4 out of 6."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X[:, 1] * np.sin(X[:, 4]) + rng.normal(0, 0.1, n)


def problem(gram_class=StoredGram, nu=10.0, **shape):
    X, y = rows(**shape)
    return Objective(gram_class(X, SIGMA), y, nu)


def random_function(gram, seed):
    rng = np.random.default_rng(seed)
    return gram.values_part(rng.normal(size=gram.n)) + gram.slopes_part(
        rng.normal(size=(gram.d, gram.n))
    )


def zero(gram):
    return gram.slopes_part(np.zeros((gram.d, gram.n)))


def inner(f, g):
    """``<f, g>_H`` from the coefficients of one and the values and slopes of the other."""
    return (f.alpha @ g.values + np.sum(f.beta * g.slopes)) / f.alpha.size


def distance(f, g):
    return np.sqrt(max((f - g).squared_norm, 0.0))


# Derivatives


def test_first_derivatives_are_those_of_the_kernel():
    X, _ = rows(n=5)
    K, Z, _ = derivative_matrices(X, SIGMA)
    e = 1e-5 * np.eye(3)
    for i, j, a in np.ndindex(5, 5, 3):
        assert K[i, j] == pytest.approx(kernel(X[i], X[j]), rel=1e-12)
        slope = (kernel(X[i] + e[a], X[j]) - kernel(X[i] - e[a], X[j])) / 2e-5
        assert Z.reshape(3, 5, 5)[a, i, j] == pytest.approx(slope, abs=1e-9)


def test_second_derivatives_are_those_of_the_kernel():
    X, _ = rows(n=4)
    _, _, L = derivative_matrices(X, SIGMA)
    e = 1e-4 * np.eye(3)
    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    for i, j, a, b in np.ndindex(4, 4, 3, 3):
        mixed = sum(p * q * kernel(X[i] + p * e[a], X[j] + q * e[b]) for p, q in signs) / 4e-8
        assert L.reshape(3, 4, 3, 4)[a, i, b, j] == pytest.approx(mixed, abs=1e-7)


@GRAMS
def test_values_and_slopes_are_those_of_the_expansion(gram_class):
    X, _ = rows(n=6)
    gram = gram_class(X, SIGMA)
    f = random_function(gram, 1)

    def expansion(t):
        total = 0.0
        for s, alpha, beta in zip(X, f.alpha, f.beta.T, strict=True):
            total += kernel(s, t) * (alpha - beta @ (s - t) / SIGMA**2)
        return total / 6

    e = 1e-5 * np.eye(3)
    np.testing.assert_allclose(f.values, [expansion(t) for t in X], rtol=1e-10)
    slopes = [[(expansion(t + e[a]) - expansion(t - e[a])) / 2e-5 for t in X] for a in range(3)]
    np.testing.assert_allclose(f.slopes, slopes, atol=1e-8)


def test_the_whole_gram_matrix_gives_the_norm():
    X, _ = rows(n=6)
    K, Z, L = derivative_matrices(X, SIGMA)
    G = np.block([[K, Z.T], [Z, L]])
    assert np.linalg.eigvalsh(G)[0] > -1e-10
    f = random_function(StoredGram(X, SIGMA), 2)
    theta = np.concatenate([f.alpha, f.beta.ravel()])
    assert f.squared_norm == pytest.approx(theta @ G @ theta / 36, rel=1e-10)


def test_stored_and_implicit_products_are_equal():
    X, _ = rows(n=30, d=4)
    f = random_function(StoredGram(X, SIGMA), 3)
    g = random_function(ImplicitGram(X, SIGMA), 3)
    for name in ("alpha", "beta", "values", "slopes"):
        np.testing.assert_allclose(getattr(f, name), getattr(g, name), rtol=1e-9, atol=1e-12)


# The two halves of a step


def test_gradient_of_the_quadratic_part():
    p, tau = problem(nu=0.7), 0.4

    def quadratic(f):
        return np.mean((p.y - f.values) ** 2) + tau * p.nu * f.squared_norm

    f = random_function(p.gram, 4)
    for seed in range(5):
        g = random_function(p.gram, 10 + seed)
        slope = (quadratic(f + 1e-5 * g) - quadratic(f - 1e-5 * g)) / 2e-5
        assert 2 * inner(p.gradient(f, tau), g) == pytest.approx(slope, rel=1e-6)


def test_step_sizes_cover_the_curvatures():
    p, tau = problem(n=20), 0.3
    f, g = random_function(p.gram, 5), random_function(p.gram, 6)
    moved = distance(p.gradient(f, tau), p.gradient(g, tau))
    assert moved <= p.eta(tau) * distance(f, g) * (1 + 1e-10)
    top = np.linalg.eigvalsh(p.gram.L)[-1] / 20
    assert top <= p.slopes_top <= 1.02 * top
    assert slopes_norm(p.gram) == pytest.approx(top, rel=2e-3)


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0])
def test_prox_is_the_solution_of_its_dual_by_another_solver(monkeypatch, mu):
    monkeypatch.setattr(denovas, "INNER_SHARE", 0.0)
    p = problem(n=7, d=2)
    h = random_function(p.gram, 7)
    f, v = p.prox(h, mu, zero(p.gram), floor=1e-12, max_iter=50_000)

    def dual(x):
        g = h - mu * p.gram.slopes_part(x.reshape(2, 7))
        return g.squared_norm / 2, -mu * g.slopes.ravel() / 7

    def ball(a):
        return {
            "type": "ineq",
            "fun": lambda x: 1 - np.mean(x.reshape(2, 7)[a] ** 2),
            "jac": lambda x: (-2 / 7 * x.reshape(2, 7) * np.eye(2)[a][:, None]).ravel(),
        }

    other = minimize(
        dual,
        np.zeros(14),
        jac=True,
        method="SLSQP",
        constraints=[ball(0), ball(1)],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert other.success
    assert dual(v.beta.ravel())[0] == pytest.approx(other.fun, abs=1e-8)
    g = h - mu * p.gram.slopes_part(other.x.reshape(2, 7))
    assert distance(f, g) < 1e-3 * np.sqrt(h.squared_norm)


def test_prox_leaves_nothing_lower_nearby(monkeypatch):
    monkeypatch.setattr(denovas, "INNER_SHARE", 0.0)
    p, mu = problem(n=7, d=2), 0.3
    h = random_function(p.gram, 7)
    f, _ = p.prox(h, mu, zero(p.gram), floor=1e-12, max_iter=50_000)

    def primal(g):
        return (g - h).squared_norm / 2 + mu * norms(g.slopes).sum()

    for seed in range(200):
        step = 10.0 ** -(seed % 4) * random_function(p.gram, seed)
        assert primal(f + step) >= primal(f) - 1e-11


def test_projection_on_the_balls():
    v = np.array([[3.0, 4.0], [0.3, 0.4]])
    projected = denovas.project_balls(v)
    np.testing.assert_allclose(projected[0], v[0] / np.sqrt(12.5))
    np.testing.assert_array_equal(projected[1], v[1])


# The minimum


@GRAMS
@pytest.mark.parametrize(("tau", "expected"), [(0.4, [0, 1, 2]), (1.6, [0, 2]), (5.0, [])])
def test_minimum_is_a_fixed_point_of_the_forward_backward_step(
    monkeypatch, gram_class, tau, expected
):
    p = problem(gram_class, n=12, nu=1.0)
    f, v, converged = p.solve(tau, zero(p.gram), 1e-7, 100_000)
    assert converged
    size = np.sqrt(f.squared_norm)
    monkeypatch.setattr(denovas, "INNER_SHARE", 0.0)
    h = f - (1 / p.eta(tau)) * p.gradient(f, tau)
    again, _ = p.prox(h, tau / p.eta(tau), v, floor=1e-9, max_iter=20_000)
    assert distance(f, again) < 2e-3 * size
    # The conditions of the minimum in terms of coefficients and dual variables.
    used = denovas.selected(v)
    assert np.flatnonzero(used).tolist() == expected
    np.testing.assert_allclose(f.alpha, (p.y - f.values) / tau, atol=5e-3 * np.abs(f.alpha).max())
    assert distance(p.gram.slopes_part(f.beta), p.gram.slopes_part(-v.beta)) < 5e-3 * size
    lengths = norms(f.slopes)
    np.testing.assert_allclose(v.beta[used], f.slopes[used] / lengths[used, None], atol=0.01)
    assert (lengths[~used] < 1e-7).all()


def test_minimum_is_that_of_another_solver():
    p, tau = problem(n=8, d=2, nu=1.0), 0.1
    f, _, _ = p.solve(tau, zero(p.gram), 1e-9, 100_000)
    G = np.block([[p.gram.K, p.gram.Z.T], [p.gram.Z, p.gram.L]])
    values, V = np.linalg.eigh(G)
    root = (V * np.sqrt(np.maximum(values, 0))).T  # coordinates in which the norm is Euclidean

    def smoothed(w):
        """E with ``sqrt(||D_a f||_n^2 + 1e-12)`` and its gradient; ``(S f, D f) = root' w``."""
        at = root.T @ w
        r, slopes = at[:8] - p.y, at[8:].reshape(2, 8)
        lengths = np.sqrt(np.mean(slopes**2, axis=1) + 1e-12)
        E = np.mean(r**2) + tau * (2 * lengths.sum() + p.nu * w @ w)
        outer = np.concatenate([r, (tau * slopes / lengths[:, None]).ravel()]) / 8
        return E, 2 * root @ outer + 2 * tau * p.nu * w

    other = minimize(smoothed, np.zeros(24), jac=True, options={"maxiter": 5000, "gtol": 1e-9})
    assert p(f, tau) == pytest.approx(other.fun, abs=2e-5)
    np.testing.assert_allclose(f.values, (root.T @ other.x)[:8], atol=2e-3)


def test_gap_bounds_the_distance_to_the_minimum():
    p, tau = problem(n=15, nu=1.0), 0.1
    best = p(p.solve(tau, zero(p.gram), 1e-8, 100_000)[0], tau)
    for seed in range(10):
        f = 0.1 * random_function(p.gram, seed)
        v = p.gram.slopes_part(denovas.project_balls(f.beta))
        assert p.gap(f, v, tau) >= p(f, tau) - best - 1e-9


def test_a_huge_tau_selects_nothing():
    p = problem(n=30)
    f, v, _ = p.solve(100.0, zero(p.gram), 0.03, 1000)
    assert not denovas.selected(v).any()
    assert norms(f.slopes).max() < 1e-6


def test_path_falls_from_nothing_to_everything():
    p = problem(n=40)
    taus, masks, converged = p.path(20, 0.03, 1000)
    assert (np.diff(taus) < 0).all()
    np.testing.assert_allclose(np.diff(np.log(taus)), np.log(taus[1] / taus[0]))
    assert not masks[0].any()
    assert masks[-1].all()
    assert not masks[taus > 2.2 * taus[-1]].all(axis=1).any()  # no tau is wasted on everything
    assert converged.all()
    first = masks.argmax(axis=0)
    assert max(first[:2]) < first[2]  # the third column is not in the target


# The estimator


@pytest.mark.parametrize("seed", range(6))
def test_finds_the_two_variables(seed):
    X, y = product_data(seed)
    X_held, y_held = product_data(seed + 100)
    model = Denovas(validation=(X_held, y_held)).fit(X, y)
    np.testing.assert_array_equal(model.selected_, [1, 4])
    X_test, y_test = product_data(seed + 200, 200)
    assert np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) < 0.5 * y_test.std()
    assert model.path_["n_variables"][0] == 0
    error = np.sqrt(np.mean((model.predict(X_held) - y_held) ** 2))
    assert model.path_["validation_error"].min() == pytest.approx(error)


def test_units_do_not_matter():
    X, y = product_data(0)
    X_held, y_held = product_data(100)
    unit = np.array([1e-3, 1.0, 50.0, 1e4, 7.0, 1.0])
    plain = Denovas(validation=(X_held, y_held)).fit(X, y)
    held = (X_held * unit + 3, 1e6 * y_held - 5)
    moved = Denovas(validation=held).fit(X * unit + 3, 1e6 * y - 5)
    np.testing.assert_array_equal(plain.selected_, moved.selected_)
    np.testing.assert_allclose(plain.predict(X), (moved.predict(X * unit + 3) + 5) / 1e6, atol=1e-5)
    np.testing.assert_allclose(
        plain.path_["validation_error"], moved.path_["validation_error"] / 1e6, rtol=1e-5
    )


@pytest.mark.parametrize("refit_width", ["same", "selected"])
def test_implicit_matrices_give_the_same_model(refit_width):
    X, y = product_data(1)
    models = [
        Denovas(random_state=0, matrices=m, refit_width=refit_width).fit(X, y)
        for m in ("stored", "implicit")
    ]
    np.testing.assert_array_equal(models[0].masks_, models[1].masks_)
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X), atol=1e-6)
    assert (models[0].refit_sigma_ == models[0].sigma_) == (refit_width == "same")


@pytest.mark.parametrize(("n", "d", "limit"), [(5000, 18, "32GB"), (1000, 100, "32GB")])
def test_what_does_not_fit_is_refused_before_anything_is_allocated(n, d, limit):
    X = np.random.default_rng(0).normal(size=(n, d))
    data = (X[: n // 5], X[: n // 5, 0])
    model = Denovas(validation=data, memory_limit=limit)
    tracemalloc.start()
    with pytest.raises(
        ValueError, match=rf"needs .* GB for n={n} rows and d={d} .* 32 GB"
    ) as error:
        model.fit(X, X[:, 0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(error.value, MemoryError)
    assert peak < 4 * X.nbytes
    needed = float(str(error.value).split("needs ")[1].split(" GB")[0])
    assert needed > (n * d) ** 2 * 8 / 1e9


def test_sizes_that_the_paper_ran_are_allowed():
    denovas.check_memory((1000, 18), 1000, True, "8GB")
    denovas.check_memory((5000, 18), 1000, False, "8GB")
    denovas.check_memory((5000, 18), 1000, True, None)


@pytest.mark.parametrize("matrices", ["stored", "implicit"])
def test_memory_needed_covers_what_is_used(matrices):
    X = np.random.default_rng(0).normal(size=(400, 4))
    held = (X[:100], X[:100, 0])
    model = Denovas(validation=held, n_taus=4, tol=0.3, matrices=matrices)
    tracemalloc.start()
    model.fit(X, X[:, 0] * X[:, 1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = denovas.required_bytes(400, 4, 100, matrices == "stored")
    assert 0.4 * needed < peak < needed


def test_columns_and_targets_that_do_not_vary():
    X, y = product_data(2)
    X[:, 3] = 7.0
    model = Denovas(validation=product_data(102)).fit(X, y)
    assert not model.masks_[:, 3].any()
    model = Denovas(random_state=0).fit(X, np.full(80, 2.5))
    assert model.selected_.size == 0
    np.testing.assert_array_equal(model.predict(X), 2.5)
    assert not Denovas().fit(np.ones((10, 2)), np.arange(10.0)).selected_.size


def test_a_target_that_the_kernel_cannot_see_selects_nothing():
    X = np.repeat([[0.0], [1.0]], 2, axis=0)
    y = np.array([1.0, -1.0, 1.0, -1.0])
    assert Denovas(validation=(X, y)).fit(X, y).selected_.size == 0


def test_too_few_iterations_are_told():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        Denovas(max_iter=1, n_taus=5, tol=1e-6, random_state=0).fit(*product_data(3, 30))


def test_scikit_learn_conventions():
    model = Denovas(n_taus=7, smoothing=2.0, random_state=3)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    X, y = product_data(4, 40)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), copy.fit(X, y).predict(X))
    assert model.taus_.size == 7
    assert model.selected_.dtype.kind == "i"
    with pytest.raises(ValueError, match="5 features, but Denovas is expecting 6"):
        model.predict(X[:, :5])
    with pytest.raises(ValueError, match="features"):
        Denovas(validation=(X[:, :5], y)).fit(X, y)


WRONG = {"n_taus": 1, "smoothing": 0.0, "memory_limit": "much", "max_iter": 0, "tol": -1.0}
WRONG |= {"matrices": "sparse", "refit_width": "narrow"}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_named(name):
    with pytest.raises(ValueError, match=name):
        Denovas(**{name: WRONG[name]}).fit(*product_data(0, 20))
