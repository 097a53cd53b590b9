"""Selection of columns as scikit-learn has it, of arrays on any device, and of no column at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin

from srff._utils.arrays import to_host


class ColumnSelectorMixin(SelectorMixin):
    """Reduces inputs to the columns of ``get_support``."""

    def transform(self, X: Any) -> Any:
        """Reduce the inputs to the selected columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        X : array or data frame of shape (n_samples, n_selected)
        """
        return super().transform(to_host(X))

    def inverse_transform(self, X: Any) -> Any:
        """Put zeros where :meth:`transform` dropped columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)
            The selected columns.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        """
        X = to_host(X)
        if np.shape(X)[1:] == (0,) and not self.get_support().any():
            return np.zeros((len(X), self.n_features_in_))  # scikit-learn refuses no column at all
        return super().inverse_transform(X)
