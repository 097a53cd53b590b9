"""Threads for blocks of rows or for independent tasks, and one BLAS thread under each of them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event, Lock, local
from typing import Any, ClassVar, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from srff._utils.resource import Resource

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads(Resource):
    """Ordered map over threads with a bounded look-ahead, which leaves no thread behind.

    With one thread, or one item, the caller's own thread does the work, and so it does within a
    task of :func:`together`.  All that ask for the same number of threads share them: each thread
    keeps some memory for itself.
    """

    _shared: ClassVar[dict[int, tuple[ThreadPoolExecutor, int]]] = {}
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``function(item)`` in the order of the items; at most ``n_threads + 1`` results wait."""
        single = self.n_threads == 1 or (isinstance(items, Sized) and len(items) == 1)
        alone = single or getattr(_task, "stop", None) is not None
        return map(function, items) if alone else self._over_threads(function, items)

    def _over_threads(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        executor = self._executor = self._executor or self._acquired()
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
        if self._executor is None:
            return
        self._executor = None
        with self._lock:
            executor, users = self._shared.pop(self.n_threads)
            if users > 1:
                self._shared[self.n_threads] = executor, users - 1
                return
        executor.shutdown(wait=True)

    def _acquired(self) -> ThreadPoolExecutor:
        with self._lock:
            executor, users = self._shared.get(self.n_threads, (None, 0))
            if executor is None:
                executor = ThreadPoolExecutor(self.n_threads, thread_name_prefix="srff")
            self._shared[self.n_threads] = executor, users + 1
            return executor


_task = local()
"""Of a thread that does a task beside others: the event that tells it to stop."""


class Stopped(Exception):
    """Raised in a task whose neighbour failed: nobody waits for its result any more."""


def together(tasks: Sequence[Callable[[], Result]], n_threads: int) -> list[Result]:
    """The results of independent tasks in their order, each task by one thread.

    When one fails, or the caller is interrupted, the others end at their next
    :func:`stop_if_asked`, and the failure is raised.  Within a task they run one after the other.
    """
    if n_threads == 1 or len(tasks) <= 1 or getattr(_task, "stop", None) is not None:
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


def count_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None means every core that this process may use."""
    return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))


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
        if not _Blas.users:
            _Blas.limit = _controller().limit(limits=1, user_api="blas")
        _Blas.users += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.users -= 1
            if not _Blas.users:
                _Blas.limit.restore_original_limits()
