"""Labels on their way to a file and back: levels of categories, classes, and how they are encoded.

What grows with the number of columns is in tensors: the labels of all columns lie end to end, those
of one type together.
"""

# ruff: noqa: D102 (what pack and unpack do is said once, in Kind)

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.data.encoding.columns import WAVES, Category, Date, Encoding, Number
from srff.data.encoding.frames import DATES, is_category, is_dates
from srff.export.format.container import Refused, quoted
from srff.export.format.kinds import FINITE, Floats, Integers, Packed, Stored, Texts, Truths

NUMBERS, TEXTS, TRUTHS, INTEGERS, FLOATS, MOMENTS = range(6)
"""What a column holds: numbers that are no category, levels of a type, or dates."""

ENCODED = "encoded columns"
"""The dimension of what a model has for each of the columns that it learns from."""

CLASS_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "str", "object"),
)
"""Types of the array of classes; its texts are ``str`` or ``object``."""


MOST_ROOM, LEAST_ROOM = 64, 2**20
"""Bytes for each letter of the classes, or bytes in all, up to which their texts are in an array of
NumPy's own, as they were; else in one of objects."""


@dataclass(frozen=True)
class ColumnLevels:
    """The levels of each column, None for one of numbers; or None if all are numbers.

    Dates have an empty array of moments.
    """

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.values[name] = value is not None
        if value is not None:
            _pack_labels(name, value, out)

    def unpack(self, name: str, stored: Stored) -> tuple[np.ndarray | None, ...] | None:
        if not _truth(name, stored):
            return None
        return tuple(_unpack_labels(name, stored, "columns"))


@dataclass(frozen=True)
class Classes:
    """The labels of classes, at least two, sorted; more than two are as many outputs."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        array = np.asarray(value)
        kind = "str" if array.dtype.kind == "U" else array.dtype.name
        if kind not in CLASS_TYPES:
            raise ValueError(f"The model cannot be saved: {name} are of the type {kind}.")
        out.values[name] = kind
        _pack_labels(name, [_plain_labels(name, array)], out)

    def unpack(self, name: str, stored: Stored) -> np.ndarray:
        kind = stored.value(name)
        if kind not in CLASS_TYPES:
            raise Refused(f"{name} are of the type {quoted(kind)}")
        (labels,) = _unpack_labels(name, stored, f"lists of {name}", 1)
        if labels is None or labels.size < 2:
            raise Refused(f"{name} are not two labels or more")
        text = labels.dtype == object
        if text != (kind in ("str", "object")):
            raise Refused(f"{name} are not of the type {kind}")
        if kind == "str" and _too_wide(labels):
            kind = "object"
        with np.errstate(all="ignore"):
            array = labels.astype(kind)
        # A narrower type may not hold them, and NumPy's texts have no zeros at their end.
        if not all(a == b for a, b in zip(array.tolist(), labels.tolist(), strict=True)):
            raise Refused(f"{name} has labels that are none of the type {kind}")
        if labels.dtype == np.float64 and not np.isfinite(labels).all():
            raise Refused(f"{name} has an infinite label")
        if array.size > 2:
            stored.sizes["outputs"] = array.size
        return array


def _too_wide(texts: np.ndarray) -> bool:
    """Whether an array in which all texts take the room of the longest is far larger than they."""
    lengths = [len(text) for text in texts]
    return 4 * max(lengths) * len(lengths) > max(MOST_ROOM * sum(lengths), LEAST_ROOM)


def _plain_labels(name: str, array: np.ndarray) -> np.ndarray:
    """Classes as one of the types that levels have."""
    kind = array.dtype.kind
    if kind in "OU":
        labels = array.astype(object)
        if not all(isinstance(label, str) for label in labels.tolist()):
            raise ValueError(f"The model cannot be saved: {name} are neither texts nor numbers.")
        return labels
    if kind == "u" and array.size and array.max() >= 2**63:
        raise ValueError(f"The model cannot be saved: {name} has {array.max()}, which is too much.")
    return array if kind == "b" else array.astype(np.float64 if kind == "f" else np.int64)


def _pack_labels(name: str, columns: Sequence[np.ndarray | None], out: Packed) -> None:
    """The labels of some columns."""
    kinds = [_kind_of(labels) for labels in columns]
    pools: dict[int, list[Any]] = {TEXTS: [], TRUTHS: [], INTEGERS: [], FLOATS: []}
    for kind, labels in zip(kinds, columns, strict=True):
        if labels is not None and kind != MOMENTS:
            pools[kind] += labels.tolist()
    sizes = [0 if labels is None else labels.size for labels in columns]
    out.add(f"{name}.kinds", np.array(kinds, dtype=np.uint8))
    out.add(f"{name}.sizes", np.array(sizes, dtype=np.int64))
    Texts().pack(f"{name}.texts", pools[TEXTS], out)
    out.add(f"{name}.truths", np.array(pools[TRUTHS], dtype=np.bool_))
    out.add(f"{name}.integers", np.array(pools[INTEGERS], dtype=np.int64))
    out.add(f"{name}.floats", np.array(pools[FLOATS], dtype=np.float64))


def _kind_of(labels: np.ndarray | None) -> int:
    if labels is None:
        return NUMBERS
    return {"b": TRUTHS, "i": INTEGERS, "f": FLOATS, "M": MOMENTS}.get(labels.dtype.kind, TEXTS)


def _unpack_labels(
    name: str, stored: Stored, dimension: str, count: int | None = None
) -> list[np.ndarray | None]:
    """The labels of each column: sorted, distinct, none of them missing."""
    if count is not None:
        stored.sizes[dimension] = count
    kinds = stored.array(f"{name}.kinds", ("U8",), (dimension,)).tolist()
    sizes = Integers((dimension,)).unpack(f"{name}.sizes", stored).tolist()
    pools = {
        TEXTS: Texts().unpack(f"{name}.texts", stored),
        TRUTHS: Truths().unpack(f"{name}.truths", stored),
        INTEGERS: _pool(name, "integers", "I64", stored),
        FLOATS: _pool(name, "floats", "F64", stored),
    }
    ends = dict.fromkeys(pools, 0)
    out: list[np.ndarray | None] = []
    for kind, size in zip(kinds, sizes, strict=True):
        if kind == NUMBERS and not size:
            out.append(None)
            continue
        if kind == MOMENTS and not size:
            out.append(DATES)
            continue
        if kind not in pools or size > pools[kind].size - ends[kind]:
            raise Refused(f"{name} has {size} labels of kind {kind}, which are not there")
        begin, ends[kind] = ends[kind], ends[kind] + size
        out.append(pools[kind][begin : begin + size].copy())
        _check_rising(name, out[-1])
    if any(ends[kind] != pool.size for kind, pool in pools.items()):
        raise Refused(f"{name} has more labels than its columns")
    return out


def _pool(name: str, part: str, code: str, stored: Stored) -> np.ndarray:
    return stored.array(f"{name}.{part}", (code,), (f"{part} of {name}",))


def _check_rising(name: str, labels: Any) -> None:
    listed = labels.tolist()
    rising = all(a < b for a, b in itertools.pairwise(listed))  # false of NaN
    if not rising or (len(listed) == 1 and listed[0] != listed[0]):
        raise Refused(f"{name} has labels that are not sorted, or twice, or NaN")


@dataclass(frozen=True)
class ColumnEncoding:
    """What becomes of each column: see :class:`srff.data.encoding.columns.Encoding`; or None.

    It sets the number of encoded columns, and needs ``levels_``, which say what is a category.
    """

    def pack(self, name: str, value: Encoding | None, out: Packed) -> None:
        out.values[name] = value is not None
        if value is None:
            return
        if value.order is not None:
            raise ValueError(f"The model cannot be saved: {name} has its columns out of order.")
        numbers = [column for column in value.columns if isinstance(column, Number)]
        fill = [np.nan if column.fill is None else column.fill for column in numbers]
        out.add(f"{name}.fill", np.array(fill, dtype=np.float64))
        Truths().pack(f"{name}.value", [column.value for column in numbers], out)
        Truths().pack(f"{name}.indicator", [column.indicator for column in numbers], out)
        waves = [[wave in column.waves for wave in WAVES] for column in numbers]
        out.add(f"{name}.waves", np.array(waves, dtype=np.bool_).reshape(-1, len(WAVES)))
        tables = [column for column in value.columns if isinstance(column, Category)]
        flat = [np.asarray(column.table, dtype=np.float64).ravel() for column in tables]
        out.add(f"{name}.table", np.concatenate([np.zeros(0), *flat]))
        out.add(f"{name}.width", np.array([column.width for column in tables], dtype=np.int64))
        Truths().pack(f"{name}.onehot", [column.onehot for column in tables], out)
        Truths().pack(f"{name}.joint", [column.joint for column in tables], out)

    def unpack(self, name: str, stored: Stored) -> Encoding | None:
        levels = stored.attributes["levels_"]
        if _truth(name, stored) != (levels is not None):
            raise Refused(f"{name} does not fit levels_")
        if levels is None:
            stored.sizes[ENCODED] = stored.sizes["columns"]
            return None
        sizes = [known.size for known in levels if is_category(known)]
        stored.sizes |= {"numbers": len(levels) - len(sizes), "categories": len(sizes)}
        dates = np.array([is_dates(known) for known in levels if not is_category(known)], bool)
        numbers: Iterator[Number | Category] = iter(self._numbers(name, stored, dates))
        categories: Iterator[Number | Category] = iter(self._categories(name, stored, sizes))
        made = Encoding(tuple(next(categories if is_category(k) else numbers) for k in levels))
        stored.sizes[ENCODED] = made.width
        return made

    def _numbers(self, name: str, stored: Stored, dates: np.ndarray) -> list[Number]:
        fill = Floats(("numbers",), any_float=True).unpack(f"{name}.fill", stored)
        value = Truths(("numbers",)).unpack(f"{name}.value", stored)
        indicator = Truths(("numbers",)).unpack(f"{name}.indicator", stored)
        waves = self._waves(name, stored, dates)
        some = value | indicator | waves.any(axis=1)
        if (np.abs(fill) > FINITE).any() or not some.all():
            raise Refused(f"{name} fills in numbers that are too large, or gives no column")
        out: list[Number] = []
        for k, f in enumerate(fill.tolist()):
            given = None if f != f else float(f), bool(indicator[k]), bool(value[k])
            own = tuple(wave for wave, has in zip(WAVES, waves[k], strict=True) if has)
            out.append(Date(*given, own) if dates[k] else Number(*given))
        return out

    def _waves(self, name: str, stored: Stored, dates: np.ndarray) -> np.ndarray:
        """The waves of each column of numbers or dates; files of before there were any have none.

        They may be none in part: a model of some columns keeps what it needs.
        """
        if f"{name}.waves" not in stored.arrays:
            return np.zeros((dates.size, len(WAVES)), dtype=bool)
        waves = stored.array(f"{name}.waves", ("BOOL",), ("numbers", f"waves of {name}"))
        if waves.shape[1] != len(WAVES) or waves[~dates].any():
            raise Refused(f"{name} has waves that no dates have")
        return waves

    def _categories(self, name: str, stored: Stored, sizes: list[int]) -> list[Category]:
        flat = Floats(any_float=True).unpack(f"{name}.table", stored).astype(np.float64)
        width = Integers(("categories",)).unpack(f"{name}.width", stored).tolist()
        onehot = Truths(("categories",)).unpack(f"{name}.onehot", stored)
        joint = Truths(("categories",)).unpack(f"{name}.joint", stored)
        entries = [(size + 2) * w for size, w in zip(sizes, width, strict=True)]
        if not all(width) or sum(entries) != flat.size:
            raise Refused(f"{name} has tables that do not fit their levels")
        if (np.abs(flat) > FINITE).any():
            raise Refused(f"{name} has numbers that are too large")
        out = []
        for k, (begin, end) in enumerate(itertools.pairwise([0, *itertools.accumulate(entries)])):
            table = flat[begin:end].reshape(-1, width[k])
            if (np.isnan(table).any(axis=1) != np.isnan(table).all(axis=1)).any():
                raise Refused(f"{name} has a row that is NaN in part")
            out.append(Category(table, bool(onehot[k]), bool(joint[k])))
        return out


def _truth(name: str, stored: Stored) -> bool:
    value = stored.value(name)
    if not isinstance(value, bool):
        raise Refused(f"{name} is {quoted(value)}; true or false is expected")
    return value
