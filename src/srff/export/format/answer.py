"""What a fit leaves beside its model for a reader, on its way to a file and back."""

# ruff: noqa: D102 (what pack and unpack do is said once, in Kind)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.estimators.answer import TABLES
from srff.estimators.bands import BANDS, as_bands
from srff.export.format.container import Refused
from srff.export.format.kinds import (
    Count,
    Floats,
    Integers,
    Kind,
    OrNone,
    Packed,
    Stored,
    Text,
    Texts,
    short_text,
)


@dataclass(frozen=True)
class Errors:
    """Errors of other models with their standard errors, by name."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        Texts().pack(f"{name}.names", [*value], out)
        Floats().pack(f"{name}.errors", [error for error, _ in value.values()], out)
        Floats().pack(f"{name}.standard_errors", [se for _, se in value.values()], out)

    def unpack(self, name: str, stored: Stored) -> dict[str, tuple[float, float]]:
        rows = (f"rows of {name}",)
        names = [short_text(name, text) for text in Texts(rows).unpack(f"{name}.names", stored)]
        if len(set(names)) < len(names):
            raise Refused(f"{name} has one name twice")
        parts = [
            Floats(rows, low=0.0).unpack(f"{name}.{part}", stored).tolist()
            for part in ("errors", "standard_errors")
        ]
        return dict(zip(names, zip(*parts, strict=True), strict=True))


@dataclass(frozen=True)
class Inputs:
    """A table whose rows speak of inputs, by their positions, and a number of each."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        *places, last = TABLES[name]
        for column in places:
            Integers().pack(f"{name}.{column}", value[column], out)
        Floats().pack(f"{name}.{last}", value[last], out)

    def unpack(self, name: str, stored: Stored) -> dict[str, np.ndarray]:
        *places, last = TABLES[name]
        rows, size = (f"rows of {name}",), stored.sizes["columns"]
        out = {}
        for column in places:
            out[column] = Integers(rows).unpack(f"{name}.{column}", stored)
            if (out[column] >= size).any():
                raise Refused(f"{name}.{column} has positions that are not below {size}")
        return out | {last: Floats(rows).unpack(f"{name}.{last}", stored)}


@dataclass(frozen=True)
class LeftOver(Floats):
    """What held-out rows were missed by: for each target a column of rising numbers."""

    def unpack(self, name: str, stored: Stored) -> np.ndarray:
        array = super().unpack(name, stored)
        n_targets = stored.sizes.get("outputs", 1)
        if array.shape[1] != n_targets or not array.size:
            raise Refused(f"{name} has the shape {array.shape}; the targets are {n_targets}")
        if (np.diff(array, axis=0) < 0).any():
            raise Refused(f"{name} has numbers that fall")
        return array


@dataclass(frozen=True)
class Bands:
    """How far the curves of the folds are apart, at some values of some inputs."""

    def pack(self, name: str, value: Any, out: Packed) -> None:
        Integers().pack(f"{name}.input", value["input"], out)
        for column in BANDS[1:]:
            Floats().pack(f"{name}.{column}", value[column], out)

    def unpack(self, name: str, stored: Stored) -> dict[str, np.ndarray]:
        rows, size = (f"rows of {name}",), stored.sizes["columns"]
        out = {"input": Integers(rows).unpack(f"{name}.input", stored)}
        out |= {column: Floats(rows).unpack(f"{name}.{column}", stored) for column in BANDS[1:]}
        if (out["input"] >= size).any():
            raise Refused(f"{name}.input has positions that are not below {size}")
        if (out["low"] > out["high"]).any():
            raise Refused(f"{name} has bands whose lower end is above the upper one")
        return out


COLUMNS = ("columns",)

ANSWER: dict[str, Kind] = {
    "reference_errors_": Errors(),
    "importances_": OrNone(Floats(COLUMNS)),
    "importances_se_": OrNone(Floats(COLUMNS, low=0.0)),
    **dict.fromkeys(TABLES, Inputs()),
    "effect_bands_": Bands(),
    "target_name_": OrNone(Text()),
    "n_rows_": OrNone(Count()),
}

INTERVALS: dict[str, Kind] = {"held_out_errors_": OrNone(LeftOver(("quantiles", "targets")))}
"""Of regressions alone."""

UNKNOWN: dict[str, Any] = {
    "reference_errors_": {},
    "importances_": None,
    "importances_se_": None,
    "held_out_errors_": None,
    **{
        name: {column: np.zeros(0, dtype=np.intp) for column in places} | {last: np.zeros(0)}
        for name, (*places, last) in TABLES.items()
    },
    "effect_bands_": as_bands(np.zeros((len(BANDS), 0))),
    "target_name_": None,
    "n_rows_": None,
}
"""What stands for them in files of formats before 6."""

FIRST = {
    "reference_errors_": "names.lengths",
    "effect_bands_": "input",
    **{n: parts[0] for n, parts in TABLES.items()},
}
"""A tensor that tells whether a file has them."""


def lacks(name: str, stored: Stored) -> bool:
    """Whether a file is of before there were such."""
    if name in FIRST:
        return f"{name}.{FIRST[name]}" not in stored.arrays
    return name in UNKNOWN and name not in (*stored.values, *stored.arrays)
