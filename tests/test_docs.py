"""The documentation: its code runs, its pages are reached, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import page_output
import srff
from srff.estimators.selector import SelectingModel
from srff.inspect.sureness import sureness

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
MADE = {"gallery", "api", "_build"}
"""Folders of ``docs`` that the build makes."""

PAGES = sorted(
    path
    for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]
    if not {*MADE, "_templates"} & set(path.relative_to(DOCS).parts[:-1])
)
WITH_CODE = ["index", "start", *(f"guide/{p.stem}" for p in sorted(DOCS.glob("guide/*.md")))]
"""Pages whose code is run here; that of ``extending`` has tests of its own."""

LONG = {"guide/confidence", "guide/losses"}
"""Pages whose code takes several seconds."""

SHOWING = ["index", "start", "guide/stability", "guide/coming_from", "genes"]
"""Pages that show what their code prints."""

STEADY = {"index", "start"}
"""Of these the words are the same on any machine; where few rows choose, the last digits of its
linear algebra may choose other columns."""

GENES = Path(os.environ.get("SRFF_DATA", "absent")) / "gene_colon.parquet"

TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def code_of(page: str) -> list[str]:
    """The Python blocks of a page that are meant to run."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    return [block.code for block in page_output.blocks(text)]


def children(page: Path) -> list[str]:
    """What the tables of contents of a Markdown page name."""
    lines = [line for tree in TREE.findall(page.read_text("utf-8")) for line in tree.splitlines()]
    entries = [line.strip() for line in lines if line.strip() and not line.startswith(":")]
    here = page.relative_to(DOCS).parent
    return [e[1:] if e.startswith("/") else (here / e).as_posix() for e in entries]


def anchors(page: Path) -> set[str]:
    """The headings of a Markdown page as the ends of addresses."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def source_of(made: Path) -> Path:
    """What a page of the gallery is made from."""
    if not made.is_relative_to(DOCS / "gallery"):
        return made
    source = EXAMPLES / made.relative_to(DOCS / "gallery")
    return source.with_name("README.txt") if made.stem == "index" else source.with_suffix(".py")


@pytest.fixture
def short_fits(monkeypatch, configure):
    """Fits of few iterations, by default on few rows; what they find is not looked at."""
    search = SelectingModel._search

    def short(self, problem, report):
        given, self.max_iter = self.max_iter, 2
        try:
            return search(self, problem, report)
        finally:
            self.max_iter = given

    monkeypatch.setattr(SelectingModel, "_search", short)
    monkeypatch.setattr("srff.data.problem.N_COMPONENTS", (20, 20))
    configure(
        wide_features=30,
        free_features=30,
        first_alphas=(1e-2, 1e-3),
        search_rows=300,
        refine_rows=300,
    )


@pytest.fixture
def drawing(monkeypatch, tmp_path):
    """A folder of its own to work in, and figures that need no screen."""
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed (plot)")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    monkeypatch.chdir(tmp_path)
    with plt.rc_context({"backend": "Agg", "figure.max_open_warning": 0}):
        yield
    plt.close("all")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page in LONG else [])
        for page in WITH_CODE
        if code_of(page)
    ],
)
def test_the_code_of_a_page_runs(page, short_fits, drawing, monkeypatch):
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where a class of the page looks itself up
    code = compile("\n".join(code_of(page)), f"{page}.md", "exec", dont_inherit=True)
    exec(code, vars(module))


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(EXAMPLES.rglob("plot_*.py")), ids=lambda p: p.stem)
def test_an_example_of_the_gallery_runs(script, short_fits, drawing):
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWING)
def test_a_page_shows_what_its_code_prints(page, drawing):
    if page == "genes" and not GENES.exists():
        pytest.skip("no gene_colon.parquet in SRFF_DATA")
    text = (DOCS / f"{page}.md").read_text("utf-8")
    printed = [printed for _, printed, _ in page_output.run(text)]
    for expected, found in zip(page_output.shown(text), printed, strict=True):
        if expected and page in STEADY:
            assert not page_output.differences(expected, found)
        elif expected:
            assert page_output.share_alike(expected, found) > 0.5
    if repeated := page_output.first_shown(text):
        assert repeated[1] == next(filter(None, page_output.shown(text)))


@pytest.mark.slow
def test_what_the_tutorial_says_of_diabetes(drawing):
    told = runpy.run_path(str(EXAMPLES / "tutorials" / "plot_1_diabetes.py"))
    model, found, names = told["model"], told["found"], told["X"].columns
    assert {"bmi", "s5"} <= set(found.confirmed) <= {"bmi", "bp", "s5", "sex", "s3"}
    assert {"bmi", "s5"} <= set(model.get_feature_names_out())
    assert list(names[np.argsort(-model.importances_)][:2]) == ["bmi", "s5"]
    assert not model.stand_ins_["column"].size
    assert model.constant_error_ == pytest.approx(77, abs=0.5)
    assert model.expected_error_ == pytest.approx(53, abs=1)
    error, spread = model.reference_errors_["ridge"]
    assert model.expected_error_ < error < model.expected_error_ + 2 * spread
    assert error < model.reference_errors_["boosted trees"][0]


@pytest.mark.slow
def test_what_the_tutorial_says_of_breast_cancer(drawing):
    told = runpy.run_path(str(EXAMPLES / "tutorials" / "plot_2_breast_cancer.py"))
    model, found = told["model"], told["found"]
    words = sureness(model)
    assert np.sum(words == "maybe") > np.sum(words == "sure")
    assert np.nanmax(model.importances_) < 0.05
    assert model.stand_ins_["column"].size > 1
    assert 0 < len(found.confirmed) < len(found.names)
    losses = told["losses"]
    assert np.sort(losses)[-3:].sum() > losses.sum() / 3


def test_every_page_is_in_a_table_of_contents():
    named = {child for page in PAGES if page.suffix == ".md" for child in children(page)}
    assert {name_of(page) for page in PAGES} - named == {"index"}
    assert named - {name_of(page) for page in PAGES} == {"gallery/index"}


@pytest.mark.parametrize("page", [p for p in PAGES if p.suffix == ".md"], ids=name_of)
def test_links_between_pages_lead_to_a_page_and_a_heading_of_it(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists() or source_of(other).exists(), target
        if heading:
            assert heading in anchors(other), target


def test_the_reference_lists_every_public_name():
    reference = (DOCS / "api.rst").read_text("utf-8")
    for name in set(srff.__all__) - {"__version__"}:
        listed = rf"^(   |\.\. automodule:: srff\.){name}$"
        assert re.search(listed, reference, re.MULTILINE), name


def test_every_promise_has_its_test():
    promised = re.findall(
        r"`(test_\w+\.py)::(test_\w+)`", (DOCS / "guide/limits.md").read_text("utf-8")
    )
    assert len(promised) > 20
    for file, name in promised:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), f"{file}::{name}"


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_asks_nothing_of_the_network(tmp_path):
    for module, package in (
        ("sphinx", "Sphinx"),
        ("myst_parser", "myst-parser"),
        ("sphinx_gallery", "sphinx-gallery"),
        ("pydata_sphinx_theme", "pydata-sphinx-theme"),
    ):
        pytest.importorskip(module, reason=f"{package} is not installed (extra: docs)")
    ignored = shutil.ignore_patterns(*MADE)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=ignored)
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shown = Path("src", "srff", "paper", "reference.py")  # by the page on the method
    (tmp_path / shown).parent.mkdir(parents=True)
    shutil.copy(DOCS.parent / shown, tmp_path / shown)
    site = tmp_path / "site"
    # The examples are run by a test of their own.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    built = subprocess.run(
        [*command, "-b", "html", str(tmp_path / "docs"), str(site)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    loaded = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"(https?:)?//")
    for page in site.rglob("*.html"):
        assert not loaded.search(page.read_text("utf-8")), page
