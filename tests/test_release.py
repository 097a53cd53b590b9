"""What a release is made of: one version everywhere, bounds that are tried, and workflows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import srff
from srff._utils.show_versions import OPTIONAL, REQUIRED

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXTRAS = ("gpu", "baselines", "data", "dask", "onnx", "plot")
"""The extras that users install; the others are for tests and benchmarks."""


@pytest.fixture(scope="module")
def project():
    """What ``pyproject.toml`` says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def bounds(requirements):
    """The lower bound of each package; extras of srff itself are none."""
    pattern = re.compile(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)")
    found = [pattern.fullmatch(r) for r in requirements if not r.startswith("srff[")]
    return {match[1]: match[2] for match in found}


def of_extras(project):
    return [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]


def test_the_version_is_the_same_wherever_it_is_written():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {srff.__version__}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == srff.__version__


def test_the_oldest_versions_that_are_tried_are_the_lower_bounds(project):
    lines = (ROOT / "constraints-oldest.txt").read_text("utf-8").splitlines()
    tried = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert tried == bounds(project["dependencies"]) | bounds(of_extras(project))


def test_the_versions_of_all_that_is_used_are_shown(project):
    assert set(REQUIRED) == set(bounds(project["dependencies"]))
    assert set(OPTIONAL) >= set(bounds(of_extras(project)))


def test_versions_are_those_of_the_modules_and_what_is_not_there_is_absent(monkeypatch, capsys):
    import numpy
    import sklearn

    monkeypatch.setattr("srff._utils.show_versions.OPTIONAL", ("no-such-package",))
    srff.show_versions()
    shown = capsys.readouterr().out
    assert shown.startswith(f"srff {srff.__version__}\n")
    lines = dict(line.split(maxsplit=1) for line in shown.splitlines() if line.startswith("  "))
    assert lines["numpy"] == numpy.__version__
    assert lines["scikit-learn"] == sklearn.__version__
    assert lines["no-such-package"] == "absent"
    assert re.search(r"\d+ threads?, \S+$", lines["blas"])


def test_versions_say_nothing_of_where_the_package_is(capsys):
    srff.show_versions()
    shown = capsys.readouterr().out
    assert str(Path.home()) not in shown
    assert str(ROOT) not in shown


@pytest.fixture(scope="module")
def workflows():
    """The workflows by their names; dask brings the parser."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (extra: dask)")
    return {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOWS}


def test_the_workflows_try_every_python_that_the_package_names(project, workflows):
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if ":: Python :: 3." in c]
    assert workflows["tests"]["jobs"]["tests"]["strategy"]["matrix"]["python-version"] == named
    assert project["requires-python"] == f">={named[0]}"


def test_what_the_workflows_run_is_there(workflows):
    made = (ROOT / "Makefile").read_text("utf-8")
    steps = [
        step
        for workflow in workflows.values()
        for job in workflow["jobs"].values()
        for step in job.get("steps", [])
    ]
    commands = "\n".join(step["run"] for step in steps if "run" in step)
    targets = set(re.findall(r"\bmake ([\w-]+)", commands))
    assert targets >= {"test", "lint", "docs", "dist-check"}
    assert all(re.search(rf"^{target}:", made, re.MULTILINE) for target in targets)
    files = set(re.findall(r"install -c (\S+)", commands))
    assert "constraints-oldest.txt" in files
    assert all((ROOT / file).exists() for file in files)


def test_only_the_job_that_publishes_may_ask_for_an_identity(workflows):
    asking = {
        (name, job)
        for name, workflow in workflows.items()
        for job, settings in workflow["jobs"].items()
        if settings.get("permissions", workflow["permissions"]).get("id-token")
    }
    assert asking == {("release", "publish")}
    publish = workflows["release"]["jobs"]["publish"]
    assert publish["environment"]
    assert set(publish["needs"]) == {"tests", "build"}
