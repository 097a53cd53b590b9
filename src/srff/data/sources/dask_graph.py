"""Work on the partitions of a Dask collection, done by the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

NO_WORKERS_SECONDS = 60.0
"""How long a pass waits for a worker when there is none left."""

LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"


def on_partitions(
    client: Any, task: Callable[[Any, int], Any], partitions: list[Any]
) -> Iterator[Any]:
    """``task`` of each partition, in their order."""
    import dask

    with dask.config.set({LARGE_GRAPH: "1GiB"}):
        futures = client.compute(partition_tasks(task, partitions))
    try:
        while futures:
            yield _result(client, futures.pop(0))
    finally:
        client.cancel(futures)


def gathered(client: Any, work: Any) -> Any:
    """The result of one delayed object, computed by the workers."""
    import dask

    with dask.config.set({LARGE_GRAPH: "1GiB"}):
        future = client.compute(work)
    try:
        return _result(client, future)
    except BaseException:
        client.cancel([future])
        raise


def partition_tasks(task: Callable[[Any, int], Any], partitions: list[Any]) -> list[Any]:
    """``task`` of each partition, yet to be computed."""
    from dask.delayed import delayed

    shared = delayed(task, traverse=False, pure=False)
    return [shared(partition, number) for number, partition in enumerate(partitions)]


def _result(client: Any, future: Any) -> Any:
    """The result, or an error if there is no worker, or no scheduler, left to give it."""
    from distributed import TimeoutError as NotYet
    from distributed.client import FutureCancelledError

    alone_since: float | None = None
    while True:
        try:
            return future.result(timeout=1.0)
        except NotYet:
            gone = _gone(client)
            if gone is None:
                alone_since = None
                continue
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > NO_WORKERS_SECONDS:
                raise RuntimeError(
                    f"{gone} gone for {NO_WORKERS_SECONDS:.0f} s: the pass cannot end."
                ) from None
        except FutureCancelledError as error:
            raise RuntimeError(
                "The Dask cluster dropped the pass: its scheduler was lost or the client closed "
                f"({error})"
            ) from None


def _gone(client: Any) -> str | None:
    """What is missing for work to go on."""
    try:
        n_workers = client.run_on_scheduler(_count_workers)
    except (OSError, ValueError):
        return "The Dask scheduler has been"
    return None if n_workers else "All Dask workers have been"


def _count_workers(dask_scheduler: Any) -> int:
    return len(dask_scheduler.workers)
