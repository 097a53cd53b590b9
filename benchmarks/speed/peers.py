"""The default fit beside LightGBM, STG and LassoNet: seconds and error on the same cores.

``lightgbm`` is one fit of at most 300 rounds.  ``stg`` and ``lassonet`` are one training at one
setting, ``... search`` the search of ``benchmarks/accuracy``, which chooses the setting by
validation as srff does.  All see the same training, validation and test rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import Options, Row, in_process, versions

METHODS = {
    "srff": ("srff",),
    "lightgbm": ("lightgbm",),
    "stg": ("stg", "torch"),
    "lassonet": ("lassonet", "torch"),
    "stg search": ("stg", "torch"),
    "lassonet search": ("lassonet", "torch"),
}
"""The methods, and the packages that they stand on."""

PROBLEMS = {"se1-50k": (50_000, 18), "se2-50k": (50_000, 100)}
QUICK = {"se1-1k": (1000, 18)}
"""Training rows and inputs of the problems."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SHOWN = (
    "what",
    "n",
    "d",
    "seconds",
    "ratio",
    "rmse",
    "rmse_mean",
    "exact",
    "selected",
    "other_load",
    "status",
)


def rows(options: Options) -> Iterator[Row]:
    """A row for each problem and method; the ratio is to the seconds of srff."""
    environment = dict.fromkeys(THREADS, str(options.n_threads))
    for problem, (n, d) in (QUICK if options.quick else PROBLEMS).items():
        reference = None
        for method, packages in METHODS.items():
            if not options.wants(problem, method, f"{problem} {method}"):
                continue
            spec = {"problem": problem, "method": method, "seed": 0}
            spec |= {"n_threads": options.n_threads, "device": options.device}
            result = in_process("peer.py", spec, options.time_limit, **environment)
            row = {"what": f"{problem} {method}", "n": n, "d": d, "seed": 0, "dtype": "float64"}
            row |= result
            if method == "srff" and row["status"] == "ok":
                reference = row["seconds"]
            if reference and row.get("seconds"):
                row |= {"reference_seconds": reference, "ratio": row["seconds"] / reference}
            row["versions"] = versions(options.device, *packages[packages[0] == "srff" :])
            yield row
