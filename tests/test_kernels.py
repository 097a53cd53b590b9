"""Spectral measures: the Monte-Carlo kernel is the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern as SkMatern

from srff import SRFFRegressor
from srff.core.kernels import KERNELS, Custom, Gaussian, Laplace, Matern, get_kernel, low_order

ALL = [Gaussian(), Laplace(), Matern(0.5), Matern(1.5), Matern(2.5), Matern(0.8), Matern(7.0)]


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_random_features_converge_to_the_kernel(kernel):
    rng = np.random.RandomState(0)
    differences = rng.standard_normal((6, 3)) * 0.7
    errors = []
    for D in (1_000, 100_000):
        E = kernel.sample(rng, (3, D))
        errors.append(np.abs(np.cos(differences @ E).mean(axis=1) - kernel.evaluate(differences)))
    # A mean of D cosines has standard deviation below 1 / sqrt(2 D) + a little: five of them.
    assert errors[0].max() < 5 / np.sqrt(1_000)
    assert errors[1].max() < 5 / np.sqrt(100_000)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 0.8])
def test_matern_is_a_product_of_one_dimensional_materns(nu):
    differences = np.random.RandomState(1).standard_normal((8, 3))
    one = SkMatern(length_scale=1.0, nu=nu)
    expected = np.prod([[one([[0.0]], [[t]])[0, 0] for t in row] for row in differences], axis=1)
    np.testing.assert_allclose(Matern(nu).evaluate(differences), expected, rtol=1e-8)


def test_matern_one_half_is_laplace_and_a_large_nu_is_gaussian():
    t = np.random.RandomState(2).standard_normal((8, 2))
    np.testing.assert_allclose(Matern(0.5).evaluate(t), Laplace().evaluate(t), rtol=1e-10)
    np.testing.assert_allclose(Matern(1e4).evaluate(t), Gaussian().evaluate(t), rtol=1e-2)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_a_kernel_is_one_at_zero_and_vanishes_far_away(kernel):
    assert kernel.evaluate(np.zeros((1, 2)))[0] == 1.0
    assert kernel.evaluate(np.full((1, 2), 1e3))[0] < 1e-3


def test_a_name_an_object_and_a_function_are_kernels():
    rng = np.random.RandomState(0)
    assert get_kernel("matern32") == Matern(1.5)
    assert get_kernel(Matern(2.0)) == Matern(2.0)
    logistic = get_kernel(lambda rng, size: rng.logistic(size=size))
    assert isinstance(logistic, Custom)
    assert logistic.sample(rng, (2, 3)).shape == (2, 3)

    class Own:
        def sample(self, rng, size):
            return rng.laplace(size=size)

    assert get_kernel(Own()).sample(rng, (2, 3)).shape == (2, 3)
    assert set(KERNELS) == {"gaussian", "laplace", "matern12", "matern32", "matern52"}


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("rbf", "kernel='rbf' is unknown"),
        (3, "kernel=3 is neither"),
        (lambda rng, size: np.zeros(3), "shape"),
        (lambda rng, size: np.full(size, np.nan), "NaN"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, message, ring):
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(kernel=kernel, alpha=0.1).fit(*ring)


@pytest.mark.parametrize("nu", [0, -1, np.inf, np.nan])
def test_matern_needs_a_positive_nu(nu):
    with pytest.raises(ValueError, match="nu of the Matern"):
        Matern(nu)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_low_order_columns_have_one_to_three_entries_and_the_same_length(rows):
    E = low_order(Gaussian(), np.random.RandomState(0), (rows, 6000))
    orders = np.count_nonzero(E, axis=0)
    most = min(3, rows)
    assert sorted(set(orders)) == list(range(1, most + 1))
    for m in range(1, most + 1):
        # Equally frequent, and of mean square length one whatever the order.
        assert np.mean(orders == m) == pytest.approx(1 / most, abs=0.03)
        assert np.mean(np.sum(E[:, orders == m] ** 2, axis=0)) == pytest.approx(1.0, abs=0.15)
    shares = np.count_nonzero(E, axis=1) / orders.sum()
    np.testing.assert_allclose(shares, 1 / rows, atol=0.02)
