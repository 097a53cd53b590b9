"""Selection of columns as scikit-learn has it, of arrays on any device, and of no column at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from srff._utils.arrays import to_host
from srff.data.encoding.table_columns import DATE, columns_of, is_frame


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
        X = to_host(X)
        if not (is_frame(X) and any(column.kind == DATE for column in columns_of(X))):
            return super().transform(X)
        # scikit-learn makes numbers of dates, or fails; an array of objects has both.
        validate_data(self, X, reset=False, skip_check_array=True)
        chosen = self.get_support(indices=True).tolist()
        some = X.iloc[:, chosen] if hasattr(X, "iloc") else X[:, chosen]
        if _get_output_config("transform", self)["dense"] != "default":
            return some
        out = np.empty((X.shape[0], len(chosen)), dtype=object)
        for k, name in enumerate(some.columns):
            out[:, k] = some[name].to_list()
        return out

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
