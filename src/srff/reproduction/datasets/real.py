"""The paper's real data: RCP, REL, RAI and RMN, read or fetched, and its random splits.

Nothing is shipped.  The first three come from OpenML, the last from a file of Kaggle's; a folder
named by the environment variable ``SRFF_DATA`` is looked at before the network.

The paper's errors are in the target's own units for RCP and for a target of unit variance for the
others, and its numbers of inputs are the ranks of the tables: both are put right here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch, check_array, check_consistent_length, check_random_state

from srff._utils.parameters import check_choice, check_integer
from srff.data.moments import center_and_spread

FOLDER_VARIABLE = "SRFF_DATA"
_ROWS = 65536
_DEPENDENT = 1e-8

Pair = tuple[np.ndarray, np.ndarray]
Table = tuple[np.ndarray, np.ndarray, list[str]]


@dataclass(frozen=True)
class RealProblem:
    """One row of the paper's table of real data, and where the data are to be had."""

    name: str
    about: str
    file: str
    target: str
    n_samples: int
    train_size: int
    test_size: int
    openml_name: str | None = None
    openml_id: int | None = None
    left_out: tuple[str, ...] = ()
    unit_variance: bool = True
    decimal: str = "."


REAL = {
    "RCP": RealProblem(
        name="Computer Activity",
        about="Share of time (0 to 99 %) that the processors of a multi-user Sun workstation "
        "spend in user mode, from 21 counts of system activity.",
        file="cpu_act.parquet",
        target="usr",
        n_samples=8192,
        train_size=6000,
        test_size=1000,
        openml_name="cpu_act",
        openml_id=197,
        unit_variance=False,
    ),
    "REL": RealProblem(
        name="F16 elevators",
        about="Command to the elevators of an F16 aircraft, from the state that it flies in. "
        "The 18 inputs have rank 17.",
        file="elevators.parquet",
        target="Goal",
        n_samples=16599,
        train_size=6000,
        test_size=1000,
        openml_name="elevators",
        openml_id=216,
    ),
    "RAI": RealProblem(
        name="F16 ailerons",
        about="Command to the ailerons of an F16 aircraft, from the state that it flies in. "
        "The 40 inputs have rank 39.",
        file="ailerons.parquet",
        target="goal",
        n_samples=13750,
        train_size=11000,
        test_size=1000,
        openml_name="ailerons",
        openml_id=296,
    ),
    "RMN": RealProblem(
        name="Ore mining impurity",
        about="Silica left in the iron concentrate of a flotation plant, from 21 measurements of "
        "the process every 20 seconds.  The time and the iron concentrate, itself measured with "
        "the silica, are not inputs.",
        file="MiningProcess_Flotation_Plant_Database.csv",
        target="% Silica Concentrate",
        n_samples=737453,
        train_size=50000,
        test_size=10000,
        left_out=("date", "% Iron Concentrate"),
        decimal=",",
    ),
}


def load_real(
    code: str,
    *,
    path: str | os.PathLike[str] | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> Bunch:
    """One of the paper's four real data sets, prepared as its experiments need it.

    The data are looked for in this order: the file ``path``; the folder that the environment
    variable ``SRFF_DATA`` names, for ``cpu_act.parquet``, ``elevators.parquet``,
    ``ailerons.parquet`` or ``MiningProcess_Flotation_Plant_Database.csv``; OpenML, but for RMN,
    which has to be downloaded by hand from Kaggle.  Files are read with pandas and pyarrow
    (``pip install 'srff[data]'``); OpenML needs neither.

    Parameters
    ----------
    code : {"RCP", "REL", "RAI", "RMN"}
        The paper's code of the data set: Computer Activity, F16 elevators, F16 ailerons, ore
        mining impurity.
    path : path-like, default=None
        A parquet or csv file with the original columns.  The csv of RMN has decimal commas.
    data_home : path-like, default=None
        Where scikit-learn keeps what it has fetched from OpenML; None for its own default.

    Returns
    -------
    Bunch
        With

        - ``data``, float64 array of shape (n_samples, n_features), in the order of the file;
        - ``target``, float64 array of shape (n_samples,);
        - ``feature_names``, ``target_name``, ``code``, ``name``;
        - ``train_size``, ``test_size``: the paper's; its validation set has the test size;
        - ``dropped``, the constant or linearly dependent columns that were left out;
        - ``target_center``, ``target_scale``: the original target is
          ``target * target_scale + target_center``;
        - ``source``, ``DESCR``: where the data came from, and what they are.

    Raises
    ------
    ValueError
        For an unknown code, a file without the target column or rows, or missing values.
    FileNotFoundError
        Where there is no such file, or no file at all for RMN.
    ConnectionError
        Where OpenML cannot be reached.
    ImportError
        Where a file has to be read without pandas or pyarrow.

    Notes
    -----
    Constant columns, and columns that are a linear combination of a constant and earlier columns,
    are dropped: of a dependent set it is always the last in column order that goes.  This leaves
    the paper's 17 inputs of REL (without ``diffSaTime2``) and 39 of RAI (without
    ``diffSeTime8``).

    The target of REL, RAI and RMN is moved to mean zero and unit variance.  Mean and variance are
    those of all rows, whatever split follows, so that errors on different splits have one unit.
    The target of RCP is left as it is.

    Examples
    --------
    >>> from srff.datasets import load_real, split_real
    >>> rel = load_real("REL")  # doctest: +SKIP
    >>> rel.data.shape  # doctest: +SKIP
    (16599, 17)
    >>> train, validation, test = split_real(rel, random_state=0)  # doctest: +SKIP
    """
    problem = REAL[check_choice("code", code, tuple(REAL))]
    (X, y, names), source = _obtained(problem, path, data_home)
    kept = independent_columns(X)
    dropped = [names[i] for i in range(len(names)) if i not in kept]
    if dropped:
        X, names = X[:, kept], [names[i] for i in kept]
    center, scale = 0.0, 1.0
    if problem.unit_variance:
        center, scale = (float(value[0]) for value in center_and_spread(y[:, None])[:2])
        y = (y - center) / scale
    return Bunch(
        data=X,
        target=y,
        feature_names=names,
        target_name=problem.target,
        code=code,
        name=problem.name,
        train_size=problem.train_size,
        test_size=problem.test_size,
        dropped=dropped,
        target_center=center,
        target_scale=scale,
        source=source,
        DESCR=_describe(code, problem, X, dropped, source),
    )


def split_real(
    data: Any,
    y: Any = None,
    train_size: int | None = None,
    test_size: int | None = None,
    random_state: object = None,
) -> tuple[Pair, Pair, Pair]:
    """The paper's random split in training, validation and test rows, the last two of one size.

    With the same ``random_state`` and ``test_size``, the validation and test rows do not depend on
    ``train_size``, and fewer training rows are the first of more.

    Parameters
    ----------
    data : Bunch or array-like of shape (n_samples, n_features)
        What :func:`load_real` returns, or the inputs.
    y : array-like of shape (n_samples,), default=None
        The target; left out where ``data`` is a Bunch.
    train_size, test_size : int, default=None
        Numbers of rows; None for those of the Bunch.
    random_state : int, RandomState instance or None, default=None
        Seed of the split.

    Returns
    -------
    (X_train, y_train), (X_val, y_val), (X_test, y_test) : pairs of arrays

    Examples
    --------
    >>> from srff.datasets import make_se1, split_real
    >>> X, y = make_se1(100, random_state=0)
    >>> train, validation, test = split_real(X, y, 60, 20, random_state=0)
    >>> train[0].shape, validation[0].shape, test[1].shape
    ((60, 18), (20, 18), (20,))
    """
    if isinstance(data, Bunch):
        if y is not None:
            raise ValueError("y must be left out where data is a Bunch: it holds its own target.")
        train_size = data.train_size if train_size is None else train_size
        test_size = data.test_size if test_size is None else test_size
        data, y = data.data, data.target
    elif y is None:
        raise ValueError("y must be given where data is not a Bunch.")
    X = check_array(data)
    y = check_array(y, ensure_2d=False, input_name="y")
    check_consistent_length(X, y)
    n_train = check_integer("train_size", train_size, 1)
    n_test = check_integer("test_size", test_size, 1)
    n = X.shape[0]
    if n_train + 2 * n_test > n:
        raise ValueError(
            f"train_size={n_train} and twice test_size={n_test}, for validation and test, are "
            f"more than the {n} rows of the data."
        )
    order = check_random_state(random_state).permutation(n)
    test, validation = order[:n_test], order[n_test : 2 * n_test]
    train = order[2 * n_test : 2 * n_test + n_train]
    return (X[train], y[train]), (X[validation], y[validation]), (X[test], y[test])


def independent_columns(X: np.ndarray) -> np.ndarray:
    """Indices of the columns that neither are constant nor depend linearly on earlier ones.

    Columns are standardised and taken in order; one is dependent when what the columns kept
    before it do not explain has a standard deviation below 1e-8.  This is seen on the triangular
    factor ``R`` of the standardised table, which is built block by block and has its geometry.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.reproduction.datasets.real import independent_columns
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> X[:, 2] = X[:, 0] - 3 * X[:, 1] + 5
    >>> independent_columns(X)
    array([0, 1, 3])
    """
    center, spread, varies = center_and_spread(X)
    R = np.empty((0, X.shape[1]))
    for start in range(0, X.shape[0], _ROWS):
        U = (X[start : start + _ROWS] - center) / spread
        R = np.asarray(np.linalg.qr(np.vstack([R, U]), mode="r"))
    R /= np.sqrt(X.shape[0])
    kept: list[int] = []
    Q = np.empty((R.shape[0], 0))
    for j in np.flatnonzero(varies):
        rest = R[:, j]
        for _ in range(2):  # the second time removes what rounding left of the first
            rest = rest - Q @ (Q.T @ rest)
        size = np.linalg.norm(rest)
        if size > _DEPENDENT:
            kept.append(int(j))
            Q = np.column_stack([Q, rest / size])
    return np.array(kept, dtype=np.intp)


def _obtained(
    problem: RealProblem,
    path: str | os.PathLike[str] | None,
    data_home: str | os.PathLike[str] | None,
) -> tuple[Table, str]:
    """The whole table, and where it came from."""
    file = _find_file(problem, path)
    if file is not None:
        table, source = _read_file(problem, file), f"the file {file}"
    elif problem.openml_id is not None:
        table = _fetch(problem, data_home)
        source = f"OpenML, {_openml_text(problem)}, https://www.openml.org/d/{problem.openml_id}"
    else:
        raise FileNotFoundError(_where_to_get(problem, problem.file))
    X, y, _ = table
    if not y.size:
        raise ValueError(f"{source} has no rows.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError(f"{source} has missing or infinite values.")
    return table, source


def _find_file(problem: RealProblem, path: str | os.PathLike[str] | None) -> Path | None:
    """The file to read: the user's, or that of the folder where there is one."""
    if path is not None:
        if not Path(path).is_file():
            raise FileNotFoundError(_where_to_get(problem, str(path)))
        return Path(path)
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{FOLDER_VARIABLE}={folder!r} is not a folder.")
    file = Path(folder) / problem.file
    return file if file.is_file() else None


def _read_file(problem: RealProblem, file: Path) -> Table:
    """Inputs, target and names of the inputs, piece by piece into arrays made once."""
    parquet = file.suffix == ".parquet"
    pandas = _import_pandas(file, parquet)
    frame = pandas.read_parquet(file) if parquet else pandas.read_csv(file, nrows=0)
    columns = list(frame.columns)
    if problem.target not in columns:
        raise ValueError(f"{file} has no column {problem.target!r}; it has {columns}.")
    names = [name for name in columns if name not in (problem.target, *problem.left_out)]
    n_rows, pieces = len(frame), [frame]
    if not parquet:
        n_rows = _count_lines(file)
        pieces = pandas.read_csv(
            file,
            usecols=[*names, problem.target],
            dtype=np.float64,
            decimal=problem.decimal,
            chunksize=_ROWS,
        )
    X, y = np.empty((n_rows, len(names))), np.empty(n_rows)
    end = 0
    for piece in pieces:
        rows = slice(end, end + len(piece))
        X[rows], y[rows] = piece[names], piece[problem.target]
        end = rows.stop
    return X[:end], y[:end], names


def _import_pandas(file: Path, parquet: bool) -> Any:
    try:
        import pandas

        if parquet:
            import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"Reading {file} needs pandas and pyarrow: pip install 'srff[data]'."
        ) from error
    return pandas


def _count_lines(file: Path) -> int:
    """At least the number of rows of a csv: its lines, the last with or without an end."""
    with file.open("rb") as lines:
        return 1 + sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def _fetch(problem: RealProblem, data_home: str | os.PathLike[str] | None) -> Table:
    """The same from OpenML.

    The id fixes name and version; scikit-learn's own parser needs no pandas.  One retry is the
    least that it accepts.
    """
    try:
        table = fetch_openml(
            data_id=problem.openml_id,
            target_column=problem.target,
            data_home=data_home,
            as_frame=False,
            parser="liac-arff",
            n_retries=1,
            delay=0.1,
        )
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        raise ConnectionError(
            f"{problem.name} could not be fetched from OpenML ({error}). With a connection, "
            f"load_real fetches {_openml_text(problem)} once and keeps it in data_home. "
            f"Without one, put {problem.file}, with its original columns, in a folder and set the "
            f"environment variable {FOLDER_VARIABLE} to that folder, or pass the file as path."
        ) from error
    names = [str(name) for name in table.feature_names]
    return np.asarray(table.data, np.float64), np.asarray(table.target, np.float64), names


def _openml_text(problem: RealProblem) -> str:
    return f"data set {problem.openml_id} ({problem.openml_name}, version 1)"


def _where_to_get(problem: RealProblem, file: str) -> str:
    if problem.openml_id is not None:
        return f"There is no file {file}. Without path, {problem.name} is fetched from OpenML."
    return (
        f"There is no file {file}. Download {problem.file} from "
        "https://www.kaggle.com/datasets/edumagalhaes/quality-prediction-in-a-mining-process, "
        "unpack it, and pass where it is as path, or put it in the folder that the environment "
        f"variable {FOLDER_VARIABLE} names."
    )


def _describe(
    code: str, problem: RealProblem, X: np.ndarray, dropped: list[str], source: str
) -> str:
    if problem.unit_variance:
        units = "moved to mean zero and unit variance over all rows"
    else:
        units = "in its own units"
    return "\n".join(
        [
            f"{code}: {problem.name}",
            "",
            problem.about,
            "",
            f"Rows: {X.shape[0]} (the whole data set has {problem.n_samples})",
            f"Inputs: {X.shape[1]}",
            f"Dropped as constant or linearly dependent: {', '.join(dropped) or 'none'}",
            f"Target: {problem.target}, {units}",
            f"The paper's split: {problem.train_size} training rows, "
            f"{problem.test_size} for validation and {problem.test_size} for the test",
            f"Source: {source}",
        ]
    )
