"""The plots of a report, drawn as SVG that can stand in a page.

Each panel is a picture of its own, so that a page can set them side by side or below each other;
text and frames have the page's colours, in the dark too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srff.inspect.describe import selected
from srff.inspect.outcome import Classes, outcome_of

MOST_TARGETS = 4
"""Targets of several that effects are drawn for."""

MOST_FITS = 6
"""Targets of several that predictions are drawn of."""

MOST_CURVES = 6
"""Variables whose effects are drawn, those that are missed most."""

LEAST_TOGETHER = 0.01
"""Share of the predictions' variance from which on a pair is drawn."""

MOST_PAIRS = 2

SMALL, MIDDLE, WIDE = (3.2, 2.5), (3.9, 3.1), (4.8, 3.3)
"""Inches of a panel of which three, two or one stand beside each other."""

COLOURS = (
    ("#000000", "currentColor"),
    ("#ffffff", "var(--page)"),
    ("#0072b2", "var(--blue)"),
)
"""matplotlib's ink and paper, and the blue of the plots, which is too dark for a dark page."""


@dataclass(frozen=True)
class Picture:
    """A panel; ``svg`` is what follows ``<svg``, so that the page can say more."""

    description: str
    svg: str


@dataclass(frozen=True)
class Gallery:
    """Panels that belong together, with one caption; ``size`` is "small", "middle" or "wide"."""

    name: str
    caption: str
    size: str
    panels: list[Picture] = field(repr=False)
    legend: list[tuple[str, str]] = field(default_factory=list)
    """Colours and what they stand for, where all panels share them."""


def galleries(model: Any, X: Any, y: Any) -> dict[str, list[Gallery]] | None:
    """The plots of each part of a page; None without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return None
    found: dict[str, list[Gallery]] = {"tried": _tried(model), "sure": _sure(model)}
    chosen = selected(model)
    if X is not None:
        found["fit"] = [_fit(model, X, y)]
    if X is not None and chosen:
        found["effects"] = _effects(model, X)
        found["pairs"] = _pairs(model, X)
    return found


def _tried(model: Any) -> list[Gallery]:
    """The scales, and the candidates."""
    from srff.inspect import plot

    out, chosen = [], selected(model)
    if chosen:
        size = WIDE[0], max(1.2 + 0.24 * min(len(chosen) + 1, 20), 2.2)
        said = "Bars of the learned scales of the selected variables, the largest first."
        draw = lambda axes: plot.scales(model, ax=axes[0])  # noqa: E731
        out.append(Gallery("Scales", said, "wide", _drawn([size], draw, said)))
    if len(model.path_["alpha"]) > 1:
        two = {"scores"} < set(np.asarray(model.path_["loss"]).tolist())
        by_two = ": first by the error of the search, then by the model's own loss"
        said = f"Validation error of every candidate against its size{by_two if two else ''}."
        draw = lambda axes: plot.path(model, ax=axes if two else axes[0])  # noqa: E731
        sizes = [MIDDLE] * 2 if two else [WIDE]
        panels = _drawn(sizes, draw, said)
        out.append(Gallery("The search", said, "middle" if two else "wide", panels))
    return out


def _sure(model: Any) -> list[Gallery]:
    """What a confidence result says."""
    from srff.inspect import plot

    found = getattr(model, "confidence_", None)
    if found is None or not found.chosen.size:
        return []
    said = (
        "How much the loss rises without each variable, with its interval, and in how many splits "
        "it was selected."
    )
    size = WIDE[0], max(1.4 + 0.24 * min(found.chosen.size + 1, 20), 2.4)
    panels = _drawn([size], lambda axes: plot.confidence(found, ax=axes[0]), said)
    return [Gallery("How sure it is", said, "wide", panels)]


def _fit(model: Any, X: Any, y: Any) -> Gallery:
    """Predictions and residuals, or how classes are told apart."""
    from srff.inspect import plot

    outcome = outcome_of(model)
    n_targets = 1 if isinstance(outcome, Classes) else min(outcome.n_targets, MOST_FITS)
    sizes = [MIDDLE] * (2 * n_targets)
    panels = _drawn(sizes, lambda axes: plot.fit(model, X, y, ax=axes), outcome.fit_shows)
    return Gallery(outcome.fit_title, outcome.fit_shows, "middle", panels)


def _effects(model: Any, X: Any) -> list[Gallery]:
    """Curves of the variables that are missed most, for each of the first targets."""
    from srff.inspect import plot
    from srff.inspect.plot import style

    outcome = outcome_of(model)
    columns = [k for entry in selected(model) for k in entry.columns if model.scale_[k] > 0]
    columns = columns[:MOST_CURVES]
    said = f"{outcome.mean.capitalize()} where a variable is set to a value; ticks are deciles."
    if np.size(getattr(model, "effect_bands_", {}).get("input", ())):
        said += " The band is the range of the models of the folds."
    out, several = [], []
    if len(outcome.labels) > 2:
        several = [*zip(style.COLOURS, map(str, outcome.labels), strict=False)]
    for t in range(min(outcome.n_targets, MOST_TARGETS)):
        target = {} if outcome.n_targets == 1 else {"target": t}

        def draw(axes: Any, target: dict[str, int] = target) -> None:
            plot.effect(model, X, columns, pairs=0, **target, ax=axes)
            for axis in axes:
                # Of several classes it is beside the panels, where it hides no curve.
                if several and axis.get_legend() is not None:
                    axis.get_legend().remove()

        name = f"Effects on target {t}" if target else "Effects"
        panels = _drawn([SMALL] * len(columns), draw, said)
        out.append(Gallery(name, said, "small", panels, several))
    return out


def strongest_pairs(model: Any, least: float = LEAST_TOGETHER) -> list[tuple[int, int, float]]:
    """Pairs of variables that act together, the strongest first."""
    table = getattr(model, "interactions_", None)
    if table is None:
        return []
    rows = zip(*(table[name].tolist() for name in ("first", "second", "share")), strict=True)
    return [(i, j, share) for i, j, share in rows if share >= least]


def _pairs(model: Any, X: Any) -> list[Gallery]:
    """Surfaces of the strongest pairs."""
    from srff.inspect import plot

    outcome = outcome_of(model)
    pairs = [(i, j) for i, j, _ in strongest_pairs(model)[:MOST_PAIRS]]
    if not pairs:
        return []
    said = f"{outcome.mean.capitalize()} where both of a pair are set to values."
    panels = _drawn(
        [MIDDLE] * len(pairs), lambda axes: plot.effect(model, X, [], pairs=pairs, ax=axes), said
    )
    return [Gallery("Together", said, "middle", panels)]


def _drawn(
    sizes: list[tuple[float, float]], draw: Callable[[Any], Any], said: str
) -> list[Picture]:
    """Panels of these sizes, each in a figure of its own, drawn together."""
    from matplotlib.figure import Figure

    figures = [Figure(figsize=size, layout="constrained") for size in sizes]
    axes = np.empty(len(figures), dtype=object)
    for k, figure in enumerate(figures):
        axes[k] = figure.subplots()
    draw(axes)
    return [Picture(said, _svg(figure)) for figure in figures]


def _svg(figure: Any) -> str:
    """A figure as SVG in the page's colours; its ids become its own where the page has it."""
    import matplotlib

    figure.patch.set_alpha(0.0)
    for axis in figure.axes:
        axis.patch.set_alpha(0.0)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "srff"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().partition("<svg")[2]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for ink, own in COLOURS:
        text = text.replace(f": {ink}", f": {own}")
    return text


def numbered(svg: str, label: str) -> str:
    """The SVG with ids that no other on the page has."""
    text = re.sub(r'\bid="([^"]+)"', rf'id="{label}-\1"', svg)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{label}-", text)
