"""The shell command and the progress bar."""

from __future__ import annotations

import errno
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit
from typer.testing import CliRunner

import srff
from srff._utils import progress
from srff._utils.progress import Progress, reporting
from srff.cli import app
from srff.export.save import load, save

runner = CliRunner()
pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")

QUICK = ["--set", "n_components=20", "--set", "max_iter=4"]
EXACT = ["--set", "n_components=40", "--set", "max_iter=4"]
"""With so many features the function can be followed, and nothing else is needed."""
SETTINGS = {"n_components": 20, "max_iter": 4, "random_state": 0}
QUICKEST = [*QUICK, "--set", "refine=none", "--set", "solver=alternating", "--set", "alpha=0.1"]


@pytest.fixture(scope="module")
def frame():
    """The target depends on a and b; city is a category, day dates; same and name are no inputs."""
    rng = np.random.RandomState(0)
    table = pandas.DataFrame(rng.standard_normal((250, 5)), columns=list("abcde"))
    table["y"] = np.sin(2 * table.a) + table.b**2 + rng.normal(0, 0.1, 250)
    table["city"] = ["Bern", "Jena"] * 125
    table["day"] = pandas.date_range("2020-01-01", periods=250)
    table["same"] = 3
    table["name"] = [f"row {k}" for k in range(250)]
    return table


@pytest.fixture
def numbers(frame):
    """The columns that are numbers."""
    return frame[list("abcdey")]


@pytest.fixture(scope="module")
def model(frame, tmp_path_factory):
    """The file of a model that the command has fitted."""
    folder = tmp_path_factory.mktemp("model")
    frame[list("abcdey")].to_csv(folder / "table.csv", index=False)
    path = folder / "model.srff"
    result = srff_("fit", folder / "table.csv", "-t", "y", "-o", path, *QUICK)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def srff_(*arguments, **more):
    return runner.invoke(app, [str(a) for a in arguments], **more)


def refused(result, code, *words):
    """One sentence on standard error, nothing on standard output, and this exit code."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("srff: ")
    for word in words:
        assert word in lines[0]
    return True


def predictions(path):
    read = pandas.read_csv if str(path).endswith("csv") else pandas.read_parquet
    return read(path)["prediction"].to_numpy()


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).output.strip() == f"srff {srff.__version__}"
    assert "demo" in runner.invoke(app, ["--help"]).output


def test_python_dash_m_is_the_same_command():
    out = subprocess.run(
        [sys.executable, "-m", "srff", "--version"], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == f"srff {srff.__version__}"


def test_demo_prints_the_variables_and_the_errors(monkeypatch, configure):
    # Fewer features than by default, only to be quick.
    monkeypatch.setattr("srff.data.problem.N_COMPONENTS", (50, 50))
    configure(wide_features=128)
    result = runner.invoke(app, ["demo", "--samples", "600"])
    assert result.exit_code == 0, result.output
    for text in ("SE1", "x7", "kept", "mean of the target", "RFF", "SRFF", "noise", "0.1000"):
        assert text in result.output


def test_demo_refuses_too_few_rows():
    result = runner.invoke(app, ["demo", "--samples", "5"])
    assert result.exit_code == 2


def test_a_bar_is_drawn_on_a_terminal_and_nothing_elsewhere(monkeypatch, capsys):
    heard: list[Progress] = []
    for terminal in (True, False):
        monkeypatch.setattr(progress, "_interactive", lambda terminal=terminal: terminal)
        with reporting(verbose=1, callback=heard.append) as report:
            report(Progress("search", 1, 4, "going"))
        drawn = capsys.readouterr().err
        assert ("going" in drawn) is terminal
    assert [h.done for h in heard] == [1, 1]


class Gone(io.StringIO):
    """A terminal whose window was closed."""

    def isatty(self):
        return True

    def write(self, text):
        raise OSError(errno.EIO, "Input/output error")


def test_a_bar_that_cannot_be_drawn_does_not_end_a_fit(monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed, Gone()):
        monkeypatch.setattr(sys, "stderr", stream)
        with reporting(verbose=1) as report:
            for done in range(3):
                report(Progress("search", done, 4, "going"))


@pytest.mark.parametrize("verbose", [0, False])
def test_silence_without_verbose(monkeypatch, capsys, verbose):
    monkeypatch.setattr(progress, "_interactive", lambda: True)
    with reporting(verbose=verbose) as report:
        report(Progress("search", 1, 4))
    assert capsys.readouterr().err == ""


def test_importing_the_package_does_not_load_optional_or_heavy_libraries():
    code = (
        "import sys, srff; "
        "print([m for m in ('torch', 'typer', 'skglm', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "arrow", "csv.gz", "tsv"])
def test_a_table_of_any_kind_gives_the_same_model(here, numbers, kind):
    numbers.to_csv("plain.csv", index=False)
    path = here / f"table.{kind}"
    if kind.startswith(("csv", "tsv")):
        numbers.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "parquet":
        numbers.to_parquet(path, row_group_size=100)
    else:
        numbers.to_feather(path)
    for table, out in (("plain.csv", "plain.srff"), (path, "model.srff")):
        result = srff_("fit", table, "--target", "y", "--out", out, *QUICKEST)
        assert result.exit_code == 0, result.output
    first, second = load("plain.srff"), load("model.srff")
    np.testing.assert_array_equal(first.scale_, second.scale_)
    np.testing.assert_array_equal(first.coefficients_, second.coefficients_)


def test_the_model_is_the_one_that_python_fits(here, frame, numbers, model):
    fitted = srff.SRFFRegressor(n_components=20, max_iter=4, random_state=0)
    fitted.fit(numbers.drop(columns="y"), numbers["y"])
    saved = load(model)
    assert list(saved.feature_names_in_) == list("abcde")
    np.testing.assert_array_equal(saved.scale_, fitted.scale_)
    np.testing.assert_allclose(
        saved.predict(frame[list("abcde")]), fitted.predict(frame[list("abcde")])
    )


def test_fit_prints_the_variables_and_how_good_the_model_is(here, frame):
    frame.to_csv("t.csv")
    result = srff_("fit", "t.csv", "-t", "y", *EXACT)
    assert result.exit_code == 0, result.output
    for text in (
        *("variable", "scale", "folds", "5/5", "2 of 7 variables", "R", "kind of model"),
        *("error on new rows (RMSE)", "+-", "250 in 5 folds", "error of the mean"),
    ):
        assert text in result.stdout
    assert Path("model.srff").is_file()
    told = result.stderr
    for text in (
        "1 column holds categories: 'city'",
        "1 column holds dates: 'day'",
        "'name'",
        "'same'",
        "3 in every row",
        "''",
    ):
        assert text in told


def test_a_pattern_and_standard_input_are_tables_too(here, numbers):
    numbers[:100].to_csv("part1.csv", index=False)
    numbers[100:][list("ydcbae")].to_csv("part2.csv", index=False)
    numbers.to_csv("whole.csv", index=False)
    text = Path("whole.csv").read_text()
    for table, out, stdin in (("part*.csv", "1", None), ("-", "2", text), ("whole.csv", "3", None)):
        result = srff_("fit", table, "-t", "y", "-o", out, *QUICKEST, input=stdin)
        assert result.exit_code == 0, result.output
    first, *others = (load(out).predict(numbers[list("abcde")]) for out in "123")
    for other in others:
        np.testing.assert_allclose(first, other, rtol=1e-6)


def test_columns_that_cannot_be_inputs_are_refused_if_strict(here, frame):
    frame.to_parquet("t.parquet")
    result = srff_("fit", "t.parquet", "-t", "y", "--strict", *QUICKEST)
    assert refused(result, 1, "'name'", "'same'")
    options = [part for name in ("name", "same") for part in ("--drop", name)]
    assert srff_("fit", "t.parquet", "-t", "y", "--strict", *options, *QUICKEST).exit_code == 0


def test_text_below_many_numbers_is_found(here):
    # pyarrow looks at the first megabyte alone.
    rows = ["x,late,y", *(f"{i % 97},{i % 89},{i % 83}.5" for i in range(150_000)), "1,oops,2"]
    Path("t.csv").write_text("\n".join(rows))
    assert refused(srff_("fit", "t.csv", "-t", "late", *QUICKEST), 1, "'late'", "'oops'")
    result = srff_("fit", "t.csv", "-t", "y", "--strict", *QUICKEST)
    assert refused(result, 1, "'late'", "'oops'")


def test_whole_numbers_with_a_fraction_far_below_are_numbers(here):
    rows = ["x,y", *(f"{i % 97},{i % 83}" for i in range(200_000)), "1.5,2.5"]
    Path("t.csv").write_text("\n".join(rows))
    small = ["--set", "n_components=5", "--set", "max_iter=1", *QUICKEST[4:]]
    result = srff_("fit", "t.csv", "-t", "y", "--json", *small)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows"] == 200_001


@pytest.mark.filterwarnings("ignore:The solver stopped")
def test_missing_values_are_counted_or_their_rows_left_out(here, numbers):
    gaps = numbers.copy()
    gaps.loc[3:5, "a"] = np.nan
    gaps.loc[7, "y"] = np.nan
    gaps.loc[9, "c"] = np.inf
    for path in ("t.csv", "t.parquet"):
        gaps.to_csv(path, index=False) if path == "t.csv" else gaps.to_parquet(path)
        result = srff_("fit", path, "-t", "y", *QUICKEST)
        assert refused(result, 1, "'a' (3)", "'y' (1)", "'c' (1)", "drop-rows")
        assert not Path("model.srff").exists()
        result = srff_("fit", path, "-t", "y", "--missing", "drop-rows", "--json", "-f", *QUICKEST)
        assert json.loads(result.stdout)["rows"] == 245
        whole = gaps[np.isfinite(gaps).all(axis=1)]
        other = srff.SRFFRegressor(
            n_components=20,
            max_iter=4,
            refine=None,
            solver="alternating",
            alpha=0.1,
            random_state=0,
        )
        other.fit(whole[list("abcde")], whole["y"])
        np.testing.assert_array_equal(load("model.srff").coefficients_, other.coefficients_)
        Path("model.srff").unlink()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing.csv", "-t", "y"], 2, ["nothing.csv"]),
        (["t.csv", "-t", "Y"], 2, ["'Y'", "'y'"]),
        (["t.csv", "-t", "zzz"], 2, ["'zzz'", "'a'"]),
        (["t.csv", "-t", "city", "--task", "regression"], 1, ["'city'", "text such as 'Bern'"]),
        (["t.csv", "-t", "day"], 1, ["'day'", "dates"]),
        (["t.csv", "-t", "city", "-t", "y"], 2, ["2 times", "'city'"]),
        (["t.csv", "-t", "city", "--loss", "poisson"], 2, ["poisson", "log loss"]),
        (["t.csv", "-t", "y", "--class-weight", "balanced"], 2, ["--task classification"]),
        (["t.csv", "-t", "city", "--class-weight", "Bern"], 2, ["Bern", "yes=3"]),
        (["t.csv", "-t", "city", "--class-weight", "Rom=2", "-q"], 1, ["'Rom'"]),
        (["t.csv", "-t", "y", "--loss", "cubic"], 2, ["cubic", "poisson"]),
        (["t.csv", "-t", "y", "--loss", "pinball:2"], 2, ["pinball:2", "quantile"]),
        (["t.csv", "-t", "y", "--groups", "a,b;zz"], 2, ["--groups", "'zz'"]),
        (["t.csv", "-t", "y", "--groups", "header.csv"], 2, ["header.csv", "JSON"]),
        (["t.csv", "-t", "y", "--groups", "numbers.json"], 2, ["lists of names"]),
        (["t.csv", "-t", "y", "--n-features", "2"], 2, ["n_features_to_select", "refine"]),
        (
            ["typo.csv", "-t", "y"],
            1,
            ["'y'", "row 60", "numbers but for a few", "'oops'", "--na oops"],
        ),
        (["typo.csv", "-t", "word", "--drop", "y"], 1, ["'word'", "names the rows"]),
        (["t.csv", "-t", "y", "--weight", "y"], 2, ["different"]),
        (["t.csv", "-t", "y", "--drop", "f"], 2, ["--drop", "'f'"]),
        (["t.csv", "-t", "y", "--set", "depth=3"], 2, ["depth", "n_components"]),
        (["t.csv", "-t", "y", "--set", "alpha"], 2, ["NAME=VALUE"]),
        (["t.csv", "-t", "y", "--set", "max_iter=0"], 2, ["max_iter=0"]),
        (["t.csv", "-t", "y", "--set", "validation=2"], 2, ["validation=2"]),
        (["t.csv", "-t", "y", "--validation", "1"], 2, ["--validation '1'", "folds", "share"]),
        (["t.csv", "-t", "y", "--validation", "many"], 2, ["'many'"]),
        (["t.csv", "-t", "y", "--validation", "0.2", "--time", "a"], 2, ["number of splits"]),
        (["t.csv", "-t", "y", "--row-group", "who"], 2, ["--row-group", "'who'"]),
        (["t.csv", "-t", "y", "--time", "when"], 2, ["--time", "'when'"]),
        (["t.csv", "-t", "y", "--time", "y"], 2, ["--time", "different"]),
        (["t.csv", "-t", "y", "--row-group", "a", "--drop", "a"], 2, ["different"]),
        (["t.csv", "-t", "y", "--row-group", "a", "--time", "b"], 2, ["together"]),
        (["t.csv", "-t", "y", "--time", "a", "--validation", "999"], 1, ["--time 'a'", "999"]),
        (["t.csv", "-t", "y", "--memory-limit", "much"], 2, ["'much'"]),
        (["t.csv", "-t", "y", "--out", "no/model"], 2, ["no/model"]),
        (["t.csv", "-t", "y", "--out", "."], 2, ["not a file"]),
        (["t.xls", "-t", "y"], 2, [".csv"]),
        (["empty.csv", "-t", "y"], 1, ["empty"]),
        (["header.csv", "-t", "y"], 1, ["no rows"]),
        (["twice.csv", "-t", "y"], 1, ["more than one column 'a'"]),
        (["ragged.csv", "-t", "y"], 1, ["ragged.csv", "columns"]),
        (["text.parquet", "-t", "y"], 1, ["text.parquet"]),
        (["alone.csv", "-t", "y"], 1, ["input"]),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(here, frame, arguments, code, words):
    frame.to_csv("t.csv", index=False)
    for name, text in {
        "t.xls": "x",
        "empty.csv": "",
        "header.csv": "a,y\n",
        "twice.csv": "a,a,y\n1,2,3\n4,5,6\n",
        "ragged.csv": "a,y\n1,2\n3\n",
        "text.parquet": "no parquet",
        "alone.csv": "y\n1\n2\n",
        "numbers.json": "[1, 2]",
        "typo.csv": "a,word,y\n" + "\n".join(f"{i},w{i},{i}.5" for i in range(60)) + "\n1,w,oops\n",
    }.items():
        Path(name).write_text(text)
    before = sorted(os.listdir())
    assert refused(srff_("fit", *QUICKEST, *arguments), code, *words)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_of_a_group_are_held_out_together(here, numbers, kind):
    table = numbers.assign(who=[f"p{k % 20}" for k in range(len(numbers))])
    inputs = [name for name in numbers if name != "y"]
    getattr(table, f"to_{kind}")(f"t.{kind}", index=False)
    result = srff_("fit", f"t.{kind}", "-t", "y", *QUICK, "--row-group", "who", "--validation", "3")
    assert result.exit_code == 0, result.output
    assert "left out" not in result.output
    model = load("model.srff")
    assert list(model.feature_names_in_) == inputs
    assert model.validation == 3
    again = srff.SRFFRegressor(validation=3, **SETTINGS)
    again.fit(numbers[inputs], numbers["y"], row_groups=table["who"])
    np.testing.assert_array_equal(model.predict(numbers[inputs]), again.predict(numbers[inputs]))


@pytest.mark.parametrize("times", ["numbers", "dates", "text"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_times_choose_by_later_rows(here, numbers, kind, times):
    n = len(numbers)
    day = np.random.RandomState(0).permutation(n) // 2  # two rows of each day, in any order
    dates = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(day, unit="D")
    column = {"numbers": day, "dates": dates, "text": dates.strftime("%Y-%m-%d of it")}[times]
    getattr(numbers.assign(day=column), f"to_{kind}")(f"t.{kind}", index=False)
    result = srff_("fit", f"t.{kind}", "-t", "y", *QUICK, "--time", "day", "--validation", "2")
    assert result.exit_code == 0, result.output
    model = load("model.srff")
    inputs = [name for name in numbers if name != "y"]
    assert list(model.feature_names_in_) == inputs
    splits = TimeSeriesSplit(2).split(np.unique(day))
    pairs = [tuple(np.flatnonzero(np.isin(day, side)) for side in pair) for pair in splits]
    again = srff.SRFFRegressor(validation=list(pairs), **SETTINGS).fit(
        numbers[inputs], numbers["y"]
    )
    np.testing.assert_array_equal(model.predict(numbers[inputs]), again.predict(numbers[inputs]))


def test_groups_follow_rows_when_others_are_left_out(here, numbers):
    table = numbers.assign(who=np.arange(len(numbers)) % 20)
    table.loc[7, "c"] = np.nan
    table.to_csv("t.csv", index=False)
    result = srff_(
        *("fit", "t.csv", "-t", "y", "--row-group", "who", "--missing", "drop-rows"), *QUICK
    )
    assert result.exit_code == 0, result.output
    whole = table.drop(index=7)
    inputs = [name for name in numbers if name != "y"]
    again = srff.SRFFRegressor(**SETTINGS).fit(whole[inputs], whole["y"], row_groups=whole["who"])
    found = load("model.srff").predict(whole[inputs])
    np.testing.assert_array_equal(found, again.predict(whole[inputs]))


def test_a_row_without_a_time_or_a_group_is_named(here, numbers):
    table = numbers.assign(day=np.arange(len(numbers), dtype=float))
    table.loc[4, "day"] = np.nan
    table.to_csv("t.csv", index=False)
    refused(srff_("fit", "t.csv", "-t", "y", *QUICK, "--time", "day"), 1, "'day'", "row 4")
    refused(srff_("fit", "t.csv", "-t", "y", *QUICK, "--row-group", "day"), 1, "'day'", "row 4")


def test_debug_shows_the_traceback(here):
    Path("t.csv").write_text("a,y\n1,2\n3\n")
    result = srff_("fit", "t.csv", "-t", "y", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("srff: t.csv")


def test_an_error_that_nobody_foresaw_is_a_sentence_too(here, numbers, monkeypatch):
    numbers.to_csv("t.csv", index=False)
    monkeypatch.setattr(srff.SRFFRegressor, "fit", lambda *_: {}["lost"])
    assert refused(srff_("fit", "t.csv", "-t", "y", "--quiet"), 1, "KeyError", "--debug")


def test_nothing_is_overwritten_without_force(here, numbers, model):
    numbers.to_csv("t.csv", index=False)
    for out, command in (
        ("m.srff", ["fit", "t.csv", "-t", "y", *QUICKEST]),
        ("p.csv", ["predict", model, "t.csv"]),
    ):
        Path(out).write_text("precious")
        assert refused(srff_(*command, "--out", out), 2, out, "--force")
        assert Path(out).read_text() == "precious"
        assert srff_(*command, "--out", out, "--force").exit_code == 0
        assert Path(out).read_bytes() != b"precious"


def test_a_fit_is_not_lost_if_a_file_has_come_where_the_model_was_to_be(here, numbers, monkeypatch):
    numbers.to_csv("t.csv", index=False)
    fit = srff.SRFFRegressor.fit

    def fit_while_others_write(*arguments):
        Path("model.srff").write_text("precious")
        return fit(*arguments)

    monkeypatch.setattr(srff.SRFFRegressor, "fit", fit_while_others_write)
    result = srff_("fit", "t.csv", "-t", "y", "--json", *QUICKEST)
    assert json.loads(result.stdout)["model"] == "model-2.srff"
    assert "model-2.srff" in result.stderr
    assert Path("model.srff").read_text() == "precious"
    assert list(load("model-2.srff").feature_names_in_) == list("abcde")


def test_json_is_one_object_and_nothing_else(here, frame):
    frame.to_csv("t.csv", index=False)
    result = srff_("fit", "t.csv", "-t", "y", "--json", *EXACT)
    found = json.loads(result.stdout)
    assert {one["name"]: one["folds"] for one in found["selected"]} == {"a": 5, "b": 5}
    assert (found["rows_held_out"], found["folds"], found["also_chosen"]) == (250, 5, [])
    assert 0.1 < found["expected_error"] < 0.2  # the noise has 0.1
    assert found["target"] == "y"
    assert set(found["dropped"]) == {"name", "same"}
    assert (found["task"], found["categories"], found["error_is"]) == (
        "regression",
        ["city"],
        "RMSE",
    )
    assert 0 < found["validation_error"] < 0.5
    assert 0.9 < found["r2"] < 1
    assert "city" in result.stderr
    again = json.loads(srff_("report", "model.srff", "--json").stdout)
    for key in ("selected", "validation_error", "r2", "kind", "alpha"):
        assert again[key] == found[key]
    result = srff_("predict", "model.srff", "t.csv", "--out", "p.csv", "--json")
    assert json.loads(result.stdout)["rows"] == 250
    assert refused(srff_("predict", "model.srff", "t.csv", "--json"), 2, "--out")


def test_a_constant_target_gives_the_mean_and_a_warning(here, numbers):
    numbers.assign(y=4.0).to_csv("t.csv", index=False)
    result = srff_("fit", "t.csv", "-t", "y", "--json", *QUICK)
    assert json.loads(result.stdout)["selected"] == []
    assert "warning: The target is constant" in result.stderr
    result = srff_("predict", "model.srff", "t.csv")
    assert result.stdout.splitlines()[1:] == ["4"] * 250
    assert "No variable" in srff_("report", "model.srff").stdout


def test_a_weight_of_zero_is_a_row_that_is_not_there(here, numbers):
    numbers.assign(w=[1] * 200 + [0] * 50).to_csv("t.csv", index=False)
    numbers[:200].to_csv("less.csv", index=False)
    srff_("fit", "t.csv", "-t", "y", "--weight", "w", "-o", "1", *QUICKEST)
    srff_("fit", "less.csv", "-t", "y", "-o", "2", *QUICKEST)
    np.testing.assert_allclose(load("1").coefficients_, load("2").coefficients_)


def test_a_checkpoint_is_gone_on_from_and_does_not_stay_in_the_model(here, numbers):
    numbers.to_csv("t.csv", index=False)
    for _ in range(2):
        command = ["fit", "t.csv", "-t", "y", "--checkpoint", "steps", "--force", *QUICKEST]
        assert srff_(*command).exit_code == 0
    assert Path("steps/fit.json").is_file()
    assert load("model.srff").checkpoint is None
    command[command.index("alpha=0.1")] = "alpha=0.2"
    result = srff_(*command)
    assert refused(result, 1, "steps")


def test_report_shows_the_model(here, model):
    result = srff_("report", model)
    assert result.exit_code == 0
    for text in ("│ a ", "│ b ", "2 of 5 variables", "random features", "alpha"):
        assert text in result.stdout
    assert srff_("report", model, "--html", "page.html").exit_code == 0
    assert "2 of 5 variables matter" in Path("page.html").read_text("utf-8")
    assert refused(srff_("report", model, "--html", "page.html"), 2, "page.html")
    assert srff_("report", model, "--html", "page.html", "--force").exit_code == 0
    assert refused(srff_("report", "nothing.srff"), 2, "nothing.srff")
    assert refused(srff_("report", __file__), 1, "test_cli.py")


@pytest.mark.parametrize("out", ["p.csv", "p.parquet", "p.feather"])
def test_predict_is_the_models_predict(here, frame, model, out):
    # The columns are in another order, those that are not selected are not there.
    frame[["city", "b", "y", "a"]].to_csv("t.csv", index=False)
    result = srff_("predict", model, "t.csv", "--out", out, "--digits", 17)
    assert result.exit_code == 0, result.output
    expected = load(model).predict(frame[list("abcde")])
    if out == "p.feather":
        found = pandas.read_feather(out)["prediction"].to_numpy()
    else:
        found = predictions(out)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_predict_goes_from_standard_input_to_standard_output(here, numbers, model):
    expected = load(model).predict(numbers[list("abcde")])
    result = srff_("predict", model, "-", "--digits", 17, input=numbers.to_csv(index=False))
    assert result.stderr == ""
    header, *lines = result.stdout.splitlines()
    assert header == "prediction"
    np.testing.assert_allclose([float(line) for line in lines], expected, rtol=1e-12)


def test_predict_in_many_blocks_is_in_the_order_of_the_rows(here, model):
    rng = np.random.RandomState(1)
    table = pandas.DataFrame(rng.standard_normal((40_000, 5)), columns=list("abcde"))
    table[:25_000].to_parquet("part1.parquet", row_group_size=9000)
    table[25_000:].to_parquet("part2.parquet")
    assert srff_("predict", model, ".", "--out", "p.parquet").exit_code == 0
    expected = load(model).predict(table)
    np.testing.assert_allclose(predictions("p.parquet"), expected, rtol=1e-5, atol=1e-5)


def test_predict_refuses_a_table_without_a_column_it_needs(here, numbers, model):
    before = sorted(os.listdir())
    for table, word in (
        (numbers.drop(columns="a"), "no column 'a'"),
        (numbers.assign(a="text"), "'a' cannot be used"),
    ):
        text = table.to_csv(index=False)
        result = srff_("predict", model, "-", "--out", "p.csv", input=text)
        assert refused(result, 1, "standard input", word)
    assert refused(srff_("predict", "no.srff", "t.csv"), 2, "no.srff")
    assert refused(srff_("predict", model, "t.csv", "-o", "p.xls"), 2, ".parquet")
    assert sorted(os.listdir()) == before


def test_predict_refuses_missing_values_or_leaves_their_predictions_empty(here, numbers, model):
    gaps = numbers.copy()
    gaps.loc[[3, 8], "a"] = np.nan
    gaps.loc[5, "c"] = np.nan  # not selected
    gaps.to_csv("t.csv", index=False)
    assert refused(srff_("predict", model, "t.csv", "-o", "p.csv"), 1, "'a' (2)", "empty")
    assert not Path("p.csv").exists()
    for out in ("p.csv", "p.parquet"):
        assert srff_("predict", model, "t.csv", "-o", out, "--missing", "empty").exit_code == 0
        assert np.flatnonzero(np.isnan(predictions(out))).tolist() == [3, 8]


def test_predict_refuses_numbers_that_have_no_prediction(here, numbers):
    numbers.to_csv("t.csv", index=False)
    numbers.assign(a=1e308).to_csv("far.csv", index=False)
    assert srff_("fit", "t.csv", "-t", "y", *QUICKEST).exit_code == 0
    assert refused(srff_("predict", "model.srff", "far.csv", "-o", "p.csv"), 1, "too far")
    assert not Path("p.csv").exists()


def test_a_model_of_an_array_predicts_by_the_places_of_columns(here, numbers):
    X = numbers[list("abcde")].to_numpy()
    fitted = srff.SRFFRegressor(n_components=20, refine=None, max_iter=3, random_state=0)
    fitted.fit(X, numbers["y"])
    save(fitted, "m.srff")
    numbers.drop(columns="y").to_csv("t.csv", index=False)
    numbers.to_csv("more.csv", index=False)
    assert srff_("predict", "m.srff", "t.csv", "-o", "p.csv").exit_code == 0
    np.testing.assert_allclose(predictions("p.csv"), fitted.predict(X), rtol=5e-7)
    assert refused(srff_("predict", "m.srff", "more.csv"), 1, "6 columns", "exactly 5")


def test_names_that_a_terminal_or_a_markup_would_take_for_commands_are_harmless(here, numbers):
    odd = numbers.rename(columns={"a": "[red]a[/x]", "b": "b\x1b[31m"})
    odd.to_csv("t.csv", index=False)
    result = srff_("fit", "t.csv", "-t", "y", *QUICK)
    assert result.exit_code == 0, result.output
    assert "[red]a[/x]" in result.stdout
    assert "\x1b[31m" not in result.stdout


def test_ctrl_c_ends_with_130_and_leaves_nothing(here, numbers, model, monkeypatch):
    numbers.to_csv("t.csv", index=False)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(srff.SRFFRegressor, "fit", stopped)
    assert refused(srff_("fit", "t.csv", "-t", "y"), 130, "nothing was written")
    result = srff_("fit", "t.csv", "-t", "y", "--checkpoint", "steps")
    assert refused(result, 130, "goes on from steps")
    monkeypatch.setattr(srff.SRFFRegressor, "_outputs_of", stopped)
    assert refused(srff_("predict", model, "t.csv", "-o", "p.csv"), 130, "nothing was written")
    assert os.listdir() == ["t.csv"]


def test_sigterm_leaves_no_half_written_file(here, numbers, model, monkeypatch):
    numbers.to_csv("t.csv", index=False)
    before = signal.getsignal(signal.SIGTERM)

    def stopped(*_):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(srff.SRFFRegressor, "_outputs_of", stopped)
    assert refused(srff_("predict", model, "t.csv", "-o", "p.csv"), 143, "nothing was written")
    assert os.listdir() == ["t.csv"]
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_real_interrupt_in_the_middle_of_a_fit(here, frame, stop, code):
    frame.to_csv("t.csv", index=False)
    endless = ["--set", "solver=alternating", "--set", "tol=0", "--set", "max_iter=100000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "srff", "fit", "t.csv", "-t", "y", *endless],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "left out" in process.stderr.readline()  # the fit is about to begin
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(stop)
    out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert out == ""
    assert err.splitlines()[-1] == "srff: Stopped; nothing was written."
    assert os.listdir() == ["t.csv"]


@pytest.mark.slow
def test_a_pipe_of_real_commands(here, numbers):
    command = f"{sys.executable} -m srff"
    text = numbers.to_csv(index=False)
    options = " ".join(QUICKEST)
    fitted = subprocess.run(
        f"{command} fit - -t y --json --quiet {options} > summary.json",
        input=text, shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert fitted.stderr == ""
    assert json.loads(Path("summary.json").read_text())["model"] == "model.srff"
    # The reader ends before all is written.
    first = subprocess.run(
        f"{command} predict model.srff - | head -n 2",
        input=text, shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(first.stdout.splitlines()) == 2
    assert first.stderr == ""


def test_an_effort_is_passed_on(here, frame):
    frame.to_csv("t.csv")
    result = srff_("fit", "t.csv", "-t", "y", "--effort", "quick", "--set", "n_components=20")
    assert result.exit_code == 0, result.output
    assert srff.load("model.srff").effort == "quick"
    assert srff_("fit", "t.csv", "-t", "y", "--effort", "lazy").exit_code == 2


def test_how_variables_are_kept_is_passed_on_and_saved(here, frame):
    frame.to_csv("t.csv", index=False)
    quick = ("--effort", "quick", "--set", "n_components=20", "--set", "max_iter=2")
    result = srff_("fit", "t.csv", "-t", "y", "--keep", "best", *quick)
    assert result.exit_code == 0, result.output
    assert srff.load("model.srff").keep == "best"
    assert srff_("fit", "t.csv", "-t", "y", "--keep", "all").exit_code == 2


def test_an_option_that_is_not_there_is_wrong_use(here):
    result = srff_("fit", "t.csv", "-t", "y", "--depth", "3")
    assert result.exit_code == 2
    assert "--depth" in result.stderr
    assert result.stdout == ""


def test_benchmark_sets_errors_and_times_side_by_side(monkeypatch, configure):
    monkeypatch.setattr("srff.data.problem.N_COMPONENTS", (20, 20))
    configure(wide_features=32, free_features=0, max_iter=3)
    for arguments in (["--json"], []):
        result = srff_("benchmark", "se1", "--rows", "200", *arguments)
        assert result.exit_code == 0, result.output
        if arguments:
            methods = json.loads(result.stdout)["problems"][0]["methods"]
            assert list(methods) == ["mean", "lasso", "boosted trees", "srff"]
            assert all(found["test_error"] > 0.1 for found in methods.values())
        else:
            assert "boosted trees" in result.stdout
    assert refused(srff_("benchmark", "se9"), 2, "se9", "se1")


@pytest.mark.parametrize("command", ["fit", "predict", "report", "benchmark", "demo", "reproduce"])
def test_help_has_examples(command):
    result = srff_(command, "--help")
    assert result.exit_code == 0
    assert result.stdout.count(f"srff {command}") >= 2


@pytest.mark.slow
def test_mutated_tables_are_refused_or_answered_rightly():
    pytest.importorskip("polars", reason="polars is not installed (extra: test)")
    path = Path(__file__).parents[1] / "benchmarks" / "fuzz" / "tables.py"
    spec = importlib.util.spec_from_file_location("fuzz_tables", path)
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_tables"] = fuzz
    spec.loader.exec_module(fuzz)
    found = list(fuzz.all_cases(list(range(1, 41)), seed=1, kinds=["csv", "parquet"]))
    assert [one for one in found if one["problems"]] == []
    assert sum(one["checked"] for one in found) >= 10
    assert sum(one["fit"] != 0 for one in found) >= 10
