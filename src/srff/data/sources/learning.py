"""The pass before the first: levels, classes, gaps and medians of rows that are not all numbers.

What a piece tells is put together in the order of the pieces, whoever has read them.  No pass is
made where there is nothing to be learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from srff._utils import parameters
from srff.data.encoding.columns import waves_of
from srff.data.encoding.frames import DATES, categorical_mask, label, ordered_levels
from srff.data.encoding.learning import median
from srff.data.encoding.level_means import LevelSums
from srff.data.encoding.number_texts import (
    stands_for,
    stands_for_error,
    stray_text_error,
    stray_texts,
)
from srff.data.encoding.table_columns import BOOLEAN, CATEGORY, DATE, NUMBER
from srff.data.sources.base import Source
from srff.data.sources.facts import TableFacts
from srff.data.sources.piece_facts import (
    FactsWanted,
    PieceFacts,
    facts_of_piece,
    merged_facts,
    spread,
)

MEDIAN_ROWS = 100_000
"""Rows that medians are taken of."""


def learn_facts(
    source: Source,
    classes: bool = False,
    categorical: Any = "from_dtype",
    missing: str = "error",
    n_threads: int = 1,
) -> TableFacts:
    """What must be known of all rows before they can be encoded.

    Parameters
    ----------
    source : Source
        The rows.
    classes : bool, default=False
        Whether the target holds classes.
    categorical : "from_dtype", array-like of names, indices or bool, default="from_dtype"
        Columns that are categories though they hold numbers.
    missing : {"error", "impute"}, default="error"
        Whether missing numbers are to be filled in.
    n_threads : int, default=1
        Pieces that are read side by side.

    Returns
    -------
    facts : TableFacts
    """
    parameters.check_choice("missing", missing, ("error", "impute"))
    if classes and source.n_targets != 1:
        raise ValueError(f"y has {source.n_targets} columns; classes are one.")
    if not classes and CATEGORY in source.target_kinds:
        source.refuse_text_targets()
    kinds = source.kinds
    asked = categorical_mask(categorical, source.n_features, source.names)
    known: dict[str, np.ndarray] = {BOOLEAN: np.array([False, True]), DATE: DATES}
    fixed = [known.get(kind) for kind in kinds]
    for k, kind in enumerate(kinds):
        if kind == DATE and asked[k]:
            raise ValueError(f"{label(k, source.names)} holds dates, which are no categories.")
    unknown = [k for k, kind in enumerate(kinds) if kind == CATEGORY or asked[k]]
    if not unknown and not classes and missing == "error" and DATE not in kinds:
        none = np.zeros(len(kinds), dtype=np.int64)
        return TableFacts(tuple(fixed), None, None, none, none.astype(float), (None,) * len(kinds))
    wanted = _wanted(source, set(unknown), asked, missing == "impute", classes)
    work = partial(facts_of_piece, wanted=wanted)
    parts = source.over_pieces(work, wanted.columns, n_threads)
    found = _reduced(parts, wanted, source.weighted)
    if source.n_rows is None:  # known from here on, but for rows of no weight
        source.n_rows = found.n_rows
    return _facts(found, wanted, fixed)


def _wanted(
    source: Source, unknown: set[int], asked: np.ndarray, impute: bool, classes: bool
) -> FactsWanted:
    """What has to be found: levels of the ``unknown`` columns, gaps of others."""
    kinds = source.kinds
    read = [
        k
        for k, kind in enumerate(kinds)
        if k in unknown or kind in (BOOLEAN, DATE) or (kind == NUMBER and impute)
    ]
    return FactsWanted(
        source.names,
        np.array(read, dtype=np.intp),
        tuple(i for i, k in enumerate(read) if k in unknown or kinds[k] == BOOLEAN),
        tuple(i for i, k in enumerate(read) if k not in unknown and kinds[k] in (NUMBER, DATE)),
        tuple(i for i, k in enumerate(read) if k in unknown and not asked[k]),
        classes,
        tuple(i for i, k in enumerate(read) if kinds[k] == DATE),
    )


def _reduced(parts: Iterator[PieceFacts | None], wanted: FactsWanted, weighted: bool) -> PieceFacts:
    def both(a: PieceFacts, b: PieceFacts) -> PieceFacts:
        return merged_facts(a, b, wanted, MEDIAN_ROWS)

    there = (part for part in parts if part is not None)
    first = next(there, None)
    if first is None:
        raise ValueError(parameters.NO_WEIGHT if weighted else "There are no rows.")
    return reduce(both, there, first)


def _facts(found: PieceFacts, wanted: FactsWanted, fixed: list[np.ndarray | None]) -> TableFacts:
    n, found = len(fixed), _of_some_weight(found)
    classes, class_weight, order = None, None, {}
    if wanted.classes:
        classes = class_levels(found.classes)
        order = {c: i for i, c in enumerate(classes.tolist())}
        class_weight = np.zeros(len(order))
        class_weight[[order[c] for c in found.classes]] = found.class_weight
    levels = list(fixed)
    sums: list[LevelSums | None] = [None] * n
    unit = found.weights.count.unit
    for j, i in enumerate(wanted.categories):
        k, values = int(wanted.columns[i]), found.values[j]
        known = fixed[k]
        word = found.words[j]
        if word is not None and stray_texts(values, found.sums[j].weight[:-1]) is not None:
            raise stray_text_error(wanted.label(i), word.where, word.value)
        meant = None if word is None else stands_for(values)
        if meant is not None:
            raise stands_for_error(wanted.label(i), "", *meant)
        if known is None:
            known = levels[k] = ordered_levels(values, wanted.label(i))
        rows = {level: row for row, level in enumerate(known.tolist())}
        own = spread(found.sums[j], values, rows, found.classes, order, wanted.classes)
        if len(order) == 2:
            own = LevelSums(own.weight, own.mean[:, 1:], own.scatter[:, 1:])
        sums[k] = own.counted(unit)
    n_missing, medians = np.zeros(n, dtype=np.int64), np.zeros(n)
    n_missing[wanted.columns] = found.n_missing
    waves = {}
    for j, i in enumerate(wanted.numbers):
        k, numbers = int(wanted.columns[i]), found.sample.X[:, j]
        medians[k] = median(numbers, found.sample.weight)
        if i in wanted.dates:
            waves[k] = waves_of(numbers)
    return TableFacts(
        tuple(levels), classes, class_weight, n_missing, medians, tuple(sums), unit, waves
    )


def _of_some_weight(found: PieceFacts) -> PieceFacts:
    """Without the levels and classes of rows of weight zero alone."""
    there = np.flatnonzero(found.class_weight > 0)
    values, sums = [], []
    for own, of in zip(found.values, found.sums, strict=True):
        kept = np.flatnonzero(of.weight[:-1] > 0)
        rows = [*kept, len(own)]
        columns = there if found.classes else np.arange(of.mean.shape[1])
        at = np.ix_(rows, columns)
        values.append(tuple(own[k] for k in kept))
        sums.append(LevelSums(of.weight[rows], of.mean[at], of.scatter[at]))
    return replace(
        found,
        values=tuple(values),
        sums=tuple(sums),
        classes=tuple(found.classes[k] for k in there),
        class_weight=found.class_weight[there],
    )


def class_levels(values: Iterable[Any]) -> np.ndarray:
    """Classes in their order; whole numbers as integers, text as text."""
    found = list(values)
    plain = [int(v) if isinstance(v, float) and v.is_integer() else v for v in found]
    if all(isinstance(v, bool) for v in plain):
        return np.array(sorted(plain))
    classes = ordered_levels(plain, "the target")
    return classes.astype(str) if classes.dtype == object else classes
