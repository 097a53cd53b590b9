"""Readings of the paper's protocol on Computer Activity (RCP), by the figures of its plain RFF.

    python benchmarks/reproduction/readings.py RFF 30
    python benchmarks/reproduction/readings.py SRFF 2

The paper gives neither the number of rows that sigma is measured on, nor whether the target is
centred, nor whether each alpha has a draw of its own.  Each line of ``readings.csv`` is one
replicate of one reading.  SRFF leaves the grid after five alphas in succession that are no better;
it has the second reading alone: the first is that of the table, but for sigma of 2.4 to 2.8 there.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import root_mean_squared_error

from srff.data import problem
from srff.reproduction.published import Cell
from srff.reproduction.replicate import Settings, build, draw

HERE = Path(__file__).parent
FILE = HERE / "readings.csv"
SETTINGS = Settings(patience=5)


@dataclass(frozen=True)
class Reading:
    """A width of the kernel, whether the target is centred, and whether draws are fresh."""

    sigma: float
    centred: bool
    fresh: bool = True


READINGS = (Reading(2.8, True), Reading(4.1, False), Reading(4.1, False, fresh=False))


@contextmanager
def target_units(centred: bool) -> Iterator[None]:
    """Targets as they stand, without an intercept, where they are not to be centred."""
    usual = problem._target_units

    def uncentred(*given: object) -> problem.TargetUnits:
        units = usual(*given)
        return replace(units, mean=0 * units.mean, center=0 * units.center)

    problem._target_units = usual if centred else uncentred
    try:
        yield
    finally:
        problem._target_units = usual


def error(reading: Reading, method: str, replicate: int) -> float:
    """The test error of one replicate."""
    cell = Cell("RCP", 6000, method)
    train, validation, test = draw(cell, replicate, SETTINGS)
    model = build(cell, train, validation, replicate, SETTINGS)
    model.set_params(budget=train[0].shape[1] / reading.sigma, fresh_draws=reading.fresh)
    with target_units(reading.centred):
        model.fit(*train)
    if not reading.centred:
        assert model.intercept_ == 0
    return float(root_mean_squared_error(test[1], model.predict(test[0])))


def main(method: str, replicates: int) -> None:
    """Run what is not in the file yet, and print means and standard deviations."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    for number in range(replicates):
        for reading in READINGS if method == "RFF" else READINGS[1:2]:
            if (key(reading, method), number) in known():
                continue
            line = [*key(reading, method), number, f"{error(reading, method, number):.6g}"]
            with FILE.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerow(line)
    for reading in READINGS:
        errors = [e for (k, _), e in known().items() if k == key(reading, method)]
        if errors:
            spread = np.std(errors, ddof=1) if len(errors) > 1 else np.nan
            print(*key(reading, method), f"{np.mean(errors):.3f} ({spread:.3f}; {len(errors)})")


def key(reading: Reading, method: str) -> tuple[str, str, str, str]:
    """A reading and a method as the file has them."""
    centred = "centred" if reading.centred else "uncentred"
    return str(reading.sigma), centred, "fresh draws" if reading.fresh else "one draw", method


def known() -> dict[tuple[tuple[str, ...], int], float]:
    """The errors in the file."""
    if not FILE.exists():
        return {}
    with FILE.open(newline="", encoding="utf-8") as file:
        return {(tuple(line[:4]), int(line[4])): float(line[5]) for line in csv.reader(file)}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
