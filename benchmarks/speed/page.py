"""Write docs/speed.md and its figures from the results file.

python benchmarks/speed/page.py --results benchmarks/speed/results.csv --docs docs
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from beside import beside_table
from common import HERE, read
from figures import draw_growth, draw_profile
from tables import (
    DISTURBED,
    FIT_HEAD,
    Row,
    equivalence_table,
    fit_line,
    good,
    growth_table,
    import_table,
    pass_table,
    peer_table,
    place,
    precision_table,
    prediction_table,
    profile_table,
    stage_table,
    table,
    value,
)
from targets import target_lines

TEXT = """# How fast it is, and how that grows

Written by `benchmarks/speed/page.py` from `benchmarks/speed/results.csv`. How each figure is taken
is in `benchmarks/speed/README.md`.

{facts}

## Targets

{targets}

## Beside a search of LightGBM

What a user would do instead: eight settings of LightGBM with early stopping on a fifth of the rows,
and a refit of the best on all; one thread each, no validation set given, the same draws:
`python benchmarks/ablation/run.py --variant srff: --variant 'lightgbm: boosted=True'`. Seconds are
geometric means over draws. Error: srff's over LightGBM's (RMSE, or log loss of classes). `rcp`,
`rel`, `casp`, `kin40k`, `appliances` and `higgs` are real tables of 6,000 to 10,000 rows. The cells
of the 16 cores, one fit a core, four draws, were taken before the last constants were chosen, which
cost and save about a tenth each; on the 2 cores, one draw, other work ran beside. All were taken
before folds judged: with them a fit of up to 6,000 rows takes about 1.8 times as long on one core.

{beside}

Where LightGBM finds nothing to learn it stops at once, and is far faster: noise, SE1, joint waves,
the product of three signs. How fast it is beside srff depends on the machine and what else runs
there: in another run on the 2 cores, with tests beside, the synthetic problems took 2.0 times as
long.

The sections below were measured before the search was cut to a fifth of its time.

## One pass beside its bare operations

Seconds of one pass over the rows, and over the seconds of the matrix products, cosines and sines
alone, on blocks of the same size and the same threads, run in turn; the shortest of five each.

{passes}

## A whole fit as rows, inputs and features grow

`SRFFRegressor(random_state=0)` on a function of five variables with noise, float32 input, each fit
in a process of its own. Memory is the peak over that of the process with rows and packages. Passes
that read all training rows; in brackets the rows read by all passes, as a multiple of the training
rows. Error: RMSE against the function without its noise, of standard deviation 0.3; the function's
own is about 1.0.

![Seconds of a fit against rows, inputs and features](speed-growth.svg)

A hollow point is a fit that other work on the machine disturbed, marked \\* in the tables. The
fits of this section, of the profile and beside other tools were taken before the last descents were
cut to a few passes over 50,000 rows; large fits and those on the GPU after it.

{growth}

The search is on samples of at most 10,000 rows and the last descents on at most 50,000; what every
row takes is the preparation and the last solve, so that time grows far more slowly than n. Up to
20,000 rows the evidence is tried too, at some more time.

## Large fits

{large}

## Where the time goes

Shares of a default fit at d = 18. Statistics and pull-back: passes over training rows. Validation:
all passes over validation rows. Solves: ridge solutions and evidence, D x D. Last pass: the
coefficients solved on all rows. Other: L-BFGS itself, draws, Python.

![Shares of the time of a fit](speed-profile.svg)

{profile}

## Stages of a fit

Seconds by stage, from the reports to `callback`, for `n_components="auto"`.

{stages}

## Prediction

Rows per second of `predict` for a model of 10 variables and 300 features, in tables of 10 and of
100 columns; beside the bare operations on blocks that are there already. The check that all
numbers are finite is scikit-learn's and is part of `predict`.

{prediction}

## Import

Median over fresh processes, taken in turn, with compiled modules on the disk. `import srff` by
itself loads nothing: names are imported when they are first asked for, which is the second line.

{imports}

## Beside other tools

The default fit beside others on the same cores, each in a process of its own, one draw. LightGBM:
one fit of at most 300 rounds with early stopping. STG and LassoNet: one training at one setting;
"search" is the search of `benchmarks/accuracy`, which chooses the setting on the validation rows,
as srff does. "of the mean": RMSE as a share of the RMSE of the mean.

{peers}

## Samples or all rows

The default searches on samples of the rows; here it is beside the same fit that searches on all of
them (`search_rows` and `refine_rows` of `selection.config.Config` raised). Mean and standard
deviation over seeds.

{equivalence}

## TF32 on a GPU

`torch.set_float32_matmul_precision("high")` makes products of float32 matrices TF32 ones, with
factors rounded to 11 bits. `python benchmarks/speed/precision.py` on the H200: a pass takes a third
of the time, but fits are not faster and two of six are far worse. Float32, torch's own default, is
the default here.

{precision}
"""


def facts(rows: Sequence[Row]) -> str:
    """Machines, versions and the command."""
    versions: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, version in json.loads(row["versions"] or "{}").items():
            versions[name].add(version)
    shown = ", ".join(f"{name} {' and '.join(sorted(v))}" for name, v in sorted(versions.items()))
    machines = {row["machine"]: (place(row), row["n_threads"]) for row in rows}
    items = [
        f'Machine "{short}": {m}; {threads} threads' for m, (short, threads) in machines.items()
    ]
    items.append(f"Versions: {shown}")
    items.append("Command: `python benchmarks/speed/run.py`, on a GPU with `--device cuda`")
    if any(value(row, "other_load") > DISTURBED for row in rows):
        items.append(f"\\*: other work kept more than {DISTURBED} cores busy during this fit")
    return "\n".join(f"- {item}" for item in items)


def write(results: Path, docs: Path) -> None:
    """Write the page and its figures."""
    rows = read(results)
    if not rows:
        raise SystemExit(f"{results} has no results.")
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parts[row["part"]].append(row)
    docs.mkdir(parents=True, exist_ok=True)
    draw_growth(parts["growth"], docs / "speed-growth.svg")
    draw_profile(good(parts["profile"]), docs / "speed-profile.svg")
    head = ("on", "n", "d", "D", "input", *FIT_HEAD)
    text = TEXT.format(
        facts=facts(rows),
        targets=table(("what", "on", "target", "found", "met"), target_lines(parts)),
        beside=beside_table(),
        passes=pass_table(parts["passes"]),
        growth=growth_table(parts["growth"]),
        large=table(head, [fit_line(row, dtype=True) for row in parts["large"]]),
        profile=profile_table(parts["profile"]),
        stages=stage_table([*parts["growth"], *parts["large"]]),
        prediction=prediction_table(parts["prediction"]),
        imports=import_table(parts["imports"]),
        peers=peer_table(parts["peers"]),
        equivalence=equivalence_table(parts["equivalence"]),
        precision=precision_table(results.with_name("precision.json")),
    )
    (docs / "speed.md").write_text(text, encoding="utf-8")


def main(
    write: Callable[[Path, Path], None], about: str, argv: Sequence[str] | None = None
) -> None:
    """The command line of a page."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results.csv")
    parser.add_argument("--docs", type=Path, default=HERE.parents[1] / "docs")
    options = parser.parse_args(argv)
    write(options.results, options.docs)


if __name__ == "__main__":
    main(write, __doc__ or "")
