"""Files that are there whole or not at all, and that tell when they were damaged."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAGIC = b"srff"
LONGEST_HEAD = 100
"""Bytes of the first line at most."""

PART = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.part")
"""What a file is called while it is written."""


class DamagedFile(ValueError):
    """A file that is not what was written."""


@contextmanager
def beside(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """A file to write, which takes the place of ``path`` when all has gone well.

    It is brought to the disk and renamed: either the old file is there or the new one.  Without
    ``overwrite`` a file that is there stays, and FileExistsError is raised.
    """
    # A name that no one else has: two who write to one place do not write into each other's file.
    part = path.with_name(f".{path.name[:40]}.{os.urandom(8).hex()}.part")
    try:
        yield part
        _to_disk(part)
        if overwrite:
            os.replace(part, path)
        else:
            _rename_new(part, path)
        if os.name == "posix":  # makes a renaming last through a loss of power
            _to_disk(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def replace_file(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """Put a file of this content in the place of what was there: see :func:`beside`."""
    with beside(path, overwrite=overwrite) as part, open(part, "xb") as file:
        file.write(content)


def write_whole(path: Path, content: bytes) -> None:
    """:func:`replace_file` with a checksum at the start, for :func:`read_whole`."""
    replace_file(path, MAGIC + b" " + _checksum(content) + b"\n" + content)


def read_whole(path: Path) -> bytes:
    """The content of a file that :func:`write_whole` wrote; an error if it was damaged since.

    Nothing is held in memory before the checksum is known to be right.
    """
    if not path.is_file():  # a pipe would be waited for
        raise DamagedFile(f"{path} is not a file.")
    with open(path, "rb") as file:
        magic, _, checksum = file.readline(LONGEST_HEAD).partition(b" ")
        if magic != MAGIC or not checksum.endswith(b"\n"):
            raise DamagedFile(
                f"{path}: the file is not one that srff wrote, or its start is damaged."
            )
        begin = file.tell()
        if hashlib.file_digest(file, "sha256").hexdigest().encode() != checksum[:-1]:
            raise DamagedFile(
                f"{path}: the file is cut off or damaged: its checksum does not match."
            )
        file.seek(begin)
        return file.read()


def remove_parts(folder: Path, names: re.Pattern[str]) -> None:
    """Remove what :func:`beside` has left of files of these names where it was killed."""
    for path in folder.iterdir():
        part = PART.fullmatch(path.name)
        if part and names.fullmatch(part["name"]):
            with contextlib.suppress(OSError):
                path.unlink()


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _rename_new(part: Path, path: Path) -> None:
    """Rename a file, but not over another one."""
    try:
        os.link(part, path)  # fails if there is a file, even one that came just now
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(part, path)
    else:
        part.unlink()


def _to_disk(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
