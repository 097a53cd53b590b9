"""The encoding of training rows: how categories and missing values become numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff._utils import parameters
from srff.data.encoding.columns import Category, Date, Encoding, Number, waves_of
from srff.data.encoding.frames import Levels, is_category, is_dates
from srff.data.encoding.level_means import (
    LevelSums,
    cross_fitted,
    fold_keys,
    level_sums,
    smoothed_means,
    target_columns,
)

MOST_ONEHOT = 16
"""Levels up to which ``"auto"`` has a column for each."""

ONEHOT = OneHotEncoder(handle_unknown="ignore", drop="if_binary")
TARGET = TargetEncoder()
HOWS = ("auto", "onehot", "target")


def check_how(name: str, how: Any) -> None:
    """Refuse what is no way to encode categories."""
    encoders = OneHotEncoder | TargetEncoder
    if isinstance(how, encoders):
        drop = getattr(how, "drop", None)
        if not isinstance(how.categories, str):
            raise ValueError(
                f"{name}={how!r} has categories of its own; they must be 'auto', the levels of "
                "the training rows."
            )
        if not (drop is None or isinstance(drop, str)):
            raise ValueError(f"{name}={how!r} must have drop=None, 'first' or 'if_binary'.")
    elif not isinstance(how, str) or how not in HOWS:
        texts = ", ".join(map(repr, HOWS))
        raise ValueError(
            f"{name}={how!r} is unknown; accepted: {texts}, or a OneHotEncoder or TargetEncoder "
            "of scikit-learn."
        )


def encoder_of(levels: np.ndarray, how: Any) -> Any:
    """scikit-learn's encoder of a column with these levels."""
    if isinstance(how, OneHotEncoder):
        return how
    # A boolean is one column of zeros and ones in any case: means would be two values as well.
    onehot = how == "onehot" or (how == "auto" and levels.size <= MOST_ONEHOT)
    if onehot or levels.dtype == bool:
        return ONEHOT
    return TARGET if isinstance(how, str) else how


def learn_encoding(
    coded: np.ndarray,
    y: np.ndarray | None,
    levels: Levels,
    how: Any = "auto",
    missing: str = "error",
    weight: np.ndarray | None = None,
    random_state: Any = None,
    *,
    names: Sequence[str] | None = None,
) -> tuple[Encoding, np.ndarray]:
    """The encoding of training rows, and these rows encoded.

    Parameters
    ----------
    coded : ndarray of shape (n_samples, n_features)
        Coded rows: see :func:`srff.data.encoding.frames.coded`.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets), or None
        Targets, or the indicators of classes; what means at levels are taken of.
    levels : tuple of ndarray or None
        The levels of each column.
    how : {"auto", "onehot", "target"}, OneHotEncoder or TargetEncoder, default="auto"
        A column for each level, the mean of the target at each level, or one-hot up to 16 levels
        and means above; or an encoder of scikit-learn, whose settings hold for every category.
    missing : {"error", "impute"}, default="error"
        Whether a missing value is an error; or a number is filled with the median, with a column
        that marks it, and a missing category is a level of its own.
    weight : ndarray of shape (n_samples,), default=None
        Row weights.
    random_state : int, RandomState instance or None
        For the folds of target means.
    names : sequence of str, default=None
        What errors call the columns.

    Returns
    -------
    encoding : Encoding
    encoded : ndarray of shape (n_samples, encoding.width)
        The training rows: where means are taken, each row's is that of the rows of other folds,
        as by scikit-learn's :class:`~sklearn.preprocessing.TargetEncoder`.  Folds are chosen by
        what rows hold: the order of rows changes nothing and copies stay together.
    """
    parameters.check_choice("missing", missing, ("error", "impute"))
    check_how("categories", how)
    _check_coded(coded, levels, missing, names)
    encoders = [encoder_of(known, how) if is_category(known) else None for known in levels]
    by_target = [k for k, encoder in enumerate(encoders) if isinstance(encoder, TargetEncoder)]
    targets = target_columns(y) if by_target else np.zeros((coded.shape[0], 0))
    columns = tuple(
        _column(coded[:, k], known, encoders[k], targets, weight, missing)
        for k, known in enumerate(levels)
    )
    encoding = Encoding(columns)
    encoded = encoding.unchecked(coded)
    keys = fold_keys(coded, targets, random_state) if by_target else np.zeros(0)
    for k in by_target:
        column: Any = columns[k]
        means = cross_fitted(encoders[k], coded[:, k], targets, weight, keys, column.table)
        encoded[:, encoding.source == k] = means
    return encoding, encoded


def _column(
    codes: np.ndarray,
    levels: np.ndarray | None,
    encoder: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    missing: str,
) -> Number | Category:
    """What becomes of one column."""
    if is_dates(levels):
        return Date.of(_number(codes, missing, weight), waves_of(codes))
    if levels is None:
        return _number(codes, missing, weight)
    if isinstance(encoder, TargetEncoder):
        sums = level_sums(codes, targets, weight, levels.size)
        return target_category(encoder, sums, missing)
    return onehot_category(encoder, codes, levels.size, missing)


def _check_coded(
    coded: np.ndarray, levels: Levels, missing: str, names: Sequence[str] | None
) -> None:
    """Refuse infinity, and missing values where they are an error."""
    fill = None if missing == "error" else 0.0
    refuse = np.nan if missing == "error" else 0.0
    check: list[Number | Category] = []
    for known in levels:
        if known is None or is_dates(known):
            check.append(Number(fill))
        else:
            table = np.zeros((known.size + 2, 1))
            table[known.size] = refuse
            check.append(Category(table))
    found = Encoding(tuple(check)).refused(coded, names)
    if found is not None:
        row, what = found
        hint = " missing='impute' fills missing values in." if "missing" in what else ""
        raise ValueError(f"{what[0].upper()}{what[1:]} in row {row}.{hint}")


def _number(codes: np.ndarray, missing: str, weight: np.ndarray | None) -> Number:
    """A column that is filled with its median, where missing values may be."""
    if missing == "error":
        return Number()
    return Number(median(codes, weight), bool(np.isnan(codes).any()))


def median(values: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The median, that of rows written as often as they weigh; zero if all are missing."""
    there = ~np.isnan(values)
    if not there.any():
        return 0.0
    known = values[there]
    if weight is None:
        low, high = (known.size - 1) // 2, known.size // 2
        ordered = np.partition(known, (low, high))
    else:
        order = np.argsort(known, kind="stable")
        ordered, mass = known[order], np.cumsum(weight[there][order])
        low, high = (int(np.searchsorted(mass, mass[-1] / 2, side)) for side in ("left", "right"))
        high = min(high, known.size - 1)
    return float(ordered[low] / 2 + ordered[high] / 2)


def onehot_category(encoder: Any, codes: np.ndarray, n_levels: int, missing: str) -> Category:
    """What a OneHotEncoder that is fitted on the codes of a column makes of each level."""
    if encoder is ONEHOT:
        codes = np.unique(codes)
    fitted = clone(encoder).set_output(transform="default")
    fitted = fitted.set_params(sparse_output=False, dtype=np.float64).fit(codes.reshape(-1, 1))
    values = np.array([*range(n_levels), np.nan, -1.0])
    seen = np.isin(values, fitted.categories_[0])
    seen[n_levels] = np.isnan(fitted.categories_[0]).any()
    told = seen | (fitted.handle_unknown != "error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of levels that it does not know
        known = fitted.transform(values[told].reshape(-1, 1))
    table = np.full((values.size, known.shape[1]), np.nan)
    table[told] = known
    return _category(table, bool(seen[n_levels]), missing, onehot=True)


def _category(table: np.ndarray, missing_seen: bool, missing: str, *, onehot: bool) -> Category:
    if not table.shape[1]:
        table = np.zeros((table.shape[0], 1))  # a constant, which no model uses
    if missing == "error":
        table[-2] = np.nan
    elif not missing_seen:
        table[-2] = table[-1]
    return Category(table, onehot, joint=onehot and table.shape[1] > 1)


def target_category(encoder: TargetEncoder, sums: LevelSums, missing: str) -> Category:
    """The smoothed means of a column's levels; that of all rows for an unseen level."""
    means, overall = smoothed_means(sums, encoder.smooth)
    table = np.vstack([means, overall])
    return _category(table, bool(sums.weight[-1] > 0), missing, onehot=False)
