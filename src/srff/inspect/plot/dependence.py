"""Partial dependence: the mean prediction where a variable, or two, are set to a value."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import resample
from sklearn.utils.validation import validate_data

from srff._utils.arrays import to_host
from srff.data.encoding.frames import UNSEEN, coded, is_category, is_dates
from srff.inspect.evaluate import coded_inputs, outputs_of
from srff.inspect.outcome import Output, outcome_of

CURVE, SURFACE = 40, 15
"""Values of a variable at which a curve and a surface are computed."""

DRAWN_LEVELS = 12
"""Levels of a category that are drawn: the most frequent."""

MISSING = "missing"

WEEK = 7.0
"""Days: dates that move by weeks keep their weekday and their time of day."""

Panel = tuple[int, ...]
"""The columns of a plot: one, or a pair."""


class CodedPredictor(RegressorMixin, BaseEstimator):
    """What a model says of *coded* rows (:mod:`srff.data.encoding.frames`): predictions or chances.

    A missing category has the number after the last level here, so that it is one of the values.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> CodedPredictor:
        """Nothing: the model is fitted."""
        return self

    def levels(self, column: int) -> list[str] | None:
        """The levels of a category, the last one for missing values; None for numbers."""
        known = getattr(self.model, "levels_", None)
        if known is None or not is_category(known[column]):
            return None
        return [*map(str, known[column].tolist()), MISSING]

    def is_date(self, column: int) -> bool:
        """Whether its numbers are days."""
        known = getattr(self.model, "levels_", None)
        return known is not None and is_dates(known[column])

    def imputes(self, column: int) -> bool:
        """Whether the model has seen that a number can be missing."""
        encoding = getattr(self.model, "encoding_", None)
        return encoding is not None and bool(getattr(encoding.columns[column], "indicator", False))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predictions (rows,) or (rows, targets), or chances of the classes."""
        model = _without_names(self.model)
        outcome = outcome_of(model)
        if getattr(model, "encoding_", None) is None:
            return outcome.predict(X)
        X = X.copy()
        for k in range(X.shape[1]):
            levels = self.levels(k)
            if levels is not None:
                X[X[:, k] == len(levels) - 1, k] = np.nan
        return outcome.predictions(outputs_of(model, coded_inputs(model, X)))


class InOwnHour(CodedPredictor):
    """A predictor for rows whose dates are moved: each keeps its weekday and its time of day.

    The curve of a date is then what the weeks of the year and the years make of it.
    """

    def __init__(self, predictor: CodedPredictor, own: dict[int, np.ndarray]) -> None:
        super().__init__(predictor.model)
        self.own = own

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predictions of the rows, in weeks that the dates say."""
        X = X.copy()
        for j, hours in self.own.items():
            X[:, j] = np.floor(X[:, j] / WEEK) * WEEK + np.resize(hours, X.shape[0])
        return super().predict(X)


def _without_names(model: Any) -> Any:
    """The model for plain arrays, which need no checks of names."""
    if not hasattr(model, "feature_names_in_"):
        return model
    model = copy.copy(model)
    del model.feature_names_in_
    return model


def sampled_rows(model: Any, X: Any, sample: int, random_state: Any, drawn: set[int]) -> np.ndarray:
    """Some of the rows, checked, as float64; categories as the numbers of their levels.

    Of a table with categories only the columns that the model reads or that are drawn are looked
    at; the others are zero.
    """
    X = to_host(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows > sample:
        X = resample(X, replace=False, n_samples=sample, random_state=random_state)
    if getattr(model, "encoding_", None) is None:
        return validate_data(model, X, dtype=np.float64, reset=False)
    validate_data(model, X, reset=False, skip_check_array=True)
    needed = np.union1d(model.encoding_.needed(model.columns_), sorted(drawn)).astype(np.intp)
    codes = np.zeros((X.shape[0], len(model.levels_)))
    codes[:, needed] = coded(X, model.levels_, needed)
    return codes


def dependence(
    predictor: CodedPredictor, rows: np.ndarray, panel: Panel, outputs: list[Output]
) -> Any:
    """Means of the prediction on the grid of one plot: one table for each output drawn."""
    from sklearn.inspection import partial_dependence

    levels = [predictor.levels(j) for j in panel]
    rows = rows.copy()
    for j, known in zip(panel, levels, strict=True):
        rows[:, j] = _filled(rows[:, j]) if known is None else _drawn_codes(rows[:, j], len(known))
    low, high = np.quantile(rows[:, panel], (0.05, 0.95), axis=0)
    grid = CURVE if len(panel) == 1 else SURFACE
    own = {j: rows[:, j] % WEEK for j in panel if predictor.is_date(j)}
    found = partial_dependence(
        InOwnHour(predictor, own) if own else predictor,
        rows,
        panel,
        kind="average",
        grid_resolution=max([grid, *(len(known) for known in levels if known is not None)]),
        categorical_features=[j for j, known in zip(panel, levels, strict=True) if known] or None,
        # A column that is nearly always the same has no middle to keep to.
        percentiles=(0.05, 0.95) if (low < high).all() else (0, 1),
    )
    found["average"] = found["average"][[k for k, _ in outputs]]
    return found


def where_missing(
    predictor: CodedPredictor, rows: np.ndarray, panel: Panel, outputs: list[Output]
) -> np.ndarray | None:
    """The mean predictions where a number is missing in all rows; None if it never is."""
    (j, *others) = panel
    if others or predictor.levels(j) is not None or not predictor.imputes(j):
        return None
    rows = rows.copy()
    rows[:, j] = np.nan
    said = predictor.predict(rows)
    return said.reshape(said.shape[0], -1).mean(axis=0)[[k for k, _ in outputs]]


def _filled(values: np.ndarray) -> np.ndarray:
    """Numbers with their median where they are missing: it is a value that they have."""
    gaps = np.isnan(values)
    if not gaps.any():
        return values
    there = np.sort(values[~gaps])
    return np.where(gaps, there[there.size // 2] if there.size else 0.0, values)


def _drawn_codes(codes: np.ndarray, n_values: int) -> np.ndarray:
    """Levels that are drawn, the most frequent, the number after the last for missing ones."""
    codes = np.where(np.isnan(codes), n_values - 1, codes)
    seen = codes[codes != UNSEEN].astype(np.intp)
    frequent = np.argsort(-np.bincount(seen, minlength=n_values), kind="stable")[:DRAWN_LEVELS]
    return np.where(np.isin(codes, frequent), codes, frequent[0])
