"""Checks of what a user passes: each error names the parameter, its value and what is accepted."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from srff._utils.arrays import refuse_times, to_host

LEAST_WEIGHT = 1e-12
"""The weight of a row, or of a class, that counts beside the largest one."""

LEAST_ROWS = 1.6
"""Kish's effective number of rows, ``(sum w)^2 / sum w^2``, below which one row is all there is."""

LARGEST_BUDGET = 1e15
"""The largest budget: with more, waves are too fast for their numbers."""

NO_WEIGHT = "sample_weight is zero for every row: there is nothing to learn from."


def check_integer(name: str, value: Any, low: int, *, or_text: str | None = None) -> int:
    """An integer of at least ``low``; ``or_text`` is what else the caller accepts."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
        other = f" or {or_text!r}" if or_text else ""
        raise ValueError(f"{name}={value!r} must be an integer of at least {low}{other}.")
    return int(value)


def check_positive(
    name: str, value: Any, *, most: float | None = None, or_text: str | None = None
) -> float | None:
    """A finite number above zero; None for the text ``or_text`` where that is accepted."""
    if or_text is not None and isinstance(value, str) and value == or_text:
        return None
    accepted = "a finite number above 0" + (f", at most {most:g}," if most else "")
    accepted += f" or {or_text!r}" if or_text else ""
    if not (is_number(value) and math.isfinite(value) and 0 < value <= (most or math.inf)):
        raise ValueError(f"{name}={value!r} must be {accepted}.")
    return float(value)


def check_tolerance(value: Any) -> float:
    """A share of the objective: from zero to one."""
    if not (is_number(value) and 0 <= value <= 1):
        raise ValueError(f"tol={value!r} must be a number from 0 to 1.")
    return float(value)


def check_callback(value: Any) -> None:
    """A function, or None."""
    if value is not None and not callable(value):
        raise ValueError(f"callback={value!r} must be None or something that can be called.")


def check_choice(name: str, value: Any, accepted: tuple[str, ...], *, or_none: bool = False) -> str:
    """One of a few texts; ``or_none`` says that the caller accepts None too."""
    if not isinstance(value, str) or value not in accepted:
        texts = ", ".join([*map(repr, accepted), *(["None"] if or_none else [])])
        raise ValueError(f"{name}={value!r} is unknown; accepted: {texts}.")
    return value


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_dtype(value: Any) -> Any:
    """float32, float64, or the text "auto"."""
    if isinstance(value, str) and value == "auto":
        return value
    try:
        dtype = np.dtype(value)
    except TypeError:
        dtype = np.dtype(object)
    if value is None or dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={value!r} must be 'auto', float32 or float64.")
    return dtype


def check_share_or_folds(name: str, value: Any) -> float | int:
    """A number strictly between zero and one, or a whole number of at least two."""
    if is_number(value) and 0 < value < 1:
        return float(value)
    if is_number(value) and isinstance(value, Integral) and int(value) >= 2:
        return int(value)
    raise ValueError(
        f"{name}={value!r} must be None, a fraction of the rows strictly between 0 and 1, a number "
        "of folds of at least 2, a pair (X, y), a splitter such as GroupKFold() of scikit-learn "
        "or a list of pairs (train, test) of indices."
    )


def check_folder(name: str, value: Any) -> None:
    """The path of a folder, or None; nothing is the folder that one happens to be in."""
    if value is None:
        return
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise ValueError(f"{name}={value!r} must be a folder or None.")


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Non-negative weights, one a row, not all zero; None for equal weights of one.

    Weights of less than ``LEAST_WEIGHT`` times the largest are zero: no sum would show them.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(X.shape[0], float(sample_weight))
    sample_weight = to_host(sample_weight)
    refuse_times(sample_weight, "sample_weight")
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.ndim != 1:
        raise ValueError(f"sample_weight must be one-dimensional, got shape {weight.shape}.")
    check_consistent_length(X, weight)
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g}.")
    if not (weight > 0).any():
        raise ValueError(NO_WEIGHT)
    weight = np.where(weight < LEAST_WEIGHT * weight.max(), 0.0, weight)
    effective = float(np.sum(weight / weight.max()) ** 2 / np.sum(np.square(weight / weight.max())))
    if effective < LEAST_ROWS and np.count_nonzero(weight) > 1:
        raise ValueError(
            f"sample_weight gives nearly all weight to one row: the others count as "
            f"{effective - 1:.2g} rows beside it, and there is nothing to compare it with."
        )
    # A common factor changes nothing; without one that is far from one no sum overflows.
    exponent = np.frexp(weight.max())[1]
    return np.ldexp(weight, -exponent) if abs(exponent) > 300 else weight


def check_target_weights(value: Any, n_targets: int) -> None:
    """The texts "variance" and "equal", or a number for each target."""
    if isinstance(value, str) and value in ("variance", "equal"):
        return
    try:
        weights = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.zeros(0)
    if weights.shape != (n_targets,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(
            f"target_weights={value!r} must be 'variance', 'equal' or {n_targets} numbers of at "
            "least 0, one for each target."
        )
    if not (weights > 0).any():
        raise ValueError("target_weights are all zero: there is nothing to learn.")


def check_names(names: Any) -> None:
    """Column names that name one column each; None for columns without names."""
    if names is None:
        return
    distinct, counts = np.unique(np.array(names, dtype=object), return_counts=True)
    if (counts > 1).any():
        repeated = ", ".join(map(repr, distinct[counts > 1].tolist()))
        raise ValueError(f"X has several columns of the same name: {repeated}. Rename them.")


def check_given(estimator: Any, y: Any) -> None:
    """Refuse a fit without a target, in scikit-learn's words."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")


def check_labels_are_there(y: Any) -> None:
    """Refuse missing labels of pandas' own kinds, which cannot be compared."""
    if hasattr(y, "isna") and not isinstance(getattr(y, "dtype", None), np.dtype):
        gaps = np.asarray(y.isna())
        if gaps.any():
            row = int(np.argmax(gaps.reshape(len(gaps), -1).any(axis=1)))
            raise ValueError(f"y has missing labels, the first in row {row}; leave their rows out.")


def check_no_text(y: Any) -> None:
    """Refuse labels where numbers are needed; texts of numbers are some."""
    values = np.asarray(y).ravel() if hasattr(y, "dtype") or isinstance(y, list) else np.zeros(0)
    word = _not_a_number(values) if values.dtype.kind in "OUS" else None
    if isinstance(word, str | bytes):
        raise ValueError(
            f"y holds text such as {str(word)!r}; a regressor needs numbers (SRFFClassifier takes "
            "labels)."
        )


def bad_value(X: Any, *, gaps: bool = False) -> str:
    """Where the first value of a table stands that is not a finite number, as a sentence.

    ``gaps`` says that NaN is none.
    """
    columns = getattr(X, "columns", None)
    if columns is None:
        X = np.asarray(X)
    if len(getattr(X, "shape", ())) != 2:
        return ""
    for k in range(X.shape[1]):
        column = X[:, k] if columns is None else X[columns[k]]
        name = f"column {k}" if columns is None else f"column {columns[k]!r}"
        try:
            values = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            return f" In {name} there is {_not_a_number(column)!r}; numbers are accepted."
        bad = np.flatnonzero(np.isinf(values) if gaps else ~np.isfinite(values))
        if bad.size:
            return f" In {name}, row {bad[0]}, there is {values[bad[0]]}."
    return ""


def _not_a_number(column: Any) -> Any:
    """The first entry that cannot be read as a number."""
    for value in np.asarray(column, dtype=object).tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return None


def is_number(value: Any) -> bool:
    """Whether this is a real number, and no bool."""
    return isinstance(value, Real) and not isinstance(value, bool)
