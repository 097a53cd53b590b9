"""What was asked of the speed, what was found, and whether that is enough."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from tables import Row, good, integer, number, pairs, place, seconds, value, within_noise

PASS_TARGET, IMPORT_TARGET, SLOPE_TARGET = 1.3, 0.05, 1.0
LARGE_SECONDS, LARGE_MB, GPU_SECONDS = 300.0, 500.0, 120.0
SLOPE_RANGE = (10_000, 1_000_000)


def slope(rows: Sequence[Row]) -> float:
    """The exponent of n in the seconds, by least squares between the ends of the range."""
    points = [
        (math.log(value(r, "n")), math.log(value(r, "seconds")))
        for r in good(rows)
        if SLOPE_RANGE[0] <= value(r, "n") <= SLOPE_RANGE[1]
    ]
    if len(points) < 2:
        return math.nan
    x, y = fmean(p[0] for p in points), fmean(p[1] for p in points)
    return sum((u - x) * (v - y) for u, v in points) / sum((u - x) ** 2 for u, _ in points)


def curve(rows: Sequence[Row], where: str, what: str, D: str | None = None) -> list[Row]:
    """The fits of one curve, from small to large."""
    chosen = [r for r in good(rows) if place(r) == where and what in r["what"].split()]
    chosen = [r for r in chosen if D is None or r["D"] == D]
    return sorted(chosen, key=lambda row: value(row, what))


def places(rows: Iterable[Row]) -> list[str]:
    """The machines of some rows."""
    return list(dict.fromkeys(map(place, rows)))


def target_lines(parts: dict[str, list[Row]]) -> list[list[str]]:
    """What was asked for, what was found, and whether that is enough."""
    lines: list[list[str]] = []

    def add(what: str, where: str, target: str, figure: str, met: bool) -> None:
        lines.append([what, where, target, figure, "yes" if met else "**no**"])

    for where in places(parts["passes"]):
        for name in ("statistics", "pull-back"):
            some = [r for r in parts["passes"] if place(r) == where and r["what"] == name]
            some = [r for r in some if r["dtype"] == "float32"]
            shapes = ""
            if any(r["device"] != "cpu" for r in some):  # few features leave a GPU idle
                some, shapes = [r for r in some if r["D"] == "1000"], ", D = 1000"
            ratios = [value(row, "ratio") for row in some]
            if ratios:
                text = f"{min(ratios):.2f} to {max(ratios):.2f}"
                asked = f"at most {PASS_TARGET}"
                met = max(ratios) <= PASS_TARGET
                what = f"{name} pass over its bare operations, float32{shapes}"
                add(what, where, asked, text, met)
    for row in parts["imports"]:
        if row["what"] == "import srff":
            more = value(row, "seconds") - value(row, "reference_seconds")
            asked, text = f"at most {1000 * IMPORT_TARGET:+.0f} ms", f"{1000 * more:+.0f} ms"
            what = "`import srff` over `import sklearn`"
            add(what, place(row), asked, text, more <= IMPORT_TARGET)
    for where in places(parts["growth"]):
        for D in ("300", "auto"):
            found = slope(curve(parts["growth"], where, "n", D))
            if not math.isnan(found):
                what = f"exponent of n in a fit's time, 10,000 to 1,000,000 rows, D = {D}"
                met = found <= SLOPE_TARGET
                add(what, where, f"at most {SLOPE_TARGET:.1f}", f"{found:.2f}", met)
    for row in parts["large"]:
        _large_lines(row, add)
    for (problem, where), others in _peer_groups(parts["peers"]).items():
        text, met = _beaten(others)
        add(f"`{problem}`: peers both faster and more accurate", where, "none", text, met)
    for (where, problem), pair in pairs(parts["equivalence"]).items():
        some, every = (fmean(value(r, "rmse") for r in side) for side in pair)
        text = f"RMSE {number(some, 4)} and {number(every, 4)}"
        what = f"`{problem}`: search on samples as good as on all rows"
        add(what, where, "within the spread over seeds", text, within_noise(pair))
    return lines


def _large_lines(row: Row, add: Callable[[str, str, str, str, bool], None]) -> None:
    """The lines of one large fit."""
    gpu = row["device"].startswith("cuda")
    limit = GPU_SECONDS if gpu else LARGE_SECONDS
    size = f"{integer(row['n'])} x {row['d']} {row['dtype']}, D = {row['D']}"
    if row["status"] != "ok":
        add(f"fit of {size}", place(row), f"under {limit:.0f} s", row["status"], False)
        return
    taken, peak = value(row, "seconds"), value(row, "peak_mb")
    text = f"{seconds(taken)} s"
    add(f"fit of {size}", place(row), f"under {limit:.0f} s", text, taken < limit)
    if not gpu:
        asked = f"at most {LARGE_MB:.0f} MB"
        add(
            f"its memory over the data, {row['dtype']}",
            place(row),
            asked,
            f"{peak:,.0f} MB",
            peak <= LARGE_MB,
        )


def _peer_groups(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Methods of a problem and machine, where srff is among them."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["what"].partition(" ")[0], place(row)].append(row)
    return {
        key: some
        for key, some in found.items()
        if any(r["what"].endswith(" srff") for r in good(some))
    }


def _beaten(rows: Sequence[Row]) -> tuple[str, bool]:
    """Who is both faster and more accurate than srff, in words, and whether nobody is."""
    mine = next(r for r in rows if r["what"].endswith(" srff"))
    better = [
        row["what"].partition(" ")[2]
        for row in good(rows)
        if row is not mine
        and value(row, "seconds") <= value(mine, "seconds")
        and value(row, "rmse") <= value(mine, "rmse")
    ]
    return ", ".join(better) or f"none of {len(rows) - 1}", not better
