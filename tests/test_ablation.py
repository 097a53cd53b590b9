"""The ablation benchmark: a variant's settings, one cell, and the table of ratios."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "ablation" / "run.py"


@pytest.mark.slow
def test_variants_are_compared_on_the_same_draws(tmp_path):
    out = tmp_path / "cells.csv"
    variants = [
        "first: n_components=10, max_iter=1",
        "one tail: n_components=10, wide_tails=(inf,)",
    ]
    given = [word for variant in variants for word in ("--variant", variant)]
    options = ["--problem", "waves", "--seeds", "1", "--jobs", "1", "--out", str(out)]
    run = subprocess.run(
        [sys.executable, str(SCRIPT), *given, *options], capture_output=True, text=True, check=True
    )
    assert "| first | 1 | 1.000 | +0.00 % | +0.00 % |" in run.stdout
    assert "| one tail | 1 |" in run.stdout
    rows = out.read_text().splitlines()
    assert len(rows) == 3
    assert all(",ok," in row for row in rows[1:])
