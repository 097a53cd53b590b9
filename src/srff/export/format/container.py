"""The file: safetensors, written plainly and read strictly.

The format is eight bytes for the length of a header, the header in JSON, and the tensors' bytes.
Ours has in its metadata ``srff_format``, ``srff_version``, ``checksum`` (SHA-256 of the whole file
with zeros in its own place) and ``model``, which is JSON.  Tensors follow one another without gaps,
in the order of the header, so that nothing in a file is unchecked or read twice.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff._utils.version import __version__

FORMAT, OLDEST = 6, 2
"""The format that is written, and the oldest that is read; a change that an older srff cannot read
gets the next number."""

LARGEST_HEADER = 2**20
"""Bytes of the longest header: all that grows with the data is in tensors."""

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
}
"""The tensors that a file may have."""

ZEROS = b"0" * 64
"""What stands for the checksum while it is computed."""


class Refused(Exception):
    """What is wrong with a file; :func:`srff.export.save.load` says with which."""


@dataclass(frozen=True)
class Place:
    """The type and the shape of a tensor, and which of the bytes after the header are its own."""

    code: str
    shape: tuple[int, ...]
    begin: int
    end: int


def packed(arrays: Mapping[str, np.ndarray], model: Mapping[str, Any]) -> bytes:
    """The bytes of a file."""
    codes = {dtype: code for code, dtype in DTYPES.items()}
    header: dict[str, Any] = {
        "__metadata__": {
            "srff_format": str(FORMAT),
            "srff_version": __version__,
            "checksum": ZEROS.decode(),
            "model": json.dumps(model, allow_nan=False),
        }
    }
    parts, end = [], 0
    # Long entries first: then all of them begin at multiples of their size.
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize):
        code = codes[array.dtype.newbyteorder("<")]
        parts.append(array.astype(DTYPES[code], order="C", copy=False).tobytes())
        begin, end = end, end + len(parts[-1])
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 8)
    return with_checksum(b"".join([len(text).to_bytes(8, "little"), text, *parts]))


def with_checksum(content: bytes) -> bytes:
    """A file whose checksum is zeros, with its checksum."""
    return content.replace(ZEROS, hashlib.sha256(content).hexdigest().encode(), 1)


def read(path: str | os.PathLike) -> bytes:
    """The bytes of a file, none of them after the header if that does not fit its size."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Refused("it is not a file")  # a pipe or a device would be read for ever
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        header = file.read(_header_length(start, size))
        _layout(header, size - 8 - len(header))
        return start + header + file.read()


def unpacked(content: bytes) -> tuple[dict[str, np.ndarray], Any]:
    """The tensors of a file, as views of its bytes, and what it says of the model."""
    length = _header_length(content, len(content))
    data = memoryview(content)[8 + length :]
    metadata, places = _layout(content[8 : 8 + length], len(data))
    _check_checksum(content[: 8 + length], data, metadata["checksum"])
    arrays = {
        name: np.frombuffer(data[place.begin : place.end], DTYPES[place.code]).reshape(place.shape)
        for name, place in places.items()
    }
    for name, array in arrays.items():
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise Refused(f"{quoted(name)} has truth values that are neither 0 nor 1")
    return arrays, strict_json("the model's description", metadata["model"])


def _header_length(start: bytes, size: int) -> int:
    length = int.from_bytes(start[:8], "little")
    if size < 8 or length > size - 8:
        raise Refused("it is cut off, or not in the safetensors format")
    if length > LARGEST_HEADER:
        raise Refused(f"its header of {length} bytes is longer than {LARGEST_HEADER}")
    return length


def _layout(header: bytes, size: int) -> tuple[dict[str, Any], dict[str, Place]]:
    """The metadata, and the place of each tensor in the ``size`` bytes after the header."""
    entries = mapping("the header", strict_json("the header", header))
    metadata = mapping("the header's __metadata__", entries.pop("__metadata__", None))
    _check_format(metadata)
    check_keys("__metadata__", metadata, {"srff_format", "srff_version", "checksum", "model"})
    places: dict[str, Place] = {}
    end = 0
    for name, entry in entries.items():
        places[name] = _place(f"the tensor {quoted(name)}", entry, end, size)
        end = places[name].end
    if end != size:
        raise Refused(f"it is cut off or damaged: {end} bytes of tensors, {size} of them there")
    return metadata, places


def _check_format(metadata: Mapping[str, Any]) -> None:
    found, version = metadata.get("srff_format"), metadata.get("srff_version")
    if not (isinstance(found, str) and re.fullmatch("[1-9][0-9]{0,5}", found)):
        raise Refused("it is a safetensors file, but srff did not write it")
    if not (isinstance(version, str) and re.fullmatch(r"[0-9][0-9A-Za-z.+\-]{0,40}", version)):
        raise Refused("it does not say which srff wrote it")
    if not OLDEST <= int(found) <= FORMAT:
        other = "or newer" if int(found) > FORMAT else "to be read"
        raise Refused(
            f"it is in format {found}, and srff {__version__} reads formats {OLDEST} to {FORMAT}: "
            f"it needs srff {version} {other}"
        )


def _place(what: str, entry: Any, begin: int, size: int) -> Place:
    """The place of a tensor that starts where the last one ended.

    One without entries could say any number for its other side; but what a model has so many of is
    in some tensor, so that no side is longer than the ``size`` of all.
    """
    entry = mapping(what, entry)
    check_keys(what, entry, {"dtype", "shape", "data_offsets"})
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not (isinstance(code, str) and code in DTYPES):
        raise Refused(f"{what} has the type {quoted(code)}; accepted are {', '.join(DTYPES)}")
    if not (_integers(shape) and len(shape) <= 2 and all(0 <= n <= size for n in shape)):
        raise Refused(f"{what} has the shape {quoted(shape)}")
    end = begin + math.prod(shape) * DTYPES[code].itemsize
    if not (_integers(offsets) and offsets == [begin, end]):
        raise Refused(f"{what} is at {quoted(offsets)}; {quoted([begin, end])} is expected")
    return Place(code, tuple(shape), begin, end)


def _check_checksum(start: bytes, data: memoryview, checksum: Any) -> None:
    if not (isinstance(checksum, str) and re.fullmatch("[0-9a-f]{64}", checksum)):
        raise Refused("it has no checksum")
    found = hashlib.sha256(start.replace(checksum.encode(), ZEROS, 1))
    found.update(data)
    if found.hexdigest() != checksum:
        raise Refused("it is damaged: its checksum does not match")


def strict_json(what: str, text: Any) -> Any:
    """JSON with no key twice, no NaN or infinity, and no number that Python alone can hold."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise Refused(f"{what} has a key twice")
        return found

    def integer(digits: str) -> int:
        if len(digits) > 19:
            raise Refused(f"{what} has the number {quoted(digits)}")
        return int(digits)

    def constant(name: str) -> Any:
        raise Refused(f"{what} has the number {name}")

    try:
        if isinstance(text, bytes):
            text = text.decode()
        if not isinstance(text, str):
            raise Refused(f"{what} is not a text")
        return json.loads(text, object_pairs_hook=pairs, parse_int=integer, parse_constant=constant)
    except RecursionError:
        raise Refused(f"{what} is nested too deeply") from None
    except ValueError:
        raise Refused(f"{what} is not JSON") from None


def mapping(what: str, value: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise Refused(f"{what} is not a JSON object")
    return value


def check_keys(what: str, value: Mapping[str, Any], expected: set[str]) -> None:
    """Refuse what lacks a key, or has another."""
    for name in sorted(expected - set(value)):
        raise Refused(f"{what} lacks {quoted(name)}")
    for name in sorted(set(value) - expected):
        raise Refused(f"{what} has the unknown {quoted(name)}")


def _integers(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int for n in value)


def quoted(value: Any) -> str:
    """Something of a file for a message: short, and without characters that a terminal obeys."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
