"""Write docs/reproduction.md and its figure from benchmarks/reproduction/results.csv.

python benchmarks/reproduction/make_page.py
"""

from __future__ import annotations

from pathlib import Path

from srff.reproduction.results import read
from srff.reproduction.show import draw_sparsity, markdown

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"


def main() -> None:
    """Fill the page's text with the tables."""
    outcomes = read(HERE)
    text = (HERE / "page.md").read_text(encoding="utf-8")
    assert "{tables}" in text
    (DOCS / "reproduction.md").write_text(
        text.replace("{tables}", markdown(outcomes)), encoding="utf-8"
    )
    draw_sparsity(outcomes, DOCS / "sparsity.svg")


if __name__ == "__main__":
    main()
