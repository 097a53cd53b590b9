"""Files that are there whole or not at all, and that tell when they were damaged."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

MAGIC = b"srff"


class DamagedFile(ValueError):
    """A file that is not what was written."""


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in the place of what was there: either the old one is there or the new one.

    A file beside it is written, brought to the disk and renamed.  It starts with a checksum.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as file:
            file.write(MAGIC + b" " + _checksum(content) + b"\n")
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        _to_disk(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def read_whole(path: Path) -> bytes:
    """The content of a file that :func:`write_whole` wrote; an error if it was damaged since."""
    head, newline, content = path.read_bytes().partition(b"\n")
    magic, _, checksum = head.partition(b" ")
    if magic != MAGIC or not newline:
        raise DamagedFile(f"{path}: the file is not one that srff wrote, or its start is damaged.")
    if checksum != _checksum(content):
        raise DamagedFile(f"{path}: the file is cut off or damaged: its checksum does not match.")
    return content


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _to_disk(folder: Path) -> None:
    """Make a renaming last through a loss of power, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
