"""Many small fits in one process: memory, threads and open files must be level.

Fits and predictions of the three estimators, some of them with a checkpoint, some stopped by their
callback.  What the process holds is measured after a fifth of the fits, by when all that is made
once is made, and at the end.  Anything but the same threads and open files, or more memory than
``--megabytes``, is a failure.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor


@dataclass(frozen=True)
class Figures:
    """What a process holds."""

    megabytes: float
    threads: int
    files: int

    def __str__(self) -> str:
        """A line of a table."""
        return f"{self.megabytes:8.1f} MB {self.threads:4} threads {self.files:4} open files"


def figures() -> Figures:
    """Of this process, now, by what Linux says of it."""
    gc.collect()
    time.sleep(0.2)  # a thread that was joined is the system's for a moment more
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    threads, files = (len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd"))
    return Figures(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, threads, files)


class Stop(Exception):
    """How a fit is stopped."""


def stop(progress: object) -> None:
    """A callback that ends the fit at its first report."""
    raise Stop


def one_fit(number: int, X: np.ndarray, y: np.ndarray) -> None:
    """A fit and its predictions; which kind of fit follows from the number."""
    quick = {"effort": "quick", "random_state": number, "n_jobs": 1 + number % 2}
    kind = number % 5
    if kind == 0:
        SRFFClassifier(**quick).fit(X, y > 0).predict_proba(X)
    elif kind == 1:
        RFFRegressor(n_components=50, random_state=number).fit(X, y).predict(X)
    elif kind == 2:
        with tempfile.TemporaryDirectory() as folder:
            SRFFRegressor(**quick, checkpoint=folder).fit(X, y).predict(X)
    elif kind == 3:
        with contextlib.suppress(Stop):
            SRFFRegressor(**quick, callback=stop).fit(X, y)
    else:
        SRFFRegressor(**quick).fit(X, y).predict(X)


def main() -> int:
    """Run the fits; the exit code says whether all was level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--megabytes", type=float, default=30.0, help="that memory may grow by")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.RandomState(0)
    X = rng.standard_normal((given.rows, given.columns))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(given.rows)
    begun, early = time.monotonic(), max(1, given.fits // 5)
    first = last = figures()
    for number in range(1, given.fits + 1):
        one_fit(number, X, y)
        if number in (early, given.fits):
            first, last = (figures(),) * 2 if number == early else (first, figures())
            print(f"{number:5} fits {last} {time.monotonic() - begun:7.1f} s", flush=True)
    grown = last.megabytes - first.megabytes
    level = (first.threads, first.files) == (last.threads, last.files)
    return 0 if level and grown <= given.megabytes else 1


if __name__ == "__main__":
    sys.exit(main())
