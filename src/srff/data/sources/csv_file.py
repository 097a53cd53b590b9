"""Text files: what their columns are is read off their first rows, and may turn out wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from srff._utils.text import shown
from srff.data.encoding.number_texts import is_number
from srff.data.encoding.table_columns import CATEGORY, arrow_kind
from srff.data.sources.base import CHUNK_ROWS
from srff.data.sources.csv_dialect import CsvFiles, decimal_comma, dialect_of
from srff.data.sources.table_file import (
    NOT_UTF8,
    FilePiece,
    TableError,
    TableFile,
    TextAmongNumbers,
    readable,
)

BLOCK_BYTES, MOST_BLOCK_BYTES = 2**20, 2**30
"""Bytes that are parsed at a time, and the most of them: a first line must be a fourth at most."""


OFFSET = r"\s*(?:Z|[+-]\d{2}(?::?\d{2})?)$"
"""What a time ends with that says its zone."""


class CsvFile(TableFile):
    """Values with commas, semicolons, tabs or bars between them, and names in the first line.

    Text that is empty or NA is missing.  pyarrow takes a column's type from the first rows: whole
    numbers there may be followed by a fraction, a column without values there may have some, and
    both are read as floats.  ``asked`` says how the file is written, and whatever it leaves open is
    guessed: see :mod:`srff.data.sources.csv_dialect`.
    """

    def __init__(self, path: str, label: str, asked: CsvFiles | None = None) -> None:
        super().__init__(path, label)
        self._asked = CsvFiles(path) if asked is None else asked
        with readable(label, "csv"):
            self._dialect = dialect_of(path, self._asked)
            self.guesses = list(self._dialect.guesses)
            # pyarrow calls a file empty whose names do not fit a block, and rows may be longer.
            length = self._dialect.first_line
            self._block = max(BLOCK_BYTES, 4 * length)
            if self._block > MOST_BLOCK_BYTES:
                raise TableError(f"{label}: its first line has {length:,} bytes or more.")
            self._decimal = self._asked.decimal or "."
            schema, first = self._first_rows()
            if self._has_decimal_commas(schema, first):
                self._decimal = ","
                schema, first = self._first_rows()
        self.is_empty = first is None
        self._zoned: set[str] = set()
        self._note_types(schema, first)
        self.leading_zeros = {} if first is None else self._leading_zeros(schema)
        self._note_unfit()

    def _first_rows(self) -> tuple[Any, Any]:
        """The columns as pyarrow takes them, and the first rows; None if there are none."""
        self.names = []
        reader = self._opened(None, {})
        self.names = list(reader.schema.names)
        return reader.schema, next(reader, None)

    def _has_decimal_commas(self, schema: Any, first: Any) -> bool:
        """Whether numbers have a decimal comma, if nothing was said and none has a point."""
        import pyarrow as pa

        if self._asked.decimal is not None or first is None or pa.float64() in schema.types:
            return False
        texts = [
            (field.name, first.column(position))
            for position, field in enumerate(schema)
            if pa.types.is_string(field.type)
        ]
        guess = decimal_comma(texts, self._dialect.delimiter)
        if guess is not None:
            self.guesses.append(guess)
        return guess is not None

    def _note_types(self, schema: Any, first: Any) -> None:
        import pyarrow as pa

        for position, column in enumerate(schema):
            t = pa.types
            if any(is_(column.type) for is_ in (t.is_integer, t.is_floating, t.is_null)):
                self.types[column.name] = pa.float64()
            elif t.is_timestamp(column.type) or t.is_date(column.type):
                # The first rows may lack the time of day that later ones have.
                self.types[column.name] = pa.timestamp("us")
                if getattr(column.type, "tz", None) is not None:
                    self._zoned.add(column.name)
            else:
                self.types[column.name] = column.type
                if self.kind(column.name) == CATEGORY:
                    self.examples[column.name] = _example(first.column(position))

    def _leading_zeros(self, schema: Any) -> dict[str, str]:
        """Columns of whole numbers, some of them with zeros before them, each with one such."""
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = [field.name for field in schema if pa.types.is_integer(field.type)]
        written = Counter(self.names)
        whole = [name for name in whole if written[name] == 1]
        if not whole:
            return {}
        rows = next(self._opened(whole, dict.fromkeys(whole, pa.string())), None)
        found = {}
        for name, column in zip(whole, () if rows is None else rows.columns, strict=False):
            odd = column.filter(pc.match_substring_regex(column, r"^\s*[-+]?0\d"))
            if len(odd):
                found[name] = odd[0].as_py()
        return found

    def read_as_text(self, names: list[str]) -> None:
        """Take columns for text, though their first rows look like numbers."""
        import pyarrow as pa

        for name in names:
            if name in self.types and name not in self.unfit:
                self.types[name] = pa.string()
                self._zoned.discard(name)

    def as_written(self, names: list[str]) -> None:
        """Take columns for text, dates and all."""
        import pyarrow as pa

        self.types |= {name: pa.string() for name in names if name in self.types}
        self._zoned -= set(names)

    def _pieces(self) -> list[FilePiece]:
        return [FilePiece(self.label, "csv", self._rows)]

    def _rows(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        types = {name: self.types[name] for name in columns}
        zoned = [name for name in columns if name in self._zoned]
        try:
            for whole in self._opened(columns, types | dict.fromkeys(zoned, pa.string())):
                batch = by_the_clock(whole, zoned)
                for start in range(0, batch.num_rows, CHUNK_ROWS):
                    yield batch.slice(start, CHUNK_ROWS)
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error):
                raise TableError(f"{self.label}: {NOT_UTF8}") from None
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
                    row = _first_other(values, types[name], self._decimal)
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
            read_options=csv.ReadOptions(
                use_threads=False,
                block_size=self._block,
                encoding=self._dialect.encoding,
                skip_rows=self._dialect.skip,
            ),
            # An empty line is a missing value where there is only one column.
            parse_options=csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) != 1,
            ),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=columns,
                strings_can_be_null=True,
                null_values=[*csv.ConvertOptions().null_values, *self._asked.missing],
                decimal_point=self._decimal,
                check_utf8=check_utf8,
            ),
        )


def _example(column: Any) -> str:
    """The first value that is no number, as an error shows it; any if there is none."""
    texts = [value for value in column.to_pylist() if value is not None]
    return shown(next((text for text in texts if not is_number(text)), texts[0] if texts else ""))


def by_the_clock(batch: Any, names: list[str]) -> Any:
    """A batch with texts such as ``2022-01-01 03:00:00+09:00`` as the times that they say.

    pyarrow's own reader makes times of Greenwich of them, and the hour of the day is lost.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        place = batch.schema.get_field_index(name)
        plain = pc.replace_substring_regex(batch.column(place), OFFSET, "")
        batch = batch.set_column(place, name, plain.cast(pa.timestamp("us")))
    return batch


def _first_other(texts: Any, dtype: Any, decimal: str) -> int | None:
    """The row of the first text that pyarrow does not read as a value of this type."""
    low, high = 0, len(texts)
    if _are_all(texts, dtype, decimal):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _are_all(texts[low:middle], dtype, decimal):
            low = middle
        else:
            high = middle
    return low


def _are_all(texts: Any, dtype: Any, decimal: str) -> bool:
    """Whether all texts are values of a type, to pyarrow's reader of csv."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    texts = pc.ascii_trim(texts, " \t")
    if pa.types.is_boolean(dtype):
        options = csv.ConvertOptions()
        known = pa.array([*options.true_values, *options.false_values])
        return bool(pc.all(pc.is_in(texts, known)).as_py())
    if decimal == ",":
        texts = pc.replace_substring(texts, ".", "no point")
        texts = pc.replace_substring(texts, ",", ".")
    try:
        texts.cast(dtype)
    except pa.ArrowInvalid:
        return False
    return True
