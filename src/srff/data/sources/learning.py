"""The pass before the first: levels, classes, gaps and medians of rows that are not all numbers.

What a piece tells is put together in the order of the pieces, whoever has read them.  No pass is
made where there is nothing to be learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff._utils import parameters
from srff._utils.threads import Threads
from srff.data.encoding.columns import (
    Category,
    Encoding,
    Number,
    check_how,
    encoder_of,
    median,
    onehot_category,
    target_category,
)
from srff.data.encoding.frames import (
    BOOLEAN,
    CATEGORY,
    NUMBER,
    Levels,
    as_numbers,
    categorical_mask,
    coded,
    columns_of,
    label,
    ordered_levels,
    plain_value,
)
from srff.data.encoding.level_means import LevelSums, level_sums
from srff.data.sources.base import BadValue, Chunk, Raw, RawPiece, Source, anything, checked
from srff.data.split import highest, key_multipliers, row_keys

PIECE_SAMPLE = 10_000
"""Rows of a piece that medians are taken of; all of its rows up to there."""

SAMPLE_ROWS = 100_000
"""Rows that medians are taken of."""

MOST_LEVELS = 100_000
"""Levels of a category that are held; more would be a name for each row."""

MOST_CLASSES = 1000
"""Classes of a target; more would be numbers that are no classes."""


@dataclass(frozen=True)
class Learned:
    """What a source's rows are.

    Attributes
    ----------
    levels : tuple of ndarray or None
        The levels of each column that is a category.
    classes : ndarray or None
        The classes, sorted; whole numbers as integers.
    class_weight : ndarray or None
        The total weight of the rows of each class.
    n_missing : ndarray of int
        Missing values of each column; zero for columns that were not looked at.
    medians : ndarray
        The median of each column of numbers, of a sample if there are many rows; zero for columns
        that were not looked at.
    sums : tuple of LevelSums or None
        Of each category, weights and means of the targets by level.
    """

    levels: Levels
    classes: np.ndarray | None
    class_weight: np.ndarray | None
    n_missing: np.ndarray
    medians: np.ndarray
    sums: tuple[LevelSums | None, ...]


@dataclass(frozen=True)
class Ask:
    """What a pass looks for.

    ``columns`` are those that are read, ``categories`` and ``numbers`` (whose medians are wanted)
    are positions among them.
    """

    names: tuple[str, ...] | None
    columns: np.ndarray
    categories: tuple[int, ...]
    numbers: tuple[int, ...]
    classes: bool

    def label(self, position: int) -> str:
        """What an error calls a column."""
        return label(int(self.columns[position]), self.names)


@dataclass(frozen=True)
class Sample:
    """Rows of the highest keys."""

    keys: np.ndarray
    X: np.ndarray
    weight: np.ndarray

    def most(self, size: int) -> Sample:
        """No more than so many rows."""
        rows = highest(self.keys, size)
        return Sample(self.keys[rows], self.X[rows], self.weight[rows])


@dataclass(frozen=True)
class Found:
    """What some rows tell: see :class:`Learned`.

    ``values`` are the levels of each category as they came, ``classes`` likewise; ``sums`` have a
    row for each level and a column for each class or target.
    """

    n_rows: int
    n_missing: np.ndarray
    values: tuple[tuple[Any, ...], ...]
    sums: tuple[LevelSums, ...]
    classes: tuple[Any, ...]
    class_weight: np.ndarray
    sample: Sample


def learn(
    source: Source,
    classes: bool = False,
    categorical: Any = "from_dtype",
    missing: str = "error",
    n_threads: int = 1,
) -> Learned:
    """Levels, classes, gaps and medians of a source: see :meth:`Source.learn`."""
    parameters.check_choice("missing", missing, ("error", "impute"))
    if classes and source.n_targets != 1:
        raise ValueError(f"y has {source.n_targets} columns; classes are one.")
    if not classes and CATEGORY in source.target_kinds:
        source.refuse_text_targets()
    kinds = source.kinds
    asked = categorical_mask(categorical, source.n_features, source.names)
    fixed: list[np.ndarray | None] = [
        np.array([False, True]) if kind == BOOLEAN else None for kind in kinds
    ]
    unknown = [k for k, kind in enumerate(kinds) if kind == CATEGORY or asked[k]]
    if not unknown and not classes and missing == "error":
        none = np.zeros(len(kinds), dtype=np.int64)
        return Learned(tuple(fixed), None, None, none, none.astype(float), (None,) * len(kinds))
    wanted = [
        k
        for k, kind in enumerate(kinds)
        if k in unknown or kind == BOOLEAN or (kind == NUMBER and missing == "impute")
    ]
    ask = Ask(
        source.names,
        np.array(wanted, dtype=np.intp),
        tuple(i for i, k in enumerate(wanted) if k in unknown or kinds[k] == BOOLEAN),
        tuple(i for i, k in enumerate(wanted) if k not in unknown and kinds[k] == NUMBER),
        classes,
    )
    found = _reduced(_parts(source, ask, n_threads), ask)
    if source.n_rows is None:  # known from here on, but for rows of no weight
        source.n_rows = found.n_rows
    return _learned(found, ask, fixed)


def _parts(source: Source, ask: Ask, n_threads: int) -> Iterator[Found | None]:
    """What each piece tells, read by workers or by threads."""
    client = getattr(source, "client", None)
    if client is not None:
        from srff.data.engines.cluster import PartitionLearning, on_partitions

        raw = source.raw_partitions(ask.columns)  # type: ignore[attr-defined]
        yield from on_partitions(client, PartitionLearning(ask), raw)
        return

    def one(item: tuple[int, RawPiece]) -> Found | None:
        number, piece = item
        return learn_piece(piece.raw(ask.columns), piece, number, ask)

    with Threads(n_threads) as threads:
        yield from threads.map(one, enumerate(source.raw_pieces()))


def learn_piece(rows: Iterable[Raw], piece: Any, number: int, ask: Ask) -> Found | None:
    """What a piece tells; None if it has no rows."""
    found: Found | None = None
    first = 0
    for raw in rows:
        new = _of_chunk(raw, piece, number, first, ask)
        first += raw.n_rows
        if new is not None:
            found = new if found is None else merged(found, new, ask, PIECE_SAMPLE)
    if found is None:
        return None
    sample = found.sample.most(PIECE_SAMPLE)
    # The rows of a large piece stand for all of its rows.
    share = found.n_rows / max(sample.keys.size, 1)
    return replace(found, sample=replace(sample, weight=sample.weight * share))


def _of_chunk(raw: Raw, piece: Any, number: int, first: int, ask: Ask) -> Found | None:
    try:
        classes, Y = _targets(raw.y, ask)
        columns = columns_of(raw.X)
        factors = [columns[i].factorised() for i in ask.categories]
        X = np.empty((raw.n_rows, len(ask.numbers)))
        for j, i in enumerate(ask.numbers):
            X[:, j] = as_numbers(columns[i], ask.label(i))
    except ValueError as error:
        raise BadValue(f"{piece.name}: {error}") from None
    own, values = _plain_factors(factors)
    chunk = Chunk(np.column_stack([X, *own]), Y, raw.weight)
    chunk = checked(chunk, piece, first, None, anything)
    n_numbers = X.shape[1]
    X, codes = chunk.X[:, :n_numbers], chunk.X[:, n_numbers:]
    if not chunk.X.shape[0]:
        return None
    weight = np.ones(chunk.X.shape[0]) if chunk.weight is None else chunk.weight
    targets: np.ndarray = chunk.Y
    class_weight: np.ndarray = np.zeros(0)
    if ask.classes:
        mine = chunk.Y[:, 0].astype(np.intp)
        targets = np.eye(len(classes))[mine] if ask.categories else np.zeros((mine.size, 0))
        class_weight = np.bincount(mine, weights=weight, minlength=len(classes))
    sums = tuple(
        level_sums(codes[:, j], targets, weight, len(values[j])) for j in range(len(values))
    )
    n_missing = np.zeros(len(ask.columns), dtype=np.int64)
    n_missing[list(ask.numbers)] = np.isnan(X).sum(axis=0)
    n_missing[list(ask.categories)] = np.isnan(codes).sum(axis=0)
    return Found(
        X.shape[0],
        n_missing,
        tuple(map(tuple, values)),
        sums,
        tuple(classes),
        class_weight,
        _sample(X, weight, number, first),
    )


def _targets(y: Any, ask: Ask) -> tuple[list[Any], np.ndarray]:
    """Targets as numbers; or the classes of these rows, and their numbers."""
    if isinstance(y, np.ndarray) and y.ndim == 1:
        y = y[:, None]
    if not ask.classes:
        return [], coded(y, (None,) * y.shape[1])
    (column,) = columns_of(y)
    (codes,), (values,) = _plain_factors([column.factorised()])
    _union((), tuple(values), MOST_CLASSES, "the target")
    return values, codes[:, None]


def _plain_factors(
    factors: list[tuple[np.ndarray, list[Any]]],
) -> tuple[list[np.ndarray], list[list[Any]]]:
    """Codes with NaN for missing values, and distinct values that are not missing."""
    own, values = [], []
    for codes, distinct in factors:
        known: dict[Any, int] = {}
        numbers = np.full(len(distinct) + 1, np.nan)
        for i, value in enumerate(distinct):
            plain = plain_value(value)
            if plain is not None:
                numbers[i] = known.setdefault(plain, len(known))
        own.append(numbers[codes])
        values.append(list(known))
    return own, values


def _sample(X: np.ndarray, weight: np.ndarray, number: int, first: int) -> Sample:
    """Rows with keys that tell where they stand, so that no two are equal."""
    if not X.shape[1]:
        return Sample(np.zeros(0, dtype=np.uint64), X[:0], weight[:0])
    places = np.empty((X.shape[0], 2))
    places[:, 0], places[:, 1] = number, np.arange(first, first + X.shape[0])
    multipliers = key_multipliers(np.random.RandomState(0), 1)
    keys = row_keys(places, np.zeros((X.shape[0], 0)), multipliers)
    return Sample(keys, X, weight).most(PIECE_SAMPLE)


def merged(a: Found, b: Found, ask: Ask, most: int) -> Found:
    """What the rows of both tell."""
    classes = _union(a.classes, b.classes, MOST_CLASSES, "the target")
    values, sums = [], []
    for j, i in enumerate(ask.categories):
        both = _union(a.values[j], b.values[j], MOST_LEVELS, ask.label(i))
        parts = [
            _spread(f.sums[j], f.values[j], both, f.classes, classes, ask.classes) for f in (a, b)
        ]
        values.append(tuple(both))
        sums.append(parts[0].plus(parts[1]))
    class_weight = np.zeros(len(classes))
    for f in (a, b):
        class_weight[[classes[c] for c in f.classes]] += f.class_weight
    sample = Sample(
        np.concatenate([a.sample.keys, b.sample.keys]),
        np.concatenate([a.sample.X, b.sample.X]),
        np.concatenate([a.sample.weight, b.sample.weight]),
    )
    return Found(
        a.n_rows + b.n_rows,
        a.n_missing + b.n_missing,
        tuple(values),
        tuple(sums),
        tuple(classes),
        class_weight,
        sample.most(most),
    )


def _union(one: tuple[Any, ...], other: tuple[Any, ...], most: int, name: str) -> dict[Any, int]:
    """The values of both with their numbers."""
    both = {value: i for i, value in enumerate(dict.fromkeys([*one, *other]))}
    if len(both) > most:
        some = ", ".join(map(repr, list(both)[:3]))
        raise ValueError(
            f"There are more than {most} different values in {name}, such as {some}. Leave it out "
            "or group them."
        )
    return both


def _spread(
    sums: LevelSums,
    values: tuple[Any, ...],
    rows: dict[Any, int],
    classes: tuple[Any, ...],
    columns: dict[Any, int],
    by_class: bool,
) -> LevelSums:
    """Sums with a row for each of more levels, and a column for each of more classes."""
    at = [*(rows[v] for v in values), len(rows)]
    to = [columns[c] for c in classes] if by_class else list(range(sums.mean.shape[1]))
    width = len(columns) if by_class else len(to)
    weight = np.zeros(len(rows) + 1)
    weight[at] = sums.weight
    mean, scatter = np.zeros((2, len(rows) + 1, width))
    if sums.mean.shape[1]:
        mean[np.ix_(at, to)], scatter[np.ix_(at, to)] = sums.mean, sums.scatter
    return LevelSums(weight, mean, scatter)


def _reduced(parts: Iterator[Found | None], ask: Ask) -> Found:
    def both(a: Found, b: Found) -> Found:
        return merged(a, b, ask, SAMPLE_ROWS)

    there = (part for part in parts if part is not None)
    first = next(there, None)
    if first is None:
        raise ValueError("There are no rows.")
    return reduce(both, there, first)


def _learned(found: Found, ask: Ask, fixed: list[np.ndarray | None]) -> Learned:
    n, found = len(fixed), _of_some_weight(found)
    classes, class_weight, order = None, None, {}
    if ask.classes:
        classes = class_levels(found.classes)
        order = {c: i for i, c in enumerate(classes.tolist())}
        class_weight = np.zeros(len(order))
        class_weight[[order[c] for c in found.classes]] = found.class_weight
    levels = list(fixed)
    sums: list[LevelSums | None] = [None] * n
    for j, i in enumerate(ask.categories):
        k, values = int(ask.columns[i]), found.values[j]
        known = fixed[k]
        if known is None:
            known = levels[k] = ordered_levels(values, ask.label(i))
        rows = {level: row for row, level in enumerate(known.tolist())}
        spread = _spread(found.sums[j], values, rows, found.classes, order, ask.classes)
        if len(order) == 2:
            spread = LevelSums(spread.weight, spread.mean[:, 1:], spread.scatter[:, 1:])
        sums[k] = spread
    n_missing, medians = np.zeros(n, dtype=np.int64), np.zeros(n)
    n_missing[ask.columns] = found.n_missing
    for j, i in enumerate(ask.numbers):
        medians[ask.columns[i]] = median(found.sample.X[:, j], found.sample.weight)
    return Learned(tuple(levels), classes, class_weight, n_missing, medians, tuple(sums))


def _of_some_weight(found: Found) -> Found:
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


def source_encoding(learned: Learned, how: Any = "auto", missing: str = "error") -> Encoding:
    """The encoding of the rows of a source.

    Parameters
    ----------
    learned : Learned
        What :meth:`Source.learn` found, with the same ``missing``.
    how : {"auto", "onehot", "target"}, OneHotEncoder or TargetEncoder, default="auto"
        As of :func:`srff.data.encoding.columns.learn_encoding`.  Means of the target are those
        of all rows, not of other folds.
    missing : {"error", "impute"}, default="error"
        Whether a missing value is an error, or is filled in.

    Returns
    -------
    encoding : Encoding
    """
    parameters.check_choice("missing", missing, ("error", "impute"))
    check_how("categories", how)
    if isinstance(how, OneHotEncoder) and (
        how.min_frequency is not None or how.max_categories is not None
    ):
        raise ValueError(
            f"{how!r}: min_frequency and max_categories need rows in memory, as an array or a data "
            "frame."
        )
    columns: list[Number | Category] = []
    for k, known in enumerate(learned.levels):
        gaps, sums = bool(learned.n_missing[k]), learned.sums[k]
        if known is None:
            impute = missing == "impute"
            columns.append(Number(float(learned.medians[k]), gaps) if impute else Number())
            continue
        encoder = encoder_of(known, how)
        if isinstance(encoder, TargetEncoder):
            assert sums is not None
            columns.append(target_category(encoder, sums, missing))
        else:
            codes = np.arange(known.size + gaps, dtype=np.float64)
            codes[known.size :] = np.nan
            columns.append(onehot_category(encoder, codes, known.size, missing))
    return Encoding(tuple(columns))
