"""Single passes over all rows, from memory, Parquet files and Dask workers, beside a cost model.

The model says what a pass takes from four rates: of products of matrices, of cosines, of reading
and of adding up sums between workers.  The rates come from passes of one thread over rows in memory
and of one worker; the model is then held against threads and workers that it has not seen.  See
docs/scale.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from common import EngineOptions, Row
from fit import draw, folder, workers

from srff._utils.threads import one_blas_thread
from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.losses import SQUARED
from srff.data.engines import StreamEngine
from srff.data.engines.blocks import Standardisation
from srff.data.engines.plan import BlockPlan
from srff.data.scaling import Standardise
from srff.data.sources import ArraySource, DaskSource, Source, TableSource

SHOWN = ("what", "n", "d", "D", "seconds", "status")
REPEATS = 3


def operations(d: int, D: int) -> dict[str, Callable[[Engine], Any]]:
    """The passes of Algorithm 1."""
    rng = np.random.RandomState(0)
    W, b = 0.3 * rng.standard_normal((d, D)), rng.uniform(0, 6, D)
    model = Expansion(np.arange(d), W, b, rng.standard_normal((D, 1)), np.zeros(1))
    return {
        "statistics": lambda engine: engine.statistics(W, b),
        "loss and slope": lambda engine: engine.loss_pull_back(SQUARED, model),
        "loss": lambda engine: engine.loss(SQUARED, model),
    }


def timed(engine: Engine, d: int, D: int) -> Iterator[tuple[str, float]]:
    """The shortest time of each kind of pass; the first one, which fills caches, is not counted."""
    works = operations(d, D)
    works["loss"](engine)
    found = dict.fromkeys(works, np.inf)
    for _ in range(REPEATS):
        for name, work in works.items():
            begun = time.perf_counter()
            work(engine)
            found[name] = min(found[name], time.perf_counter() - begun)
    yield from found.items()


def tasks(numbers: tuple[int, ...]) -> Iterator[Row]:
    """Passes over partitions of next to no rows: what tasks cost by themselves."""
    import dask.array as da

    from srff.data.engines.cluster import ClusterEngine

    d, D, size = 5, 10, 32
    s = Standardisation(Standardise(np.zeros(d), np.ones(d)), np.zeros(1), 1.0)
    with workers({"workers": 2}):
        for number in numbers:
            n = number * size
            X, y = da.ones((n, d), chunks=(size, d)), da.ones(n, chunks=size)
            plan = BlockPlan(size, cached=False)
            settings = s, plan, np.dtype(np.float32), D, "cpu", True
            with ClusterEngine(DaskSource(X, y), n, *settings) as engine:
                for name, seconds in timed(engine, d, D):
                    yield _row(f"{number} partitions of {size} rows: {name}", n, d, D, 2, seconds)


def rows(options: EngineOptions) -> Iterator[Row]:
    """A row for each kind of pass and each source."""
    n, d = (100_000, 20) if options.quick else (1_000_000, 30)
    X, y = draw(n, d, "float32")
    files = str(folder(n, d))
    s = Standardisation(Standardise(np.zeros(d), np.ones(d)), np.zeros(1), 1.0)

    def stream(source: Source, D: int, n_threads: int, cache: float) -> Engine:
        sizes = tuple(sum(c.X.shape[0] for c in p.chunks()) for p in source.pieces())
        plan = BlockPlan.choose(n, d, D, np.dtype(np.float32), n_threads, None)
        return StreamEngine(source, sizes, n, s, plan, np.dtype(np.float32), n_threads, cache)

    def cluster(source: DaskSource, D: int, keep: bool) -> Engine:
        from srff.data.engines.cluster import ClusterEngine

        plan = BlockPlan.choose(n, d, D, np.dtype(np.float32), 1, None)
        return ClusterEngine(source, n, s, plan, np.dtype(np.float32), D, "cpu", keep)

    yield from tasks((16, 64) if options.quick else (16, 256, 2048))
    for D in (50, 100) if options.quick else (100, 300, 1000):
        with one_blas_thread(), ExitStack() as stack:
            cases: dict[tuple[str, int], Engine] = {}
            for k in (1, 2):
                cases["memory", k] = stream(ArraySource(X, y[:, None]), D, k, 1e12)
                cases["Parquet, read anew", k] = stream(TableSource(files, "y"), D, k, 0.0)
            for (what, k), engine in cases.items():
                stack.enter_context(engine)
                for name, seconds in timed(engine, d, D):
                    yield _row(f"{what}: {name}", n, d, D, k, seconds)
        for k in (1, 2, 4):
            with workers({"workers": k}) as read, ExitStack() as stack:
                assert read is not None
                for what, keep in (("Dask, read anew", False), ("Dask, kept", True)):
                    engine = stack.enter_context(cluster(DaskSource(read(files), "y"), D, keep))
                    for name, seconds in timed(engine, d, D):
                        yield _row(f"{what}: {name}", n, d, D, k, seconds)


def _row(what: str, n: int, d: int, D: int, at_a_time: int, seconds: float) -> Row:
    sizes = {"n": n, "d": d, "D": D}
    return {"what": f"{what}, {at_a_time}", **sizes, "seconds": seconds, "status": "ok"}
