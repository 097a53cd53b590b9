"""What stands beside the inputs of few rows: targets, weights and groups, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.data.sources.base import Source
from srff.data.sources.batches import plain_values


@dataclass(frozen=True)
class RowLabels:
    """Targets, weights (or None) and groups (or None) of every row, those of weight zero too."""

    y: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None


def labels_of_few(source: Source, most: int) -> RowLabels:
    """The labels of all rows, which are read without their inputs; an error if there are more."""
    ys: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    n_rows, no_columns = source.n_rows or 0, np.zeros(0, dtype=np.intp)
    for piece in source.uncoded_pieces() if n_rows <= most else ():
        for rows in piece.uncoded(no_columns):
            ys.append(plain_targets(rows.y))
            weights += [] if rows.weight is None else [rows.weight]
        n_rows = max(n_rows, sum(map(len, ys)))
        if n_rows > most:
            break
    if n_rows > most:
        raise ValueError(
            f"row_groups, and validation by a splitter or by indices, take at most {most:,} rows "
            f"of files, blocks or Dask, and any number in arrays; there are {n_rows:,} or more."
        )
    weight = np.concatenate(weights) if weights else None
    return RowLabels(np.concatenate(ys), weight, source.row_groups())


def plain_targets(y: Any) -> np.ndarray:
    """Targets of some rows as an array, of one dimension where there is one target."""
    if hasattr(y, "schema") and hasattr(y, "num_rows"):  # a batch of pyarrow
        array = np.column_stack([plain_values(y, name) for name in y.schema.names])
    else:
        array = np.asarray(y)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
