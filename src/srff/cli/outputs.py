"""What commands write: files that are there whole or not at all, one JSON object."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from srff._utils.atomic_files import beside
from srff.cli.errors import WrongUse


def check_free(path: Path, force: bool, option: str = "--out") -> None:
    """Refuse a place that a file cannot be written to, before any work is done."""
    if path.exists() or path.is_symlink():
        if not path.is_file():
            raise WrongUse(f"{option} {path} is not a file.")
        if not force:
            raise WrongUse(f"{option} {path} is there already; --force overwrites it.")
    if not path.parent.is_dir():
        raise WrongUse(f"{option} {path}: there is no folder {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise WrongUse(f"{option} {path}: the folder {path.parent} cannot be written to.")


@contextmanager
def whole_file(path: Path, force: bool) -> Iterator[Path]:
    """A file beside ``path`` to write to, which takes its place when all has gone well."""
    with beside(path) as part:
        yield part
        check_free(path, force)  # it may have come while the work was done


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on standard output; null for what is not a finite number."""
    typer.echo(json.dumps(_plain(content), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
