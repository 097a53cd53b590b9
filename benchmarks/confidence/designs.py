"""Designs whose variables are known: a draw is rows, a target, and which columns matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from srff.datasets import make_se1, make_se2, make_se3


@dataclass(frozen=True)
class Draw:
    """Inputs (an array or a data frame), a target, and the columns that it depends on."""

    X: Any
    y: np.ndarray
    relevant: tuple[int, ...]
    classes: bool = False


def autoregressive(rng: np.random.RandomState, n: int, d: int, rho: float) -> np.ndarray:
    """Normal columns, each of correlation rho with the one before."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


# The level: columns of many laws, and a target of four of them.

ROWS, COLUMNS = 500, 20
TRUE = (0, 4, 8, 11)


def _target(X: np.ndarray, rng: np.random.RandomState, uneven: bool = False) -> np.ndarray:
    Z = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    a, b, c, d = (Z[:, j] for j in TRUE)
    noise = rng.standard_normal(len(X)) * ((0.3 + 1.5 * np.abs(a)) if uneven else 1.0)
    return a + np.sin(2 * b) + c * d + noise


def _level(columns: Callable[..., np.ndarray], seed: int, **how: Any) -> Draw:
    rng = np.random.RandomState(seed)
    X = columns(rng)
    return Draw(X, _target(X, rng, **how), TRUE)


def _ar(rho: float) -> Callable[[np.random.RandomState], np.ndarray]:
    return lambda rng: autoregressive(rng, ROWS, COLUMNS, rho)


def _t3(rng: np.random.RandomState) -> np.ndarray:
    """A multivariate t of three degrees of freedom."""
    return _ar(0.6)(rng) / np.sqrt(rng.chisquare(3, (ROWS, 1)) / 3)


def _mixture(rng: np.random.RandomState) -> np.ndarray:
    """Every second column has two humps, and all have the same hump in a row."""
    return _ar(0.6)(rng) + 3 * (rng.rand(ROWS, 1) < 0.5) * (np.arange(COLUMNS) % 2)


def _square(rng: np.random.RandomState) -> np.ndarray:
    """Every second column is the square of the one before, with noise."""
    X = rng.standard_normal((ROWS, COLUMNS))
    X[:, 1::2] = X[:, 0::2] ** 2 + 0.5 * rng.standard_normal((ROWS, COLUMNS // 2))
    return X


def _products(rng: np.random.RandomState) -> np.ndarray:
    """Every fourth column is the product of two others, with noise."""
    X = rng.standard_normal((ROWS, COLUMNS))
    X[:, 2::4] = X[:, 0::4] * X[:, 1::4] + 0.5 * rng.standard_normal((ROWS, COLUMNS // 4))
    return X


def _categories(seed: int) -> Draw:
    """Six of the columns are texts that hang on the ones before; one of them matters."""
    import pandas as pd

    rng = np.random.RandomState(seed)
    X = autoregressive(rng, ROWS, COLUMNS, 0.7)
    y = _target(X, rng)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])
    for j in (1, 5, 9, 12, 15, 18):
        frame[f"x{j}"] = np.array(["low", "middle", "high"])[np.digitize(X[:, j], [-0.5, 0.7])]
    y = y + 1.5 * (frame["x15"] == "high").to_numpy()
    return Draw(frame, y, (*TRUE, 15))


def _two_classes(seed: int) -> Draw:
    rng = np.random.RandomState(seed)
    X = _ar(0.6)(rng)
    f = 2 * _target(X, np.random.RandomState(0))
    return Draw(X, (f > rng.logistic(size=ROWS)).astype(int), TRUE, classes=True)


LEVEL: dict[str, Callable[[int], Draw]] = {
    "AR(1), 0": partial(_level, _ar(0.0)),
    "AR(1), 0.6": partial(_level, _ar(0.6)),
    "AR(1), 0.9": partial(_level, _ar(0.9)),
    "t(3)": partial(_level, _t3),
    "mixture": partial(_level, _mixture),
    "squares": partial(_level, _square),
    "products": partial(_level, _products),
    "categories": _categories,
    "uneven noise": partial(_level, _ar(0.6), uneven=True),
    "two classes": _two_classes,
}


# Pure noise, and the false discovery rate.


def _noise(seed: int) -> Draw:
    rng = np.random.RandomState(seed)
    return Draw(rng.standard_normal((500, 50)), rng.standard_normal(500), ())


def _friedman(seed: int) -> Draw:
    rng = np.random.RandomState(seed)
    X = rng.rand(1000, 50)
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return Draw(X, f + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(1000), tuple(range(5)))


def _product(seed: int) -> Draw:
    rng = np.random.RandomState(seed)
    X = autoregressive(rng, 1000, 30, 0.5)
    return Draw(X, X[:, 3] * X[:, 17] + 0.5 * rng.standard_normal(1000), (3, 17))


def _of_ten(form: str, seed: int) -> Draw:
    """Ten of fifty columns of an AR(1) process, by the forms of knockpy's ``sample_response``."""
    rng = np.random.RandomState(seed)
    X = autoregressive(rng, 1000, 50, 0.5)
    relevant = np.sort(rng.permutation(50)[:10])
    beta, U = rng.choice([-1.0, 1.0], 10), X[:, relevant]
    f = {
        "cos": lambda: np.cos(U) @ beta,
        "quadratic": lambda: U**2 @ beta,
        "trunclinear": lambda: (U * beta >= 1) @ beta,
        "pairint": lambda: (U[:, ::2] * U[:, 1::2]) @ (beta[::2] * beta[1::2]),
    }[form]()
    return Draw(X, f + rng.standard_normal(1000), tuple(relevant.tolist()))


def _se1(seed: int) -> Draw:
    return Draw(*make_se1(5000, random_state=seed), (0, 2, 6, 7, 8))


def _se2(seed: int) -> Draw:
    return Draw(*make_se2(1000, random_state=seed), tuple(range(10, 15)))


def _se3(seed: int) -> Draw:
    return Draw(*make_se3(1000, random_state=seed), tuple(range(10)))


POWER: dict[str, Callable[[int], Draw]] = {
    "noise": _noise,
    "SE1 5k": _se1,
    "SE2 1k": _se2,
    "SE3 1k": _se3,
    "Friedman": _friedman,
    "product of two": _product,
    "cos": partial(_of_ten, "cos"),
    "quadratic": partial(_of_ten, "quadratic"),
    "pairint": partial(_of_ten, "pairint"),
    "trunclinear": partial(_of_ten, "trunclinear"),
}
