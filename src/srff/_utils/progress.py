"""How long work tells where it is: a bar on a terminal, a callback for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, TextIO, cast


@dataclass(frozen=True)
class Progress:
    """One report: ``done`` of ``total`` steps of ``stage``, and a few words on the state."""

    stage: str
    done: int
    total: int
    message: str = ""


Callback = Callable[[Progress], None]


@contextmanager
def reporting(verbose: int | bool = 0, callback: Callback | None = None) -> Iterator[Callback]:
    """Yield the function that reports go to.

    The bar, with an estimate of the time left, is drawn on standard error if ``verbose`` and if
    that is a terminal or a notebook.
    """
    if not verbose or not _interactive():
        yield callback or (lambda report: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[message]}"),
    )
    with Bar(*columns, console=Console(file=cast(IO[str], _Terminal(sys.stderr)))) as bar:
        task = bar.add_task("", message="", total=None)

        def report(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.stage,
                completed=progress.done,
                total=progress.total,
                message=progress.message,
            )
            if callback is not None:
                callback(progress)

        yield report


def _interactive() -> bool:
    return is_terminal(sys.stderr) or "ipykernel" in sys.modules


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there, open, and somebody looks at it."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


class _Terminal:
    """Standard error; a fit is not lost because a bar cannot be drawn there any more."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
