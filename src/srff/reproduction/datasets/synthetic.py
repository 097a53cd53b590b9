"""The paper's synthetic problems SE1, SE2 and SE3, with what is known of each.

All inputs are standard normal.  ``N(0, s)`` in the paper's table has standard deviation ``s``:
only that gives its error of the mean predictor.  The truth of ``make_se1`` is ``SE1``, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Truth:
    """What the generator knows: the relevant columns (from 0) and the smallest possible RMSE."""

    name: str
    formula: str
    n_features: int
    relevant: tuple[int, ...]
    noise_floor: float


SE1 = Truth("SE1", "sin((x1 + x3)^2) sin(x7 x8 x9) + N(0, 0.1)", 18, (0, 2, 6, 7, 8), 0.1)
SE2 = Truth("SE2", "log((x11 + ... + x15)^2) + N(0, 0.1)", 100, tuple(range(10, 15)), 0.1)
# The inputs of SE3 are z + N(0, 0.1), so z is only known up to the mean of five of them; the
# floor is the root mean squared error of E(y | x), in closed form in the tests.
SE3 = Truth(
    "SE3",
    "10 (z1^2 + z2^2) exp(-2 (z1^2 + z2^2)) + N(0, 0.01), x = z + N(0, 0.1) in fives",
    1000,
    tuple(range(10)),
    0.0893,
)


def make_se1(n_samples: int = 1000, random_state: Any = None) -> Pair:
    """SE1: a product of sines in 5 of 18 variables, ``sin((x1+x3)^2) sin(x7 x8 x9) + N(0, 0.1)``.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X, y : ndarrays of shapes (n_samples, 18) and (n_samples,)

    Examples
    --------
    >>> from srff.datasets import SE1, make_se1
    >>> X, y = make_se1(100, random_state=0)
    >>> X.shape, SE1.relevant
    ((100, 18), (0, 2, 6, 7, 8))
    """
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, SE1.n_features))
    f = np.sin((X[:, 0] + X[:, 2]) ** 2) * np.sin(X[:, 6] * X[:, 7] * X[:, 8])
    return X, f + rng.normal(0, 0.1, n_samples)


def make_se2(n_samples: int = 1000, random_state: Any = None) -> Pair:
    """SE2: a single index in 5 of 100 variables, ``log((x11 + ... + x15)^2) + N(0, 0.1)``.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X, y : ndarrays of shapes (n_samples, 100) and (n_samples,)

    Examples
    --------
    >>> from srff.datasets import SE2, make_se2
    >>> X, y = make_se2(100, random_state=0)
    >>> X.shape, SE2.relevant
    ((100, 100), (10, 11, 12, 13, 14))
    """
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, SE2.n_features))
    f = np.log(X[:, 10:15].sum(axis=1) ** 2)
    return X, f + rng.normal(0, 0.1, n_samples)


def make_se3(n_samples: int = 1000, random_state: Any = None) -> Pair:
    """SE3: a ring in 10 of 1,000 variables, noisy copies in fives of hidden ``z1, z2, ...``.

    ``y = 10 (z1^2 + z2^2) exp(-2 (z1^2 + z2^2)) + N(0, 0.01)``; the inputs are
    ``z_k + N(0, 0.1)``, five for each of the 200 ``z``.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X, y : ndarrays of shapes (n_samples, 1000) and (n_samples,)

    Examples
    --------
    >>> from srff.datasets import SE3, make_se3
    >>> X, y = make_se3(20, random_state=0)
    >>> X.shape, SE3.noise_floor
    ((20, 1000), 0.0893)
    """
    rng = check_random_state(random_state)
    z = rng.standard_normal((n_samples, SE3.n_features // 5))
    X = np.repeat(z, 5, axis=1)
    X += rng.normal(0, 0.1, X.shape)
    square = z[:, 0] ** 2 + z[:, 1] ** 2
    return X, 10 * square * np.exp(-2 * square) + rng.normal(0, 0.01, n_samples)
