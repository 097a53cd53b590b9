"""The steps of a fit on disk, so that a fit that was killed goes on where it was.

A fit is deterministic, and long only in a few kinds of steps whose results are small: a descent at
one alpha, an iteration on the simplex, the last solve.  Their results are written in their order.
A fit that is started again takes them in the same order in place of the work, and goes on with the
first one that is not there.

A step is a function without arguments whose result is a frozen dataclass of arrays, numbers and
tuples of these.  It knows nothing of this: a search hands it to :meth:`Checkpoint.run`.

A folder holds ``fit.json``, which says what fit it is of, and numbered files of steps
(:mod:`srff._utils.steps`).  All are written whole or not at all, with a checksum; see
:mod:`srff._utils.atomic_files`.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import local
from typing import Any, Protocol, TypeVar

import numpy as np

from srff._utils.atomic_files import DamagedFile, read_whole, remove_parts, write_whole
from srff._utils.fingerprint import Indescribable, described
from srff._utils.resource import Resource
from srff._utils.steps import Step, packed, parsed, readable, rebuilt, recorded, unpacked
from srff._utils.threads import together
from srff._utils.version import __version__

CHECKPOINT_FORMAT = 3

SECONDS, SHARE = 1.0, 0.01
"""Results are written when the last ones were so many seconds ago, or this share of the fit's
time if that is more: a long fit does not leave thousands of files."""

STEPS = re.compile(r"(\d{6,})\.steps")
OURS = re.compile(rf"fit\.json|{STEPS.pattern}")
"""The names of the files that are written."""

WRITABLE = "A folder is needed that can be read and written"

Result = TypeVar("Result")
State = TypeVar("State")


class Counted(Protocol):
    """What counts its passes."""

    n_passes: int


class CheckpointError(ValueError):
    """A checkpoint that is of another fit, damaged, or cannot be kept."""


class Checkpoint(Resource):
    """Without a folder: every step is done, nothing is written."""

    seed: int | None = None
    """What stands for ``random_state=None``."""

    def begin(self, data: Callable[[], dict[str, Any]]) -> None:
        """Say what the data are, before the first step."""

    def run(
        self,
        kind: type[Result],
        label: str,
        counted: Counted,
        work: Callable[[], Result],
        fits: Callable[[Result], bool] = lambda result: True,
    ) -> Result:
        """The result of ``work``, which is of this kind.

        ``label`` says what the step is; the passes of ``counted`` are part of the result, and
        ``fits`` tells whether a result that was kept can be one of this step.
        """
        return work()

    def together(
        self, tasks: Sequence[Callable[[], Result]], n_threads: int, counted: Sequence[Counted]
    ) -> list[Result]:
        """The results of independent tasks, side by side, whose steps are those of ``counted``."""
        return together(tasks, n_threads)

    def wrapped(
        self,
        advance: Callable[[State], State],
        label: Callable[[State], str],
        counted: Counted,
    ) -> Callable[[State], State]:
        """An iteration, each of them a step: its label is made of the state before it."""

        def step(state: State) -> State:
            work, fits = partial(advance, state), partial(may_follow, state)
            return self.run(type(state), label(state), counted, work, fits)

        return step

    def close(self) -> None:
        """Write what is not written yet."""


class FolderCheckpoint(Checkpoint):
    """Steps kept in a folder.

    ``identity`` are the parameters, by their names, that a fit's result depends on.  A folder of
    another fit, of another version or with a damaged file is refused.
    """

    def __init__(self, folder: str | os.PathLike, identity: Mapping[str, Any]) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self._folder)
        except OSError as error:
            raise self._unwritable(error, WRITABLE) from None
        self._identity = {"format": CHECKPOINT_FORMAT, "version": __version__, **identity}
        self._known: dict[str, Any] | None = None
        self._waiting: deque[tuple[Path, Step]] = deque()
        self._new: list[Step] = []
        self._n_files = 0
        self._begun = self._written = time.monotonic()
        self._ended = self._broken = False
        self._task = local()
        try:
            self._read()
        except OSError as error:
            self._unlock()
            raise self._unwritable(error, WRITABLE) from None
        except BaseException:
            self._unlock()
            raise
        if self._known is None:
            self.seed = int.from_bytes(os.urandom(4), "little")
        else:
            self.seed = self._known["seed"]

    def begin(self, data: Callable[[], dict[str, Any]]) -> None:
        """Compare the data with those of the folder, or note them."""
        if self._known is not None:
            self._compare(self._known["data"], data())
            return
        self._known = {"identity": self._identity, "seed": self.seed, "data": data()}
        self._write("fit.json", json.dumps(self._known, indent=1).encode())

    def run(
        self,
        kind: type[Result],
        label: str,
        counted: Counted,
        work: Callable[[], Result],
        fits: Callable[[Result], bool] = lambda result: True,
    ) -> Result:
        """The result of an earlier run, or that of ``work``."""
        if self._waiting:
            file, (known, n_passes, record) = self._waiting.popleft()
            if known != label:
                raise self._refused(f"a step is {known!r} there and {label!r} here")
            counted.n_passes += n_passes
            with self._readable(file):
                kept = rebuilt(kind, record or {})
            if not fits(kept):
                raise self._refused(f"{file}: a step has arrays of other shapes than this fit")
            return kept
        before = counted.n_passes
        result = work()
        step = Step(label, counted.n_passes - before, readable(kind, recorded(result)))
        of_task = getattr(self._task, "steps", None)
        if of_task is None:
            self._keep([step])
        else:
            of_task.append((counted, step))
        return result

    def together(
        self, tasks: Sequence[Callable[[], Result]], n_threads: int, counted: Sequence[Counted]
    ) -> list[Result]:
        """The tasks that an earlier run has done, then the others; their steps in their order.

        Of tasks side by side nobody knows whose a pass is: all are noted with the last step.
        """
        if getattr(self._task, "steps", None) is not None:
            return [task() for task in tasks]  # within a task, and their steps are among its own
        results: list[Result] = []
        while len(results) < len(tasks) and (self._waiting or n_threads == 1):
            results.append(tasks[len(results)]())
        before = [each.n_passes for each in counted]
        done = together([partial(self._apart, t) for t in tasks[len(results) :]], n_threads)
        steps = [step for _, of_task in done for step in of_task]
        passes = {id(c): c.n_passes - b for c, b in zip(counted, before, strict=True)}
        noted = [step._replace(n_passes=passes.pop(id(c), 0)) for c, step in reversed(steps)]
        self._keep(noted[::-1])
        return results + [result for result, _ in done]

    def _apart(self, task: Callable[[], Result]) -> tuple[Result, list[Any]]:
        """The result of a task and its steps."""
        steps = self._task.steps = []
        try:
            return task(), steps
        finally:
            self._task.steps = None

    def _keep(self, steps: list[Step]) -> None:
        """Note steps, and write them if it is time; the first that cannot be read ends them."""
        for step in steps:
            self._ended = self._ended or step.record is None
            self._new += [] if self._ended else [step]
        now = time.monotonic()
        if now - self._written >= max(SECONDS, SHARE * (now - self._begun)):
            self._flush()

    def close(self) -> None:
        """Write the last results, let others have the folder."""
        try:
            if not self._broken:
                self._flush()
        finally:
            self._unlock()

    def _flush(self) -> None:
        if self._new:
            self._write(f"{self._n_files:06}.steps", packed(self._new))
            self._n_files += 1
            self._new = []
        self._written = time.monotonic()

    def _write(self, name: str, content: bytes) -> None:
        try:
            write_whole(self._folder / name, content)
        except OSError as error:
            self._broken = True
            intact = "What was written before is intact: the fit goes on from there when it is "
            raise self._unwritable(error, f"{intact}started again") from None

    def _unwritable(self, error: OSError, more: str) -> OSError:
        reason = error.strerror or error
        text = f"checkpoint={str(self._folder)!r} cannot be written: {reason}. {more}"
        return OSError(error.errno, text)

    def _read(self) -> None:
        """What an earlier run left."""
        remove_parts(self._folder, OURS)  # of a run that was killed while writing
        head = self._folder / "fit.json"
        numbered = [file for file in self._folder.iterdir() if STEPS.fullmatch(file.name)]
        files = sorted(numbered, key=lambda file: int(file.name.partition(".")[0]))
        if not os.path.lexists(head):
            if files:
                raise self._refused("fit.json is missing")
            return
        with self._readable(head):
            known = _checked_head(parsed(read_whole(head)))
        self._compare(known["identity"], self._identity)
        for number, file in enumerate(files):
            if file.name != f"{number:06}.steps":
                raise self._refused(f"{number:06}.steps is missing")
            with self._readable(file):
                self._waiting.extend((file, step) for step in unpacked(read_whole(file)))
        self._known, self._n_files = known, len(files)

    @contextmanager
    def _readable(self, file: Path) -> Iterator[None]:
        """Errors of a file as one of the checkpoint that names it."""
        try:
            yield
        except DamagedFile as error:
            reason = str(error).removesuffix(".")
            where = "" if str(file) in reason else f"{file}: "
            raise self._refused(where + reason) from None
        except OSError as error:
            raise self._refused(f"{file} cannot be read: {error.strerror or error}") from None

    def _compare(self, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
        for name in [*here, *(n for n in there if n not in here)]:
            if there.get(name) != here.get(name):
                values = f"{name} is {there.get(name)} there and {here.get(name)} here"
                raise self._refused(f"it is of another fit: {values}")

    def _refused(self, reason: str) -> CheckpointError:
        return CheckpointError(
            f"checkpoint={str(self._folder)!r} cannot be gone on from: {reason}. Delete the folder "
            "or choose another one to start anew."
        )

    def _unlock(self) -> None:
        if self._lock is not None:
            _unlocked(self._lock)
            self._lock = None


def have_shapes(arrays: Sequence[np.ndarray], like: Sequence[np.ndarray]) -> bool:
    """Whether arrays have the shapes of others."""
    return [array.shape for array in arrays] == [array.shape for array in like]


def may_follow(state: Any, following: Any) -> bool:
    """Whether one state of an iteration can come after another: one further, or the end."""
    pairs = zip(vars(state).values(), vars(following).values(), strict=True)
    if not all(a.shape == b.shape for a, b in pairs if isinstance(a, np.ndarray)):
        return False
    steps = following.n_iter - state.n_iter
    return steps == 1 or (steps == 0 and following.converged)


def _checked_head(known: Any) -> dict[str, Any]:
    """What ``fit.json`` says: the parameters, the seed and the data."""
    parts = known if isinstance(known, dict) else {}
    seed = parts.get("seed")
    if not all(isinstance(parts.get(name), dict) for name in ("identity", "data")):
        raise DamagedFile("it does not say what fit it is of")
    if not (type(seed) is int and 0 <= seed < 2**32):
        raise DamagedFile(f"it has the seed {seed!r}")
    return parts


def _locked(folder: Path) -> int | None:
    """A lock that ends with the process, where the system has such."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise CheckpointError(
            f"checkpoint={str(folder)!r} is in use by another fit that is running."
        ) from None
    except OSError:  # a file system without locks
        pass
    return descriptor


def _unlocked(descriptor: int) -> None:
    """Give a lock back, also where a process that was forked meanwhile has it still."""
    import fcntl

    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def described_parameters(folder: Any, named: Mapping[str, Any]) -> dict[str, str]:
    """Parameters as texts, for the identity of a fit."""
    texts = {}
    for name, value in named.items():
        try:
            texts[name] = described(value)
        except Indescribable as error:
            raise CheckpointError(
                f"checkpoint={str(folder)!r} needs parameters that can be told from others when "
                f"the fit goes on in another process; {name} cannot be: {error}."
            ) from None
    return texts


NO_CHECKPOINT = Checkpoint()
"""For a fit without a checkpoint."""
