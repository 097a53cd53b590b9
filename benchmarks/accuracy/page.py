"""Write docs/accuracy.md and its two figures from the results file.

python benchmarks/accuracy/page.py --results benchmarks/accuracy/results.csv --docs docs
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from figures import draw_figures
from methods import METHODS
from problem import Problem
from problems import PROBLEMS
from run import HERE, read
from tables import (
    Line,
    by_cell,
    error_table,
    pair_table,
    real_table,
    selection_table,
    summary_table,
    table,
)

FAMILIES = {
    "paper": "The paper's synthetic problems",
    "other": "Other functions",
    "real": "Real data",
}
TEXT = """# Error and variable selection beside other methods

By default settings srff has the lowest test error on most of these problems, and where the truth is
known it mostly selects exactly the right variables and hardly ever a false one. Boosted trees are
better where a function has steps, and on some real tables; LightGBM and the lasso take less time.
Measured with an earlier default, before its search was cut to a fifth of the time and before folds
judged: what that changed is in `benchmarks/ablation/README.md` and `benchmarks/judge/README.md`.

{summary}

Best on: problems where the mean test error is the lowest. Error left: (error - floor) / (error of
the mean predictor - floor), the floor taken as zero where it is not known; the median over
problems. Found, false: mean share of the relevant variables that were selected, and mean number of
irrelevant ones selected, where the truth is known. Seconds: median of a fit, its search included.
A method counts where it gave a result; the number of such problems is in the second column.

![Error against time](accuracy-time.svg)

![Relevant against irrelevant variables selected](accuracy-selection.svg)

## On the same draws

The number of seeds differs between methods, so here is each beside srff on the draws that both
finished: how often srff has the lower test error, and the median of the method's error over srff's.

{pairs}

## Error

Test RMSE, mean ± standard error over seeds; the lowest mean is bold. The floor is the smallest
possible error; "mean" predicts the mean of the training target.

{errors}

## Variables selected, where the truth is known

Seeds with exactly the right set (mean number of relevant variables found, mean number of irrelevant
ones selected). Copies of one variable count once. LightGBM, XGBoost and xRFM do not drop variables:
theirs are those of more than mean importance.

{selections}

## Variables selected, real data

Mean number of variables selected. For `appliances`, in brackets: mean number of its two noise
inputs (rv1, rv2) among them.

{real}

## The problems

{problems}

## How it was measured

Written by `benchmarks/accuracy/page.py` from `benchmarks/accuracy/results.csv`, which holds every
single fit with its settings, seconds and selected columns. How the methods are fitted is in
`benchmarks/accuracy/README.md`.

{facts}
"""


def facts(lines: Sequence[Line], runs: Sequence[dict[str, Any]]) -> str:
    """Machine, versions and command, from the records of the runs."""
    versions: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for name, version in line.versions.items():
            versions[name].add(version)
    shown = ", ".join(f"{name} {' and '.join(sorted(v))}" for name, v in sorted(versions.items()))
    machines = list(dict.fromkeys(run["machine"] for run in runs)) or ["not recorded"]
    commands = list(dict.fromkeys(run["command"] for run in runs))
    on_gpu = sorted({line.method for line in lines if line.device.startswith("cuda")})
    items = [f"Machine: {'; '.join(machines)}"]
    if on_gpu:
        items.append(f"On the GPU: {', '.join(on_gpu)}; the others on the CPU")
    items += [f"Versions: {shown}", *(f"Command: `{command}`" for command in commands)]
    items.append(f"Fits: {len(lines)}, {sum(line.status == 'ok' for line in lines)} ended well")
    return "\n".join(f"- {item}" for item in items)


def write(results: Path, docs: Path) -> None:
    """Write the page and its figures."""
    lines = [line for row in read(results) if (line := Line.of(row)).problem in PROBLEMS]
    if not lines:
        raise SystemExit(f"{results} has no results.")
    record = results.with_suffix(".json")
    runs = json.loads(record.read_text(encoding="utf-8")) if record.exists() else []
    cells = by_cell(lines)
    seen = {problem for problem, _ in cells}
    problems = [p for p in PROBLEMS.values() if p.name in seen]
    methods = [m for m in METHODS if m != "mean" and any(m == key[1] for key in cells)]
    families = {
        title: [p for p in problems if p.family == family] for family, title in FAMILIES.items()
    }
    families = {title: some for title, some in families.items() if some}
    known_truth = {t: s for t, some in families.items() if (s := [p for p in some if _truth(p)])}
    real = [p for p in problems if not _truth(p)]
    docs.mkdir(parents=True, exist_ok=True)
    draw_figures(cells, problems, methods, docs)
    text = TEXT.format(
        facts=facts(lines, runs),
        summary=summary_table(cells, problems, methods),
        pairs=pair_table(cells, problems, methods),
        errors=sections(families, lambda some: error_table(cells, some, methods)),
        selections=sections(known_truth, lambda some: selection_table(cells, some, methods)),
        real=real_table(cells, real, methods) if real else "No results.",
        problems=table(
            ("name", "rows", "inputs", "what it is"),
            [
                (f"`{p.name}`", f"{p.n_train:,}", f"{p.n_features:,}", _escaped(p.formula))
                for p in problems
            ],
        ),
    )
    (docs / "accuracy.md").write_text(text, encoding="utf-8")


def sections(families: dict[str, list[Problem]], body: Callable[[Sequence[Problem]], str]) -> str:
    """A heading and a table for each family."""
    return "\n\n".join(f"### {title}\n\n{body(some)}" for title, some in families.items())


def _truth(problem: Problem) -> bool:
    return problem.groups is not None


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def main(
    argv: Sequence[str] | None = None,
    written: Callable[[Path, Path], None] = write,
    folder: Path = HERE,
) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a page and its figures from the results.")
    parser.add_argument("--results", type=Path, default=folder / "results.csv")
    parser.add_argument("--docs", type=Path, default=folder.parents[1] / "docs")
    options = parser.parse_args(argv)
    written(options.results, options.docs)


if __name__ == "__main__":
    main()
