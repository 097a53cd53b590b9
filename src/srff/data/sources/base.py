"""Rows that are read piece by piece, wherever they are.

A source is a list of pieces: runs of rows of an array, row groups of a Parquet file, blocks that a
user's iterable gives.  A pass goes through the pieces in their order; a piece is read in chunks of
at most ``CHUNK_ROWS`` rows, so that no piece has to fit memory.

Where rows are not plain numbers, :func:`srff.data.sources.learning.learn_facts` finds levels,
classes and medians in a pass, and :meth:`Source.mapped` is the source of the encoded rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from srff._utils.parameters import NO_WEIGHT
from srff._utils.threads import Threads
from srff.data.encoding.columns import Encoding
from srff.data.encoding.frames import UNSEEN, Levels, coded, is_category, label
from srff.data.encoding.outcome import Outcome
from srff.data.encoding.table_columns import NUMBER
from srff.data.sources.facts import TableFacts

CHUNK_ROWS = 16_384
"""A multiple of the rows of any block: chunks then end where blocks end."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Chunk:
    """Some rows: inputs in the columns that were asked for, targets, weights or None for ones."""

    X: Any
    Y: np.ndarray
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class UncodedRows:
    """Some rows as they are: a frame or an array of inputs, one of targets, weights or None."""

    X: Any
    y: Any
    weight: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows; of inputs there may be no column."""
        return int(self.y.shape[0])


class Piece(Protocol):
    """A run of rows that one thread or one worker reads."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows in order, at most ``CHUNK_ROWS`` at a time, in all columns or in some."""


class UncodedPiece(Protocol):
    """A run of rows that need not be numbers."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    def uncoded(self, columns: np.ndarray | None = None) -> Iterator[UncodedRows]:
        """The rows in order, at most ``CHUNK_ROWS`` at a time, in all columns or in some."""


PieceWork = Callable[[Iterable[UncodedRows], UncodedPiece, int], Result]
"""What is done with the rows of a piece, the piece that errors name and its number."""


class Source(ABC):
    """All rows of a fit, as pieces in a fixed order that can be gone through again and again."""

    n_features: int
    names: tuple[str, ...] | None = None
    """The names of the inputs, where they have any."""
    n_rows: int | None = None
    """The number of rows, where it is known before they are read."""
    n_targets: int = 1
    weighted: bool = False
    """Whether rows have weights."""
    grouped: bool = False
    """Whether rows have groups: see :meth:`row_groups`."""

    @abstractmethod
    def pieces(self) -> Iterable[Piece]:
        """The pieces, from the first; an error if the rows are not what they were."""

    def row_groups(self) -> np.ndarray | None:
        """The group of each row, by a pass over their column; None where there are no groups."""
        return None

    def uncoded_pieces(self) -> Iterable[UncodedPiece]:
        """The pieces of rows as they are."""
        return self.pieces()  # type: ignore[return-value]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the inputs are read as: see :mod:`srff.data.encoding.table_columns`."""
        return (NUMBER,) * self.n_features

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """What the targets are read as."""
        return (NUMBER,) * self.n_targets

    def refuse_text_targets(self) -> None:
        """Raise the error of a target that is not numbers where numbers are needed."""
        raise ValueError("The target holds text or categories, not numbers.")

    def over_pieces(
        self, work: PieceWork[Result], columns: np.ndarray | None, n_threads: int = 1
    ) -> Iterator[Result]:
        """``work`` of the rows of each piece as they are, in the order of the pieces."""

        def one(item: tuple[int, UncodedPiece]) -> Result:
            number, piece = item
            return work(piece.uncoded(columns), piece, number)

        with Threads(n_threads) as threads:
            yield from threads.map(one, enumerate(self.uncoded_pieces()))

    def mapped(
        self,
        encoding: Encoding | None = None,
        outcome: Outcome | None = None,
        facts: TableFacts | None = None,
    ) -> Source:
        """The same rows encoded; no column is read that the asked-for encoded ones do not need.

        Parameters
        ----------
        encoding : Encoding, default=None
            What becomes of the inputs; None for the coded ones.
        outcome : Outcome, default=None
            What becomes of the numbers of classes; None for the target as it is.
        facts : TableFacts, default=None
            The levels and the classes; None for numbers throughout.

        Returns
        -------
        source : Source
        """
        return MappedSource(self, self.reading(encoding, outcome, facts))

    def reading(
        self, encoding: Encoding | None, outcome: Outcome | None, facts: TableFacts | None
    ) -> Reading:
        """How rows are read for :meth:`mapped`."""
        levels = (None,) * self.n_features if facts is None else facts.levels
        classes = None if facts is None else facts.classes
        return Reading(self.names, levels, classes, encoding, outcome)


class BadValue(ValueError):
    """A row that cannot be learned from."""


Refused = Callable[[Any, tuple[str, ...] | None], tuple[int, str] | None]
"""The row of the first input that is refused and what it holds."""


def refused_numbers(X: Any, names: tuple[str, ...] | None) -> tuple[int, str] | None:
    """Where a number is not finite."""
    found = _not_finite(X)
    return None if found is None else (found[0], f"{label(found[1], names)} holds {found[2]}")


def _not_finite(values: Any) -> tuple[int, int, str] | None:
    """Row and column of the first value that is not finite, and what it is."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):
            return None
    bad = np.argwhere(~np.isfinite(values))
    if not bad.size:
        return None
    row, column = bad[0].tolist()
    what = "a missing value or NaN" if np.isnan(values[row, column]) else "infinity"
    return row, column, what


def checked(
    chunk: Chunk,
    piece: Any,
    first: int,
    names: tuple[str, ...] | None,
    refused: Refused = refused_numbers,
) -> Chunk:
    """The rows of positive weight; an error that says where a number is not finite."""
    weight, rows = chunk.weight, None
    if weight is not None:
        wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if wrong.size:
            row = int(wrong[0])
            raise BadValue(f"{piece.name}: the weight is {weight[row]} in row {first + row}.")
        if not weight.all():
            rows = np.flatnonzero(weight > 0)
            chunk = Chunk(chunk.X[rows], chunk.Y[rows], weight[rows])
    found = refused(chunk.X, names)
    bad = _not_finite(chunk.Y) if found is None else None
    if bad is not None:
        found = bad[0], f"the target holds {bad[2]}"
    if found is not None:
        row = found[0] if rows is None else int(rows[found[0]])
        raise BadValue(f"{piece.name}: {found[1]} in row {first + row}.")
    return chunk


def refuse_nothing(X: Any, names: tuple[str, ...] | None) -> None:
    """Inputs that are checked later."""


def all_rows_if_few(
    source: Source, most: int, refused: Refused = refused_numbers
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """All rows as arrays; None if there are more than ``most``."""
    if source.n_rows is not None and source.n_rows > most:
        return None
    chunks: list[Chunk] = []
    n_rows = 0
    for piece in source.pieces():
        first = 0
        for chunk in piece.chunks():
            chunks.append(checked(chunk, piece, first, source.names, refused))
            first += chunk.X.shape[0]
            n_rows += chunk.X.shape[0]
            if n_rows > most:
                return None
    if n_rows < 2:
        raise ValueError(f"Found {n_rows} row(s) while a minimum of 2 is required.")
    if not any(c.X.shape[0] for c in chunks):
        raise ValueError(NO_WEIGHT)
    weights = [c.weight for c in chunks if c.weight is not None]
    return (
        np.concatenate([c.X for c in chunks]),
        np.concatenate([c.Y for c in chunks]),
        np.concatenate(weights) if weights else None,
    )


@dataclass(frozen=True)
class Reading:
    """From rows as they are to rows of numbers: coded, checked and encoded."""

    names: tuple[str, ...] | None
    levels: Levels
    classes: np.ndarray | None
    encoding: Encoding | None
    outcome: Outcome | None

    @property
    def n_features(self) -> int:
        """The columns that it gives."""
        return len(self.levels) if self.encoding is None else self.encoding.width

    @property
    def encoded_names(self) -> tuple[str, ...] | None:
        """Their names."""
        if self.names is None or self.encoding is None:
            return self.names
        return tuple(self.encoding.names(self.names, self.levels))

    def take(self, columns: np.ndarray) -> tuple[np.ndarray, Reading]:
        """The columns that some encoded ones need, and the reading of these."""
        columns, encoding = np.asarray(columns, dtype=np.intp), self.encoding
        if encoding is not None:
            columns, encoding = encoding.needed(columns), encoding.take(columns)
        names = None if self.names is None else tuple(self.names[k] for k in columns)
        levels = tuple(self.levels[k] for k in columns)
        return columns, Reading(names, levels, self.classes, encoding, self.outcome)

    def __call__(self, rows: UncodedRows, piece: Any, first: int) -> Chunk:
        """Rows of positive weight, encoded; an error names the piece and the row."""
        try:
            X = coded(rows.X, self.levels) if self.levels else np.empty((rows.n_rows, 0))
            chunk = Chunk(X, self._targets(rows.y), rows.weight)
        except ValueError as error:
            raise BadValue(f"{piece.name}: {error}") from None
        refused = refuse_nothing if self.encoding is None else self.encoding.refused
        chunk = checked(chunk, piece, first, self.names, refused)
        X, Y, weight = chunk.X, chunk.Y, chunk.weight
        self._check_known(X, Y, piece)
        if self.encoding is not None:
            X = self.encoding.unchecked(X)
        if self.outcome is not None:
            Y, weight = self.outcome(Y, weight)
        return Chunk(X, Y, weight)

    def _check_known(self, X: np.ndarray, Y: np.ndarray, piece: Any) -> None:
        """Refuse levels and classes that were not there in the pass that learned them."""
        known = np.array([is_category(level) for level in self.levels], dtype=bool)
        what = ""
        if known.any() and (X[:, known] == UNSEEN).any():
            column = int(np.flatnonzero(known & (X == UNSEEN).any(axis=0))[0])
            what = f"{label(column, self.names)} has a level"
        elif self.classes is not None and (Y == UNSEEN).any():
            what = "the target has a class"
        if what:
            raise BadValue(
                f"{piece.name}: {what} that was not there the first time: rows must be the same in "
                "every pass of a fit."
            )

    def _targets(self, y: Any) -> np.ndarray:
        if self.classes is not None:
            return coded(_two_dimensional(y), (self.classes,))
        y = _two_dimensional(y)
        return coded(y, (None,) * y.shape[1])


def _two_dimensional(y: Any) -> Any:
    return y.reshape(-1, 1) if isinstance(y, np.ndarray) and y.ndim == 1 else y


class MappedSource(Source):
    """The rows of another source, read in another way."""

    def __init__(self, source: Source, reading: Reading) -> None:
        self._source, self._reading = source, reading
        self.n_features, self.names = reading.n_features, reading.encoded_names
        self.n_rows, self.n_targets = source.n_rows, source.n_targets
        if reading.outcome is not None:
            self.n_targets = reading.outcome.width

    def pieces(self) -> Iterator[MappedPiece]:
        """The pieces of the other source."""
        for piece in self._source.uncoded_pieces():
            yield MappedPiece(piece, self._reading)


@dataclass(frozen=True)
class MappedPiece:
    """A piece of another source."""

    piece: UncodedPiece
    reading: Reading

    @property
    def name(self) -> str:
        """What the other source calls it."""
        return self.piece.name

    def chunks(self, columns: np.ndarray | None = None) -> Iterator[Chunk]:
        """The rows, encoded."""
        needed, reading = None, self.reading
        if columns is not None:
            needed, reading = reading.take(columns)
        first = 0
        for rows in self.piece.uncoded(needed):
            yield reading(rows, self.piece, first)
            first += rows.n_rows
