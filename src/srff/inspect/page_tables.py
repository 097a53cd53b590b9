"""The tables of a report as plain data: classes, candidates, columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff.data.encoding.columns import Category, Date
from srff.inspect.describe import feature_names, noun
from srff.inspect.outcome import ClassFigures, outcome_of
from srff.inspect.wording import figure, number, share

MOST_LISTED = 200
"""Lines of a table; more are counted."""

NAMED_CLASSES = 12
"""Classes up to which there is a table of every class against every other."""

NAMED_LEVELS = 5
"""Levels of a category that are named with their shares."""


@dataclass(frozen=True)
class Cell:
    """A text with a bar of some share of the cell's width, or with a word that has a colour."""

    text: str
    bar: float | None = None
    word: str = ""
    low: float = 0.0
    """Where the part of the bar begins that is not sure."""


@dataclass(frozen=True)
class Table:
    """A table of texts; ``unlisted`` counts the lines that it has no room for."""

    caption: str
    head: Sequence[str]
    lines: Sequence[Sequence[str | Cell]]
    unlisted: int = 0
    things: str = ""
    """What lines are of, with a blank."""
    narrow: bool = False
    """Whether heads stand upright, so that many columns fit."""


def class_tables(labels: list[str], found: ClassFigures) -> list[Table]:
    """Of each class the share that is found, and of what is said to be it, the share that is.

    Of a few classes, also what was said of each.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        right = np.diag(found.confusion)
        recall = right / found.confusion.sum(axis=1)
        precision = right / found.confusion.sum(axis=0)
    counts = found.confusion.sum(axis=1).tolist()
    each = [
        [label, f"{n:,}", share(r), share(p)]
        for label, n, r, p in zip(labels, counts, recall, precision, strict=True)
    ]
    head = ["class", "rows", "found (recall)", "right where said (precision)"]
    caption, left = "Each class on the rows given", max(len(each) - MOST_LISTED, 0)
    tables = [Table(caption, head, each[:MOST_LISTED], left, "classes ")]
    if len(labels) <= NAMED_CLASSES:
        sizes = np.maximum(found.confusion.sum(axis=1, keepdims=True), 1)
        against: list[list[str | Cell]] = [
            [label, *(Cell(f"{k:,}", word="heat", bar=float(p)) for k, p in zip(*row, strict=True))]
            for label, *row in zip(
                labels, found.confusion.tolist(), (found.confusion / sizes).tolist(), strict=True
            )
        ]
        caption = "What was said (columns) of the rows of each class (lines)"
        tables.append(Table(caption, ["class", *labels], against, narrow=True))
    return tables


def search_facts(model: Any) -> dict[str, Any]:
    """How the model was found, with the best of the candidates."""
    path, outcome = model.path_, outcome_of(model)
    sampled = model.effective_passes_ > 1.01 * model.n_passes_
    error = np.where(np.isnan(path["validation_error"]), np.inf, path["validation_error"])
    searched = np.asarray(path["loss"]) == "scores"
    # Errors of the search may be of another kind than those of the last models.
    kind = np.where(searched, outcome.search_error, outcome.measure.short).tolist()
    what = [noun(model), "alpha", "error of", "validation error", "training error", "seconds"]
    lines = [
        [
            str(path["kind"][i]),
            str(path["inputs"][i]),
            f"{path['n_variables'][i]:,}",
            number(path["alpha"][i]),
            kind[i],
            *(figure(path[k][i]) for k in ("validation_error", "training_error", "seconds")),
        ]
        for i in np.lexsort((error, searched))[:MOST_LISTED].tolist()
    ]
    table = Table("Candidates, the best first", ["kind", "inputs", *what], lines)
    return {
        "n_candidates": len(path["alpha"]),
        "measure": outcome.measure.name,
        "own_error": model.validation_error_ if model.n_folds_ else None,
        "n_passes": model.n_passes_,
        "effective_passes": model.effective_passes_ if sampled else None,
        "kind": model.model_kind_,
        "alpha": model.alpha_,
        "n_components": model.offsets_.size,
        "candidates": table if lines else None,
    }


def data_facts(model: Any) -> dict[str, Any]:
    """What the model was fitted on."""
    outcome, known = outcome_of(model), feature_names(model)
    chosen = model.get_support(indices=True)[:MOST_LISTED].tolist()
    head = ["variable", "mean", "standard deviation"]
    if model.encoding_ is not None:
        head += ["missing", "levels"]
    lines = [[known[i], *_column(model, i)][: len(head)] for i in chosen]
    table = Table("The selected variables in the training data", head, lines)
    return {
        "n_inputs": model.n_features_in_,
        "target": outcome.target_text,
        "constant": outcome.constant if model.model_kind_ == "mean" else None,
        "normal_scores": model.input_map_.name == "quantile",
        "imputed": model.missing == "impute",
        "columns": table if lines else None,
    }


def _column(model: Any, column: int) -> list[str]:
    """Mean, standard deviation, share missing and levels of a column of the user's table."""
    encoding = model.encoding_
    if encoding is None:
        return [figure(model.center_[column]), figure(model.spread_[column]), "", ""]
    places = np.flatnonzero(encoding.source == column)
    of, mean = encoding.columns[column], model.center_[places]
    if isinstance(of, Category):
        levels = [*model.levels_[column].tolist(), "missing"]
        return ["", "", *_level_shares(of, levels, mean)]
    gaps = share(mean[-1]) if of.indicator else share(0.0)
    if isinstance(of, Date):
        day = str(np.datetime64(int(mean[0]), "D"))
        return [day, f"{figure(model.spread_[places[0]])} days", gaps, "dates"]
    return [figure(mean[0]), figure(model.spread_[places[0]]), gaps, ""]


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
    order = [k for k in np.argsort(-shares[:-1], kind="stable") if shares[k] > 0][:NAMED_LEVELS]
    named = ", ".join(f"{levels[k]} {share(shares[k])}" for k in order)
    dots = ", ..." if len(levels) - 1 > len(order) else ""
    return [share(shares[-1]), f"{count}: {named}{dots}"]
