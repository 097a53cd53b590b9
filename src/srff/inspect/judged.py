"""A model on rows that it has not seen: the loss of each, as they are and with copied columns."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from srff.data.conditional.copies import Copies
from srff.data.encoding.frames import UNSEEN, Levels, is_dates
from srff.inspect.outcome import outcome_of

CHUNK_ROWS = 100_000
"""Rows that are predicted at a time."""


class Judged:
    """A fitted model on some rows.

    Losses are in the loss's own units: squares of the target's for a squared loss.

    Parameters
    ----------
    model : SRFFRegressor or SRFFClassifier
        Fitted.
    codes : ndarray of shape (n_rows, n_needed)
        Coded rows (see :mod:`srff.data.encoding.frames`), in the columns :func:`needed` alone.
    levels : tuple of ndarray or None
        The levels of all columns, which need not be those of the model's fit.
    y : array-like
        Targets or labels.
    """

    def __init__(self, model: Any, codes: np.ndarray, levels: Levels, y: Any) -> None:
        self.model, self.outcome = copy(model), outcome_of(model)
        # Sines in float64 are slow, and a copy differs from its row by far more than rounding.
        self.model.block_dtype_ = np.dtype(np.float32)
        self._columns, self._codes = needed(model), codes
        self._tables = [_table(levels, model, k) for k in self._columns.tolist()]
        self.Y = self.outcome.known_targets(y, codes.shape[0])
        self.outputs = self._outputs(self._codes)
        self.losses = self._losses(self.outputs)

    def copied(
        self, columns: np.ndarray, copies: Copies, rng: np.random.Generator, count: int
    ) -> np.ndarray:
        """The losses with so many copies of some columns, (copies, rows)."""
        n, out = self._codes.shape[0], []
        read = np.isin(columns, self._columns)
        places = np.searchsorted(self._columns, columns[read])
        size = max(CHUNK_ROWS // max(n, 1), 1)
        for begun in range(0, count, size):
            now = min(size, count - begun)
            moved = np.tile(self._codes, (now, 1))
            moved[:, places] = copies.draw(rng, now)[..., read].reshape(now * n, -1)
            out.append(self._losses(self._outputs(moved)).reshape(now, n))
        return np.concatenate(out)

    def _outputs(self, codes: np.ndarray) -> np.ndarray:
        """``Z a + c``: (rows, outputs)."""
        model, U = self.model, _translated(codes, self._tables)
        if model.encoding_ is not None:
            U = model.encoding_.take(model.columns_)(U)
        return np.asarray(model._outputs_of(U, np.arange(U.shape[1])))

    def _losses(self, F: np.ndarray) -> np.ndarray:
        Y = np.tile(self.Y, (F.shape[0] // self.Y.shape[0], 1))
        return self.outcome.row_losses(Y, F) * self.outcome.loss_unit


def needed(model: Any) -> np.ndarray:
    """The columns of the user's table that a fitted model reads."""
    encoding = model.encoding_
    return np.asarray(model.columns_ if encoding is None else encoding.needed(model.columns_))


def constant_loss(model: Any) -> float:
    """The mean loss of the best constant, in the same units, on the rows of the model's fit."""
    error = float(model.constant_error_)
    return error**2 if outcome_of(model).loss.quadratic else error


def _table(levels: Levels, model: Any, k: int) -> np.ndarray | None:
    """The code that the model has for each level of a column; None for numbers and dates."""
    own = levels[k]
    if own is None or is_dates(own):
        return None
    number = {level: place for place, level in enumerate(model.levels_[k].tolist())}
    return np.array([number.get(level, UNSEEN) for level in own.tolist()])


def _translated(codes: np.ndarray, tables: list[np.ndarray | None]) -> np.ndarray:
    """Codes of some levels as codes of those that the model knows."""
    if all(table is None for table in tables):
        return codes
    out = codes.copy()
    for k, table in enumerate(tables):
        if table is not None:
            there = codes[:, k] >= 0
            out[there, k] = table[codes[there, k].astype(np.intp)]
    return out
