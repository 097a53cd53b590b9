"""Threads for blocks of rows or for independent tasks, and one BLAS thread under each of them.

A process that is forked has the caller's thread alone: it begins with pools and locks of its own.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import parent_process
from numbers import Integral
from threading import Event, Lock, local
from typing import Any, ClassVar, TypeVar

from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from srff._utils.resource import Resource

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads(Resource):
    """Ordered map over threads with a bounded look-ahead, which leaves no thread behind.

    With one thread, or one item, the caller's own thread does the work, and so it does within a
    task of :func:`together` or of another pool, where all threads may be waiting for each other.
    All that ask for the same number of threads share them: each thread keeps some memory for
    itself.
    """

    _shared: ClassVar[dict[int, tuple[ThreadPoolExecutor, int]]] = {}
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``function(item)`` in the order of the items; at most ``n_threads + 1`` results wait."""
        single = self.n_threads == 1 or (isinstance(items, Sized) and len(items) == 1)
        alone = single or _within_threads()
        return map(function, items) if alone else self._over_threads(function, items)

    def _over_threads(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        executor = self._acquired()
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(executor.submit(function, item))
                if len(waiting) > self.n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            for future in waiting:
                future.cancel()
            wait(waiting)
            self.close()
            raise

    def close(self) -> None:
        """Stop the threads, unless others use them."""
        if not self._holds():
            return
        self._executor = None
        with self._lock:
            executor, users = self._shared.pop(self.n_threads)
            if users > 1:
                self._shared[self.n_threads] = executor, users - 1
                return
        executor.shutdown(wait=True)

    def _acquired(self) -> ThreadPoolExecutor:
        if self._executor is not None and self._holds():
            return self._executor
        with self._lock:
            executor, users = self._shared.get(self.n_threads, (None, 0))
            if executor is None:
                executor = ThreadPoolExecutor(
                    self.n_threads, thread_name_prefix="srff", initializer=_begin_in_pool
                )
            self._shared[self.n_threads] = executor, users + 1
        self._executor, self._process = executor, os.getpid()
        return executor

    def _holds(self) -> bool:
        """Whether there are threads in use; those of a process that was forked are not here."""
        return self._executor is not None and self._process == os.getpid()


_task = local()
"""Of a thread: the event that tells its task to stop, if it does one beside others; whether it is
one of a pool; and how often it holds BLAS down."""


def _begin_in_pool() -> None:
    _task.in_pool = True


def _within_threads() -> bool:
    """Whether this thread is one of several at work, so that what it begins is its own work."""
    return getattr(_task, "stop", None) is not None or getattr(_task, "in_pool", False)


class Stopped(Exception):
    """Raised in a task whose neighbour failed: nobody waits for its result any more."""


def together(tasks: Sequence[Callable[[], Result]], n_threads: int) -> list[Result]:
    """The results of independent tasks in their order, each task by one thread.

    When one fails, or the caller is interrupted, the others end at their next
    :func:`stop_if_asked`, and the failure is raised.  Within a task they run one after the other.
    """
    if n_threads == 1 or len(tasks) <= 1 or _within_threads():
        return [task() for task in tasks]
    stop = Event()

    def work(task: Callable[[], Result]) -> Result:
        _task.stop = stop
        return task()

    with ThreadPoolExecutor(min(n_threads, len(tasks)), thread_name_prefix="srff-task") as pool:
        futures = [pool.submit(work, task) for task in tasks]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in futures if future in done and future.exception()]
            return [future.result() for future in failed or futures]
        finally:
            stop.set()
            for future in futures:
                future.cancel()


def stop_if_asked() -> None:
    """End a task that nobody waits for."""
    stop = getattr(_task, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def row_blocks(n_rows: int, n_columns: int, n_entries: int) -> list[slice]:
    """Runs of rows with about ``n_entries`` numbers each."""
    size = max(1, n_entries // max(n_columns, 1))
    return [slice(i, min(i + size, n_rows)) for i in range(0, n_rows, size)]


def count_threads(n_jobs: Any) -> int:
    """Threads for ``n_jobs``: None means every core that may be used, -1 too, -2 one less."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs is True or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be None, a number of threads, or -1 for all cores, -2 for all "
            "but one and so on."
        )
    count = -1 if n_jobs is None else int(n_jobs)
    return count if count > 0 else max(1, _usable_cores() + 1 + count)


def _usable_cores() -> int:
    """The cores that are left to this process, or to this worker of joblib among others."""
    cores = int(cpu_count())
    if not getattr(get_active_backend()[0], "nesting_level", None):
        return cores
    shares = [os.environ.get(f"{name}_NUM_THREADS", "") for name in WORKER_SHARES]
    given = [int(share) for share in shares if share.isdecimal()]
    # Worker processes are told their share; threads side by side fill the cores themselves.
    return min(cores, max(given)) if given and parent_process() is not None else 1


WORKER_SHARES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")
"""What joblib tells its worker processes their share of the cores by."""


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _Blas:
    """BLAS has one number of threads for the whole process: who holds it down."""

    lock: ClassVar[Lock] = Lock()
    users: ClassVar[int] = 0
    limit: ClassVar[Any] = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: blocks fill the cores, and sums do not depend on their number.

    Of threads that ask for it at the same time the first sets it and the last sets it back.
    """
    with _Blas.lock:
        if _Blas.limit is None:
            _Blas.limit = _controller().limit(limits=1, user_api="blas")
        _Blas.users += 1
    _task.blas = getattr(_task, "blas", 0) + 1
    try:
        yield
    finally:
        _task.blas -= 1
        with _Blas.lock:
            _Blas.users -= 1
            if not _Blas.users:
                _Blas.limit.restore_original_limits()
                _Blas.limit = None


class _Quiet:
    """Who may change what the process does with warnings."""

    lock: ClassVar[Lock] = Lock()


@contextmanager
def without_warnings() -> Iterator[None]:
    """No warning of what runs within, on whatever thread.

    One thread at a time: filters are the process's, and two that put them back in the order in
    which they came would leave it without warnings.
    """
    with _Quiet.lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _begin_forked() -> None:
    """What a forked process begins with: no threads but this one, and no lock that another held.

    A limit of BLAS that other threads had asked for is set back when the next one ends.
    """
    Threads._shared, Threads._lock = {}, Lock()
    _Blas.lock, _Blas.users = Lock(), getattr(_task, "blas", 0)
    _Quiet.lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_forked)
