"""One pass of an engine beside its bare operations, of the same shapes, on the same threads.

The bare operations are the matrix products and one sine and one cosine for each entry of
``rows x D``, on blocks of the engine's own size into arrays that are there already: no offsets, no
sums over blocks, no residuals, no weights.  A statistics pass has ``X W``, ``cos T`` and the
symmetric ``C'C``; a pull-back pass ``X W``, ``cos T``, ``sin T``, ``C a`` and ``X'S``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from common import EngineOptions, Row, shortest

from srff._utils.threads import Threads, one_blas_thread
from srff.core.features import Expansion
from srff.core.losses import SQUARED
from srff.data.engines import make_engine
from srff.data.engines.blocks import Standardisation
from srff.data.engines.device import rows_in_block
from srff.data.engines.plan import BlockPlan
from srff.data.scaling import Standardise

N_ROWS, QUICK_ROWS = 200_000, 20_000
SHAPES = [(d, D) for d in (18, 100, 1000) for D in (300, 1000)]
REPEATS = 5
SHOWN = ("what", "dtype", "n", "d", "D", "seconds", "reference_seconds", "ratio")

Work = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def numpy_bare(
    X: np.ndarray, W: np.ndarray, a: np.ndarray, rows: int, n_threads: int
) -> dict[str, Callable[[], None]]:
    """The bare operations over blocks of NumPy rows, one thread a run of blocks."""
    blocks = [np.ascontiguousarray(X[i : i + rows]) for i in range(0, X.shape[0], rows)]
    threads = Threads(n_threads)
    size = (rows, W.shape[1])

    def over_blocks(work: Work) -> None:
        def run(part: int) -> None:
            T, C = np.empty(size, X.dtype), np.empty(size, X.dtype)
            for block in blocks[part::n_threads]:
                work(block, T[: len(block)], C[: len(block)])

        list(threads.map(run, range(n_threads)))

    def statistics(X: np.ndarray, T: np.ndarray, C: np.ndarray) -> None:
        np.matmul(X, W, out=T)
        np.cos(T, out=C)
        _ = C.T @ C

    def pull_back(X: np.ndarray, T: np.ndarray, C: np.ndarray) -> None:
        np.matmul(X, W, out=T)
        np.cos(T, out=C)
        _ = C @ a
        np.sin(T, out=C)
        _ = X.T @ C

    return {
        "statistics": lambda: over_blocks(statistics),
        "pull-back": lambda: over_blocks(pull_back),
    }


def torch_bare(X: Any, W: Any, a: Any, rows: int) -> dict[str, Callable[[], None]]:
    """The bare operations of torch over blocks of rows on a device."""
    import torch

    blocks = torch.split(X, rows)
    wait = torch.cuda.synchronize if X.is_cuda else lambda: None

    def statistics() -> None:
        for block in blocks:
            C = torch.cos(block @ W)
            _ = C.T @ C
        wait()

    def pull_back() -> None:
        for block in blocks:
            T = block @ W
            _ = torch.cos(T) @ a
            _ = block.T @ torch.sin(T)
        wait()

    return {"statistics": statistics, "pull-back": pull_back}


def one_shape(n: int, d: int, D: int, dtype: str, device: str, n_threads: int) -> Iterator[Row]:
    """A row for each pass: seconds, those of the bare operations, and their ratio."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32).astype(dtype)
    y = X[:, :1].astype(np.float64)
    W, b, a = rng.standard_normal((d, D)), rng.uniform(0, 6, D), rng.normal(size=(D, 1))
    if device == "cpu":
        rows = BlockPlan.choose(n, d, D, np.dtype(dtype)).rows
        bare = numpy_bare(X, W.astype(dtype), a.astype(dtype), rows, n_threads)
    else:
        import torch

        on_device = [torch.as_tensor(part.astype(dtype), device=device) for part in (X, W, a)]
        bare = torch_bare(*on_device, rows_in_block(d, D))
    standard = Standardisation(Standardise(np.zeros(d), np.ones(d)), np.zeros(1), 1.0)
    with (
        one_blas_thread(),
        make_engine(
            X,
            y,
            None,
            standard,
            n_components=D,
            dtype=np.dtype(dtype),
            device=device,
            n_threads=n_threads,
        ) as engine,
    ):
        model = Expansion(np.arange(d), W, b, a, np.zeros(1))
        passes = {
            "statistics": lambda: engine.statistics(W, b),
            "pull-back": lambda: engine.loss_pull_back(SQUARED, model),
        }
        for name, one_pass in passes.items():
            ours, theirs = shortest(one_pass, bare[name], repeats=REPEATS)
            yield {
                "what": name,
                "dtype": dtype,
                "n": n,
                "d": d,
                "D": D,
                "seconds": ours,
                "reference_seconds": theirs,
                "ratio": ours / theirs,
            }


def rows(options: EngineOptions) -> Iterator[Row]:
    """Every precision and shape."""
    n = QUICK_ROWS if options.quick else N_ROWS
    for dtype in options.dtypes:
        for d, D in SHAPES:
            if options.wants(f"{d}x{D}", dtype):
                yield from one_shape(n, d, D, dtype, options.device, options.n_threads)
