"""Where rows live and how blocks of them are summed.

An engine never sees a formula beyond those of :mod:`srff.features`; a solver never sees a row.
"""

from typing import Any

import numpy as np

from srff.engines.base import Engine, Standardisation
from srff.engines.device import DeviceEngine
from srff.engines.local import LocalEngine
from srff.engines.plan import BlockPlan, Rows, parse_memory

__all__ = [
    "BlockPlan",
    "DeviceEngine",
    "Engine",
    "LocalEngine",
    "Rows",
    "Standardisation",
    "make_engine",
    "parse_memory",
]


def make_engine(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    standardisation: Standardisation,
    *,
    n_components: int,
    dtype: np.dtype,
    device: str = "cpu",
    n_threads: int = 1,
    memory_limit: float | None = None,
    rows: np.ndarray | None = None,
) -> Engine:
    """The engine for rows in memory, or for some of them, and a device."""
    if device != "cpu":
        return DeviceEngine(X, Y, weight, standardisation, n_components, dtype, device, rows)
    n_rows = X.shape[0] if rows is None else rows.size
    plan = BlockPlan.choose(n_rows, X.shape[1], n_components, dtype, n_threads, memory_limit)
    return LocalEngine(X, Y, weight, standardisation, plan, dtype, n_threads, rows)
