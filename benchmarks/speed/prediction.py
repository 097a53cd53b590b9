"""Predictions of a fitted model beside their bare operations, of the same shapes and threads.

The model uses 10 of the columns and 300 features in float32.  The bare operations are ``X V``,
``cos T`` and ``C a`` on blocks of the prediction's own size that are there already, into arrays
that are there already: no check of the input, no gathering of columns, no standardisation.
scikit-learn's check that every number is finite, which reads the whole of ``X``, is timed too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from srff import RFFRegressor
from srff.engines import BlockPlan
from srff.features import affine
from srff.threads import Threads, one_blas_thread

N_ROWS = 1_000_000
COLUMNS = (10, 100)
N_USED, N_COMPONENTS = 10, 300
REPEATS = 5


def seconds(*functions: Callable[[], Any]) -> list[float]:
    """The shortest of several runs of each, in turn, so that all see the same machine."""
    shortest = [np.inf] * len(functions)
    for _ in range(REPEATS + 1):
        for k, function in enumerate(functions):
            begun = time.perf_counter()
            function()
            shortest[k] = min(shortest[k], time.perf_counter() - begun)
    return shortest


def fitted(n_columns: int, n_threads: int) -> RFFRegressor:
    """A model that uses some of the columns: the others did not vary when it was fitted."""
    rng = np.random.default_rng(0)
    X = np.zeros((1000, n_columns))
    used = np.sort(rng.permutation(n_columns)[:N_USED])
    X[:, used] = rng.standard_normal((1000, N_USED))
    model = RFFRegressor(
        n_components=N_COMPONENTS, alpha=1e-3, dtype="float32", n_jobs=n_threads, random_state=0
    )
    return model.fit(X, np.sin(X[:, used].sum(axis=1)))


def bare(model: RFFRegressor, n_rows: int, n_threads: int) -> Callable[[], None]:
    """The bare operations over blocks of rows, one thread a run of blocks."""
    dtype = model.block_dtype_
    V = affine(model.frequencies_, model.offsets_).astype(dtype)
    a = model.coef_.astype(dtype)
    rows = BlockPlan.choose(n_rows, V.shape[0] - 1, V.shape[1], dtype, squares=False).rows
    X = np.random.default_rng(1).standard_normal((n_rows, V.shape[0]), dtype=dtype)
    blocks = [X[i : i + rows] for i in range(0, n_rows, rows)]

    def run(part: int) -> None:
        T = np.empty((rows, V.shape[1]), dtype)
        for block in blocks[part::n_threads]:
            C = T[: len(block)]
            np.matmul(block, V, out=C)
            np.cos(C, out=C)
            _ = C @ a

    def all_parts() -> None:
        with one_blas_thread(), Threads(n_threads) as threads:
            list(threads.map(run, range(n_threads)))

    return all_parts


def measure(n_rows: int = N_ROWS, n_threads: int = 2) -> Iterator[dict[str, Any]]:
    """A row for each number of columns, precision and memory order of the inputs."""
    for n_columns in COLUMNS:
        model = fitted(n_columns, n_threads)
        rival = bare(model, n_rows, n_threads)
        values = np.random.default_rng(2).standard_normal((n_rows, n_columns), dtype=np.float32)
        for dtype in ("float32", "float64"):
            for order in ("C", "F"):
                X = np.asarray(values, dtype=dtype, order=order)
                ours, theirs, check = seconds(
                    partial(model.predict, X), rival, partial(model._validate, X, reset=False)
                )
                yield {
                    "what": "predict",
                    "n": n_rows,
                    "d": n_columns,
                    "D": N_COMPONENTS,
                    "dtype": dtype,
                    "order": order,
                    "seconds": ours,
                    "rows_per_second": n_rows / ours,
                    "bare_seconds": theirs,
                    "ratio": ours / theirs,
                    "check_seconds": check,
                }


if __name__ == "__main__":
    for row in measure():
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
