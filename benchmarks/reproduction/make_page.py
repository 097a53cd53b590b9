"""Write docs/reproduction.md and its figure from the results of benchmarks/reproduction.

python benchmarks/reproduction/make_page.py
"""

from __future__ import annotations

import numpy as np
from readings import HERE, READINGS, key, known

from srff.reproduction.results import read
from srff.reproduction.show import draw_sparsity, markdown

DOCS = HERE.parent.parent / "docs"


def main() -> None:
    """Fill the page's text with the tables."""
    outcomes = read(HERE)
    text = (HERE / "page.md").read_text(encoding="utf-8")
    for name, table in (("{tables}", markdown(outcomes)), ("{readings}", readings())):
        assert name in text
        text = text.replace(name, table)
    (DOCS / "reproduction.md").write_text(text, encoding="utf-8")
    draw_sparsity(outcomes, DOCS / "sparsity.svg")


def readings() -> str:
    """The two readings of the paper's protocol on RCP, as a table."""
    lines = ["| RCP | RFF | SRFF |", "|---|---|---|", "| paper | 8.194 (0.635) | 2.516 (0.184) |"]
    for reading in READINGS:
        cells = [cell(key(reading, method)) for method in ("RFF", "SRFF")]
        how = "centred" if reading.centred else "not centred, no intercept"
        draws = "fresh draws" if reading.fresh else "one draw"
        lines.append(f"| sigma {reading.sigma}, target {how}, {draws} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(wanted: tuple[str, ...]) -> str:
    """Mean, standard deviation and number of the errors of one reading and method."""
    errors = [error for (line, _), error in known().items() if line == wanted]
    if not errors:
        return "-"
    if len(errors) == 1:
        return f"{errors[0]:.3f} (1)"
    return f"{np.mean(errors):.3f} ({np.std(errors, ddof=1):.3f}; {len(errors)})"


if __name__ == "__main__":
    main()
