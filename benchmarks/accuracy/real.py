"""Real data: three sets of the paper, and four more tables of the folder ``SRFF_DATA``."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from problem import Draw, Problem

from srff.reproduction import datasets

ROWS = {"train": 10000, "validation": 2000, "test": 10000}
SGEMM_TRAIN_ROWS = 20000


def paper_real(code: str, n_features: int) -> Problem:
    """RCP, REL or RAI with the paper's sizes and preparation."""
    known = datasets.real.REAL[code]

    def rows(seed: int) -> Draw:
        data = datasets.load_real(code)
        return Draw(*datasets.split_real(data, random_state=seed), tuple(data.feature_names))

    text = f"{known.name}, target {known.target}"
    return Problem(code.lower(), "real", text, known.train_size, n_features, rows)


def data_file(name: str) -> Path:
    """A parquet file of the folder that ``SRFF_DATA`` names."""
    folder = os.environ.get(datasets.real.FOLDER_VARIABLE)
    if not folder:
        raise FileNotFoundError(f"{name}: set SRFF_DATA to the folder that it is in.")
    path = Path(folder) / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist.")
    return path


def read_casp(frame: Any) -> tuple[Any, np.ndarray]:
    """CASP without the rows that are there twice."""
    frame = frame.drop_duplicates()
    return frame.drop(columns="RMSD"), frame["RMSD"].to_numpy(np.float64)


def read_sgemm(frame: Any) -> tuple[Any, np.ndarray]:
    """SGEMM: the logarithm of the mean of four runs."""
    runs = [name for name in frame.columns if str(name).startswith("Run")]
    return frame.drop(columns=runs), np.log(frame[runs].to_numpy(np.float64).mean(axis=1))


def read_kin40k(frame: Any) -> tuple[Any, np.ndarray]:
    """kin40k."""
    return frame.drop(columns="y"), frame["y"].to_numpy(np.float64)


def read_appliances(frame: Any) -> tuple[Any, np.ndarray]:
    """Appliances energy: of the date, the hour of the day and the day of the week."""
    import pandas

    date = pandas.to_datetime(frame["date"])
    inputs = frame.drop(columns=["date", "Appliances"]).assign(
        hour=date.dt.hour + date.dt.minute / 60, weekday=date.dt.weekday
    )
    return inputs, frame["Appliances"].to_numpy(np.float64)


def table_problem(
    name: str,
    text: str,
    file: str,
    read: Callable[[Any], tuple[Any, np.ndarray]],
    n_features: int,
    n_train: int = ROWS["train"],
    noise_names: tuple[str, ...] = (),
) -> Problem:
    """A data set in a parquet file, split at random."""

    def rows(seed: int) -> Draw:
        inputs, y = _read(file, read)
        order = np.random.default_rng(seed).permutation(y.size)
        cuts = np.cumsum([n_train, ROWS["validation"], ROWS["test"]])
        X = inputs.to_numpy(np.float64)
        train, validation, test = ((X[i], y[i]) for i in np.split(order, cuts)[:3])
        return Draw(train, validation, test, tuple(map(str, inputs.columns)))

    return Problem(name, "real", text, n_train, n_features, rows, noise_names=noise_names)


@functools.cache
def _read(file: str, read: Callable[[Any], tuple[Any, np.ndarray]]) -> tuple[Any, np.ndarray]:
    import pandas

    return read(pandas.read_parquet(data_file(file)))


REAL = (
    paper_real("RCP", 21),
    paper_real("REL", 17),
    paper_real("RAI", 39),
    table_problem(
        "casp", "protein structure (CASP), target RMSD", "protein_casp.parquet", read_casp, 9
    ),
    table_problem(
        "sgemm",
        "SGEMM on a GPU, target log of the mean time",
        "sgemm.parquet",
        read_sgemm,
        14,
        SGEMM_TRAIN_ROWS,
    ),
    table_problem(
        "kin40k", "kin40k, simulated robot arm", "kin40k_centred.parquet", read_kin40k, 8
    ),
    table_problem(
        "appliances",
        "appliances energy, target Wh; rv1 and rv2 are noise",
        "appliances_energy.parquet",
        read_appliances,
        29,
        noise_names=("rv1", "rv2"),
    ),
)
