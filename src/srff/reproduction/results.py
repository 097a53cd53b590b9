"""The results file: one line per finished replicate, appended at once, read back to resume."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

from srff.reproduction.published import Cell
from srff.reproduction.replicate import Outcome, Settings

FILE = "results.csv"
COLUMNS = [f.name for f in fields(Outcome)]
_NUMBERS = {"rmse", "seconds", "n_selected", "alpha", "budget"}


def write_settings(folder: Path, settings: Settings) -> None:
    """Put on record what a run is made with; a folder of other settings is not mixed with it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "settings.json"
    text = json.dumps(settings.written(), indent=1) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise ValueError(f"{path} records other settings than this run's. Give another --out.")
    path.write_text(text, encoding="utf-8")


def append(folder: Path, outcome: Outcome) -> None:
    """Write one line whole: a run that is killed loses at most the replicates under way."""
    path = folder / FILE
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    if not path.exists() or path.stat().st_size == 0:
        writer.writeheader()
    writer.writerow(asdict(outcome))
    with path.open("a", encoding="utf-8") as file:
        file.write(text.getvalue())
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> list[Outcome]:
    """The finished replicates; a last line that was cut off is taken off the file."""
    path = folder / FILE
    if not path.exists():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    rows = csv.DictReader(io.StringIO(whole.decode("utf-8")))
    if rows.fieldnames is not None and list(rows.fieldnames) != COLUMNS:
        raise ValueError(
            f"{path} has the columns {rows.fieldnames}; expected {COLUMNS}. Give another --out."
        )
    return [_outcome(row) for row in rows]


def _outcome(row: dict[str, str]) -> Outcome:
    values: dict[str, object] = dict(row)
    values |= {name: float(row[name]) for name in _NUMBERS}
    values |= {"n": int(row["n"]), "replicate": int(row["replicate"])}
    return Outcome(**values)  # type: ignore[arg-type]


def by_cell(outcomes: Iterable[Outcome]) -> dict[Cell, list[Outcome]]:
    """Outcomes gathered by cell, in the order of their replicates.

    Where a cell was run in several ways, the last that was begun stands; what could not run stands
    where nothing could.
    """
    cells: dict[Cell, dict[tuple[bool, str], list[Outcome]]] = {}
    for outcome in outcomes:
        ways = cells.setdefault(outcome.cell, {})
        ways.setdefault((outcome.status == "ok", outcome.way), []).append(outcome)
    standing = {
        cell: [of for (ran, _), of in ways.items() if ran] or list(ways.values())
        for cell, ways in cells.items()
    }
    return {c: sorted(of[-1], key=lambda o: o.replicate) for c, of in standing.items()}
