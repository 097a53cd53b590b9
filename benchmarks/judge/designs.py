"""Problems on which a judge of few rows shows: designs with known variables, pure noise, genes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Draw:
    """Rows to learn from, the columns that matter where they are known, and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    classes: bool
    relevant: tuple[int, ...] | None = None
    test: tuple[np.ndarray, np.ndarray] | None = None


Design = Callable[[int], Draw]


def few_rows(seed: int) -> Draw:
    """A line, a square and a product: 4 of 300 variables, 200 rows."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(200, 300))
    y = X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=200)
    return Draw(X, y, False, (0, 1, 2, 3))


def product_of_four(seed: int) -> Draw:
    """The product of 4 of 30 variables, 5,000 rows, a tenth of noise."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(5000, 30))
    f = X[:, :4].prod(axis=1)
    return Draw(X, f + 0.1 * f.std() * rng.normal(size=5000), False, (0, 1, 2, 3))


RING = {"ring": 0.1151, "ring+xor": 0.0704, "ring+xor+sum": 0.0479}
XOR = {"xor": 0.0, "ring+xor": 0.0337, "ring+xor+sum": 0.0598}


def shapes(name: str, n_features: int) -> Design:
    """A ring, an exclusive or and a noisy sum, joined by "or", two variables each.

    The designs of Passemiers et al. (Scientific Reports, 2024): 1,000 rows of uniform variables, of
    which five sixths are learned from.
    """

    def draw(seed: int) -> Draw:
        rng = np.random.RandomState(seed)
        X = rng.uniform(size=(1000, n_features))
        y, k = np.zeros(1000, dtype=bool), 0
        if name in RING:
            y |= np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) <= RING[name]
            k += 2
        if name in XOR:
            y |= (X[:, k] - 0.5) * (0.5 - X[:, k + 1]) >= XOR[name]
            k += 2
        if name.endswith("sum"):
            y |= X[:, k] + X[:, k + 1] + rng.normal(0.0, 0.2, 1000) >= 1.4074
            k += 2
        return Draw(X[:833], y[:833].astype(int), True, tuple(range(k)))

    return draw


def paper(name: str, n_rows: int) -> Design:
    """One of the paper's synthetic problems."""

    def draw(seed: int) -> Draw:
        from srff import datasets
        from srff.reproduction.datasets import synthetic

        X, y = getattr(datasets, f"make_{name}")(n_rows, random_state=seed)
        return Draw(X, y, False, tuple(getattr(synthetic, name.upper()).relevant))

    return draw


def genes(name: str) -> Design:
    """A microarray of ``SRFF_DATA``: 70 % of the rows to learn from."""

    def draw(seed: int) -> Draw:
        import pandas as pd
        from sklearn.model_selection import train_test_split

        table = pd.read_parquet(Path(os.environ["SRFF_DATA"]) / f"{name}.parquet")
        y = table.pop("y").to_numpy()
        X, X_test, y, y_test = train_test_split(
            table.to_numpy(float), y, test_size=0.3, random_state=seed, stratify=y
        )
        return Draw(X, y, True, None, (X_test, y_test))

    return draw


def noise(n_rows: int, n_features: int, target: str) -> Design:
    """A target that depends on nothing."""

    def draw(seed: int) -> Draw:
        rng = np.random.RandomState(seed)
        X = rng.normal(size=(n_rows, n_features))
        kinds = {
            "normal": lambda: rng.normal(size=n_rows),
            "t3": lambda: rng.standard_t(3, size=n_rows),
            "lognormal": lambda: np.exp(3 * rng.normal(size=n_rows)),
            "spikes": lambda: 1.0 * (rng.uniform(size=n_rows) < 0.005),
            "poisson": lambda: 1.0 * rng.poisson(0.01, size=n_rows),
            "two classes": lambda: rng.randint(0, 2, n_rows),
            "four classes": lambda: rng.randint(0, 4, n_rows),
            "5 % positives": lambda: (rng.permutation(n_rows) < 0.05 * n_rows).astype(int),
        } | {
            f"{k} positive{'s' * (k > 1)}": partial(_positives, rng, n_rows, k) for k in (1, 5, 20)
        }
        return Draw(X, kinds[target](), target.endswith(("classes", "positives", "positive")), ())

    return draw


def _positives(rng: np.random.RandomState, n_rows: int, k: int) -> np.ndarray:
    return (rng.permutation(n_rows) < k).astype(int)


NOISE = {
    f"noise {n} x {d} {target}": noise(n, d, target)
    for n, d in ((100, 20), (500, 50), (600, 8), (2000, 20), (100, 2000))
    for target in (
        "normal", "t3", "lognormal", "spikes", "poisson", "two classes", "four classes",
        "5 % positives", "5 positives",
    )
} | {
    f"noise 1000 x 8 {target}": noise(1000, 8, target)
    for target in ("1 positive", "5 positives", "20 positives")
}  # fmt: skip

DESIGNS: dict[str, Design] = {
    "few rows": few_rows,
    "product of four": product_of_four,
    "se1 5000": paper("se1", 5000),
    "se3 1000": paper("se3", 1000),
    "colon": genes("gene_colon"),
    "leukemia": genes("gene_leukemia"),
    **{
        f"{name} {d}": shapes(name, d)
        for name in ("xor", "ring", "ring+xor", "ring+xor+sum")
        for d in (64, 512, 2048)
    },
    **NOISE,
}
