"""The rows of a source in memory, as they are: for what goes through few rows again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.data.sources.base import Source
from srff.data.sources.labels import plain_targets


@dataclass(frozen=True)
class GatheredRows:
    """Inputs as an array or a data frame, targets, weights and groups or None."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None


def gathered(source: Source, most: int) -> GatheredRows | None:
    """All rows; None if there are more than ``most``."""
    if (source.n_rows or 0) > most:
        return None
    chunks, n_rows = [], 0
    for piece in source.uncoded_pieces():
        for rows in piece.uncoded():
            chunks.append(rows)
            n_rows += rows.n_rows
            if n_rows > most:
                return None
    if not chunks:
        raise ValueError("Found 0 row(s) while a minimum of 2 is required.")
    weights = [rows.weight for rows in chunks if rows.weight is not None]
    return GatheredRows(
        _joined([rows.X for rows in chunks]),
        np.concatenate([plain_targets(rows.y) for rows in chunks]),
        np.concatenate(weights) if weights else None,
        source.row_groups(),
    )


def _joined(parts: Sequence[Any]) -> Any:
    """Runs of rows as one table; batches of pyarrow as a pandas data frame."""
    first = parts[0]
    if hasattr(first, "schema") and hasattr(first, "num_rows"):
        import pyarrow as pa

        return pa.Table.from_batches(parts).to_pandas()
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if hasattr(first, "vstack"):
        import polars as pl

        return pl.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])
