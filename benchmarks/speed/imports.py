"""Seconds of an import beside scikit-learn's, each in fresh processes, taken in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from common import Options, Row

PAIRS = {
    "import srff": "import sklearn",
    "from srff import SRFFRegressor": "from sklearn.feature_selection import SelectorMixin",
}
"""Each beside the least that a user of scikit-learn, or of one of its selectors, imports anyway."""

ROUNDS, QUICK_ROUNDS = 15, 3
SHOWN = ("what", "seconds", "reference_seconds", "ratio")
TIMED = "import time; begun = time.perf_counter(); {}; print(time.perf_counter() - begun)"


def seconds(statement: str) -> float:
    """The statement's own time in a fresh process that may keep compiled modules."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", TIMED.format(statement)]
    return float(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


def rows(options: Options) -> Iterator[Row]:
    """A row for each import: medians over processes."""
    statements = [statement for pair in PAIRS.items() for statement in pair]
    for statement in statements:
        seconds(statement)  # compiles the modules, and brings them to the disk's cache
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(QUICK_ROUNDS if options.quick else ROUNDS):
        for statement in statements:
            times[statement].append(seconds(statement))
    for ours, theirs in PAIRS.items():
        mine, other = median(times[ours]), median(times[theirs])
        yield {
            "what": ours,
            "seconds": mine,
            "reference_seconds": other,
            "ratio": mine / other,
            "details": {"beside": theirs, "processes": len(times[ours])},
        }
