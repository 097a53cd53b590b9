"""The default fit, which searches on samples of the rows, beside the same fit that searches on all.

Both have the same seed, validation rows and test rows.  They differ by what any other sample, or
any other seed, would change too: the spread over seeds is the measure.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from common import Options, Row, in_process

PROBLEMS = {"se1-50k": (50_000, 18), "se2-50k": (50_000, 100)}
QUICK = {"se1-1k": (1000, 18)}
"""Training rows and inputs of the problems."""

SEEDS = (0, 1, 2)
SHOWN = ("what", "seed", "seconds", "n_passes", "effective_passes", "kind", "rmse", "exact")
SHOWN = (*SHOWN, "status")


def rows(options: Options) -> Iterator[Row]:
    """A row for each fit, as they end; ``jobs`` of them at a time, those on all rows first."""
    specs = [
        {"problem": problem, "seed": seed, "all_rows": all_rows}
        for all_rows in (True, False)
        for problem in (QUICK if options.quick else PROBLEMS)
        for seed in (SEEDS[:1] if options.quick else SEEDS)
    ]
    common = {"D": "auto", "dtype": "float64", "device": options.device}
    common |= {"n_threads": options.n_threads}
    with ThreadPoolExecutor(options.jobs) as pool:
        running = {
            pool.submit(in_process, "fit.py", spec | common, options.time_limit): spec
            for spec in specs
            if options.wants(spec["problem"], spec["seed"])
        }
        for future in as_completed(running):
            spec = running[future]
            what = f"{spec['problem']} {'all rows' if spec['all_rows'] else 'samples'}"
            n, d = (PROBLEMS | QUICK)[spec["problem"]]
            place = {"what": what, "n": n, "d": d, "seed": spec["seed"]}
            yield place | common | future.result()
