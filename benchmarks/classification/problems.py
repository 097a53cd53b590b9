"""The problems: rows of a seed, what is known of the truth, and the best that is possible.

A synthetic problem is a design (the law of the inputs) and the probabilities of the classes given
the inputs; labels are drawn from these, so the best possible accuracy and log loss are known.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from classification.tables import Table, read_table
from designs import Design, normal, uniform
from problem import TEST_ROWS, Draw, Pair, Problem, cut
from scipy.special import expit, softmax

Probabilities = Callable[[np.ndarray], np.ndarray]

VALIDATION = 0.2
"""The share of the rows that a method may choose by and not learn from."""

FLIPPED = 0.05
N_ASKED = 50


@dataclass(frozen=True)
class ClassProblem(Problem):
    """A problem with classes 0, 1, ...

    Parameters
    ----------
    n_classes : int
        Number of classes.
    probabilities : callable or None
        Of the classes given the inputs; None for real data.
    n_asked : int or None
        How many variables the method is asked for; then they are given to two other learners.
    """

    n_classes: int = 2
    probabilities: Probabilities | None = None
    n_asked: int | None = None


# --- synthetic -----------------------------------------------------------------------------------


def synthetic(
    name: str,
    formula: str,
    probabilities: Probabilities,
    relevant: int,
    *,
    n: int = 1000,
    d: int = 20,
    n_classes: int = 2,
    design: Design = normal,
) -> ClassProblem:
    """A problem from its parts; the first ``relevant`` columns matter.

    ``n`` counts training and validation rows.
    """
    n_validation = round(VALIDATION * n)

    def rows(seed: int) -> Draw:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        X = design(rng, n + TEST_ROWS, d)
        y = drawn(rng, probabilities(X))
        return cut(X, y, n - n_validation, n_validation)

    return ClassProblem(
        name=name,
        family="synthetic",
        formula=formula,
        n_train=n - n_validation,
        n_features=d,
        rows=rows,
        groups=tuple((i,) for i in range(relevant)),
        n_classes=n_classes,
        probabilities=probabilities,
    )


def drawn(rng: np.random.Generator, probabilities: np.ndarray) -> np.ndarray:
    """A class for each row of probabilities."""
    bounds = np.cumsum(probabilities, axis=1)[:, :-1]
    return (rng.uniform(size=(probabilities.shape[0], 1)) > bounds).sum(axis=1)


def binary(chance: Callable[[np.ndarray], np.ndarray]) -> Probabilities:
    """Two classes from the probability of the second."""

    def probabilities(X: np.ndarray) -> np.ndarray:
        p = chance(X)
        return np.stack((1 - p, p), axis=1)

    return probabilities


def flipped(inside: Callable[[np.ndarray], np.ndarray]) -> Probabilities:
    """Two classes by a rule, with a share of the labels flipped."""
    return binary(lambda X: np.where(inside(X), 1 - FLIPPED, FLIPPED))


def _xor(X: np.ndarray) -> np.ndarray:
    return X[:, :3].prod(axis=1) > 0


def _ring(X: np.ndarray) -> np.ndarray:
    radius = np.hypot(X[:, 0], X[:, 1])
    return (radius > 0.8) & (radius < 1.7)


def _board(X: np.ndarray) -> np.ndarray:
    return np.floor(4 * X[:, :2]).sum(axis=1) % 2 == 1


def _three(X: np.ndarray) -> np.ndarray:
    scores = (3 * X[:, 0] * X[:, 1], 3 * np.sin(2 * X[:, 2]) + 2 * X[:, 3], 2 * X[:, 4] ** 2 - 2)
    return softmax(np.stack(scores, axis=1), axis=1)


def _linear(X: np.ndarray) -> np.ndarray:
    return expit(X[:, :5] @ np.array([3.0, -2.0, 1.5, 1.0, -1.0]))


def _rare(X: np.ndarray) -> np.ndarray:
    return expit(3 * X[:, 0] * X[:, 1] + 2 * np.sin(2 * X[:, 2]) + 2 * X[:, 3] - 6.8)


CENTRES = 1.7 * np.random.default_rng(8).standard_normal((8, 4))


def mixture(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Normal inputs, the first four around one of eight centres."""
    X = rng.standard_normal((n, d))
    X[:, :4] += CENTRES[rng.integers(8, size=n)]
    return X


def _nearest(X: np.ndarray) -> np.ndarray:
    squares = ((X[:, None, :4] - CENTRES) ** 2).sum(axis=2)
    return softmax(-squares / 2, axis=1)


SYNTHETIC = (
    synthetic("xor3-1k", "sign(x1 x2 x3), 5 % of the labels flipped", flipped(_xor), 3),
    synthetic("xor3-3k", "sign(x1 x2 x3), 5 % of the labels flipped", flipped(_xor), 3, n=3000),
    synthetic(
        "rings",
        "0.8 < |(x1, x2)| < 1.7: in, out, in; 5 % of the labels flipped",
        flipped(_ring),
        2,
        d=50,
    ),
    synthetic(
        "three-classes",
        "softmax of 3 x1 x2, 3 sin(2 x3) + 2 x4, 2 x5^2 - 2",
        _three,
        5,
        d=30,
        n_classes=3,
    ),
    synthetic(
        "checkerboard",
        "a board of 4 by 4 fields in x1, x2; x in (0, 1), 5 % of the labels flipped",
        flipped(_board),
        2,
        n=2000,
        design=uniform(0, 1),
    ),
    synthetic("logistic", "logit 3 x1 - 2 x2 + 1.5 x3 + x4 - x5", binary(_linear), 5, d=40),
    synthetic(
        "rare",
        "logit 3 x1 x2 + 2 sin(2 x3) + 2 x4 - 6.8: 5 % positive",
        binary(_rare),
        4,
        n=3000,
        d=30,
    ),
    synthetic(
        "eight-classes",
        "eight normal classes around centres in x1..x4",
        _nearest,
        4,
        n=2000,
        d=25,
        n_classes=8,
        design=mixture,
    ),
    synthetic("noise", "fair coins", binary(lambda X: np.full(X.shape[0], 0.5)), 0, d=30),
)


# --- real ----------------------------------------------------------------------------------------

Split = Callable[[np.random.Generator, int], list[np.ndarray]]


def shares(train: float, validation: float) -> Split:
    """Random rows for training, validation and test."""

    def split(rng: np.random.Generator, n: int) -> list[np.ndarray]:
        cuts = np.round(np.cumsum([train, validation]) * n).astype(int)
        return np.split(rng.permutation(n), cuts)

    return split


def last(n_test: int) -> Split:
    """The last rows for the test, of the others a random share for validation."""

    def split(rng: np.random.Generator, n: int) -> list[np.ndarray]:
        order = rng.permutation(n - n_test)
        n_validation = round(VALIDATION * order.size)
        return [*np.split(order, [order.size - n_validation]), np.arange(n - n_test, n)]

    return split


def real(
    name: str, text: str, file: str, n_rows: int, n_features: int, n_classes: int, split: Split
) -> ClassProblem:
    """A data set, split for each seed; what is missing becomes the training rows' median."""

    def rows(seed: int) -> Draw:
        table = _read(file)
        parts = split(np.random.default_rng(seed), table.y.size)
        train, validation, test = ((table.X[i], table.y[i]) for i in parts)
        median = np.nanmedian(train[0], axis=0)
        filled = (with_values(pair, median) for pair in (train, validation, test))
        return Draw(*filled, table.names)

    n_train = split(np.random.default_rng(0), n_rows)[0].size
    return ClassProblem(name, "real", text, n_train, n_features, rows, n_classes=n_classes)


def with_values(pair: Pair, values: np.ndarray) -> Pair:
    """Rows with a column's value where one is missing."""
    X, y = pair
    return np.where(np.isnan(X), values, X), y


@functools.cache
def _read(file: str) -> Table:
    return read_table(file)


def asked(problem: ClassProblem) -> ClassProblem:
    """The same rows, with a number of variables to be chosen."""
    return replace(
        problem, name=f"{problem.name}-{N_ASKED}", family="asked", n_asked=N_ASKED, groups=None
    )


SEVENTY = shares(0.7, 0.1)
LASSONET = (
    real("mice", "mice protein, 77 proteins, 8 classes", "mice_protein", 1080, 77, 8, SEVENTY),
    real("isolet", "ISOLET, 1,560 rows, 26 letters", "isolet_1560", 1560, 617, 26, SEVENTY),
    real("coil20", "COIL-20, images of 32 x 32, 20 objects", "coil20", 1440, 1024, 20, SEVENTY),
)
REAL = (
    real("madelon", "MADELON, 5 informative, 15 redundant", "madelon", 2600, 500, 2, last(600)),
    real("higgs", "HIGGS, a sample", "higgs_7500", 7500, 28, 2, last(500)),
    real("sylva", "sylva, 6 % positive", "sylva", 13086, 216, 2, shares(0.6, 0.2)),
    *LASSONET,
)
ASKED = tuple(asked(problem) for problem in LASSONET)

PROBLEMS = {problem.name: problem for problem in (*SYNTHETIC, *REAL, *ASKED)}
