"""A fitted model as one page that stands alone: the answer first, then how it was found.

The page needs no network: styles, figures and the little script that sorts tables are in it.  Here
is what it says as plain data; how it says it is in ``templates/report.html``.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils.atomic_files import replace_file
from srff._utils.version import __version__
from srff.data.encoding.columns import Category
from srff.inspect.describe import (
    also_chosen,
    certainty,
    compared,
    error_on_new_rows,
    feature_names,
    held_out,
    judged_on_new_rows,
    known_error,
    n_entries,
    noun,
    selected,
)
from srff.inspect.evaluate import Assessment, assess
from srff.inspect.outcome import ClassFigures, outcome_of
from srff.inspect.pages import rendered
from srff.inspect.pictures import pictures
from srff.inspect.wording import first_few, number, share

MOST_LISTED = 200
"""Lines of a table; more are counted."""

MOST_NAMED = 12
"""Variables of the first sentence."""

NAMED_CLASSES = 10
"""Classes up to which there is a table of every class against every other."""

NAMED_LEVELS = 5
"""Levels of a category that are named with their shares."""

PACKAGES = ("srff", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Table:
    """A table of texts; ``unlisted`` counts the lines that it has no room for."""

    caption: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    unlisted: int = 0
    things: str = ""
    """What lines are of, with a blank."""


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
    page = rendered(
        "report.html",
        title=title,
        answer=_answer(model),
        rows=None if rows is None else _on_rows(model, rows),
        variables=_variable_table(model, rows),
        n_folds=model.n_folds_,
        sure=_certainty(model),
        also_chosen=also_chosen(model, MOST_LISTED),
        pictures=pictures(model, X, y),
        search=_search(model),
        data=_data(model),
        use=_use(model),
        versions=_versions(),
    )
    if path is not None:
        replace_file(Path(path), page.encode("utf-8"))
    return page


def _answer(model: Any) -> dict[str, Any]:
    """What matters, and how well it predicts rows that were held out."""
    chosen, total, outcome = selected(model), n_entries(model), outcome_of(model)
    nouns = {"selected": noun(model, len(chosen)), "total": noun(model, total)}
    return {
        "named": [
            {"name": entry.name, "columns": entry.described.removeprefix(entry.name)}
            for entry in chosen[:MOST_NAMED]
        ],
        "unnamed": max(len(chosen) - MOST_NAMED, 0),
        "n_selected": len(chosen),
        "n_total": total,
        "certainty": _sentence(certainty(model)),
        "n_wanted": model.n_features_to_select,
        "nouns": {**nouns, "one": noun(model, 1), "several": noun(model)},
        "has_groups": any(entry.inside for entry in chosen),
        "sought": outcome.sought,
        "measure": outcome.measure.name,
        "kept_by": None if model.refine is None else model.keep,
        "judged": _judged(model),
    }


def _judged(model: Any) -> dict[str, Any] | None:
    """The error on new rows, or on those that chose the model where the first is not known."""
    if not np.isfinite(known_error(model)):
        return None
    new = judged_on_new_rows(model)
    return {
        "error": error_on_new_rows(model) if new else number(model.validation_error_),
        "rows": held_out(model) if new else None,
        "constant": outcome_of(model).constant,
        "constant_error": model.constant_error_,
        "compared": compared(model),
    }


def _on_rows(model: Any, rows: Assessment) -> dict[str, Any]:
    """How good the model is on the rows that were given."""
    outcome, found = outcome_of(model), rows.classes
    targets = [
        [f"target {t}", number(one.rmse), share(one.r2)] for t, one in enumerate(rows.targets)
    ]
    head = ["target", "root mean squared error", "of its variance explained"]
    return {
        "n_rows": rows.n_rows,
        "error": rows.error,
        "compared": compared(model, rows.explained),
        "missed": outcome.measure.of_rows,
        "targets": Table("Each target on the rows given", head, targets) if targets[1:] else None,
        "classes": found,
        "n_classes": len(outcome.labels),
        "auc": found.auc if found is not None and np.isfinite(found.auc) else None,
        "class_tables": _class_tables([*map(str, outcome.labels)], found) if found else [],
    }


def _variable_table(model: Any, rows: Assessment | None) -> Table | None:
    """The variables with their scales, and how much each is missed on rows that were given."""
    chosen = selected(model)
    if not chosen:
        return None
    total = sum(entry.scale for entry in chosen)
    folds = chosen[0].folds is not None
    head = ["variable", "scale", "share", *(["folds"] if folds else [])]
    missed = {}
    if rows is not None:
        head += ["missed by", "standard error"]
        missed = {one.entry: (one.rise, one.standard_error) for one in rows.importances}
    lines = [
        [
            entry.described,
            number(entry.scale),
            share(entry.scale / total),
            *([f"{entry.folds}/{model.n_folds_}"] if folds else []),
            *map(number, missed.get(entry, ())),
        ]
        for entry in chosen[:MOST_LISTED]
    ]
    return Table("The variables that matter", head, lines, max(len(chosen) - MOST_LISTED, 0))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _certainty(model: Any) -> dict[str, Any] | None:
    """Which variables are confirmed, where it was asked for."""
    found = getattr(model, "confidence_", None)
    if found is None:
        return None
    head = ["variable", "confirmed", "selected", "alone", "p", "rise", "from", "to", "share"]
    head += ["note"]
    table = found.table(MOST_LISTED)
    lines = [[*each.values()] for each in table]
    left = max(len(found.chosen) - MOST_LISTED, 0)
    return {
        "lines": found.lines(),
        "loss": found.loss,
        "n_splits": found.n_splits,
        "table": Table("How sure it is of each variable", head, lines, left) if lines else None,
    }


def _class_tables(labels: list[str], found: ClassFigures) -> list[Table]:
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
    head = ["class", "rows", "of these found (recall)", "right where said (precision)"]
    caption, left = "Each class on the rows given", max(len(each) - MOST_LISTED, 0)
    tables = [Table(caption, head, each[:MOST_LISTED], left, "classes ")]
    if len(labels) <= NAMED_CLASSES:
        against = [
            [label, *(f"{count:,}" for count in said)]
            for label, said in zip(labels, found.confusion.tolist(), strict=True)
        ]
        head = ["class", *(f"said {label}" for label in labels)]
        tables.append(Table("What was said of the rows of each class", head, against))
    return tables


def _search(model: Any) -> dict[str, Any]:
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
            *(number(path[k][i]) for k in ("validation_error", "training_error", "seconds")),
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


def _data(model: Any) -> dict[str, Any]:
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
    order = [k for k in np.argsort(-shares[:-1], kind="stable") if shares[k] > 0][:NAMED_LEVELS]
    named = ", ".join(f"{levels[k]} {share(shares[k])}" for k in order)
    dots = ", ..." if len(levels) - 1 > len(order) else ""
    return [share(shares[-1]), f"{count}: {named}{dots}"]


def _use(model: Any) -> dict[str, Any]:
    """What the code that uses the model needs."""
    known, chosen = feature_names(model), model.get_support(indices=True)
    return {
        "has_classes": bool(outcome_of(model).labels),
        "columns": first_few((repr(known[i]) for i in chosen.tolist()), 6),
    }


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        version = __version__ if name == "srff" else importlib.metadata.version(name)
        found.append(f"{name} {version}")
    return ", ".join(found)
