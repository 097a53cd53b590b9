"""The kinds of attributes that models have: how each is taken apart, checked and put together.

A model becomes arrays, numbers and texts, each under a name such as ``coef_`` or ``path_.alpha``.
On the way back lengths that have one name must be equal, and numbers must be in their range.
"""

# ruff: noqa: D102 (what pack and unpack do is said once, in Kind)

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from srff.data.scaling import Quantile, Standardise
from srff.export.format.container import DTYPES, Refused, quoted

FINITE, FEATURE, SMALL = 1e300, 1e30, 1e-300
"""Largest numbers that are taken for finite ones, and that enter a feature, perhaps in float32;
the smallest one to divide by."""


@dataclass
class Packed:
    """A model's parts on the way to a file."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    column_major: list[str] = field(default_factory=list)
    """Matrices that lie in memory column by column: sums over them keep their order, and bits."""

    def add(self, name: str, array: np.ndarray) -> None:
        """Take in an array."""
        if column_major(array):
            self.column_major.append(name)
        self.arrays[name] = array


@dataclass
class Stored:
    """A file's parts on the way to a model; what is asked for is taken out."""

    arrays: dict[str, np.ndarray]
    values: dict[str, Any]
    column_major: set[str]
    sizes: dict[str, int] = field(default_factory=dict)
    """Lengths of named dimensions: the first array that has one decides."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """The model's attributes so far."""

    def array(self, name: str, codes: tuple[str, ...], dimensions: tuple[str, ...]) -> np.ndarray:
        """A copy of a tensor of one of the types."""
        if name not in self.arrays:
            raise Refused(f"it lacks the tensor {name}")
        array = self.arrays.pop(name)
        if not any(array.dtype == DTYPES[code] for code in codes):
            raise Refused(f"{name} is of the type {array.dtype.name}, not {' or '.join(codes)}")
        if array.ndim != len(dimensions):
            raise Refused(f"{name} has {array.ndim} dimensions in place of {len(dimensions)}")
        for dimension, length in zip(dimensions, array.shape, strict=True):
            expected = self.sizes.setdefault(dimension, length)
            if length != expected:
                raise Refused(f"{name} has {length} {dimension}; {expected} are expected")
        order = "F" if name in self.column_major else "C"
        self.column_major.discard(name)
        return array.astype(array.dtype.newbyteorder("="), order=order)  # type: ignore[call-overload]

    def value(self, name: str) -> Any:
        """A number, a text or None."""
        if name not in self.values:
            raise Refused(f"it lacks {name}")
        return self.values.pop(name)

    def check_empty(self) -> None:
        """Refuse what nothing asked for."""
        for name in (*self.arrays, *self.values, *sorted(self.column_major)):
            raise Refused(f"it has {quoted(name)}, which is no part of such a model")


class Kind(Protocol):
    """A kind of attribute."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        """Take it apart."""

    def unpack(self, name: str, stored: Stored) -> Any:
        """Check it and put it together."""


@dataclass(frozen=True)
class Number:
    """A float; NaN and infinities, which JSON does not have, are texts, where ``any_float``."""

    low: float = -FINITE
    high: float = FINITE
    any_float: bool = False
    or_none: bool = False

    def pack(self, name: str, value: Any, out: Packed) -> None:
        if value is not None:
            value = float(value)
            value = value if math.isfinite(value) else str(value)
        out.values[name] = value

    def unpack(self, name: str, stored: Stored) -> float | None:
        value = stored.value(name)
        if value is None and self.or_none:
            return None
        if self.any_float and value in ("nan", "inf", "-inf"):
            return float(value)
        low, high = (-math.inf, math.inf) if self.any_float else (self.low, self.high)
        if type(value) is not float or not low <= value <= high:
            raise Refused(
                f"{name} is {quoted(value)}; a float from {low:g} to {high:g} is expected"
            )
        return value


@dataclass(frozen=True)
class Count:
    """An integer; ``dimension`` is what it is the length of."""

    low: int = 0
    dimension: str | None = None

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.values[name] = int(value)

    def unpack(self, name: str, stored: Stored) -> int:
        value = stored.value(name)
        if type(value) is not int or not self.low <= value <= 2**53:
            raise Refused(f"{name} is {quoted(value)}; an integer from {self.low} is expected")
        if self.dimension is not None:
            stored.sizes[self.dimension] = value
        return value


@dataclass(frozen=True)
class Targets:
    """The number of targets, and so of outputs; None if there is one, and it is a vector."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.values[name] = None if value is None else int(value)

    def unpack(self, name: str, stored: Stored) -> int | None:
        if stored.values.get(name, 0) is None:
            stored.value(name)
            return None
        return Count(1, "outputs").unpack(name, stored)


@dataclass(frozen=True)
class Text:
    """One line."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.values[name] = str(value)

    def unpack(self, name: str, stored: Stored) -> str:
        return short_text(name, stored.value(name))


@dataclass(frozen=True)
class BlockType:
    """float32 or float64."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.values[name] = np.dtype(value).name

    def unpack(self, name: str, stored: Stored) -> np.dtype:
        value = stored.value(name)
        if value not in ("float32", "float64"):
            raise Refused(f"{name} is {quoted(value)}, not 'float32' or 'float64'")
        return np.dtype(value)


@dataclass(frozen=True)
class Array:
    """An array; its only dimension, if it has no name, has that of the array."""

    dimensions: tuple[str, ...] = ()

    def named(self, name: str) -> tuple[str, ...]:
        """The dimensions by their names."""
        return self.dimensions or (f"entries of {name}",)


@dataclass(frozen=True)
class Floats(Array):
    """Numbers in a range, or any of them."""

    low: float = -FINITE
    high: float = FINITE
    any_float: bool = False

    def pack(self, name: str, value: Any, out: Packed) -> None:
        array = np.asarray(value)
        known = array.dtype in (np.dtype(np.float32), np.dtype(np.float64))
        out.add(name, array if known else array.astype(np.float64))

    def unpack(self, name: str, stored: Stored) -> np.ndarray:
        array = stored.array(name, ("F64", "F32"), self.named(name))
        if not self.any_float:
            wide = array.astype(np.float64)  # the bounds are beyond float32
            bad = wide[~((wide >= self.low) & (wide <= self.high))]
            if bad.size:
                accepted = f"{self.low:g} to {self.high:g}"
                raise Refused(f"{name} has {float(bad[0])!r}; accepted is {accepted}")
        return array


@dataclass(frozen=True)
class OrNone:
    """Of a kind, or None."""

    kind: Kind

    def pack(self, name: str, value: Any, out: Packed) -> None:
        if value is None:
            out.values[name] = None
        else:
            self.kind.pack(name, value, out)

    def unpack(self, name: str, stored: Stored) -> Any:
        if stored.values.get(name, 0) is None:
            return stored.value(name)
        return self.kind.unpack(name, stored)


@dataclass(frozen=True)
class PerOutput:
    """Numbers for each output; where there is one that is a vector, without that dimension.

    A single number is a float, not an array.
    """

    dimensions: tuple[str, ...] = ()

    def pack(self, name: str, value: Any, out: Packed) -> None:
        kind: Kind = Floats() if np.ndim(value) else Number()
        kind.pack(name, value, out)

    def unpack(self, name: str, stored: Stored) -> Any:
        several = ("outputs",) if "outputs" in stored.sizes else ()
        dimensions = (*self.dimensions, *several)
        kind: Kind = Floats(dimensions) if dimensions else Number()
        return kind.unpack(name, stored)


@dataclass(frozen=True)
class Integers(Array):
    """Counts, or rising positions in the dimension ``below``."""

    below: str | None = None

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.add(name, np.asarray(value).astype(np.int64))

    def unpack(self, name: str, stored: Stored) -> np.ndarray:
        array = stored.array(name, ("I64",), self.named(name))
        if (array < 0).any():
            raise Refused(f"{name} has negative entries")
        if self.below is not None and array.size:
            size = stored.sizes[self.below]
            if array[-1] >= size or (array[1:] <= array[:-1]).any():
                raise Refused(f"{name} are not rising positions below {size}")
        return array.astype(np.intp)


@dataclass(frozen=True)
class Truths(Array):
    """Booleans."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.add(name, np.asarray(value).astype(np.bool_))

    def unpack(self, name: str, stored: Stored) -> np.ndarray:
        return stored.array(name, ("BOOL",), self.named(name))


@dataclass(frozen=True)
class Texts(Array):
    """Texts in UTF-8, end to end."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        try:
            encoded = [str(text).encode() for text in value]
        except UnicodeEncodeError as error:
            raise ValueError(f"The model cannot be saved: {name}: {error}.") from None
        out.add(f"{name}.values", np.frombuffer(b"".join(encoded), np.uint8))
        out.add(f"{name}.lengths", np.array([len(text) for text in encoded], dtype=np.int64))

    def unpack(self, name: str, stored: Stored) -> np.ndarray:
        values = stored.array(f"{name}.values", ("U8",), (f"bytes of {name}",)).tobytes()
        ends = _ends(name, stored, self.named(name), len(values), 0)
        try:
            texts = [values[i:j].decode() for i, j in itertools.pairwise(ends)]
        except UnicodeDecodeError:
            raise Refused(f"{name} has a text that is not UTF-8") from None
        array = np.empty(len(texts), dtype=object)
        array[:] = texts
        return array


@dataclass(frozen=True)
class Lists(Array):
    """Vectors of numbers, each of its own length of at least one, end to end."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        flat = [np.asarray(array, dtype=np.float64).ravel() for array in value]
        out.add(f"{name}.values", np.concatenate([np.zeros(0), *flat]))
        out.add(f"{name}.lengths", np.array([array.size for array in flat], dtype=np.int64))

    def unpack(self, name: str, stored: Stored) -> list[np.ndarray]:
        values = Floats().unpack(f"{name}.values", stored)
        ends = _ends(name, stored, self.named(name), values.size, 1)
        return [values[i:j].copy() for i, j in itertools.pairwise(ends)]


@dataclass(frozen=True)
class Table:
    """A dictionary of columns of one length."""

    columns: dict[str, type[Floats] | type[Integers] | type[Truths] | type[Texts]]

    def pack(self, name: str, value: Any, out: Packed) -> None:
        for column, kind in self.columns.items():
            kind().pack(f"{name}.{column}", value[column], out)

    def unpack(self, name: str, stored: Stored) -> dict[str, np.ndarray]:
        rows = (f"rows of {name}",)
        return {
            column: self._kind(kind, rows).unpack(f"{name}.{column}", stored)
            for column, kind in self.columns.items()
        }

    def _kind(self, kind: type, rows: tuple[str, ...]) -> Kind:
        made: Kind = Floats(rows, any_float=True) if kind is Floats else kind(rows)
        return made


@dataclass(frozen=True)
class InputMap:
    """The map of the columns in use: see :mod:`srff.data.scaling`."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        out.values[name] = value.name
        for part, kind in self._kinds(value.name).items():
            kind.pack(f"{name}.{part}", getattr(value, part), out)

    def unpack(self, name: str, stored: Stored) -> Standardise | Quantile:
        found = stored.value(name)
        if found not in ("standard", "quantile"):
            raise Refused(f"{name} is {quoted(found)}, not 'standard' or 'quantile'")
        kinds = self._kinds(found)
        first, second = (kind.unpack(f"{name}.{part}", stored) for part, kind in kinds.items())
        if found == "standard":
            return Standardise(first, second)
        for knots, scores in zip(first, second, strict=True):
            if knots.size != scores.size:
                raise Refused(f"{name} has {knots.size} knots and {scores.size} scores")
            if (np.diff(knots) <= 0).any() or (np.abs(scores) > FEATURE).any():
                raise Refused(f"{name} has knots that do not rise, or scores that are too large")
        return Quantile(tuple(first), tuple(second))

    def _kinds(self, name: str) -> dict[str, Kind]:
        used = ("columns in use",)
        if name == "standard":
            return {"center": Floats(used), "spread": Floats(used, low=SMALL)}
        return {"knots": Lists(used), "scores": Lists(used)}


def column_major(array: np.ndarray) -> bool:
    """Whether a matrix lies in memory column by column."""
    return array.flags.f_contiguous and not array.flags.c_contiguous


def short_text(name: str, value: Any) -> str:
    """A short text without line breaks and other characters that cannot be seen."""
    if not (isinstance(value, str) and len(value) <= 200 and value.isprintable()):
        raise Refused(f"{name} is {quoted(value)}; a short text is expected")
    return value


def _ends(
    name: str, stored: Stored, dimensions: tuple[str, ...], total: int, least: int
) -> list[int]:
    """Where each of several lists begins and ends in the sequence of all their entries."""
    lengths = stored.array(f"{name}.lengths", ("I64",), dimensions).tolist()
    if not all(least <= n <= total for n in lengths) or sum(lengths) != total:
        raise Refused(f"{name} has {total} entries, and its lengths do not add up to them")
    return [0, *itertools.accumulate(lengths)]
