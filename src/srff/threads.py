"""Threads for blocks of rows, and one BLAS thread under each of them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """Ordered map over threads with a bounded look-ahead, which leaves no thread behind.

    With one thread, or one item, the caller's own thread does the work.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``function(item)`` in the order of the items; at most ``n_threads + 1`` results wait."""
        if self.n_threads == 1 or (isinstance(items, Sized) and len(items) == 1):
            yield from map(function, items)
            return
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.n_threads, thread_name_prefix="srff")
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(self._executor.submit(function, item))
                if len(waiting) > self.n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancel what has not begun, wait for what has, stop the threads."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


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


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: blocks fill the cores, and sums do not depend on their number."""
    return _controller().limit(limits=1, user_api="blas")
