"""What the parts share: options, timing in turn, processes of their own, the results file.

Only the standard library, NumPy and srff are needed here.
"""

from __future__ import annotations

import csv
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ACCURACY = HERE.parent / "accuracy"
sys.path.append(str(ACCURACY))
COLUMNS = (
    "part",
    "what",
    "n",
    "d",
    "D",
    "dtype",
    "order",
    "seed",
    "device",
    "n_threads",
    "seconds",
    "reference_seconds",
    "ratio",
    "rows_per_second",
    "check_seconds",
    "other_load",
    "data_mb",
    "peak_mb",
    "device_mb",
    "n_passes",
    "effective_passes",
    "kind",
    "rmse",
    "rmse_mean",
    "selected",
    "exact",
    "status",
    "details",
    "machine",
    "versions",
)
IDENTITY = (*COLUMNS[: COLUMNS.index("seconds")], "machine")
"""A row replaces the one that agrees with it in these."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What a part is asked to do."""

    device: str = "cpu"
    n_threads: int = 1
    quick: bool = False
    dtypes: tuple[str, ...] = ("float32",)
    time_limit: float = 900.0
    jobs: int = 1
    match: tuple[str, ...] = ()

    def wants(self, *labels: object) -> bool:
        """Whether a case of these labels is to run: one of ``match`` is among them, or no match."""
        return not self.match or bool(set(self.match) & {str(label) for label in labels})


def shortest(*functions: Callable[[], Any], repeats: int = 5) -> list[float]:
    """The shortest of several runs of each, in turn, so that all see the same machine."""
    found = [math.inf] * len(functions)
    for function in functions:
        function()
    for _ in range(repeats):
        for k, function in enumerate(functions):
            begun = time.perf_counter()
            function()
            found[k] = min(found[k], time.perf_counter() - begun)
    return found


def in_process(script: str, spec: Row, time_limit: float | None = None, **environment: str) -> Row:
    """What a script of this folder prints last, as JSON, or how it ended.

    The script gets ``spec`` as JSON; it is ended at the time limit.
    """
    command = [sys.executable, str(HERE / script), json.dumps(spec)]
    begun = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=time_limit,
            env=os.environ | environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        seconds = time.perf_counter() - begun
        return {"status": f"time: over {time_limit:g} s", "seconds": seconds}
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        return dict(json.loads(lines[-1]))
    last = " ".join(done.stderr.strip().splitlines()[-1:])
    return {"status": f"error: exit code {done.returncode} {last}"}


def busy_seconds() -> float:
    """Seconds of all cores in use, or taken away, since the machine started; nan if not known."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return math.nan
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    ticks = dict(zip(names, map(int, stat.read_text().split()[1:9]), strict=True))
    idle = ticks["idle"] + ticks["iowait"]
    return (sum(ticks.values()) - idle) / os.sysconf("SC_CLK_TCK")


class Load:
    """Cores that were busy with other work than this process since it was made."""

    def __init__(self) -> None:
        self._begun = self._now()

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter(), busy_seconds(), time.process_time()

    def cores(self) -> float:
        """Their mean number."""
        wall, busy, own = (now - then for now, then in zip(self._now(), self._begun, strict=True))
        return max(busy - own, 0.0) / wall


# --- the results file ----------------------------------------------------------------------------


def versions(device: str, *more: str) -> dict[str, str]:
    """Versions of Python and of the packages that matter to the figures."""
    from srff import __version__

    found = {"python": platform.python_version(), "srff": __version__}
    torch = ("torch",) if device.startswith("cuda") else ()
    for name in ("numpy", "scipy", "scikit-learn", *torch, *more):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a results file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write a results file whole, and put it in the place of the old one at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    with fresh.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows)
    fresh.replace(path)


def identity(row: Row) -> tuple[str, ...]:
    """What tells a row from the others of its file."""
    return tuple(str(row.get(name, "")) for name in IDENTITY)


def put(path: Path, fresh: Sequence[Row]) -> None:
    """Add rows to a results file; each takes the place of the one that it repeats."""
    rows: dict[tuple[str, ...], Row] = {identity(row): row for row in read(path)}
    rows |= {identity(row): row for row in fresh}
    write(path, rows.values())


def written(value: Any) -> str:
    """A value as the results file has it: nothing for None and nan, six digits, one line."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return json.dumps(value)
    return " ".join(str(value).split())
