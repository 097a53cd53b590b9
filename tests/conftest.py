"""Shared fixtures: the array libraries that the block code runs on, and small problems."""

from __future__ import annotations

import os

# scikit-learn skips one of its estimator checks without this; it must be set before SciPy loads.
os.environ["SCIPY_ARRAY_API"] = "1"
# Small products are slower on several threads, and tests may run side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from dataclasses import replace

import numpy as np
import pytest

from small_problems import ring_rows
from srff.estimators.selector import SelectingModel
from srff.selection.config import CONFIG


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request):
    """An array namespace with ``asarray``; torch is skipped where it is not installed."""
    if request.param == "torch":
        return pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    return pytest.importorskip(request.param)


@pytest.fixture
def block():
    """A small block in float64: X, Y (two targets), weight, W, b, a, c."""
    rng = np.random.RandomState(0)
    n, d, D, q = 40, 5, 12, 2
    return {
        "X": rng.standard_normal((n, d)),
        "Y": rng.standard_normal((n, q)),
        "weight": rng.uniform(0.5, 2, n),
        "W": rng.standard_normal((d, D)),
        "b": rng.uniform(0, 2 * np.pi, D),
        "a": rng.standard_normal((D, q)),
        "c": rng.standard_normal(q),
    }


@pytest.fixture
def configure(monkeypatch):
    """Other constants of the default fit for one test, by their names in ``Config``."""

    def change(**constants):
        monkeypatch.setattr(SelectingModel, "selection_config", replace(CONFIG, **constants))

    return change


@pytest.fixture
def ring():
    """See ``ring_rows``."""
    return ring_rows()
