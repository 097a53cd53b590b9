"""The script that measures how the package is built."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import srff

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "house" / "measure.py"
SOURCE = '''
from sklearn.base import BaseEstimator
class Base(BaseEstimator):
    pass
class Model(Base):
    def __init__(self, a, b=1):
        self.a, self.b = a, b
    def fit(self, X, *rest, y=None, **more):
        """One.

        Two.
        """
        def inner(one, self):
            return one
        return inner(X, self)
class Plain:
    def __init__(self, a):
        self.a = a
'''

pytestmark = pytest.mark.skipif(
    not SCRIPT.exists(), reason="benchmarks are not in this copy of the sources"
)


@pytest.fixture(scope="module")
def measure():
    spec = importlib.util.spec_from_file_location("measure", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["measure"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["measure"]


def test_functions_are_counted_with_constructors_and_commands_apart(measure, tmp_path):
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "fit.py").write_text("def fit(table, target):\n    helper()\n")
    (tmp_path / "model.py").write_text(SOURCE)
    found = {f.name: f for f in measure.functions(tmp_path)}
    assert [f.kind for f in found.values() if f.kind != "other"] == ["command", "constructor"]
    assert found["cli/fit.py: fit"].n_parameters == 2
    assert found["model.py: Model.__init__"].kind == "constructor"
    assert found["model.py: Plain.__init__"].kind == "other"
    fit = found["model.py: Model.fit"]
    assert (fit.lines, fit.code_lines, fit.n_parameters) == (8, 4, 4)
    assert found["model.py: inner"].n_parameters == 2


def test_a_fit_is_followed_down_to_the_features(measure):
    trace = measure.traced(Path(srff.__file__).parent)
    for way in (trace.to_features, trace.to_statistics):
        assert way[0][1].endswith(".fit")
        assert Path(way[-1][0]).name == "features.py"
        assert {file for file, _ in way} <= trace.files
        assert not any("comp>" in name for _, name in way)
    assert sys.getprofile() is None


@pytest.mark.slow
def test_the_script_prints_its_figures_and_refuses_another_folder(tmp_path):
    source = Path(srff.__file__).parents[1]
    run = [sys.executable, str(SCRIPT), "--source"]
    text = subprocess.run([*run, str(source)], capture_output=True, text=True, check=True).stdout
    for what in ("root entries", "longest function", "frames in", "files whose code runs"):
        assert what in text
    refused = subprocess.run([*run, str(tmp_path)], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "there is no package srff" in refused.stderr
