"""The constants of the default fit: all are in one place, each has a reason and a use."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import srff
from srff import SRFFRegressor
from srff.estimators.selector import SelectingModel
from srff.selection.config import CONFIG, Config, ScreenConfig

SOURCE = Path(srff.__file__).parent
PROGRESS = {("search", "SHARES"), ("search", "USUAL")}
"""Numbers that say how far along a fit is, and nothing else."""


def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


def constants(tree):
    """The names that a module or a class of it gives to numbers."""
    for scope in ast.walk(tree):
        if isinstance(scope, ast.Module | ast.ClassDef):
            for node in scope.body:
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    parts = [p for p in ast.walk(node.value) if isinstance(p, ast.Constant)]
                    if any(type(part.value) in (int, float) for part in parts):
                        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                        yield target.id


def test_no_step_has_a_number_of_its_own():
    found = {
        (path.stem, name)
        for path in (SOURCE / "selection").glob("*.py")
        if path.stem != "config"
        for name in constants(tree_of(path))
    }
    assert found == PROGRESS


@pytest.mark.parametrize("kind", [Config, ScreenConfig])
def test_every_constant_has_a_reason_and_a_use(kind):
    tree = tree_of(SOURCE / "selection" / "config.py")
    (body,) = [node.body for node in tree.body if getattr(node, "name", "") == kind.__name__]
    told = {
        one.target.id
        for one, other in pairwise(body)
        if isinstance(one, ast.AnnAssign)
        and isinstance(other, ast.Expr)
        and isinstance(other.value, ast.Constant)
    }
    names = {field.name for field in fields(kind)} - {"screen"}  # a config of its own
    assert names == told
    steps = [p for room in ("selection", "estimators") for p in (SOURCE / room).glob("*.py")]
    used = {
        node.attr
        for path in steps
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    assert names <= used


def test_an_estimator_takes_other_constants(monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((120, 4))
    settings = {"n_components": 20, "max_iter": 2, "refine": "frequencies"}
    settings |= {"random_state": 0, "validation": 0.2}
    counts = []
    for members in (CONFIG.free_members, 3):
        config = replace(CONFIG, free_members=members)
        monkeypatch.setattr(SelectingModel, "selection_config", config)
        model = SRFFRegressor(**settings).fit(X, np.sin(2 * X[:, 0]))
        assert model.offsets_.size in (20, 20 * members)
        assert model.path_["kind"].tolist().count("frequencies") == 2
        counts.append(model.n_evaluations_)
    assert counts[0] < counts[1]  # one more draw was learned
