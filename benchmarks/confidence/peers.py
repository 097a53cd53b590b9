"""Other tools that promise a false discovery rate, on the draws of ``run.py power``.

    python benchmarks/confidence/peers.py Friedman noise --draws 10 --out peers.csv
    python benchmarks/confidence/run.py show power.csv peers.csv

``knockpy``: Gaussian knockoffs of second order, swap importances in a random forest of 200 trees.
``hidimstat CFI``: conditional feature importance of boosted trees that half of the rows taught, on
the other half, its t test, Benjamini and Hochberg's rule.  ``hidimstat CFICV``: the same over five
folds, 20 permutations, with its test of Nadeau and Bengio.  Draws that a file has are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TQDM_DISABLE", "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import numpy as np  # noqa: E402
from designs import POWER, Draw  # noqa: E402
from run import append, read, show  # noqa: E402

RATES = 0.1, 0.2

CHEAP = (
    "noise", "Friedman", "product of two", "cos", "quadratic", "pairint", "trunclinear", "SE2 1k",
)  # fmt: skip

Found = list[np.ndarray]
"""The columns that are selected at each of the rates."""


def knockpy(draw: Draw, seed: int) -> Found:
    """Knockoffs; one draw of them serves both rates."""
    from knockpy import KnockoffFilter
    from knockpy.knockoff_stats import data_dependent_threshhold

    np.random.seed(seed)  # the package draws from there
    filtered = KnockoffFilter(
        ksampler="gaussian", fstat="randomforest", fstat_kwargs={"n_estimators": 200}
    )
    filtered.forward(draw.X, draw.y, fdr=RATES[0])
    W = filtered.W
    return [np.flatnonzero(data_dependent_threshhold(W, fdr=q) <= W) for q in RATES]


def cfi(draw: Draw, seed: int) -> Found:
    """A model of one half of the rows, tested on the other."""
    from hidimstat import CFI

    half = len(draw.y) // 2
    model = _boosted(seed).fit(draw.X[:half], draw.y[:half])
    tested = CFI(model, random_state=seed).fit(draw.X[:half], draw.y[:half])
    tested.importance(draw.X[half:], draw.y[half:])
    return [np.flatnonzero(tested.fdr_selection(q)) for q in RATES]


def cfi_cv(draw: Draw, seed: int) -> Found:
    """A model in each of five folds."""
    from hidimstat import CFICV
    from sklearn.model_selection import KFold

    tested = CFICV(_boosted(seed), KFold(5), n_permutations=20, random_state=seed)
    tested.fit_importance(draw.X, draw.y)
    return [np.flatnonzero(tested.fdr_selection(q)) for q in RATES]


def _boosted(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=seed)


PEERS: dict[str, Callable[[Draw, int], Found]] = {
    "knockpy": knockpy,
    "hidimstat CFI": cfi,
    "hidimstat CFICV": cfi_cv,
}


def lines(peer: str, design: str, seed: int) -> list[dict[str, Any]]:
    """What a peer selects in one draw, at each rate, in the columns of ``run.py``."""
    draw = POWER[design](seed)
    begun = time.process_time()
    found = PEERS[peer](draw, seed)
    seconds = time.process_time() - begun
    return [
        {
            "what": peer,
            "design": design,
            "seed": seed,
            "seconds": seconds,
            "q": q,
            "confirmed": columns.size,
            "true": int(np.isin(columns, draw.relevant).sum()),
            "false": int(np.sum(~np.isin(columns, draw.relevant))),
            "relevant": len(draw.relevant),
            "selected_true": float("nan"),
            "selected_false": float("nan"),
            "stability": float("nan"),
            "doubtful": 0,
        }
        for q, columns in zip(RATES, found, strict=True)
    ]


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="designs; eight cheap ones if none")
    parser.add_argument("--peers", nargs="*", default=[*PEERS], choices=[*PEERS])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    there = read(given.out) if given.out.exists() else []
    done = {(row["what"], row["design"], int(row["seed"])) for row in there}
    for seed in range(given.first, given.first + given.draws):
        for design in given.names or CHEAP:
            for peer in given.peers:
                if (peer, design, seed) not in done:
                    append(given.out, lines(peer, design, seed))
    print(show(read(given.out)))


if __name__ == "__main__":
    main()
