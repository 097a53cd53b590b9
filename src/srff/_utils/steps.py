"""Results of steps as bytes, and back: what a checkpoint keeps.

A result is a frozen dataclass of arrays, numbers and tuples of these; a record of it is arrays by
name.  Records are written as one line of JSON, which says what they are, and the bytes of their
arrays one after the other.  Nothing is believed that the bytes do not bear out: memory is asked for
what is there, and every number must be one that a step could have had.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from srff._utils.atomic_files import DamagedFile

Record = dict[str, np.ndarray]
"""The result of a step as arrays."""

Result = TypeVar("Result")

_DTYPE = re.compile(r"[<>|][biuf][1248]")
_KINDS = {float: "fiu", int: "iu", bool: "b"}
"""What a number of each type may be stored as."""


class Step(NamedTuple):
    """What is kept of a step: what it is, the passes that it took, and its result, if it can be."""

    label: str
    n_passes: int
    record: Record | None


def recorded(result: Any) -> Record:
    """The fields of a result as arrays; those of a tuple of arrays are numbered."""
    record: Record = {}
    for name, value in vars(result).items():
        if isinstance(value, tuple) and any(isinstance(part, np.ndarray) for part in value):
            record |= {f"{name}/{k}": part for k, part in enumerate(value)}
        else:
            record[name] = np.asarray(value)
    return record


def rebuilt(kind: type[Result], record: Record) -> Result:
    """The result that a record was made of; an error if it cannot have been."""
    hints = get_type_hints(kind)
    # A field may be without bound if its default is: a step's length before the first step.
    free = {f.name for f in dataclasses.fields(kind) if _boundless(f.default)}  # type: ignore[arg-type]
    for name, array in record.items():
        if name.partition("/")[0] not in hints:
            raise DamagedFile(f"a step has an unknown field {name!r}")
        bad = np.isnan(array) if name in free else ~np.isfinite(array)
        if bad.any():
            raise DamagedFile(f"a step has {array[bad][0]} in {name}")
    return kind(**{name: _field(record, name, hint) for name, hint in hints.items()})


def readable(kind: type, record: Record) -> Record | None:
    """The record, unless it would be refused: a descent may have ended in no number at all."""
    try:
        rebuilt(kind, record)
    except DamagedFile:
        return None
    return record


def packed(steps: list[Step]) -> bytes:
    """Steps as bytes."""
    about: list[Any] = []
    content = []
    for label, n_passes, record in steps:
        arrays = record or {}
        about.append([label, n_passes, {name: _kind(array) for name, array in arrays.items()}])
        content += [array.tobytes(_kind(array)[2]) for array in arrays.values()]
    return json.dumps(about).encode() + b"\n" + b"".join(content)


def unpacked(content: bytes) -> list[Step]:
    """The steps of some bytes; an error if they are not what :func:`packed` gives."""
    end = content.find(b"\n")
    if end < 0:
        raise DamagedFile("steps have no description")
    steps, position = [], end + 1
    for entry in _list(parsed(content[:end]), None):
        label, n_passes, kinds = _list(entry, 3)
        if not (isinstance(label, str) and _is_count(n_passes) and isinstance(kinds, dict)):
            raise DamagedFile("a step is described wrongly")
        record: Record = {}
        for name, described in kinds.items():
            record[name] = _array(content, position, *_list(described, 3))
            position += record[name].nbytes
        steps.append(Step(label, n_passes, record))
    if position != len(content):
        raise DamagedFile(f"there are {len(content) - position} bytes more than steps have")
    return steps


def parsed(content: bytes) -> Any:
    """JSON as Python's objects; :class:`DamagedFile` for whatever is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"it is no JSON ({error})") from None


def _field(record: Record, name: str, hint: Any) -> Any:
    """One field of a result."""
    is_tuple = get_origin(hint) is tuple
    item = get_args(hint)[0] if is_tuple else hint
    if is_tuple and item is np.ndarray:
        return _numbered(record, name)
    if name not in record:
        raise DamagedFile(f"a step has no field {name!r}")
    value = record[name]
    if item is np.ndarray:
        return _of_floats(value, name)
    if value.ndim != int(is_tuple) or (value.size and value.dtype.kind not in _KINDS[item]):
        raise DamagedFile(f"a step has {value.dtype} of shape {value.shape} in {name}")
    return tuple(value.tolist()) if is_tuple else item(value.item())


def _numbered(record: Record, name: str) -> tuple[np.ndarray, ...]:
    """The arrays of one field, in their order; an empty tuple is one empty array."""
    if name in record and not record[name].size:
        return ()
    numbers = [key for key in record if key.partition("/")[0] == name]
    if not numbers or set(numbers) != {f"{name}/{k}" for k in range(len(numbers))}:
        raise DamagedFile(f"a step has no field {name!r}, or a part of it is missing")
    return tuple(_of_floats(record[f"{name}/{k}"], name) for k in range(len(numbers)))


def _of_floats(array: np.ndarray, name: str) -> np.ndarray:
    """An array of a step, which are all of real numbers."""
    if array.dtype.kind != "f":
        raise DamagedFile(f"a step has {array.dtype} of shape {array.shape} in {name}")
    return array


def _kind(array: np.ndarray) -> tuple[str, tuple[int, ...], Any]:
    """Type, shape and order in memory: the bits of products may depend on the order."""
    return array.dtype.str, array.shape, "F" if array.flags.fnc else "C"


def _array(content: bytes, position: int, dtype: Any, shape: Any, order: Any) -> np.ndarray:
    """The array at a place of the content; it is no larger than what is left there."""
    if not (isinstance(dtype, str) and _DTYPE.fullmatch(dtype) and order in ("C", "F")):
        raise DamagedFile(f"a step has an array of {dtype!r}, order {order!r}")
    sides = _list(shape, None)
    # Even an empty array has no side longer than the file, so that nothing large is made of it.
    if len(sides) > 8 or not all(_is_count(side) and side <= len(content) for side in sides):
        raise DamagedFile(f"a step has an array of shape {shape}")
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise DamagedFile(f"a step has an array of {dtype!r}") from None
    size = math.prod(sides)
    if position + size * kind.itemsize > len(content):
        raise DamagedFile("the arrays of a step are longer than the file")
    array = np.frombuffer(content, kind, size, position).reshape(sides, order=order).copy("K")
    if kind.kind == "b" and (array.view(np.uint8) > 1).any():
        raise DamagedFile("a step has a truth value that is neither true nor false")
    return array


def _list(value: Any, length: int | None) -> list[Any]:
    if not isinstance(value, list) or length not in (None, len(value)):
        raise DamagedFile("steps are described wrongly")
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _boundless(default: Any) -> bool:
    return isinstance(default, float) and not math.isfinite(default)
