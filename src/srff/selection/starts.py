"""Where an elimination may begin; the first step of :mod:`srff.selection.recipe`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.groups import Groups
from srff.core.kernels import low_order
from srff.core.objectives import Evidence, evidence_alpha
from srff.core.parametrisations import Frequencies, LowOrder, Metric, Scales
from srff.data.problem import Problem
from srff.selection.eliminate import Tick
from srff.selection.screen import Screen, screen

ALL = 128
"""Most variables that a metric starts from."""

SCREENED = 40
"""Most variables that a screen hands over."""


@dataclass(frozen=True)
class Start:
    """Where an elimination may begin."""

    family: str
    kind: str
    columns: np.ndarray
    point: Frequencies


def starts(
    problem: Problem, engine: Engine, factors: tuple[float, ...], fewest: int, tick: Tick
) -> list[Start]:
    """The places to begin from, of at least so many units, for one transform of the inputs.

    ``factors`` are budgets as shares of the problem's own.
    """
    usable, E, b, groups = problem.usable, problem.E, problem.b, problem.groups
    out: list[Start] = []
    even = problem.scale[usable]
    for factor in factors:
        if usable.size <= ALL:
            point: Frequencies = Metric(np.diag(factor * even), E[usable], b)
            out.append(Start("metric", "metric", usable, point))
    point = Scales.of(even, E[usable], b, groups.positions(usable))
    out.append(Start("scales", "scales", usable, point))
    if usable.size <= ALL:
        out.append(Start("low order", "low order", usable, low_order_point(problem, usable.size)))
    if usable.size > ALL:
        out += [_descent(problem, engine, factor, fewest, tick) for factor in factors]
    found = screened(problem, engine)
    if found.columns.size:
        columns = groups.whole(found.columns, usable)
        rate = _rates(found, columns, groups)
        # Waves of several variables at once: their squared frequencies add up.
        rate = rate / np.sqrt(columns.size)
        out.append(Start("screen", "metric", columns, Metric(np.diag(rate), E[columns], b)))
        point = Scales.of(rate, E[columns], b, groups.positions(columns))
        out.append(Start("screen", "scales", columns, point))
        if usable.size > ALL:
            point = low_order_point(problem, columns.size)
            out.append(Start("low order", "low order", columns, point))
    return [start for start in out if groups.count(start.columns) >= fewest]


def screened(problem: Problem, engine: Engine, model: Expansion | None = None) -> Screen:
    """What the screens find in the targets of the search, or in the residuals of a model."""
    loss, n_targets = problem.search_loss, problem.constant.c.size
    return screen(engine, problem.usable, SCREENED, n_targets, model, loss)


def _rates(found: Screen, columns: np.ndarray, groups: Groups) -> np.ndarray:
    """The frequency of each column: its own, or the median of its unit's, that was found."""
    rate = np.empty(columns.size)
    own = dict(zip(found.columns.tolist(), found.scale.tolist(), strict=True))
    for part in groups.among(columns):
        known = [own[s] for s in columns[part].tolist() if s in own]
        rate[part] = [own.get(s, float(np.median(known))) for s in columns[part].tolist()]
    return rate


def low_order_point(problem: Problem, size: int) -> LowOrder:
    """Each variable a direction of its own, at the frequencies of a standardised input."""
    seed = problem.rng.randint(2**31)
    n_components, kernel = problem.b.size, problem.kernel

    def draw(rows: int) -> np.ndarray:
        rng = np.random.RandomState((seed + rows) % 2**32)
        return low_order(kernel, rng, (rows, n_components))

    return LowOrder(np.eye(size), draw(size), problem.b, draw)


def _descent(problem: Problem, engine: Engine, factor: float, fewest: int, tick: Tick) -> Start:
    """The strongest scales of a projected descent on the evidence, as a metric."""
    scale = factor * problem.scale
    used = np.flatnonzero(scale)
    loss = problem.search_loss
    for _ in range(3):
        S = engine.statistics(scale[used, None] * problem.E[used], problem.b, used, loss)
        top = float(np.trace(S.G)) / S.n
        goal = Evidence(evidence_alpha(S, top * np.logspace(0, -7, 30)), loss)
        for state in problem.descend_scales(engine, goal, scale, max_iter=10, tol=1e-4):
            tick()
            scale = state.scale
        used = np.flatnonzero(scale)
    strongest = _strongest(scale, problem, max(ALL // 2, fewest))
    point = Metric(np.diag(scale[strongest]), problem.E[strongest], problem.b)
    return Start("metric", "metric", strongest, point)


def _strongest(scale: np.ndarray, problem: Problem, most: int) -> np.ndarray:
    """The columns of the units of the largest scales, at most so many units."""
    used = np.flatnonzero(scale)
    parts = problem.groups.among(used)
    strength = np.array([scale[used[part]].max() for part in parts])
    chosen = np.argsort(-strength, kind="stable")[:most]
    return np.sort(np.concatenate([used[parts[k]] for k in chosen]))
