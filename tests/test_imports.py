"""What importing the package loads, what it offers, and which way its rooms look."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import srff

SOURCE = Path(srff.__file__).parent
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


@pytest.mark.parametrize("door", ["baselines", "datasets", "kernels", "losses", "plot"])
def test_a_public_module_offers_what_pages_import_from_it(door):
    pages = [SOURCE.parents[1] / "README.md", *(SOURCE.parents[1] / "docs").rglob("*.md")]
    lines = "\n".join(page.read_text("utf-8") for page in pages)
    names = re.findall(rf"^from srff\.{door} import (.+)$", lines, re.MULTILINE)
    told = {name.strip() for line in names for name in line.split(",")}
    assert told <= set(import_module(f"srff.{door}").__all__)


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


BEFORE = {
    "_utils": (),
    "core": ("_utils",),
    "data": ("_utils", "core"),
    "paper": ("_utils", "core", "data"),
    "selection": ("_utils", "core", "data"),
    "inspect": ("_utils", "core", "data"),
    "estimators": ("_utils", "core", "data", "paper", "selection", "inspect"),
}
BEFORE["inference"] = (*BEFORE["estimators"], "estimators")
BEFORE["export"] = BEFORE["reproduction"] = (*BEFORE["inference"], "inference")
BEFORE["cli"] = (*BEFORE["export"], "export", "reproduction")
"""The rooms that each room may ask, beside itself."""


def imported(path):
    """The modules of the package that a file imports anywhere, late imports among them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports hide where a name comes from"
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "srff")


def test_the_rooms_look_one_way():
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(BEFORE)
    wrong = set()
    for room, before in BEFORE.items():
        for path in (SOURCE / room).rglob("*.py"):
            module = ".".join(("srff", *path.relative_to(SOURCE).with_suffix("").parts))
            for name in imported(path):
                other = name.split(".")[1] if "." in name else "srff"
                if other not in (room, *before):
                    wrong.add((module.removesuffix(".__init__"), name))
    assert wrong == set()
