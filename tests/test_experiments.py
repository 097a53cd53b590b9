"""The reproduction: the paper's figures, the results file, resuming, limits, the tables."""

from __future__ import annotations

import io
import json
import math
import multiprocessing
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from typer.testing import CliRunner

from srff.cli import app
from srff.cli.reproduce import _cells, _quick
from srff.reproduction import comparison, replicate, results, runner, show
from srff.reproduction.published import METHODS, TABLES, Cell, PaperFigure, paper_figure
from srff.reproduction.replicate import Outcome, Settings

FAST = Cell("SE1", 1000, "Mean")


def outcome(method="SRFF", rmse=0.27, number=0, status="ok", problem="SE1", n=1000, scales=""):
    way = replicate.way(method, Settings())
    return Outcome(problem, n, method, number, status, rmse, scales=scales, variant=way)


def test_every_cell_of_the_papers_tables_has_its_figure():
    missing = {c for t in TABLES.values() for c in t.cells if paper_figure(c) is None}
    # The paper gives no Denovas for SE2: it ran out of memory there.
    assert missing == {Cell("SE2", 1000, "Denovas")}


def test_a_figure_that_two_tables_print_differently_is_that_of_each():
    cell = Cell("SE2", 1000, "RFF")
    printed = [TABLES[name].figure(cell) for name in ("se2-1k", "se2")]
    assert printed == [PaperFigure(2.216, 0.104), PaperFigure(2.216, 0.105)]


def test_methods_of_a_replicate_see_the_same_rows():
    one = replicate.draw(Cell("SE1", 1000, "RFF"), 3, Settings())
    other = replicate.draw(Cell("SE1", 1000, "SRFF"), 3, Settings())
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left[0], right[0])
    assert [pair[0].shape for pair in one] == [(1000, 18)] * 3
    assert not np.array_equal(one[1][0], one[2][0])


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(m, marks=pytest.mark.slow) if m in ("SRFF-b", "SPAM") else m
        for m in METHODS
        if m != "Denovas"
    ],
)
def test_every_method_runs_a_replicate(method, monkeypatch):
    if method == "SPAM":
        pytest.importorskip("skglm")
    monkeypatch.setitem(replicate.HELD_OUT, "SE1", 100)
    result = replicate.run(Cell("SE1", 120, method), 0, Settings(max_iter=2))
    assert result.status == "ok"
    assert 0.1 < result.rmse < 1
    assert result.version
    if method == "SRFF":
        scales = np.array(result.scales.split(), dtype=float)
        assert scales.sum() == pytest.approx(result.budget, rel=0.02)
        assert result.n_selected == np.count_nonzero(scales)


def test_denovas_says_that_its_memory_does_not_suffice():
    result = replicate.run(Cell("SE2", 1000, "Denovas"), 0, Settings(memory_limit="1GB"))
    assert result.status.startswith("memory")
    assert math.isnan(result.rmse)


def test_missing_data_are_a_status_not_a_crash(tmp_path):
    settings = Settings(mining_path=str(tmp_path / "none.csv"))
    result = replicate.run(Cell("RMN", 50000, "Mean"), 0, settings)
    assert result.status.startswith("no data")


def test_an_extract_of_the_mining_data_is_split_in_proportion(tmp_path):
    pytest.importorskip("pandas")
    names = ["date", *(f"c{i}" for i in range(21)), "% Iron Concentrate", "% Silica Concentrate"]
    values = np.random.RandomState(0).standard_normal((60, 23))
    lines = [",".join(names)]
    lines += [
        ",".join(["2017-03-10 01:00:00", *(f'"{v:.4f}"'.replace(".", ",") for v in row)])
        for row in values
    ]
    path = tmp_path / "mining.csv"
    path.write_text("\n".join(lines) + "\n")
    train, validation, test = replicate.draw(
        Cell("RMN", 50000, "Mean"), 0, Settings(mining_path=str(path))
    )
    assert (len(train[1]), len(validation[1]), len(test[1])) == (40, 10, 10)


def test_results_are_appended_and_read_back(tmp_path):
    first, second = outcome(scales="0 1.5"), outcome("Mean", 0.287, 1)
    results.append(tmp_path, first)
    results.append(tmp_path, second)
    back = results.read(tmp_path)
    assert [o.method for o in back] == ["SRFF", "Mean"]
    assert back[0].scales == "0 1.5"
    assert back[1].rmse == 0.287


def test_a_line_that_was_cut_off_is_dropped_and_done_again(tmp_path):
    results.append(tmp_path, outcome(number=0))
    results.append(tmp_path, outcome(number=1))
    path = tmp_path / results.FILE
    path.write_bytes(path.read_bytes()[:-7])
    assert [o.replicate for o in results.read(tmp_path)] == [0]
    results.append(tmp_path, outcome(number=1))
    assert [o.replicate for o in results.read(tmp_path)] == [0, 1]


def test_a_results_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / results.FILE).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="columns"):
        results.read(tmp_path)


def test_results_of_other_settings_are_not_mixed(tmp_path):
    results.write_settings(tmp_path, Settings())
    results.write_settings(tmp_path, Settings(device="cuda"))
    with pytest.raises(ValueError, match="other settings"):
        results.write_settings(tmp_path, Settings(max_iter=7))


def test_the_plan_leaves_out_what_is_done_and_what_cannot_run():
    finished = [outcome("Mean", number=0), outcome("Denovas", math.nan, 0, "memory: too much")]
    cells = [Cell("SE1", 1000, m) for m in ("Mean", "Denovas", "SRFF")]
    tasks = [(cell.method, number) for cell, number in runner.plan(cells, 2, finished, Settings())]
    assert tasks == [("SRFF", 0), ("Mean", 1), ("SRFF", 1)]


def test_what_was_run_in_an_earlier_way_is_run_anew_and_stands_until_then():
    old = replace(outcome(rmse=0.3), variant="raced, one draw")
    new = outcome(rmse=0.27, number=1)
    cell = Cell("SE1", 1000, "SRFF")
    assert [number for _, number in runner.plan([cell], 2, [old, new], Settings())] == [0]
    assert comparison.summarise(results.by_cell([old, new])[cell]).mean == 0.27
    alone = results.by_cell([old])
    assert comparison.format_cell(TABLES["se1"], cell, alone)[1] == "0.300 (1)†"
    # A run of other settings does not take either for its own.
    assert len(runner.plan([cell], 2, [old, new], Settings(n_alphas=10))) == 2
    (line,) = comparison.other_ways(TABLES["se1"], alone)
    assert line == "† SRFF, raced, one draw: SE1 1,000"


def test_a_cell_whose_data_were_missing_is_tried_again():
    missing = outcome("Mean", math.nan, 0, "no data: nowhere", "RMN", 50000)
    cell = Cell("RMN", 50000, "Mean")
    assert list(runner.plan([cell], 1, [missing], Settings())) == [(cell, 0)]
    summary = comparison.summarise([missing, outcome("Mean", 1.0, 0, "ok", "RMN", 50000)])
    assert summary.mean == 1.0


@pytest.mark.slow
def test_a_run_resumes_where_it_stopped(tmp_path):
    cells = [FAST, Cell("SE1", 1000, "Ridge")]
    reports = []
    first = runner.reproduce(cells, 1, Settings(), tmp_path)
    assert {o.method for o in first} == {"Mean", "Ridge"}
    again = runner.reproduce(cells, 2, Settings(), tmp_path, report=reports.append)
    assert [r.total for r in reports] == [2, 2]
    assert len(again) == 4
    assert again[:2] == first or {o.method for o in again[:2]} == {o.method for o in first}
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_replicate_over_its_time_is_stopped_and_its_cell_left_out(tmp_path):
    slow = Cell("SE2", 50000, "SRFF")
    finished = runner.reproduce([slow], 3, Settings(), tmp_path, time_limit=2.0)
    assert [o.status for o in finished] == ["time: over 2 s"]
    assert not multiprocessing.active_children()


def test_a_worker_that_dies_is_an_outcome():
    context = multiprocessing.get_context("spawn")
    worker = runner._start(context, Settings())
    worker.task = (FAST, 0)
    worker.process.kill()
    assert runner._receive(worker).status.startswith("crash")
    runner._stop(worker)


def test_nothing_is_begun_after_the_time_that_is_given(tmp_path):
    reports = []
    settings = {"start_within": 0.0, "report": reports.append}
    assert runner.reproduce([FAST], 3, Settings(), tmp_path, **settings) == []
    assert reports == []
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("mean", "expected"), [(0.25, "better"), (0.272, "same"), (0.274, "same"), (0.29, "worse")]
)
def test_the_verdict_is_welchs_test(mean, expected):
    ours = comparison.Summary(mean, 0.009, 30)
    assert comparison.verdict(ours, PaperFigure(0.272, 0.009)) == expected


@pytest.mark.parametrize("replicates", [3, 30])
def test_the_verdict_agrees_with_scipys_test_of_two_samples(replicates):
    paper, ours = (0.272, 0.009, 30), (0.262, 0.009, replicates)
    p = stats.ttest_ind_from_stats(*paper, *ours, equal_var=False).pvalue
    found = comparison.verdict(comparison.Summary(*ours), PaperFigure(*paper[:2]))
    assert (found == "better") == (p < 0.05) == (replicates == 30)


def test_too_few_replicates_have_no_verdict_that_they_are_the_same():
    paper = PaperFigure(0.272, 0.009)
    # Five replicates at the error of the mean, 0.284: their own error is that of the difference.
    assert comparison.verdict(comparison.Summary(0.284, 0.013, 5), paper) == "open"
    assert comparison.verdict(comparison.Summary(0.272, math.nan, 1), paper) == ""
    assert comparison.verdict(comparison.Summary(0.272, 0.009, 8), paper) == "same"
    # What is far away is different, however few there are.
    assert comparison.verdict(comparison.Summary(0.5, 0.01, 3), paper) == "worse"


def test_rows_that_are_not_the_papers_have_no_verdict():
    cell = Cell("RMN", 50000, "Ridge")
    finished = [
        replace(outcome("Ridge", 0.9 + k / 100, k, "ok", "RMN", 50000), variant=replicate.EXTRACT)
        for k in range(30)
    ]
    assert comparison.format_cell(TABLES["real"], cell, results.by_cell(finished))[2] == ""


def test_a_summary_is_the_mean_and_the_sample_standard_deviation():
    summary = comparison.summarise([outcome(rmse=r) for r in (0.2, 0.3, 0.4)])
    assert (summary.mean, summary.replicates) == (pytest.approx(0.3), 3)
    assert summary.std == pytest.approx(0.1)
    assert comparison.summarise([]) is None


def test_tables_show_the_papers_figure_ours_and_what_could_not_run():
    finished = [
        *[outcome(rmse=0.271 + k / 1000, number=k) for k in (-1, 0, 1)],
        outcome("Denovas", math.nan, 0, "memory: needs 65 GB"),
        outcome("HSIC", 0.30),
    ]
    console = Console(record=True, width=200, file=io.StringIO())
    show.print_table(console, TABLES["se1-1k"], finished, set(METHODS))
    text = console.export_text()
    for piece in (
        "0.272 (0.009)",
        "0.271 (0.001; 3)",
        "memory limit",
        "not run",
        "needs 65 GB",
        "same",
    ):
        assert piece in text


def test_scales_are_medians_beside_the_papers(tmp_path):
    scales = [np.zeros(18), np.ones(18), np.full(18, 0.5)]
    finished = [
        outcome(number=k, scales=" ".join(map(str, s)), n=n)
        for k, s in enumerate(scales)
        for n in (1000, 50000)
    ]
    np.testing.assert_allclose(comparison.median_scales(finished), 0.5)
    console = Console(record=True, width=120, file=io.StringIO())
    show.print_scales(console, finished)
    assert "1.198" in console.export_text(clear=False)
    assert "0.500" in console.export_text()
    se2 = [outcome(problem="SE2", scales=" ".join(["0.01"] * 10 + ["1"] * 5 + ["0"] * 85))]
    (line,) = show.scale_lines(results.by_cell(se2))
    assert re.search(r"relevant 1.00 to 1.00 .*irrelevant at most 0.01", line)
    pytest.importorskip("matplotlib")
    show.draw_sparsity(finished, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text().count("<svg") == 1
    page = show.markdown(finished)
    assert all(f"### {t.caption}" in page for t in TABLES.values())


def test_the_command_runs_resumes_and_prints(tmp_path):
    arguments = ["reproduce", "se1", "figure", "--methods", "Mean", "--sizes", "1000"]
    arguments += ["--replicates", "2", "--out", str(tmp_path)]
    for _ in range(2):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert "paper" in result.output
        assert len(results.read(tmp_path)) == 2
    assert "0.287 (0.009)" in (tmp_path / "tables.md").read_text(encoding="utf-8")
    pytest.importorskip("matplotlib")
    assert "<svg" in (tmp_path / "sparsity.svg").read_text(encoding="utf-8")


def test_a_quick_run_has_cells_of_every_table_and_the_whole_of_each_solver():
    kept = _quick(_cells(list(TABLES)))
    for table in TABLES.values():
        assert {"Mean", "RFF", "SRFF"} <= {c.method for c in kept if c in table.cells}
    assert {c.problem for c in kept} == {"SE1", "SE2", "SE3", "RCP", "REL", "RAI", "RMN"}
    assert max(c.n for c in kept if c.problem.startswith("SE")) == 5000


def test_a_quick_run_goes_on_without_data_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("SRFF_DATA", str(tmp_path))
    arguments = ["reproduce", "--quick", "real", "se1", "--methods", "Mean", "--sizes"]
    arguments += ["1000,50000", "--replicates", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "RMN is left out: " in " ".join(result.output.split())
    by_problem = {o.problem: o.status for o in results.read(tmp_path / "out")}
    assert by_problem["SE1"] == "ok"
    assert by_problem["RMN"].startswith("no data")
    settings = json.loads((tmp_path / "out" / "settings.json").read_text(encoding="utf-8"))
    assert (settings["n_alphas"], settings["patience"], settings["max_iter"]) == (10, 2, 400)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tables"], "'tables' is unknown"),
        (["se1", "--methods", "Boosting"], "'Boosting' is unknown"),
        (["se1", "--sizes", "1k"], "'1k' is not a whole number"),
    ],
)
def test_the_command_refuses_what_it_does_not_know(arguments, message, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path)])
    assert result.exit_code == 2
    flat = " ".join(re.sub(r"[│╭╰─╮╯]", " ", result.output).split())
    assert message in flat
