"""Seconds and memory of a whole fit as rows, inputs and features grow, each in its own process."""

from __future__ import annotations

from collections.abc import Iterator

from common import Options, Row, in_process

Case = tuple[str, int, int, int | str]

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
WIDTHS, COMPONENTS = (18, 50, 100, 300), (100, 300, 1000)
SEVERAL, QUICK = 50_000, (1000, 2000, 4000)
SHOWN = ("what", "n", "d", "D", "seconds", "peak_mb", "n_passes", "effective_passes", "kind")
SHOWN = (*SHOWN, "exact", "rmse", "other_load", "status")


def cases(quick: bool) -> list[Case]:
    """The curves that a fit is on, its rows, inputs and features."""
    if quick:
        return [*(("n", n, 18, 50) for n in QUICK), ("d", 1000, 50, 50), ("D", 1000, 18, 30)]
    found: list[Case] = [("n", n, 18, 300) for n in SIZES]
    found += [("D" if D != 300 else "d D", SEVERAL, 18, D) for D in COMPONENTS]
    found += [("d", SEVERAL, d, 300) for d in WIDTHS if d != 18]
    return found + [("n", n, 18, "auto") for n in SIZES]


def rows(options: Options) -> Iterator[Row]:
    """A row for each fit."""
    for what, n, d, D in cases(options.quick):
        if not options.wants(what, f"{n}x{d}x{D}", f"D={D}"):
            continue
        spec = {"n": n, "d": d, "D": D, "dtype": "float32"}
        spec |= {"device": options.device, "n_threads": options.n_threads}
        yield {"what": what, **spec, **in_process("fit.py", spec, options.time_limit)}
