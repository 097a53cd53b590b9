"""What the methods share: their signature, standardisation, and a kernel ridge on a subset.

The validation rows serve choices only: no method learns from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh, solve_triangular

Pair = tuple[np.ndarray, np.ndarray]
Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Fitted:
    """A model, the columns that it says matter, and the settings that were chosen."""

    predict: Predict
    selected: np.ndarray
    settings: dict[str, Any] = field(default_factory=dict)


class Fitter(Protocol):
    """The signature of every method."""

    def __call__(
        self, train: Pair, validation: Pair, seed: int, n_threads: int, device: str
    ) -> Fitted:
        """Fit on the training rows, choose on the validation rows."""
        ...


def rmse(y: np.ndarray, prediction: np.ndarray) -> float:
    """Root mean squared error."""
    return float(np.sqrt(np.mean(np.square(y - prediction))))


def above_mean(importance: np.ndarray) -> np.ndarray:
    """Columns of more than mean importance: the default rule of scikit-learn's SelectFromModel."""
    importance = np.asarray(importance, dtype=float)
    return importance > importance.mean()


@dataclass(frozen=True)
class Scaler:
    """Centre and spread of the training rows, for inputs and target."""

    center: np.ndarray
    spread: np.ndarray
    y_center: float
    y_spread: float

    @classmethod
    def of(cls, train: Pair) -> Scaler:
        """Those of some rows; a constant column keeps its units."""
        X, y = train
        spread, y_spread = X.std(axis=0), float(y.std())
        return cls(
            X.mean(axis=0), np.where(spread > 0, spread, 1.0), float(y.mean()), y_spread or 1.0
        )

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """Standardised inputs."""
        return (X - self.center) / self.spread

    def pair(self, pair: Pair) -> Pair:
        """Standardised inputs and target."""
        return self.inputs(pair[0]), (pair[1] - self.y_center) / self.y_spread

    def outputs(self, y: np.ndarray) -> np.ndarray:
        """A standardised prediction in the target's units."""
        return self.y_center + self.y_spread * y


def draws(
    space: dict[str, tuple[Any, ...]], first: dict[str, Any], count: int, seed: int
) -> Iterator[dict[str, Any]]:
    """The documented defaults, then random points of a search space, ``count`` in all."""
    yield dict(first)
    rng = np.random.default_rng(seed)
    for _ in range(count - 1):
        yield {name: values[rng.integers(len(values))] for name, values in space.items()}


def search_size(train: Pair, usual: int) -> int:
    """Candidates to try: fewer on large tables."""
    return usual if train[0].size <= 5_000_000 else max(usual // 4, 2)


# --- kernel ridge regression on a subset of the columns ------------------------------------------

ALPHAS = np.logspace(-9, 1, 21)
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SEARCH_CENTRES, FINAL_CENTRES = 500, 2000


def set_sizes(n_features: int) -> list[int]:
    """Numbers of variables to try: each of the first ones, then further apart."""
    sizes = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 75, 100]
    return [k for k in sizes if k < n_features] + [n_features] * (n_features <= 100)


def gaussian_kernel(A: np.ndarray, B: np.ndarray, width: float) -> np.ndarray:
    """``exp(-|a - b|^2 / (2 width^2))``."""
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * (A @ B.T)
    return np.exp(-np.maximum(squares, 0) / (2 * width**2))


def kernel_ridge(
    train: Pair, validation: Pair, centres: int, seed: int, widths: Iterable[float] = WIDTHS
) -> tuple[float, Predict, dict[str, float]]:
    """RBF kernel ridge with width and penalty chosen on validation rows; standardised data.

    With fewer training rows than ``centres`` it is exact; otherwise a random subset of the rows are
    the centres (Nystroem).  A width is given as a multiple of the square root of the dimension.
    """
    X, y = train
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:centres]
    C = X[np.sort(rows)]
    best: tuple[float, np.ndarray, float, float] | None = None
    for factor in widths:
        width = factor * np.sqrt(X.shape[1])
        K = gaussian_kernel(C, C, width)
        K[np.diag_indices_from(K)] += 1e-7  # rows that are the same twice
        L = np.linalg.cholesky(K)
        gram, moment = np.zeros_like(K), np.zeros(C.shape[0])
        for start in range(0, X.shape[0], 5000):
            part = slice(start, start + 5000)
            Z = solve_triangular(L, gaussian_kernel(C, X[part], width), lower=True)
            gram += Z @ Z.T
            moment += Z @ y[part]
        values, vectors = eigh(gram / X.shape[0])
        rotated = vectors.T @ moment / X.shape[0]
        coefs = rotated[:, None] / (np.maximum(values, 0)[:, None] + ALPHAS)
        weights = solve_triangular(L, vectors @ coefs, lower=True, trans="T")
        held = gaussian_kernel(validation[0], C, width) @ weights
        errors = np.mean(np.square(validation[1][:, None] - held), axis=0)
        i = int(np.argmin(errors))
        if best is None or errors[i] < best[0]:
            best = (float(errors[i]), weights[:, i], width, float(ALPHAS[i]))
    assert best is not None
    error, weight, width, alpha = best

    def predict(X: np.ndarray) -> np.ndarray:
        parts = np.array_split(X, max(X.shape[0] // 5000, 1))
        return np.concatenate([gaussian_kernel(part, C, width) @ weight for part in parts])

    return error, predict, {"width": width, "alpha": alpha}


def ridge_on_ranking(train: Pair, validation: Pair, ranking: np.ndarray, seed: int) -> Fitted:
    """RBF kernel ridge on the first variables of a ranking, their number chosen by validation."""
    scaler = Scaler.of(train)
    (X, y), (Xv, yv) = scaler.pair(train), scaler.pair(validation)
    best, chosen = float(np.mean(yv**2)), np.arange(0)  # no variable: the mean
    for k in [k for k in set_sizes(X.shape[1]) if k <= ranking.size]:
        columns = ranking[:k]
        error, _, _ = kernel_ridge((X[:, columns], y), (Xv[:, columns], yv), SEARCH_CENTRES, seed)
        if error < best:
            best, chosen = error, columns
    selected = np.zeros(X.shape[1], dtype=bool)
    selected[chosen] = True
    if not chosen.size:
        return Fitted(lambda X: np.full(X.shape[0], scaler.y_center), selected)
    widths = (*WIDTHS, 0.35, 0.7, 1.4, 2.8, 5.6, 11.2)
    _, predict, settings = kernel_ridge(
        (X[:, chosen], y), (Xv[:, chosen], yv), FINAL_CENTRES, seed, widths
    )
    return Fitted(
        lambda X: scaler.outputs(predict(scaler.inputs(X)[:, chosen])), selected, dict(settings)
    )
