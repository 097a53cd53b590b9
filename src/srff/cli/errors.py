"""How a command ends: exit codes, and errors in one sentence on standard error."""

from __future__ import annotations

import difflib
import signal
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from srff._utils.text import listed, one_line, shown

FAILED, WRONG_USE, INTERRUPTED, TERMINATED = 1, 2, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, which is to end a command as Ctrl-C does: with everything cleared away."""


class Refusal(Exception):
    """Why a command ends without its work done."""

    code = FAILED


class WrongUse(Refusal):
    """A command that was called with something that it does not accept."""

    code = WRONG_USE


@contextmanager
def plain_errors(
    debug: bool, stopped: str = "Stopped; nothing was written.", quiet: bool = False
) -> Iterator[None]:
    """Turn errors into a sentence and an exit code; ``stopped`` is what Ctrl-C and SIGTERM say.

    Warnings become a line on standard error unless ``quiet``; those about arithmetic, and of other
    libraries about themselves, are for ``debug``.
    """
    with warnings.catch_warnings(), _raised_sigterm():
        warnings.showwarning = _say_warning
        if not debug:
            warnings.simplefilter("ignore")
            if not quiet:
                warnings.simplefilter("default", UserWarning)
        try:
            yield
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise  # typer knows what to do
        except KeyboardInterrupt as stop:
            say(stopped)
            code = TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
            raise typer.Exit(code) from None
        except Exception as error:
            if debug:
                traceback.print_exc()
            say(one_line(_sentence(error)))
            raise typer.Exit(error.code if isinstance(error, Refusal) else FAILED) from None


@contextmanager
def _raised_sigterm() -> Iterator[None]:
    """Let SIGTERM raise :class:`Terminated`, where signals are this thread's business."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def say(text: str) -> None:
    """A line on standard error, if that can be written."""
    with suppress(OSError, ValueError):
        typer.echo(f"srff: {text}", err=True)


def no_such_column(option: str, name: str, columns: list[str]) -> str:
    """An error that says which columns there are."""
    near = [n for n in columns if n.strip().lower() == name.strip().lower()]
    near += difflib.get_close_matches(name, columns, 1)
    if near:
        return f"{option}: there is no column {shown(name)}; did you mean {shown(near[0])}?"
    known = listed([shown(n) for n in columns])
    return f"{option}: there is no column {shown(name)}; the columns are {known}."


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return str(error) or "There is not enough memory."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, Refusal | ValueError | OSError | ImportError):
        return str(error) or type(error).__name__
    return f"{type(error).__name__}: {error} (an error of srff; --debug shows where)."


def _say_warning(message: Warning | str, *where: object, **more: object) -> None:
    say(f"warning: {one_line(str(message))}")
