"""The paper's synthetic problems against their formulas, and the loader of its real data."""

import csv
import hashlib
import io
import json
import math
import os
import sys
import time
import urllib.request
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
from scipy import integrate
from sklearn.utils import Bunch

from srff.reproduction.datasets import (
    SE1,
    SE2,
    SE3,
    load_real,
    make_se1,
    make_se2,
    make_se3,
    real,
    split_real,
)
from srff.reproduction.datasets.real import REAL, independent_columns

MAKERS = [(make_se1, SE1), (make_se2, SE2), (make_se3, SE3)]

# Synthetic data ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "truth"), MAKERS)
def test_synthetic_shapes_seeds_and_truth(make, truth):
    X, y = make(30, random_state=3)
    assert X.shape == (30, truth.n_features)
    assert y.shape == (30,)
    assert X.dtype == y.dtype == np.float64
    again, target = make(30, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(again, X)
    np.testing.assert_array_equal(target, y)
    assert not np.array_equal(make(30, random_state=4)[0], X)
    assert make()[1].shape == (1000,)


def test_relevant_columns_are_those_of_the_formulas():
    assert [i + 1 for i in SE1.relevant] == [1, 3, 7, 8, 9]
    assert [i + 1 for i in SE2.relevant] == [11, 12, 13, 14, 15]
    assert [i + 1 for i in SE3.relevant] == list(range(1, 11))


def test_rows_follow_the_formulas():
    X, y = make_se1(20, random_state=0)
    for x, value in zip(X, y, strict=True):
        f = math.sin((x[0] + x[2]) ** 2) * math.sin(x[6] * x[7] * x[8])
        assert abs(value - f) < 0.5
    X, y = make_se2(20, random_state=0)
    for x, value in zip(X, y, strict=True):
        assert abs(value - 2 * math.log(abs(x[10] + x[11] + x[12] + x[13] + x[14]))) < 0.5
    X, y = make_se3(20, random_state=0)
    for x, value in zip(X, y, strict=True):
        square = (sum(x[:5]) / 5) ** 2 + (sum(x[5:10]) / 5) ** 2
        assert abs(value - 10 * square * math.exp(-2 * square)) < 0.6


@pytest.fixture(scope="module")
def se3_draws():
    """50,000 rows of SE3, the ten relevant columns only."""
    draws = [make_se3(5000, random_state=seed) for seed in range(10)]
    return np.vstack([X[:, :10] for X, _ in draws]), np.concatenate([y for _, y in draws])


def test_error_of_the_mean_and_of_the_truth(se3_draws):
    X, y = make_se1(50_000, random_state=0)
    assert y.std() == pytest.approx(0.287, abs=0.004)
    f = np.sin((X[:, 0] + X[:, 2]) ** 2) * np.sin(X[:, 6:9].prod(axis=1))
    assert rmse(y, f) == pytest.approx(SE1.noise_floor, abs=0.002)
    X, y = make_se2(50_000, random_state=0)
    assert y.std() == pytest.approx(2.22, abs=0.03)
    assert y.std() == pytest.approx(math.sqrt(math.pi**2 / 2 + 0.01), abs=0.03)
    assert rmse(y, np.log(X[:, 10:15].sum(axis=1) ** 2)) == pytest.approx(0.1, abs=0.002)
    assert se3_draws[1].std() == pytest.approx(0.676, abs=0.008)


def test_se3_inputs_are_noisy_copies_in_fives():
    X, _ = make_se3(500, random_state=0)
    copies = X.reshape(500, 200, 5)
    within = copies.var(axis=2, ddof=1).mean()
    assert math.sqrt(within) == pytest.approx(0.1, abs=0.002)
    assert copies.mean(axis=2).std() == pytest.approx(1.001, abs=0.01)
    correlations = np.corrcoef(copies[:, :20].mean(axis=2).T) - np.eye(20)
    assert np.abs(correlations).max() < 0.25


# The smallest error possible on SE3.  The mean of five copies is z + N(0, sqrt(v)), v = 0.01 / 5,
# and says all that the copies do of z ~ N(0, 1): given it, z is normal with mean mean / (1 + v)
# and variance t = v / (1 + v).  With s = z1^2 + z2^2 and q the squared norm of the two means,
#     E exp(-k s) = exp(-k q / c) / c,    c = 1 + 2 k t,
# and minus its derivative in k is E s exp(-k s), at k = 2 a tenth of E(y | x).
V = 0.1**2 / 5
T = V / (1 + V)
C = 1 + 4 * T


def se3_conditional_mean(q):
    return 10 * np.exp(-2 * q / C) / C * (2 * T / C + q / C**2)


def se3_floor():
    # s is exponential with mean 2, so E f^2 = 100 E s^2 exp(-4 s) = 100 (1/2) 2 / (9/2)^3; q is
    # exponential with mean 2 / (1 + v); the law of total variance gives the rest.
    rate = (1 + V) / 2
    second_moment = 100 / 4.5**3
    a = 4 / C + rate
    explained = 100 * rate / C**2 * ((2 * T / C) ** 2 / a + 4 * T / C**3 / a**2 + 2 / C**4 / a**3)
    return math.sqrt(second_moment - explained + 0.01**2), explained


def test_se3_noise_floor_is_the_error_of_the_conditional_mean(se3_draws):
    floor, explained = se3_floor()
    rate = (1 + V) / 2
    by_quadrature, _ = integrate.quad(
        lambda q: se3_conditional_mean(q) ** 2 * rate * math.exp(-rate * q), 0, np.inf
    )
    assert by_quadrature == pytest.approx(explained, abs=1e-10)
    # The conditional mean itself, against an average over the posterior.
    mean = np.array([0.3, -0.5])
    z = mean + math.sqrt(T) * np.random.default_rng(0).standard_normal((200_000, 2))
    s = (z**2).sum(axis=1)
    average = (10 * s * np.exp(-2 * s)).mean()
    assert average == pytest.approx(se3_conditional_mean((mean**2).sum()), abs=1e-3)
    # And the error, on draws of the generator.
    X, y = se3_draws
    means = X.reshape(-1, 2, 5).mean(axis=2) / (1 + V)
    assert rmse(y, se3_conditional_mean((means**2).sum(axis=1))) == pytest.approx(floor, abs=0.0015)
    assert floor == pytest.approx(0.08934, abs=1e-5)
    assert SE3.noise_floor == pytest.approx(floor, abs=5e-5)


def rmse(y, prediction):
    return math.sqrt(np.mean((y - prediction) ** 2))


# Real data from files ---------------------------------------------------------------------------

folder = os.environ.get("SRFF_DATA")
with_files = pytest.mark.skipif(not folder, reason="SRFF_DATA does not name a folder of data")

COUNTS = {"RCP": (8192, 21, []), "REL": (16599, 17, ["diffSaTime2"])}
COUNTS["RAI"] = (13750, 39, ["diffSeTime8"])
SIZES = {"RCP": (6000, 1000), "REL": (6000, 1000), "RAI": (11000, 1000), "RMN": (50000, 10000)}


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("SRFF_DATA", raising=False)


@with_files
@pytest.mark.parametrize("code", ["RCP", "REL", "RAI"])
def test_files_of_the_paper(code):
    bunch = load_real(code)
    n, d, dropped = COUNTS[code]
    assert bunch.data.shape == (n, d)
    assert bunch.target.shape == (n,)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert bunch.dropped == dropped
    assert len(bunch.feature_names) == d
    assert np.linalg.matrix_rank((bunch.data - bunch.data.mean(0)) / bunch.data.std(0)) == d
    assert (bunch.train_size, bunch.test_size) == SIZES[code]
    assert REAL[code].file in bunch.source
    assert bunch.source in bunch.DESCR
    if code == "RCP":
        assert (bunch.target.min(), bunch.target.max()) == (0, 99)
        assert (bunch.target_center, bunch.target_scale) == (0, 1)
        # The paper's error of the mean, 18.518 over test sets of 1000.
        assert bunch.target.std() == pytest.approx(18.518, abs=0.988)
    else:
        assert bunch.target.mean() == pytest.approx(0, abs=1e-10)
        assert bunch.target.std() == pytest.approx(1, abs=1e-10)
    parts = split_real(bunch, random_state=0)
    assert [len(y) for _, y in parts] == [bunch.train_size, bunch.test_size, bunch.test_size]


@with_files
@pytest.mark.parametrize(
    ("file", "shape", "dropped"),
    [
        ("mining_hourly.parquet", (4069, 21), []),
        # Two constant columns, one of which has a variance above zero by rounding.
        (
            "mining_20s_first43h.parquet",
            (7734, 19),
            ["Flotation Column 04 Air Flow", "Flotation Column 05 Air Flow"],
        ),
    ],
)
def test_extracts_of_the_mining_data(file, shape, dropped):
    path = os.path.join(folder, file)
    if not os.path.isfile(path):
        pytest.skip(f"no {file} in SRFF_DATA")
    bunch = load_real("RMN", path=path)
    assert bunch.data.shape == shape
    assert bunch.dropped == dropped
    assert not {"date", "% Iron Concentrate", "% Silica Concentrate"} & set(bunch.feature_names)
    assert bunch.target.std() == pytest.approx(1)
    with pytest.raises(ValueError, match=f"more than the {shape[0]} rows"):
        split_real(bunch)


MINING_COLUMNS = [
    "date",
    "% Iron Feed",
    "% Silica Feed",
    "Starch Flow",
    "% Iron Concentrate",
    "% Silica Concentrate",
]


def write_mining(path, n=50, *, end="\n", columns=MINING_COLUMNS):
    """A csv as Kaggle's: decimal commas in quotes, whole numbers bare."""
    numbers = np.round(np.random.default_rng(0).normal(50, 20, (n, len(columns) - 1)), 4)
    numbers[::7] = np.round(numbers[::7])
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in numbers:
            writer.writerow(["2017-03-10 01:00:00", *(f"{v:g}".replace(".", ",") for v in row)])
    text = path.read_text()
    assert '"' in text
    path.write_text(text.rstrip("\n") + end)
    return np.array([[float(f"{v:g}") for v in row] for row in numbers])


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("rows", [7, 65536])
def test_mining_csv(tmp_path, monkeypatch, no_folder, end, rows):
    monkeypatch.setattr(real, "_ROWS", rows)
    path = tmp_path / "MiningProcess_Flotation_Plant_Database.csv"
    numbers = write_mining(path, end=end)
    bunch = load_real("RMN", path=path)
    np.testing.assert_allclose(bunch.data, numbers[:, :3], rtol=1e-14)
    assert bunch.feature_names == ["% Iron Feed", "% Silica Feed", "Starch Flow"]
    assert bunch.target_name == "% Silica Concentrate"
    y = numbers[:, -1]
    np.testing.assert_allclose(bunch.target, (y - y.mean()) / y.std(), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(bunch.target * bunch.target_scale + bunch.target_center, y)
    assert (bunch.train_size, bunch.test_size) == SIZES["RMN"]
    assert "50 (the whole data set has 737453)" in bunch.DESCR
    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    np.testing.assert_array_equal(load_real("RMN").data, bunch.data)


def test_a_path_goes_before_the_folder(tmp_path, monkeypatch):
    table = np.random.default_rng(0).normal(size=(9, 3)).round(3)
    path = tmp_path / "mine.csv"
    np.savetxt(path, table, delimiter=",", header="a,b,usr", comments="")
    monkeypatch.setenv("SRFF_DATA", str(tmp_path / "absent"))
    bunch = load_real("RCP", path=str(path))
    np.testing.assert_allclose(bunch.data, table[:, :2], rtol=1e-14)
    np.testing.assert_allclose(bunch.target, table[:, 2], rtol=1e-14)


def test_parquet_in_the_folder(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X = np.random.default_rng(0).normal(size=(12, 3))
    frame = pandas.DataFrame({"a": X[:, 0], "Goal": X[:, 1], "b": X[:, 2], "c": 3 - X[:, 0]})
    frame["d"] = 4
    frame.to_parquet(tmp_path / "elevators.parquet")
    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    bunch = load_real("REL")
    np.testing.assert_array_equal(bunch.data, X[:, [0, 2]])
    assert bunch.feature_names == ["a", "b"]
    assert bunch.dropped == ["c", "d"]
    assert "c, d" in bunch.DESCR


# Errors -----------------------------------------------------------------------------------------


def test_unknown_code():
    with pytest.raises(ValueError, match="code='SE1' is unknown; accepted: 'RCP', 'REL'"):
        load_real("SE1")


def test_missing_files(tmp_path, monkeypatch, no_folder):
    with pytest.raises(FileNotFoundError, match=r"no file MiningProcess.*kaggle.*path"):
        load_real("RMN")
    with pytest.raises(FileNotFoundError, match=r"no file .*absent.csv.*edumagalhaes/quality"):
        load_real("RMN", path=tmp_path / "absent.csv")
    with pytest.raises(FileNotFoundError, match=r"absent.parquet. Without path.*OpenML"):
        load_real("REL", path=tmp_path / "absent.parquet")
    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no file MiningProcess"):
        load_real("RMN")
    monkeypatch.setenv("SRFF_DATA", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match=r"SRFF_DATA=.* is not a folder"):
        load_real("RCP")


def test_file_without_the_target(tmp_path):
    path = tmp_path / "mine.csv"
    write_mining(path, columns=MINING_COLUMNS[:-1])
    with pytest.raises(ValueError, match="no column '% Silica Concentrate'; it has"):
        load_real("RMN", path=path)


def test_missing_values_and_rows(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,usr\n")
    with pytest.raises(ValueError, match=r"mine.csv has no rows"):
        load_real("RCP", path=path)
    path.write_text("a,usr\n1,2\n,3\n")
    with pytest.raises(ValueError, match=r"mine.csv has missing or infinite values"):
        load_real("RCP", path=path)


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_without_the_packages_that_read_files(tmp_path, monkeypatch, missing):
    path = tmp_path / "cpu_act.parquet"
    path.touch()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install 'srff\[data\]'"):
        load_real("RCP", path=path)


# OpenML -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_offline(tmp_path, monkeypatch, no_folder):
    """All that goes out is sent to a port of this machine where nobody listens."""
    monkeypatch.setattr(urllib.request, "_opener", None)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConnectionError, match=r"elevators.parquet.*SRFF_DATA") as caught:
        load_real("REL", data_home=tmp_path)
    assert isinstance(caught.value.__cause__, URLError)


@pytest.mark.parametrize(
    "error",
    [URLError("no route"), HTTPError("u", 503, "busy", None, None), TimeoutError("slow")],
)
def test_every_failure_of_the_network_names_the_remedy(monkeypatch, no_folder, error):
    def fail(**_):
        raise error

    monkeypatch.setattr(real, "fetch_openml", fail)
    with pytest.raises(ConnectionError, match=r"data set 296.*ailerons.parquet"):
        load_real("RAI")


@pytest.mark.parametrize("code", ["RCP", "REL", "RAI"])
def test_openml_is_asked_for_the_right_table(tmp_path, monkeypatch, code):
    """Also with a folder that does not hold the file."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[:, 2] = X[:, 0] + X[:, 1]
    y = np.arange(40)
    asked = []

    def answer(**keywords):
        asked.append(keywords)
        return Bunch(data=X, target=y, feature_names=["a", "b", "sum"])

    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    monkeypatch.setattr(real, "fetch_openml", answer)
    bunch = load_real(code, data_home=tmp_path)
    (keywords,) = asked
    assert keywords["data_id"] == {"RCP": 197, "REL": 216, "RAI": 296}[code]
    assert keywords["target_column"] == {"RCP": "usr", "REL": "Goal", "RAI": "goal"}[code]
    assert keywords["data_home"] == tmp_path
    np.testing.assert_array_equal(bunch.data, X[:, :2])
    assert bunch.dropped == ["sum"]
    assert bunch.source.startswith(f"OpenML, data set {keywords['data_id']}")
    assert bunch.target.dtype == np.float64
    assert bunch.target.std() == pytest.approx(y.std() if code == "RCP" else 1)


def test_scikit_learn_reads_what_openml_sends(tmp_path, monkeypatch, no_folder):
    """The answers of a server, in its formats; the second load takes them from data_home."""
    openml = pytest.importorskip("sklearn.datasets._openml")
    numbers = np.random.default_rng(0).normal(size=(6, 3)).round(3)
    names = ["lread", "lwrite", "usr"]
    lines = ["@relation cpu_act", *(f"@attribute {name} real" for name in names), "@data"]
    arff = "\n".join(lines + [",".join(map(str, row)) for row in numbers]) + "\n"
    flags = dict.fromkeys(["is_ignore", "is_row_identifier"], "false")
    feature = {"data_type": "numeric", "number_of_missing_values": "0", **flags}
    description = {
        "id": "197",
        "name": "cpu_act",
        "description": "",
        "version": "1",
        "format": "ARFF",
        "status": "active",
        "file_id": "3634",
        "url": "https://www.openml.org/data/v1/download/3634/cpu_act.arff",
        "default_target_attribute": "usr",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    features = [
        {"index": str(i), "name": name, "is_target": "false", **feature}
        for i, name in enumerate(names)
    ]
    quality = {"name": "NumberOfInstances", "value": "6.0"}
    answers = {
        "json/data/features/197": json.dumps({"data_features": {"feature": features}}),
        "json/data/qualities/197": json.dumps({"data_qualities": {"quality": [quality]}}),
        "json/data/197": json.dumps({"data_set_description": description}),
        "download/3634": arff,
    }
    asked = []

    class Answer(io.BytesIO):
        def info(self):
            return {}

    def urlopen(request, *_, **__):
        asked.append(request.full_url)
        (text,) = (text for part, text in answers.items() if part in request.full_url)
        return Answer(text.encode())

    monkeypatch.setattr(openml, "urlopen", urlopen)
    for _ in range(2):
        bunch = load_real("RCP", data_home=tmp_path)
        np.testing.assert_array_equal(bunch.data, numbers[:, :2])
        np.testing.assert_array_equal(bunch.target, numbers[:, 2])
        assert bunch.feature_names == ["lread", "lwrite"]
        assert len(asked) == 4


# Splits and dependent columns -------------------------------------------------------------------


def test_split_takes_every_row_once():
    X = np.arange(60.0).reshape(30, 2)
    y = X[:, 0] / 2
    parts = split_real(X, y, 10, 8, random_state=1)
    assert [len(target) for _, target in parts] == [10, 8, 8]
    for inputs, target in parts:
        np.testing.assert_array_equal(inputs[:, 0] / 2, target)
    rows = np.concatenate([target for _, target in parts])
    assert np.unique(rows).size == 26
    again = split_real(Bunch(data=X, target=y, train_size=10, test_size=8), random_state=1)
    other = split_real(X, y, 14, 8, random_state=1)
    for (_, a), (_, b), (_, c) in zip(parts, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c[: len(a)])
    assert not np.array_equal(split_real(X, y, 10, 8, random_state=2)[0][1], parts[0][1])


def test_split_errors():
    X, y = np.zeros((10, 2)), np.zeros(10)
    with pytest.raises(ValueError, match=r"train_size=7 and twice test_size=2.* 10 rows"):
        split_real(X, y, 7, 2)
    with pytest.raises(ValueError, match="train_size=None must be an integer of at least 1"):
        split_real(X, y)
    with pytest.raises(ValueError, match="test_size=0"):
        split_real(X, y, 7, 0)
    with pytest.raises(ValueError, match="inconsistent"):
        split_real(X, y[:5], 2, 2)
    with pytest.raises(ValueError, match="y must be given"):
        split_real(X, train_size=2, test_size=2)
    with pytest.raises(ValueError, match="y must be left out"):
        split_real(Bunch(data=X, target=y, train_size=2, test_size=2), y)


@pytest.mark.parametrize("rows", [5, 65536])
def test_independent_columns(monkeypatch, rows):
    monkeypatch.setattr(real, "_ROWS", rows)
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 40))
    constant = np.full(40, 0.1)
    X = np.column_stack([a, a, constant, 1e6 * b, c, 1e-6 * (a - c) + 2, 1e3 * b + d, d - b + a])
    assert independent_columns(X).tolist() == [0, 3, 4, 6]
    assert independent_columns(a[:, None] * [1, 1] + [0, 1e-6] * b[:, None]).tolist() == [0, 1]
    assert independent_columns(np.ones((5, 2))).size == 0
    assert independent_columns(rng.normal(size=(3, 6))).tolist() == [0, 1]
