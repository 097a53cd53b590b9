"""The problems: how rows are drawn for a seed, and what is known of the truth.

A synthetic problem is a design (the law of the inputs), a function of them and noise.  The truth
is a list of groups of columns: a group is found if any of its columns is selected, so that copies
of one variable count once.  Columns that are in no group and not ``neutral`` are irrelevant.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from srff.reproduction import datasets

Pair = tuple[np.ndarray, np.ndarray]
Design = Callable[[np.random.Generator, int, int], np.ndarray]
Function = Callable[[np.ndarray], np.ndarray]
Noise = Callable[[np.random.Generator, np.ndarray], np.ndarray]

VALIDATION_ROWS, TEST_ROWS = 1000, 10000
REAL_ROWS = {"train": 10000, "validation": 2000, "test": 10000}
SGEMM_TRAIN_ROWS = 20000


@dataclass(frozen=True)
class Draw:
    """Rows of one seed."""

    train: Pair
    validation: Pair
    test: Pair
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """A problem: its rows for a seed, and what is known of it.

    Parameters
    ----------
    groups : tuple of tuples of int or None
        The relevant variables, each with the columns that carry it; None for real data.
    neutral : tuple of int
        Columns that count neither as true nor as false: their effect is below anything that the
        noise lets one see.
    noise_names : tuple of str
        Of real data: inputs that are known to be noise.
    floor : float
        The smallest possible RMSE on the test rows; nan if it is not known.
    """

    name: str
    family: str
    formula: str
    n_train: int
    n_features: int
    rows: Callable[[int], Draw]
    groups: tuple[tuple[int, ...], ...] | None = None
    neutral: tuple[int, ...] = ()
    noise_names: tuple[str, ...] = ()
    floor: float = float("nan")

    def draw(self, seed: int) -> Draw:
        """Training, validation and test rows of a seed, the same for every method."""
        return self.rows(seed)


@dataclass(frozen=True)
class Score:
    """Selected columns against the truth."""

    n_true: int | None
    true: int | None
    false: int | None
    exact: bool | None


def score(problem: Problem, selected: np.ndarray, names: tuple[str, ...]) -> Score:
    """Groups found, columns selected that carry nothing, and whether the set is right.

    Of real data only the inputs known to be noise are counted, as false.
    """
    chosen = set(np.flatnonzero(selected).tolist())
    if problem.groups is None:
        if not problem.noise_names:
            return Score(None, None, None, None)
        noise = {names.index(name) for name in problem.noise_names}
        return Score(None, None, len(chosen & noise), None)
    found = sum(bool(chosen & set(group)) for group in problem.groups)
    allowed = {i for group in problem.groups for i in group} | set(problem.neutral)
    false = len(chosen - allowed)
    return Score(len(problem.groups), found, false, found == len(problem.groups) and not false)


# --- synthetic -----------------------------------------------------------------------------------


def cut(X: np.ndarray, y: np.ndarray, n_train: int, n_validation: int) -> Draw:
    """Rows in their order: training, validation, test."""
    cuts = (n_train, n_train + n_validation)
    train, validation, test = zip(np.split(X, cuts), np.split(y, cuts), strict=True)
    return Draw(train, validation, test)


def paper_problem(truth: datasets.Truth, make: Callable[..., Pair], n_train: int) -> Problem:
    """SE1, SE2 or SE3 at a training size."""
    n_validation = 10000 if truth.name == "SE3" else VALIDATION_ROWS

    def rows(seed: int) -> Draw:
        X, y = make(n_train + n_validation + TEST_ROWS, random_state=seed)
        return cut(X, y, n_train, n_validation)

    return Problem(
        name=f"{truth.name.lower()}-{n_train // 1000}k",
        family="paper",
        formula=truth.formula,
        n_train=n_train,
        n_features=truth.n_features,
        rows=rows,
        groups=tuple((i,) for i in truth.relevant),
        floor=truth.noise_floor,
    )


def normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent standard normal inputs."""
    return rng.standard_normal((n, d))


def uniform(low: float = -1.0, high: float = 1.0) -> Design:
    """Independent uniform inputs."""
    return lambda rng, n, d: rng.uniform(low, high, (n, d))


def ar1(rho: float) -> Design:
    """Standard normal inputs with correlation ``rho ** |i - j|``."""

    def design(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        X = rng.standard_normal((n, d))
        for j in range(1, d):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        return X

    return design


def blocks(size: int, rho: float) -> Design:
    """Standard normal inputs in blocks with correlation ``rho`` inside each."""

    def design(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        common = np.repeat(rng.standard_normal((n, d // size)), size, axis=1)
        return np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((n, d))

    return design


def copies(first: int, noise: float) -> Design:
    """Normal inputs; columns ``first`` to ``2 first`` repeat the first ones with a little noise."""

    def design(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        X = rng.standard_normal((n, d))
        X[:, first : 2 * first] = X[:, :first] + noise * X[:, first : 2 * first]
        return X

    return design


def friedman_units(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """The inputs of Friedman's second and third problem, then uniform ones."""
    X = rng.uniform(0, 1, (n, d))
    X[:, 0] *= 100
    X[:, 1] = np.pi * (40 + 520 * X[:, 1])
    X[:, 3] = 1 + 10 * X[:, 3]
    return X


def bits(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent fair bits."""
    return rng.integers(0, 2, (n, d)).astype(float)


def levels(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Categories coded 0 to 4, without an order."""
    return rng.integers(0, 5, (n, d)).astype(float)


def lognormal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent lognormal inputs."""
    return np.exp(rng.standard_normal((n, d)))


def gaussian(scale: float) -> Noise:
    """Normal noise of one standard deviation."""
    return lambda rng, X: rng.normal(0, scale, X.shape[0])


def student(df: float, scale: float) -> Noise:
    """Student's t noise."""
    return lambda rng, X: scale * rng.standard_t(df, X.shape[0])


def growing(base: float, slope: float) -> Noise:
    """Normal noise of standard deviation ``base + slope |x1|``."""

    def noise(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
        return (base + slope * np.abs(X[:, 0])) * rng.standard_normal(X.shape[0])

    return noise


def synthetic(
    name: str,
    formula: str,
    function: Function,
    noise: Noise,
    floor: float,
    relevant: int | tuple[tuple[int, ...], ...],
    *,
    n: int = 1000,
    d: int = 40,
    design: Design = normal,
    neutral: tuple[int, ...] = (),
    noisy_test: bool = True,
) -> Problem:
    """A problem from its parts; ``relevant`` is a number of first columns, or the groups.

    With ``noisy_test=False`` the test target is the function itself: noise of infinite variance
    would leave nothing else to be seen in the error.
    """
    groups = tuple((i,) for i in range(relevant)) if isinstance(relevant, int) else relevant

    def rows(seed: int) -> Draw:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        X = design(rng, n + VALIDATION_ROWS + TEST_ROWS, d)
        f = function(X)
        y = f + noise(rng, X)
        if not noisy_test:
            y[-TEST_ROWS:] = f[-TEST_ROWS:]
        return cut(X, y, n, VALIDATION_ROWS)

    return Problem(name, "other", formula, n, d, rows, groups, neutral, (), floor)


def _friedman1(X: np.ndarray) -> np.ndarray:
    wave = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return wave + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def _reactance(X: np.ndarray) -> np.ndarray:
    return X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])


def _additive(X: np.ndarray) -> np.ndarray:
    return -2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + np.exp(-X[:, 3])


def _single_index(X: np.ndarray) -> np.ndarray:
    u = (X[:, :6] @ np.array([1, -1, 1, 1, -1, 1])) / np.sqrt(6)
    return np.sin(2 * u) + 0.5 * u**2


def _two_index(X: np.ndarray) -> np.ndarray:
    u, v = (X[:, 0] + X[:, 1] + X[:, 2]) / np.sqrt(3), (X[:, 3] - X[:, 4]) / np.sqrt(2)
    return u * np.cos(2 * v)


def _mixed(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2


def _far_apart(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 4]) + X[:, 14] * X[:, 24] + np.abs(X[:, 34])


def _one_per_block(X: np.ndarray) -> np.ndarray:
    return 1.5 * np.tanh(2 * X[:, 0]) + X[:, 10] * X[:, 20]


def _wide(X: np.ndarray) -> np.ndarray:
    return 2 * np.sin(X[:, 0]) + X[:, 1] ** 2 + X[:, 2]


def _steps(X: np.ndarray) -> np.ndarray:
    first = np.where(X[:, 0] > 0, 2.0, -1.0) * (X[:, 1] > 0.3)
    return first + 1.5 * ((X[:, 2] > -0.5) & (X[:, 3] < 0.5)) - (X[:, 2] > 0.7)


def _logic(X: np.ndarray) -> np.ndarray:
    xor = np.abs(X[:, 0] - X[:, 1])
    return 2 * xor + 1.5 * X[:, 2] * X[:, 3] * X[:, 4] + X[:, 5]


def _codes(X: np.ndarray) -> np.ndarray:
    first, second = np.array([0.0, 2.0, -1.0, 1.5, -2.0]), np.array([1.0, -1.0, 1.0, -1.0, 0.5])
    x = X[:, :3].astype(int)
    return first[x[:, 0]] + second[x[:, 1]] * first[x[:, 2]]


def _skewed(X: np.ndarray) -> np.ndarray:
    return 2 * np.log(X[:, 0]) + 3 * X[:, 1] / (X[:, 1] + X[:, 2]) + np.minimum(X[:, 3], 2)


def _radial(X: np.ndarray) -> np.ndarray:
    return np.cos(4 * np.linalg.norm(X[:, :4], axis=1))


def _bump(X: np.ndarray) -> np.ndarray:
    return 5 * np.exp(-8 * ((X[:, :3] - np.array([0.3, -0.3, 0.2])) ** 2).sum(axis=1))


def _uneven(X: np.ndarray) -> np.ndarray:
    return 3 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * X[:, 2] ** 2 + 0.4 * X[:, 3] * X[:, 0]


def _kinks(X: np.ndarray) -> np.ndarray:
    return np.abs(X[:, 0] - X[:, 1]) + np.maximum(X[:, 2], X[:, 3]) * np.sign(X[:, 4])


def _many(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, :10]).sum(axis=1) + (X[:, 10:14] * X[:, 14:18]).sum(axis=1)


def _linear(X: np.ndarray) -> np.ndarray:
    return X[:, :5] @ np.array([2.0, -1.5, 1.0, 0.75, -0.5])


def _waves(X: np.ndarray) -> np.ndarray:
    return np.sin(6 * X[:, :3]).sum(axis=1)


def _joint_wave(X: np.ndarray) -> np.ndarray:
    return np.sin(4 * (X[:, 0] + X[:, 1])) * np.cos(4 * X[:, 2])


# Of growing(0.2, 0.5) with a standard normal input: sqrt(E (0.2 + 0.5 |x|)^2).
_GROWING_FLOOR = float(np.sqrt(0.04 + 0.2 * np.sqrt(2 / np.pi) + 0.25))

OTHERS = (
    synthetic(
        "friedman1",
        "10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + N(0, 1)",
        _friedman1,
        gaussian(1),
        1.0,
        5,
        d=45,
        design=uniform(0, 1),
    ),
    synthetic(
        "friedman2",
        "sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2) + N(0, 125)",
        lambda X: np.sqrt(X[:, 0] ** 2 + _reactance(X) ** 2),
        gaussian(125),
        125.0,
        ((1,), (2,)),
        design=friedman_units,
        neutral=(0, 3),
    ),
    synthetic(
        "friedman3",
        "arctan((x2 x3 - 1 / (x2 x4)) / x1) + N(0, 0.1)",
        lambda X: np.arctan(_reactance(X) / X[:, 0]),
        gaussian(0.1),
        0.1,
        3,
        design=friedman_units,
        neutral=(3,),
    ),
    synthetic(
        "sign-product",
        "sign(x1 x2) + N(0, 0.3)",
        lambda X: np.sign(X[:, 0] * X[:, 1]),
        gaussian(0.3),
        0.3,
        2,
        d=20,
    ),
    synthetic(
        "product-2",
        "x1 x2 + N(0, 0.3)",
        lambda X: X[:, 0] * X[:, 1],
        gaussian(0.3),
        0.3,
        2,
    ),
    synthetic(
        "product-3",
        "x1 x2 x3 + N(0, 0.3)",
        lambda X: X[:, :3].prod(axis=1),
        gaussian(0.3),
        0.3,
        3,
        n=2000,
        d=20,
    ),
    synthetic(
        "additive",
        "-2 sin(2 x1) + x2^2 + x3 + exp(-x4) + N(0, 1), x in (-2.5, 2.5)",
        _additive,
        gaussian(1),
        1.0,
        4,
        d=60,
        design=uniform(-2.5, 2.5),
    ),
    synthetic(
        "single-index",
        "sin(2 u) + u^2 / 2 + N(0, 0.2), u of six variables",
        _single_index,
        gaussian(0.2),
        0.2,
        6,
        d=60,
    ),
    synthetic(
        "two-index",
        "u cos(2 v) + N(0, 0.2), u of three and v of two variables",
        _two_index,
        gaussian(0.2),
        0.2,
        5,
        n=2000,
    ),
    synthetic(
        "waves",
        "sin(6 x1) + sin(6 x2) + sin(6 x3) + N(0, 0.3)",
        _waves,
        gaussian(0.3),
        0.3,
        3,
        n=2000,
    ),
    synthetic(
        "joint-wave-2k",
        "sin(4 (x1 + x2)) cos(4 x3) + N(0, 0.2), x in (-1, 1)",
        _joint_wave,
        gaussian(0.2),
        0.2,
        3,
        n=2000,
        design=uniform(),
    ),
    synthetic(
        "joint-wave-5k",
        "sin(4 (x1 + x2)) cos(4 x3) + N(0, 0.2), x in (-1, 1)",
        _joint_wave,
        gaussian(0.2),
        0.2,
        3,
        n=5000,
        design=uniform(),
    ),
    synthetic(
        "heavy-tail",
        "sin(2 x1) + x2 x3 + x4^2 / 2 + 0.3 t(2); test rows without noise",
        _mixed,
        student(2, 0.3),
        0.0,
        4,
        d=30,
        noisy_test=False,
    ),
    synthetic(
        "heteroscedastic",
        "sin(2 x1) + x2 x3 + x4^2 / 2 + (0.2 + 0.5 |x1|) N(0, 1)",
        _mixed,
        growing(0.2, 0.5),
        _GROWING_FLOOR,
        4,
        d=30,
    ),
    synthetic(
        "ar1",
        "sin(2 x5) + x15 x25 + |x35| + N(0, 0.3), correlation 0.7^|i-j|",
        _far_apart,
        gaussian(0.3),
        0.3,
        ((4,), (14,), (24,), (34,)),
        design=ar1(0.7),
    ),
    synthetic(
        "blocks",
        "1.5 tanh(2 x1) + x11 x21 + N(0, 0.3), blocks of 5 with correlation 0.8",
        _one_per_block,
        gaussian(0.3),
        0.3,
        ((0,), (10,), (20,)),
        design=blocks(5, 0.8),
    ),
    synthetic(
        "copies",
        "sin(2 x1) + x2 x3 + x4^2 / 2 + N(0, 0.3), x5..x8 = x1..x4 + N(0, 0.01)",
        _mixed,
        gaussian(0.3),
        0.3,
        tuple((i, i + 4) for i in range(4)),
        d=30,
        design=copies(4, 0.01),
    ),
    synthetic(
        "wide",
        "2 sin(x1) + x2^2 + x3 + N(0, 0.5), 200 rows",
        _wide,
        gaussian(0.5),
        0.5,
        3,
        n=200,
        d=500,
    ),
    synthetic(
        "steps",
        "sums and products of steps in four variables + N(0, 0.3), x in (-1, 1)",
        _steps,
        gaussian(0.3),
        0.3,
        4,
        d=30,
        design=uniform(),
    ),
    synthetic(
        "bits",
        "2 (x1 xor x2) + 1.5 (x3 and x4 and x5) + x6 + N(0, 0.5), fair bits",
        _logic,
        gaussian(0.5),
        0.5,
        6,
        design=bits,
    ),
    synthetic(
        "codes",
        "level effects of x1, and of x2 times x3, + N(0, 0.5), codes 0..4",
        _codes,
        gaussian(0.5),
        0.5,
        3,
        n=2000,
        d=30,
        design=levels,
    ),
    synthetic(
        "skewed",
        "2 log x1 + 3 x2 / (x2 + x3) + min(x4, 2) + N(0, 0.3), lognormal x",
        _skewed,
        gaussian(0.3),
        0.3,
        4,
        design=lognormal,
    ),
    synthetic(
        "linear",
        "2 x1 - 1.5 x2 + x3 + 0.75 x4 - 0.5 x5 + N(0, 1)",
        _linear,
        gaussian(1),
        1.0,
        5,
        d=100,
    ),
    synthetic(
        "noise",
        "N(0, 1)",
        lambda X: np.zeros(X.shape[0]),
        gaussian(1),
        1.0,
        0,
        d=30,
    ),
    synthetic(
        "radial",
        "cos(4 |(x1, ..., x4)|) + N(0, 0.2), x in (-1, 1)",
        _radial,
        gaussian(0.2),
        0.2,
        4,
        n=2000,
        d=30,
        design=uniform(),
    ),
    synthetic(
        "bump",
        "5 exp(-8 |(x1, x2, x3) - c|^2) + N(0, 0.3), x in (-1, 1)",
        _bump,
        gaussian(0.3),
        0.3,
        3,
        n=2000,
        d=20,
        design=uniform(),
    ),
    synthetic(
        "uneven",
        "3 x1 + sin(3 x2) + x3^2 / 2 + 0.4 x1 x4 + N(0, 0.3)",
        _uneven,
        gaussian(0.3),
        0.3,
        4,
        d=50,
    ),
    synthetic(
        "kinks",
        "|x1 - x2| + max(x3, x4) sign(x5) + N(0, 0.3)",
        _kinks,
        gaussian(0.3),
        0.3,
        5,
        n=5000,
    ),
    synthetic(
        "many",
        "sum of sin(2 x1..x10) + four products of two + N(0, 0.5)",
        _many,
        gaussian(0.5),
        0.5,
        18,
        n=5000,
    ),
)


# --- real ----------------------------------------------------------------------------------------


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
    n_train: int = REAL_ROWS["train"],
    noise_names: tuple[str, ...] = (),
) -> Problem:
    """A data set in a parquet file, split at random."""

    def rows(seed: int) -> Draw:
        inputs, y = _read(file, read)
        order = np.random.default_rng(seed).permutation(y.size)
        cuts = np.cumsum([n_train, REAL_ROWS["validation"], REAL_ROWS["test"]])
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

PAPER = (
    *(paper_problem(datasets.SE1, datasets.make_se1, n) for n in (1000, 5000, 50000)),
    *(paper_problem(datasets.SE2, datasets.make_se2, n) for n in (1000, 5000, 50000)),
    *(paper_problem(datasets.SE3, datasets.make_se3, n) for n in (1000, 50000)),
)

PROBLEMS = {problem.name: problem for problem in (*PAPER, *OTHERS, *REAL)}
