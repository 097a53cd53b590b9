"""Docstrings as they are written in the package, in what Sphinx takes without a warning.

In the sources a docstring is plain text for a reader of the code. Three things of it mean
something else to Sphinx: a name that ends in an underscore would be a link, a footnote would have
to be unique in its page, and three dots end the sentence that a table shows.
"""

from __future__ import annotations

import re
from typing import Any

LITERAL = re.compile(r"(``.*?``|`[^`]*`)")
UNDERSCORED = re.compile(r"(?<![\w\\`])([A-Za-z]\w*_)(?![\w`])")


def plain(line: str) -> str:
    r"""One line, with fitted attributes as code and references as numbers.

    >>> plain("ndarray of shape (n_features_in_,), as in [1]_; ``scale_``")
    'ndarray of shape (``n_features_in_``,), as in [1]; ``scale_``'
    >>> plain(".. [1] Somebody, something.")
    '1. Somebody, something.'
    """
    line = re.sub(r"^(\s*)\.\. \[(\d+)\] ", r"\1\2. ", line)
    parts = LITERAL.split(line)
    for i in range(0, len(parts), 2):  # between literals
        parts[i] = UNDERSCORED.sub(r"``\1``", re.sub(r"\[(\d+)\]_", r"[\1]", parts[i]))
    return "".join(parts)


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change a docstring's lines in place."""
    lines[:] = map(plain, lines)
    if lines:
        lines[0] = lines[0].replace("...", "\u2026")


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, after napoleon."""
    app.connect("autodoc-process-docstring", process, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
