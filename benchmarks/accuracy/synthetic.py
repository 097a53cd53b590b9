"""Synthetic problems: the paper's, and other functions of inputs with noise."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from designs import (
    Design,
    Noise,
    ar1,
    bits,
    blocks,
    copies,
    friedman_units,
    gaussian,
    growing,
    levels,
    lognormal,
    normal,
    student,
    uniform,
)
from problem import TEST_ROWS, VALIDATION_ROWS, Draw, Pair, Problem, cut

from srff import datasets

Function = Callable[[np.ndarray], np.ndarray]


def paper_problem(truth: datasets.Truth, make: Callable[..., Pair], n_train: int) -> Problem:
    """SE1, SE2 or SE3 at a training size."""
    n_validation = 10000 if truth.name == "SE3" else VALIDATION_ROWS

    def rows(seed: int) -> Draw:
        X, y = make(n_train + n_validation + TEST_ROWS, random_state=seed)
        return cut(X, y, n_train, n_validation)

    return Problem(
        name=f"{truth.name.lower()}-{n_train // 1000}k",
        family="paper",
        formula=truth.formula,
        n_train=n_train,
        n_features=truth.n_features,
        rows=rows,
        groups=tuple((i,) for i in truth.relevant),
        floor=truth.noise_floor,
    )


def synthetic(
    name: str,
    formula: str,
    function: Function,
    noise: Noise,
    relevant: int | tuple[tuple[int, ...], ...],
    *,
    shape: tuple[int, int] = (1000, 40),
    design: Design = normal,
    neutral: tuple[int, ...] = (),
) -> Problem:
    """A problem from its parts; ``relevant`` is a number of first columns, or the groups."""
    groups = tuple((i,) for i in range(relevant)) if isinstance(relevant, int) else relevant
    n, d = shape

    def rows(seed: int) -> Draw:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        X = design(rng, n + VALIDATION_ROWS + TEST_ROWS, d)
        f = function(X)
        y = f + noise.draw(rng, X)
        if not noise.in_test:
            y[-TEST_ROWS:] = f[-TEST_ROWS:]
        return cut(X, y, n, VALIDATION_ROWS)

    return Problem(name, "other", formula, n, d, rows, groups, neutral, floor=noise.floor)


def _friedman1(X: np.ndarray) -> np.ndarray:
    wave = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return wave + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def _reactance(X: np.ndarray) -> np.ndarray:
    return X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])


def _additive(X: np.ndarray) -> np.ndarray:
    return -2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + np.exp(-X[:, 3])


def _single_index(X: np.ndarray) -> np.ndarray:
    u = (X[:, :6] @ np.array([1, -1, 1, 1, -1, 1])) / np.sqrt(6)
    return np.sin(2 * u) + 0.5 * u**2


def _two_index(X: np.ndarray) -> np.ndarray:
    u, v = (X[:, 0] + X[:, 1] + X[:, 2]) / np.sqrt(3), (X[:, 3] - X[:, 4]) / np.sqrt(2)
    return u * np.cos(2 * v)


def _mixed(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2


def _far_apart(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 4]) + X[:, 14] * X[:, 24] + np.abs(X[:, 34])


def _one_per_block(X: np.ndarray) -> np.ndarray:
    return 1.5 * np.tanh(2 * X[:, 0]) + X[:, 10] * X[:, 20]


def _wide(X: np.ndarray) -> np.ndarray:
    return 2 * np.sin(X[:, 0]) + X[:, 1] ** 2 + X[:, 2]


def _steps(X: np.ndarray) -> np.ndarray:
    first = np.where(X[:, 0] > 0, 2.0, -1.0) * (X[:, 1] > 0.3)
    return first + 1.5 * ((X[:, 2] > -0.5) & (X[:, 3] < 0.5)) - (X[:, 2] > 0.7)


def _logic(X: np.ndarray) -> np.ndarray:
    xor = np.abs(X[:, 0] - X[:, 1])
    return 2 * xor + 1.5 * X[:, 2] * X[:, 3] * X[:, 4] + X[:, 5]


def _codes(X: np.ndarray) -> np.ndarray:
    first, second = np.array([0.0, 2.0, -1.0, 1.5, -2.0]), np.array([1.0, -1.0, 1.0, -1.0, 0.5])
    x = X[:, :3].astype(int)
    return first[x[:, 0]] + second[x[:, 1]] * first[x[:, 2]]


def _skewed(X: np.ndarray) -> np.ndarray:
    return 2 * np.log(X[:, 0]) + 3 * X[:, 1] / (X[:, 1] + X[:, 2]) + np.minimum(X[:, 3], 2)


def _radial(X: np.ndarray) -> np.ndarray:
    return np.cos(4 * np.linalg.norm(X[:, :4], axis=1))


def _bump(X: np.ndarray) -> np.ndarray:
    return 5 * np.exp(-8 * ((X[:, :3] - np.array([0.3, -0.3, 0.2])) ** 2).sum(axis=1))


def _uneven(X: np.ndarray) -> np.ndarray:
    return 3 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * X[:, 2] ** 2 + 0.4 * X[:, 3] * X[:, 0]


def _kinks(X: np.ndarray) -> np.ndarray:
    return np.abs(X[:, 0] - X[:, 1]) + np.maximum(X[:, 2], X[:, 3]) * np.sign(X[:, 4])


def _many(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, :10]).sum(axis=1) + (X[:, 10:14] * X[:, 14:18]).sum(axis=1)


def _linear(X: np.ndarray) -> np.ndarray:
    return X[:, :5] @ np.array([2.0, -1.5, 1.0, 0.75, -0.5])


def _waves(X: np.ndarray) -> np.ndarray:
    return np.sin(6 * X[:, :3]).sum(axis=1)


def _joint_wave(X: np.ndarray) -> np.ndarray:
    return np.sin(4 * (X[:, 0] + X[:, 1])) * np.cos(4 * X[:, 2])


PAPER = (
    *(paper_problem(datasets.SE1, datasets.make_se1, n) for n in (1000, 5000, 50000)),
    *(paper_problem(datasets.SE2, datasets.make_se2, n) for n in (1000, 5000, 50000)),
    *(paper_problem(datasets.SE3, datasets.make_se3, n) for n in (1000, 50000)),
)

OTHERS = (
    synthetic(
        "friedman1",
        "10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + N(0, 1)",
        _friedman1,
        gaussian(1),
        5,
        shape=(1000, 45),
        design=uniform(0, 1),
    ),
    synthetic(
        "friedman2",
        "sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2) + N(0, 125)",
        lambda X: np.sqrt(X[:, 0] ** 2 + _reactance(X) ** 2),
        gaussian(125),
        ((1,), (2,)),
        design=friedman_units,
        neutral=(0, 3),
    ),
    synthetic(
        "friedman3",
        "arctan((x2 x3 - 1 / (x2 x4)) / x1) + N(0, 0.1)",
        lambda X: np.arctan(_reactance(X) / X[:, 0]),
        gaussian(0.1),
        3,
        design=friedman_units,
        neutral=(3,),
    ),
    synthetic(
        "sign-product",
        "sign(x1 x2) + N(0, 0.3)",
        lambda X: np.sign(X[:, 0] * X[:, 1]),
        gaussian(0.3),
        2,
        shape=(1000, 20),
    ),
    synthetic(
        "product-2",
        "x1 x2 + N(0, 0.3)",
        lambda X: X[:, 0] * X[:, 1],
        gaussian(0.3),
        2,
    ),
    synthetic(
        "product-3",
        "x1 x2 x3 + N(0, 0.3)",
        lambda X: X[:, :3].prod(axis=1),
        gaussian(0.3),
        3,
        shape=(2000, 20),
    ),
    synthetic(
        "additive",
        "-2 sin(2 x1) + x2^2 + x3 + exp(-x4) + N(0, 1), x in (-2.5, 2.5)",
        _additive,
        gaussian(1),
        4,
        shape=(1000, 60),
        design=uniform(-2.5, 2.5),
    ),
    synthetic(
        "single-index",
        "sin(2 u) + u^2 / 2 + N(0, 0.2), u of six variables",
        _single_index,
        gaussian(0.2),
        6,
        shape=(1000, 60),
    ),
    synthetic(
        "two-index",
        "u cos(2 v) + N(0, 0.2), u of three and v of two variables",
        _two_index,
        gaussian(0.2),
        5,
        shape=(2000, 40),
    ),
    synthetic(
        "waves",
        "sin(6 x1) + sin(6 x2) + sin(6 x3) + N(0, 0.3)",
        _waves,
        gaussian(0.3),
        3,
        shape=(2000, 40),
    ),
    synthetic(
        "joint-wave-2k",
        "sin(4 (x1 + x2)) cos(4 x3) + N(0, 0.2), x in (-1, 1)",
        _joint_wave,
        gaussian(0.2),
        3,
        shape=(2000, 40),
        design=uniform(),
    ),
    synthetic(
        "joint-wave-5k",
        "sin(4 (x1 + x2)) cos(4 x3) + N(0, 0.2), x in (-1, 1)",
        _joint_wave,
        gaussian(0.2),
        3,
        shape=(5000, 40),
        design=uniform(),
    ),
    synthetic(
        "heavy-tail",
        "sin(2 x1) + x2 x3 + x4^2 / 2 + 0.3 t(2); test rows without noise",
        _mixed,
        student(2, 0.3),
        4,
        shape=(1000, 30),
    ),
    synthetic(
        "heteroscedastic",
        "sin(2 x1) + x2 x3 + x4^2 / 2 + (0.2 + 0.5 |x1|) N(0, 1)",
        _mixed,
        growing(0.2, 0.5),
        4,
        shape=(1000, 30),
    ),
    synthetic(
        "ar1",
        "sin(2 x5) + x15 x25 + |x35| + N(0, 0.3), correlation 0.7^|i-j|",
        _far_apart,
        gaussian(0.3),
        ((4,), (14,), (24,), (34,)),
        design=ar1(0.7),
    ),
    synthetic(
        "blocks",
        "1.5 tanh(2 x1) + x11 x21 + N(0, 0.3), blocks of 5 with correlation 0.8",
        _one_per_block,
        gaussian(0.3),
        ((0,), (10,), (20,)),
        design=blocks(5, 0.8),
    ),
    synthetic(
        "copies",
        "sin(2 x1) + x2 x3 + x4^2 / 2 + N(0, 0.3), x5..x8 = x1..x4 + N(0, 0.01)",
        _mixed,
        gaussian(0.3),
        tuple((i, i + 4) for i in range(4)),
        shape=(1000, 30),
        design=copies(4, 0.01),
    ),
    synthetic(
        "wide",
        "2 sin(x1) + x2^2 + x3 + N(0, 0.5), 200 rows",
        _wide,
        gaussian(0.5),
        3,
        shape=(200, 500),
    ),
    synthetic(
        "steps",
        "sums and products of steps in four variables + N(0, 0.3), x in (-1, 1)",
        _steps,
        gaussian(0.3),
        4,
        shape=(1000, 30),
        design=uniform(),
    ),
    synthetic(
        "bits",
        "2 (x1 xor x2) + 1.5 (x3 and x4 and x5) + x6 + N(0, 0.5), fair bits",
        _logic,
        gaussian(0.5),
        6,
        design=bits,
    ),
    synthetic(
        "codes",
        "level effects of x1, and of x2 times x3, + N(0, 0.5), codes 0..4",
        _codes,
        gaussian(0.5),
        3,
        shape=(2000, 30),
        design=levels,
    ),
    synthetic(
        "skewed",
        "2 log x1 + 3 x2 / (x2 + x3) + min(x4, 2) + N(0, 0.3), lognormal x",
        _skewed,
        gaussian(0.3),
        4,
        design=lognormal,
    ),
    synthetic(
        "linear",
        "2 x1 - 1.5 x2 + x3 + 0.75 x4 - 0.5 x5 + N(0, 1)",
        _linear,
        gaussian(1),
        5,
        shape=(1000, 100),
    ),
    synthetic(
        "noise",
        "N(0, 1)",
        lambda X: np.zeros(X.shape[0]),
        gaussian(1),
        0,
        shape=(1000, 30),
    ),
    synthetic(
        "radial",
        "cos(4 |(x1, ..., x4)|) + N(0, 0.2), x in (-1, 1)",
        _radial,
        gaussian(0.2),
        4,
        shape=(2000, 30),
        design=uniform(),
    ),
    synthetic(
        "bump",
        "5 exp(-8 |(x1, x2, x3) - c|^2) + N(0, 0.3), x in (-1, 1)",
        _bump,
        gaussian(0.3),
        3,
        shape=(2000, 20),
        design=uniform(),
    ),
    synthetic(
        "uneven",
        "3 x1 + sin(3 x2) + x3^2 / 2 + 0.4 x1 x4 + N(0, 0.3)",
        _uneven,
        gaussian(0.3),
        4,
        shape=(1000, 50),
    ),
    synthetic(
        "kinks",
        "|x1 - x2| + max(x3, x4) sign(x5) + N(0, 0.3)",
        _kinks,
        gaussian(0.3),
        5,
        shape=(5000, 40),
    ),
    synthetic(
        "many",
        "sum of sin(2 x1..x10) + four products of two + N(0, 0.5)",
        _many,
        gaussian(0.5),
        18,
        shape=(5000, 40),
    ),
)
