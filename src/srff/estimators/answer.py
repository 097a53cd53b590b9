"""What a fit leaves beside its model for a reader: yardsticks, importances, what was dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from srff.core.candidate import Found
from srff.data.problem import Problem
from srff.estimators.alternatives import dropped_last, stand_ins
from srff.estimators.bands import bands
from srff.estimators.intervals import left_over
from srff.estimators.missed import missed
from srff.estimators.references import LEARNED_ROWS, reference_errors

Pairs = dict[str, np.ndarray]

TABLES: dict[str, list[str]] = {
    "interactions_": ["first", "second", "share"],
    "stand_ins_": ["column", "instead_of", "correlation"],
    "dropped_": ["column", "rise"],
}
"""Attributes that are tables, and their columns: positions of inputs, then a number."""

LONGEST_NAME = 200
"""Letters of the longest name of a target that is kept."""


def store_table(model: Any, problem: Problem, X: Any, y: Any) -> None:
    """What the target was called where it was given, and how many rows there were."""
    name = y if isinstance(y, str) else getattr(y, "name", None)
    known = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    model.target_name_ = name if known else None
    shape: Any = getattr(X, "shape", ())
    whole = bool(shape) and isinstance(shape[0], Integral)
    model.n_rows_ = int(shape[0]) if whole else int(problem.n_rows)


@dataclass(frozen=True)
class Asked:
    """What a fit is asked for beside its model."""

    references: bool = False
    importances: bool = False
    intervals: bool = False


def store_answer(model: Any, problem: Problem, found: Found | None, asked: Asked) -> None:
    """Set all that there is; what was not asked for, or cannot be, is empty."""
    references, importances = asked.references, asked.importances
    sides = problem.sides(LEARNED_ROWS if references else 0) if found else []
    if model._has_intervals:
        unseen = found.unseen if found is not None and asked.intervals else ()
        model.held_out_errors_ = left_over(problem, sides, unseen)
    model.reference_errors_ = reference_errors(problem, sides) if found and references else {}
    model.importances_ = model.importances_se_ = None
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    if found is not None and importances and found.held_out:
        units = _units(problem, model.columns_)
        result = missed(problem, sides, found.held_out, units)
        firsts = [int(columns[0]) for columns in units]
        if result is not None:
            each, error = (np.zeros(problem.scale.size) for _ in range(2))
            for columns, rise, se in zip(units, result.rise, result.error, strict=True):
                group = np.flatnonzero(problem.groups.of == problem.groups.of[columns[0]])
                each[group], error[group] = rise, se
            model.importances_ = _of_inputs(model, each)
            model.importances_se_ = _of_inputs(model, error)
            strongest = np.argsort(-result.together, kind="stable")
            pairs = [(*result.pairs[k], float(result.together[k])) for k in strongest]
            tables["interactions_"] = [(firsts[i], firsts[j], share) for i, j, share in pairs]
        tables["stand_ins_"] = [*stand_ins(problem, sides, model.columns_)]
        first = {int(g): int(np.flatnonzero(problem.groups.of == g)[0]) for g in problem.groups.of}
        tables["dropped_"] = [(first[g], rise) for g, rise in dropped_last(problem, found)]
    held_out = found.held_out if found is not None and importances else ()
    model.effect_bands_ = bands(model, problem, sides, held_out)
    for name, rows in tables.items():
        setattr(model, name, _table(model, name, rows))


def _units(problem: Problem, used: np.ndarray) -> list[np.ndarray]:
    """The columns that vary of each group in use, in an order of their own."""
    of = problem.groups.of
    ordered = problem.in_own_order(problem.usable)
    groups = dict.fromkeys(of[problem.in_own_order(used)].tolist())
    return [ordered[of[ordered] == group] for group in groups]


def _of_inputs(model: Any, values: np.ndarray) -> np.ndarray:
    """Values of the user's columns from those of the encoded table."""
    if model.encoding_ is None:
        return values
    return values[np.unique(model.encoding_.source, return_index=True)[1]]


def _table(model: Any, name: str, rows: Sequence[tuple[Any, ...]]) -> Pairs:
    """Rows as columns, with positions in the user's table."""
    source = None if model.encoding_ is None else model.encoding_.source
    *places, last = TABLES[name]
    out: Pairs = {}
    for k, column in enumerate(places):
        at = np.array([row[k] for row in rows], dtype=np.intp)
        out[column] = at if source is None else source[at].astype(np.intp)
    return out | {last: np.array([row[-1] for row in rows], dtype=np.float64)}


def of_columns(table: Pairs, support: np.ndarray) -> Pairs:
    """The rows of a table that speak of some inputs alone, by their places among these."""
    place = np.cumsum(support) - 1
    *names, last = table
    kept = np.ones(table[last].size, dtype=bool)
    for name in names:
        kept &= support[table[name]]
    return {name: place[table[name][kept]] for name in names} | {last: table[last][kept]}
