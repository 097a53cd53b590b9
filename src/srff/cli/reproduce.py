"""``srff reproduce``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="se1-1k, se1, se2-1k, se2, se3, real, figure; all if none is named."),
    ] = None,
    replicates: Annotated[int, typer.Option(min=1, help="Random replications of a cell.")] = 30,
    methods: Annotated[
        str | None, typer.Option(help="Comma-separated, such as Mean,RFF,SRFF; all if not given.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Comma-separated training sizes; all if not given.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where RFF and SRFF are fitted: cpu or cuda.")
    ] = "cpu",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Replicates at a time; one a core, or one on a GPU.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results file.")] = None,
    mining: Annotated[
        Path | None, typer.Option(help="Kaggle's csv of the mining data, for RMN.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=1, help="Most seconds for one replicate.")
    ] = None,
    memory_limit: Annotated[str, typer.Option(help="Most memory for Denovas.")] = "8GB",
    quick: Annotated[
        bool, typer.Option("--quick", help="3 replicates, 5,000 rows, 25 iterations, 120 s each.")
    ] = False,
) -> None:
    """Run the paper's experiments and print its tables with ours beside them.

    Finished replicates are kept in OUT/results.csv; the same command goes on there.

    For example:

      srff reproduce --quick

      srff reproduce se1 --methods Mean,RFF,SRFF --sizes 1000,5000 --replicates 5

      srff reproduce se3 --device cuda --out results
    """
    from rich.console import Console

    from srff._utils.progress import reporting
    from srff._utils.threads import count_threads
    from srff.reproduction.published import METHODS, TABLES
    from srff.reproduction.replicate import Settings
    from srff.reproduction.runner import reproduce as run_all
    from srff.reproduction.show import print_scales, print_table

    cores = count_threads(None)
    jobs = jobs or (cores if device == "cpu" else 1)
    out = out or Path("reproduction-quick" if quick else "reproduction")
    asked = _choices("TABLE", tables or [*TABLES, "figure"], (*TABLES, "figure"))
    wanted = set(_choices("--methods", methods.split(",") if methods else METHODS, METHODS))
    allowed = None if sizes is None else {int(n) for n in _numbers("--sizes", sizes)}
    if quick:
        replicates, time_limit = min(replicates, 3), time_limit or 120.0
        allowed = {n for n in (1000, 5000) if allowed is None or n in allowed}
    chosen = [TABLES[name] for name in asked if name in TABLES]
    cells = [cell for table in chosen for cell in table.cells]
    if "figure" in asked:
        cells += [c for c in TABLES["se1"].cells if c.method == "SRFF" and c.n in (1000, 50000)]
    cells = [c for c in cells if c.method in wanted and (allowed is None or c.n in allowed)]
    settings = Settings(
        device=device,
        n_jobs=max(1, cores // jobs),
        mining_path=None if mining is None else str(mining),
        memory_limit=memory_limit,
        max_iter=25 if quick else Settings.max_iter,
    )
    try:
        with reporting(verbose=1) as report:
            outcomes = run_all(
                cells, replicates, settings, out, jobs=jobs, time_limit=time_limit, report=report
            )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except KeyboardInterrupt:
        typer.echo(f"Stopped; the same command goes on from {out / 'results.csv'}.", err=True)
        raise typer.Exit(130) from None
    console = Console()
    for table in chosen:
        print_table(console, table, outcomes, wanted)
    if "figure" in asked:
        print_scales(console, outcomes)
    console.print(f"Results: {out / 'results.csv'}", highlight=False)


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


def _numbers(name: str, given: str) -> list[str]:
    """Comma-separated whole numbers."""
    parts = [text.strip().replace("_", "") for text in given.split(",")]
    for text in parts:
        if not text.isdecimal():
            raise typer.BadParameter(f"{name}: {text!r} is not a whole number")
    return parts
