"""The plots of a report, drawn as SVG that can stand in a page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srff.inspect.describe import selected
from srff.inspect.outcome import outcome_of

MOST_TARGETS = 4
"""Targets of several that effects are drawn for."""

MOST_FITS = 6
"""Targets of several that predictions are drawn of."""


@dataclass(frozen=True)
class Plan:
    """A plot that a report has: its words, its size in inches and what draws it."""

    name: str
    description: str
    size: tuple[float, float]
    draw: Callable[[Any], Any]


@dataclass(frozen=True)
class Picture:
    """A plot that is drawn; ``svg`` is what follows ``<svg``, so that the page can say more."""

    id: str
    name: str
    description: str
    svg: str


def pictures(model: Any, X: Any, y: Any) -> list[Picture] | None:
    """The plots of a page; None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    out = []
    for place, plan in enumerate(_plans(model, X, y)):
        figure = Figure(figsize=plan.size, layout="constrained")
        plan.draw(figure.subplots())
        label = f"fig-{place}"
        out.append(Picture(label, plan.name, plan.description, _svg(figure, label)))
    return out


def _plans(model: Any, X: Any, y: Any) -> list[Plan]:
    from srff.inspect import plot

    chosen, outcome = selected(model), outcome_of(model)
    plans = []
    if chosen:
        plans.append(
            Plan(
                "Scales",
                "Bars of the learned scales of the selected variables, the largest first.",
                (6.4, max(1.2 + 0.24 * min(len(chosen) + 1, 20), 2.2)),
                lambda ax: plot.scales(model, ax=ax),
            )
        )
    found = getattr(model, "confidence_", None)
    if found is not None and found.chosen.size:
        plans.append(
            Plan(
                "How sure it is",
                "How much the loss rises without each variable, with its interval, and in how many "
                "splits it was selected.",
                (6.4, max(1.4 + 0.24 * min(found.chosen.size + 1, 20), 2.4)),
                lambda ax: plot.confidence(found, ax=ax),
            )
        )
    if len(model.path_["alpha"]) > 1:
        two = not outcome.loss.quadratic
        by_two = ": on the left by the error of the search, on the right by the model's own loss"
        plans.append(
            Plan(
                "The search",
                "Validation error of every candidate against its number of variables"
                f"{by_two if two else ''}.",
                (8.4 if two else 6.4, 4.0),
                lambda ax: plot.path(model, ax=ax),
            )
        )
    if X is None:
        return plans
    height = 3.8 if outcome.n_targets == 1 else 3.2 * min(outcome.n_targets, MOST_FITS)
    plans.append(
        Plan(
            outcome.fit_title,
            outcome.fit_shows,
            (8.4, height),
            lambda ax: plot.fit(model, X, y, ax=ax),
        )
    )
    return plans + _effects(model, X) if chosen else plans


def _effects(model: Any, X: Any) -> list[Plan]:
    """A plot of effects, or one for each of the first targets."""
    from srff.inspect import plot

    outcome = outcome_of(model)
    n_selected = int(model.get_support().sum())
    n_panels = min(n_selected, 5) + (n_selected > 1)
    size = (8.4, 2.9 * -(-n_panels // 3))
    said = f"{outcome.mean.capitalize()} where a variable, or a pair of them, is set to a value."
    if outcome.n_targets == 1:
        return [Plan("Effects", said, size, lambda ax: plot.effect(model, X, ax=ax))]

    def of_target(t: int) -> Plan:
        name = f"Effects on target {t}"
        return Plan(name, said, size, lambda ax: plot.effect(model, X, target=t, ax=ax))

    return [of_target(t) for t in range(min(outcome.n_targets, MOST_TARGETS))]


def _svg(figure: Any, label: str) -> str:
    """A figure as SVG that can stand beside others: its ids are its own."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().partition("<svg")[2]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{label}-\1"', text)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{label}-", text)
