"""What must be known of all rows before they can be encoded, and the encoding that follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff._utils import parameters
from srff.data.encoding.columns import Category, Date, Encoding, Number
from srff.data.encoding.frames import Levels, is_dates
from srff.data.encoding.learning import check_how, encoder_of, onehot_category, target_category
from srff.data.encoding.level_means import LevelSums


@dataclass(frozen=True)
class TableFacts:
    """What all rows of a source tell, where they are not plain numbers.

    Attributes
    ----------
    levels : tuple of ndarray or None
        The levels of each column that is a category.
    classes : ndarray or None
        The classes, sorted; whole numbers as integers.
    class_weight : ndarray or None
        The total weight of the rows of each class.
    n_missing : ndarray of int
        Missing values of each column; zero for columns that were not looked at.
    medians : ndarray
        The median of each column of numbers, of a sample if there are many rows; zero for columns
        that were not looked at.
    sums : tuple of LevelSums or None
        Of each category, weights and means of the targets by level.
    unit : float
        The weight of one row.
    waves : dict of tuples of str
        Of each column of dates the waves of its cycles, by a sample of the rows.
    """

    levels: Levels
    classes: np.ndarray | None
    class_weight: np.ndarray | None
    n_missing: np.ndarray
    medians: np.ndarray
    sums: tuple[LevelSums | None, ...]
    unit: float = 1.0
    waves: dict[int, tuple[str, ...]] = field(default_factory=dict)


def source_encoding(facts: TableFacts, how: Any = "auto", missing: str = "error") -> Encoding:
    """The encoding of the rows of a source.

    Parameters
    ----------
    facts : TableFacts
        What :func:`~srff.data.sources.learning.learn_facts` found, with the same ``missing``.
    how : {"auto", "onehot", "target"}, OneHotEncoder or TargetEncoder, default="auto"
        As of :func:`srff.data.encoding.learning.learn_encoding`.  Means of the target are those
        of all rows, not of other folds.
    missing : {"error", "impute"}, default="error"
        Whether a missing value is an error, or is filled in.

    Returns
    -------
    encoding : Encoding
    """
    parameters.check_choice("missing", missing, ("error", "impute"))
    check_how("categories", how)
    if isinstance(how, OneHotEncoder) and (
        how.min_frequency is not None or how.max_categories is not None
    ):
        raise ValueError(
            f"{how!r}: min_frequency and max_categories need rows in memory, as an array or a data "
            "frame."
        )
    columns: list[Number | Category] = []
    for k, known in enumerate(facts.levels):
        gaps, sums = bool(facts.n_missing[k]), facts.sums[k]
        if known is None or is_dates(known):
            filled = Number(float(facts.medians[k]), gaps) if missing == "impute" else Number()
            if is_dates(known):
                filled = Date.of(filled, facts.waves[k])
            columns.append(filled)
            continue
        encoder = encoder_of(known, how)
        if isinstance(encoder, TargetEncoder):
            assert sums is not None
            columns.append(target_category(encoder, sums, missing))
        else:
            codes = np.arange(known.size + gaps, dtype=np.float64)
            codes[known.size :] = np.nan
            columns.append(onehot_category(encoder, codes, known.size, missing))
    return Encoding(tuple(columns))
