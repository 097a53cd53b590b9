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

import srff
from srff.display import by_scale, explained, names, number, share, strongest
from srff.whole_files import replace_file

MOST_LISTED = 200
"""Variables of the first table; more are counted."""

SHUFFLED_ROWS = 2000
"""Rows that shuffles and effects are computed on."""

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
    model : SRFFRegressor
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
    rows = None if X is None else _Rows(model, X, y)
    page = Template(resources.files("srff").joinpath("report.html").read_text("utf-8")).substitute(
        title=escape(title),
        answer=_answer(model, rows),
        variables=_variables(model, rows),
        figures=_figures(model, rows),
        search=_search(model),
        data=_data(model),
        use=_use(model),
        versions=_versions(),
    )
    if path is not None:
        replace_file(Path(path), page.encode("utf-8"))
    return page


class _Rows:
    """Rows to judge a model on: its errors, and how much each variable is missed."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self.X, self.y = X, y
        target = np.asarray(y, dtype=np.float64).ravel()
        self.n = target.size
        error = model.predict(X) - target
        self.rmse = float(np.sqrt(np.mean(error**2)))
        variance = float(np.mean((target - target.mean()) ** 2))
        self.r2 = 1 - self.rmse**2 / variance if variance > 0 else float("nan")
        self.rise, self.rise_error = self._missed(model, X, target)

    def _missed(self, model: Any, X: Any, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each selected variable, the rise of the squared error when it is shuffled."""
        support = model.get_support(indices=True)
        if not support.size:
            return np.zeros(0), np.zeros(0)
        rng = np.random.RandomState(0)
        few = np.sort(rng.permutation(self.n)[:SHUFFLED_ROWS])
        small = model.reduced()
        if hasattr(small, "feature_names_in_"):
            del small.feature_names_in_
        inputs = np.asarray(model.transform(X), dtype=np.float64)[few]
        plain = (small.predict(inputs) - target[few]) ** 2
        rise, spread = np.empty(support.size), np.empty(support.size)
        for k in range(support.size):
            moved = inputs.copy()
            moved[:, k] = rng.permutation(moved[:, k])
            delta = (small.predict(moved) - target[few]) ** 2 - plain
            rise[k], spread[k] = delta.mean(), delta.std() / np.sqrt(max(few.size - 1, 1))
        return rise, spread


def _answer(model: Any, rows: _Rows | None) -> str:
    """The answer in a sentence or three."""
    listed, d = strongest(model), model.n_features_in_
    if not listed:
        first = f"<p class=lead>None of the {d:,} variables helps to predict the target.</p>"
    else:
        shown = ", ".join(f"<b>{escape(name)}</b>" for name in listed[:12])
        more = f" and {len(listed) - 12:,} more" if len(listed) > 12 else ""
        word = "variable matters" if len(listed) == 1 else "variables matter"
        first = f"<p class=lead>{len(listed):,} of {d:,} {word}: {shown}{more}.</p>"
    facts = []
    if np.isfinite(model.validation_error_):
        facts.append(
            "On rows held out from the search the root mean squared error is "
            f"<b>{number(model.validation_error_)}</b>, {share(explained(model))} of the target's "
            "variance explained."
        )
    if rows is not None:
        facts.append(
            f"On the {rows.n:,} rows given to this report it is <b>{number(rows.rmse)}</b>, "
            f"{share(rows.r2)} explained."
        )
    facts.append(
        "A variable is kept only if the model without it is significantly worse on held-out rows "
        "(one-sided, level 0.05); the scale of any other is exactly zero."
    )
    return first + "".join(f"<p>{fact}</p>" for fact in facts)


def _variables(model: Any, rows: _Rows | None) -> str:
    chosen = model.get_support(indices=True)
    if not chosen.size:
        return "<p>No variable was selected.</p>"
    shares, known = model.feature_importances_, names(model)
    head = ["variable", "scale", "share"]
    missed = {}
    if rows is not None:
        head += ["missed by", "standard error"]
        missed = {
            int(i): (r, e) for i, r, e in zip(chosen, rows.rise, rows.rise_error, strict=True)
        }
    order = by_scale(model)
    lines = [
        [known[i], number(model.scale_[i]), share(shares[i]), *map(number, missed.get(i, ()))]
        for i in order[:MOST_LISTED]
    ]
    left = len(order) - MOST_LISTED
    note = f"<p>{left:,} more are not listed.</p>" if left > 0 else ""
    text = "<p>The scale says how fast the model varies along a variable, standardised: variables "
    text += "can be compared. "
    if rows is not None:
        text += "“Missed by” is the rise of the mean squared error when the variable is shuffled."
    return text + "</p>" + _table("The variables that matter", head, lines) + note


def _figures(model: Any, rows: _Rows | None) -> str:
    """The plots, drawn into the page."""
    try:
        from matplotlib.figure import Figure

        from srff import plot
    except ImportError:
        return "<p>Plots need matplotlib: pip install 'srff[plot]'.</p>"
    chosen = model.get_support(indices=True)
    wanted: list[tuple[str, str, tuple[float, float], Callable[[Figure], Any]]] = []
    if chosen.size:
        height = 1.2 + 0.24 * min(chosen.size + 1, 20)
        wanted.append(
            (
                "Scales",
                "Bars of the learned scales of the selected variables, the largest first.",
                (6.4, max(height, 2.2)),
                lambda figure: plot.scales(model, ax=figure.subplots()),
            )
        )
    if len(model.path_["alpha"]) > 1:
        wanted.append(
            (
                "The search",
                "Validation error of every candidate against its number of variables.",
                (6.4, 4.0),
                lambda figure: plot.path(model, ax=figure.subplots()),
            )
        )
    if rows is not None:
        wanted.append(
            (
                "Predicted and actual",
                "Predictions against the target, and residuals against predictions.",
                (8.4, 3.8),
                lambda figure: plot.fit(model, rows.X, rows.y, ax=figure.subplots(1, 2)),
            )
        )
        if chosen.size:
            shown = min(chosen.size, 5) + (chosen.size > 1)
            wanted.append(
                (
                    "Effects",
                    "Mean prediction where a variable, or a pair of them, is set to a value.",
                    (8.4, 2.9 * -(-shown // 3)),
                    lambda figure: plot.effect(model, rows.X, ax=figure.subplots()),
                )
            )
    out: list[str] = []
    for name, description, size, draw in wanted:
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        label = f"fig-{len(out)}"
        out.append(
            f'<figure role=group aria-labelledby="{label}">{_svg(figure, label, description)}'
            f'<figcaption id="{label}"><b>{escape(name)}.</b> {escape(description)}</figcaption>'
            "</figure>"
        )
    return "".join(out)


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
        f"{model.coef_.size:,} random features.</p>"
    )
    if not n:
        return text
    best = np.argsort(
        np.where(np.isnan(path["validation_error"]), np.inf, path["validation_error"])
    )
    head = ["kind", "inputs", "variables", "alpha", "validation error", "training error", "seconds"]
    lines = [
        [
            str(path["kind"][i]),
            str(path["inputs"][i]),
            f"{path['n_variables'][i]:,}",
            *(number(path[k][i]) for k in ("alpha", "validation_error", "training_error")),
            number(path["seconds"][i]),
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
            "The model predicts the mean: nothing that was tried did significantly better."
        )
    if type(model.input_map_).__name__ == "Quantile":
        notes.append("Inputs are skewed or heavy-tailed: they are used as normal scores of ranks.")
    head = ["variable", "mean", "standard deviation"]
    lines = [
        [known[i], number(model.center_[i]), number(model.spread_[i])]
        for i in chosen[:MOST_LISTED].tolist()
    ]
    text = f"<p>{model.n_features_in_:,} inputs. The target's mean is {number(model.intercept_)}"
    text += f", its standard deviation {number(model.target_spread_)}.</p>"
    text += "".join(f"<p class=note>{note}</p>" for note in notes)
    return text + (
        _table("The selected variables in the training data", head, lines) if lines else ""
    )


def _use(model: Any) -> str:
    known, chosen = names(model), model.get_support(indices=True)
    listed = ", ".join(repr(known[i]) for i in chosen[:6].tolist())
    dots = ", ..." if chosen.size > 6 else ""
    code = f"""import srff

srff.save(model, "model.srff")  # then, wherever it is needed:
model = srff.load("model.srff")
model.predict(X)  # X with the {model.n_features_in_} columns of the training data
model.reduced().predict(X[[{listed}{dots}]])  # the selected columns are enough"""
    return f"<pre><code>{escape(code)}</code></pre>"


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        version = srff.__version__ if name == "srff" else importlib.metadata.version(name)
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
