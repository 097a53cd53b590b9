"""Rows from memory, from Parquet files and from Dask workers: fits and passes side by side.

``what`` is the source and the solver.  The paper's solver goes over all rows in every pass: its
seconds over its passes are the price of a pass.  The files are written once, to the folder of
``SRFF_BENCHMARK_FILES`` or the system's for temporary files.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import Options, Row, in_process

PAPER = {"solver": "alternating", "refine": None, "alpha": 1e-3, "tol": 0.0, "max_iter": 2}
LIMIT = {"memory_limit": "1GB"}
SHOWN = ("what", "n", "d", "D", "seconds", "peak_mb", "n_passes", "effective_passes", "exact")
SHOWN = (*SHOWN, "rmse", "other_load", "status")

SOURCES: dict[str, Row] = {
    "memory": {},
    "parquet": {"source": "parquet"},
    "dask, 1 worker": {"source": "parquet", "workers": 1},
    "dask, 2 workers": {"source": "parquet", "workers": 2},
    "dask, 4 workers": {"source": "parquet", "workers": 4},
}


def cases(quick: bool) -> Iterator[tuple[str, Row]]:
    """The fits, by what they are called."""
    n, large = (120_000, 200_000) if quick else (2_000_000, 20_000_000)
    for name, source in SOURCES.items():
        yield f"{name}: paper", {"n": n, "d": 30, "D": 300, "settings": PAPER, **source}
        if name in ("memory", "parquet", "dask, 2 workers"):
            yield f"{name}: default", {"n": n, "d": 30, "D": 300, **source}
    source = {"source": "parquet", "settings": LIMIT}
    yield "parquet, 1GB: default", {"n": large, "d": 30, "D": "auto", **source}
    source = {"source": "parquet", "settings": LIMIT | PAPER | {"max_iter": 1}}
    yield "parquet, 1GB: paper", {"n": large, "d": 30, "D": 100, **source}


def rows(options: Options) -> Iterator[Row]:
    """A row for each fit."""
    for what, spec in cases(options.quick):
        if not options.wants(what, *what.split(": ")):
            continue
        spec["n_threads"] = options.n_threads
        shown = {k: spec[k] for k in ("n", "d", "D", "n_threads")}
        yield {"what": what, **shown, **in_process("fit.py", spec, options.time_limit)}
