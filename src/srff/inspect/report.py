"""A fitted model as one page that stands alone: the answer first, then how it was found.

The page needs no network: styles, figures and the little script that sorts tables are in it.
Every text that comes from the data, such as a column's name, is escaped.
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import platform
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils.atomic_files import replace_file
from srff._utils.version import __version__
from srff.data.encoding.columns import Category
from srff.inspect.describe import (
    Entry,
    compared,
    n_entries,
    names,
    noun,
    selected,
)
from srff.inspect.evaluate import Assessment, assess
from srff.inspect.outcome import ClassFigures, outcome_of
from srff.inspect.wording import number, share

MOST_LISTED = 200
"""Variables of the first table; more are counted."""

MOST_NAMED = 12
"""Variables of the first sentence."""

MOST_CLASSES = 10
"""Classes up to which there is a table of every class against every other."""

MOST_LEVELS = 5
"""Levels of a category that are named with their shares."""

MOST_TARGETS = 4
"""Targets of several that effects are drawn for."""

PACKAGES = ("srff", "numpy", "scipy", "scikit-learn")


def report(
    model: Any,
    path: str | os.PathLike | None = None,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "Which variables matter",
    overwrite: bool = False,
) -> str:
    """Write a report of a fitted model as one HTML page.

    Parameters
    ----------
    model : SRFFRegressor or SRFFClassifier
        Fitted.
    path : path or None, default=None
        Where to write it; None only returns it.
    X, y : array-like or None, default=None
        Rows that the model was not fitted on, if there are any at hand: they show how good it is
        and how much each variable is missed.
    title : str, default="Which variables matter"
        The page's title.
    overwrite : bool, default=False
        Whether a file that is there may be replaced.

    Returns
    -------
    page : str
        The page.
    """
    check_is_fitted(model)
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together, or neither.")
    if path is not None and Path(path).exists() and not overwrite:
        raise FileExistsError(f"{os.fspath(path)} is there already; overwrite=True replaces it.")
    rows = None if X is None else assess(model, X, y)
    page = Template(
        resources.files("srff.inspect").joinpath("report.html").read_text("utf-8")
    ).substitute(
        title=escape(title),
        answer=_answer(model, rows),
        variables=_variables(model, rows),
        classes=_classes(model, rows),
        figures=_figures(model, X, y),
        search=_search(model),
        data=_data(model),
        use=_use(model),
        versions=_versions(),
    )
    if path is not None:
        replace_file(Path(path), page.encode("utf-8"))
    return page


def _answer(model: Any, rows: Assessment | None) -> str:
    """The answer in a sentence or three."""
    chosen, total = selected(model), n_entries(model)
    outcome = outcome_of(model)
    if not chosen:
        what = noun(model, total)
        first = f"<p class=lead>None of the {total:,} {what} helps to predict {outcome.sought}.</p>"
    else:
        shown = ", ".join(_bold(entry) for entry in chosen[:MOST_NAMED])
        left = len(chosen) - MOST_NAMED
        more = f" and {left:,} more" if left > 0 else ""
        word = f"{noun(model, len(chosen))} {'matters' if len(chosen) == 1 else 'matter'}"
        first = f"<p class=lead>{len(chosen):,} of {total:,} {word}: {shown}{more}.</p>"
    facts = []
    if np.isfinite(model.validation_error_):
        facts.append(
            f"On rows held out from the search the {escape(outcome.measure.name)} is "
            f"<b>{number(model.validation_error_)}</b>, {escape(compared(model))}."
        )
    if rows is not None:
        facts += _on_rows(model, rows)
    facts.append(
        f"A {noun(model, 1)} is kept only if the model without it is significantly worse on "
        "held-out rows (one-sided, level 0.05); the scale of any other is exactly zero."
        if model.n_features_to_select is None
        else f"{model.n_features_to_select:,} {noun(model)} were asked for; the scale of any other "
        "is exactly zero."
    )
    return first + "".join(f"<p>{fact}</p>" for fact in facts)


def _bold(entry: Entry) -> str:
    """The name, and the columns of a group in plain letters."""
    inside = entry.described.removeprefix(entry.name)
    return f"<b>{escape(entry.name)}</b>{escape(inside)}"


def _on_rows(model: Any, rows: Assessment) -> list[str]:
    """How good the model is on the rows that were given."""
    facts = [
        f"On the {rows.n_rows:,} rows given to this report it is <b>{number(rows.error)}</b>, "
        f"{escape(compared(model, rows.explained))}."
    ]
    if rows.classes is not None:
        found = rows.classes
        of = "" if model.classes_.size == 2 else " (the mean of each class against the others)"
        area = ""
        if np.isfinite(found.auc):
            area = f" The area under the ROC curve is <b>{found.auc:.3f}</b>{of}."
        facts.append(
            f"<b>{share(found.accuracy)}</b> of the rows are given their class; always saying the "
            f"most frequent would give {share(found.largest)}.{area}"
        )
    if len(rows.targets) > 1:
        lines = [
            [f"target {t}", number(one.rmse), share(one.r2)] for t, one in enumerate(rows.targets)
        ]
        head = ["target", "root mean squared error", "of its variance explained"]
        facts.append(_table("Each target on the rows given", head, lines))
    return facts


def _variables(model: Any, rows: Assessment | None) -> str:
    chosen = selected(model)
    if not chosen:
        return "<p>No variable was selected.</p>"
    total = sum(entry.scale for entry in chosen)
    head = ["variable", "scale", "share"]
    missed = {}
    if rows is not None:
        head += ["missed by", "standard error"]
        missed = {one.entry: (one.rise, one.standard_error) for one in rows.importances}
    lines = [
        [
            entry.described,
            number(entry.scale),
            share(entry.scale / total),
            *map(number, missed.get(entry, ())),
        ]
        for entry in chosen[:MOST_LISTED]
    ]
    left = len(chosen) - MOST_LISTED
    note = f"<p>{left:,} more are not listed.</p>" if left > 0 else ""
    text = "<p>The scale says how fast the model varies along a variable, standardised: variables "
    text += "can be compared. "
    if any(entry.inside for entry in chosen):
        text += "The columns of a group have one scale. "
    if rows is not None:
        text += (
            f"“Missed by” is the rise of the {escape(outcome_of(model).measure.of_rows)} when the "
            "variable is shuffled; one that is several standard errors large is no accident of the "
            "rows."
        )
    return text + "</p>" + _table("The variables that matter", head, lines) + note


def _classes(model: Any, rows: Assessment | None) -> str:
    """How well the classes are told apart; nothing for a regression."""
    if rows is None or rows.classes is None:
        return ""
    labels, found = [str(label) for label in model.classes_.tolist()], rows.classes
    text = _class_table(labels, found)
    if len(labels) <= MOST_CLASSES:
        head = ["class", *(f"said {label}" for label in labels)]
        lines = [
            [label, *(f"{count:,}" for count in counts)]
            for label, counts in zip(labels, found.confusion.tolist(), strict=True)
        ]
        text += _table("What was said of the rows of each class", head, lines)
    return (
        f'<section aria-labelledby="h-classes"><h2 id="h-classes">The classes</h2>{text}</section>'
    )


def _class_table(labels: list[str], found: ClassFigures) -> str:
    """Of each class the share that is found, and of what is said to be it, the share that is."""
    with np.errstate(invalid="ignore", divide="ignore"):
        right = np.diag(found.confusion)
        recall = right / found.confusion.sum(axis=1)
        precision = right / found.confusion.sum(axis=0)
    lines = [
        [label, f"{n:,}", share(r), share(p)]
        for label, n, r, p in zip(
            labels, found.confusion.sum(axis=1).tolist(), recall, precision, strict=True
        )
    ]
    head = ["class", "rows", "of these found (recall)", "right where said (precision)"]
    left = len(lines) - MOST_LISTED
    note = f"<p>{left:,} more classes are not listed.</p>" if left > 0 else ""
    return _table("Each class on the rows given", head, lines[:MOST_LISTED]) + note


def _figures(model: Any, X: Any, y: Any) -> str:
    """The plots, drawn into the page."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "<p>Plots need matplotlib: pip install 'srff[plot]'.</p>"
    out: list[str] = []
    for name, description, size, draw in _wanted(model, X, y):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        label = f"fig-{len(out)}"
        out.append(
            f'<figure role=group aria-labelledby="{label}">{_svg(figure, label, description)}'
            f'<figcaption id="{label}"><b>{escape(name)}.</b> {escape(description)}</figcaption>'
            "</figure>"
        )
    return "".join(out)


Drawing = tuple[str, str, tuple[float, float], Callable[[Any], Any]]
"""Name, description, inches and what draws it."""


def _wanted(model: Any, X: Any, y: Any) -> list[Drawing]:
    """The plots of a page."""
    from srff import plot

    chosen, outcome = selected(model), outcome_of(model)
    wanted: list[Drawing] = []
    if chosen:
        height = 1.2 + 0.24 * min(len(chosen) + 1, 20)
        wanted.append(
            (
                "Scales",
                "Bars of the learned scales of the selected variables, the largest first.",
                (6.4, max(height, 2.2)),
                lambda figure: plot.scales(model, ax=figure.subplots()),
            )
        )
    if len(model.path_["alpha"]) > 1:
        two = not outcome.loss.quadratic
        by_two = ": on the left by the error of the search, on the right by the model's own loss"
        wanted.append(
            (
                "The search",
                "Validation error of every candidate against its number of variables"
                f"{by_two if two else ''}.",
                (8.4 if two else 6.4, 4.0),
                lambda figure: plot.path(model, ax=figure.subplots()),
            )
        )
    if X is None:
        return wanted
    n_targets = outcome.n_targets
    wanted.append(
        (
            outcome.fit_title,
            outcome.fit_shows,
            (8.4, 3.8 if n_targets == 1 else 3.2 * min(n_targets, 6)),
            lambda figure: plot.fit(model, X, y, ax=figure.subplots()),
        )
    )
    if chosen:
        wanted += _effects(model, X)
    return wanted


def _effects(model: Any, X: Any) -> list[Drawing]:
    """A plot of effects, or one for each of the first targets."""
    from srff import plot

    shown = int(model.get_support().sum())
    shown = min(shown, 5) + (shown > 1)
    size = (8.4, 2.9 * -(-shown // 3))
    outcome = outcome_of(model)
    several = outcome.n_targets > 1
    said = f"{outcome.mean.capitalize()} where a variable, or a pair of them, is set to a value."

    def drawing(t: int) -> Drawing:
        name = f"Effects on target {t}" if several else "Effects"
        target = t if several else None
        return (
            name,
            said,
            size,
            lambda figure: plot.effect(model, X, target=target, ax=figure.subplots()),
        )

    return [drawing(t) for t in range(min(outcome.n_targets, MOST_TARGETS))]


def _svg(figure: Any, label: str, description: str) -> str:
    """A figure as SVG that can stand beside others: its ids are its own."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{label}-\1"', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{label}-", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)


def _search(model: Any) -> str:
    path = model.path_
    n = len(path["alpha"])
    samples = ""
    if model.effective_passes_ > 1.01 * model.n_passes_:
        samples = f" ({number(model.effective_passes_)} times counting passes over samples)"
    text = (
        f"<p>{n:,} candidate model{'s' if n != 1 else ''} considered; the rows were read "
        f"{model.n_passes_:,} times{samples}. The chosen one is of the kind "
        f"“{escape(str(model.model_kind_))}” with alpha {number(model.alpha_)} and "
        f"{model.offsets_.size:,} random features.</p>"
    )
    if not n:
        return text
    error = np.where(np.isnan(path["validation_error"]), np.inf, path["validation_error"])
    searched = np.asarray(path["loss"]) == "scores"
    best = np.lexsort((error, searched))
    outcome = outcome_of(model)
    # Errors of the search may be of another kind than those of the last models.
    named = np.where(searched, outcome.search_error, outcome.measure.short).tolist()
    what = [noun(model), "alpha", "error of", "validation error", "training error", "seconds"]
    head = ["kind", "inputs", *what]
    lines = [
        [
            str(path["kind"][i]),
            str(path["inputs"][i]),
            f"{path['n_variables'][i]:,}",
            number(path["alpha"][i]),
            named[i],
            *(number(path[k][i]) for k in ("validation_error", "training_error", "seconds")),
        ]
        for i in best[:MOST_LISTED].tolist()
    ]
    table = _table("Candidates, the best first", head, lines)
    return f"{text}<details><summary>All candidates</summary>{table}</details>"


def _data(model: Any) -> str:
    known, chosen = names(model), model.get_support(indices=True)
    notes = []
    if model.model_kind_ == "mean":
        notes.append(
            f"The model predicts {escape(outcome_of(model).constant)}: nothing that was tried did "
            "significantly better."
        )
    if type(model.input_map_).__name__ == "Quantile":
        notes.append("Inputs are skewed or heavy-tailed: they are used as normal scores of ranks.")
    if model.missing == "impute":
        notes.append(
            "Missing numbers are filled in with the median, and marked where the fit had any; a "
            "missing category is a level of its own. In columns that are not selected they never "
            "matter."
        )
    text = f"<p>{model.n_features_in_:,} inputs. {escape(outcome_of(model).target_text)}</p>"
    text += "".join(f"<p class=note>{note}</p>" for note in notes)
    if not chosen.size:
        return text
    head = ["variable", "mean", "standard deviation"]
    lines = [[known[i], *_column(model, i)] for i in chosen[:MOST_LISTED].tolist()]
    if model.encoding_ is None:
        lines = [line[:3] for line in lines]
    else:
        head += ["missing", "levels"]
    return text + _table("The selected variables in the training data", head, lines)


def _column(model: Any, column: int) -> list[str]:
    """Mean, standard deviation, share missing and levels of a column of the user's table."""
    encoding = model.encoding_
    if encoding is None:
        return [number(model.center_[column]), number(model.spread_[column]), "", ""]
    places = np.flatnonzero(encoding.source == column)
    of, mean = encoding.columns[column], model.center_[places]
    if isinstance(of, Category):
        levels = [*model.levels_[column].tolist(), "missing"]
        return ["", "", *_level_shares(of, levels, mean)]
    gaps = share(mean[-1]) if of.indicator else share(0.0)
    return [number(mean[0]), number(model.spread_[places[0]]), gaps, ""]


def _level_shares(of: Category, levels: list[Any], mean: np.ndarray) -> list[str]:
    """The share that is missing, and the most frequent levels with theirs."""
    count = f"{len(levels) - 1:,}"
    if not of.onehot:
        return ["", f"{count}, by the target's mean"]
    # A level is the one column that has a one in its row; one without is what the others leave.
    table = of.table[: len(levels)]
    own = table.sum(axis=1) == 1
    shares = np.where(own, table @ mean, np.nan)
    if np.count_nonzero(~own) == 1:
        shares[~own] = 1 - shares[own].sum()
    elif not own[-1]:
        shares[-1] = 0.0
        if np.count_nonzero(~own) == 2:
            shares[~own & (np.arange(own.size) < own.size - 1)] = 1 - shares[own].sum()
    shares = np.maximum(shares, 0.0)  # rounding
    order = [k for k in np.argsort(-shares[:-1], kind="stable") if shares[k] > 0][:MOST_LEVELS]
    named = ", ".join(f"{levels[k]} {share(shares[k])}" for k in order)
    dots = ", ..." if len(levels) - 1 > len(order) else ""
    return [share(shares[-1]), f"{count}: {named}{dots}"]


def _use(model: Any) -> str:
    known, chosen = names(model), model.get_support(indices=True)
    listed = ", ".join(repr(known[i]) for i in chosen[:6].tolist())
    dots = ", ..." if chosen.size > 6 else ""
    chances = "\nmodel.predict_proba(X)  # a chance for each class" * bool(outcome_of(model).labels)
    code = f"""import srff

srff.save(model, "model.srff")  # then, wherever it is needed:
model = srff.load("model.srff")
model.predict(X)  # X with the {model.n_features_in_} columns of the training data{chances}
model.reduced().predict(X[[{listed}{dots}]])  # the selected columns are enough"""
    return f"<pre><code>{escape(code)}</code></pre>"


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        version = __version__ if name == "srff" else importlib.metadata.version(name)
        found.append(f"{name} {version}")
    return escape(", ".join(found))


def _table(caption: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    columns = "".join(
        f'<th scope=col aria-sort="none"><button type=button>{escape(name)}</button></th>'
        for name in head
    )
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines
    )
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{escape(caption)}">'
        f"<table class=sortable><caption>{escape(caption)}</caption>"
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )
