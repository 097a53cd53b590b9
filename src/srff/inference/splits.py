"""One split: a model that never saw some rows, and what these say of each unit that it chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from srff.data.conditional.copies import Conditional
from srff.data.folds import Split
from srff.inference.randomisation import missed
from srff.inference.rows import Rows
from srff.inference.units import Units
from srff.inspect.judged import Judged, constant_loss, needed

LEARNED_ROWS = 20_000
"""Most rows that the laws of columns are learned from."""


@dataclass(frozen=True)
class Tested:
    """What a split says of one unit that its model chose."""

    unit: int
    p_value: float
    rise: np.ndarray = field(repr=False)
    """Of each row set aside."""
    drawn: np.ndarray = field(repr=False)
    """One copy of the unit's columns at these rows: (rows, columns)."""


@dataclass(frozen=True)
class SplitResult:
    """What a split says of all units."""

    aside: np.ndarray = field(repr=False)
    """The rows that were set aside."""
    gain: np.ndarray = field(repr=False)
    """Of each of these, how much lower its loss is than the mean loss of the best constant."""
    tested: tuple[Tested, ...] = field(repr=False)
    """The units that the model chose."""


def judged_split(rows: Rows, units: Units, model: Any, split: Split, seed: int) -> SplitResult:
    """A model that was fitted on one side of a split, judged on the other."""
    learn, aside = split
    judged = Judged(model, rows.codes[np.ix_(aside, needed(model))], rows.levels, rows.y[aside])
    conditional = Conditional(rows.codes, rows.levels, learn[:LEARNED_ROWS], aside)
    tested = []
    for unit in np.flatnonzero(units.any_of(model.get_support())).tolist():
        columns = units.columns(unit)
        # What is drawn for a unit hangs on what its columns hold, not on where they stand.
        key = int(rows.column_keys[columns].min())
        rng = np.random.default_rng([seed, key])
        copies = conditional.copies(columns, rng)
        drawn = copies.draw(rng, 1)[0]
        found = missed(
            judged.losses, rows.counts[aside], partial(judged.copied, columns, copies, rng)
        )
        tested.append(Tested(unit, found.p_value, found.rise, drawn))
    return SplitResult(aside, constant_loss(model) - judged.losses, tuple(tested))
