"""Tables as they come: each form is read as it is meant, or named in one sentence."""

from __future__ import annotations

import datetime
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from typer.testing import CliRunner

from srff import CsvFiles, SRFFClassifier, SRFFRegressor, load
from srff.cli import app
from srff.cli.predicted import rounded
from srff.data.encoding.number_texts import stands_for

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")

TINY = {"effort": "quick", "n_components": 10, "max_iter": 2, "random_state": 0, "n_jobs": 1}
FAST = ["--effort", "quick", "--set", "n_components=10", "--set", "max_iter=2", "--set", "n_jobs=1"]
N = 100
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 3)).round(3), columns=list("abc"))
Y = (np.sin(2 * X["a"]) + X["b"]).round(4).to_numpy()

runner = CliRunner()


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of(sep=",", decimal=".", **more):
    """The table as text, with further columns of texts."""
    table = X.assign(y=Y).map(lambda v: f"{v:.4f}".replace(".", decimal)).assign(**more)
    lines = [sep.join(table.columns), *(sep.join(row) for row in table.itertuples(index=False))]
    return "\n".join(lines) + "\n"


def fit(*more, table="t.csv"):
    arguments = ["fit", table, "-t", "y", "--json", "-f", *FAST, *more]
    return runner.invoke(app, list(map(str, arguments)))


def selected(result):
    assert result.exit_code == 0, result.stderr
    return [each["name"] for each in json.loads(result.stdout)["selected"]]


PLAIN = text_of()

SAME = {
    "as programs write it": PLAIN.encode(),
    "with the mark of UTF-8": PLAIN.encode("utf-8-sig"),
    "UTF-16 with a mark": PLAIN.encode("utf-16"),
    "UTF-16 without one": PLAIN.encode("utf-16-le"),
    "UTF-16, big end first": PLAIN.encode("utf-16-be"),
    "tabs": text_of("\t").encode(),
    "bars": text_of("|").encode(),
    "semicolons": text_of(";").encode(),
    "decimal commas and semicolons": text_of(";", ",").encode(),
    "decimal commas and tabs": text_of("\t", ",").encode(),
    "decimal commas in UTF-16, as spreadsheets write it": text_of("\t", ",").encode("utf-16"),
    "decimal commas in quotes": "\n".join(
        [PLAIN.split("\n")[0]]
        + [
            ",".join(f'"{cell}"' for cell in line.split(";"))
            for line in text_of(";", ",").split("\n")[1:-1]
        ]
    ).encode(),
    "quotes": "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in PLAIN.split("\n")[:-1]
    ).encode(),
    "a line that names the separator": b"sep=;\n" + text_of(";").encode(),
    "lines that end as on Windows": PLAIN.replace("\n", "\r\n").encode(),
    "lines that end as on old Macs": PLAIN.replace("\n", "\r").encode(),
    "empty lines at the end": PLAIN.encode() + b"\n\n",
    "spaces beside numbers": PLAIN.replace(",", ", ").replace("a, b, c, y", "a,b,c,y").encode(),
    "a separator at each line's end": PLAIN.replace("\n", ",\n").encode(),
    "a column without values": text_of(e="").encode(),
    "a column of NA": text_of(e="NA").encode(),
    "a constant column": text_of(e="3").encode(),
    "a count of the rows": text_of(e=[str(k + 7) for k in range(N)]).encode(),
    "names of the rows": text_of(e=[f"name {k}" for k in range(N)]).encode(),
    "times of day": text_of(e=[f"{k % 24:02d}:30" for k in range(N)]).encode(),
}


@pytest.fixture(scope="module")
def plain():
    """The model of the plain table."""
    return SRFFRegressor(**TINY).fit(X, Y)


@pytest.mark.parametrize("form", SAME)
def test_the_same_table_in_any_form_gives_the_same_model(here, plain, form):
    (here / "t.csv").write_bytes(SAME[form])
    result = fit()
    assert selected(result) == ["a", "b"]
    np.testing.assert_array_equal(load("model.srff").coefficients_, plain.coefficients_)
    told = result.stderr
    assert ("--decimal . if that is wrong" in told) == ("decimal commas" in form)


REFUSED = {
    "a few texts among numbers": (
        text_of(e=["?" if k == 7 else f"{k / 8}" for k in range(N)]),
        ["row 7", "'e'", "'?'", "--na '?'", "--category e"],
    ),
    "a text in a tenth of the rows": (
        text_of(e=["-" if k % 10 == 3 else f"{k / 8}" for k in range(N)]),
        ["row 3", "'e'", "'-'", "--na -"],
    ),
    "percentages": (text_of(e=[f"{k} %" for k in range(N)]), ["'e'", "percentages", "'0 %'"]),
    "money": (text_of(";", e=[f"${k},000" for k in range(N)]), ["'e'", "money", "$0,000"]),
    "thousands": (
        text_of(";", e=[f"{k + 1},000" for k in range(N)]),
        ["'e'", "thousands separators", "1,000"],
    ),
    "thousands beside decimal commas": (
        text_of(";", ",", e=[f"{k + 1}.000,5" for k in range(N)]),
        ["'e'", "thousands separators", "1.000,5"],
    ),
    "commas in one column, points in others": (
        text_of(";", e=[f"{k},5" for k in range(N)]),
        ["'e'", "decimal commas", "--decimal ,"],
    ),
    "dates as they are written in Germany": (
        text_of(e=[f"{1 + k % 28}.{1 + k % 12}.2020" for k in range(N)]),
        ["'e'", "dates or times", "--drop e"],
    ),
    "infinity": (text_of(e=["inf" if k == 7 else f"{k / 8}" for k in range(N)]), ["'e' (1)"]),
    "one row": ("a,b,y\n1,2,3\n", ["1 rows", "at least 2"]),
    "no rows": ("a,b,y\n", ["no rows"]),
    "names twice": (PLAIN.replace("a,b,c", "a,b,b"), ["more than one column 'b'"]),
    "lines that are too short": (PLAIN + "1,2\n", ["Expected 4 columns, got 2"]),
    "a title above the names": ("Export 2020\n" + PLAIN, ["Expected 1 columns, got 4"]),
    "a spreadsheet by another name": (
        "PK\x03\x04" + PLAIN,
        ["spreadsheet", "save the table as csv"],
    ),
    "a target of text that is numbers but for one": (
        PLAIN.replace(f"{Y[5]:.4f}\n", "oops\n"),
        ["'y'", "'oops'", "make numbers of the column"],
    ),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_cannot_be_read_as_it_is_meant_is_named_with_a_way_out(here, form):
    text, words = REFUSED[form]
    (here / "t.csv").write_text(text, "utf-8")
    result = fit()
    assert result.exit_code == 1
    last = result.stderr.splitlines()[-1]
    assert all(word in last for word in words), last
    assert not (here / "model.srff").exists()


class TestOptions:
    def test_a_text_for_missing_values_is_one(self, here):
        text = text_of(e=["?" if k == 7 else f"{k / 8}" for k in range(N)])
        (here / "t.csv").write_text(text)
        assert "'e' (1)" in fit("--na", "?").stderr
        assert selected(fit("--na", "?", "--missing", "drop-rows")) == ["a", "b"]

    def test_a_category_of_numbers_is_one_and_keeps_its_zeros(self, here):
        codes = [f"{k % 7:02d}" for k in range(N)]
        (here / "t.csv").write_text(text_of(e=codes))
        assert "'e' is read as numbers, though it has leading zeros as in 00" in fit().stderr
        result = fit("--category", "e")
        assert "categories: 'e'" in result.stderr
        assert load("model.srff").levels_[3].tolist() == [f"{k:02d}" for k in range(7)]
        X.assign(y=Y, e=np.arange(N) % 7).to_parquet("t.parquet")
        assert "categories: 'e'" in fit("--category", "e", table="t.parquet").stderr
        assert load("model.srff").levels_[3].tolist() == list(range(7))

    def test_a_count_of_the_rows_is_an_input_if_asked_for(self, here):
        (here / "t.csv").write_text(text_of(e=[str(k) for k in range(N)]))
        assert "'e' is left out: it counts the rows from 0 to 99; --use e" in fit().stderr
        result = fit("--use", "e")
        assert json.loads(result.stdout)["dropped"] == {}

    def test_numbers_of_rows_in_another_order_are_used_and_named(self, here):
        (here / "t.csv").write_text(text_of(e=[str(k) for k in RNG.permutation(N)]))
        result = fit()
        assert "'e' holds each of 0 to 99 once; --drop e leaves it out" in result.stderr
        assert json.loads(result.stdout)["dropped"] == {}

    def test_said_beats_guessed(self, here):
        (here / "t.csv").write_text(text_of(";", ","))
        assert fit("--decimal", ",", "--sep", ";").stderr == ""
        assert fit("--decimal", ".").exit_code == 1
        (here / "t.csv").write_text(text_of(" "))
        assert selected(fit("--sep", " ")) == ["a", "b"]
        for wrong in (["--sep", "::"], ["--encoding", "klingon"], ["--use", "y"]):
            assert fit(*wrong).exit_code == 2

    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859-2"])
    def test_text_that_is_not_utf_8_is_guessed_or_named(self, here, encoding):
        text = text_of(größe=["süß", "böse"] * (N // 2))
        (here / "t.csv").write_bytes(text.encode(encoding))
        assert "not UTF-8" in fit().stderr
        assert load("model.srff").levels_[3].tolist() == ["böse", "süß"]
        assert "not UTF-8" not in fit("--encoding", encoding).stderr
        assert load("model.srff").levels_[3].tolist() == ["böse", "süß"]

    def test_text_that_turns_out_not_to_be_utf_8_is_one_sentence(self, here):
        rows = text_of(e=["x", "y"] * (N // 2)) + "1,2,3,4,z\n" * 200_000
        (here / "t.csv").write_bytes(rows.encode() + "1,2,3,4,ö\n".encode("latin-1"))
        result = fit()
        assert result.exit_code == 1
        assert "name the encoding, such as cp1252" in result.stderr


def test_python_reads_files_as_the_shell_does(here, plain):
    (here / "t.csv").write_text(text_of(";", ","))
    with pytest.warns(UserWarning, match=r"decimal commas, as in .*CsvFiles\(path, decimal='.'\)"):
        guessed = SRFFRegressor(**TINY).fit("t.csv", "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = SRFFRegressor(**TINY).fit(CsvFiles("t.csv", decimal=",", sep=";"), "y")
    for model in (guessed, said):
        np.testing.assert_array_equal(model.coefficients_, plain.coefficients_)
    for wrong in ({"sep": ""}, {"decimal": ";"}, {"encoding": "none"}, {"missing": "?"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            CsvFiles("t.csv", **wrong)
    with pytest.raises(ValueError, match="both ','"):
        CsvFiles("t.csv", sep=",", decimal=",")


# Frames and arrays: the same column of text in all libraries, and forms that are no tables.

TEXTS = {
    "stray": (["?" if k == 7 else f"{k / 8}" for k in range(N)], r"row 7,? has '\?'"),
    "percentages": ([f"{k} %" for k in range(N)], "percentages, such as '0 %'"),
    "dates": ([f"2020-01-{1 + k % 28}" for k in range(N)], "dates or times, such as '2020-01-1'"),
    "thousands": ([f"{1 + k},000" for k in range(N)], "thousands separators, such as '1,000'"),
    "commas": ([f"{k},5" for k in range(N)], "decimal commas, such as '0,5'"),
}


@pytest.mark.parametrize("library", ["pandas", "string", "arrow", "polars", "parquet", "dask"])
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_that_are_meant_as_numbers_are_refused_in_every_library(tmp_path, kind, library):
    values, words = TEXTS[kind]
    table = X.assign(e=values)
    y = Y
    if library in ("string", "arrow"):
        table["e"] = table["e"].astype("string" if library == "string" else "string[pyarrow]")
    elif library == "polars":
        table = pl.from_pandas(table)
    elif library == "parquet":
        table.assign(y=Y).to_parquet(tmp_path / "t.parquet")
        table, y = tmp_path / "t.parquet", "y"
    elif library == "dask":
        dd = pytest.importorskip("dask.dataframe")
        table, y = dd.from_pandas(table.assign(y=Y), npartitions=2), "y"
    with pytest.raises(ValueError, match=words):
        SRFFRegressor(**TINY).fit(table, y)


def test_few_different_texts_are_levels_whatever_they_look_like():
    assert stands_for([f"{k} %" for k in range(20)]) is None
    assert stands_for([f"{k} %" for k in range(21)]) == ("percentages", "0 %")
    assert stands_for([f"version 1.{k}" for k in range(50)]) is None
    assert stands_for([f"{k}.5" for k in range(50)]) is None


TABLES = {
    "a level that does not occur": X.assign(e=pd.Categorical(["u", "v"] * (N // 2), list("uvw"))),
    "ordered levels": X.assign(e=pd.Categorical(["u", "v"] * (N // 2), ordered=True)),
    "Int64": X.assign(e=pd.array([1, 2] * (N // 2), "Int64")),
    "Float64": X.astype("Float64"),
    "string": X.assign(e=pd.array(["u", "v"] * (N // 2), "string")),
    "pyarrow's types": X.convert_dtypes(dtype_backend="pyarrow"),
    "objects": X.astype(object),
    "an index of one value": X.set_axis([0] * N),
    "sparse columns": X.apply(pd.arrays.SparseArray),
    "a sparse column beside text": X.assign(
        e=pd.arrays.SparseArray([0.0] * (N - 1) + [1.0], fill_value=0.0), t=["u", "v"] * (N // 2)
    ),
    "yes and no": X.assign(e=["yes", "no"] * (N // 2)),
    "polars' Enum": pl.from_pandas(X).with_columns(
        e=pl.Series(["u", "v"] * (N // 2)).cast(pl.Enum(["u", "v", "w"]))
    ),
    "polars' Decimal": pl.from_pandas(X).with_columns(e=pl.Series(RNG.normal(size=N))),
}


@pytest.mark.parametrize("form", TABLES)
def test_a_frame_of_any_library_is_read(form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SRFFRegressor(**TINY).fit(TABLES[form], Y)
    assert {"a", "b"} <= set(model.get_feature_names_out())
    assert np.isfinite(model.predict(TABLES[form])).all()


A = X.to_numpy()
NO_TABLES = {
    "a dict": (dict(X), Y, "pandas.DataFrame"),
    "a list of dicts": (X.to_dict("records"), Y, "pandas.DataFrame"),
    "a structured array": (X.to_records(index=False), Y, "pandas.DataFrame"),
    "a lazy frame": (pl.from_pandas(X).lazy(), Y, "collect"),
    "a sparse matrix": (sparse.csr_matrix(A), Y, "toarray"),
    "a name of the target": (X.assign(y=Y), "y", r"X\['y'\]"),
    "no columns": (X[[]], Y, "no columns"),
    "no rows": (X[:0], Y[:0], "minimum of 2"),
    "one row": (X[:1], Y[:1], "minimum of 2"),
    "complex numbers": (A * 1j, Y, "Complex data not supported"),
    "names of several types": (X.set_axis([0, "b", 2], axis=1), Y, "string names"),
    "names twice": (X.set_axis(["a", "b", "b"], axis=1), Y, "several columns of the same name"),
    "polars' objects": (
        pl.from_pandas(X).with_columns(
            pl.Series("e", [datetime.date(2020, 1, 1)] * N, dtype=pl.Object)
        ),
        Y,
        "objects of type date",
    ),
    "a target with a gap": (X, np.where(np.arange(N) == 3, np.nan, Y), "y contains NaN"),
    "a target of text": (X, np.where(Y > 0, "high", "low"), "SRFFClassifier"),
}


@pytest.mark.parametrize("form", NO_TABLES)
def test_what_is_no_table_says_how_it_becomes_one(form):
    table, y, words = NO_TABLES[form]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError), match=words):
            SRFFRegressor(**TINY).fit(table, y)


def test_missing_labels_of_pandas_are_named():
    labels = pd.Series([None if k == 3 else "uv"[k % 2] for k in range(N)], dtype="string")
    with pytest.raises(ValueError, match="missing labels, the first in row 3"):
        SRFFClassifier(**TINY).fit(X, labels)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_numbers_and_names_of_rows_and_the_target_are_named_and_used(library):
    names = [f"n{k}" for k in range(N)]
    table = X.assign(row=RNG.permutation(N), name=names, copy=Y, far=2**60 + RNG.permutation(N))
    with pytest.warns(UserWarning, match="may have columns that are no inputs") as said:
        model = SRFFRegressor(**TINY).fit(library(table), Y)
    (text,) = [str(w.message) for w in said]
    for words in (
        "'row' holds each of 0 to 99",
        "'name' holds 100",
        "'copy' is the",
        "'far' holds",
    ):
        assert words in text
    assert model.n_features_in_ == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SRFFRegressor(**TINY).fit(library(X.assign(rank=2.5 * np.arange(N))), Y)


def test_an_index_in_another_order_is_said():
    with pytest.warns(UserWarning, match=r"same index in another order.*y.loc\[X.index\]"):
        SRFFRegressor(**TINY).fit(X, pd.Series(Y, index=X.index[::-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for index in (X.index, X.index + N, [0] * N):
            SRFFRegressor(**TINY).fit(X, pd.Series(Y, index=index))


# Predictions.


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model of two numbers and a category, and its table."""
    folder = tmp_path_factory.mktemp("fitted")
    colour = RNG.choice(["red", "blue"], N)
    table = X.assign(colour=colour, y=Y + 3 * (colour == "red"))
    table.to_csv(folder / "t.csv", index=False)
    more = ["--out", str(folder / "m.srff"), *FAST]
    result = runner.invoke(app, ["fit", str(folder / "t.csv"), "-t", "y", *more])
    assert result.exit_code == 0, result.stderr
    assert load(folder / "m.srff").get_feature_names_out().tolist() == ["a", "b", "colour"]
    return folder / "m.srff", table


def predict(model, *more):
    return runner.invoke(app, ["predict", str(model), "new.csv", *map(str, more)])


def test_kept_columns_stand_beside_the_predictions_as_they_were(here, fitted):
    model, table = fitted
    ids = [f"{k:04d}" for k in range(N)]
    days = [f"2020-01-{1 + k % 28:02d}" for k in range(N)]
    table.assign(id=ids, day=days).to_csv("new.csv", index=False)
    assert predict(model, "--keep", "id", "--keep", "day", "--keep", "a", "-o", "p.csv").stderr
    found = pd.read_csv("p.csv", dtype={"id": str})
    assert list(found) == ["id", "day", "a", "prediction"]
    assert found["id"].tolist() == ids
    assert found["day"].tolist() == days
    np.testing.assert_array_equal(found["a"], table["a"])
    assert predict(model, "--keep", "id", "-o", "p.parquet").exit_code == 0
    assert pd.read_parquet("p.parquet")["id"].tolist() == ids
    assert predict(model, "--keep", "ID").exit_code == 2
    assert predict(model, "--keep", "id", "--keep", "id").exit_code == 2


def test_predictions_in_csv_have_seven_digits_unless_told_otherwise(here, fitted):
    model, table = fitted
    table.to_csv("new.csv", index=False)
    exact = load(model).predict(table[[*list("abc"), "colour"]])
    for more, digits in (([], 7), (["--digits", "3"], 3)):
        lines = predict(model, *more).stdout.splitlines()[1:]
        assert [float(line) for line in lines] == [float(f"{v:.{digits}g}") for v in exact]
        assert max(len(line.lstrip("-").replace(".", "").lstrip("0")) for line in lines) <= digits


@pytest.mark.parametrize("digits", [1, 3, 7, 12])
def test_rounding_gives_the_number_that_is_written(digits):
    values = RNG.normal(size=200) * 10.0 ** RNG.integers(-6, 6, 200)
    expected = [float(f"{v:.{digits}g}") for v in values]
    np.testing.assert_allclose(rounded(values, digits), expected, rtol=1e-15)
    odd = np.array([0.0, np.nan, -np.inf, 5e-324, 1e300])
    assert np.isnan(rounded(odd, digits)[1])
    np.testing.assert_array_equal(rounded(odd, digits)[[0, 2]], odd[[0, 2]])


def test_values_that_the_fit_has_seen_nothing_like_are_counted_in_one_line(here, fitted):
    model, table = fitted
    table.to_csv("new.csv", index=False)
    assert predict(model).stderr == ""
    odd = table.copy()
    odd.loc[:1, "a"] = 99.0
    odd.loc[1:3, "b"] = -99.0
    odd.loc[3:4, "colour"] = "green"
    odd.loc[:, "c"] = 99.0  # is not used
    odd.to_csv("new.csv", index=False)
    (line,) = predict(model).stderr.splitlines()
    assert "5 of 100 rows" in line
    assert "beyond the range of the fit in 'b' (3) and 'a' (2)" in line
    assert "levels that the fit did not see in 'colour' (2)" in line
    assert predict(model, "-q").stderr == ""
    found = json.loads(predict(model, "--json", "-o", "p.csv").stdout)
    assert found["beyond_range"] == {"a": 2, "b": 3}
    assert found["unseen_levels"] == {"colour": 2}


def test_the_range_of_the_fit_is_that_of_its_rows_in_memory_and_in_a_file(here, fitted):
    path, _ = fitted
    kept = load(path).input_range_
    np.testing.assert_array_equal(kept[:3], np.column_stack([X.min(), X.max()]))
    assert np.isnan(kept[3]).all()
    model = load(path).reduced()
    np.testing.assert_array_equal(model.input_range_[:2], kept[:2])
    weight = (np.arange(N) > 4).astype(float)
    some = SRFFRegressor(**TINY).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(some.input_range_[:, 0], X[5:].min())
