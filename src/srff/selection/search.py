"""What every step of the default fit works with: the problem, the rows, the wishes, the constants.

No step of the recipe is here; this is what they pass around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf
from threading import RLock
from typing import TypeVar

import numpy as np

from srff._utils.progress import Callback, Progress
from srff._utils.threads import stop_if_asked
from srff.core.candidate import Candidate
from srff.core.coefficients import decreasing
from srff.core.engine import Engine
from srff.core.groups import Groups
from srff.data.problem import Problem
from srff.data.scaled import ScaledData
from srff.selection.config import Config, Numbers

Result = TypeVar("Result")


@dataclass(frozen=True)
class Effort:
    """How long to descend: iterations at each alpha, and the relative decrease to stop at."""

    max_iter: int
    tol: float

    def half(self) -> Effort:
        """Half of the iterations: enough from where another descent ended."""
        return replace(self, max_iter=max(self.max_iter // 2, 1))

    def twice(self) -> Effort:
        """Twice the iterations: for a last model that descends once, or has free frequencies."""
        return replace(self, max_iter=2 * self.max_iter)


@dataclass(frozen=True)
class Request:
    """What a user may set of the default fit."""

    refine: str
    effort: Effort
    wide_features: int
    """Most features of the wide model; none for a given ``n_components``."""
    free_features: int
    """Most free frequencies beyond ``n_components``."""
    alpha: float | None = None
    """The penalty, in units of the loss itself; None for the best."""
    begin_from: Candidate | None = None
    """Scales to begin from, in place of all other starts."""
    inputs: str = "auto"
    """The scaling to use, or "auto" for the best of those that the problem has."""
    n_variables: int | None = None
    """How many groups to keep; None for as few as do not cost accuracy."""
    keep: str = "auto"
    """What "as few" means: "fewest", "best" or "auto"."""
    must_keep: tuple[int, ...] = ()
    """Numbers of groups that stay whatever the rows say."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of last model that may be chosen."""
        return ("scales", "metric", "frequencies") if self.refine == "auto" else (self.refine,)


class Log:
    """Every candidate that was considered, in order; and how far along the fit is."""

    STAGES = ("start", "elimination", "one by one", "last model")
    SHARES = (0.22, 0.1, 0.06, 0.62)
    """What each stage takes of the whole, roughly."""

    USUAL = 100
    """Evaluations of a part of a stage, roughly."""

    def __init__(self, report: Callback, target_unit: float) -> None:
        self.candidates: list[Candidate] = []
        self.n_evaluations = 0
        self._report, self._target_unit = report, target_unit
        self._stage, self._part, self._ticks, self._done = 0, (0, 1), 0, 0.0
        self._lock = RLock()

    def stage(self, name: str, part: int = 0, parts: int = 1) -> None:
        """Say that a part of a stage begins."""
        self._stage, self._part, self._ticks = self.STAGES.index(name), (part, parts), 0
        self.tick()

    def add(self, *candidates: Candidate) -> None:
        """Note some candidates."""
        self.candidates.extend(candidates)
        self.tick()

    def evaluated(self, count: int) -> None:
        """Count evaluations of an objective: points that coefficients were solved for at."""
        with self._lock:
            self.n_evaluations += count
        self.tick()

    def tick(self) -> None:
        """Report; called at each evaluation, so that a callback may interrupt."""
        stop_if_asked()
        with self._lock:
            self._ticks += 1
            self._tell()

    def _tell(self) -> None:
        part, parts = self._part
        within = 1 - exp(-self._ticks / self.USUAL)  # of a part whose end nobody knows
        share = self.SHARES[self._stage] * (part + within) / parts
        self._done = max(self._done, sum(self.SHARES[: self._stage]) + share)
        message = ""
        if self.candidates:
            loss = self.candidates[-1].loss
            error = min(c.validation_error for c in self.candidates if c.loss is loss)
            message = f"best error {loss.reported(error, self._target_unit):.4g}"
        self._report(Progress(self.STAGES[self._stage], round(1000 * self._done), 1000, message))


@dataclass(frozen=True)
class Search:
    """A search for variables and their model through one scaling of the inputs."""

    problem: Problem
    data: ScaledData
    request: Request
    config: Config
    log: Log

    @property
    def engine(self) -> Engine:
        """The rows that starts and eliminations look at."""
        return self.data.training(self.config.search_rows)

    @property
    def effort(self) -> Effort:
        """How long descents are."""
        return self.request.effort

    @property
    def n_components(self) -> int:
        """Random features of starts and eliminations."""
        return min(self.config.search_components, self.problem.b.size)

    @property
    def E(self) -> np.ndarray:
        """The draws of the search: the problem's first."""
        return self.problem.E[:, : self.n_components]

    @property
    def b(self) -> np.ndarray:
        """The offsets of the search."""
        return self.problem.b[: self.n_components]

    @property
    def more_rows(self) -> Engine:
        """The rows that the last descents end on: the same where there are no more."""
        return self.data.training(self.config.refine_rows)

    @property
    def wide_features(self) -> int:
        """Most features of the wide model: no more than twice the rows."""
        return min(self.request.wide_features, int(self.config.wide_share * self.more_rows.n))

    @property
    def validation(self) -> Engine:
        """The rows that decide."""
        assert self.data.validation is not None
        return self.data.validation

    @property
    def averages(self) -> bool:
        """Whether the last model is the mean of those of all folds."""
        few = self.problem.n_rows <= self.config.averaged_rows
        return few and bool(self.problem.others) and self.request.begin_from is None

    @property
    def groups(self) -> Groups:
        """What is kept or dropped as one."""
        return self.problem.groups

    @property
    def scaling(self) -> str:
        """The name of the scaling."""
        return self.data.transform.name

    @property
    def fewest(self) -> int:
        """Groups that are kept at least."""
        least = max(self.request.n_variables or 1, self.n_forced)
        return min(least, self.groups.count(self.problem.usable))

    @property
    def forced(self) -> np.ndarray:
        """The columns that must be kept, of those that vary."""
        usable = self.problem.usable
        return usable[np.isin(self.groups.of[usable], self.request.must_keep)]

    @property
    def n_forced(self) -> int:
        """How many groups must be kept."""
        return self.groups.count(self.forced)

    def keeps(self, candidate: Candidate) -> bool:
        """Whether the candidate uses all that must be kept."""
        used = candidate.columns
        if used.size:
            used = used[candidate.scale() > 0]
        return self.n_forced == np.unique(self.groups.of[np.intersect1d(used, self.forced)]).size

    @property
    def keep_level(self) -> float:
        """Level of the test by which variables must be missed to be kept."""
        config = self.config
        if self.request.keep == "best":
            return 1.0
        few = config.keep_rows / self.problem.n_rows if self.request.keep == "auto" else 1.0
        return min(config.keep_level * max(few, 1.0), config.keep_most)

    @property
    def worth_mentioning(self) -> float:
        """The share of the loss from which on a rise is worth a variable though hardly shown."""
        config = self.config
        few = self.problem.n_rows < config.keep_rows
        return inf if few or self.request.keep == "fewest" else config.worth_mentioning

    def size(self, candidate: Candidate) -> int:
        """The number of groups of a candidate."""
        return self.groups.count(candidate.columns)

    def alphas(self, alpha: float, shares: Numbers) -> np.ndarray:
        """Falling penalties around one; it alone where the user gave it."""
        return decreasing(alpha * np.array((1.0,) if self.request.alpha is not None else shares))


def together(
    problem: Problem, engines: Sequence[Engine], tasks: Sequence[Callable[[], Result]]
) -> list[Result]:
    """The results of independent tasks that work on these engines, in the order of the tasks.

    Side by side on threads where a pass over the rows has no use for them.  A task draws nothing at
    random, so that results are the same for any number of threads.
    """
    n_threads = min(engine.spare_threads for engine in engines)
    return problem.checkpoint.together(tasks, n_threads, engines)
