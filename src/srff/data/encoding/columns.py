"""From codes to the columns that a model learns from: categories and missing values.

A *coded* matrix (:mod:`srff.data.encoding.frames`) has a column for each of the user's table; the
*encoded* one may have several: a category becomes one-hot columns or the means of the target at
its levels, a number with gaps is filled and has a column that marks them.  All of it is plain
data, and works on any run of rows; :mod:`srff.data.encoding.learning` makes it from rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from srff.data.encoding.frames import Levels, label
from srff.data.encoding.level_means import level_rows


@dataclass(frozen=True)
class Number:
    """A column of numbers: ``fill`` stands for a missing one; None where none may be missing.

    ``value`` and ``indicator`` say which columns it gives: the numbers, and a one where one was
    missing.
    """

    fill: float | None = None
    indicator: bool = False
    value: bool = True

    waves: ClassVar[tuple[str, ...]] = ()
    """Those of :class:`Date`."""

    @property
    def kinds(self) -> list[str]:
        """What each of the encoded columns is."""
        return ["value"] * self.value + [*self.waves] + ["indicator"] * self.indicator

    @property
    def width(self) -> int:
        """Encoded columns."""
        return len(self.kinds)

    def take(self, columns: np.ndarray) -> Number:
        """Some of the encoded columns."""
        kept = {self.kinds[k] for k in columns}
        return replace(self, value="value" in kept, indicator="indicator" in kept)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """The encoded columns of some rows."""
        missing = np.isnan(codes)
        filled = codes if self.fill is None else np.where(missing, self.fill, codes)
        parts = [filled] * self.value + [wave_at(filled, wave) for wave in self.waves]
        parts += [missing.astype(np.float64)] * self.indicator
        return np.stack(parts, axis=1)


PERIODS = {"year": 365.2425, "week": 7.0, "day": 1.0}
"""Cycles of dates, in days."""

TURNS = {"year": 1.0, "week": 2.0, "day": 2.0}
"""How often a cycle comes in the rows of a fit, at least: what came once is a trend."""

ONE_PLACE = 0.98
"""Length of the mean of the places in the year, on a circle of radius one, of dates that are within
some two weeks of one day of it: they tell nothing of the others."""

WAVES = tuple(f"{period} {wave}" for period in PERIODS for wave in ("sin", "cos"))


@dataclass(frozen=True)
class Date(Number):
    """A column of dates, as days: the days themselves, and places in cycles.

    ``waves`` are of ``sin(2 pi t / P)`` and ``cos(2 pi t / P)`` for some periods P, by the names of
    :data:`WAVES`.
    """

    waves: tuple[str, ...] = ()  # type: ignore[misc]

    @classmethod
    def of(cls, number: Number, waves: tuple[str, ...]) -> Date:
        """A column that is filled as one of numbers is."""
        return cls(number.fill, number.indicator, number.value, waves)

    def take(self, columns: np.ndarray) -> Date:
        """Some of the encoded columns."""
        kept = {self.kinds[k] for k in columns}
        return Date.of(super().take(columns), tuple(w for w in self.waves if w in kept))


def wave_at(days: np.ndarray, wave: str) -> np.ndarray:
    """One of :data:`WAVES` at some dates."""
    period, _, curve = wave.partition(" ")
    place = 2 * np.pi * (days / PERIODS[period] % 1.0)
    return np.sin(place) if curve == "sin" else np.cos(place)


def waves_of(days: np.ndarray) -> tuple[str, ...]:
    """The waves of the cycles that some dates go through, as far as these can tell them apart.

    All at midnight have no time of day; all of one weekday no place in the week.
    """
    days = days[~np.isnan(days)]
    if not days.size:
        return ()
    span = float(np.ptp(days))
    place = np.exp(2j * np.pi * days / PERIODS["year"])
    differ = {
        "year": abs(place.mean()) < ONE_PLACE,
        "week": np.ptp(np.floor(days) % 7) > 0,
        "day": np.ptp(days % 1) > 1e-6,
    }
    found = [p for p, period in PERIODS.items() if span >= TURNS[p] * period and differ[p]]
    return tuple(wave for wave in WAVES if wave.partition(" ")[0] in found)


@dataclass(frozen=True)
class Category:
    """A category: a row of encoded values for each level, for a missing one, for an unseen one.

    A row of NaN says that such a value is refused.  ``onehot`` columns are zeros and ones, means
    of the target otherwise; ``joint`` ones were one of several.
    """

    table: np.ndarray
    onehot: bool = True
    joint: bool = False

    @property
    def width(self) -> int:
        """Encoded columns."""
        return int(self.table.shape[1])

    @property
    def n_levels(self) -> int:
        """Levels that the fit saw."""
        return self.table.shape[0] - 2

    def take(self, columns: np.ndarray) -> Category:
        """Some of the encoded columns."""
        return replace(self, table=self.table[:, columns])

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """The encoded columns of some rows."""
        return self.table[level_rows(codes, self.n_levels)]


@dataclass(frozen=True)
class Encoding:
    """What becomes of each column of a coded matrix.

    Called with coded rows it gives the encoded ones, in float64.  ``order`` are the encoded
    columns in the order that is wanted; None as they come.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.data.encoding.learning import learn_encoding
    >>> coded = np.array([[0.5, 0], [np.nan, 1], [2.5, 2]])
    >>> levels = (None, np.array(["blue", "green", "red"], dtype=object))
    >>> encoding, rows = learn_encoding(coded, None, levels, missing="impute")
    >>> encoding.names(["size", "colour"], levels)
    ['size', 'size missing', 'colour=blue', 'colour=green', 'colour=red']
    >>> rows
    array([[0.5, 0. , 1. , 0. , 0. ],
           [1.5, 1. , 0. , 1. , 0. ],
           [2.5, 0. , 0. , 0. , 1. ]])
    >>> encoding.take([4])(np.array([[2.0], [-1.0]]))
    array([[1.],
           [0.]])
    """

    columns: tuple[Number | Category, ...]
    order: np.ndarray | None = None

    @property
    def source(self) -> np.ndarray:
        """For each encoded column the coded one that it comes from."""
        return self._ordered(np.repeat(np.arange(len(self.columns)), self._widths))

    @property
    def joint(self) -> np.ndarray:
        """A mask of the encoded columns that are one-hot columns of several."""
        joint = [isinstance(column, Category) and column.joint for column in self.columns]
        return self._ordered(np.repeat(np.array(joint, dtype=bool), self._widths))

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return sum(self._widths) if self.order is None else int(self.order.size)

    @property
    def trivial(self) -> bool:
        """Whether the encoded rows are the coded ones."""
        return self.order is None and all(column == Number() for column in self.columns)

    def needed(self, columns: Any) -> np.ndarray:
        """The coded columns that some encoded ones come from, in their order."""
        return np.unique(self.source[np.asarray(columns, dtype=np.intp)])

    def take(self, columns: Any) -> Encoding:
        """The encoding of the ``needed`` coded columns alone that gives these encoded columns."""
        columns = np.asarray(columns, dtype=np.intp)
        if self.order is not None:
            columns = self.order[columns]
        distinct = np.unique(columns)
        starts = np.cumsum([0, *self._widths])
        of = np.searchsorted(starts, distinct, side="right") - 1
        kept = tuple(
            self.columns[k].take(distinct[of == k] - starts[k]) for k in np.unique(of).tolist()
        )
        order = np.searchsorted(distinct, columns)
        in_order = np.array_equal(order, np.arange(distinct.size))
        return Encoding(kept, None if in_order else order)

    def __call__(self, coded: np.ndarray, names: Sequence[str] | None = None) -> np.ndarray:
        """The encoded rows; an error names a column where a value is refused."""
        found = self.refused(coded, names)
        if found is not None:
            row, what = found
            raise ValueError(f"{what[0].upper()}{what[1:]} in row {row}.")
        return self.unchecked(coded)

    def unchecked(self, coded: np.ndarray) -> np.ndarray:
        """The encoded rows of codes that are known to be good."""
        if self.trivial:
            return coded
        out = np.empty((coded.shape[0], sum(self._widths)), order="F")
        start = 0
        for k, column in enumerate(self.columns):
            out[:, start : start + column.width] = column(coded[:, k])
            start += column.width
        return out if self.order is None else out[:, self.order]

    def refused(
        self, coded: np.ndarray, names: Sequence[str] | None = None
    ) -> tuple[int, str] | None:
        """The row of the first value that cannot be encoded and what is wrong there, if any."""
        with np.errstate(over="ignore", invalid="ignore"):
            finite = bool(np.isfinite(np.sum(coded)))
        for k, column in enumerate(self.columns):
            codes = coded[:, k]
            if isinstance(column, Category):
                if np.isfinite(column.table[-2:]).all():
                    continue
                rows = level_rows(codes, column.n_levels)
                bad = np.isnan(column.table).any(axis=1)[rows]
                unseen = "a level that the fit did not see"
            elif finite:
                continue
            else:
                bad = np.isinf(codes) if column.fill is not None else ~np.isfinite(codes)
                unseen = "infinity"
            if bad.any():
                row = int(np.argmax(bad))
                what = "a missing value or NaN" if np.isnan(codes[row]) else unseen
                return row, f"{label(k, names)} holds {what}"
        return None

    def names(self, raw: Sequence[str], levels: Levels) -> list[str]:
        """A name for each encoded column, from those of the coded ones and their levels."""
        out = [
            name
            for k, column in enumerate(self.columns)
            for name in _encoded_names(column, raw[k], levels[k])
        ]
        return out if self.order is None else [out[k] for k in self.order]

    @property
    def _widths(self) -> list[int]:
        return [column.width for column in self.columns]

    def _ordered(self, values: np.ndarray) -> np.ndarray:
        return values if self.order is None else values[self.order]


def _encoded_names(column: Number | Category, raw: str, levels: np.ndarray | None) -> list[str]:
    if isinstance(column, Number):
        waves = [f"{raw} {wave}" for wave in column.waves]
        return [raw] * column.value + waves + [f"{raw} missing"] * column.indicator
    if not column.onehot:
        several = column.width > 1
        return [f"{raw} mean {j}" if several else f"{raw} mean" for j in range(column.width)]
    assert levels is not None
    out = []
    for values in column.table[:-1].T:
        here = [_shown(level) for level, v in zip(levels.tolist(), values[:-1], strict=True) if v]
        only_missing = not here and values[-1] == 1
        out.append(f"{raw} missing" if only_missing else f"{raw}={'|'.join(here)}")
    return out


def _shown(level: Any) -> str:
    """A level in a name; whole numbers without a fraction."""
    whole = isinstance(level, float) and level.is_integer()
    return str(int(level) if whole else level)
