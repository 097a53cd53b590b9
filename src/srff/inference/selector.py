"""Confirmed variables as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from srff._utils.arrays import to_host
from srff.estimators.classifier import SRFFClassifier
from srff.estimators.column_selector import ColumnSelectorMixin
from srff.estimators.regressor import SRFFRegressor
from srff.inference.confidence import judged


class SRFFSelector(MetaEstimatorMixin, ColumnSelectorMixin, BaseEstimator):
    """Selects the variables that are confirmed at a false discovery rate.

    As :func:`srff.confidence`, for pipelines: of the variables that it keeps at most a share ``q``
    does not matter, in the mean.  Of columns that are almost functions of one another all are kept
    if they are confirmed together.

    Parameters
    ----------
    estimator : SRFFRegressor, SRFFClassifier or None, default=None
        What searches in each split; None is ``SRFFClassifier()`` for a target of text or truths,
        else ``SRFFRegressor()``.
    q : float, default=0.1
        The false discovery rate.
    n_splits : int, default=5
        Parts of the rows, each set aside once.

    Attributes
    ----------
    confidence_ : Confidence
        What is known of each variable.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    srff.confidence : The same as a function.

    Examples
    --------
    >>> import numpy as np
    >>> from srff import SRFFRegressor, SRFFSelector
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> selector = SRFFSelector(SRFFRegressor(effort="quick", random_state=0), q=0.2)
    >>> selector.fit(X, np.sin(2 * X[:, 3])).get_support(indices=True).tolist()
    [3]
    """

    def __init__(self, estimator: Any = None, *, q: float = 0.1, n_splits: int = 5) -> None:
        self.estimator = estimator
        self.q = q
        self.n_splits = n_splits

    def fit(self, X: Any, y: Any, sample_weight: Any = None, row_groups: Any = None) -> Self:
        """Find the variables that are confirmed.

        Parameters
        ----------
        X, y, sample_weight, row_groups
            As of ``fit`` of the estimator.

        Returns
        -------
        self
        """
        found, checked = judged(
            self._estimator(y), X, y, sample_weight, row_groups, self.q, self.n_splits
        )
        self.confidence_ = found
        self.n_features_in_ = checked.n_features_in_
        if hasattr(checked, "feature_names_in_"):
            self.feature_names_in_ = checked.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = SRFFRegressor() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    def _estimator(self, y: Any) -> Any:
        """The one given, or that which suits the target."""
        if self.estimator is not None:
            return clone(self.estimator)
        labels = not isinstance(y, str) and np.asarray(to_host(y)).dtype.kind in "OUSb"
        return SRFFClassifier() if labels else SRFFRegressor()

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.confidence_.support
