"""Standard output and standard error that are closed, or on a disk that is full.

What a command prints there is lost, and it says so and fails; notes on standard error are lost
without a word.  What a command writes to files is not touched by either.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import typer

from srff._utils.progress import is_terminal
from srff.cli.errors import FAILED, say

NAME = "standard output"


class Output(io.RawIOBase):
    """The bytes of standard output; an error says that it is one of it."""

    nowhere = False
    """Whether what is written is dropped: Python writes what is left once more at its end."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def writable(self) -> bool:
        """True."""
        return True

    def fileno(self) -> int:
        """That of the stream."""
        if self._stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), NAME)
        return self._stream.fileno()

    def write(self, content: Any) -> int:
        """As the system does it, or as it would if there were such a stream."""
        if self.nowhere:
            return len(content)
        try:
            return os.write(self.fileno(), content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, NAME) from None


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Around a whole command: output that cannot be written ends in a sentence and a code."""
    before = sys.stdout
    output = Output(before)
    if not is_terminal(sys.stdout):
        known = sys.stdout or sys.__stderr__
        letters = (known.encoding, known.errors) if known else ("utf-8", "strict")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(output), *letters)
    try:
        try:
            yield
        except SystemExit as end:
            if end.code:  # the command has said why
                raise
        sys.stdout.flush()
    except OSError as error:
        if error.filename != NAME:
            raise
        if not isinstance(error, BrokenPipeError):  # whoever reads has had enough, and knows it
            say(f"{NAME}: {error.strerror}.")
        raise SystemExit(FAILED) from None
    finally:
        output.nowhere, sys.stdout = True, before
        _give_up(sys.stderr)


def _give_up(stream: TextIO | None) -> None:
    """Let what a broken stream holds go nowhere."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


class App(typer.Typer):
    """Commands whose streams may be broken."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run the command that the shell was given."""
        with guarded_streams():
            return super().__call__(*arguments, **options)
