"""The file of predictions: its columns, those of the table that are kept, and its digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srff._utils.text import shown
from srff.cli.errors import Refusal, WrongUse, no_such_column
from srff.cli.options import MissingInputs, PredictRequest

if TYPE_CHECKING:
    import numpy as np

    from srff.data.sources.tables import Table

COLUMN = "prediction"
CHANCE = "probability"
ENDS = "lower", "upper"

DIGITS = 7
"""Significant digits of predictions in csv: more than any model is good for."""

MOST_ROUNDED, EXACT_POWER = 12, 22
"""Digits above which all are written, and the largest power of ten that a float64 has exactly."""


@dataclass(frozen=True)
class Schema:
    """The columns of the predictions: their names and types, and what they are made of."""

    columns: list[tuple[str, Any]]
    made: Callable[[np.ndarray], list[Any]]
    kept: list[tuple[str, Any]] = field(default_factory=list)
    """Columns of the table that stand before the predictions."""

    @property
    def fields(self) -> Any:
        """All columns, as pyarrow has them."""
        import pyarrow as pa

        return pa.schema([*self.kept, *self.columns])

    def batch(self, P: np.ndarray, rows: Any) -> Any:
        """Predictions, and the rows that they are of, as they are written."""
        import pyarrow as pa

        beside = [rows.column(rows.schema.get_field_index(name)) for name, _ in self.kept]
        cast = [
            a if a.type == t else a.cast(t) for a, (_, t) in zip(beside, self.kept, strict=True)
        ]
        return pa.record_batch([*cast, *self.made(P)], schema=self.fields)


def check_kept(table: Table, keep: list[str], interval: bool = False) -> None:
    """Refuse columns that are not there; those of csv are kept as they are written."""
    for name in keep:
        if name not in table.names:
            raise WrongUse(no_such_column("--keep", name, table.names))
        if name.startswith(COLUMN) or name.startswith(f"{CHANCE}_") or (interval and _end(name)):
            raise WrongUse(f"--keep {shown(name)}: a column of predictions has such a name.")
    if len(set(keep)) < len(keep):
        raise WrongUse("--keep names a column twice.")
    table.check_columns(keep)


def _end(name: str) -> bool:
    return any(name == end or name.startswith(f"{end}_") for end in ENDS)


def schema_of(
    model: Any, kind: str, table: Table, request: PredictRequest, used: list[str]
) -> Schema:
    """Columns that are kept, and those of the predictions."""
    import pyarrow as pa

    table.as_written([name for name in request.keep if name not in used])
    kept = []
    for name in request.keep:
        dtype = next(file.types[name] for file in table.files if name in file.types)
        kept.append((name, dtype.value_type if pa.types.is_dictionary(dtype) else dtype))
        if pa.types.is_nested(dtype):
            raise Refusal(f"--keep {shown(name)}: the column holds {dtype}, which is not kept.")
    return replace(_predictions(model, kind, request), kept=kept)


def _predictions(model: Any, kind: str, request: PredictRequest) -> Schema:
    """A column for each target; or one of classes, and their probabilities if wanted."""
    import numpy as np
    import pyarrow as pa

    from srff.inspect.outcome import outcome_of

    # A csv line of one empty value is an empty line, which many programs skip.
    empty = kind != "csv"
    digits = (request.digits or DIGITS) if kind == "csv" else None
    classes = outcome_of(model).labels
    if not classes:
        n_targets = getattr(model, "n_targets_", None)
        names = [COLUMN] if n_targets is None else [f"{COLUMN}_{t}" for t in range(n_targets)]
        if request.interval is not None:
            names = [name.replace(COLUMN, what) for name in names for what in (COLUMN, *ENDS)]
        return Schema(
            [(name, pa.float64()) for name in names],
            lambda Y: [pa.array(y, from_pandas=empty) for y in rounded(Y, digits).T],
        )
    labels = pa.array(classes)
    if not empty and request.missing == MissingInputs.empty:
        labels = pa.array([_text(label) for label in classes] + ["NaN"])
    columns = [(COLUMN, labels.type)]
    if request.proba:
        columns += [(f"{CHANCE}_{_text(label)}", pa.float64()) for label in classes]

    def made(P: np.ndarray) -> list[Any]:
        none = np.isnan(P[:, 0])
        code = np.argmax(np.where(none[:, None], 0.0, P), axis=1)
        if len(labels) > len(classes):
            said = labels.take(pa.array(np.where(none, len(classes), code)))
        else:
            said = labels.take(pa.array(code, mask=none))
        chances = rounded(P, digits).T if request.proba else ()
        return [said, *(pa.array(p, from_pandas=empty) for p in chances)]

    return Schema(columns, made)


def _text(label: Any) -> str:
    """A class in a name."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def rounded(values: np.ndarray, digits: int | None) -> np.ndarray:
    """Numbers with so many significant digits, or all of them."""
    import numpy as np

    if digits is None or digits > MOST_ROUNDED:
        return values
    there = np.isfinite(values) & (values != 0)
    place = digits - 1 - np.floor(np.log10(np.abs(values), where=there, out=np.zeros_like(values)))
    # A power of ten up to the 22nd is exact, and so the quotient is the number that is meant.
    exact = there & (np.abs(place) <= EXACT_POWER)
    power = 10.0 ** np.abs(np.where(exact, place, 0.0))
    up = np.where(place >= 0, np.rint(values * power) / power, np.rint(values / power) * power)
    return np.where(exact, up, values)


@contextmanager
def writer(path: Path, kind: str, schema: Schema) -> Iterator[Any]:
    """A function that appends predictions to a file, and the rows that they are of."""
    from pyarrow import csv, ipc, parquet

    fields = schema.fields
    with open(path, "wb") as file:
        if kind == "csv":
            plain = len(fields) == 1
            if plain:
                file.write(f"{COLUMN}\n".encode())
            into = csv.CSVWriter(
                file, fields, write_options=csv.WriteOptions(include_header=not plain)
            )
        else:
            into = (parquet.ParquetWriter if kind == "parquet" else ipc.new_file)(file, fields)
        with into:
            yield lambda said, rows: into.write_batch(schema.batch(said, rows))
