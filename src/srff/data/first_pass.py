"""The first passes over all rows of a source: what standardisation, splits and samples need.

One finds the ends of all columns, so that the next can give each row a key that no unit changes
(see :mod:`srff.data.split`).  The rows of the highest keys are the sample that
a search learns from, those of the lowest validate.  Both are found on the way: no more rows are
held than are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeGuard

import numpy as np

from srff._utils.parameters import NO_WEIGHT
from srff._utils.threads import Threads
from srff.data.moments import Moments, merged, moments
from srff.data.sources.arrays import ArraySource
from srff.data.sources.base import Piece, Source, checked
from srff.data.sources.dask import DaskSource
from srff.data.sources.steady import Marks, Seen, SteadySource
from srff.data.split import Ends, highest, row_keys
from srff.data.weights import WeightFacts

SPARE = 1.5
"""Rows that wait at most before the highest are chosen, as a multiple of those that are kept."""


@dataclass(frozen=True)
class Sample:
    """Rows with their keys, the highest key first."""

    keys: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray | None

    def take(self, rows: np.ndarray) -> Sample:
        """Some of the rows."""
        w = None if self.weight is None else self.weight[rows]
        return Sample(self.keys[rows], self.X[rows], self.Y[rows], w)


@dataclass(frozen=True)
class FirstPass:
    """What some pieces tell: counts, moments, and the rows of the highest and the lowest keys.

    The keys of ``low`` are turned over, so that there too the first row has the highest.
    """

    seen: tuple[Seen, ...]
    """What each piece is known by in later passes."""
    inputs: Moments
    targets: Moments
    high: Sample
    low: Sample
    weights: WeightFacts | None
    """What the weights tell; None for ones."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows of each piece."""
        return tuple(each.n_rows for each in self.seen)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.sizes)


class HighestKeys:
    """The rows of the highest keys of all that come, with copies of the last.

    ``least`` is a key below which none can be among them any more.
    """

    def __init__(self, size: int, least: int = 0) -> None:
        self.size, self.least = size, np.uint64(least)
        self._parts: list[Sample] = []

    def add(self, new: Sample) -> None:
        """Some rows; what is surely too low is forgotten now and then."""
        self._parts.append(new)
        if sum(part.keys.size for part in self._parts) > SPARE * self.size:
            self._parts = [self.result()]
            self.least = max(self.least, self._parts[0].keys[self.size - 1])

    def result(self) -> Sample:
        """The rows, the highest key first."""
        keys = np.concatenate([part.keys for part in self._parts])
        chosen = highest(keys, self.size)
        chosen = chosen[np.argsort(~keys[chosen], kind="stable")]
        weights = [part.weight for part in self._parts if part.weight is not None]
        return Sample(
            keys[chosen],
            np.concatenate([part.X for part in self._parts])[chosen],
            np.concatenate([part.Y for part in self._parts])[chosen],
            np.concatenate(weights)[chosen] if weights else None,
        )


class FirstPassTotal:
    """What all pieces tell, put together one by one in their order."""

    def __init__(self, n_high: int, n_low: int) -> None:
        self.sizes = n_high, n_low
        self._best = HighestKeys(n_high), HighestKeys(n_low)
        self._seen: list[Seen] = []
        self._inputs: list[Moments] = []
        self._targets: list[Moments] = []
        self._weights: WeightFacts | None = None

    def add(self, part: FirstPass | None) -> None:
        """The next piece; None if it has no rows."""
        if part is None:
            self._seen.append(Seen())
            return
        self._seen += part.seen
        self._inputs.append(part.inputs)
        self._targets.append(part.targets)
        self._weights = _both(self._weights, part.weights)
        for best, new in zip(self._best, (part.high, part.low), strict=True):
            best.add(new)

    @property
    def least(self) -> tuple[int, int]:
        """Keys below these can no longer be among the highest."""
        return int(self._best[0].least), int(self._best[1].least)

    def result(self) -> FirstPass:
        """What all pieces tell."""
        if not self._inputs:
            raise ValueError(NO_WEIGHT)
        high, low = (best.result() for best in self._best)
        inputs, targets = merged(self._inputs), merged(self._targets)
        seen = tuple(self._seen)
        return FirstPass(seen, inputs, targets, high, low, self._weights)


def _both(one: WeightFacts | None, other: WeightFacts | None) -> WeightFacts | None:
    return other if one is None or other is None else one.plus(other)


def first_pass(
    source: Source, multipliers: np.ndarray, n_high: int, n_low: int, n_threads: int = 1
) -> FirstPass:
    """The first passes over a source, its pieces side by side over threads."""
    found = FirstPassTotal(n_high, n_low)

    def ends(piece: Piece) -> Ends | None:
        return ends_of_piece(piece, source.names)

    with Threads(n_threads) as threads:
        keys = RowKeys(multipliers, ends_of_all(threads.map(ends, source.pieces())))

        def one(piece: Piece) -> FirstPass | None:
            return first_pass_of_piece(piece, keys, source.names, found.sizes, found.least)

        for part in threads.map(one, source.pieces()):
            found.add(part)
    return found.result()


@dataclass(frozen=True)
class RowKeys:
    """What makes the keys of rows."""

    multipliers: np.ndarray
    ends: Ends

    def __call__(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The keys of some rows."""
        return row_keys(X, Y, self.multipliers, ends=self.ends)


def ends_of_piece(piece: Piece, names: tuple[str, ...] | None) -> Ends | None:
    """The ends of the columns of one piece; None for no rows."""
    found: Ends | None = None
    n_read = 0
    for raw in piece.chunks():
        chunk = checked(raw, piece, n_read, names)
        n_read += raw.X.shape[0]
        if chunk.X.shape[0]:
            ends = Ends.of(chunk.X, chunk.Y)
            found = ends if found is None else found.plus(ends)
    return found


def ends_of_all(parts: Iterable[Ends | None]) -> Ends:
    """The ends of the columns of all pieces."""
    there = [part for part in parts if part is not None]
    if not there:
        raise ValueError(NO_WEIGHT)
    return reduce(Ends.plus, there)


def first_pass_of_piece(
    piece: Piece,
    keys_of: RowKeys,
    names: tuple[str, ...] | None,
    size: tuple[int, int],
    least: tuple[int, int],
) -> FirstPass | None:
    """What one piece tells, without keys that are too low for a sample; None for no rows."""
    marks = Marks()
    weights: WeightFacts | None = None
    inputs, targets = [], []
    samples = HighestKeys(size[0], least[0]), HighestKeys(size[1], least[1])
    n_read = 0
    for raw in piece.chunks():
        chunk = checked(raw, piece, n_read, names)
        n_read += raw.X.shape[0]
        if not chunk.X.shape[0]:
            continue
        marks.add(chunk.X, chunk.Y)
        inputs.append(moments(chunk.X, chunk.weight))
        targets.append(moments(chunk.Y, chunk.weight))
        if chunk.weight is not None:
            weights = _both(weights, WeightFacts.of(chunk.weight))
        keys = keys_of(chunk.X, chunk.Y)
        for best, turned in zip(samples, (keys, ~keys), strict=True):
            whole = Sample(turned, chunk.X, chunk.Y, chunk.weight)
            likely = np.flatnonzero(turned >= best.least)
            best.add(whole.take(likely[highest(turned[likely], best.size)]))
    if not inputs:
        return None
    high, low = (best.result() for best in samples)
    found = merged(inputs), merged(targets)
    return FirstPass((marks.seen(),), *found, high, low, weights)


def steady(source: Source, first: FirstPass) -> Source:
    """The source for the passes that follow; rows in memory do not change."""
    if isinstance(source, DaskSource):
        return source.steady(first.seen)
    return source if isinstance(source, ArraySource) else SteadySource(source, first.seen)


def on_workers(source: Source) -> TypeGuard[DaskSource]:
    """Whether the rows are with the workers of a Dask client."""
    return isinstance(source, DaskSource) and source.client is not None
