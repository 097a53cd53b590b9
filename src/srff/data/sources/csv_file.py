"""Text files: what their columns are is read off their first rows, and may turn out wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from srff._utils.text import shown
from srff.data.encoding.number_texts import is_number
from srff.data.encoding.table_columns import CATEGORY, arrow_kind
from srff.data.sources.base import CHUNK_ROWS
from srff.data.sources.table_file import (
    FilePiece,
    TableError,
    TableFile,
    TextAmongNumbers,
    readable,
)

DELIMITERS = ",;\t|"
FIRST_BYTES = 2**16
"""Bytes of a file that tell its delimiter, if its first line is not longer."""

BLOCK_BYTES, MOST_BLOCK_BYTES = 2**20, 2**30
"""Bytes that are parsed at a time, and the most of them: a first line must be a fourth at most."""


class CsvFile(TableFile):
    """Values with commas, semicolons, tabs or bars between them, and names in the first line.

    Text that is empty or NA is missing.  pyarrow takes a column's type from the first rows: whole
    numbers there may be followed by a fraction, a column without values there may have some, and
    both are read as floats.
    """

    def __init__(self, path: str, label: str) -> None:
        import pyarrow as pa

        super().__init__(path, label)
        with readable(label, "csv"):
            line = _first_line(path)
            self._delimiter = _delimiter(line.decode("utf-8", "replace"))
            # pyarrow calls a file empty whose names do not fit a block, and rows may be longer.
            self._block = max(BLOCK_BYTES, 4 * len(line))
            if self._block > MOST_BLOCK_BYTES:
                raise TableError(f"{label}: its first line has {len(line):,} bytes or more.")
            reader = self._opened(None, {})
            self.names = list(reader.schema.names)
            first: Any = next(reader, None)
        self.is_empty = first is None
        for position, column in enumerate(reader.schema):
            t = pa.types
            if any(is_(column.type) for is_ in (t.is_integer, t.is_floating, t.is_null)):
                self.types[column.name] = pa.float64()
            else:
                self.types[column.name] = column.type
                if self.kind(column.name) == CATEGORY:
                    self.examples[column.name] = _example(first.column(position))
        self._note_unfit()

    def read_as_text(self, names: list[str]) -> None:
        """Take columns for text, though their first rows look like numbers."""
        import pyarrow as pa

        for name in names:
            if name in self.types and name not in self.unfit:
                self.types[name] = pa.string()

    def _pieces(self) -> list[FilePiece]:
        return [FilePiece(self.label, "csv", self._rows)]

    def _rows(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        types = {name: self.types[name] for name in columns}
        try:
            for batch in self._opened(columns, types):
                for start in range(0, batch.num_rows, CHUNK_ROWS):
                    yield batch.slice(start, CHUNK_ROWS)
        except pa.ArrowInvalid as error:
            raise self._text_among_numbers(types) or error from None

    def _text_among_numbers(self, types: dict[str, Any]) -> TextAmongNumbers | None:
        """The first value that is not of its column's type; None if the file is bad otherwise."""
        import pyarrow as pa

        suspects = [name for name, dtype in types.items() if arrow_kind(dtype) != CATEGORY]
        as_text = dict.fromkeys(suspects, pa.string())
        try:
            for batch in self._opened(suspects, as_text, check_utf8=False) if suspects else ():
                for name in suspects:
                    values = batch.column(batch.schema.get_field_index(name)).drop_null()
                    row = _first_other(values, types[name])
                    if row is not None:
                        value = values[row].as_buffer().to_pybytes().decode("utf-8", "replace")
                        return TextAmongNumbers(self.label, name, value)
        except pa.ArrowInvalid:
            pass
        return None

    def _opened(
        self, columns: list[str] | None, types: dict[str, Any], check_utf8: bool = True
    ) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        return csv.open_csv(
            pa.input_stream(self.path),
            read_options=csv.ReadOptions(use_threads=False, block_size=self._block),
            # An empty line is a missing value where there is only one column.
            parse_options=csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) != 1,
            ),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=columns,
                strings_can_be_null=True,
                check_utf8=check_utf8,
            ),
        )


def _first_line(path: str) -> bytes:
    """The start of a file to the end of its first line, unless that is far too long."""
    import pyarrow as pa

    start = b""
    with pa.input_stream(path) as stream:
        while b"\n" not in start and 4 * len(start) <= MOST_BLOCK_BYTES:
            more = stream.read(max(FIRST_BYTES, len(start)))
            if not more:
                break
            start += more
    return start.partition(b"\n")[0]


def _delimiter(line: str) -> str:
    """What parts the names in the first line."""
    line = re.sub(r'"[^"]*"', "", line.splitlines()[0] if line.strip() else "")
    return max(DELIMITERS, key=line.count)


def _example(column: Any) -> str:
    """The first value that is no number, as an error shows it; any if there is none."""
    texts = [value for value in column.to_pylist() if value is not None]
    return shown(next((text for text in texts if not is_number(text)), texts[0] if texts else ""))


def _first_other(texts: Any, dtype: Any) -> int | None:
    """The row of the first text that pyarrow does not read as a value of this type."""
    low, high = 0, len(texts)
    if _are_all(texts, dtype):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _are_all(texts[low:middle], dtype):
            low = middle
        else:
            high = middle
    return low


def _are_all(texts: Any, dtype: Any) -> bool:
    """Whether all texts are values of a type, to pyarrow's reader of csv."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    texts = pc.ascii_trim(texts, " \t")
    if pa.types.is_boolean(dtype):
        options = csv.ConvertOptions()
        known = pa.array([*options.true_values, *options.false_values])
        return bool(pc.all(pc.is_in(texts, known)).as_py())
    try:
        texts.cast(dtype)
    except pa.ArrowInvalid:
        return False
    return True
