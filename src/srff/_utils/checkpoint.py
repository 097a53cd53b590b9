"""The steps of a fit on disk, so that a fit that was killed goes on where it was.

A fit is deterministic, and long only in a few kinds of steps whose results are small: a descent at
one alpha, an iteration on the simplex, the last solve.  Their results are written in their order.
A fit that is started again takes them in the same order in place of the work, and goes on with the
first one that is not there.

A step is a function without arguments whose result is a frozen dataclass of arrays, numbers and
tuples of these.  It knows nothing of this: a search hands it to :meth:`Checkpoint.run`.

A folder holds ``fit.json``, which says what fit it is of, and numbered files of steps.  All are
written whole or not at all, with a checksum; see :mod:`srff._utils.atomic_files`.
"""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import local
from typing import Any, Protocol, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from srff._utils.atomic_files import DamagedFile, read_whole, write_whole
from srff._utils.fingerprint import Indescribable, described
from srff._utils.resource import Resource
from srff._utils.threads import together
from srff._utils.version import __version__

CHECKPOINT_FORMAT = 2

SECONDS, SHARE = 1.0, 0.01
"""Results are written when the last ones were so many seconds ago, or this share of the fit's
time if that is more: a long fit does not leave thousands of files."""

Record = dict[str, np.ndarray]
"""The result of a step as arrays."""

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
        self, kind: type[Result], label: str, counted: Counted, work: Callable[[], Result]
    ) -> Result:
        """The result of ``work``, which is of this kind.

        ``label`` says what the step is; the passes of ``counted`` are part of the result.
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
            return self.run(type(state), label(state), counted, partial(advance, state))

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
        except OSError as error:
            raise self._unwritable(error) from None
        self._lock = _locked(self._folder)
        self._identity = {"format": CHECKPOINT_FORMAT, "version": __version__, **identity}
        self._known: dict[str, Any] | None = None
        self._waiting: deque[tuple[str, int, Record]] = deque()
        self._new: list[tuple[str, int, Record]] = []
        self._n_files = 0
        self._begun = self._written = time.monotonic()
        self._broken = False
        self._task = local()
        try:
            self._read()
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
        self, kind: type[Result], label: str, counted: Counted, work: Callable[[], Result]
    ) -> Result:
        """The result of an earlier run, or that of ``work``."""
        if self._waiting:
            known, n_passes, record = self._waiting.popleft()
            if known != label:
                raise self._refused(f"a step is {known!r} there and {label!r} here")
            counted.n_passes += n_passes
            return _rebuilt(kind, record)
        before = counted.n_passes
        result = work()
        step = label, counted.n_passes - before, _recorded(result)
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
        results: list[Result] = []
        while len(results) < len(tasks) and (self._waiting or n_threads == 1):
            results.append(tasks[len(results)]())
        before = [each.n_passes for each in counted]
        done = together([partial(self._apart, t) for t in tasks[len(results) :]], n_threads)
        steps = [step for _, of_task in done for step in of_task]
        passes = {id(c): c.n_passes - b for c, b in zip(counted, before, strict=True)}
        noted = [(label, passes.pop(id(c), 0), record) for c, (label, _, record) in reversed(steps)]
        self._keep(noted[::-1])
        return results + [result for result, _ in done]

    def _apart(self, task: Callable[[], Result]) -> tuple[Result, list[Any]]:
        """The result of a task and its steps."""
        steps = self._task.steps = []
        try:
            return task(), steps
        finally:
            self._task.steps = None

    def _keep(self, steps: list[tuple[str, int, Record]]) -> None:
        """Note steps, and write them if it is time."""
        self._new += steps
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
            self._write(f"{self._n_files:06}.steps", _packed(self._new))
            self._n_files += 1
            self._new = []
        self._written = time.monotonic()

    def _write(self, name: str, content: bytes) -> None:
        try:
            write_whole(self._folder / name, content)
        except OSError as error:
            self._broken = True
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> OSError:
        return OSError(
            error.errno,
            f"checkpoint={str(self._folder)!r} cannot be written: {error.strerror or error}. What "
            "was written before is intact: the fit goes on from there when it is started again",
        )

    def _read(self) -> None:
        """What an earlier run left."""
        for part in self._folder.glob(".*.part"):  # of a run that was killed while writing
            part.unlink()
        head = self._folder / "fit.json"
        files = sorted(self._folder.glob("*.steps"))
        if not head.exists():
            if files:
                raise self._refused("fit.json is missing")
            return
        try:
            known = json.loads(read_whole(head))
            self._compare(known["identity"], self._identity)
            for number, file in enumerate(files):
                if file.name != f"{number:06}.steps":
                    raise self._refused(f"{number:06}.steps is missing")
                self._waiting.extend(_unpacked(read_whole(file)))
        except (DamagedFile, KeyError, TypeError, json.JSONDecodeError) as error:
            raise self._refused(str(error).removesuffix(".")) from None
        self._known, self._n_files = known, len(files)

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
            os.close(self._lock)
            self._lock = None


def _recorded(result: Any) -> Record:
    """The fields of a result as arrays; those of a tuple of arrays are numbered."""
    record: Record = {}
    for name, value in vars(result).items():
        if isinstance(value, tuple) and any(isinstance(part, np.ndarray) for part in value):
            record |= {f"{name}/{k}": part for k, part in enumerate(value)}
        else:
            record[name] = np.asarray(value)
    return record


def _rebuilt(kind: type[Result], record: Record) -> Result:
    """The result that a record was made of."""

    def field(name: str, hint: Any) -> Any:
        if hint is np.ndarray:
            return record[name]
        if get_origin(hint) is not tuple:
            return hint(record[name].item())
        many = get_args(hint)[0] is np.ndarray
        return _numbered(record, name) if many else tuple(record[name].tolist())

    return kind(**{name: field(name, hint) for name, hint in get_type_hints(kind).items()})


def _numbered(record: Record, name: str) -> tuple[np.ndarray, ...]:
    """The arrays of one field, in their order."""
    numbers = sorted(int(key.split("/")[1]) for key in record if key.startswith(f"{name}/"))
    return tuple(record[f"{name}/{number}"] for number in numbers)


def _packed(steps: list[tuple[str, int, Record]]) -> bytes:
    buffer = io.BytesIO()
    about = json.dumps([[label, n_passes, list(record)] for label, n_passes, record in steps])
    arrays = {
        f"{number}.{name}": array
        for number, (_, _, record) in enumerate(steps)
        for name, array in record.items()
    }
    np.savez(buffer, allow_pickle=False, about=np.array(about), **arrays)
    return buffer.getvalue()


def _unpacked(content: bytes) -> list[tuple[str, int, Record]]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return [
                (label, n_passes, {name: stored[f"{number}.{name}"] for name in names})
                for number, (label, n_passes, names) in enumerate(json.loads(str(stored["about"])))
            ]
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DamagedFile(f"steps cannot be read: {error}") from None


def _locked(folder: Path) -> int | None:
    """A lock that ends with the process, where the system has such."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise CheckpointError(
            f"checkpoint={str(folder)!r} is in use by another fit that is running."
        ) from None
    return descriptor


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
