"""Columns on a common scale: nodes for :mod:`srff.data.scaling`.

They are in float64 whatever the type of the inputs: ``x - center`` loses nothing there, where in
float32 a column around a million would lose its last digits.
"""

from __future__ import annotations

import numpy as np

from srff.data.scaling import Quantile, Standardise, Transform
from srff.export.onnx.graph import Graph


def write_transform(graph: Graph, x: str, transform: Transform) -> str:
    """The columns on a common scale."""
    if isinstance(transform, Standardise):
        x = graph.shift("centered", x, "minus_center", -transform.center)
        return graph.add("Div", "standardised", x, graph.constant("spread", transform.spread))
    if isinstance(transform, Quantile):
        return _write_scores(graph, x, transform)
    raise TypeError(
        f"input_map_ is of type {type(transform).__name__}; to_onnx knows Standardise and Quantile."
    )


def _write_scores(graph: Graph, x: str, transform: Quantile) -> str:
    """Normal scores: lines between knots, constant before the first and after the last."""
    sizes = np.array([knots.size for knots in transform.knots])
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    everything = np.concatenate(transform.knots)
    knots = graph.constant("knots", everything)
    # Where, not Min and Max: in those some runtimes lose a NaN.
    for comparison, name, ends in (("Less", "low", first), ("Greater", "high", last)):
        end = graph.constant(f"{name}_end", everything[ends])
        beyond = graph.add(comparison, f"is_{name}", x, end)
        x = graph.add("Where", f"not_{name}", beyond, end, x)
    place = write_search(graph, "", x, knots, first, last)
    distance = graph.add("Sub", "distance", x, graph.add("Gather", "knot", knots, place, axis=0))
    slopes = graph.constant(
        "slopes", np.concatenate([*map(_slopes, transform.knots, transform.scores)])
    )
    slope = graph.add("Gather", "slope", slopes, place, axis=0)
    rise = graph.add("Mul", "rise", slope, distance)
    scores = graph.constant("scores_at_knots", np.concatenate(transform.scores))
    return graph.add("Add", "score", rise, graph.add("Gather", "base", scores, place, axis=0))


def _slopes(knots: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The slope from each knot on; the last knot's is zero."""
    return np.append(np.diff(scores) / np.diff(knots), 0.0)


def write_search(
    graph: Graph, tag: str, x: str, table: str, first: np.ndarray, last: np.ndarray
) -> str:
    """The place of the last knot that is not above each value, the first one's if all are.

    By binary search, all rows and columns at once, in one list of the knots of all columns;
    ``first`` and ``last`` are the places of each column's.
    """
    place = graph.constant(f"{tag}first_knots", first, np.int64)
    n_bits = int((last - first).max()).bit_length()
    end = graph.constant(f"{tag}last_knots", last, np.int64) if n_bits else ""
    for bit in reversed(range(n_bits)):
        step = graph.constant(f"{tag}step_{bit}", 2**bit, np.int64)
        further = graph.add("Add", f"{tag}further_{bit}", place, step)
        further = graph.add("Min", f"{tag}candidate_{bit}", further, end)
        knot = graph.add("Gather", f"{tag}knot_{bit}", table, further, axis=0)
        passed = graph.add("LessOrEqual", f"{tag}passed_{bit}", knot, x)
        place = graph.add("Where", f"{tag}place_{bit}", passed, further, place)
    return place
