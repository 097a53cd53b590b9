"""How sure it is of each variable, on its way to a file and back."""

# ruff: noqa: D102 (what pack and unpack do is said once, in Kind)

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from srff.export.format.container import Refused
from srff.export.format.kinds import (
    Count,
    Floats,
    Integers,
    Kind,
    Number,
    Packed,
    Stored,
    Text,
    Texts,
    Truths,
)
from srff.inference.result import Confidence

UNITS, SPLITS = ("units",), ("splits", "units")

PARTS: dict[str, Kind] = {
    "names": Texts(UNITS),
    "unit_of": Integers(("columns",)),
    "near_copies": Truths(UNITS),
    "q": Number(low=0.0),
    "n_rows": Count(1),
    "selected": Truths(SPLITS),
    "p_splits": Floats(SPLITS, low=0.0, high=1.0),
    "confirmed_splits": Truths(SPLITS),
    "p_values": Floats(UNITS, low=0.0, high=1.0),
    "e_values": Floats(UNITS, low=0.0),
    "confirmed_units": Truths(UNITS),
    "rise": Floats(UNITS),
    "rise_se": Floats(UNITS, low=0.0),
    "gain": Number(),
    "loss": Text(),
    "told_apart": Floats(UNITS, any_float=True),
    "doubtful": Truths(UNITS),
}
"""Its fields, in the order of unpacking."""

assert [*PARTS] == [field.name for field in fields(Confidence)]


@dataclass(frozen=True)
class Certainty:
    """A :class:`srff.Confidence`."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        for part, kind in PARTS.items():
            kind.pack(f"{name}.{part}", getattr(value, part), out)

    def unpack(self, name: str, stored: Stored) -> Confidence:
        parts = {part: kind.unpack(f"{name}.{part}", stored) for part, kind in PARTS.items()}
        numbers = np.unique(parts["unit_of"])
        if not np.array_equal(numbers, np.arange(parts["names"].size)):
            raise Refused(f"{name} has units without columns, or columns without units")
        found = Confidence(**parts)
        _check(name, found)
        return found


def _check(name: str, found: Confidence) -> None:
    """Refuse what no splits can have said."""
    told = found.told_apart[~np.isnan(found.told_apart)]
    if not 0 < found.q < 1:
        raise Refused(f"{name}.q is {found.q!r}; a number between 0 and 1 is expected")
    if found.n_splits < 2:
        raise Refused(f"{name} has {found.n_splits} splits; at least 2 are expected")
    if not ((told >= 0) & (told <= 1)).all():
        raise Refused(f"{name}.told_apart has shares that are not from 0 to 1")
    if (found.confirmed_splits & ~found.selected).any():
        raise Refused(f"{name}.confirmed_splits has units that their splits did not choose")
    if (found.confirmed_units & ~found.confirmed_splits.any(axis=0)).any():
        raise Refused(f"{name}.confirmed_units has units that no split confirmed")
