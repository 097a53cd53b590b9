"""What TF32 products would gain on a GPU, and what they would cost in accuracy.

Float32 products round each factor to 24 bits, TF32 products to 11.  The statistics of both are set
beside those of float64, and the default fit is run with both.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from srff import SRFFRegressor
from srff.core import objectives
from srff.data.engines import make_engine
from srff.data.engines.blocks import Standardisation
from srff.data.scaling import Standardise
from srff.reproduction.datasets import make_se1, make_se2

MODES = {"float32": "highest", "tf32": "high"}
REPEATS = 5


def measure() -> Iterator[dict[str, Any]]:
    """Rows of errors and seconds of one pass, then of the default fit, for either precision."""
    yield from statistics(200_000, 100, 1000)
    for name, make in {"SE1": make_se1, "SE2": make_se2}.items():
        for seed in range(3):
            yield from fits(name, make, 5000, seed)


def statistics(n: int, d: int, D: int) -> Iterator[dict[str, Any]]:
    """The largest error of ``G / n`` and the change of a ridge solution, against float64."""
    import torch

    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((d, D)) / np.sqrt(d)
    y = np.sin(X[:, :1] * X[:, 1:2])
    b = rng.uniform(0, 2 * np.pi, D)
    standard = Standardisation(Standardise(np.zeros(d), np.ones(d)), np.zeros(1), 1.0)

    def sums(dtype: str) -> tuple[Any, float]:
        options: dict[str, Any] = {"n_components": D, "dtype": np.dtype(dtype), "device": "cuda"}
        with make_engine(X, y, None, standard, **options) as engine:
            S = engine.statistics(W, b)
            begun = time.perf_counter()
            for _ in range(REPEATS):
                engine.statistics(W, b)
            return S, (time.perf_counter() - begun) / REPEATS

    exact, _ = sums("float64")
    alpha = 1e-6
    a = objectives.ridge(exact, alpha)
    for mode, precision in MODES.items():
        torch.set_float32_matmul_precision(precision)
        S, seconds = sums("float32")
        torch.set_float32_matmul_precision("highest")
        change = np.linalg.norm(objectives.ridge(S, alpha) - a) / np.linalg.norm(a)
        yield {
            "what": f"statistics in {mode}",
            "n": n,
            "d": d,
            "D": D,
            "seconds": seconds,
            "error": float(np.abs(S.G - exact.G).max() / np.abs(exact.G).max()),
            "coefficients_change": float(change),
        }


def fits(name: str, make: Any, n: int, seed: int) -> Iterator[dict[str, Any]]:
    """The default fit in both precisions."""
    import torch

    X, y = make(n, random_state=seed)
    X_test, y_test = make(10_000, random_state=1000 + seed)
    for mode, precision in MODES.items():
        torch.set_float32_matmul_precision(precision)
        begun = time.perf_counter()
        model = SRFFRegressor(random_state=seed, device="cuda").fit(X, y)
        seconds = time.perf_counter() - begun
        torch.set_float32_matmul_precision("highest")
        yield {
            "what": f"{name} fit in {mode}, seed {seed}",
            "n": n,
            "d": X.shape[1],
            "D": "auto",
            "seconds": seconds,
            "rmse": float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))),
            "selected": " ".join(map(str, model.get_support(indices=True))),
        }


if __name__ == "__main__":
    for row in measure():
        print(row, flush=True)
