"""Replicates over worker processes, with a time limit for each, results appended as they come."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from srff._utils.progress import Callback, Progress
from srff.reproduction import replicate, results
from srff.reproduction.published import Cell
from srff.reproduction.replicate import Outcome, Settings

Task = tuple[Cell, int]


@dataclass
class _Worker:
    """A process that fits replicates one after another, and what it is at."""

    process: BaseProcess
    pipe: Connection
    task: Task | None = None
    begun: float = 0.0


def plan(
    cells: Iterable[Cell], replicates: int, finished: Iterable[Outcome], settings: Settings
) -> deque[Task]:
    """What is left to do: replicate by replicate, cells that cannot run left out.

    Data that were missing may have come: such a cell is tried again.  What was run in another
    way than these settings have is run anew.
    """
    tried = [
        o
        for o in finished
        if not o.status.startswith("no data")
        and (o.status != "ok" or o.way == replicate.way(o.method, settings))
    ]
    done = {(o.cell, o.replicate) for o in tried}
    hopeless = {o.cell for o in tried if o.status != "ok"}
    unique = list(dict.fromkeys(cells))
    return deque(
        (cell, r)
        for r in range(replicates)
        for cell in unique
        if (cell, r) not in done and cell not in hopeless
    )


def reproduce(
    cells: Iterable[Cell],
    replicates: int,
    settings: Settings,
    folder: Path,
    *,
    jobs: int = 1,
    time_limit: float | None = None,
    start_within: float | None = None,
    report: Callback = lambda progress: None,
) -> list[Outcome]:
    """Run what is not in the results file yet, and return all that is there then.

    A replicate that takes longer than ``time_limit`` seconds is stopped; the rest of a cell whose
    replicate could not run is left out, with the reason in its line.  None is begun after
    ``start_within`` seconds.
    """
    begun = time.monotonic()
    results.write_settings(folder, settings)
    tasks = plan(cells, replicates, results.read(folder), settings)
    total = len(tasks)
    context = multiprocessing.get_context("spawn")
    workers = [_start(context, settings) for _ in range(min(jobs, len(tasks)))]
    try:
        while tasks or any(w.task for w in workers):
            if start_within is not None and time.monotonic() - begun > start_within:
                total, tasks = total - len(tasks), deque()
                if not any(w.task for w in workers):
                    break
            for worker in workers:
                if worker.task is None and tasks:
                    worker.task, worker.begun = tasks.popleft(), time.monotonic()
                    worker.pipe.send(worker.task)
            busy = [w for w in workers if w.task is not None]
            ready = wait([w.pipe for w in busy], timeout=1.0)
            for worker in busy:
                outcome = _outcome(worker, worker.pipe in ready, time_limit)
                if outcome is None:
                    continue
                results.append(folder, outcome)
                worker.task = None
                if outcome.status != "ok":
                    tasks = deque(task for task in tasks if task[0] != outcome.cell)
                if outcome.status.startswith(("time", "crash")):
                    _stop(worker)
                    workers[workers.index(worker)] = _start(context, settings)
                done = total - len(tasks) - sum(w.task is not None for w in workers)
                report(Progress("reproduce", done, total, _shown(outcome)))
    finally:
        for worker in workers:
            _stop(worker)
    return results.read(folder)


def _outcome(worker: _Worker, ready: bool, time_limit: float | None) -> Outcome | None:
    """What a busy worker has come to; None while it may go on."""
    assert worker.task is not None
    if ready:
        return _receive(worker)
    if time_limit is not None and time.monotonic() - worker.begun > time_limit:
        return Outcome.failed(*worker.task, f"time: over {time_limit:g} s")
    return None


def _shown(outcome: Outcome) -> str:
    result = f"{outcome.rmse:.4g}" if outcome.status == "ok" else outcome.status[:40]
    which = f"{outcome.problem} n={outcome.n:,} {outcome.method} replicate {outcome.replicate}"
    return f"{which}: {result}"


def _start(context: multiprocessing.context.SpawnContext, settings: Settings) -> _Worker:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, settings), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.terminate()
    worker.process.join(5)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _receive(worker: _Worker) -> Outcome:
    assert worker.task is not None
    try:
        outcome = worker.pipe.recv()
    except EOFError:  # killed, most likely for its memory
        worker.process.join()
        code = worker.process.exitcode
        return Outcome.failed(*worker.task, f"crash: the worker ended with exit code {code}")
    assert isinstance(outcome, Outcome)
    return outcome


def _work(pipe: Connection, settings: Settings) -> None:
    """What a worker process does until its pipe closes."""
    import signal
    import warnings

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    try:
        while True:
            cell, number = pipe.recv()
            pipe.send(replicate.run(cell, number, settings))
    except EOFError:
        pass
