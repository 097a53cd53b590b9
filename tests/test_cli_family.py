"""The shell command beyond numbers: classes, categories, gaps, groups, several targets, losses."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, roc_auc_score
from typer.testing import CliRunner

import srff
from srff.cli import app
from srff.core.losses import Pinball
from srff.export.save import load

pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")

runner = CliRunner()
SETTINGS = {"n_components": 20, "max_iter": 3, "refine": None, "alpha": 0.01}
SETTINGS["solver"] = "alternating"
QUICK = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
INPUTS = ["a", "b", "c", "colour"]


@pytest.fixture(scope="module")
def frame():
    """Targets of several kinds that depend on a and colour."""
    rng = np.random.RandomState(0)
    table = pandas.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    table["colour"] = rng.choice(["red", "green", "blue"], 200)
    score = np.sin(2 * table.a) + 1.5 * (table.colour == "red")
    table["y"] = score + rng.normal(0, 0.1, 200)
    table["answer"] = np.where(score > 0.4, "yes", "no")
    table["count"] = rng.poisson(np.exp(0.5 * score))
    return table


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def srff_(*arguments):
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result


def in_python(estimator, X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator(random_state=0, **SETTINGS, **settings).fit(X, y)


def same_model(path, expected):
    saved = load(path)
    np.testing.assert_array_equal(saved.scale_, expected.scale_)
    np.testing.assert_array_equal(saved.coefficients_, expected.coefficients_)
    return saved


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_target_of_text_is_one_of_classes(here, frame, kind):
    table = frame[[*INPUTS, "answer"]]
    table.to_csv("t.csv", index=False) if kind == "csv" else table.to_parquet("t.parquet")
    result = srff_("fit", f"t.{kind}", "-t", "answer", "--class-weight", "yes=2", *QUICK)
    assert "'answer' is predicted as a class" in result.stderr
    assert "categories: 'colour'" in result.stderr
    assert "log loss" in result.stdout
    assert "2: no, yes" in result.stdout
    expected = in_python(
        srff.SRFFClassifier, frame[INPUTS], frame["answer"], class_weight={"yes": 2}
    )
    same_model("model.srff", expected)
    srff_("predict", "model.srff", f"t.{kind}", "--proba", "-o", "p.csv", "--digits", 17)
    said = pandas.read_csv("p.csv")
    assert list(said) == ["prediction", "probability_no", "probability_yes"]
    assert said["prediction"].tolist() == expected.predict(frame[INPUTS]).tolist()
    chance = expected.predict_proba(frame[INPUTS])
    np.testing.assert_allclose(said[["probability_no", "probability_yes"]], chance, atol=1e-12)


def test_true_and_false_are_classes_and_whole_numbers_are_if_asked_for(here, frame):
    frame[INPUTS].assign(y=frame["answer"] == "yes").to_csv("bool.csv", index=False)
    srff_("fit", "bool.csv", "-t", "y", "-o", "bool.srff", *QUICK)
    assert load("bool.srff").classes_.tolist() == [False, True]
    frame[[*INPUTS, "count"]].to_csv("t.csv", index=False)
    told = srff_("fit", "t.csv", "-t", "count", "-o", "number.srff", *QUICK).stderr
    assert "predicted as a number" in told
    assert "--task classification" in told
    assert isinstance(load("number.srff"), srff.SRFFRegressor)
    srff_("fit", "t.csv", "-t", "count", "--task", "classification", "-o", "class.srff", *QUICK)
    assert load("class.srff").classes_.tolist() == sorted(set(frame["count"]))
    srff_("predict", "class.srff", "t.csv", "-o", "p.csv")
    said = pandas.read_csv("p.csv")["prediction"]
    assert said.tolist() == load("class.srff").predict(frame[INPUTS]).tolist()


def test_missing_values_are_filled_in_by_the_model(here, frame):
    gaps = frame[[*INPUTS, "y"]].copy()
    gaps.loc[::5, "a"] = np.nan
    gaps.loc[::7, "colour"] = None
    gaps.loc[3, "y"] = np.nan
    gaps.to_csv("t.csv", index=False)
    told = srff_("fit", "t.csv", "-t", "y", "--missing", "impute", *QUICK).stderr
    assert "filled in: 'a' (40) and 'colour' (29)" in told
    assert "1 of 200 rows are left out" in told
    rows = gaps.drop(index=3)
    expected = in_python(srff.SRFFRegressor, rows[INPUTS], rows["y"], missing="impute")
    same_model("model.srff", expected)
    srff_("predict", "model.srff", "t.csv", "-o", "p.csv")
    np.testing.assert_allclose(
        pandas.read_csv("p.csv")["prediction"], expected.predict(gaps[INPUTS]), rtol=5e-7
    )


def test_a_category_that_is_missing_where_none_was_has_no_prediction(here, frame):
    frame[[*INPUTS, "answer"]].to_csv("t.csv", index=False)
    srff_("fit", "t.csv", "-t", "answer", *QUICK)
    gaps = frame[INPUTS].copy()
    gaps.loc[4, "colour"] = None
    gaps.to_csv("gaps.csv", index=False)
    result = runner.invoke(app, ["predict", "model.srff", "gaps.csv"])
    assert result.exit_code == 1
    assert "'colour' (1)" in result.stderr
    srff_("predict", "model.srff", "gaps.csv", "--missing", "empty", "-o", "p.csv")
    srff_("predict", "model.srff", "gaps.csv", "--missing", "empty", "-o", "p.parquet")
    for said in (pandas.read_csv("p.csv"), pandas.read_parquet("p.parquet")):
        assert np.flatnonzero(said["prediction"].isna()).tolist() == [4]


def test_levels_that_look_like_numbers_are_read_as_the_text_that_they_were(here, frame):
    code = frame["colour"].map({"red": "7", "green": "7b", "blue": "12"})
    frame[["a"]].assign(code=code, y=frame["y"]).to_csv("t.csv", index=False)
    srff_("fit", "t.csv", "-t", "y", *QUICK)
    model = load("model.srff")
    some = frame[["a"]].assign(code=code)[code != "7b"]
    some.to_csv("new.csv", index=False)
    srff_("predict", "model.srff", "new.csv", "-o", "p.csv")
    found = pandas.read_csv("p.csv")["prediction"]
    np.testing.assert_allclose(found, model.predict(some), rtol=5e-7)


@pytest.mark.parametrize("form", ["a,b;c", '{"first": ["a", "b"], "second": ["c", "same"]}'])
def test_groups_are_given_as_names_or_in_a_file(here, frame, form):
    frame[["a", "b", "c", "y"]].assign(same=1).to_csv("t.csv", index=False)
    given = form
    if form.startswith("{"):
        given = "groups.json"
        Path(given).write_text(form)
    result = srff_("fit", "t.csv", "-t", "y", "--groups", given, "--json", *QUICK)
    found = json.loads(result.stdout)
    expected = in_python(
        srff.SRFFRegressor, frame[["a", "b", "c"]], frame["y"], groups=[["a", "b"], ["c"]]
    )
    same_model("model.srff", expected)
    assert (found["n_inputs"], found["n_groups"]) == (3, 2)
    first = next(one for one in found["selected"] if one["name"] != "c")
    assert first["columns"] == ["a", "b"]
    assert first["name"] == ("a + b" if given == form else "first")


def test_so_many_variables_are_kept_as_are_asked_for(here, frame):
    frame[["a", "b", "c", "y"]].to_csv("t.csv", index=False)
    search = ["--set", "n_components=20", "--set", "max_iter=2"]
    result = srff_("fit", "t.csv", "-t", "y", "--n-features", "2", "--json", *search)
    assert len(json.loads(result.stdout)["selected"]) == 2


@pytest.mark.parametrize(
    ("name", "loss", "called"),
    [
        ("poisson", "poisson", "Poisson deviance / 2"),
        ("pinball:0.9", Pinball(0.9), "pinball loss"),
    ],
)
def test_a_loss_is_named_and_its_error_too(here, frame, name, loss, called):
    frame[["a", "b", "count"]].to_csv("t.csv", index=False)
    result = srff_("fit", "t.csv", "-t", "count", "--loss", name, *QUICK)
    assert called in result.stdout
    same_model(
        "model.srff", in_python(srff.SRFFRegressor, frame[["a", "b"]], frame["count"], loss=loss)
    )


def test_several_targets_have_a_column_each(here, frame):
    frame = frame.assign(z=10 * frame["b"])
    frame[[*INPUTS, "y", "z"]].to_csv("t.csv", index=False)
    result = srff_("fit", "t.csv", "-t", "y", "-t", "z", "--json", *QUICK)
    assert json.loads(result.stdout)["target"] == ["y", "z"]
    expected = in_python(srff.SRFFRegressor, frame[INPUTS], frame[["y", "z"]])
    same_model("model.srff", expected)
    srff_("predict", "model.srff", "t.csv", "-o", "p.csv")
    said = pandas.read_csv("p.csv")
    assert list(said) == ["prediction_0", "prediction_1"]
    np.testing.assert_allclose(said, expected.predict(frame[INPUTS]), rtol=5e-7)
    result = srff_("report", "model.srff", "--data", "t.csv", "-t", "y", "-t", "z", "--json")
    error = expected.predict(frame[INPUTS]) - frame[["y", "z"]]
    found = json.loads(result.stdout)["targets"]
    assert [one["rmse"] for one in found] == pytest.approx(np.sqrt((error**2).mean()).tolist())


def test_a_report_of_rows_says_how_good_the_model_is_and_what_is_missed(here, frame, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")
    frame[[*INPUTS, "answer"]].to_csv("t.csv", index=False)
    srff_("fit", "t.csv", "-t", "answer", *QUICK)
    model = load("model.srff")
    rows = frame[[*INPUTS, "answer"]].copy()
    rows.loc[5, "answer"] = None
    rows.to_parquet("new.parquet")
    command = ["report", "model.srff", "--data", "new.parquet", "-t", "answer"]
    result = srff_(*command, "--json", "--html", "page.html")
    assert "1 of 200 rows are left out" in result.stderr
    found, X = json.loads(result.stdout), frame[INPUTS].drop(index=5)
    y = frame["answer"].drop(index=5)
    assert found["judged_rows"] == 199
    assert found["accuracy"] == pytest.approx(model.score(X, y))
    assert found["error"] == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert found["auc"] == pytest.approx(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    assert sum(map(sum, found["confusion"])) == 199
    missed = {one["name"]: one["missed_by"] for one in found["selected"]}
    assert missed["a"] > missed.get("b", 0)
    page = Path("page.html").read_text("utf-8")
    assert "Missed by" in page
    assert "What was said (columns) of the rows of each class (lines)" in page
    assert "missed by" in srff_(*command).stdout
    # Of many rows every second, fourth, ... is enough.
    monkeypatch.setattr("srff.cli.rows.MOST_ROWS", 150)
    assert json.loads(srff_(*command, "--json").stdout)["judged_rows"] == 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "m.srff", "--data", "t.csv"], "--data and --target"),
        (["report", "m.srff", "--data", "t.csv", "-t", "Y"], "did you mean 'y'?"),
        (["report", "m.srff", "--data", "t.csv", "-t", "y", "-t", "a"], "2 times"),
        (["predict", "m.srff", "t.csv", "--proba"], "--proba needs a model of classes"),
    ],
)
def test_what_a_model_cannot_be_asked_is_said(here, frame, arguments, words):
    frame[["a", "b", "y"]].to_csv("t.csv", index=False)
    srff_("fit", "t.csv", "-t", "y", "-o", "m.srff", *QUICK)
    result = runner.invoke(app, arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_labels_that_a_spreadsheet_would_compute_are_written_as_they_are_and_named(here, frame):
    odd = frame[["a", "b"]].assign(y=np.where(frame.answer == "yes", "=cmd|'/C calc'!A0", "-1"))
    odd.to_csv("t.csv", index=False)
    srff_("fit", "t.csv", "-t", "y", *QUICK)
    said = srff_("predict", "model.srff", "t.csv", "-o", "p.csv")
    assert "a spreadsheet takes labels such as \"=cmd|'/C calc'!A0\" for formulas" in said.stderr
    assert set(pandas.read_csv("p.csv", dtype=str)["prediction"]) == set(odd.y)
    quiet = srff_("predict", "model.srff", "t.csv", "-o", "p.parquet")
    assert "formulas" not in quiet.stderr
