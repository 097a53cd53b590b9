"""The real data: a table's inputs, its classes as 0, 1, ... and the names of its inputs.

Read from ``NAME.parquet`` in the folder that ``SRFF_DATA`` names, or from ``NAME.npz`` there where
Parquet files cannot be read.  ``python benchmarks/classification/tables.py FOLDER`` writes the
latter from the former.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = "SRFF_DATA"
TARGETS = {
    "madelon": "y",
    "mice_protein": "class",
    "isolet_1560": "y",
    "coil20": "y",
    "higgs_7500": "class_label",
    "sylva": "y",
}
NEVER_INPUTS = {
    # What the class is made of.
    "mice_protein": ("Genotype", "Treatment", "Behavior"),
    # Which rows are the test rows: the last ones.
    "higgs_7500": ("is_test",),
}


@dataclass(frozen=True)
class Table:
    """Inputs with nan where a value is missing, classes as 0, 1, ..., and the inputs' names."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


def folder() -> Path:
    """Where the files are."""
    given = os.environ.get(FOLDER)
    if not given:
        raise FileNotFoundError(f"Set {FOLDER} to the folder that the data are in.")
    return Path(given)


def read_table(name: str) -> Table:
    """A data set by the name of its file."""
    here = folder()
    archive, parquet = here / f"{name}.npz", here / f"{name}.parquet"
    if parquet.is_file():
        try:
            return read_parquet(parquet)
        except ImportError:  # pandas or pyarrow is not installed
            if not archive.is_file():
                raise
    if not archive.is_file():
        raise FileNotFoundError(f"Neither {parquet} nor {archive} exists.")
    return read_archive(archive)


def read_parquet(path: Path) -> Table:
    """A data set of those in ``TARGETS``."""
    import pandas

    frame, target = pandas.read_parquet(path), TARGETS[path.stem]
    inputs = frame.drop(columns=[target, *NEVER_INPUTS.get(path.stem, ())])
    _, y = np.unique(frame[target].to_numpy(), return_inverse=True)
    return Table(inputs.to_numpy(np.float64), y, tuple(map(str, inputs.columns)))


def read_archive(path: Path) -> Table:
    """What :func:`write_archive` wrote."""
    with np.load(path) as data:
        return Table(data["X"].astype(np.float64), data["y"], tuple(data["names"].tolist()))


def write_archive(table: Table, path: Path) -> None:
    """Write a table; inputs that float32 holds exactly take half the space."""
    small = table.X.astype(np.float32)
    exact = np.array_equal(small.astype(np.float64), table.X, equal_nan=True)
    X = small if exact else table.X
    np.savez_compressed(path, X=X, y=table.y, names=np.array(table.names))


def convert(names: Iterable[str], out: Path) -> list[Path]:
    """Write data sets as archives into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names:
        paths.append(out / f"{name}.npz")
        write_archive(read_table(name), paths[-1])
    return paths


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write the data sets as .npz files.")
    parser.add_argument("folder", type=Path, help="where to write them")
    parser.add_argument("--names", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    options = parser.parse_args(argv)
    for path in convert(options.names, options.folder):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
