"""Where rows live and how blocks of them are summed.

An engine never sees a formula beyond those of :mod:`srff.core.features`; a solver never sees a row.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from srff.core.engine import Engine
from srff.data.engines.blocks import Standardisation
from srff.data.engines.device import DeviceEngine, rows_in_block
from srff.data.engines.local import LocalEngine
from srff.data.engines.plan import BlockPlan, EngineOptions, parse_memory
from srff.data.engines.stream import Remainder, StreamEngine

__all__ = [
    "BlockPlan",
    "DeviceEngine",
    "EngineOptions",
    "LocalEngine",
    "Remainder",
    "StreamEngine",
    "make_engine",
    "parse_memory",
]


def make_engine(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    standardisation: Standardisation,
    options: EngineOptions,
    *,
    rows: np.ndarray | None = None,
    cached: bool = True,
) -> Engine:
    """The engine for rows in memory, or for some of them, and a device.

    ``cached=False`` is for a single pass: no standardised rows are kept.
    """
    o, n_features = options, X.shape[1]
    if o.device != "cpu":
        plan = BlockPlan(rows_in_block(n_features, o.n_components), cached=cached)
        return DeviceEngine(X, Y, weight, standardisation, plan, o.dtype, o.device, rows)
    n_rows = X.shape[0] if rows is None else rows.size
    plan = BlockPlan.choose(
        n_rows, n_features, o.n_components, o.dtype, o.n_threads, o.memory_limit
    )
    plan = replace(plan, cached=plan.cached and cached)
    return LocalEngine(X, Y, weight, standardisation, plan, o.dtype, o.n_threads, rows)
