"""How a text file is written: its encoding, what parts values, the decimal mark, missing values.

What is not said is guessed from the start of the file, and each guess that could be wrong is noted.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from srff._utils.text import shown
from srff.data.encoding.number_texts import MOSTLY
from srff.data.sources.table_file import TableError

DELIMITERS = ",;\t|"
FIRST_BYTES = 2**20
"""Bytes of a file that tell how it is written, if its first line is not longer."""

MOST_LINE = 2**28
"""Bytes of a first line at most."""

LINE_END = re.compile(r"[\r\n]")

LOOKED_AT = 2**16
"""Characters after the first line that may tell what parts values."""

SHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""What the files of spreadsheets begin with, whatever they are called."""

FIRST_LINES = 6
"""Lines that must agree on what parts values."""

UTF8 = "utf8"
"""What pyarrow reads without a codec."""

WIDE_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
WHOLE = re.compile(r"[+-]?\d+")
LIKE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")


@dataclass(frozen=True)
class CsvFiles:
    r"""Text files, and how they are written; what is None is guessed.

    Takes the place of a path in ``fit`` where a guess is wrong.  A guess is made from the start of
    each file: the first values, its first million bytes.

    Parameters
    ----------
    paths : path, or list of such
        A csv file, a folder, a pattern such as ``part-*.csv``.
    sep : str, default=None
        What stands between values, one character; None for a comma, a semicolon, a tab or a bar.
    decimal : {".", ","}, default=None
        The decimal mark.  None: a comma where numbers have commas and none has a point, with a
        warning that says so.
    encoding : str, default=None
        A name that Python knows, such as "utf-8", "cp1252" or "utf-16".  None: UTF-8, UTF-16, or
        Windows-1252 where the text is neither.
    missing : sequence of str, default=()
        Texts that stand for a missing value, such as "?" or "-", beside the usual ones: nothing,
        "NA", "N/A", "n/a", "NaN", "null" and a few more.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from srff import CsvFiles, SRFFRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2)).round(3)
    >>> rows = [f"{a};{b};{a * a:.3f}".replace(".", ",") for a, b in X]
    >>> model = SRFFRegressor(n_components=20, max_iter=5, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "table.csv")
    ...     _ = open(name, "w").write("\n".join(["a;b;y", *rows]))
    ...     model = model.fit(CsvFiles(name, decimal=","), "y")
    >>> model.get_feature_names_out().tolist()
    ['a']
    """

    paths: Any
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sep is not None and not (isinstance(self.sep, str) and len(self.sep) == 1):
            raise ValueError(f"sep={self.sep!r} must be one character, such as ';', or None.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal={self.decimal!r} must be '.', ',' or None.")
        if self.sep is not None and self.sep == self.decimal:
            raise ValueError(f"sep and decimal are both {self.sep!r}; they must be different.")
        if self.encoding is not None:
            _codec(self.encoding)
        given = self.missing
        if isinstance(given, str) or not all(isinstance(text, str) for text in given):
            raise ValueError(f"missing={given!r} must be a list of texts, such as ['?', '-'].")


@dataclass(frozen=True)
class Guess:
    """What was taken for what, and what says that it is not so."""

    text: str
    option: str
    other: str


@dataclass(frozen=True)
class Dialect:
    """How a file is written, with what was guessed of it."""

    encoding: str
    delimiter: str
    first_line: int
    """Bytes of the first line."""
    skip: int = 0
    """Lines before the names."""
    guesses: tuple[Guess, ...] = ()


def dialect_of(path: str, asked: CsvFiles) -> Dialect:
    """How a file is written, from its start."""
    start = _start(path, FIRST_BYTES)
    if start.startswith(SHEETS):
        raise TableError(
            f"{path}: this is a file of a spreadsheet, no text; save the table as csv."
        )
    guesses: tuple[Guess, ...] = ()
    if asked.encoding is not None:
        encoding = _codec(asked.encoding)
    else:
        encoding = _encoding(start)
        if encoding in ("cp1252", "latin-1"):
            text = "the text is not UTF-8 and is read as Windows-1252, of western Europe"
            guesses = (Guess(text, "encoding", "iso8859-2"),)
    text = start.decode(encoding, "replace").removeprefix("\ufeff")
    while not LINE_END.search(text) and len(start) < MOST_LINE:
        more = _start(path, 4 * len(start))
        if len(more) == len(start):
            break
        start, text = more, more.decode(encoding, "replace").removeprefix("\ufeff")
    end = LINE_END.search(text)
    first = text if end is None else text[: end.start()]
    lines = text[: len(first) + LOOKED_AT].splitlines()
    if len(lines) > 1 and len(text) > len(first) + LOOKED_AT:
        lines.pop()  # it may be cut off
    told = re.fullmatch(r'"?sep=(.)"?', lines[0].strip("\r")) if lines else None
    skip = 0 if told is None else 1
    delimiter = asked.sep or (told.group(1) if told else _delimiter(lines))
    return Dialect(encoding, delimiter, len(first.encode("utf-8", "replace")) + 1, skip, guesses)


def _codec(name: str) -> str:
    """A codec by the name that pyarrow and Python have for it."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding={name!r} is unknown; known are such as 'utf-8', 'cp1252', 'utf-16'."
        ) from None
    return UTF8 if known in ("utf-8", "utf-8-sig", "ascii") else known


def _start(path: str, size: int) -> bytes:
    """The first bytes of a file, compressed or not."""
    import pyarrow as pa

    start = b""
    with pa.input_stream(path) as stream:
        while len(start) < size and (more := stream.read(size - len(start))):
            start += more
    return start


def _encoding(start: bytes) -> str:
    """UTF-8 or UTF-16 where it can be, else what Windows writes in the west."""
    for mark, name in WIDE_MARKS.items():
        if start.startswith(mark):
            return name
    zeros = start.count(0)
    if zeros > len(start) / 4:  # Latin letters and digits in two bytes each
        return "utf-16-le" if start[1::2].count(0) * 2 > zeros else "utf-16-be"
    try:
        # The last character may be cut off.
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        try:
            start.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1"
        return "cp1252"
    return UTF8


def _delimiter(lines: list[str]) -> str:
    """What parts the names in the first line, as often as it does in those that follow.

    Of several that do a comma comes last: it may be a decimal mark.
    """
    plain = (re.sub(r'"[^"]*"', "", line) for line in lines if line.strip())
    first, *others = [*islice(plain, FIRST_LINES)] or [""]

    def order(mark: str) -> tuple[bool, bool, int]:
        n = first.count(mark)
        steady = n > 0 and bool(others) and all(line.count(mark) == n for line in others)
        return steady, steady and mark != ",", n

    return max(DELIMITERS, key=order)


def decimal_comma(columns: Iterable[tuple[str, Any]], delimiter: str) -> Guess | None:
    """Whether numbers are written with a decimal comma, by columns of text as pyarrow read them.

    They are if nearly all values of such a column are whole or have one comma, unless all could be
    thousands: where a comma parts values one of them must be no "1,200".
    """
    for name, values in columns:
        texts = [text.strip() for text in values.drop_null().unique().to_pylist()]
        with_comma = [text for text in texts if WITH_COMMA.fullmatch(text)]
        known = len(with_comma) + sum(bool(WHOLE.fullmatch(text)) for text in texts)
        doubtful = all(LIKE_THOUSANDS.fullmatch(text) for text in with_comma)
        if with_comma and known > MOSTLY * len(texts) and not doubtful:
            what = f"decimal commas, as in {with_comma[0]} of column {shown(name)}"
            return Guess(what, "decimal", ".")
    return None
