"""What the baselines share: scikit-learn's conventions around a fit that is chosen on other rows.

A baseline fits a path of candidates on its training rows and keeps the one of lowest mean squared
error on its validation rows.  It says what it fits in ``_fit`` and how it predicts in ``_predict``;
checks, splits and the arithmetic of choosing are here.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from srff._utils.arrays import HostScoreMixin, to_host
from srff.data.dataset import DEFAULT_VALIDATION
from srff.data.encoding.frames import refuse_others
from srff.data.split import key_multipliers, row_keys, split_rows
from srff.paper.alpha_search import lowest

N_CANDIDATES = 50
"""Length of the grids that are searched, the paper's."""


class Split(NamedTuple):
    """Rows to learn from, and rows to choose a candidate on."""

    X: np.ndarray
    y: np.ndarray
    X_held: np.ndarray
    y_held: np.ndarray


class Baseline(HostScoreMixin, RegressorMixin, BaseEstimator):
    """A regressor whose hyper-parameters are chosen by validation error.

    Parameters
    ----------
    validation : pair (X, y) or None, default=None
        Rows that hyper-parameters are chosen on, never learned from.  None holds out a fifth of
        the training rows, by a hash of their values; the model is the one fitted on the others.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out and of what is random in the method.

    Attributes
    ----------
    selected_ : integer ndarray or None
        Columns that the model uses, in rising order; None if the method does not select.
    """

    _has_choices: ClassVar[bool] = True
    """False for a method without hyper-parameters: it learns from all rows."""

    def __init__(self, validation: Any = None, random_state: Any = None) -> None:
        self.validation = validation
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the candidates and keep the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Target.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._validate(X, y, ensure_min_samples=2)
        rng = check_random_state(self.random_state)
        self._fit(self._split(X, y, rng), rng)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = to_host(X)
        refuse_others(X)
        return self._predict(validate_data(self, X, dtype=np.float64, reset=False))

    def _split(self, X: np.ndarray, y: np.ndarray, rng: np.random.RandomState) -> Split:
        """The rows of a fit: as given, or with some held out."""
        if self.validation is not None:
            if not isinstance(self.validation, tuple | list) or len(self.validation) != 2:
                raise ValueError(f"validation={self.validation!r} must be None or a pair (X, y).")
            return Split(X, y, *self._validate(*self.validation, reset=False))
        held = np.zeros(X.shape[0], dtype=bool)
        if self._has_choices:
            keys = row_keys(X, y[:, None], key_multipliers(rng, X.shape[1]))
            held = split_rows(keys, None, DEFAULT_VALIDATION)
        return Split(X[~held], y[~held], X[held], y[held])

    def _validate(self, X: Any, y: Any, **checks: Any) -> tuple[np.ndarray, np.ndarray]:
        """scikit-learn's checks of inputs and target; both come back as float64."""
        X = to_host(X)
        refuse_others(X)
        X, y = validate_data(self, X, to_host(y), dtype=np.float64, y_numeric=True, **checks)
        return X, y.astype(np.float64, copy=False)

    def _check_parameters(self) -> None:
        """Refuse what the constructor was given wrongly."""

    @abstractmethod
    def _fit(self, rows: Split, rng: np.random.RandomState) -> None:
        """Fit candidates on the training rows, choose on the others, set ``selected_``."""

    @abstractmethod
    def _predict(self, X: np.ndarray) -> np.ndarray:
        """The prediction for checked inputs."""


class MeanBaseline(Baseline):
    """The mean of the target, whatever the inputs.

    Parameters
    ----------
    validation : pair (X, y) or None, default=None
        Accepted for the common interface: nothing is chosen, and all rows are learned from.
    random_state : int, RandomState instance or None, default=None
        Accepted for the common interface.

    Attributes
    ----------
    intercept_ : float
        The mean.
    selected_ : None
        The method does not select.

    Examples
    --------
    >>> from srff.baselines import MeanBaseline
    >>> MeanBaseline().fit([[1.0], [2.0]], [3.0, 5.0]).predict([[7.0]])
    array([4.])
    """

    _has_choices = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _fit(self, rows: Split, rng: np.random.RandomState) -> None:
        self.intercept_ = float(rows.y.mean())
        self.selected_ = None

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(X.shape[0], self.intercept_)


def lambda_grid(top: float, n_rows: int, n_columns: int) -> np.ndarray:
    """Log-spaced penalties, falling from ``top``, the least that leaves a model empty.

    The lower end is a thousandth of it, or a hundredth with more columns than rows: a model that
    goes through all rows is near there, takes most of the time and is never chosen.
    """
    share = 1e-3 if n_rows > n_columns else 1e-2
    return top * np.logspace(0, np.log10(share), N_CANDIDATES)


def squared_errors(y: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """Mean squared error of each column of ``predictions``; NaN where ``y`` has no row."""
    if not y.size:
        return np.full(predictions.shape[1], np.nan)
    return np.mean(np.square(y[:, None] - predictions), axis=0)


def choose(errors: Any) -> int:
    """The first of the lowest errors; the first of all if there was nothing to measure them on."""
    return 0 if np.all(np.isnan(errors)) else lowest(errors)
