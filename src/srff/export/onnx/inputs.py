"""What goes in: columns of numbers and categories, encoded as ``predict`` does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from srff.data.encoding.columns import Category, Date, Encoding
from srff.data.encoding.columns import Number as NumberColumn
from srff.export.onnx.graph import HUGE, ML, STRING, TINY, Graph, Port
from srff.export.onnx.scaling import write_search

COARSE = 1e-3
"""Share of a column's spread that float32 may round away before there is a warning."""


def declare_columns(graph: Graph, model: Any, read: np.ndarray) -> None:
    """An input for each column that is read, where the model has categories."""
    if model.encoding_ is None or not any(
        isinstance(column, Category) for column in model.encoding_.columns
    ):
        return
    taken = {port.name for port in graph.outputs}
    for k in read if read.size else [0]:
        name = graph.names[k] or f"x{k}"
        while name in taken:
            name += "_"
        taken.add(name)
        levels = model.levels_[k]
        text = levels is not None and levels.dtype == object
        what = "Numbers" if levels is None else "A category"
        about = f"{what}, one a row, of the column {graph.names[k]}."
        graph.inputs.append(Port(name, STRING if text else graph.dtype, 1, about))
    graph.prefix = "srff."
    while any(name.startswith(graph.prefix) for name in taken):
        graph.prefix = "_" + graph.prefix


def write_inputs(graph: Graph, model: Any) -> str:
    """The columns that the model learned from, encoded as ``predict`` does it, in float64."""
    used, encoding = model.columns_, model.encoding_
    for k in np.unique(encoding.source[used]) if encoding is not None else []:
        if isinstance(encoding.columns[k], Date):
            raise ValueError(
                f"The model uses the dates of column {graph.names[k]!r}, which ONNX has no inputs "
                "for; fit it on numbers that are made of them."
            )
    if encoding is None:
        return write_columns(graph, used)
    source = encoding.source[used]
    if graph.inputs:
        return _write_encoded(graph, model, encoding.take(used), np.unique(source))
    return _write_filled(graph, encoding.take(used), write_columns(graph, source))


def write_columns(graph: Graph, columns: np.ndarray) -> str:
    """Some columns of X, in float64."""
    places = graph.constant("columns", columns, np.int64)
    x = graph.add("Gather", "selected", "X", places, axis=1)
    return graph.cast(x, "inputs", np.float64, graph.dtype)


def _write_encoded(graph: Graph, model: Any, encoding: Encoding, read: np.ndarray) -> str:
    """The encoded columns in use, in float64, from the columns that are read."""
    parts = []
    for port, k, column in zip(graph.inputs, read, encoding.columns, strict=True):
        if isinstance(column, Category):
            row = _write_level(graph, f"column_{k}", port, model.levels_[k], graph.names[k])
            table = graph.constant(f"column_{k}_table", column.table)
            parts.append(graph.add("Gather", f"column_{k}_encoded", table, row, axis=0))
        else:
            x = graph.cast(port.name, f"column_{k}_exact", np.float64, graph.dtype)
            parts.append(_write_number(graph, f"column_{k}", column, x))
    x = parts[0] if len(parts) == 1 else graph.add("Concat", "encoded", *parts, axis=1)
    if encoding.order is None:
        return x
    order = graph.constant("order", encoding.order, np.int64)
    return graph.add("Gather", "ordered", x, order, axis=1)


def _write_level(graph: Graph, tag: str, port: Port, levels: np.ndarray, name: str) -> str:
    """Each value's row in a category's table: :class:`srff.data.encoding.columns.Category`."""
    missing, unseen = levels.size, levels.size + 1
    column = graph.constant(f"{tag}_axis", [1], np.int64)
    if port.dtype == STRING:
        keys = [*levels.tolist(), *([] if "" in levels.tolist() else [""])]
        row = graph.add(
            "LabelEncoder",
            f"{tag}_rows",
            port.name,
            domain=ML,
            keys_strings=keys,
            values_int64s=[*range(len(keys))],
            default_int64=unseen,
        )
        return graph.add("Squeeze", f"{tag}_row", row, column)
    known = _distinct(levels, graph.dtype, name)
    table = graph.constant(f"{tag}_levels", known, graph.dtype)
    first, last = np.zeros(1, dtype=np.int64), np.array([known.size - 1])
    place = write_search(graph, f"{tag}_", port.name, table, first, last)
    here = graph.add("Gather", f"{tag}_level", table, place, axis=0)
    equal = graph.add("Equal", f"{tag}_is_level", here, port.name)
    other = graph.constant(f"{tag}_unseen", unseen, np.int64)
    row = graph.add("Where", f"{tag}_known", equal, place, other)
    gap = graph.add("IsNaN", f"{tag}_is_missing", port.name)
    row = graph.add(
        "Where", f"{tag}_rows", gap, graph.constant(f"{tag}_missing", missing, np.int64), row
    )
    return graph.add("Squeeze", f"{tag}_row", row, column)


def _distinct(levels: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """Levels that are numbers, as the graph's inputs have them."""
    with np.errstate(over="ignore"):
        known = levels.astype(dtype)
    same = np.flatnonzero(known[1:] == known[:-1])
    if same.size:
        one, other = levels.tolist()[same[0] : same[0] + 2]
        advice = "use dtype='float64'" if dtype == np.float32 else "make them texts"
        raise ValueError(
            f"dtype='{dtype.name}' cannot tell the levels {one!r} and {other!r} of the column "
            f"{name} apart; {advice}."
        )
    return known


def _write_number(graph: Graph, tag: str, column: NumberColumn, x: str) -> str:
    """A column of numbers, filled in, and the mark of what was missing: (rows, 1 or 2)."""
    if column.fill is None and not column.indicator:
        return x
    gap = graph.add("IsNaN", f"{tag}_is_missing", x)
    parts = []
    if column.value:
        fill = graph.constant(f"{tag}_fill", np.nan if column.fill is None else column.fill)
        parts.append(graph.add("Where", f"{tag}_filled", gap, fill, x))
    if column.indicator:
        parts.append(graph.cast(gap, f"{tag}_mark", np.float64, np.bool_))
    return parts[0] if len(parts) == 1 else graph.add("Concat", f"{tag}_both", *parts, axis=1)


def _write_filled(graph: Graph, encoding: Encoding, x: str) -> str:
    """Numbers filled in, and marks of what was missing, all columns at once.

    ``x`` has the column of the user that each encoded one comes from.
    """
    fills, marks = [], []
    for column in encoding.columns:
        assert isinstance(column, NumberColumn)
        fill = np.nan if column.fill is None else column.fill
        fills += [fill] * column.value + [0.0] * column.indicator
        marks += [False] * column.value + [True] * column.indicator
    if encoding.order is not None:
        fills, marks = [fills[k] for k in encoding.order], [marks[k] for k in encoding.order]
    gap = graph.add("IsNaN", "is_missing", x)
    x = graph.add("Where", "filled", gap, graph.constant("fill", fills), x)
    if not any(marks):
        return x
    mark = graph.cast(gap, "mark", np.float64, np.bool_)
    return graph.add("Where", "encoded", graph.constant("is_mark", marks, np.bool_), mark, x)


def check_inputs(graph: Graph, model: Any) -> None:
    """Refuse columns that float32 cannot hold; warn of those that it holds badly."""
    if graph.dtype == np.float64:
        return
    used, encoding = model.columns_, model.encoding_
    numeric = np.arange(used.size) if encoding is None else _numeric(encoding.take(used))
    columns = used[numeric] if encoding is None else encoding.source[used[numeric]]
    center, spread = model.center_[used[numeric]], model.spread_[used[numeric]]
    size = np.maximum(np.abs(center), spread)
    for column, value in zip(columns, size, strict=True):
        if not TINY < value < HUGE:
            raise ValueError(
                f"dtype='float32' cannot hold the column {graph.names[column]}, with values "
                f"around {value:.3g}; use dtype='float64'."
            )
    step = float(np.finfo(np.float32).eps) * np.abs(center) / spread
    coarse = np.flatnonzero(step > COARSE)
    if coarse.size:
        shown = ", ".join(f"{graph.names[columns[s]]} (mean {center[s]:.4g})" for s in coarse[:5])
        more = f" and {coarse.size - 5} more" if coarse.size > 5 else ""
        graph.warnings.append(
            f"dtype='float32' rounds inputs to steps of up to {step.max():.2g} times their spread, "
            f"for {shown}{more}; dtype='float64' keeps them."
        )


def _numeric(encoding: Encoding) -> np.ndarray:
    """The encoded columns that are the user's numbers."""
    mask = [
        flag
        for column in encoding.columns
        for flag in (
            [False] * column.width
            if isinstance(column, Category)
            else [True] * column.value + [False] * column.indicator
        )
    ]
    ordered = np.array(mask, dtype=bool)
    return np.flatnonzero(ordered if encoding.order is None else ordered[encoding.order])
