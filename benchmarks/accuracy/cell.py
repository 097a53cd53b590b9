"""One cell: draw the rows of a problem and seed, fit a method, print what it gave as JSON."""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
import sys
import time
import traceback
import warnings
from typing import Any

import numpy as np
from methods import METHODS
from methods.common import rmse
from problems import PROBLEMS, score


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Versions of those of the packages that are installed, and of Python."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            module = sys.modules.get(name)
            if hasattr(module, "__version__"):
                found[name] = str(module.__version__)
    return found


def run(problem_name: str, method_name: str, seed: int, n_threads: int, device: str) -> dict:
    """The figures of a cell; an exception becomes its status."""
    problem, method = PROBLEMS[problem_name], METHODS[method_name]
    try:
        draw = problem.draw(seed)
    except (OSError, ImportError) as error:
        return {"status": f"no data: {error}"}
    (X, y), test = draw.train, draw.test
    figures: dict[str, Any] = {"n": X.shape[0], "d": X.shape[1], "floor": problem.floor}
    figures["rmse_mean"] = rmse(test[1], np.full(test[1].size, y.mean()))
    place = device if method.device else "cpu"
    try:
        fit = method.load()
        begun = time.perf_counter()
        fitted = fit(draw.train, draw.validation, seed, n_threads, place)
        figures["seconds"] = time.perf_counter() - begun
        figures["rmse"] = rmse(test[1], np.asarray(fitted.predict(test[0])))
    except MemoryError as error:
        return figures | {"status": f"memory: {error}"}
    except Exception as error:
        traceback.print_exc()
        return figures | {"status": f"error: {type(error).__name__}: {error}"}
    selected = np.asarray(fitted.selected, dtype=bool)
    result = score(problem, selected, draw.names)
    columns = np.flatnonzero(selected)
    return figures | {
        "status": "ok" if math.isfinite(figures["rmse"]) else "error: the error is not finite",
        "n_selected": int(selected.sum()),
        "n_true": result.n_true,
        "true_selected": result.true,
        "false_selected": result.false,
        "exact": None if result.exact is None else int(result.exact),
        "selected": " ".join(draw.names[i] if draw.names else str(i) for i in columns),
        "device": place,
        "settings": json.dumps(fitted.settings, default=str),
        "versions": json.dumps(versions(method.packages)),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    name, method, seed, threads, device = sys.argv[1:]
    print("\n" + json.dumps(run(name, method, int(seed), int(threads), device)))
