"""Texts that stand for numbers or dates: a column of them is hardly meant as a category."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

MOSTLY = 0.95
"""The share of numbers among a column's texts above which the others look like slips."""

FEW_TEXTS = 20
"""Different texts up to which they may well be levels, whatever they look like."""

_DIGITS = r"\d[\d.,'\u2019\u00a0\u202f ]*"
_SIGN = r"[-+\u2212]?\s*"
_CURRENCY = r"(?:[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY)"
DATES = "dates or times"
LOOKS = {
    "percentages": rf"{_SIGN}{_DIGITS}%",
    "amounts of money": rf"{_SIGN}{_CURRENCY}\s*{_SIGN}{_DIGITS}|{_SIGN}{_DIGITS}{_CURRENCY}",
    "numbers with thousands separators": (
        rf"{_SIGN}[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d*)?|{_SIGN}[1-9]\d{{0,2}}(?:\.\d{{3}})+(?:,\d*)?"
        rf"|{_SIGN}\d{{1,3}}(?:['\u2019\u00a0\u202f ]\d{{3}})+(?:[.,]\d*)?"
    ),
    "numbers with decimal commas": rf"{_SIGN}\d*,\d+",
    DATES: (
        r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}/\d{1,2}/\d{2})"
        r"(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
    ),
}
"""Texts that somebody wrote for a number or a date, and how they look."""

_LOOKS = {what: re.compile(pattern) for what, pattern in LOOKS.items()}


def is_number(value: Any) -> bool:
    """Whether a text reads as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def stray_texts(values: Sequence[Any], counts: np.ndarray) -> np.ndarray | None:
    """Which of a column's distinct values are no numbers, where nearly all others are.

    None where no value is a stray: all are numbers, or too many of them are not, both of the
    distinct values and of all that ``counts`` says.
    """
    words = np.array([not is_number(value) for value in values], dtype=bool)
    if not words.any():
        return None
    share = max(1 - words.mean(), 1 - counts[words].sum() / counts.sum())
    return words if share > MOSTLY else None


def stands_for(values: Sequence[Any]) -> tuple[str, Any] | None:
    """What a column's distinct texts were written for, if they are many, and one of them.

    None where they are numbers as they stand, or too many of them are anything else.
    """
    if len(values) <= FEW_TEXTS:
        return None
    found: Counter[str] = Counter()
    first: dict[str, Any] = {}
    for value in values:
        text = value.strip() if isinstance(value, str) and not is_number(value) else ""
        look = next((what for what, how in _LOOKS.items() if how.fullmatch(text)), "")
        if look or is_number(value):
            found[look] += 1
            first.setdefault(look, value)
    known = found.total()
    del found[""]
    if not found or known <= MOSTLY * len(values):
        return None
    commas = "numbers with decimal commas"  # a value such as 1,234 may be of either kind
    what = commas if found[commas] else found.most_common(1)[0][0]
    return what, first[what]


def stands_for_error(name: str, where: str, what: str, value: Any) -> ValueError:
    """The error of a column of such texts; ``where`` says where one of them stands."""
    how = "pandas.to_datetime makes dates of it" if what == DATES else "Make the column numbers"
    return ValueError(
        f"{name[0].upper()}{name[1:]} holds text that is {what}, such as {value!r}{where}. {how}, "
        "or name it in categorical_features if it is meant as a category."
    )


def stray_text_error(name: str, where: str, value: Any) -> ValueError:
    """The error of a column with such a text; ``where`` is the row, and what it is a row of."""
    return ValueError(
        f"{name[0].upper()}{name[1:]} holds text, nearly all of it numbers; {where} has {value!r}. "
        "Make the column numbers, with NaN or None where a value is missing, or name it in "
        "categorical_features if it is meant as a category."
    )
