"""Measure error and variable selection of srff and its peers, each cell in its own process.

    python benchmarks/accuracy/run.py --problems 'se1-1k' 'friedman*' --methods srff lightgbm

A cell is a problem, a method and a seed.  Its process is ended at the time or memory limit; its
line is appended to the results at once, and a rerun leaves out what is there.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from machines import machine

HERE = Path(__file__).resolve().parent
COLUMNS = (
    "problem",
    "method",
    "seed",
    "n",
    "d",
    "rmse",
    "rmse_mean",
    "floor",
    "n_selected",
    "n_true",
    "true_selected",
    "false_selected",
    "exact",
    "seconds",
    "peak_mb",
    "status",
    "device",
    "selected",
    "settings",
    "versions",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PAGE, POLL = os.sysconf("SC_PAGE_SIZE"), 0.1


@dataclass(frozen=True)
class Benchmark:
    """What is run: its folder with ``cell.py``, its problems and methods, its results' columns.

    ``figure`` is the column that is shown while it runs.
    """

    folder: Path
    problems: Mapping[str, Any]
    methods: Mapping[str, Any]
    columns: tuple[str, ...]
    figure: str


@dataclass(frozen=True)
class Cell:
    """A problem, a method and a seed."""

    problem: str
    method: str
    seed: int


@dataclass(frozen=True)
class Limits:
    """What a cell may use."""

    seconds: float
    megabytes: float
    threads: int
    device: str


@dataclass
class Running:
    """A cell under way."""

    cell: Cell
    process: subprocess.Popen
    output: IO[bytes]
    log: IO[bytes]
    begun: float
    stopped: str = ""
    """Why it was ended, if it was."""


def arguments(argv: Sequence[str] | None = None, folder: Path = HERE) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("--problems", nargs="+", default=["*"], help="names or globs")
    add("--methods", nargs="+", default=["*"], help="names or globs")
    add("--seeds", default="0-4", help="such as 0-4 or 0,3,7")
    add("--jobs", type=int, default=1, help="cells at a time")
    add("--threads", type=int, default=1, help="threads of a cell")
    add("--time-limit", type=float, default=3600, help="seconds for a cell")
    add("--memory-limit", type=float, default=16000, help="MB for a cell")
    add("--device", default="cpu", help="cpu, or cuda for the methods that can")
    add("--out", type=Path, default=folder / "results.csv")
    add("--retry", action="store_true", help="run cells again that did not end well")
    add("--list", action="store_true", help="show the cells that would run")
    return parser.parse_args(argv)


def parse_seeds(text: str) -> list[int]:
    """``"0-2,7"`` as 0, 1, 2, 7."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def matching(names: Iterable[str], globs: Sequence[str]) -> list[str]:
    """Names that match a glob; a glob that matches nothing is an error."""
    names = list(names)
    for glob in globs:
        if not fnmatch.filter(names, glob):
            raise SystemExit(f"{glob!r} matches none of {', '.join(names)}.")
    return [name for name in names if any(fnmatch.fnmatch(name, glob) for glob in globs)]


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a results file; a last line that was cut off is taken off it."""
    if not path.exists():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        path.write_bytes(whole)
    return list(csv.DictReader(whole.decode().splitlines()))


def append(path: Path, row: dict[str, Any], columns: Sequence[str] = COLUMNS) -> None:
    """Write one line whole."""
    new = not path.exists() or path.stat().st_size == 0
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def plan(
    cells: Iterable[Cell], finished: Iterable[dict[str, str]], retry: bool, cost: Any
) -> list[Cell]:
    """What is left to do, the longest first."""
    done = {
        (row["problem"], row["method"], int(row["seed"]))
        for row in finished
        if row["status"] == "ok" or not (retry or row["status"].startswith("no data"))
    }
    left = [cell for cell in cells if (cell.problem, cell.method, cell.seed) not in done]
    return sorted(left, key=cost, reverse=True)


def start(cell: Cell, limits: Limits, folder: Path = HERE) -> Running:
    """Start the process of a cell, in a group of its own."""
    environment = os.environ | dict.fromkeys(THREADS, str(limits.threads))
    command = [sys.executable, str(folder / "cell.py"), cell.problem, cell.method, str(cell.seed)]
    command += [str(limits.threads), limits.device]
    files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115, closed with the cell
    process = subprocess.Popen(
        command, stdout=files[0], stderr=files[1], env=environment, start_new_session=True
    )
    return Running(cell, process, *files, time.monotonic())


def resident_mb(pid: int) -> float:
    """Memory of a process now; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 2**20
    except (OSError, IndexError, ValueError):
        return 0.0


def poll(
    running: Running, limits: Limits, columns: Sequence[str] = COLUMNS
) -> dict[str, Any] | None:
    """The line of a cell that has ended, or None; one over a limit is ended."""
    pid, status, usage = os.wait4(running.process.pid, os.WNOHANG)
    if pid == 0:
        if time.monotonic() - running.begun > limits.seconds:
            running.stopped = f"time: over {limits.seconds:g} s"
        elif resident_mb(running.process.pid) > limits.megabytes:
            running.stopped = f"memory: over {limits.megabytes:g} MB"
        else:
            return None
        os.killpg(running.process.pid, signal.SIGKILL)
        pid, status, usage = os.wait4(running.process.pid, 0)
    running.process.returncode = os.waitstatus_to_exitcode(status)
    return line(running, usage.ru_maxrss / 1024, columns)


def line(running: Running, peak_mb: float, columns: Sequence[str]) -> dict[str, Any]:
    """The line of a cell whose process has ended."""
    figures: dict[str, Any] = {"seconds": time.monotonic() - running.begun}
    if running.stopped:
        figures["status"] = running.stopped
    else:
        figures |= result(running)
    running.output.close()
    running.log.close()
    row = figures | vars(running.cell) | {"peak_mb": round(peak_mb)}
    return {name: written(row.get(name)) for name in columns}


def result(running: Running) -> dict[str, Any]:
    """What the process printed last, or how it ended."""
    running.output.seek(0)
    lines = running.output.read().decode(errors="replace").strip().splitlines()
    if running.process.returncode == 0 and lines:
        return dict(json.loads(lines[-1]))
    running.log.seek(0)
    last = running.log.read().decode(errors="replace").strip().splitlines()[-1:]
    return {"status": f"crash: exit code {running.process.returncode} {' '.join(last)}"}


def written(value: Any) -> Any:
    """A value as the results file has it: nothing for nan, six digits, one line."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(value.split()) if isinstance(value, str) else value


def run(cells: list[Cell], limits: Limits, jobs: int, out: Path, benchmark: Benchmark) -> None:
    """Run cells, ``jobs`` at a time, and append their lines as they come."""
    waiting, busy, done = list(reversed(cells)), [], 0
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                busy.append(start(waiting.pop(), limits, benchmark.folder))
            time.sleep(POLL)
            for running in list(busy):
                row = poll(running, limits, benchmark.columns)
                if row is None:
                    continue
                busy.remove(running)
                append(out, row, benchmark.columns)
                done += 1
                print(f"{done}/{len(cells)} {shown(row, benchmark.figure)}", flush=True)
    finally:
        for running in busy:
            os.killpg(running.process.pid, signal.SIGKILL)
            running.process.wait()


def record(out: Path, argv: Sequence[str], device: str, folder: Path = HERE) -> None:
    """Note the machine and the command beside the results, once each."""
    path = out.with_suffix(".json")
    runs = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    kept = [a for i, a in enumerate(argv) if "--out" not in (a, *argv[max(i - 1, 0) : i])]
    command = shlex.join(["python", f"benchmarks/{folder.name}/run.py", *kept])
    run = {"machine": machine(device), "command": command}
    if run not in runs:
        path.write_text(json.dumps([*runs, run], indent=1) + "\n", encoding="utf-8")


def shown(row: dict[str, Any], figure: str) -> str:
    """A line for the terminal."""
    head = f"{row['problem']} {row['method']} seed {row['seed']}:"
    if row["status"] != "ok":
        return f"{head} {row['status'][:100]}"
    truth = f" ({row['true_selected']}/{row['n_true']}, {row['false_selected']} false)"
    truth = truth if row["n_true"] != "" else ""
    return f"{head} {row[figure]}, {row['n_selected']} selected{truth}, {row['seconds']} s"


def main(argv: Sequence[str] | None = None, benchmark: Benchmark | None = None) -> None:
    """Plan and run, this benchmark unless another is given."""
    benchmark = benchmark or accuracy()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the cells are ended too
    options = arguments(argv, benchmark.folder)
    problems = matching(benchmark.problems, options.problems)
    methods = matching(benchmark.methods, options.methods)
    cells = [Cell(p, m, s) for s in parse_seeds(options.seeds) for p in problems for m in methods]

    def cost(cell: Cell) -> float:
        problem = benchmark.problems[cell.problem]
        return benchmark.methods[cell.method].cost * problem.n_train * (10 + problem.n_features)

    left = plan(cells, read(options.out), options.retry, cost)
    if options.list:
        print("\n".join(f"{c.problem} {c.method} {c.seed}" for c in left))
        return
    print(f"{len(left)} cells of {len(cells)} to run, {options.jobs} at a time", flush=True)
    if left:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        argv = sys.argv[1:] if argv is None else argv
        record(options.out, argv, options.device, benchmark.folder)
    limits = Limits(options.time_limit, options.memory_limit, options.threads, options.device)
    run(left, limits, options.jobs, options.out, benchmark)


def accuracy() -> Benchmark:
    """The benchmark of this folder."""
    from methods import METHODS
    from problems import PROBLEMS

    return Benchmark(HERE, PROBLEMS, METHODS, COLUMNS, "rmse")


if __name__ == "__main__":
    main()
