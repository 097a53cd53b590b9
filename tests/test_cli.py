"""The shell command and the progress bar."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import srff
from srff import progress
from srff.cli import app
from srff.progress import Progress, reporting

runner = CliRunner()


def test_version_and_help():
    assert runner.invoke(app, ["--version"]).output.strip() == f"srff {srff.__version__}"
    assert "demo" in runner.invoke(app, ["--help"]).output


def test_python_dash_m_is_the_same_command():
    out = subprocess.run(
        [sys.executable, "-m", "srff", "--version"], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == f"srff {srff.__version__}"


def test_demo_prints_the_variables_and_the_errors(monkeypatch):
    # Fewer features than by default, only to be quick.
    monkeypatch.setattr("srff.problem.N_COMPONENTS", (50, 50))
    monkeypatch.setattr("srff.estimators.N_WIDE", 128)
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
