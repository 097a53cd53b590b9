"""Names in the documents are names in the code: pages, docstrings, and the contributor's map."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "srff"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts),
]
OBJECTS = {"model", "engine", "problem", "found", "state", "torch", "dask", "ai"}
"""What a page calls an object at hand, or another package."""

DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)`")
FILE = re.compile(r"\.(py|md|csv|json|html|srff|cff|txt|toml|svg|parquet|onnx|yml)$")


def resolves(name: str) -> bool:
    """Whether a dotted name, with or without ``srff.`` before it, is in the package."""
    parts = name.removeprefix("srff.").split(".")
    for size in range(len(parts), -1, -1):
        module = ".".join(["srff", *parts[:size]])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            fields = getattr(found, "__dataclass_fields__", {})
            if not hasattr(found, part) and part not in fields:
                return False
            found = getattr(found, part, None)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_dotted_name_of_a_page_is_in_the_package(page):
    names = set(DOTTED.findall(page.read_text("utf-8")))
    own = {n for n in names if not FILE.search(n) and n.partition(".")[0] not in OBJECTS}
    assert not sorted(name for name in own if not resolves(name))


def test_a_name_that_is_nowhere_does_not_resolve():
    assert resolves("core.features.random_features")
    assert not resolves("core.features.random_fourier")
    assert not resolves("selection.compare.smallest")


ROLE = re.compile(r":(?:mod|func|class|meth|attr):`~?(srff\.[\w.]+)`")


def docstrings() -> list[tuple[str, str]]:
    """The module and the text of every docstring of the package."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        where = path.relative_to(SOURCE).as_posix()
        found += [(where, text) for text in texts if isinstance(text, str)]
    return found


def test_a_reference_in_a_docstring_leads_somewhere():
    named = {(where, name) for where, text in docstrings() for name in ROLE.findall(text)}
    assert len(named) > 20
    assert not sorted(pair for pair in named if not resolves(pair[1]))


def test_the_contributors_map_names_every_module_and_no_other():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    named = {name for line in lines for name in re.findall(r"`([\w/]+\.py)`", line)}
    files = {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py")}
    files = {f for f in files if not f.endswith("__init__.py")}
    assert files - named == set()
    assert named - files == set()
