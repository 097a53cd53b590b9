"""Selection of columns as scikit-learn has it, of arrays on any device, and of no column at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from srff._utils.arrays import to_host
from srff.data.encoding.frames import is_dates
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
        if not (is_frame(X) and self._may_have_dates(X)):
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
        levels = getattr(self, "levels_", None) or ()
        if any(map(is_dates, levels)):
            return self._with_gaps(X, [None if is_dates(level) else 0.0 for level in levels])
        if np.shape(X)[1:] == (0,) and not self.get_support().any():
            return np.zeros((len(X), self.n_features_in_))  # scikit-learn refuses no column at all
        return super().inverse_transform(X)

    def _may_have_dates(self, X: Any) -> bool:
        """By the fit, where that has noted what each column holds; else by a look at the frame."""
        if hasattr(self, "levels_"):
            return any(map(is_dates, self.levels_ or ()))
        return any(column.kind == DATE for column in columns_of(X))

    def _with_gaps(self, X: Any, empty: list[float | None]) -> np.ndarray:
        """An array of objects: the selected columns, and what stands where one was dropped."""
        chosen = self.get_support(indices=True).tolist()
        if len(np.shape(X)) != 2 or np.shape(X)[1] != len(chosen):
            raise ValueError(f"X has the shape {np.shape(X)}; {len(chosen)} columns are selected.")
        out = np.empty((len(X), len(empty)), dtype=object)
        out[:] = empty
        for k, place in enumerate(chosen):
            column = X.iloc[:, k] if hasattr(X, "iloc") else X[:, k]
            out[:, place] = column.to_list() if hasattr(column, "to_list") else column
        return out
