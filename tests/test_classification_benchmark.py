"""The classification benchmark: its problems, tables, measures, run and page."""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
FOLDERS = [str(BENCHMARKS / "accuracy"), str(BENCHMARKS)]

pytestmark = pytest.mark.skipif(
    not BENCHMARKS.exists(), reason="benchmarks are not in this copy of the sources"
)


def module(name: str, path: Path):
    """A script of the benchmark as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def bench():
    """Its modules; they leave with their folders, whose names are plain words."""
    path, before = list(sys.path), set(sys.modules)
    sys.path[:0] = FOLDERS
    here = BENCHMARKS / "classification"
    yield SimpleNamespace(
        problems=importlib.import_module("classification.problems"),
        tables=importlib.import_module("classification.tables"),
        learners=importlib.import_module("classification.learners"),
        cell=module("classification_cell", here / "cell.py"),
        page=module("classification_page", here / "page.py"),
        columns=module("classification_run", here / "run.py").COLUMNS,
    )
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


def synthetic(bench):
    return [p for p in bench.problems.PROBLEMS.values() if p.family == "synthetic"]


def test_labels_follow_the_probabilities_that_a_problem_states(bench):
    for problem in synthetic(bench):
        X, y = problem.draw(0).test
        P = problem.probabilities(X)
        assert P.shape == (y.size, problem.n_classes)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        surprise = -np.log(P[np.arange(y.size), y])
        entropy = -(P * np.log(P)).sum(axis=1)
        error = np.std(surprise - entropy) / np.sqrt(y.size)
        assert abs((surprise - entropy).mean()) < 4 * error + 1e-12, problem.name


def test_the_relevant_columns_matter_and_no_others(bench):
    rng = np.random.default_rng(0)
    for problem in synthetic(bench):
        X, _ = problem.draw(1).test
        relevant = {i for group in problem.groups for i in group}
        P = problem.probabilities(X)
        for column in range(problem.n_features):
            Z = X.copy()
            Z[:, column] = rng.permutation(Z[:, column])
            change = np.abs(problem.probabilities(Z) - P).mean()
            assert (change > 0.01) == (column in relevant), (problem.name, column)


def test_a_seed_gives_the_same_rows_and_another_seed_others(bench):
    problem = bench.problems.PROBLEMS["xor3-1k"]
    first, again, other = problem.draw(3), problem.draw(3), problem.draw(4)
    np.testing.assert_array_equal(first.train[0], again.train[0])
    np.testing.assert_array_equal(first.test[1], again.test[1])
    assert not np.array_equal(first.train[0], other.train[0])
    assert [pair[1].size for pair in (first.train, first.validation)] == [800, 200]
    assert problem.n_train == 800


def test_every_row_is_in_one_part_and_the_last_are_the_test_rows(bench):
    for split in (bench.problems.shares(0.7, 0.1), bench.problems.last(30)):
        parts = split(np.random.default_rng(0), 100)
        assert sorted(np.concatenate(parts)) == list(range(100))
    assert parts[2].tolist() == list(range(70, 100))
    assert parts[1].size == 14


@pytest.fixture
def mice(tmp_path, monkeypatch, bench):
    """A small table with the columns of mice protein."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 77))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    frame = pandas.DataFrame(X, columns=[f"p{i}" for i in range(77)])
    frame["Genotype"], frame["Treatment"], frame["Behavior"] = "Control", "Saline", "C/S"
    frame["class"] = np.array(["c-CS-s", "t-CS-s"])[rng.integers(2, size=40)]
    frame.to_parquet(tmp_path / "mice_protein.parquet")
    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    bench.problems._read.cache_clear()
    yield frame
    bench.problems._read.cache_clear()


def test_what_a_class_is_made_of_is_never_an_input(bench, mice):
    table = bench.tables.read_table("mice_protein")
    assert table.names == tuple(f"p{i}" for i in range(77))
    assert table.X.shape == (40, 77)
    np.testing.assert_array_equal(table.y, mice["class"] == "t-CS-s")


def test_missing_values_become_the_median_of_the_training_rows(bench, mice):
    draw = bench.problems.PROBLEMS["mice"].draw(0)
    order = np.random.default_rng(0).permutation(40)
    raw = mice[[f"p{i}" for i in range(77)]].to_numpy()
    train, test = raw[order[:28]], raw[order[32:]]
    row, column = np.argwhere(np.isnan(test))[0]
    assert draw.test[0][row, column] == np.nanmedian(train[:, column])
    kept = ~np.isnan(test)
    np.testing.assert_array_equal(draw.test[0][kept], test[kept])


def test_a_table_is_read_from_an_archive_where_parquet_cannot_be(
    bench, mice, tmp_path, monkeypatch
):
    expected = bench.tables.read_table("mice_protein")
    (path,) = bench.tables.convert(["mice_protein"], tmp_path)
    assert path.name == "mice_protein.npz"

    def no_pandas(path):
        raise ImportError("no pandas")

    monkeypatch.setattr(bench.tables, "read_parquet", no_pandas)
    table = bench.tables.read_table("mice_protein")
    np.testing.assert_array_equal(table.X, expected.X)
    np.testing.assert_array_equal(table.y, expected.y)
    assert table.names == expected.names


def test_a_file_that_is_not_there_is_named(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"sylva\.parquet.*sylva\.npz"):
        bench.tables.read_table("sylva")


def test_measures_of_a_case_worked_out_by_hand(bench):
    y = np.array([0, 1, 1, 0])
    p = np.array([0.2, 0.9, 0.4, 0.6])
    found = bench.cell.figures(y, np.stack((1 - p, p), axis=1))
    assert found["accuracy"] == 0.5
    assert found["log_loss"] == pytest.approx(-np.log([0.8, 0.9, 0.4, 0.4]).mean())
    assert found["auc"] == 0.75  # of four pairs, three in the right order
    assert "auc" not in bench.cell.figures(np.array([0, 1, 2]), np.eye(3) * 0.4 + 0.2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learners_see_the_chosen_variables_only(bench, monkeypatch):
    monkeypatch.setattr(bench.learners, "MAX_EPOCHS", 100)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    y = (X[:, 0] > 0).astype(int)
    parts = [(X[i], y[i]) for i in np.split(np.arange(400), [200, 250])]
    draw = importlib.import_module("problem").Draw(*parts)
    right, wrong = np.arange(6) == 0, np.arange(6) == 5
    for accuracy in (bench.learners.tree_accuracy, bench.learners.network_accuracy):
        assert accuracy(draw, right, 0) > 0.9
        assert accuracy(draw, wrong, 0) < 0.7
        assert 0.4 < accuracy(draw, np.zeros(6, dtype=bool), 0) < 0.6


def run_lasso(folder: str, problem: str, out: Path) -> str:
    """What a run of one cell prints."""
    command = [sys.executable, str(BENCHMARKS / folder / "run.py"), "--problems", problem]
    command += ["--methods", "lasso", "--seeds", "0", "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.slow
def test_a_run_appends_its_line_and_a_rerun_has_nothing_to_do(tmp_path):
    out = tmp_path / "some.csv"
    assert "1 cells of 1" in run_lasso("classification", "logistic", out)
    assert "0 cells of 1" in run_lasso("classification", "logistic", out)
    (row,) = csv.DictReader(out.read_text().splitlines())
    assert (row["problem"], row["status"], row["true_selected"]) == ("logistic", "ok", "5")
    assert 0.8 < float(row["accuracy"]) <= float(row["accuracy_best"]) + 0.01
    assert float(row["log_loss_best"]) < float(row["log_loss"]) < float(row["log_loss_prior"])
    assert "benchmarks/classification/run.py" in out.with_suffix(".json").read_text()


@pytest.mark.slow
def test_the_accuracy_benchmark_that_it_stands_on_runs_as_before(tmp_path):
    out = tmp_path / "some.csv"
    run_lasso("accuracy", "linear", out)
    (row,) = csv.DictReader(out.read_text().splitlines())
    stored = csv.DictReader((BENCHMARKS / "accuracy" / "results.csv").read_text().splitlines())
    cell = ("linear", "lasso", "0")
    old = next(r for r in stored if (r["problem"], r["method"], r["seed"]) == cell)
    assert (row["status"], row["floor"]) == ("ok", "1")
    assert float(row["rmse"]) == pytest.approx(float(old["rmse"]), rel=1e-3)
    assert row["rmse_mean"] == old["rmse_mean"]


def line(bench, problem: str, method: str, seed: int = 0, **figures: object) -> dict[str, object]:
    """A line of the results."""
    row = dict.fromkeys(bench.columns, "") | {"problem": problem, "method": method, "seed": seed}
    row |= {"status": "ok", "device": "cpu", "versions": "{}", "seconds": 1.0, "log_loss": 0.5}
    return row | {"accuracy": 0.8, "n_selected": 3} | figures


def page_of(bench, rows, folder: Path) -> str:
    results = folder / "results.csv"
    with results.open("w", newline="") as file:
        writer = csv.DictWriter(file, bench.columns)
        writer.writeheader()
        writer.writerows(rows)
    bench.page.write(results, folder / "docs")
    return (folder / "docs" / "classification.md").read_text()


def test_the_page_says_what_is_met_and_what_falls_short(bench, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")
    truth = {"n_true": 2, "true_selected": 2, "false_selected": 0, "exact": 1}
    missed = truth | {"true_selected": 1, "exact": 0}
    rows = [line(bench, "rings", "srff", s, accuracy=0.9, **truth) for s in range(4)]
    rows += [line(bench, "rings", "srff", 4, accuracy=0.9, **missed)]
    rows += [line(bench, "rings", "lightgbm", s, accuracy=0.95, **truth) for s in range(2)]
    rows += [line(bench, "madelon", "srff", accuracy=0.89, auc=0.95, n_selected=30)]
    rows += [
        line(bench, "isolet-50", m, tree_accuracy=a, network_accuracy=a, n_selected=50)
        for m, a in {"srff": 0.9, "lightgbm": 0.85}.items()
    ]
    text = page_of(bench, rows, tmp_path)
    assert "| `rings`, srff: the relevant variables found in 4 of 5 draws | 4 of 5 | met |" in text
    assert "at most 25 variables | 0.890, at most 30 | not met |" in text
    assert "| `isolet-50` | 0.891 | **0.9000** (50) | 0.8500 (50) |" in text
    assert "- `rings`: accuracy of lightgbm higher than of srff by 0.050" in text
    assert "- `rings`: srff has another set than the right one in 1 of 5 draws" in text
    assert (tmp_path / "docs" / "classification-time.svg").exists()


def test_the_page_can_be_written_before_srff_has_results(bench, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")
    truth = {"n_true": 2, "true_selected": 2, "false_selected": 0, "exact": 1}
    text = page_of(bench, [line(bench, "rings", "lasso", **truth)], tmp_path)
    assert "srff has no results yet." in text
