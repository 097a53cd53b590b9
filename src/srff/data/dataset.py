"""The rows of a fit: which of them train, which validate, and engines for either."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from srff._utils.fingerprint import digest
from srff.core.engine import Engine
from srff.data.content import content_of
from srff.data.engines import BlockPlan, EngineOptions, Remainder, StreamEngine, make_engine
from srff.data.engines.blocks import Standardisation, total_weight
from srff.data.first_pass import FirstPass, Sample, first_pass, on_workers, steady
from srff.data.folds import Split, fold_splits, group_folds, n_folds
from srff.data.kinds import few_kinds, shares_rows, written_out
from srff.data.moments import Moments, moments
from srff.data.sides import Rows, Sides
from srff.data.sources import ArraySource, Source
from srff.data.sources.base import Refused, all_rows_if_few, refused_numbers
from srff.data.sources.labels import RowLabels, labels_of_few
from srff.data.split import (
    Ends,
    highest,
    key_multipliers,
    merge_rows,
    mixed,
    row_keys,
    sample_rows,
    split_rows,
)
from srff.data.weights import AS_ROWS, RowCount, counted

VALIDATION_ROWS = 20_000
"""Most rows that models are validated on: enough to tell a hundredth of the error from chance."""

SAMPLE_ROWS = 50_000
"""Most rows of a stream that are held for descents on a part of the rows."""

FEWEST_SAMPLED = 1000
"""Fewest rows of a sample, however little memory is allowed."""

STREAM_CACHE_BYTES = 2e9
"""Bytes of standardised blocks of a stream that are kept where there is no ``memory_limit``."""

STREAM_ROWS = 100_000
"""Up to so many rows are held in memory; more are gone through piece by piece."""

MERGE_ROWS = 2000
"""Up to this many rows, equal rows are merged into one of their joint weight, and rows are put in
an order of their own: a table gives the same bits whatever its order."""

DEFAULT_VALIDATION = 0.2
FEW_HELD, MOST_HELD = 30, 0.4
"""With few rows more of them are held out: so many, but at most such a share."""

Pair = tuple[Any, np.ndarray, np.ndarray | None]
"""Inputs, targets and weights of the user's validation rows."""

Validation = float | int | str | Pair | list[Split] | None
"""A share of the rows, a number of folds, "auto" for a share or "folds" for folds that suit the
number of rows, a pair of its own, or splits that a user brings; None for nothing."""


@dataclass(frozen=True)
class Respects:
    """What a split respects: classes have their shares in all folds, groups stay together."""

    classes: bool = False
    groups: np.ndarray | None = None
    """The number of each row's group."""
    count: RowCount | None = None
    """How weights count as rows, where they do not say so themselves: those of classes."""


class Dataset(ABC):
    """The rows of a fit.

    ``refit`` says that validation rows were taken from the training rows and come back for the
    last solve; ``n`` is the sum of the training rows' weights.
    """

    n_rows: int
    n_features: int
    inputs: Moments
    targets: Moments
    n_training: int
    n: float
    refit: bool = False
    n_passes: int
    """Passes over all rows that it took to get here."""
    column_order: np.ndarray | None = None
    """The columns in an order of their own, by what they hold; None where that is not known."""
    _validation_rows: tuple[Any, ...] | None = None
    """``X``, ``Y``, weights and indices of the validation rows."""

    @property
    def has_validation(self) -> bool:
        """Whether there are validation rows."""
        return self._validation_rows is not None

    def validation(self, s: Standardisation, options: EngineOptions) -> Engine:
        """The validation rows."""
        assert self._validation_rows is not None
        X, Y, weight, rows = self._validation_rows
        return make_engine(X, Y, weight, s, options, rows=rows)

    def identity(self) -> dict[str, Any]:
        """What tells these rows from others, and blocks of them from other blocks."""
        return {
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "rows": digest(*self._marks(), self.inputs.mean, self.inputs.spread),
            "weight": self.inputs.total,
        }

    def folds(self) -> list[Dataset]:
        """The data set with each of its folds held out, itself the first; it alone without."""
        return [self]

    def sides(self, most: int) -> Sides | None:
        """Rows in memory that are learned from, at most so many, and those that validate."""
        return None

    @abstractmethod
    def _marks(self) -> list[np.ndarray]:
        """A few numbers that other rows would not have."""

    @abstractmethod
    def sample(self, size: int) -> np.ndarray:
        """The inputs of at most so many distinct rows, as they are."""

    @abstractmethod
    def training(self, s: Standardisation, most: int | None, options: EngineOptions) -> Engine:
        """The training rows, or the ``most`` of highest keys."""

    @abstractmethod
    def everything(self, s: Standardisation, options: EngineOptions) -> Engine:
        """Every row that may be learned from, for a single pass."""


class MemoryDataset(Dataset):
    """Arrays, split by the keys of their rows."""

    n_passes = 4  # copies and keys of the rows, the ends of each column, its mean and spread

    def __init__(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray | None,
        multipliers: np.ndarray,
        validation: Validation,
        n_threads: int,
        respects: Respects = Respects(),
    ) -> None:
        content = content_of(X, Y, multipliers, n_threads)
        same, keys, self.column_order = content.same, content.rows, content.order
        weight = _counted(weight, respects.count)
        groups = None
        if respects.groups is not None:
            groups = mixed(mixed(respects.groups + 1) + multipliers[-1])
            same = mixed(same + groups)  # rows of two groups are not equal
        given = isinstance(validation, list)  # splits of the rows as they stand
        if not given and (
            X.shape[0] <= MERGE_ROWS or (few_kinds(same[:MERGE_ROWS]) and few_kinds(same))
        ):
            kinds, weight = merge_rows(same, weight, keys)
            X, Y, keys, same = X[kinds], Y[kinds], keys[kinds], same[kinds]
            groups = None if groups is None else groups[kinds]
        self.n_rows, self.n_features = X.shape
        self.inputs, self.targets = moments(X, weight, n_threads), moments(Y, weight)
        self._data, self._keys, self._groups = (X, Y, weight), keys, groups
        self._same = same
        self._training = self._data
        self._kept: np.ndarray | None = None
        self._splits: list[Split] = []
        shared = groups is None and weight is not None and shares_rows(weight)
        if isinstance(validation, str):
            count = n_folds(self.n_rows) if validation == "folds" and not shared else 1
            n = total_weight(X, weight, None) if shared else self.n_rows
            validation = count if count > 1 else default_validation(int(n))
        if isinstance(validation, int | float) and shared:
            assert weight is not None
            # A few kinds of rows, each many times: part of each kind validates.
            share = validation if isinstance(validation, float) else 1 / validation
            self._training = X, Y, (1 - share) * weight
            self._validation_rows = (*written_out(X, Y, share * weight, VALIDATION_ROWS), None)
            self.refit = True
        elif isinstance(validation, int | float | list):
            self._splits = self._dealt(validation, respects.classes)
        elif validation is not None:
            known = respects.count is not None
            self._validation_rows = validation_pair(validation, multipliers, n_threads, known)
        self.n_training, self.n = self.n_rows, total_weight(X, self._training[2], None)
        if self._splits:
            self._hold_out(*self._splits[0])

    def _dealt(self, validation: float | int | list[Split], classes: bool) -> list[Split]:
        """The splits: one by a share, folds, or those given; none where no row can be held out."""
        (_, Y, weight), groups = self._data, self._groups
        if isinstance(validation, list):
            return validation
        if isinstance(validation, float):
            out = split_rows(self._keys if groups is None else groups, weight, validation)
            return [(np.flatnonzero(~out), np.flatnonzero(out))] if out.any() else []
        if groups is not None:
            splits = group_folds(groups, weight, validation)
        else:
            strata = np.unique(Y, axis=0, return_inverse=True)[1].ravel() if classes else None
            splits = fold_splits(self._keys, validation, strata)
        return splits if len(splits) > 1 else []

    def _hold_out(self, kept: np.ndarray, out: np.ndarray) -> None:
        """Learn from some rows, validate on others."""
        X, Y, weight = self._data
        held = out[highest(self._keys[out], VALIDATION_ROWS)]
        self._kept, self._validation_rows = kept, (X, Y, weight, held)
        self.refit, self.n_training = True, kept.size
        self.n = total_weight(X, weight, kept)

    def folds(self) -> list[Dataset]:
        """The data set with each of its folds held out, itself the first."""
        others: list[Dataset] = []
        for split in self._splits[1:]:
            other = copy(self)
            other._hold_out(*split)
            others.append(other)
        return [self, *others]

    def sides(self, most: int) -> Sides | None:
        """The rows of highest keys of those that are learned from, and those that validate."""
        if self._validation_rows is None:
            return None
        rows = np.arange(self.n_rows) if self._kept is None else self._kept
        rows = rows[highest(self._keys[rows], most)]
        return Rows.of(*self._training, rows), Rows.of(*self._validation_rows)

    def _marks(self) -> list[np.ndarray]:
        marks = [
            self._same,
            self._data[2],
            self._groups,
            *(rows for s in self._splits for rows in s),
        ]
        return [mark for mark in marks if mark is not None]

    def sample(self, size: int) -> np.ndarray:
        """The inputs of at most so many distinct rows."""
        return self._data[0][np.sort(sample_rows(self._keys, size))]

    def training(self, s: Standardisation, most: int | None, options: EngineOptions) -> Engine:
        """The training rows, or some of them."""
        rows = self._kept
        if most is not None:
            chosen = highest(self._keys if rows is None else self._keys[rows], most)
            rows = chosen if rows is None else rows[chosen]
        return make_engine(*self._training, s, options, rows=rows)

    def everything(self, s: Standardisation, options: EngineOptions) -> Engine:
        """All rows."""
        return make_engine(*self._data, s, options, cached=False)


class StreamedDataset(Dataset):
    """A source: the highest keys are the sample, the lowest validate, all are read again."""

    n_passes = 2  # the ends of each column; all else

    def __init__(
        self,
        source: Source,
        first: FirstPass,
        multipliers: np.ndarray,
        validation: Validation,
        n_threads: int,
        count: RowCount | None = None,
    ) -> None:
        self._source, self._first = steady(source, first), first
        self.n_rows, self.n_features = first.n_rows, source.n_features
        self.inputs, self.targets = first.inputs, first.targets
        held, self.n_training = 0.0, self.n_rows
        self._count, self._total = None, float(self.n_rows)
        if first.weights is not None:
            self._count = count or first.weights.count
            self._total = first.weights.rows(self._count)
        self._high = self._counted(first.high)
        assert not isinstance(validation, list)
        if isinstance(validation, str):
            validation = default_validation(self.n_rows)
        elif isinstance(validation, int):
            validation = 1 / validation  # of so many rows one fold says enough
        if isinstance(validation, float):
            low = self._counted(first.low)
            low = low.take(highest(low.keys, int(min(validation * self.n_rows, VALIDATION_ROWS))))
            self._held_out = low
            self._validation_rows = (low.X, low.Y, low.weight, None)
            held = total_weight(low.X, low.weight, None)
            self.n_training -= low.keys.size
            self.refit = True
        elif validation is not None:
            known = count is not None
            self._validation_rows = validation_pair(validation, multipliers, n_threads, known)
        self.n = self._total - held

    def _counted(self, sample: Sample) -> Sample:
        """Rows whose weights are counts of rows, in the unit of all weights."""
        if self._count is None or sample.weight is None:
            return sample
        return replace(sample, weight=self._count(sample.weight))

    def _marks(self) -> list[np.ndarray]:
        seen = self._first.seen
        targets = np.array([each.target for each in seen], dtype=np.uint64)
        inputs = [each.inputs for each in seen if each.inputs is not None]
        return [np.array(self._first.sizes), targets, *inputs]

    def sample(self, size: int) -> np.ndarray:
        """The inputs of the highest keys."""
        high = self._high
        _, first = np.unique(~high.keys, return_index=True)
        return high.X[first[:size]]

    def training(self, s: Standardisation, most: int | None, options: EngineOptions) -> Engine:
        """Rows of the sample; or all, less those that are held out: sums can be subtracted."""
        if most is None:
            engine = self._stream(s, options, many=True)
            if not self.refit:
                return engine
            low, on_cpu = self._held_out, replace(options, device="cpu")
            return Remainder(engine, make_engine(low.X, low.Y, low.weight, s, on_cpu), self.n)
        high = self._high
        rows = highest(high.keys, most)
        return make_engine(high.X, high.Y, high.weight, s, options, rows=rows)

    def everything(self, s: Standardisation, options: EngineOptions) -> Engine:
        """All rows."""
        return self._stream(s, options, many=False)

    def _stream(self, s: Standardisation, options: EngineOptions, many: bool) -> Engine:
        """All rows, for many passes or for one."""
        o, found, s = options, self._first, replace(s, count=self._count)
        plan = BlockPlan.choose(
            self.n_rows, self.n_features, o.n_components, o.dtype, o.n_threads, o.memory_limit
        )
        total = self._total
        if on_workers(self._source):
            from srff.data.engines.cluster import ClusterEngine

            return ClusterEngine(
                self._source, total, s, plan, o.dtype, o.n_components, o.device, keep=many
            )
        room = 0.0
        if many:
            room = STREAM_CACHE_BYTES if o.memory_limit is None else o.memory_limit / 2
        return StreamEngine(self._source, found.sizes, total, s, plan, o.dtype, o.n_threads, room)


def _counted(weight: np.ndarray | None, count: RowCount | None) -> np.ndarray | None:
    return None if weight is None else counted(weight, count)


def validation_pair(
    pair: Pair, multipliers: np.ndarray, n_threads: int, known: bool
) -> tuple[Any, ...]:
    """A user's own validation rows, a sample of them if they are many.

    ``known`` says that weights are numbers of rows already.
    """
    X, Y, weight = pair
    rows = None
    if Y.shape[0] > VALIDATION_ROWS:
        keys = row_keys(X, Y, multipliers, n_threads, Ends.of(X, Y))
        rows = highest(keys, VALIDATION_ROWS)
    return X, Y, _counted(weight, AS_ROWS if known else None), rows


def default_validation(n_rows: int) -> float:
    """The share of the rows that is held out unless told otherwise."""
    share = np.clip(FEW_HELD / n_rows, DEFAULT_VALIDATION, MOST_HELD)
    return float(min(share, VALIDATION_ROWS / n_rows))


def rows_if_few(
    source: Source, refused: Refused = refused_numbers
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """All rows of a source, if they are few enough to be held in memory."""
    return all_rows_if_few(source, STREAM_ROWS, refused)


def labels_if_few(source: Source) -> RowLabels:
    """Targets, weights and groups of all rows of a source; an error if a stream is needed."""
    return labels_of_few(source, STREAM_ROWS)


def array_dataset(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    rng: np.random.RandomState,
    validation: Validation,
    device: str,
    n_threads: int,
    memory_limit: float | None = None,
    respects: Respects = Respects(),
) -> Dataset:
    """The data set of arrays; many rows on a CPU are gone through as a source.

    Unless groups or splits are given, which a stream does not know.
    """
    whole = respects.groups is not None or isinstance(validation, list)
    if X.shape[0] > STREAM_ROWS and device == "cpu" and not whole:
        source = ArraySource(X, Y, weight)
        return source_dataset(source, rng, validation, n_threads, memory_limit, respects)
    multipliers = key_multipliers(rng, X.shape[1])
    return MemoryDataset(X, Y, weight, multipliers, validation, n_threads, respects)


def source_dataset(
    source: Source,
    rng: np.random.RandomState,
    validation: Validation,
    n_threads: int,
    memory_limit: float | None = None,
    respects: Respects = Respects(),
) -> Dataset:
    """The data set of a source; few rows are held in memory."""
    multipliers = key_multipliers(rng, source.n_features)
    few = rows_if_few(source)
    if few is not None:
        return MemoryDataset(*few, multipliers, validation, n_threads, respects)
    n_high, n_low = SAMPLE_ROWS, VALIDATION_ROWS
    if memory_limit is not None:
        # Rows, their standardised copies and what is made of them on the way take a third.
        fitting = int(memory_limit / 3 / (4 * 8 * (source.n_features + 2)))
        share = min(1.0, fitting / (n_high + n_low))
        n_high, n_low = (min(n, max(int(share * n), FEWEST_SAMPLED)) for n in (n_high, n_low))
    if on_workers(source):
        from srff.data.engines.cluster import first_pass_on_workers

        found = first_pass_on_workers(source, multipliers, n_high, n_low)
    else:
        found = first_pass(source, multipliers, n_high, n_low, n_threads)
    return StreamedDataset(source, found, multipliers, validation, n_threads, respects.count)
