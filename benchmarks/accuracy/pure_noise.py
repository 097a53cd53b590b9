"""How often the default fit keeps a variable when the target is pure noise.

Run ``python benchmarks/accuracy/pure_noise.py --draws 100 --jobs 2``.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from srff import SRFFRegressor


def kept(seed: int, n: int = 1000, d: int = 20) -> int:
    """Variables kept by a default fit of a target that depends on none."""
    rng = np.random.default_rng([2024, seed])
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    return int(SRFFRegressor(random_state=seed, n_jobs=1).fit(X, y).get_support().sum())


def main() -> None:
    """Print the number of draws in which nothing was kept, and what was kept in the others."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        counts = list(pool.map(kept, range(options.draws)))
    print(f"nothing kept in {counts.count(0)} of {len(counts)} draws")
    print("kept in the others:", [count for count in counts if count])


if __name__ == "__main__":
    main()
