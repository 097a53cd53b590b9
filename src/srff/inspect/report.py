"""A fitted model as one page that stands alone: the answer first, then how it was found.

The page needs no network: styles, figures and the little script that sorts tables are in it.  Here
is what it says as plain data; how it says it is in ``templates/report.html``.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from srff._utils.atomic_files import replace_file
from srff._utils.version import __version__
from srff.inspect.describe import (
    Entry,
    also_chosen,
    certainty,
    compared,
    dropped_last,
    error_on_new_rows,
    feature_names,
    held_out,
    judged_on_new_rows,
    known_error,
    n_entries,
    noun,
    others,
    selected,
    stand_ins,
)
from srff.inspect.evaluate import Assessment, assess
from srff.inspect.outcome import outcome_of
from srff.inspect.page_tables import (
    MOST_LISTED,
    Cell,
    Table,
    class_tables,
    data_facts,
    search_facts,
)
from srff.inspect.pages import rendered
from srff.inspect.pictures import galleries, numbered, strongest_pairs
from srff.inspect.sureness import MAYBE, SURE
from srff.inspect.wording import figure, measured, number, percent, share

MOST_NAMED = 12
"""Variables of the first sentence."""

MOST_SHOWN = 20
"""Variables that are shown at once; more are folded away."""

MOST_PAIRS = 5

CLEAR = 1.0
"""Combined standard errors by which one model must be better than another to be called so: they are
judged on the same rows, so that this is much."""

PACKAGES = ("srff", "numpy", "scipy", "scikit-learn")


def report(
    model: Any,
    path: str | os.PathLike | None = None,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    table: str | None = None,
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
        Rows that the model was not fitted on, if there are any at hand: they show how good it is,
        what each variable does, and how much it is missed.
    title : str or None, default=None
        The page's title; None names the target, where the fit was given its name.
    table : str or None, default=None
        What the rows of the fit are called, such as the name of their file.
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
    target = getattr(model, "target_name_", None)
    variables, more = _in_two(_variable_table(model, rows))
    page = rendered(
        "report.html",
        title=title or ("Which variables matter" + (f" for {target}" if target else "")),
        about=_about(model, table),
        answer=_answer(model),
        yardsticks=_yardsticks(model),
        verdict=_verdict(model),
        rows=None if rows is None else _on_rows(model, rows),
        variables=variables,
        more_variables=more,
        details=_detail_table(model, rows),
        nearly=_nearly(model),
        pairs=_pair_table(model),
        sure=_certainty(model),
        galleries=galleries(model, X, y),
        numbered=numbered,
        search=search_facts(model),
        data=data_facts(model),
        use=_use(model),
        versions=_versions(),
    )
    if path is not None:
        replace_file(Path(path), page.encode("utf-8"))
    return page


def _about(model: Any, table: str | None) -> list[str]:
    """What the page is of: target, table, rows, seed, date, version."""
    n_rows, seed = getattr(model, "n_rows_", None), model.random_state
    columns = f"{model.n_features_in_:,} columns"
    today = datetime.now(UTC)
    parts = [
        f"target: {model.target_name_}" if getattr(model, "target_name_", None) else "",
        f"table: {table}" if table else "",
        f"{n_rows:,} rows, {columns}" if n_rows else columns,
        f"seed {seed}" if isinstance(seed, int | np.integer) else "no fixed seed",
        f"{today.day} {today:%B %Y}",
        f"srff {__version__}",
    ]
    return [part for part in parts if part]


def _answer(model: Any) -> dict[str, Any]:
    """What matters, and how well it predicts rows that were held out."""
    chosen, total, outcome = selected(model), n_entries(model), outcome_of(model)
    nouns = {"selected": noun(model, len(chosen)), "total": noun(model, total)}
    words = [word for word in (SURE, MAYBE) if any(entry.sure == word for entry in chosen)]
    shown = chosen[:MOST_NAMED]

    def named(entries: list[Entry]) -> list[dict[str, str]]:
        return [{"name": e.name, "columns": e.described.removeprefix(e.name)} for e in entries]

    parts = [(word, named([e for e in shown if e.sure == word])) for word in words]
    return {
        "parts": [(word, entries) for word, entries in parts if entries] or [("", named(shown))],
        "n_selected": len(chosen),
        "unnamed": max(len(chosen) - MOST_NAMED, 0),
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


def _yardsticks(model: Any) -> Table | None:
    """The error on new rows beside those of other models on the same rows."""
    if not judged_on_new_rows(model):
        return None
    own = (float(model.expected_error_), float(model.expected_error_se_))
    known = {"this model": own, **others(model)}
    known[outcome_of(model).constant] = (float(model.constant_error_), 0.0)
    most = max(error + se for error, se in known.values()) or 1.0
    lines: list[list[str | Cell]] = [
        [
            name,
            Cell(
                measured(error, se).replace("+-", "±") if se else figure(error),
                bar=error / most,
                word="own" if name == "this model" else "other",
            ),
        ]
        for name, (error, se) in sorted(known.items(), key=lambda one: one[1][0])
    ]
    caption = f"{_sentence(outcome_of(model).measure.name)} on rows held out: the lower the better"
    return Table(caption, ["model", "error"], lines)


def _verdict(model: Any) -> str:
    """Whether a nonlinear model of few variables was worth it, in a sentence."""
    own, se = float(model.expected_error_), float(model.expected_error_se_)
    words = {
        name: 1 if own < error - CLEAR * np.hypot(se, other) else -1 if own > error else 0
        for name, (error, other) in others(model).items()
    }
    said = {1: "better than", 0: "about as well as", -1: "no better than"}
    parts = [
        f"{text} {' and '.join(name for name in words if words[name] == word)}"
        for word, text in said.items()
        if word in words.values()
    ]
    if not parts or not np.any(model.scale_):
        return ""
    text = f"It predicts {' and '.join(parts)}, which see all {model.n_features_in_:,} columns."
    line = next(name for name in words if name != "boosted trees")
    if words[line] < 1:
        return f"{text} A model of straight lines would do."
    return f"{text} A nonlinear model is worth it."


def _on_rows(model: Any, rows: Assessment) -> dict[str, Any]:
    """How good the model is on the rows that were given."""
    outcome, found = outcome_of(model), rows.classes
    targets = [
        [f"target {t}", figure(one.rmse), share(one.r2)] for t, one in enumerate(rows.targets)
    ]
    head = ["target", "root mean squared error", "of its variance explained"]
    return {
        "n_rows": rows.n_rows,
        "error": rows.error,
        "compared": compared(model, rows.explained),
        "targets": Table("Each target on the rows given", head, targets) if targets[1:] else None,
        "classes": found,
        "n_classes": len(outcome.labels),
        "auc": found.auc if found is not None and np.isfinite(found.auc) else None,
        "class_tables": class_tables([*map(str, outcome.labels)], found) if found else [],
    }


def _without(model: Any, importance: float) -> float:
    """The error on new rows without a variable."""
    error, constant = known_error(model), float(model.constant_error_)
    if not outcome_of(model).loss.quadratic:
        return error + importance * (constant - error)
    return float(np.sqrt(max(error**2 + importance * (constant**2 - error**2), 0.0)))


def _variable_table(model: Any, rows: Assessment | None) -> Table | None:
    """The variables: how much each is missed, how sure it is, how many folds chose it."""
    chosen = selected(model)
    if not chosen:
        return None
    folds, known = chosen[0].folds is not None, chosen[0].importance is not None
    if not known and rows is None:
        head = ["variable", "scale", *(["folds"] if folds else [])]
    else:
        head = ["variable", "missed by", "error without it", *(["sure?"] if known else [])]
        head += ["folds"] if folds else []
    missed = _missed(model, rows, chosen)
    most = max([each[0] for each in missed.values()] + [1e-9])
    lines: list[list[str | Cell]] = []
    for entry in chosen[:MOST_LISTED]:
        line: list[str | Cell] = [entry.described]
        if not missed:
            line.append(Cell(figure(entry.scale), entry.scale / chosen[0].scale))
        else:
            part, error, without = missed[entry]
            text = percent(part, error).replace("+-", "±")
            line += [Cell(text, max(part, 0.0) / most), figure(without)]
        if known:
            line.append(Cell(entry.sure or "", word=entry.sure or ""))
        lines.append([*line, *([f"{entry.folds}/{model.n_folds_}"] if folds else [])])
    left = max(len(chosen) - MOST_LISTED, 0)
    return Table("The variables, those that are missed most first", head, lines, left)


def _in_two(table: Table | None) -> tuple[Table | None, Table | None]:
    """The first lines of a long table, and the others."""
    if table is None or len(table.lines) <= MOST_SHOWN:
        return table, None
    first = replace(table, lines=table.lines[:MOST_SHOWN], unlisted=0)
    return first, replace(table, caption="The other variables", lines=table.lines[MOST_SHOWN:])


def _missed(
    model: Any, rows: Assessment | None, chosen: list[Entry]
) -> dict[Entry, tuple[float, float, float]]:
    """Of each variable the share of what is explained that is lost without it, and its error.

    Then the error of the model without it.  On the rows that the fit held out, or those given.
    """
    if chosen[0].importance is not None:
        return {
            e: (
                e.importance or 0.0,
                e.importance_error or 0.0,
                _without(model, e.importance or 0.0),
            )
            for e in chosen
        }
    if rows is None:
        return {}
    quadratic, unit = outcome_of(model).loss.quadratic, outcome_of(model).loss_unit
    loss = rows.error**2 if quadratic else rows.error
    part = rows.explained if np.isfinite(rows.explained) else 0.0
    gain = loss * part / (1 - part) if 0 < part < 1 else loss or unit
    found = {}
    for one in rows.importances:
        rise, se = (x * _part_of_rise(model) for x in (one.rise, one.standard_error))
        without = max(loss + rise, 0.0)
        error = float(np.sqrt(without)) if quadratic else without
        found[one.entry] = (rise / gain, se / gain, error)
    return found


def _part_of_rise(model: Any) -> float:
    """What not knowing a variable costs, as a part of the rise where it is drawn anew.

    With squares a draw is as far from the mean of all as the value itself: half.
    """
    return 0.5 if outcome_of(model).loss.quadratic else 1.0


def _detail_table(model: Any, rows: Assessment | None) -> Table | None:
    """More on each variable: its scale, and the error without it on the rows given."""
    chosen = selected(model)
    if not chosen:
        return None
    total = sum(entry.scale for entry in chosen)
    head = ["variable", "scale", "share of scales"]
    given: dict[Entry, tuple[float, ...]] = {}
    if rows is not None:
        head.append("error without it on the rows given")
        quadratic = outcome_of(model).loss.quadratic
        loss = rows.error**2 if quadratic else rows.error
        for one in rows.importances:
            without = max(loss + one.rise * _part_of_rise(model), 0.0)
            given[one.entry] = (float(np.sqrt(without)) if quadratic else without,)
    lines = [
        [
            entry.described,
            figure(entry.scale),
            share(entry.scale / total),
            *map(figure, given.get(entry, ())),
        ]
        for entry in chosen[:MOST_LISTED]
    ]
    return Table("More on each variable", head, lines, max(len(chosen) - MOST_LISTED, 0))


def _nearly(model: Any) -> list[str]:
    """What is not in the model and nearly was, sentence by sentence."""
    chosen, last, instead = also_chosen(model, MOST_LISTED), dropped_last(model), stand_ins(model)
    out = [f"Not kept, but chosen {chosen}."] if chosen else []
    if last:
        out.append(f"Dropped last: {', '.join(last)}.")
    return out + ([f"{'; '.join(instead)}."] if instead else [])


def _pair_table(model: Any) -> Table | None:
    """The pairs that act together."""
    pairs, names = strongest_pairs(model)[:MOST_PAIRS], feature_names(model)
    if not pairs:
        return None
    most = pairs[0][2]
    lines: list[list[str | Cell]]
    lines = [[f"{names[i]} and {names[j]}", Cell(share(s), s / most)] for i, j, s in pairs]
    return Table("Pairs that act together", ["pair", "only together"], lines)


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


def _use(model: Any) -> dict[str, Any]:
    """What the code that uses the model needs."""
    return {
        "has_classes": bool(outcome_of(model).labels),
        "any": bool(np.any(model.scale_)),
        "named": hasattr(model, "feature_names_in_"),
    }


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        version = __version__ if name == "srff" else importlib.metadata.version(name)
        found.append(f"{name} {version}")
    return ", ".join(found)
