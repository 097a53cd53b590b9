"""From codes to the columns that a model learns from: categories and missing values.

A *coded* matrix (:mod:`srff.data.encoding.frames`) has a column for each of the user's table; the
*encoded* one may have several: a category becomes one-hot columns or the means of the target at
its levels, a number with gaps is filled and has a column that marks them.  All of it is plain
data, and works on any run of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff._utils import parameters
from srff.data.encoding.frames import Levels, label
from srff.data.encoding.level_means import (
    LevelSums,
    cross_fitted,
    fold_keys,
    level_rows,
    level_sums,
    smoothed_means,
    target_columns,
)

MOST_ONEHOT = 16
"""Levels up to which ``"auto"`` has a column for each."""

ONEHOT = OneHotEncoder(handle_unknown="ignore", drop="if_binary")
TARGET = TargetEncoder()
HOWS = ("auto", "onehot", "target")


@dataclass(frozen=True)
class Number:
    """A column of numbers: ``fill`` stands for a missing one; None where none may be missing.

    ``value`` and ``indicator`` say which columns it gives: the numbers, and a one where one was
    missing.
    """

    fill: float | None = None
    indicator: bool = False
    value: bool = True

    @property
    def width(self) -> int:
        """Encoded columns."""
        return int(self.value) + int(self.indicator)

    def take(self, columns: np.ndarray) -> Number:
        """Some of the encoded columns."""
        kinds = [kind for kind in ("value", "indicator") if getattr(self, kind)]
        kept = {kinds[k] for k in columns}
        return replace(self, value="value" in kept, indicator="indicator" in kept)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """The encoded columns of some rows."""
        missing = np.isnan(codes)
        parts = []
        if self.value:
            parts.append(codes if self.fill is None else np.where(missing, self.fill, codes))
        if self.indicator:
            parts.append(missing.astype(np.float64))
        return np.stack(parts, axis=1)


@dataclass(frozen=True)
class Category:
    """A category: a row of encoded values for each level, for a missing one, for an unseen one.

    A row of NaN says that such a value is refused.  ``onehot`` columns are zeros and ones, means
    of the target otherwise; ``joint`` ones were one of several.
    """

    table: np.ndarray
    onehot: bool = True
    joint: bool = False

    @property
    def width(self) -> int:
        """Encoded columns."""
        return int(self.table.shape[1])

    @property
    def n_levels(self) -> int:
        """Levels that the fit saw."""
        return self.table.shape[0] - 2

    def take(self, columns: np.ndarray) -> Category:
        """Some of the encoded columns."""
        return replace(self, table=self.table[:, columns])

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """The encoded columns of some rows."""
        return self.table[level_rows(codes, self.n_levels)]


@dataclass(frozen=True)
class Encoding:
    """What becomes of each column of a coded matrix.

    Called with coded rows it gives the encoded ones, in float64.  ``order`` are the encoded
    columns in the order that is wanted; None as they come.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.data.encoding.columns import learn_encoding
    >>> coded = np.array([[0.5, 0], [np.nan, 1], [2.5, 2]])
    >>> levels = (None, np.array(["blue", "green", "red"], dtype=object))
    >>> encoding, rows = learn_encoding(coded, None, levels, missing="impute")
    >>> encoding.names(["size", "colour"], levels)
    ['size', 'size missing', 'colour=blue', 'colour=green', 'colour=red']
    >>> rows
    array([[0.5, 0. , 1. , 0. , 0. ],
           [1.5, 1. , 0. , 1. , 0. ],
           [2.5, 0. , 0. , 0. , 1. ]])
    >>> encoding.take([4])(np.array([[2.0], [-1.0]]))
    array([[1.],
           [0.]])
    """

    columns: tuple[Number | Category, ...]
    order: np.ndarray | None = None

    @property
    def source(self) -> np.ndarray:
        """For each encoded column the coded one that it comes from."""
        return self._ordered(np.repeat(np.arange(len(self.columns)), self._widths))

    @property
    def joint(self) -> np.ndarray:
        """A mask of the encoded columns that are one-hot columns of several."""
        joint = [isinstance(column, Category) and column.joint for column in self.columns]
        return self._ordered(np.repeat(np.array(joint, dtype=bool), self._widths))

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return sum(self._widths) if self.order is None else int(self.order.size)

    @property
    def trivial(self) -> bool:
        """Whether the encoded rows are the coded ones."""
        return self.order is None and all(column == Number() for column in self.columns)

    def needed(self, columns: Any) -> np.ndarray:
        """The coded columns that some encoded ones come from, in their order."""
        return np.unique(self.source[np.asarray(columns, dtype=np.intp)])

    def take(self, columns: Any) -> Encoding:
        """The encoding of the ``needed`` coded columns alone that gives these encoded columns."""
        columns = np.asarray(columns, dtype=np.intp)
        if self.order is not None:
            columns = self.order[columns]
        distinct = np.unique(columns)
        starts = np.cumsum([0, *self._widths])
        of = np.searchsorted(starts, distinct, side="right") - 1
        kept = tuple(
            self.columns[k].take(distinct[of == k] - starts[k]) for k in np.unique(of).tolist()
        )
        order = np.searchsorted(distinct, columns)
        in_order = np.array_equal(order, np.arange(distinct.size))
        return Encoding(kept, None if in_order else order)

    def __call__(self, coded: np.ndarray, names: Sequence[str] | None = None) -> np.ndarray:
        """The encoded rows; an error names a column where a value is refused."""
        found = self.refused(coded, names)
        if found is not None:
            row, what = found
            raise ValueError(f"{what[0].upper()}{what[1:]} in row {row}.")
        return self.unchecked(coded)

    def unchecked(self, coded: np.ndarray) -> np.ndarray:
        """The encoded rows of codes that are known to be good."""
        if self.trivial:
            return coded
        out = np.empty((coded.shape[0], sum(self._widths)), order="F")
        start = 0
        for k, column in enumerate(self.columns):
            out[:, start : start + column.width] = column(coded[:, k])
            start += column.width
        return out if self.order is None else out[:, self.order]

    def refused(
        self, coded: np.ndarray, names: Sequence[str] | None = None
    ) -> tuple[int, str] | None:
        """The row of the first value that cannot be encoded and what is wrong there, if any."""
        with np.errstate(over="ignore", invalid="ignore"):
            finite = bool(np.isfinite(np.sum(coded)))
        for k, column in enumerate(self.columns):
            codes = coded[:, k]
            if isinstance(column, Category):
                if np.isfinite(column.table[-2:]).all():
                    continue
                rows = level_rows(codes, column.n_levels)
                bad = np.isnan(column.table).any(axis=1)[rows]
                unseen = "a level that the fit did not see"
            elif finite:
                continue
            else:
                bad = np.isinf(codes) if column.fill is not None else ~np.isfinite(codes)
                unseen = "infinity"
            if bad.any():
                row = int(np.argmax(bad))
                what = "a missing value or NaN" if np.isnan(codes[row]) else unseen
                return row, f"{label(k, names)} holds {what}"
        return None

    def names(self, raw: Sequence[str], levels: Levels) -> list[str]:
        """A name for each encoded column, from those of the coded ones and their levels."""
        out = [
            name
            for k, column in enumerate(self.columns)
            for name in _encoded_names(column, raw[k], levels[k])
        ]
        return out if self.order is None else [out[k] for k in self.order]

    @property
    def _widths(self) -> list[int]:
        return [column.width for column in self.columns]

    def _ordered(self, values: np.ndarray) -> np.ndarray:
        return values if self.order is None else values[self.order]


def _encoded_names(column: Number | Category, raw: str, levels: np.ndarray | None) -> list[str]:
    if isinstance(column, Number):
        return [raw] * column.value + [f"{raw} missing"] * column.indicator
    if not column.onehot:
        several = column.width > 1
        return [f"{raw} mean {j}" if several else f"{raw} mean" for j in range(column.width)]
    assert levels is not None
    out = []
    for values in column.table[:-1].T:
        here = [_shown(level) for level, v in zip(levels.tolist(), values[:-1], strict=True) if v]
        only_missing = not here and values[-1] == 1
        out.append(f"{raw} missing" if only_missing else f"{raw}={'|'.join(here)}")
    return out


def _shown(level: Any) -> str:
    """A level in a name; whole numbers without a fraction."""
    whole = isinstance(level, float) and level.is_integer()
    return str(int(level) if whole else level)


@dataclass(frozen=True)
class Outcome:
    """What becomes of class codes: indicators of classes, and weights by class.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.data.encoding.columns import Outcome
    >>> Outcome(3, None)(np.array([[0.0], [2.0]]), None)
    (array([[1., 0., 0.],
           [0., 0., 1.]]), None)
    """

    n_classes: int
    class_weight: np.ndarray | None = None

    @property
    def width(self) -> int:
        """Columns of the target: one of 0 and 1 for two classes, else one for each."""
        return 1 if self.n_classes <= 2 else self.n_classes

    def __call__(
        self, codes: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Indicators and weights of rows whose classes have these numbers."""
        own = codes.reshape(-1).astype(np.intp)
        if self.n_classes <= 2:
            target = own[:, None].astype(np.float64)
        else:
            target = np.eye(self.n_classes)[own]
        if self.class_weight is not None:
            by_class = self.class_weight[own]
            weight = by_class if weight is None else weight * by_class
        return target, weight


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
    encoders = [None if known is None else encoder_of(known, how) for known in levels]
    by_target = [k for k, encoder in enumerate(encoders) if isinstance(encoder, TargetEncoder)]
    targets = target_columns(y) if by_target else np.zeros((coded.shape[0], 0))
    columns: list[Number | Category] = []
    for k, known in enumerate(levels):
        codes = coded[:, k]
        if known is None:
            columns.append(_number(codes, missing, weight))
        elif k in by_target:
            sums = level_sums(codes, targets, weight, known.size)
            columns.append(target_category(encoders[k], sums, missing))
        else:
            columns.append(onehot_category(encoders[k], codes, known.size, missing))
    encoding = Encoding(tuple(columns))
    encoded = encoding.unchecked(coded)
    if by_target:
        keys = fold_keys(coded, targets, random_state)
        for k in by_target:
            column = columns[k]
            assert isinstance(column, Category)
            encoded[:, encoding.source == k] = cross_fitted(
                encoders[k], coded[:, k], targets, weight, keys, column.table
            )
    return encoding, encoded


def _check_coded(
    coded: np.ndarray, levels: Levels, missing: str, names: Sequence[str] | None
) -> None:
    """Refuse infinity, and missing values where they are an error."""
    fill = None if missing == "error" else 0.0
    refuse = np.nan if missing == "error" else 0.0
    check: list[Number | Category] = []
    for known in levels:
        if known is None:
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
    if missing == "error":
        return Number()
    return number_of(codes, weight, bool(np.isnan(codes).any()))


def number_of(values: np.ndarray, weight: np.ndarray | None, indicator: bool) -> Number:
    """A column that is filled with the median of some values, those that are missing left out."""
    return Number(median(values, weight), indicator)


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
