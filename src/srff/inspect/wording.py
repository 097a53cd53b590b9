"""Numbers and counts as people write them."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log10
from typing import Any

import numpy as np

LEAST_PERCENT = 0.01


def number(x: Any) -> str:
    """Four digits, as people write them."""
    x = float(x)
    if np.isnan(x):
        return "-"
    if x and not 1e-4 <= abs(x) < 1e7:
        return f"{x:.3e}"
    return f"{x:,.4g}" if abs(x) < 1e4 else f"{x:,.0f}"


def figure(x: Any) -> str:
    """Three digits, as people write them: no powers of ten up to a million billions."""
    x = float(x)
    if not np.isfinite(x):
        return "-"
    if x and not 1e-4 <= abs(x) < 1e15:
        return f"{x:.2e}"
    if abs(x) < 1000:
        text = f"{x:#.3g}".rstrip(".")
        return text if "e" not in text else f"{x:,.0f}"
    return f"{round(x, 2 - floor(log10(abs(x)))):,.0f}"


def measured(x: float, error: float) -> str:
    """A number with its standard error: two digits of that, and what they leave of the number."""
    if not (error > 0 and 1e-4 <= abs(x) < 1e15 and 1e-6 <= error < 1e15):
        return f"{number(x)} +- {number(error)}"
    return f"{as_sure(x, error)} +- {as_sure(error, error)}"


def as_sure(x: float, error: float) -> str:
    """A number with the digits that its standard error leaves of it: two of that."""
    if not (1e-6 <= error < 1e15 and abs(x) < 1e15):
        return number(x)
    digits = 1 - floor(log10(error))
    if digits < -1:
        return f"{round(x, digits) + 0.0:,.0f}"
    digits = max(digits, 0)
    return f"{round(x, digits) + 0.0:,.{digits}f}"


def share(x: float) -> str:
    """A share in percent."""
    return "-" if np.isnan(x) else f"{round(100 * x, 1) + 0.0:.1f} %"  # no -0.0


def percent(part: float, error: float) -> str:
    """A share with its standard error in percent: two digits of that, three decimals at most."""
    if 100 * error < LEAST_PERCENT:
        return f"{100 * part + 0.0:.2f} +- {100 * error:.2f} %"
    return f"{measured(100 * part, 100 * error)} %"


def p_value(p: float) -> str:
    """A p-value to three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def first_few(texts: Iterable[str], most: int) -> str:
    """The first of some texts, and dots for the others."""
    listed = list(texts)
    return ", ".join(listed[:most]) + (", ..." if len(listed) > most else "")


def plural(count: int, thing: str = "variable") -> str:
    """A count with its noun."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
