"""A fitted model's outputs for new rows; only the columns in use are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from srff._utils.arrays import to_host, usual_arithmetic
from srff._utils.parameters import check_names
from srff._utils.threads import Threads, count_threads, one_blas_thread
from srff.core import features
from srff.data.encoding.frames import coded
from srff.data.encoding.table_columns import column_names
from srff.data.engines import BlockPlan, parse_memory
from srff.data.engines.blocks import standardised_inputs
from srff.data.engines.plan import shards


class PredictsFromColumns(BaseEstimator):
    """Outputs of a fitted model from an array or a table with the columns of its fit."""

    def _predicted(self, X: Any, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What a function makes of the outputs."""
        with usual_arithmetic():
            return of(self._outputs(X))

    def _outputs(self, X: Any) -> np.ndarray:
        """``Z a + c`` in the target's units: (rows, outputs); only the columns in use are read."""
        check_is_fitted(self)
        return self._outputs_of(*self._selected_inputs(X))

    def _outputs_of(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The outputs from the columns that the model reads, block by block."""
        dtype = self.block_dtype_
        V = features.affine(self.frequencies_, self.offsets_).astype(dtype)
        a, exponent = mantissas(self.coefficients_.reshape(self.offsets_.size, -1))
        a = a.astype(dtype)
        F = np.zeros((X.shape[0], a.shape[1]))
        if not columns.size:
            return F + self.intercept_
        n_threads = count_threads(self.n_jobs)
        limit = parse_memory(self.memory_limit)
        plan = BlockPlan.choose(
            X.shape[0], columns.size, V.shape[1], dtype, n_threads, limit, squares=False
        )
        blocks = plan.blocks(X.shape[0])

        def fill(shard: range) -> None:
            for rows in blocks[shard.start : shard.stop]:
                U = standardised_inputs(X[rows][:, columns], self.input_map_, dtype)
                F[rows] = features.predict(U.T, V, a)

        with one_blas_thread(), Threads(n_threads) as threads:
            for _ in threads.map(fill, shards(len(blocks))):
                pass
        return np.ldexp(F, exponent) + self.intercept_

    def _selected_inputs(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Inputs as numbers, and the columns of them that the model reads, in its order."""
        if hasattr(X, "__dask_graph__") and hasattr(X, "columns"):
            X = X.compute()
        check_names(column_names(X))
        if self.encoding_ is None:
            return self._validate(X, reset=False), self.columns_
        X = self._table(X)
        assert self.levels_ is not None
        used = self.encoding_.take(self.columns_)
        needed = self.encoding_.needed(self.columns_)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            names = [str(names[k]) for k in needed]
        encoded = used(coded(X, self.levels_, needed), names)
        return encoded, np.arange(self.columns_.size)

    def _table(self, X: Any) -> Any:
        """A table with the columns of the fit, before it is encoded."""
        assert self.levels_ is not None
        if all(level is None for level in self.levels_):
            return self._validate(X, reset=False, ensure_all_finite="allow-nan")
        X = to_host(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X


def mantissas(coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (components x outputs) of at most one, and the exponents of two of each output.

    float32 holds them whatever the target's units; with the exponents put back in float64 no bit is
    another.
    """
    exponent = np.frexp(np.abs(coef).max(axis=0, initial=0.0))[1]
    return np.ldexp(coef, -exponent), exponent
