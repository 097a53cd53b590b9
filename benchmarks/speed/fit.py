"""One whole fit in a process of its own: seconds, memory, passes, the variables, as JSON.

    python benchmarks/speed/fit.py '{"n": 10000, "d": 18, "D": 300}'

The rows are those of a problem of ``benchmarks/accuracy``, if one is named, or are drawn here,
block by block: normal inputs, and a function of five of them with noise.  Memory is that of the
process over what it has when rows and packages are there.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import ACCURACY, Load

RELEVANT = (0, 3, 5, 7, 11)
NOISE, BLOCK, TEST_ROWS = 0.3, 200_000, 20_000
FILE_PIECES, PARTITION_PIECES = 32, 4
"""Row groups of a Parquet file, and of a partition that a worker reads."""


def function(X: np.ndarray) -> np.ndarray:
    """The function of five variables that is to be found."""
    x1, x2, x3, x4, x5 = (X[:, i].astype(np.float64) for i in RELEVANT)
    return np.sin(1.5 * x2) * x4 + np.exp(-(x5**2)) + 0.7 * x1 * x3


def blocks(n: int, d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of that function, block by block."""
    rng = np.random.default_rng(0)
    for i in range(0, n, BLOCK):
        X = rng.standard_normal((min(BLOCK, n - i), d), dtype=np.float32)
        yield X, function(X) + NOISE * rng.standard_normal(X.shape[0])


def draw(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows as arrays."""
    X, y, i = np.empty((n, d), dtype), np.empty(n), 0
    for part, target in blocks(n, d):
        rows = slice(i, i + target.size)
        X[rows], y[rows] = part, target
        i = rows.stop
    return X, y


def folder(n: int, d: int) -> Path:
    """The same rows as Parquet files, written once, in row groups of the pieces of an array."""
    import pyarrow as pa
    from pyarrow import parquet

    from srff.data.sources.arrays import PIECE_ROWS

    root = Path(os.environ.get("SRFF_BENCHMARK_FILES", tempfile.gettempdir()))
    path = root / f"srff-rows-{n}-{d}"
    if path.exists():
        return path
    unfinished = path.with_name(path.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    left: list[pa.Table] = []

    def write(table: pa.Table, number: int) -> None:
        parquet.write_table(table, unfinished / f"{number:05}.parquet", row_group_size=PIECE_ROWS)

    number, size = 0, FILE_PIECES * PIECE_ROWS
    for X, y in blocks(n, d):
        columns = {f"x{k}": X[:, k] for k in range(d)} | {"y": y.astype(np.float32)}
        left = [pa.concat_tables([*left, pa.table(columns)])]
        while left[0].num_rows >= size:
            write(left[0].slice(0, size), number)
            left, number = [left[0].slice(size)], number + 1
    if left[0].num_rows:
        write(left[0], number)
    unfinished.rename(path)
    return path


def data(spec: dict[str, Any]) -> dict[str, Any]:
    """Training, validation and test rows, and the columns that matter.

    Training rows are arrays, or with ``source`` a folder of Parquet files and the target's name.
    """
    if "problem" not in spec:
        X = np.random.default_rng(1).standard_normal((TEST_ROWS, spec["d"]))
        if spec.get("source", "memory") == "memory":
            train = draw(spec["n"], spec["d"], spec.get("dtype", "float32"))
        else:
            train = str(folder(spec["n"], spec["d"])), "y"  # read by threads, or by workers
        return {"train": train, "test": (X, function(X)), "relevant": list(RELEVANT)}
    sys.path.append(str(ACCURACY))
    from problems import PROBLEMS

    problem = PROBLEMS[spec["problem"]]
    rows = problem.draw(spec.get("seed", 0))
    return {
        "train": rows.train,
        "test": rows.test,
        "validation": rows.validation,
        "relevant": sorted(i for group in problem.groups or () for i in group),
    }


def memory_mb(name: str) -> float:
    """Memory of this process: ``VmRSS`` now, or ``VmHWM`` at its highest.

    Where the system does not say, the highest of the process and of what it was started from.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = [line for line in status.read_text().splitlines() if line.startswith(name)]
        if lines:
            return int(lines[0].split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def workers(spec: dict[str, Any]) -> Iterator[Callable[[str], Any] | None]:
    """Dask workers of one thread each, and how to read a folder with them; None without."""
    if not spec.get("workers"):
        yield None
        return
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=spec["workers"], threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(spec["workers"])
        # Workers are ready before the clock runs.
        client.run(__import__, "srff.data.engines.cluster")
        yield partial(dd.read_parquet, split_row_groups=PARTITION_PIECES)


def megabytes(X: Any, y: Any) -> float:
    """The size of the rows, in memory or in files."""
    if isinstance(X, str):
        return sum(file.stat().st_size for file in Path(X).iterdir()) / 2**20
    return (X.nbytes + y.nbytes) / 2**20


class Stages:
    """Seconds between the reports of a fit, by the stage that they were in."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._stage, self._since = "preparation", time.perf_counter()

    def __call__(self, progress: Any) -> None:
        """Take a report."""
        self.enter(progress.stage)

    def enter(self, stage: str) -> None:
        """Count the time since the last report to the stage that it came from."""
        now = time.perf_counter()
        self.seconds[self._stage] += now - self._since
        self._stage, self._since = stage, now


def search_on_all_rows() -> None:
    """Raise the numbers of rows that the default search is limited to."""
    from srff import SRFFRegressor
    from srff.selection.config import CONFIG

    every = 10**9
    SRFFRegressor.selection_config = replace(CONFIG, search_rows=every, refine_rows=every)


def ready(device: str) -> None:
    """Start a GPU before the clock runs."""
    if device.startswith("cuda"):
        import torch

        torch.zeros(1, device=device)
        torch.cuda.reset_peak_memory_stats(device)


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """Fit, and say what it took."""
    from srff import SRFFRegressor

    device = spec.get("device", "cpu")
    if spec.get("all_rows"):
        search_on_all_rows()
    rows = data(spec)
    X, y = rows["train"]
    ready(device)
    clock = None
    if spec.get("profile"):
        from profiling import Clock

        clock = Clock()
        clock.install()
    before, load, stages = memory_mb("VmRSS"), Load(), Stages()
    model = SRFFRegressor(
        n_components=spec.get("D", "auto"),
        validation=rows.get("validation"),
        device=device,
        n_jobs=spec.get("n_threads"),
        random_state=spec.get("seed", 0),
        callback=stages,
        **spec.get("settings", {}),
    )
    with workers(spec) as collection:
        begun = time.perf_counter()
        model.fit(X if collection is None else collection(X), y)
        seconds, other_load = time.perf_counter() - begun, load.cores()
    stages.enter("end")
    figures = {
        "status": "ok",
        "n": spec["n"] if isinstance(X, str) else X.shape[0],
        "seconds": seconds,
        "other_load": round(other_load, 3),
        "data_mb": megabytes(X, y),
        "peak_mb": memory_mb("VmHWM") - before,
        "details": {stage: round(value, 4) for stage, value in stages.seconds.items()},
    }
    if clock is not None:
        figures["details"] = clock.shares(seconds)
    if device.startswith("cuda"):
        import torch

        figures["device_mb"] = torch.cuda.max_memory_allocated(device) / 2**20
    return figures | found(model, *rows["test"], rows["relevant"])


def found(model: Any, X: np.ndarray, y: np.ndarray, relevant: list[int]) -> dict[str, Any]:
    """What a fit came to, on test rows."""
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model.feature_names_in_)
    selected = model.get_support(indices=True).tolist()
    return {
        "d": model.n_features_in_,
        "n_passes": int(model.n_passes_),
        "effective_passes": float(model.effective_passes_),
        "kind": model.model_kind_,
        "rmse": float(np.sqrt(np.mean((model.predict(X) - y) ** 2))),
        "rmse_mean": float(np.sqrt(np.mean((model.intercept_ - y) ** 2))),
        "selected": " ".join(map(str, selected)),
        "exact": selected == relevant,
    }


if __name__ == "__main__":
    print("\n" + json.dumps(run(json.loads(sys.argv[1]))))
