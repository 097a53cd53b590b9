"""Measure how fast srff is: passes beside bare operations, whole fits, predictions, imports, peers.

    python benchmarks/speed/run.py
    python benchmarks/speed/run.py --part passes --part large --device cuda

Each row is printed and put into the results file at once, in the place of the same row of the same
machine.  Without ``--part`` all parts of the device run, one after the other.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import HERE, Options, Row, identity, put, read, versions, write, written
from machines import machine

PARTS = {
    "passes": "passes",
    "prediction": "prediction",
    "imports": "imports",
    "growth": "growth",
    "large": "large",
    "profile": "profiling",
    "peers": "peers",
    "equivalence": "equivalence",
    "sources": "sources",
    "cost": "cost",
}
"""The module of each part."""

USUAL = {
    "cpu": (
        "passes",
        "prediction",
        "imports",
        "growth",
        "large",
        "profile",
        "peers",
        "sources",
        "cost",
    ),
    "cuda": ("passes", "large", "equivalence"),
}
RESULTS = HERE / "results.csv"


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("--part", action="append", choices=PARTS, help="run this part; may be repeated")
    add("--match", action="append", default=[], help="of a part only the cases of this label")
    add("--quick", action="store_true", help="small sizes; nothing is written without --out")
    add("--device", default="cpu", help="cpu or cuda")
    add("--threads", type=int, default=None, help="threads; all cores if not given")
    add("--dtypes", default="float32", help="precisions of the passes, such as float32,float64")
    add("--time-limit", type=float, default=900, help="seconds for a fit in its own process")
    add("--jobs", type=int, default=1, help="fits of the part equivalence at a time")
    add("--out", type=Path, default=None, help="the results file")
    add("--merge", type=Path, help="run nothing: put the rows of another results file into it")
    return parser.parse_args(argv)


def shown(value: Any) -> str:
    """A value for the terminal."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.3g}"
    return written(value)


def run(name: str, options: Options, out: Path | None) -> None:
    """Run a part; rows of it that are not made any more leave the results file."""
    part = importlib.import_module(PARTS[name])
    place = {"part": name, "machine": machine(options.device)}
    place |= {"device": options.device, "n_threads": options.n_threads}
    place["versions"] = versions(options.device)
    widths = [max(len(column), 12 if column == "what" else 9) for column in part.SHOWN]
    print(f"\n{name}, {place['machine']}, {options.n_threads} threads")
    print("  ".join(map(str.ljust, part.SHOWN, widths)), flush=True)
    made = []
    for figures in part.rows(options):
        cells = (shown(figures.get(column)) for column in part.SHOWN)
        print("  ".join(map(str.ljust, cells, widths)), flush=True)
        row: Row = {k: written(v) for k, v in (place | figures).items()}
        made.append(identity(row))
        if out is not None:
            put(out, [row])
    if out is not None and not options.match:
        kept = {k: written(place[k]) for k in ("part", "machine", "device", "n_threads")}
        write(
            out,
            [
                row
                for row in read(out)
                if identity(row) in made or any(row[k] != v for k, v in kept.items())
            ],
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Run the parts that are asked for."""
    from srff._utils.threads import count_threads

    given = arguments(argv)
    out = given.out or (None if given.quick else RESULTS)
    if given.merge is not None:
        put(given.out or RESULTS, read(given.merge))
        return
    options = Options(
        device=given.device,
        n_threads=count_threads(given.threads),
        quick=given.quick,
        dtypes=tuple(given.dtypes.split(",")),
        time_limit=given.time_limit,
        jobs=given.jobs,
        match=tuple(given.match),
    )
    for name in given.part or USUAL[given.device.split(":")[0]]:
        run(name, options, out)


if __name__ == "__main__":
    main()
