"""A fitted model in a few words, for a terminal and for a notebook: what matters, and how well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from srff._utils.text import visible
from srff.core.groups import parse_groups
from srff.inspect.outcome import outcome_of
from srff.inspect.pages import rendered
from srff.inspect.sureness import MAYBE, SURE, sureness
from srff.inspect.wording import figure, first_few, measured, number, share

MOST_NAMED = 10
MOST_STAND_INS = 5
"""Columns that nearly were in the model and are named."""

NOTHING = 5e-4
"""Change of an error, as a share, that is none with a digit after the point."""

MOST_TOGETHER = 3
"""Columns of a group without a name that its name is made of."""


@dataclass(frozen=True)
class Entry:
    """What is selected or not: a column, or the columns of a group."""

    name: str
    columns: tuple[int, ...]
    scale: float
    inside: tuple[str, ...] = ()
    """The names of a group's columns; empty for a single column."""
    folds: int | None = None
    """The number of folds that chose it; None where there were none."""
    importance: float | None = None
    """The share of what is explained that is lost without it; None where that is not known."""
    importance_error: float | None = None
    """Its standard error."""
    sure: str | None = None
    """How sure it is: see :mod:`srff.inspect.sureness`."""

    @property
    def described(self) -> str:
        """The name, and the columns where it does not tell them."""
        if not self.inside or self.name == together(self.inside):
            return self.name
        return f"{self.name} ({_listed(self.inside)})"


def feature_names(model: Any) -> list[str]:
    """The names of the inputs, made up as scikit-learn does where they have none."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None:
        return [str(name) for name in known]
    return [f"x{i}" for i in range(model.n_features_in_)]


def n_entries(model: Any) -> int:
    """What can be selected: the variables, those of a group as one."""
    number = _group_numbers(model)
    return int(model.n_features_in_ if number is None else number.max() + 1)


def selected(model: Any) -> list[Entry]:
    """What the model uses, that which is missed most first; where that is not known, by scale."""
    scale, missed = np.asarray(model.scale_), getattr(model, "importances_", None)
    order = np.argsort(-scale, kind="stable")
    if missed is not None:
        order = order[np.argsort(-missed[order], kind="stable")]
    return _entries(model, [int(i) for i in order if scale[i] > 0])


def near_misses(model: Any) -> list[Entry]:
    """What some folds chose and the model does not use, that which most chose first."""
    folds = _fold_counts(model)
    if folds is None:
        return []
    missed = np.where(np.asarray(model.scale_) > 0, 0, folds)
    found = _entries(model, [int(i) for i in np.argsort(-missed, kind="stable") if missed[i]])
    return [entry for entry in found if not entry.scale]


def _entries(model: Any, order: list[int]) -> list[Entry]:
    """Columns, or the groups that they are of, in the order of the first of each."""
    known, scale, number = feature_names(model), np.asarray(model.scale_), _group_numbers(model)
    folds, words = _fold_counts(model), sureness(model)
    missed = getattr(model, "importances_", None)

    def entry(name: str, columns: tuple[int, ...], inside: tuple[str, ...] = ()) -> Entry:
        # A column of a group that does not vary is chosen with it.
        chosen = None if folds is None else int(folds[list(columns)].max())
        first = columns[int(np.argmax(scale[list(columns)]))]
        return Entry(
            name,
            columns,
            float(scale[first]),
            inside,
            chosen,
            None if missed is None else float(missed[first]),
            None if missed is None else float(model.importances_se_[first]),
            None if words is None else str(words[first]),
        )

    if number is None:
        return [entry(known[i], (i,)) for i in order]
    given = group_names(model.groups, number, getattr(model, "feature_names_in_", None))
    out = []
    for group in dict.fromkeys(number[order].tolist()):
        columns = tuple(np.flatnonzero(number == group).tolist())
        inside = tuple(known[i] for i in columns)
        if len(columns) == 1:
            out.append(entry(inside[0], columns))
        else:
            out.append(entry(given.get(group) or together(inside), columns, inside))
    return out


def _fold_counts(model: Any) -> np.ndarray | None:
    """How many folds chose each column; None where there were no folds."""
    agreement = getattr(model, "fold_agreement_", None)
    return None if agreement is None else np.rint(agreement * model.n_folds_).astype(int)


def _group_numbers(model: Any) -> np.ndarray | None:
    """The number of each column's group; None where every column stands for itself."""
    groups = getattr(model, "groups", None)
    if groups is None:
        return None
    columns = getattr(model, "feature_names_in_", None)
    try:
        number = parse_groups(groups, model.n_features_in_, columns)
    except ValueError:
        return None  # set after the fit, for another table
    return None if number.max() + 1 == number.size else number


def group_names(groups: Any, number: np.ndarray, columns: Any) -> dict[int, str]:
    """The names that the user gave to groups, by their numbers."""
    if isinstance(groups, Mapping):
        where = {} if columns is None else {str(name): i for i, name in enumerate(columns)}
        firsts = [(str(name), list(group)[:1]) for name, group in groups.items()]
        return {
            int(number[where[c[0]] if isinstance(c[0], str) else int(c[0])]): name
            for name, c in firsts
            if c
        }
    labels = list(groups)
    if labels and all(isinstance(label, str) for label in labels):
        return {int(group): str(label) for group, label in zip(number, labels, strict=True)}
    return {}


def together(inside: tuple[str, ...]) -> str:
    """The name of a group that has none, from those of its columns."""
    return " + ".join(_few(inside))


def _listed(inside: tuple[str, ...]) -> str:
    return ", ".join(_few(inside))


def _few(inside: tuple[str, ...]) -> list[str]:
    if len(inside) <= MOST_TOGETHER + 1:
        return list(inside)
    return [*inside[:MOST_TOGETHER], f"{len(inside) - MOST_TOGETHER:,} more"]


def noun(model: Any, count: int = 2) -> str:
    """What is selected: variables, or groups of such too."""
    word = "variable" if count == 1 else "variables"
    grouped = _group_numbers(model) is not None
    return f"{word} or group{'' if count == 1 else 's'}" if grouped else word


def known_error(model: Any) -> float:
    """The error on new rows; where that is not known, on the rows that chose the model."""
    expected = getattr(model, "expected_error_", np.nan)
    return float(expected if np.isfinite(expected) else model.validation_error_)


def judged_on_new_rows(model: Any) -> bool:
    """Whether the error on new rows is known."""
    return bool(np.isfinite(getattr(model, "expected_error_", np.nan)))


def error_on_new_rows(model: Any) -> str:
    """That error with its standard error."""
    return measured(model.expected_error_, model.expected_error_se_)


def held_out(model: Any) -> str:
    """The rows that it comes from."""
    how = f" in {model.n_folds_:,} folds" if model.n_folds_ else ", which also chose the model"
    return f"{model.judged_rows_:,.0f} rows held out{how}"


def also_chosen(model: Any, most: int = MOST_NAMED) -> str:
    """What some folds chose and the model does not use, in words; empty if there is nothing."""
    by_count: dict[int, list[str]] = {}
    for entry in near_misses(model):
        by_count.setdefault(entry.folds or 0, []).append(entry.described)
    return "; ".join(
        f"in {count} of {model.n_folds_} folds: {first_few(names, most)}"
        for count, names in by_count.items()
    )


def certainty(model: Any, most: int = MOST_NAMED) -> str:
    """Which of the variables are confirmed, in words; empty if nobody has asked."""
    found = getattr(model, "confidence_", None)
    if found is None:
        return ""
    rate = f"at a false discovery rate of {100 * found.q:.3g} %"
    sure, kept = found.support, selected(model)
    confirmed = [visible(e.described) for e in kept if sure[list(e.columns)].any()]
    others = [visible(e.described) for e in kept if not sure[list(e.columns)].any()]
    own = np.asarray(model.scale_) > 0
    beside = [k for k in np.flatnonzero(found.confirmed_units) if not own[found.unit_of == k].any()]
    if kept and not others:
        text = f"{'all' if len(kept) > 1 else 'it is'} confirmed {rate}"
    elif not confirmed:
        text = f"none is confirmed {rate}"
    else:
        text = f"confirmed {rate}: {first_few(confirmed, most)}"
        text += f"; not confirmed: {first_few(others, most)}"
    if beside:
        named = first_few((visible(str(found.names[k])) for k in beside), most)
        text += f"; confirmed too, though not in the model: {named}"
    return text


def explained(model: Any) -> float:
    """The share of the error without any variable that the model removes; none by no variable.

    Of squares, that is the share of the variance that is explained.
    """
    error = known_error(model)
    if np.isfinite(error) and not np.any(model.scale_):
        return 0.0
    ratio = error / model.constant_error_ if model.constant_error_ else np.nan
    return float(1 - (ratio**2 if outcome_of(model).loss.quadratic else ratio))


def compared(model: Any, part: float | None = None) -> str:
    """How much better the model is than none, in words."""
    part, outcome = explained(model) if part is None else part, outcome_of(model)
    if outcome.loss.quadratic:
        return f"{share(part)} of the variance explained"
    if np.isnan(part):
        return f"that of {outcome.constant} is not known"
    word = "less" if part >= 0 else "more"
    return f"{share(abs(part))} {word} than that of {outcome.constant}"


def others(model: Any) -> dict[str, tuple[float, float]]:
    """Errors of other models on the same rows held out, with their standard errors."""
    return dict(getattr(model, "reference_errors_", None) or {})


def yardsticks(model: Any) -> str:
    """The error of the best constant and of other models on the same rows, in a few words."""
    constant = outcome_of(model).constant.removeprefix("the ")
    known = {constant: model.constant_error_, **{k: e for k, (e, _) in others(model).items()}}
    return ", ".join(f"{name} {figure(error)}" for name, error in known.items())


def stand_ins(model: Any, most: int = MOST_STAND_INS) -> list[str]:
    """Columns that could stand in for such as are used, in words."""
    table, names = getattr(model, "stand_ins_", None), feature_names(model)
    if table is None:
        return []
    rows = zip(*(table[name][:most].tolist() for name in table), strict=True)
    return [
        f"{visible(names[i])} could stand in for {visible(names[j])} (correlation {r:.2f})"
        for i, j, r in rows
    ]


def dropped_last(model: Any, most: int = MOST_STAND_INS) -> list[str]:
    """What the search did with and without before it was dropped, in words."""
    table, names = getattr(model, "dropped_", None), feature_names(model)
    if table is None:
        return []
    rows = zip(table["column"][:most].tolist(), table["rise"][:most].tolist(), strict=True)
    return [f"{visible(names[i])} ({_without(rise)})" for i, rise in rows]


def _without(rise: float) -> str:
    """What the error of the search does when a variable is dropped.

    One that falls owes that to what was learned later, too: by how much says nothing.
    """
    return f"error rises by {share(rise)}" if rise > NOTHING else "no worse without"


def summary(model: Any) -> str:
    """The selected variables and the error, in a line."""
    chosen, total = selected(model), n_entries(model)
    if not chosen:
        text = f"none of {total:,} {noun(model, total)} matters"
        known = others(model)
        if known and judged_on_new_rows(model):
            text += f"; error on new rows: {error_on_new_rows(model)} ({yardsticks(model)})"
        return text
    text = f"{len(chosen):,} of {total:,} {noun(model, total)}{_named(model, chosen)}"
    sure = certainty(model)
    text += f"; {sure}" if sure else ""
    try:
        outcome = outcome_of(model)
    except ValueError:
        return text  # a loss that is none was set after the fit
    what = "" if outcome.loss.quadratic else f"{outcome.measure.name}; "
    if judged_on_new_rows(model):
        beside = f"{what}{yardsticks(model)}; {held_out(model)}"
        error = f"error on new rows: {error_on_new_rows(model)} ({beside})"
        missed = also_chosen(model)
        beyond = [f"also chosen {missed}"] if missed else []
        return "; ".join([text, error, compared(model), *beyond])
    if not np.isfinite(model.validation_error_):
        return text
    what = what.replace(";", ",")
    return f"{text}; validation error {number(model.validation_error_)} ({what}{compared(model)})"


def _named(model: Any, chosen: list[Entry]) -> str:
    """The variables by how sure they are, where that is known and no test has said so already."""
    words = [word for word in (SURE, MAYBE) if any(entry.sure == word for entry in chosen)]
    if not words or hasattr(model, "confidence_"):
        return ": " + first_few((_with_doubt(model, entry) for entry in chosen), MOST_NAMED)
    parts = []
    for word in words:
        named = [_with_doubt(model, entry) for entry in chosen if entry.sure == word]
        parts.append(f"{first_few(named, MOST_NAMED)} ({'all ' if named[1:] else ''}{word})")
    return ": " + "; ".join(parts)


def _with_doubt(model: Any, entry: Entry) -> str:
    """The name, and the number of folds where not all chose it."""
    name = visible(entry.described)
    if entry.folds is None or entry.folds == model.n_folds_:
        return name
    return f"{name} (in {entry.folds} of {model.n_folds_} folds)"


def html_summary(model: Any) -> str:
    """The same for a notebook."""
    return rendered("summary.html", summary=summary(model))
