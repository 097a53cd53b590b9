"""One pass of an engine beside its bare operations, of the same shapes, on the same threads.

The bare operations are the matrix products and one sine and one cosine for each entry of
``rows x D``, on blocks of the engine's own size into arrays that are there already: no offsets, no
sums over blocks, no residuals, no weights.  A statistics pass has ``X W``, ``cos T`` and the
symmetric ``C'C``; a pull-back pass ``X W``, ``cos T``, ``sin T``, ``C a`` and ``X'S``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srff.engines import Standardisation, make_engine
from srff.engines.device import rows_in_block
from srff.engines.plan import BlockPlan
from srff.threads import Threads, one_blas_thread
from srff.transforms import Standardise

SHAPES = [(d, D) for d in (18, 100, 1000) for D in (300, 1000)]
REPEATS = 5


def seconds(function: Callable[[], Any], rival: Callable[[], Any]) -> tuple[float, float]:
    """The shortest of several runs of each, in turn, so that both see the same machine."""
    function(), rival()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        for run, kept in zip((function, rival), times, strict=True):
            begun = time.perf_counter()
            run()
            kept.append(time.perf_counter() - begun)
    return min(times[0]), min(times[1])


def numpy_bare(
    X: np.ndarray, W: np.ndarray, a: np.ndarray, rows: int, n_threads: int
) -> dict[str, Callable[[], None]]:
    """The bare operations over blocks of NumPy rows, one thread a run of blocks."""
    blocks = [np.ascontiguousarray(X[i : i + rows]) for i in range(0, X.shape[0], rows)]
    threads = Threads(n_threads)
    size = (rows, W.shape[1])

    def over_blocks(work: Callable[[np.ndarray, np.ndarray, np.ndarray], None]) -> None:
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

    def statistics() -> None:
        for block in blocks:
            C = torch.cos(block @ W)
            _ = C.T @ C
        torch.cuda.synchronize()

    def pull_back() -> None:
        for block in blocks:
            T = block @ W
            _ = torch.cos(T) @ a
            _ = block.T @ torch.sin(T)
        torch.cuda.synchronize()

    return {"statistics": statistics, "pull-back": pull_back}


def measure(
    n: int, device: str, n_threads: int, dtypes: tuple[str, ...], shapes: list[tuple[int, int]]
) -> Iterator[dict[str, Any]]:
    """A row for each pass and shape: seconds, bare seconds and their ratio."""
    rng = np.random.default_rng(0)
    for dtype in dtypes:
        for d, D in shapes:
            X = rng.standard_normal((n, d), dtype=np.float32).astype(dtype)
            y = X[:, :1].astype(np.float64)
            W, b, a = rng.standard_normal((d, D)), rng.uniform(0, 6, D), rng.normal(size=(D, 1))
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
                passes = {
                    "statistics": lambda: engine.statistics(W, b),
                    "pull-back": lambda: engine.loss_pull_back(W, b, a),
                }
                if device == "cpu":
                    rows = BlockPlan.choose(n, d, D, np.dtype(dtype)).rows
                    bare = numpy_bare(X, W.astype(dtype), a.astype(dtype), rows, n_threads)
                else:
                    import torch

                    on_device = [torch.as_tensor(p.astype(dtype), device=device) for p in (X, W, a)]
                    bare = torch_bare(*on_device, rows_in_block(d, D))
                for name, one_pass in passes.items():
                    ours, theirs = seconds(one_pass, bare[name])
                    yield {
                        "what": name,
                        "device": device,
                        "dtype": dtype,
                        "n": n,
                        "d": d,
                        "D": D,
                        "seconds": ours,
                        "bare_seconds": theirs,
                        "ratio": ours / theirs,
                    }


if __name__ == "__main__":
    import sys

    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    dtypes = tuple(sys.argv[2].split(",")) if len(sys.argv) > 2 else ("float32",)
    for row in measure(200_000, device, 2, dtypes, SHAPES):
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
