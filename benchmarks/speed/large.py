"""One large default fit in its own process: seconds, and memory over the data."""

from __future__ import annotations

from collections.abc import Iterator

from common import Options, Row, in_process

CASES: dict[str, list[tuple[int, int, int | str, str]]] = {
    "cpu": [(1_000_000, 100, "auto", "float32"), (1_000_000, 100, "auto", "float64")],
    "cuda": [(10_000_000, 100, 1000, "float32")],
}
QUICK: list[tuple[int, int, int | str, str]] = [
    (5000, 20, 50, "float32"),
    (5000, 20, 50, "float64"),
]
SHOWN = ("n", "d", "D", "dtype", "seconds", "data_mb", "peak_mb", "n_passes", "effective_passes")
SHOWN = (*SHOWN, "kind", "exact", "rmse", "other_load", "status")


def rows(options: Options) -> Iterator[Row]:
    """A row for each fit."""
    for n, d, D, dtype in QUICK if options.quick else CASES[options.device.split(":")[0]]:
        if not options.wants(dtype):
            continue
        spec = {"n": n, "d": d, "D": D, "dtype": dtype}
        spec |= {"device": options.device, "n_threads": options.n_threads}
        yield {"what": "fit", **spec, **in_process("fit.py", spec, options.time_limit)}
