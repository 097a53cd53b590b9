"""Files of tables: which there are, of what kind each is, whether one was written anew."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

WRITTEN_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "ipc",
    ".ipc": "ipc",
    ".feather": "ipc",
}
"""What pyarrow calls the kinds of files that can be written, by how their names end."""

FORMATS = {**WRITTEN_FORMATS, ".tsv": "csv"}
"""Those that can be read."""

COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


class UnknownFormat(ValueError):
    """A file that by its name is no table."""


def expanded(paths: Any) -> list[str]:
    """Files in a fixed order from a path, a folder, a pattern or a list of such."""
    if isinstance(paths, list | tuple):
        return [file for path in paths for file in expanded(path)]
    path = os.fspath(paths)
    if os.path.isdir(path):
        files = [str(p) for p in Path(path).rglob("*") if _is_file(p) and _is_table(p)]
    elif glob.has_magic(path) and not os.path.exists(path):
        files = [p for p in glob.glob(path, recursive=True) if _is_file(p)]
    else:
        files = [path]
    if not files:
        raise FileNotFoundError(f"{path}: there is no Parquet, CSV or Arrow file here.")
    return sorted(files)


def _is_file(path: str | Path) -> bool:
    """Whether this is a file, or a link to nothing: that is an error, not one file fewer."""
    return os.path.isfile(path) or (os.path.islink(path) and not os.path.exists(path))


def _is_table(path: Path) -> bool:
    return not path.name.startswith((".", "_")) and _format(str(path)) is not None


def _format(path: str) -> str | None:
    stem, extension = os.path.splitext(path.lower())
    if extension in COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return FORMATS.get(extension)


def file_format(path: str) -> str:
    """What pyarrow calls a file of this name; an error if it knows none."""
    kind = _format(path)
    if kind is None:
        accepted = ", ".join(FORMATS)
        raise UnknownFormat(f"{path}: unknown kind of file; known are {accepted}.")
    return kind


def file_state(path: str) -> tuple[int, int]:
    """What tells a file that was written anew: its size first."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise FileNotFoundError(f"{path}: {error.strerror or error}.") from None
    return status.st_size, status.st_mtime_ns
