"""Predictions of a fitted model beside their bare operations, of the same shapes and threads.

The model uses 10 of the columns and 300 features in float32.  The bare operations are ``X V``,
``cos T`` and ``C a`` on blocks of the prediction's own size that are there already, into arrays
that are there already: no check of the input, no gathering of columns, no standardisation.
scikit-learn's check that every number is finite, which reads the whole of ``X``, is timed too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from common import Options, Row, shortest

from srff import RFFRegressor
from srff._utils.threads import Threads, one_blas_thread
from srff.core.features import affine
from srff.data.engines import BlockPlan

N_ROWS, QUICK_ROWS = 1_000_000, 50_000
COLUMNS = (10, 100)
N_USED, N_COMPONENTS = 10, 300
REPEATS = 5
SHOWN = ("d", "D", "dtype", "order", "n", "seconds", "rows_per_second", "reference_seconds")
SHOWN = (*SHOWN, "ratio", "check_seconds")


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
    a = model.coefficients_.astype(dtype)
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


def rows(options: Options) -> Iterator[Row]:
    """A row for each number of columns, precision and memory order of the inputs."""
    n, n_threads = QUICK_ROWS if options.quick else N_ROWS, options.n_threads
    for n_columns in COLUMNS:
        model = fitted(n_columns, n_threads)
        rival = bare(model, n, n_threads)
        values = np.random.default_rng(2).standard_normal((n, n_columns), dtype=np.float32)
        for dtype in ("float32", "float64"):
            for order in ("C", "F"):
                if not options.wants(n_columns, dtype, order):
                    continue
                X = np.asarray(values, dtype=dtype, order=order)
                ours, theirs, check = shortest(
                    partial(model.predict, X),
                    rival,
                    partial(model._validate, X, reset=False),
                    repeats=REPEATS,
                )
                yield {
                    "what": "predict",
                    "n": n,
                    "d": n_columns,
                    "D": N_COMPONENTS,
                    "dtype": dtype,
                    "order": order,
                    "seconds": ours,
                    "rows_per_second": n / ours,
                    "reference_seconds": theirs,
                    "ratio": ours / theirs,
                    "check_seconds": check,
                }
