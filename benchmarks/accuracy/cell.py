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
from collections.abc import Callable
from typing import Any

import numpy as np
from methods import METHODS
from methods.common import Fitted, rmse
from problem import Draw, score
from problems import PROBLEMS


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


def measure(
    problem: Any,
    method: Any,
    seed: int,
    n_threads: int,
    device: str,
    before: Callable[[Draw], dict[str, Any]],
    errors: Callable[[Draw, Fitted], dict[str, Any]],
    **options: Any,
) -> dict[str, Any]:
    """The figures of a cell; an exception becomes its status.

    ``before`` says what is known without a fit, ``errors`` what a fitted model reaches on the test
    rows; numbers of the latter have to be finite.  ``options`` go to the method.
    """
    try:
        draw = problem.draw(seed)
    except (OSError, ImportError) as error:
        return {"status": f"no data: {error}"}
    X, _ = draw.train
    figures: dict[str, Any] = {"n": X.shape[0], "d": X.shape[1], **before(draw)}
    place = device if method.device else "cpu"
    try:
        fit = method.load()
        begun = time.perf_counter()
        fitted = fit(draw.train, draw.validation, seed, n_threads, place, **options)
        figures["seconds"] = time.perf_counter() - begun
        reached = errors(draw, fitted)
    except MemoryError as error:
        return figures | {"status": f"memory: {error}"}
    except Exception as error:
        traceback.print_exc()
        return figures | {"status": f"error: {type(error).__name__}: {error}"}
    selected = np.asarray(fitted.selected, dtype=bool)
    result = score(problem, selected, draw.names)
    columns = np.flatnonzero(selected)
    finite = all(math.isfinite(value) for value in reached.values())
    return figures | {
        **reached,
        "status": "ok" if finite else "error: the error is not finite",
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


def run(problem_name: str, method_name: str, seed: int, n_threads: int, device: str) -> dict:
    """The figures of a cell of this benchmark."""
    problem, method = PROBLEMS[problem_name], METHODS[method_name]

    def before(draw: Draw) -> dict[str, Any]:
        y, held = draw.train[1], draw.test[1]
        return {"floor": problem.floor, "rmse_mean": rmse(held, np.full(held.size, y.mean()))}

    def errors(draw: Draw, fitted: Fitted) -> dict[str, Any]:
        X, y = draw.test
        return {"rmse": rmse(y, np.asarray(fitted.predict(X)))}

    return measure(problem, method, seed, n_threads, device, before, errors)


def print_cell(measured: Callable[[str, str, int, int, str], dict[str, Any]]) -> None:
    """Run the cell that the command line names and print its figures as the last line."""
    warnings.simplefilter("ignore")
    name, method, seed, threads, device = sys.argv[1:]
    print("\n" + json.dumps(measured(name, method, int(seed), int(threads), device)))


if __name__ == "__main__":
    print_cell(run)
