"""Do error rates hold?  Null p-values, false discovery rates and power, and controls that fail.

    python benchmarks/confidence/run.py level --draws 200 --jobs 16 --out level.csv
    python benchmarks/confidence/run.py controls --draws 50 --jobs 16 --out level.csv
    python benchmarks/confidence/run.py power "SE2 1k" Friedman --draws 200 --out power.csv
    python benchmarks/confidence/run.py show level.csv power.csv

``level``: searches are made to choose four columns too many, and the p-values of those that do not
matter must be uniform.  ``controls``: the same in two ways that are wrong, and must be seen to be:
rows that the search has seen, and plain shuffling.  ``power``: what is confirmed at q = 0.1 and
0.2.  All with ``effort="quick"``, one thread a fit.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import numpy as np  # noqa: E402
from designs import LEVEL, POWER, Draw  # noqa: E402

MORE = 4
"""Columns that a search for the level chooses too many."""

JUDGED = 2
"""Splits of the five that a draw of the level judges: draws tell more than splits do."""

COLUMNS = (
    "what", "design", "seed", "seconds", "nulls", "below_1", "below_5", "below_10", "q",
    "confirmed", "true", "false", "relevant", "selected_true", "selected_false", "stability",
    "doubtful",
)  # fmt: skip


def estimator(draw: Draw, seed: int, **settings: Any) -> Any:
    """A quick search on one thread."""
    from srff import SRFFClassifier, SRFFRegressor

    make = SRFFClassifier if draw.classes else SRFFRegressor
    return make(effort="quick", random_state=seed, n_jobs=1, **settings)


def level(design: str, seed: int, wrong: bool = False) -> list[dict[str, Any]]:
    """Null p-values of one draw: as they should be, or of rows used twice and plain shuffling."""
    from srff.inference.rows import checked_rows
    from srff.inference.splits import judged_split
    from srff.inference.units import units_of

    draw = LEVEL[design](seed)
    search = estimator(draw, seed, n_features_to_select=len(draw.relevant) + MORE)
    begun = time.process_time()
    rows, model = checked_rows(search, draw.X, draw.y, None, None, seed)
    units = units_of(rows, model)
    matters = np.isin(np.arange(units.of.size), draw.relevant)
    null = ~units.any_of(matters)
    p: dict[str, list[float]] = defaultdict(list)
    on_all = search.fit(*rows.some(np.arange(rows.n_rows))) if wrong else None
    for number, split in enumerate(rows.splits(5)[:JUDGED]):
        fitted = estimator(draw, seed, n_features_to_select=len(draw.relevant) + MORE)
        fitted.fit(*rows.some(split[0]))
        right = [("level", fitted, None)]
        controls = [("rows used twice", on_all, None), ("plain shuffling", fitted, shuffled)]
        for what, judge, how in controls if wrong else right:
            with replaced(how):
                found = judged_split(rows, units, judge, split, seed + number)
            p[what] += [t.p_value for t in found.tested if null[t.unit]]
    seconds = time.process_time() - begun
    return [
        {
            "what": what,
            "design": design,
            "seed": seed,
            "seconds": seconds,
            "nulls": len(of),
            **{f"below_{k}": int(np.sum(np.array(of) <= k / 100)) for k in (1, 5, 10)},
        }
        for what, of in p.items()
    ]


class shuffled:
    """In place of the conditional draw: values of other rows, whatever stands beside them."""

    def __init__(self, codes: Any, levels: Any, learn: Any, aside: np.ndarray) -> None:
        self._codes, self._aside = codes, aside

    def copies(self, unit: np.ndarray, rng: np.random.Generator) -> Any:
        """Copies with ``draw``."""
        own = self._codes[np.ix_(self._aside, unit)]

        class Copies:
            def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
                order = rng.permuted(np.tile(np.arange(len(own)), (count, 1)), axis=1)
                return own[order]

        return Copies()


class replaced:
    """Another sampler in place of the library's own, for a control."""

    def __init__(self, how: Any) -> None:
        self._how = how

    def __enter__(self) -> None:
        import srff.inference.splits as splits

        self._own = splits.Conditional
        if self._how is not None:
            splits.Conditional = self._how

    def __exit__(self, *error: object) -> None:
        import srff.inference.splits as splits

        splits.Conditional = self._own


def power(design: str, seed: int) -> list[dict[str, Any]]:
    """What is confirmed of one draw, at two rates: the same splits and p-values serve both."""
    from dataclasses import replace

    from srff.inference.confidence import confidence
    from srff.inference.multiple import (
        confirmed_by_e_values,
        confirmed_in_split,
        e_values_of_splits,
    )

    draw = POWER[design](seed)
    begun = time.process_time()
    found = confidence(estimator(draw, seed), draw.X, draw.y, q=0.1)
    seconds = time.process_time() - begun
    matters = np.isin(np.arange(found.unit_of.size), draw.relevant)
    relevant = np.bincount(found.unit_of, weights=matters) > 0
    out = []
    for q in (0.1, 0.2):
        alone = [
            confirmed_in_split(p, s, q / 2)
            for p, s in zip(found.p_splits, found.selected, strict=True)
        ]
        e = e_values_of_splits(np.stack(alone), q / 2)
        at = replace(found, q=q, e_values=e, confirmed_units=confirmed_by_e_values(e, q))
        sure = at.confirmed_units
        out.append(
            {
                "what": "power",
                "design": design,
                "seed": seed,
                "seconds": seconds,
                "q": q,
                "confirmed": int(sure.sum()),
                "true": int((sure & relevant).sum()),
                "false": int((sure & ~relevant).sum()),
                "relevant": int(relevant.sum()),
                "selected_true": float(found.selected[:, relevant].sum(axis=1).mean()),
                "selected_false": float(found.selected[:, ~relevant].sum(axis=1).mean()),
                "stability": found.stability[0],
                "doubtful": int(found.doubtful.sum()),
            }
        )
    return out


def cell(what: str, design: str, seed: int) -> list[dict[str, Any]]:
    """The lines of one draw."""
    warnings.simplefilter("ignore")
    made = {"level": level, "controls": partial(level, wrong=True), "power": power}
    return made[what](design, seed)


def show(rows: list[dict[str, Any]]) -> str:
    """Means of the lines as tables."""
    lines = []
    by: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by[row["what"], row["design"], row.get("q") or ""].append(row)
    for (what, design, q), of in sorted(by.items()):
        if q:
            lines.append(f"| {what} | {design} | {q} | {_power(of)} |")
        else:
            n = sum(int(row["nulls"]) for row in of)
            shares = [sum(int(row[f"below_{k}"]) for row in of) / max(n, 1) for k in (1, 5, 10)]
            told = " | ".join(f"{100 * share:.1f}" for share in shares)
            lines.append(f"| {what} | {design} | {len(of)} | {n:,} | {told} |")
    return "\n".join(lines)


def _power(of: list[dict[str, Any]]) -> str:
    false = np.array([float(row["false"]) / max(float(row["confirmed"]), 1) for row in of])
    any_false = np.mean([float(row["false"]) > 0 for row in of])
    true = np.array([float(row["true"]) / max(float(row["relevant"]), 1) for row in of])
    chosen = np.mean([float(r["selected_true"]) / max(float(r["relevant"]), 1) for r in of])
    error = false.std() / np.sqrt(len(of))
    seconds = np.mean([float(row["seconds"]) for row in of])
    return (
        f"{len(of)} | {false.mean():.3f} ({error:.3f}) | {any_false:.2f} | {true.mean():.3f} | "
        f"{chosen:.3f} | {np.mean([float(r['selected_false']) for r in of]):.2f} | {seconds:.1f}"
    )


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("level", "controls", "power", "show"))
    parser.add_argument("names", nargs="*", help="designs (all if none), or files to show")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.what == "show":
        print(show([row for name in given.names for row in read(Path(name))]))
        return
    designs = given.names or [*(POWER if given.what == "power" else LEVEL)]
    begun, rows = time.time(), []
    todo = [(d, s) for s in range(given.first, given.first + given.draws) for d in designs]
    with ProcessPoolExecutor(given.jobs) as pool:
        futures = [pool.submit(_timed, given.what, *one, begun + given.seconds) for one in todo]
        for future in as_completed(futures):
            rows += future.result()
            if given.out is not None:
                append(given.out, future.result())
    print(show(rows))


def _timed(what: str, design: str, seed: int, end: float) -> list[dict[str, Any]]:
    return cell(what, design, seed) if time.time() < end else []


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file."""
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def append(path: Path, rows: list[dict[str, Any]]) -> None:
    """Lines at the end of a file, with the names of the columns where it is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
