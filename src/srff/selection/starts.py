"""Where an elimination may begin; the first step of :mod:`srff.selection.recipe`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srff.core.coefficients import largest_eigenvalue
from srff.core.features import Expansion
from srff.core.groups import Groups
from srff.core.kernels import low_order
from srff.core.objectives import Evidence, evidence_alpha
from srff.core.parametrisations import Frequencies, LowOrder, Metric, Scales
from srff.selection.descents import Start
from srff.selection.screen import Screen, screen
from srff.selection.search import Search


def starts(search: Search, families: tuple[str, ...]) -> list[Start]:
    """The places of some families to begin from, those of enough variables."""
    problem = search.problem
    usable, E, b = problem.usable, search.E, search.b
    many = usable.size > search.config.metric_variables
    even = problem.scale[usable]
    out: list[Start] = []

    def add(family: str, kind: str, columns: np.ndarray, point: Frequencies) -> None:
        if family in families:
            out.append(Start(kind, columns, point, problem.at_constant(b.size), family))

    if not many:
        add("metric", "metric", usable, Metric(np.diag(even), E[usable], b))
        add("low order", "low order", usable, low_order_point(search, usable.size))
    if _rows_for_all(search):
        scales = Scales.of(even, E[usable], b, problem.groups.positions(usable))
        add("scales", "scales", usable, scales)
        if many and "metric" in families:
            add("metric", "metric", *_strongest_scales(search))
    if not {"screen", "strongest", "low order"} & set(families):
        return _of_enough(search, out)
    found = screened(search)
    for family, screen_ in (("screen", found.significant()), ("strongest", found)):
        if not screen_.columns.size or (family == "strongest" and not many):
            continue
        columns, rate = completed(screen_, problem.groups, usable)
        # Waves of several variables at once: their squared frequencies add up.
        rate = rate / np.sqrt(columns.size)
        add(family, "metric", columns, Metric(np.diag(rate), E[columns], b))
        scales = Scales.of(rate, E[columns], b, problem.groups.positions(columns))
        add(family, "scales", columns, scales)
        if many and family == "screen":
            add("low order", "low order", columns, low_order_point(search, columns.size))
    return _of_enough(search, out)


def _of_enough(search: Search, out: list[Start]) -> list[Start]:
    """Those of as many variables as are asked for."""
    return [start for start in out if search.groups.count(start.columns) >= search.fewest]


def _rows_for_all(search: Search) -> bool:
    """Whether there are rows enough to learn from all columns at once, or so many are asked for."""
    enough = search.problem.usable.size <= search.config.columns_per_row * search.engine.n
    return enough or search.fewest > search.config.screen.handed_over


def first_alphas(search: Search, start: Start) -> np.ndarray:
    """Penalties of a start's first descent: the user's, or down from the largest eigenvalue."""
    problem, point = search.problem, start.point
    if search.request.alpha is not None:
        # Given in units of the loss itself.
        return np.array([search.request.alpha / problem.unit])
    loss = problem.search_loss
    top = largest_eigenvalue(search.engine.statistics(point.W, point.b, start.columns, loss))
    return top * np.array(search.config.first_alphas)


def screened(search: Search, model: Expansion | None = None) -> Screen:
    """What the screens find in the targets of the search, or in the residuals of a model."""
    problem = search.problem
    config, engine = search.config.screen, search.engine
    if model is not None:
        config, engine = replace(config, level=search.config.growth_level), search.more_rows
    n_targets = problem.constant.c.size
    return screen(engine, problem.usable, config, n_targets, model, problem.search_loss)


def low_order_point(search: Search, size: int) -> LowOrder:
    """Each variable a direction of its own, at the frequencies of a standardised input."""
    seed = search.problem.rng.randint(2**31)
    n_components, kernel = search.n_components, search.problem.kernel

    def draw(rows: int) -> np.ndarray:
        rng = np.random.RandomState((seed + rows) % 2**32)
        return low_order(kernel, rng, (rows, n_components))

    return LowOrder(np.eye(size), draw(size), search.b, draw)


def completed(found: Screen, groups: Groups, usable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the groups found, and their frequencies.

    That of a column is its own, or the median of its group's, that was found.
    """
    columns = groups.completed(found.columns, usable)
    rate = np.empty(columns.size)
    own = dict(zip(found.columns.tolist(), found.scale.tolist(), strict=True))
    for part in groups.among(columns):
        known = [own[s] for s in columns[part].tolist() if s in own]
        rate[part] = [own.get(s, float(np.median(known))) for s in columns[part].tolist()]
    return columns, rate


def _strongest_scales(search: Search) -> tuple[np.ndarray, Metric]:
    """The strongest scales of a projected descent on the evidence, as a metric."""
    problem, config = search.problem, search.config
    engine, loss = search.engine, problem.search_loss
    scale = problem.scale
    for _ in range(config.simplex_rounds):
        used = np.flatnonzero(scale)
        S = engine.statistics(scale[used, None] * search.E[used], search.b, used, loss)
        top = float(np.trace(S.G)) / S.n
        goal = Evidence(evidence_alpha(S, top * np.logspace(0, -7, 30)), loss)
        for state in problem.descend_scales(
            engine,
            goal,
            scale,
            max_iter=config.simplex_iterations,
            tol=config.simplex_tol,
            n_components=search.n_components,
        ):
            search.log.evaluated(1)
            scale = state.scale
    most = max(config.metric_variables // 2, search.fewest)
    columns = _strongest(scale, problem.groups, most)
    return columns, Metric(np.diag(scale[columns]), search.E[columns], search.b)


def _strongest(scale: np.ndarray, groups: Groups, most: int) -> np.ndarray:
    """The columns of the groups of the largest scales, at most so many groups."""
    used = np.flatnonzero(scale)
    parts = groups.among(used)
    strength = np.array([scale[used[part]].max() for part in parts])
    chosen = np.argsort(-strength, kind="stable")[:most]
    return np.sort(np.concatenate([used[parts[k]] for k in chosen]))
