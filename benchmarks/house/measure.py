"""Measure how the package is built: its size, its longest pieces, and how deep one fit goes.

    python benchmarks/house/measure.py [--source src]

``--source`` is the folder that holds ``srff``, of this or of another checkout.
"""

from __future__ import annotations

import argparse
import ast
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
FEATURES = "features.py"
STATISTICS = {"statistics", "statistics_of_each"}

Frame = tuple[str, str]
"""A file and the function that runs in it."""


@dataclass(frozen=True)
class Function:
    """A function of the source: where it is, how long, and what it takes."""

    name: str
    lines: int
    code_lines: int
    """Without its docstring."""
    n_parameters: int
    kind: str
    """"constructor" of an estimator, "command" of the shell, or "other"."""


def functions(package: Path) -> list[Function]:
    """All functions and methods of a package."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))}
    classes = [n for t in trees.values() for n in ast.walk(t) if isinstance(n, ast.ClassDef)]
    estimators = descendants({c.name: {_last_name(b) for b in c.bases} for c in classes})
    found = []
    for path, tree in trees.items():
        for owner, node in _functions_in(tree, ""):
            kind = "other"
            if node.name == "__init__" and owner in estimators:
                kind = "constructor"
            elif path.parent.name == "cli" and node.name == path.stem:
                kind = "command"
            name = f"{path.relative_to(package)}: {owner}{'.' * bool(owner)}{node.name}"
            lines = _length(node)
            text = node.body[0] if ast.get_docstring(node) else None
            code_lines = lines - (_length(text) if text else 0)
            found.append(Function(name, lines, code_lines, _count_parameters(node, owner), kind))
    return found


def descendants(bases: dict[str, set[str]], root: str = "BaseEstimator") -> set[str]:
    """The classes that stand on scikit-learn's estimators, by the names of their bases."""
    known = {root}
    while more := {name for name, of in bases.items() if of & known} - known:
        known |= more
    return known


def _functions_in(
    tree: ast.AST, owner: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions with the name of the class that they are in, if any."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner, node
            yield from _functions_in(node, "")
        else:
            yield from _functions_in(node, node.name if isinstance(node, ast.ClassDef) else owner)


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _count_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> int:
    """Parameters but for ``self`` and ``cls``."""
    given = node.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [a.arg for a in (given.vararg, given.kwarg) if a is not None]
    return len(names) - bool(owner and names and names[0] in ("self", "cls"))


@dataclass
class Trace:
    """What of a package runs: the files, and the first ways to the features and their sums."""

    package: str
    files: set[str] = field(default_factory=set)
    to_features: list[Frame] = field(default_factory=list)
    to_statistics: list[Frame] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take a call, as :func:`sys.setprofile` reports it."""
        place = self._place(frame) if event == "call" else None
        if place is None:
            return
        self.files.add(place[0])
        if Path(place[0]).name != FEATURES:
            return
        if not self.to_features:
            self.to_features = self._way(frame)
        if not self.to_statistics and place[1] in STATISTICS:
            self.to_statistics = self._way(frame)

    def _place(self, frame: FrameType) -> Frame | None:
        """The file and function of a frame of the package; None of others and comprehensions."""
        code = frame.f_code
        if not code.co_filename.startswith(self.package) or code.co_name in COMPREHENSIONS:
            return None
        return code.co_filename.removeprefix(self.package), code.co_qualname

    def _way(self, frame: FrameType | None) -> list[Frame]:
        """The frames of the package from the first to this one."""
        way = []
        while frame is not None:
            place = self._place(frame)
            if place is not None:
                way.append(place)
            frame = frame.f_back
        return way[::-1]


def traced(package: Path) -> Trace:
    """A small fit: the second of two, so that no import is counted."""
    import numpy as np

    from srff import SRFFRegressor

    X = np.random.RandomState(0).normal(size=(300, 4))
    y = X[:, 0] * X[:, 1]
    trace = Trace(f"{package}/")
    model = SRFFRegressor(random_state=0, n_components=20, max_iter=2, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        sys.setprofile(trace)
        try:
            model.fit(X, y)
        finally:
            sys.setprofile(None)
    return trace


def show_source(package: Path) -> None:
    """Print what the source is like."""
    entries = sorted(p.name for p in package.iterdir() if not p.name.startswith("__pycache__"))
    files = sorted(package.rglob("*.py"))
    n_lines = {path: len(path.read_text("utf-8").splitlines()) for path in files}
    longest = max(files, key=n_lines.__getitem__)
    print(f"root entries: {len(entries)} ({', '.join(entries)})")
    print(f"Python files: {len(files)}, lines: {sum(n_lines.values()):,}")
    print(f"longest file: {n_lines[longest]} lines, {longest.relative_to(package)}")
    every = functions(package)
    plain = [f for f in every if f.kind == "other"]
    _show_longest("longest function", plain, lambda f: f.lines, "lines")
    _show_longest("longest without its docstring", plain, lambda f: f.code_lines, "lines")
    _show_longest("longest parameter list", plain, lambda f: f.n_parameters, "parameters")
    print(f"functions over 60 lines: {sum(f.lines > 60 for f in plain)}", end="; ")
    print(f"over 8 parameters: {sum(f.n_parameters > 8 for f in plain)}")
    for kind in ("constructor", "command"):
        some = [f for f in every if f.kind == kind]
        _show_longest(f"longest {kind}", some, lambda f: f.lines, "lines")
        _show_longest(f"{kind} of most parameters", some, lambda f: f.n_parameters, "parameters")


def _show_longest(
    what: str, some: list[Function], size: Callable[[Function], int], unit: str
) -> None:
    if some:
        longest = max(some, key=size)
        print(f"{what}: {size(longest)} {unit}, {longest.name}")


def show_fit(trace: Trace) -> None:
    """Print how deep a fit goes and what it touches."""
    ways = {"the features": trace.to_features, "their statistics": trace.to_statistics}
    for what, way in ways.items():
        n_files = len({file for file, _ in way})
        print(f"from fit to the first call of {what}: {len(way)} frames in {n_files} files")
        for file, name in way:
            print(f"    {file}: {name}")
    print(f"files whose code runs in a fit: {len(trace.files)} ({', '.join(sorted(trace.files))})")


def main() -> None:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--source", type=Path, default=HERE.parents[1] / "src")
    source = parser.parse_args().source.resolve()
    if not (source / "srff" / "__init__.py").is_file():
        raise SystemExit(f"--source {source}: there is no package srff; give the folder it is in.")
    sys.path.insert(0, str(source))
    show_source(source / "srff")
    show_fit(traced(source / "srff"))


if __name__ == "__main__":
    main()
