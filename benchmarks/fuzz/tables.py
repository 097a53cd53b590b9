"""Mutated tables through ``srff fit`` and ``srff predict``: a refusal or a right answer, each time.

    python benchmarks/fuzz/tables.py [--cases 2000] [--seed 0] [--only CASE] [--kinds csv,parquet]

Each case is a small csv, Parquet or Arrow table with one to three mutations of its bytes or its
values.  A model is fitted on it, and a model of the table without mutations predicts for it.  Each
command must end with code 0 and an answer that agrees with another reader of the same file
(Python's csv module, polars), or with code 1 or 2, one line on standard error, no traceback and no
file left.
"""

from __future__ import annotations

import argparse
import collections
import csv
import faulthandler
import io
import json
import math
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet
from typer.testing import CliRunner

from srff.cli import app
from srff.export.save import load

TINY = ("solver=alternating", "refine=none", "n_components=6", "max_iter=2", "alpha=0.1")
SEARCH = ("n_components=6", "max_iter=1")
"""Settings of most fits, and of every twentieth: the default search, as small as it can be."""

SECONDS = 20
"""Most time for one command."""

runner = CliRunner()


class TooSlow(BaseException):
    """Not an Exception: a command must not turn it into a sentence."""


def clean_columns() -> dict[str, np.ndarray]:
    """The table before it is mutated: the target depends on a and b."""
    rng = np.random.RandomState(0)
    columns = {name: np.round(rng.standard_normal(60), 4) for name in "abcd"}
    noise = rng.normal(0, 0.1, 60)
    return columns | {"y": np.round(np.sin(2 * columns["a"]) + columns["b"] ** 2 + noise, 4)}


def rows_of(columns: dict[str, np.ndarray]) -> list[list[str]]:
    """The table as texts, its header first."""
    rows = [[repr(float(v)) for v in row] for row in zip(*columns.values(), strict=True)]
    return [list(columns), *rows]


def written(rows: list[list[str]], delimiter: str = ",", newline: str = "\n") -> bytes:
    """A csv file, as plainly as can be."""
    return (newline.join(delimiter.join(row) for row in rows) + newline).encode()


# Mutations of the bytes of any file.


def flipped(rng: np.random.RandomState, content: bytes) -> bytes:
    """Some bits turned over."""
    data = bytearray(content)
    for place in rng.randint(0, len(data), rng.choice([1, 1, 2, 5, 30])):
        data[place] ^= 1 << rng.randint(8)
    return bytes(data)


def cut(rng: np.random.RandomState, content: bytes) -> bytes:
    """The start of the file alone, or the end."""
    place = rng.randint(0, len(content))
    return content[:place] if rng.rand() < 0.7 else content[place:]


def garbage(rng: np.random.RandomState, content: bytes) -> bytes:
    """Random bytes put in, or in the place of others, or of all."""
    place, size = rng.randint(0, len(content)), rng.choice([1, 3, 50, 2000])
    new = rng.bytes(size)
    return [
        content[:place] + new + content[place:],
        content[:place] + new + content[place + size :],
        new,
    ][rng.choice(3, p=[0.45, 0.45, 0.1])]


def zeroed(rng: np.random.RandomState, content: bytes) -> bytes:
    """A run of zero bytes."""
    place, size = rng.randint(0, len(content)), rng.choice([1, 4, 100])
    return content[:place] + bytes(size) + content[place + size :]


def repeated(rng: np.random.RandomState, content: bytes) -> bytes:
    """A part of the file twice."""
    first, last = np.sort(rng.randint(0, len(content), 2))
    return content[:last] + content[first:]


# Mutations of the lines and cells of a csv file.

CELLS = (
    "", "NaN", "nan", "inf", "-inf", "Infinity", "1e308", "-1e308", "1e400", "1e-320", "1e100",
    "99999999999999999999999", "-0", "0x10", "1,5", "1;5", "1 000", "1_000", " 2.5 ", "+3", "--1",
    ".5", "5.", "e", "1e", "true", "false", "NA", "N/A", "null", "None", "?", "-", "abc", "'", '"',
    '""', '"a', '"1"', '"1,2"', "2020-01-01", "2020-01-01T10:00:00", "12:30", "$5", "50%", "=1+1",
    "\u0661", "\u2212" + "1", "\ufeff1", "\x00", "\x1b[31m1", "\u00fc", "x" * 5000, "9" * 400,
)  # fmt: skip


def with_cells(rng: np.random.RandomState, content: bytes) -> bytes:
    """Odd values in some cells."""
    rows = rows_of(clean_columns())
    for _ in range(rng.choice([1, 2, 10])):
        rows[rng.randint(1, len(rows))][rng.randint(len(rows[0]))] = CELLS[rng.randint(len(CELLS))]
    return written(rows)


def with_column(rng: np.random.RandomState, content: bytes) -> bytes:
    """A whole column of one odd value, or of two."""
    rows = rows_of(clean_columns())
    column, values = rng.randint(len(rows[0])), rng.choice(CELLS, rng.choice([1, 2]))
    for row in rows[1:]:
        row[column] = str(rng.choice(values))
    return written(rows)


def with_header(rng: np.random.RandomState, content: bytes) -> bytes:
    """Other names: twice the same, none, odd ones, another order, no header."""
    rows = rows_of(clean_columns())
    header = rows[0]
    for _ in range(rng.choice([1, 2])):
        header[rng.randint(len(header))] = str(
            rng.choice(
                ["a", "y", "", " a", "A", '"a"', '"a', "1.5", "\u00fc", "\x00", "[bold]x", "a.b"]
            )
        )
    choice = rng.randint(6)
    if choice == 0:
        order = rng.permutation(len(header))
        rows = [[row[k] for k in order] for row in rows_of(clean_columns())]
    elif choice == 1:
        rows = rows[1:]
    elif choice == 2:
        rows = [rows[0], *rows]
    return written(rows)


def with_lines(rng: np.random.RandomState, content: bytes) -> bytes:
    """Lines swapped, twice, away, empty, ragged, commented; few of them or none."""
    rows = rows_of(clean_columns())
    for _ in range(rng.choice([1, 3])):
        i, j = rng.randint(0, len(rows), 2)
        choice = rng.randint(8)
        if choice == 0:
            rows[i], rows[j] = rows[j], rows[i]
        elif choice == 1:
            rows.insert(i, list(rows[j]))
        elif choice == 2 and len(rows) > 1:
            del rows[i]
        elif choice == 3:
            rows.insert(i, [])
        elif choice == 4:
            rows[i] = rows[i][:-1]
        elif choice == 5:
            rows[i] = [*rows[i], "1"]
        elif choice == 6:
            rows.insert(i, ["# a comment"])
        else:
            rows = rows[: rng.choice([1, 2, 3, 4, 30])]
    return written(rows)


def encoded(rng: np.random.RandomState, content: bytes) -> bytes:
    """Another encoding, delimiter, end of line or compression than is expected."""
    rows = rows_of(clean_columns())
    choice = rng.randint(9)
    if choice < 3:
        return written(rows, delimiter=[";", "\t", "|"][choice])
    if choice < 5:
        return written(rows, newline=["\r\n", "\r"][choice - 3])
    if choice == 5:
        return b"\xef\xbb\xbf" + content
    if choice == 6:
        return content.decode("latin-1").encode(rng.choice(["utf-16", "utf-16-le", "utf-32"]))
    if choice == 7:
        return written([[f'"{cell}"' for cell in row] for row in rows])
    rows[0][rng.randint(5)] = "gr\u00f6\u00dfe"
    return written(rows).decode().encode("latin-1")


# Mutations of the values of typed files.


def typed_table(rng: np.random.RandomState) -> pa.Table:
    """A table with a few odd columns or values."""
    columns: dict[str, object] = {k: v.copy() for k, v in clean_columns().items()}
    n = 60
    for _ in range(rng.choice([1, 1, 2])):
        name = str(rng.choice(list("abcdy")))
        values = clean_columns()[name]
        odd: list[Callable[[], object]] = [
            lambda v=values: np.where(rng.rand(n) < 0.05, np.nan, v),
            lambda v=values: np.where(rng.rand(n) < 0.05, np.inf, v),
            lambda v=values: v * 1e307,
            lambda v=values: v * 1e-310,
            lambda v=values: np.where(rng.rand(n) < 0.03, 1e300, v),
            lambda v=values: v.astype(np.float32),
            lambda v=values: v.astype(np.float16),
            lambda v=values: (v * 100).astype(np.int64),
            lambda v=values: (v * 100).astype(np.int64) * 2**52,
            lambda v=values: v > 0,
            lambda v=values: pa.array(
                [None if r < 0.1 else x for r, x in zip(rng.rand(n), v, strict=True)]
            ),
            lambda: pa.nulls(n),
            lambda: pa.nulls(n, pa.float64()),
            lambda v=values: pa.array([str(x) for x in v]),
            lambda v=values: pa.array([str(x > 0) for x in v]).dictionary_encode(),
            lambda v=values: pa.array((v * 1e9).astype(np.int64)).cast(pa.timestamp("ns")),
            lambda v=values: pa.array([[x, x] for x in v]),
            lambda v=values: pa.array([{"a": x} for x in v]),
            lambda v=values: pa.array([str(x).encode() for x in v]),
            lambda v=values: pa.array(np.round(v, 4)).cast(pa.decimal128(12, 4)),
            lambda: np.zeros(n),
        ]
        columns[name] = odd[rng.randint(len(odd))]()
    table = pa.table({k: v if isinstance(v, pa.Array) else pa.array(v) for k, v in columns.items()})
    choice = rng.randint(8)
    if choice == 0:
        return table.rename_columns([*table.column_names[:-2], "a", "y"])
    if choice == 1:
        return table.slice(0, rng.choice([0, 1, 2, 3]))
    if choice == 2:
        return table.select([str(c) for c in rng.permutation(table.column_names)])
    return table


def to_parquet(table: pa.Table, rng: np.random.RandomState) -> bytes:
    """A Parquet file of one row group or more, with or without compression."""
    sink = io.BytesIO()
    size = int(rng.choice([7, 1000]))
    parquet.write_table(
        table,
        sink,
        row_group_size=size,
        compression=str(rng.choice(["none", "snappy", "zstd"])),
        use_dictionary=bool(rng.rand() < 0.5),
    )
    return sink.getvalue()


def to_arrow(table: pa.Table, rng: np.random.RandomState) -> bytes:
    """An Arrow file, with or without compression."""
    sink = io.BytesIO()
    feather.write_feather(table, sink, compression=str(rng.choice(["uncompressed", "lz4", "zstd"])))
    return sink.getvalue()


BYTES = (flipped, flipped, cut, garbage, zeroed, repeated)
TEXT = (with_cells, with_cells, with_column, with_header, with_lines, encoded)


def mutated(kind: str, rng: np.random.RandomState) -> tuple[str, bytes]:
    """What was done, and the file."""
    if kind == "csv":
        content, names = written(rows_of(clean_columns())), []
        if rng.rand() < 0.6:
            change = TEXT[rng.randint(len(TEXT))]
            names, content = [change.__name__], change(rng, content)
        n_more = rng.choice([0, 1]) if names else rng.choice([1, 2])
    else:
        odd = rng.rand() < 0.4
        table = typed_table(rng) if odd else pa.table(clean_columns())
        content = (to_parquet if kind == "parquet" else to_arrow)(table, rng)
        names = ["values"] if odd else []
        n_more = rng.choice([0, 1], p=[0.7, 0.3]) if names else rng.choice([1, 2])
    for _ in range(n_more):
        change = BYTES[rng.randint(len(BYTES))]
        if content:
            names, content = [*names, change.__name__], change(rng, content)
    return "+".join(names), content


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Stop what takes too long; where even that is not possible, end with a traceback."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(3 * seconds, exit=True)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


@dataclass
class Run:
    """How one command ended."""

    code: int
    stdout: str
    stderr: str
    problems: list[str] = field(default_factory=list)


def run(arguments: list[str], folder: Path, out: Path) -> Run:
    """Run a command and check how it ended, whatever it was given."""
    before = set(os.listdir(folder))
    problems: list[str] = []
    try:
        with time_limit(SECONDS):
            result = runner.invoke(app, arguments)
    except TooSlow:
        return Run(-1, "", "", [f"took more than {SECONDS} s"])
    if isinstance(result.exception, TooSlow):
        return Run(-1, "", "", [f"took more than {SECONDS} s"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        problems.append(f"raised {result.exception!r}")
    new = set(os.listdir(folder)) - before
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    if "Traceback" in result.output or "--debug shows" in result.output:
        problems.append("an error that was not foreseen")
    if result.exit_code == 0:
        if new != {out.name}:
            problems.append(f"left {sorted(new)}")
        if lines:
            problems.append(f"spoke on standard error: {lines[0]}")
        try:
            json.loads(result.stdout)
        except ValueError:
            problems.append("standard output is not one JSON object")
    else:
        if result.exit_code not in (1, 2):
            problems.append(f"exit code {result.exit_code}")
        if new:
            problems.append(f"refused but left {sorted(new)}")
        if len(lines) != 1 or not lines[0].startswith("srff: "):
            problems.append(f"{len(lines)} lines on standard error")
        if result.stdout:
            problems.append("refused but wrote to standard output")
    return Run(result.exit_code, result.stdout, result.stderr, problems)


def other_reader(path: Path, columns: list[str]) -> np.ndarray | None:
    """The columns of a file by another reader; None where it cannot read them."""
    try:
        if path.suffix == ".csv":
            return _with_csv_module(path, columns)
        import polars

        read = polars.read_parquet if path.suffix == ".parquet" else polars.read_ipc
        frame = read(path, columns=columns)
        return frame.select([polars.col(c).cast(polars.Float64) for c in columns]).to_numpy()
    except TooSlow:
        raise
    except BaseException:  # polars' panics are none of Exception's kind
        return None


def _with_csv_module(path: Path, columns: list[str]) -> np.ndarray | None:
    text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    first = text.splitlines()[0]
    delimiter = max(",;\t|", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    places = [rows[0].index(name) for name in columns]
    if not all(len(row) == len(rows[0]) for row in rows):
        return None
    special = {"true": "1", "false": "0"} | dict.fromkeys(("", "na", "n/a", "null"), "nan")
    values = [[row[k].strip() for k in places] for row in rows[1:]]
    return np.array([[float(special.get(v.lower(), v)) for v in row] for row in values])


def case(
    number: int, seed: int, kinds: list[str], folder: Path, reference: Path
) -> dict[str, object]:
    """One mutated table through both commands."""
    rng = np.random.RandomState((seed * 1_000_003 + number) % 2**32)
    kind = kinds[number % len(kinds)]
    name, content = mutated(kind, rng)
    suffix = {"csv": ".csv", "parquet": ".parquet", "arrow": ".arrow"}[kind]
    table, model, out = folder / f"table{suffix}", folder / "model.srff", folder / "out.parquet"
    table.write_bytes(content)
    settings = SEARCH if number % 20 == 0 else TINY
    options = [part for text in (*settings, "n_jobs=1") for part in ("--set", text)]
    if rng.rand() < 0.3:
        options += ["--missing", "drop-rows"]
    common = ["--json", "--quiet"]
    fitted = run(
        ["fit", str(table), "--target", "y", "--out", str(model), *options, *common], folder, model
    )
    predicted = run(
        ["predict", str(reference), str(table), "--out", str(out), *common], folder, out
    )
    checks = []
    if predicted.code == 0 and not predicted.problems:
        checks.append(compared(reference, table, out, predicted))
    own = None
    if fitted.code == 0 and not fitted.problems:
        out.unlink(missing_ok=True)
        fitted.problems += unlike_a_model(model)
        own = run(
            ["predict", str(model), str(table), "--out", str(out), "--missing", "empty", *common],
            folder,
            out,
        )
        if own.code == 0 and not own.problems:
            checks.append(compared(model, table, out, own))
        elif own.code == 0 or "too far" not in own.stderr:
            own.problems.append(f"fitted, but does not predict: {own.stderr.strip()}")
    for path in (table, model, out):
        path.unlink(missing_ok=True)
    runs = [("fit", fitted), ("predict", predicted), *([("own", own)] if own else [])]
    return {
        "number": number,
        "kind": kind,
        "name": name,
        "fit": fitted.code,
        "predict": predicted.code,
        "checked": sum(check == "equal" for check in checks),
        "unchecked": sum(check == "unread" for check in checks),
        "problems": [f"{what}: {problem}" for what, r in runs for problem in r.problems],
        "said": [r.stderr.strip() for _, r in runs if r.stderr.strip()],
    }


def unlike_a_model(path: Path) -> list[str]:
    """What is wrong with a model that was written."""
    model = load(path)
    return [
        f"the model's {name} is not finite"
        for name in ("scale_", "coefficients_", "frequencies_", "intercept_")
        if not np.all(np.isfinite(getattr(model, name)))
    ]


def compared(model_path: Path, table: Path, out: Path, done: Run) -> str:
    """Whether predictions agree with the model on what another reader finds in the file."""
    y = parquet.read_table(out).column("prediction").to_numpy()
    columns = json.loads(done.stdout)["columns"]
    model = load(model_path)
    if model.encoding_ is not None or hasattr(model, "classes_"):
        return "unread"  # the other reader takes every column for numbers
    X = other_reader(table, columns) if columns else np.zeros((y.size, 0))
    if X is None:
        return "unread"
    if X.shape[0] != y.size:
        done.problems.append(f"{y.size} predictions for {X.shape[0]} rows")
        return "different"
    usable = np.isfinite(X).all(axis=1)
    expected = np.full(y.size, math.nan)
    if not columns:
        expected[:] = model.intercept_
    elif usable.any():
        small = model.reduced()
        del small.feature_names_in_
        expected[usable] = small.predict(X[usable])
    if not np.allclose(
        y,
        expected,
        rtol=1e-5,
        atol=1e-5 * (1 + np.nanmax(np.abs(expected), initial=0)),
        equal_nan=True,
    ):
        done.problems.append("the predictions are not the model's")
        return "different"
    return "equal"


def reference_model(folder: Path) -> Path:
    """A model of the table without mutations."""
    table, model = folder / "clean.csv", folder / "reference.srff"
    table.write_bytes(written(rows_of(clean_columns())))
    options = ["--set", "n_components=30", "--set", "max_iter=5", "--set", "n_jobs=1", "--quiet"]
    result = runner.invoke(app, ["fit", str(table), "-t", "y", "--out", str(model), *options])
    assert result.exit_code == 0, result.output
    return model


def all_cases(numbers: list[int], seed: int, kinds: list[str]) -> Iterator[dict[str, object]]:
    """The outcome of each case."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        reference = reference_model(Path(first))
        for number in numbers:
            yield case(number, seed, kinds, Path(second), reference)


def main() -> int:
    """Run the cases, print what came of them; 1 if any was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="one case, with what was said")
    parser.add_argument("--kinds", default="csv,parquet")
    given = parser.parse_args()
    faulthandler.enable()
    numbers = list(range(given.cases)) if given.only is None else [given.only]
    begun = time.perf_counter()
    counts: collections.Counter[tuple[object, ...]] = collections.Counter()
    bad, checked, unchecked = 0, 0, 0
    for found in all_cases(numbers, given.seed, given.kinds.split(",")):
        counts[found["kind"], found["fit"], found["predict"]] += 1
        checked += int(found["checked"])  # type: ignore[call-overload]
        unchecked += int(found["unchecked"])  # type: ignore[call-overload]
        if found["problems"]:
            bad += 1
            print(f"case {found['number']} ({found['kind']}, {found['name']}): {found['problems']}")
        if given.only is not None:
            print(found)
        if int(found["number"]) % 200 == 199:  # type: ignore[call-overload]
            print(f"{found['number']}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    print(f"{platform.platform()}, Python {platform.python_version()}, pyarrow {pa.__version__}")
    print("kind, exit codes of fit and predict: cases")
    for (kind, fit, predict), count in sorted(counts.items()):
        print(f"  {kind:8} {fit} {predict}: {count}")
    print(
        f"{len(numbers)} cases in {time.perf_counter() - begun:.0f} s; answers that another reader "
        f"confirms: {checked}, that it cannot read: {unchecked}; not as they should be: {bad}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
