"""Pages that show what their code prints and draws: run again, and compared or written anew.

    python tests/page_output.py docs/start.md

A block of ``output`` after a block of Python is what that code prints; one before all code repeats
the first that is printed.  The pictures of a page are what its code shows, in that order.  The
command writes both anew, in place.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType
from typing import Any

CODE = re.compile(r"(<!-- not run: [^>]+ -->\s+)?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"^```output\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+\.svg)\)")
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Block:
    """A block of code that is run, and what stands between it and the next one."""

    code: str
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """The blocks of a page; ``start`` and ``end`` are the ends of what follows the code."""
    found = [m for m in CODE.finditer(text) if not m[1]]
    ends = [m.start() for m in found[1:]] + [len(text)] * bool(found)
    return [Block(m[2], m.end(), end) for m, end in zip(found, ends, strict=True)]


def shown(text: str) -> list[str]:
    """What the page says that each block prints, nothing where it says nothing."""
    outputs = [OUTPUT.search(text, block.start, block.end) for block in blocks(text)]
    return [m[1] if m else "" for m in outputs]


def first_shown(text: str) -> re.Match[str] | None:
    """An output before all code."""
    return OUTPUT.search(text, 0, next(m.start() for m in CODE.finditer(text)))


@contextlib.contextmanager
def drawing_to(figures: list[Any]) -> Iterator[None]:
    """Figures are collected where a reader would see them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def show() -> None:
        figures.extend(plt.figure(number) for number in plt.get_fignums())
        plt.close("all")

    real, plt.show = plt.show, show
    with plt.rc_context({"svg.hashsalt": "srff", "svg.fonttype": "path"}):
        try:
            yield
        finally:
            plt.show = real
            plt.close("all")


def run(text: str, name: str = "page") -> Iterator[tuple[Block, str, list[Any]]]:
    """Run the blocks of a page one after the other: what each prints and draws."""
    module = ModuleType(name)
    sys.modules[name] = module  # where a class of the page looks itself up
    figures: list[Any] = []
    with drawing_to(figures), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks(text):
            figures.clear()
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, name, "exec", dont_inherit=True), vars(module))
            lines = [line.rstrip() for line in printed.getvalue().splitlines()]
            yield block, "".join(f"{line}\n" for line in lines), list(figures)


def differences(expected: str, printed: str, tolerance: float = 0.05) -> list[str]:
    """Lines that differ in a word, or in a number by more than the tolerance.

    >>> differences("error 1.00 of x2", "error 1.01 of x2")
    []
    >>> differences("error 1.00 of x2", "error 1.01 of x3")
    ['error 1.01 of x3']
    """
    old, new = expected.splitlines(), printed.splitlines()
    if len(old) != len(new):
        return [f"{len(new)} lines in place of {len(old)}", *new]
    return [b for a, b in zip(old, new, strict=True) if not alike(a, b, tolerance)]


def share_alike(expected: str, printed: str) -> float:
    """The share of the words, numbers left out, that both have in the same order.

    >>> share_alike("3 of 10 are: bmi, s5", "4 of 10 are: bmi, s3, s5")
    0.888...
    """
    one, two = (
        [word for word in text.split() if not NUMBER.fullmatch(word.strip("(),;:%[]"))]
        for text in (expected, printed)
    )
    return SequenceMatcher(None, one, two, autojunk=False).ratio()


def alike(first: str, second: str, tolerance: float) -> bool:
    """Whether two lines have the same words, names with digits too, and nearly the same numbers."""
    one, two = first.split(), second.split()
    return len(one) == len(two) and all(
        a == b or close(a, b, tolerance) for a, b in zip(one, two, strict=True)
    )


def close(first: str, second: str, tolerance: float) -> bool:
    """Whether two words are numbers, with the same marks around them, that are nearly the same."""
    found = [NUMBER.fullmatch(word.strip("(),;:%[]")) for word in (first, second)]
    if not all(found):
        return False
    a, b = (float(m[0].replace(",", "")) for m in found if m)
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=0.02)


def rewrite(page: Path) -> None:
    """Write what the code of a page prints and draws into it."""
    text = page.read_text("utf-8")
    pictures = iter(dict.fromkeys(PICTURE.findall(text)))
    places = []
    for block, printed, figures in run(text):
        for figure, name in zip(figures, pictures, strict=False):
            figure.savefig(page.parent / name, metadata={"Date": None}, bbox_inches="tight")
        if place := OUTPUT.search(text, block.start, block.end):
            places.append((place.span(1), printed))
    if repeated := first_shown(text):
        places.insert(0, (repeated.span(1), places[0][1]))
    pieces, last = [], 0
    for (start, end), printed in places:
        pieces += [text[last:start], printed]
        last = end
    page.write_text("".join(pieces) + text[last:], "utf-8")


if __name__ == "__main__":
    for path in [Path(given).resolve() for given in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            rewrite(path)
