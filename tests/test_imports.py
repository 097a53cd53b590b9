"""What importing the package loads, and what it offers without loading it."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import srff

HEAVY = {"numpy", "scipy", "sklearn", "pandas", "torch", "matplotlib", "typer", "rich"}


def modules_after(*statements):
    """The modules that a fresh interpreter has loaded after some statements."""
    code = "\n".join([*statements, "import sys", "print(*sys.modules)"])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def packages(modules):
    """The packages of some modules that do not come with Python."""
    return {name.partition(".")[0] for name in modules} - sys.stdlib_module_names


def test_the_package_alone_loads_nothing_else():
    loaded = modules_after("import srff")
    own = {name for name in loaded if name.startswith("srff")}
    assert own == {"srff", "srff._utils", "srff._utils.version"}
    assert not packages(loaded - modules_after("pass")) & HEAVY


def test_an_estimator_loads_no_package_that_scikit_learns_selectors_do_not():
    selectors = modules_after("from sklearn.feature_selection import SelectorMixin")
    loaded = modules_after("from srff import SRFFRegressor")
    assert "srff.estimators.regressor" in loaded
    assert packages(loaded) - packages(selectors) == {"srff", "array_api_compat"}
    parts = ("srff.cli", "srff.reproduction", "srff.baselines", "srff.datasets")
    assert not {name for name in loaded if name.startswith(parts)}


def test_every_name_is_listed_and_can_be_had():
    assert set(srff.__all__) <= set(dir(srff))
    everything: dict[str, object] = {}
    exec("from srff import *", everything)
    for name in srff.__all__:
        assert everything[name] is getattr(srff, name)


def test_a_name_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="'srff' has no attribute 'SRFFRanker'"):
        _ = srff.SRFFRanker


def test_a_stored_class_is_found_again_by_an_interpreter_that_imported_nothing(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(srff.SRFFRegressor(alpha=0.5)))
    loaded = modules_after(
        "import pickle, pathlib",
        f"model = pickle.loads(pathlib.Path({str(path)!r}).read_bytes())",
        "assert model.alpha == 0.5",
    )
    assert "srff.estimators.regressor" in loaded
