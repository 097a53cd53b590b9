"""``srff reproduce``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from srff.reproduction.published import Cell
    from srff.reproduction.replicate import Outcome, Settings

FIGURE = "figure"
"""The paper's figure of learned scales, beside its tables."""

QUICK_ROWS, QUICK_REPLICATES = 5000, 3
"""Of ``--quick``: most rows of a synthetic problem, and most replicates."""

QUICK_ALPHAS, QUICK_PATIENCE = 10, 2
"""Its grid, every fifth alpha of the paper's: small alphas take longest and are rarely best."""

QUICK_START, QUICK_LIMIT = 400.0, 180.0
"""Seconds after which ``--quick`` begins no replicate, and that a replicate may take: together
hardly ten minutes."""

Tables = Annotated[
    list[str] | None,
    typer.Argument(help="se1-1k, se1, se2-1k, se2, se3, real, figure; all if none is named."),
]
Replicates = Annotated[int, typer.Option(min=1, help="Random replications of a cell.")]
Methods = Annotated[
    str | None, typer.Option(help="Comma-separated, such as Mean,RFF,SRFF; all if not given.")
]
Sizes = Annotated[
    str | None, typer.Option(help="Comma-separated training sizes; all if not given.")
]
Device = Annotated[str, typer.Option(help="Where RFF and SRFF are fitted: cpu or cuda.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Replicates at a time; one a core, or one on a GPU.")
]
Out = Annotated[Path | None, typer.Option(help="Folder of the results file.")]
Mining = Annotated[Path | None, typer.Option(help="Kaggle's csv of the mining data, for RMN.")]
TimeLimit = Annotated[float | None, typer.Option(min=1, help="Most seconds for one replicate.")]
MemoryLimit = Annotated[str, typer.Option(help="Most memory for Denovas.")]
Patience = Annotated[
    int | None,
    typer.Option(
        min=1, help="SRFF leaves the rest of the grid after so many alphas that are no better."
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Every table: as many replicates as can begin within 400 seconds, 3 at most; "
        "10 values of alpha instead of 50, until 2 in succession are no better; without SRFF-b and "
        "without 10,000 and 50,000 synthetic rows.",
    ),
]


def reproduce(
    tables: Tables = None,
    replicates: Replicates = 30,
    methods: Methods = None,
    sizes: Sizes = None,
    device: Device = "cpu",
    jobs: Jobs = None,
    out: Out = None,
    mining: Mining = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = "8GB",
    patience: Patience = None,
    quick: Quick = False,
) -> None:
    """Run the paper's experiments and print its tables with ours beside them.

    Finished replicates are kept in OUT/results.csv; the same command goes on there.
    The tables are written to OUT/tables.md too, and the figure to OUT/sparsity.svg.

    Real data are read from the folder in SRFF_DATA, or fetched from OpenML; what is not to be had
    is named, and the rest goes on.

    For example:

      srff reproduce --quick

      srff reproduce se1 --methods Mean,RFF,SRFF --sizes 1000,5000 --replicates 5

      srff reproduce se3 --device cuda --out results
    """
    from srff._utils.progress import reporting
    from srff._utils.threads import count_threads
    from srff.reproduction.published import METHODS, TABLES
    from srff.reproduction.replicate import Settings
    from srff.reproduction.runner import reproduce as run_all

    cores = count_threads(None)
    jobs = jobs or (cores if device == "cpu" else 1)
    out = out or Path("reproduction-quick" if quick else "reproduction")
    asked = _choices("TABLE", tables or [*TABLES, FIGURE], (*TABLES, FIGURE))
    wanted = set(_choices("--methods", methods.split(",") if methods else METHODS, METHODS))
    cells = [cell for cell in _cells(asked) if cell.method in wanted]
    if sizes is not None:
        allowed = _numbers("--sizes", sizes)
        cells = [cell for cell in cells if cell.n in allowed]
    settings = Settings(
        device=device,
        n_jobs=max(1, cores // jobs),
        mining_path=None if mining is None else str(mining),
        memory_limit=memory_limit,
        patience=patience,
    )
    start_within = None
    if quick:
        cells, settings = _quick(cells), _quick_settings(settings)
        wanted, replicates = wanted - {"SRFF-b"}, min(replicates, QUICK_REPLICATES)
        time_limit, start_within = time_limit or QUICK_LIMIT, QUICK_START
    limits: dict[str, Any] = {"jobs": jobs, "time_limit": time_limit, "start_within": start_within}
    with _plain_end(out), reporting(verbose=1) as report:
        outcomes = run_all(cells, replicates, settings, out, **limits, report=report)
    _show(asked, wanted, outcomes, out)


def _cells(asked: list[str]) -> list[Cell]:
    """The figures of the tables that were asked for."""
    from srff.reproduction.published import TABLES

    cells = [cell for name in asked if name in TABLES for cell in TABLES[name].cells]
    if FIGURE in asked:
        cells += [c for c in TABLES["se1"].cells if c.method == "SRFF" and c.n in (1000, 50000)]
    return cells


def _quick(cells: list[Cell]) -> list[Cell]:
    """What a quick run keeps, in an order that leaves the longest for the end of each round."""
    kept = [
        cell
        for cell in cells
        if cell.method != "SRFF-b" and (cell.n <= QUICK_ROWS or not cell.problem.startswith("SE"))
    ]
    return sorted(kept, key=lambda cell: (cell.method in ("SRFF", "Denovas"), cell.n))


def _quick_settings(settings: Settings) -> Settings:
    """The same with a shorter grid; each alpha of it is followed to its end."""
    return replace(settings, n_alphas=QUICK_ALPHAS, patience=QUICK_PATIENCE)


@contextmanager
def _plain_end(out: Path) -> Iterator[None]:
    """What a run that cannot go on says."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except KeyboardInterrupt:
        typer.echo(f"Stopped; the same command goes on from {out / 'results.csv'}.", err=True)
        raise typer.Exit(130) from None


def _show(asked: list[str], methods: set[str], outcomes: list[Outcome], out: Path) -> None:
    """The tables that were asked for, and where the results are."""
    from rich.console import Console

    from srff.reproduction.published import TABLES
    from srff.reproduction.show import markdown, print_scales, print_table

    console = Console()
    for name in asked:
        if name in TABLES:
            print_table(console, TABLES[name], outcomes, methods)
    written = [out / "results.csv", out / "tables.md"]
    written[1].write_text(markdown(outcomes), encoding="utf-8")
    if FIGURE in asked:
        print_scales(console, outcomes)
        written += _figure(outcomes, out / "sparsity.svg")
    text = "Written: " + ", ".join(str(path) for path in written)
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _figure(outcomes: list[Outcome], path: Path) -> list[Path]:
    """The figure as a file, where it can be drawn."""
    from srff.reproduction.show import draw_sparsity

    try:
        draw_sparsity(outcomes, path)
    except ImportError:
        typer.echo("The figure needs matplotlib: pip install 'srff[plot]'", err=True)
        return []
    return [path]


def _choices(name: str, given: Iterable[str], accepted: tuple[str, ...]) -> list[str]:
    """What was asked for, in the spelling that is known."""
    known = {text.lower(): text for text in accepted}
    asked = [text.strip() for text in given]
    for text in asked:
        if text.lower() not in known:
            raise typer.BadParameter(
                f"{name}: {text!r} is unknown; accepted: {', '.join(accepted)}"
            )
    return [known[text.lower()] for text in asked]


def _numbers(name: str, given: str) -> set[int]:
    """Comma-separated whole numbers."""
    parts = [text.strip().replace("_", "") for text in given.split(",")]
    for text in parts:
        if not text.isdecimal():
            raise typer.BadParameter(f"{name}: {text!r} is not a whole number")
    return {int(text) for text in parts}
