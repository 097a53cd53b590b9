"""Texts that are numbers but for a few: a column of them is hardly meant as a category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MOSTLY = 0.95
"""The share of numbers among a column's texts above which the others look like slips."""


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


def stray_text_error(name: str, where: str, value: Any) -> ValueError:
    """The error of a column with such a text; ``where`` is the row, and what it is a row of."""
    return ValueError(
        f"{name[0].upper()}{name[1:]} holds text, nearly all of it numbers; {where} has {value!r}. "
        "Make the column numbers, with NaN or None where a value is missing, or name it in "
        "categorical_features if it is meant as a category."
    )
