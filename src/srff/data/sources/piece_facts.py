"""What one piece tells of its rows, and what two of them tell together: levels, classes, gaps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from srff.data.encoding.frames import as_days, as_numbers, coded, label
from srff.data.encoding.level_means import LevelSums, level_sums
from srff.data.encoding.number_texts import is_number
from srff.data.encoding.table_columns import columns_of, plain_value
from srff.data.sources.base import BadValue, Chunk, UncodedRows, checked, refuse_nothing
from srff.data.split import highest, key_multipliers, row_keys
from srff.data.weights import WeightFacts

PIECE_SAMPLE = 10_000
"""Rows of a piece that medians are taken of; all of its rows up to there."""

MOST_HELD_LEVELS = 100_000
"""Levels of a category that are held; more would be a name for each row."""

MOST_CLASSES = 1000
"""Classes of a target; more would be numbers that are no classes."""


@dataclass(frozen=True)
class FactsWanted:
    """What a pass looks for.

    ``columns`` are those that are read; ``categories``, ``numbers`` (whose medians are wanted) and
    ``dates`` (which are among the numbers) are positions among them.
    """

    names: tuple[str, ...] | None
    columns: np.ndarray
    categories: tuple[int, ...]
    numbers: tuple[int, ...]
    texts: tuple[int, ...]
    """Categories that nobody has named as such."""
    classes: bool
    dates: tuple[int, ...] = ()

    def label(self, position: int) -> str:
        """What an error calls a column."""
        return label(int(self.columns[position]), self.names)


@dataclass(frozen=True)
class MedianSample:
    """Rows of the highest keys."""

    keys: np.ndarray
    X: np.ndarray
    weight: np.ndarray

    def most(self, size: int) -> MedianSample:
        """No more than so many rows."""
        rows = highest(self.keys, size)
        return MedianSample(self.keys[rows], self.X[rows], self.weight[rows])


@dataclass(frozen=True)
class Word:
    """A text that is no number, and where it is."""

    where: str
    value: Any


@dataclass(frozen=True)
class PieceFacts:
    """What some rows tell: see :class:`~srff.data.sources.facts.TableFacts`.

    ``values`` are the levels of each category as they came, ``classes`` likewise; ``sums`` have a
    row for each level and a column for each class or target.
    """

    n_rows: int
    n_missing: np.ndarray
    values: tuple[tuple[Any, ...], ...]
    sums: tuple[LevelSums, ...]
    classes: tuple[Any, ...]
    class_weight: np.ndarray
    sample: MedianSample
    weights: WeightFacts
    words: tuple[Word | None, ...]
    """The first text of each category that is no number, where it is text."""


def facts_of_piece(
    rows: Iterable[UncodedRows], piece: Any, number: int, wanted: FactsWanted
) -> PieceFacts | None:
    """What a piece tells; None if it has no rows."""
    found: PieceFacts | None = None
    first = 0
    for some in rows:
        new = _of_rows(some, piece, number, first, wanted)
        first += some.n_rows
        if new is not None:
            found = new if found is None else merged_facts(found, new, wanted, PIECE_SAMPLE)
    if found is None:
        return None
    sample = found.sample.most(PIECE_SAMPLE)
    # The rows of a large piece stand for all of its rows.
    share = found.n_rows / max(sample.keys.size, 1)
    return replace(found, sample=replace(sample, weight=sample.weight * share))


def _of_rows(
    rows: UncodedRows, piece: Any, number: int, first: int, wanted: FactsWanted
) -> PieceFacts | None:
    try:
        classes, Y = _targets(rows.y, wanted)
        columns = columns_of(rows.X)
        factors = [columns[i].factorised() for i in wanted.categories]
        X = np.empty((rows.n_rows, len(wanted.numbers)))
        for j, i in enumerate(wanted.numbers):
            read = as_days if i in wanted.dates else as_numbers
            X[:, j] = read(columns[i], wanted.label(i))
    except ValueError as error:
        raise BadValue(f"{piece.name}: {error}") from None
    own, values = _plain_factors(factors)
    chunk = Chunk(np.column_stack([X, *own]), Y, rows.weight)
    chunk = checked(chunk, piece, first, None, refuse_nothing)
    n_numbers = X.shape[1]
    X, codes = chunk.X[:, :n_numbers], chunk.X[:, n_numbers:]
    if not chunk.X.shape[0]:
        return None
    weight = np.ones(chunk.X.shape[0]) if chunk.weight is None else chunk.weight
    targets: np.ndarray = chunk.Y
    class_weight: np.ndarray = np.zeros(0)
    if wanted.classes:
        mine = chunk.Y[:, 0].astype(np.intp)
        targets = np.eye(len(classes))[mine] if wanted.categories else np.zeros((mine.size, 0))
        class_weight = np.bincount(mine, weights=weight, minlength=len(classes))
    sums = tuple(
        level_sums(codes[:, j], targets, weight, len(values[j])) for j in range(len(values))
    )
    n_missing = np.zeros(len(wanted.columns), dtype=np.int64)
    n_missing[list(wanted.numbers)] = np.isnan(X).sum(axis=0)
    n_missing[list(wanted.categories)] = np.isnan(codes).sum(axis=0)
    return PieceFacts(
        X.shape[0],
        n_missing,
        tuple(map(tuple, values)),
        sums,
        tuple(classes),
        class_weight,
        _sample(X, weight, number, first),
        WeightFacts.of(weight),
        tuple(
            _first_word(*factors[j], piece, first)
            if i in wanted.texts and columns[i].is_text
            else None
            for j, i in enumerate(wanted.categories)
        ),
    )


def _first_word(own: np.ndarray, values: list[Any], piece: Any, first: int) -> Word | None:
    """The first text of a column that is no number."""
    words = np.array([not is_number(value) for value in [*values, 0.0]])  # the last: missing
    rows = np.flatnonzero(words[own])
    if not rows.size:
        return None
    return Word(f"{piece.name}, row {first + int(rows[0])},", values[own[rows[0]]])


def _targets(y: Any, wanted: FactsWanted) -> tuple[list[Any], np.ndarray]:
    """Targets as numbers; or the classes of these rows, and their numbers."""
    if isinstance(y, np.ndarray) and y.ndim == 1:
        y = y[:, None]
    if not wanted.classes:
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


def _sample(X: np.ndarray, weight: np.ndarray, number: int, first: int) -> MedianSample:
    """Rows with keys that tell where they stand, so that no two are equal."""
    if not X.shape[1]:
        return MedianSample(np.zeros(0, dtype=np.uint64), X[:0], weight[:0])
    places = np.empty((X.shape[0], 2))
    places[:, 0], places[:, 1] = number, np.arange(first, first + X.shape[0])
    multipliers = key_multipliers(np.random.RandomState(0), 1)
    keys = row_keys(places, np.zeros((X.shape[0], 0)), multipliers)
    return MedianSample(keys, X, weight).most(PIECE_SAMPLE)


def merged_facts(a: PieceFacts, b: PieceFacts, wanted: FactsWanted, most: int) -> PieceFacts:
    """What the rows of both tell."""
    classes = _union(a.classes, b.classes, MOST_CLASSES, "the target")
    values, sums = [], []
    for j, i in enumerate(wanted.categories):
        both = _union(a.values[j], b.values[j], MOST_HELD_LEVELS, wanted.label(i))
        parts = [
            spread(f.sums[j], f.values[j], both, f.classes, classes, wanted.classes) for f in (a, b)
        ]
        values.append(tuple(both))
        sums.append(parts[0].plus(parts[1]))
    class_weight = np.zeros(len(classes))
    for f in (a, b):
        class_weight[[classes[c] for c in f.classes]] += f.class_weight
    sample = MedianSample(
        np.concatenate([a.sample.keys, b.sample.keys]),
        np.concatenate([a.sample.X, b.sample.X]),
        np.concatenate([a.sample.weight, b.sample.weight]),
    )
    return PieceFacts(
        a.n_rows + b.n_rows,
        a.n_missing + b.n_missing,
        tuple(values),
        tuple(sums),
        tuple(classes),
        class_weight,
        sample.most(most),
        a.weights.plus(b.weights),
        tuple(here or there for here, there in zip(a.words, b.words, strict=True)),
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


def spread(
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
