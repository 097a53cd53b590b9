"""One method on one problem of ``benchmarks/accuracy``, in a process of its own, as JSON."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from common import ACCURACY, Load

sys.path.insert(0, str(ACCURACY))


def once(method: str) -> None:
    """Have a method train once, at one setting, in place of its search."""
    if method == "lightgbm":
        from methods import lightgbm

        lightgbm.N_CANDIDATES, lightgbm.MAX_ROUNDS = 1, 300
    elif method == "stg":
        from methods import stg

        stg.TRAINING, stg.LAMBDAS = stg.TRAINING[1:], (0.01,)
    elif method == "lassonet":
        from methods import lassonet

        several = lassonet.candidates
        lassonet.candidates = lambda n: several(n)[1:2]


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """The figures of a cell of the accuracy benchmark."""
    import cell

    method, _, search = spec["method"].partition(" ")
    if not search:
        once(method)
    load = Load()
    figures = cell.run(spec["problem"], method, spec["seed"], spec["n_threads"], spec["device"])
    kept = ("n", "d", "seconds", "rmse", "rmse_mean", "exact", "selected", "status")
    found = {name: figures.get(name) for name in kept} | {"other_load": round(load.cores(), 3)}
    return found | {"details": json.loads(figures.get("settings", "{}"))}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n" + json.dumps(run(json.loads(sys.argv[1]))))
