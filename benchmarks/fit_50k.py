"""The paper's whole search over 50 alphas on SE1 with 50,000 rows: seconds and peak memory.

    python benchmarks/fit_50k.py [n_samples]

The yardstick, run beside it: one plain ridge regression on 300 random features of all 18 variables
with scikit-learn (RBFSampler and Ridge), fitted once.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
import time

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline

from srff import SRFFRegressor
from srff.reproduction.datasets import make_se1


def peak_mb() -> float:
    """The process's largest memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(n: int = 50_000) -> None:
    """Time both and print the ratio."""
    X, y = make_se1(n + 2000, random_state=0)
    X, X_validation, X_test = np.split(X, (n, n + 1000))
    y, y_validation, y_test = np.split(y, (n, n + 1000))
    before = peak_mb()
    begun = time.perf_counter()
    model = SRFFRegressor(
        n_components=300,
        solver="alternating",
        refine=None,
        validation=(X_validation, y_validation),
        random_state=0,
        verbose=1,
    ).fit(X, y)
    seconds, peak = time.perf_counter() - begun, peak_mb() - before
    begun = time.perf_counter()
    make_pipeline(RBFSampler(n_components=300, random_state=0), Ridge()).fit(X, y)
    plain = time.perf_counter() - begun
    error = root_mean_squared_error(y_test, model.predict(X_test))
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, n = {n:,}")
    print(f"search {seconds:.1f} s, {model.n_passes_:,} passes, peak {peak:.0f} MB over the data")
    print(f"one plain fit {plain:.2f} s: ratio {seconds / plain:.0f}")
    print(f"test RMSE {error:.4f} (mean predictor {y_test.std():.4f})")
    print("scales", {f"x{k + 1}": round(float(s), 2) for k, s in enumerate(model.scale_) if s > 0})


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))
