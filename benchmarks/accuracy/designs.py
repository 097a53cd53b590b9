"""Laws of inputs and of noise that synthetic problems are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Design = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent standard normal inputs."""
    return rng.standard_normal((n, d))


def uniform(low: float = -1.0, high: float = 1.0) -> Design:
    """Independent uniform inputs."""
    return lambda rng, n, d: rng.uniform(low, high, (n, d))


def ar1(rho: float) -> Design:
    """Standard normal inputs with correlation ``rho ** |i - j|``."""

    def design(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        X = rng.standard_normal((n, d))
        for j in range(1, d):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        return X

    return design


def blocks(size: int, rho: float) -> Design:
    """Standard normal inputs in blocks with correlation ``rho`` inside each."""

    def design(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        common = np.repeat(rng.standard_normal((n, d // size)), size, axis=1)
        return np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((n, d))

    return design


def copies(first: int, noise: float) -> Design:
    """Normal inputs; columns ``first`` to ``2 first`` repeat the first ones with a little noise."""

    def design(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        X = rng.standard_normal((n, d))
        X[:, first : 2 * first] = X[:, :first] + noise * X[:, first : 2 * first]
        return X

    return design


def friedman_units(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """The inputs of Friedman's second and third problem, then uniform ones."""
    X = rng.uniform(0, 1, (n, d))
    X[:, 0] *= 100
    X[:, 1] = np.pi * (40 + 520 * X[:, 1])
    X[:, 3] = 1 + 10 * X[:, 3]
    return X


def bits(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent fair bits."""
    return rng.integers(0, 2, (n, d)).astype(float)


def levels(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Categories coded 0 to 4, without an order."""
    return rng.integers(0, 5, (n, d)).astype(float)


def lognormal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent lognormal inputs."""
    return np.exp(rng.standard_normal((n, d)))


@dataclass(frozen=True)
class Noise:
    """What is added to a function, and the smallest RMSE that it leaves possible.

    Where ``in_test`` is false the test target is the function itself: noise of infinite variance
    would leave nothing else to be seen in the error.
    """

    draw: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    floor: float
    in_test: bool = True


def gaussian(scale: float) -> Noise:
    """Normal noise of one standard deviation."""
    return Noise(lambda rng, X: rng.normal(0, scale, X.shape[0]), float(scale))


def student(df: float, scale: float) -> Noise:
    """Student's t noise, of the training and validation rows alone."""
    return Noise(lambda rng, X: scale * rng.standard_t(df, X.shape[0]), 0.0, in_test=False)


def growing(base: float, slope: float) -> Noise:
    """Normal noise of standard deviation ``base + slope |x1|``, for a standard normal ``x1``."""

    def draw(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
        return (base + slope * np.abs(X[:, 0])) * rng.standard_normal(X.shape[0])

    variance = base**2 + 2 * base * slope * np.sqrt(2 / np.pi) + slope**2
    return Noise(draw, float(np.sqrt(variance)))
