"""Where the time of a default fit goes: passes by kind, solves, preparation, the rest.

Functions of srff are timed in the thread that calls them, which waits for its blocks.  Time inside
another timed function is counted there alone.
"""

from __future__ import annotations

import functools
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from common import Options, Row, in_process

SIZES, QUICK = (1000, 50_000, 1_000_000), (500, 1000)
SHOWN = ("n", "d", "D", "seconds", "details", "other_load", "status")

GROUPS = ("statistics", "pull-back", "validation", "screen", "solves", "last pass", "preparation")
REST = "other"
"""L-BFGS itself, chain rules, draws, Python."""

ENGINE = {
    "statistics_of_each": "statistics",
    "weighted_statistics": "statistics",
    "constant_statistics": "statistics",
    "loss_slope": "statistics",
    "loss_pull_back": "pull-back",
    "pull_back": "pull-back",
    "loss": "validation",
    "difference": "validation",
    "permutation_loss": "validation",
    "blend_losses": "validation",
    "marginal_statistics": "screen",
    "pair_statistics": "screen",
}
SOLVES = ("ridge", "ridge_path", "largest_eigenvalue", "training_loss")


class Clock:
    """Seconds by group; a timed function's own time excludes those that it calls."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inner = [0.0]
        self._held: set[int] = set()

    def timed(self, group: str | Callable[..., str], function: Callable) -> Callable:
        """The function with its time counted to a group, or to the one that its arguments say."""

        @functools.wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            name = group if isinstance(group, str) else group(*args)
            self._inner.append(0.0)
            begun = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                taken = time.perf_counter() - begun
                self.seconds[name] += taken - self._inner.pop()
                self._inner[-1] += taken

        return run

    def install(self) -> None:
        """Time the functions of srff, wherever they are known by name."""
        from srff import SRFFRegressor  # and all that the estimator stands on
        from srff.core import coefficients, newton, objectives
        from srff.core.engine import Engine
        from srff.data.scaled import ScaledData
        from srff.estimators.base import RandomFeatureModel

        for name, group in ENGINE.items():
            which = functools.partial(self._group, group)
            setattr(Engine, name, self.timed(which, getattr(Engine, name)))
        RandomFeatureModel._prepare = self.timed("preparation", RandomFeatureModel._prepare)
        ScaledData.training = self.timed("preparation", ScaledData.training)
        ScaledData.statistics_of_all_rows = self._last_pass(ScaledData.statistics_of_all_rows)
        noting = self._noting(ScaledData.validation.fget)
        ScaledData.validation = property(self.timed("preparation", noting))
        assert SRFFRegressor
        solves = [getattr(coefficients, name) for name in SOLVES]
        for function in (*solves, objectives.evidence_alpha, newton.newton):
            replace(function, self.timed("solves", function))
        objectives.Evidence.of = self.timed("solves", objectives.Evidence.of)

    def _group(self, group: str, engine: Any, *args: Any) -> str:
        """The group of a pass: all passes over validation rows are one."""
        return "validation" if id(engine) in self._held else group

    def _last_pass(self, function: Callable) -> Callable:
        """The pass over all rows at the end, with the building of its blocks."""
        timed = self.timed("last pass", function)

        def run(*args: Any) -> Any:
            before = self.seconds["statistics"]
            result = timed(*args)
            self.seconds["last pass"] += self.seconds["statistics"] - before
            self.seconds["statistics"] = before
            return result

        return run

    def _noting(self, validation: Callable) -> Callable:
        """The engine of the validation rows, noted as such."""

        def run(data: Any) -> Any:
            engine = validation(data)
            self._held.add(id(engine))
            return engine

        return run

    def shares(self, seconds: float) -> dict[str, float]:
        """The share of each group in a whole."""
        found = {group: self.seconds[group] / seconds for group in GROUPS}
        return {k: round(v, 5) for k, v in (found | {REST: 1 - sum(found.values())}).items()}


def replace(old: Any, new: Any) -> None:
    """Put a function in the place of another in every module of srff that knows it."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "srff":
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)


def rows(options: Options) -> Iterator[Row]:
    """A row for each size; the shares are in the details."""
    for n in QUICK if options.quick else SIZES:
        if not options.wants(n):
            continue
        spec = {"n": n, "d": 18, "D": 50 if options.quick else "auto", "dtype": "float32"}
        spec |= {"profile": True}
        spec |= {"device": options.device, "n_threads": options.n_threads}
        yield {"what": "fit", **spec, **in_process("fit.py", spec, options.time_limit)}
