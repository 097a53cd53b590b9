"""Rows of a table as a model reads them: to predict, and to judge it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srff._utils.text import shown
from srff.cli.errors import Refusal, WrongUse, no_such_column, say
from srff.cli.options import CsvForm
from srff.data.encoding.columns import Category
from srff.data.encoding.frames import UNSEEN, coded, is_category
from srff.data.encoding.level_means import level_rows
from srff.data.encoding.table_columns import CATEGORY
from srff.data.sources.batches import gaps_of, matrix
from srff.inspect.evaluate import outputs_of
from srff.inspect.intervals import interval_of
from srff.inspect.outcome import outcome_of

if TYPE_CHECKING:
    from srff.data.sources.tables import Table

MOST_ROWS = 20_000
"""Rows of a table that a model is judged on: every second, fourth, ... of more."""

AT_THE_END = 1e-6
"""What a number may be beyond the range of the fit, by its width: digits of float32 and of text."""

MOST_VALUES = 10**8
"""Rows times inputs."""


@dataclass(frozen=True)
class Predictor:
    """A model over the columns of a table that it needs."""

    model: Any
    columns: list[str]
    used: list[int]
    """The places of these among the inputs of the fit."""
    interval: float | None = None
    """The share of an interval around predictions of numbers."""

    def rows(self, batch: Any) -> np.ndarray:
        """Rows of a batch as numbers; categories as the numbers of their levels."""
        if self.model.encoding_ is None or not self.columns:
            return matrix(batch, self.columns)
        levels = tuple(self.model.levels_[k] for k in self.used)
        return coded(batch.select(self.columns), levels)

    def accepted(self, X: np.ndarray) -> np.ndarray:
        """Which of these numbers the model can read."""
        encoding = self.model.encoding_
        good = np.isfinite(X)
        for i, k in enumerate(self.used if encoding is not None else []):
            of = encoding.columns[k]
            if isinstance(of, Category):
                rows = level_rows(X[:, i], of.n_levels)
                good[:, i] = np.isfinite(of.table).all(axis=1)[rows]
            elif of.fill is not None:
                good[:, i] |= np.isnan(X[:, i])
        return good

    def beyond(self, X: np.ndarray) -> np.ndarray:
        """Which of these numbers are outside all that the fit has seen."""
        ends = getattr(self.model, "input_range_", None)
        if ends is None:  # of a file from before there were any
            return np.zeros(X.shape, dtype=bool)
        low, high = ends[self.used].T
        spare = AT_THE_END * (high - low)
        return (low - X > spare) | (X - high > spare)

    def unseen(self, X: np.ndarray) -> np.ndarray:
        """Which of these are levels that the fit did not see."""
        levels = self.model.levels_ or [None] * self.model.n_features_in_
        of_levels = np.array([is_category(levels[k]) for k in self.used], dtype=bool)
        return (X == UNSEEN) & of_levels

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """Predictions of each target, or chances of the classes: (rows, targets or classes).

        With an interval there are two more columns beside each target.
        """
        model = self.model
        encoding = model.encoding_
        if encoding is not None:
            # The columns of the table are those that the encoded ones need.
            X = encoding.take(model.columns_).unchecked(X)
        else:
            X = X[:, np.searchsorted(self.used, model.columns_)]
        outcome = outcome_of(model)
        said = outcome.predictions(outputs_of(model, X))
        if self.interval is None:
            return said
        ends = interval_of(outcome.loss, said, model.held_out_errors_, self.interval)
        return np.stack([said, *ends], axis=2).reshape(len(said), -1)


def predictor_of(model: Any, table: Table, beside: Sequence[str] = ()) -> Predictor:
    """The model with the columns that it needs, in its order; ``beside`` are none of them."""
    names = input_names(model, table, beside)
    used = np.unique(model.columns_).tolist()
    if model.encoding_ is not None:
        used = model.encoding_.needed(model.columns_).tolist()
    columns = [str(names[k]) for k in used]
    table.check_columns(columns)
    levels = model.levels_ or [None] * len(names)
    text = {str(names[k]) for k in used if levels[k] is not None and levels[k].dtype.kind in "OU"}
    table.read_as_text(sorted(text))
    for k, name in zip(used, columns, strict=True):
        reason = table.unfit(name)
        if reason is None and levels[k] is None and table.kind(name) == CATEGORY:
            reason = table.example(name)
        if reason:
            raise Refusal(f"{table.label}: column {shown(name)} cannot be used: {reason}.")
    return Predictor(model, columns, used)


def input_names(model: Any, table: Table, beside: Sequence[str] = ()) -> list[str]:
    """The names of the inputs; those of a table's columns where the fit had none."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    # Fitted on an array: columns are told by their places.
    own = [name for name in table.names if name not in beside]
    if len(own) != model.n_features_in_:
        there = f"{len(own)} columns" + (" beside the target" if beside else "")
        raise Refusal(
            f"{table.label}: there are {there}; the model has no names of columns and needs "
            f"exactly {model.n_features_in_}."
        )
    return own


def judged_rows(model: Any, path: str, targets: list[str], form: CsvForm) -> tuple[Any, np.ndarray]:
    """The inputs of a fit and the targets of a table's rows; zero where the model does not look.

    Rows without a target, or with a gap that the model cannot fill, are left out.
    """
    from srff.cli.tables import opened

    n_targets = getattr(model, "n_targets_", None) or 1
    if len(targets) != n_targets:
        raise WrongUse(f"--target is given {len(targets)} times; the model has {n_targets}.")
    with opened(path, form) as table:
        for name in targets:
            if name not in table.names:
                raise WrongUse(no_such_column("--target", name, table.names))
        table.check_columns(targets)
        for name in targets:
            _check_target(model, table, name)
        names = input_names(model, table, targets)
        rows = _some_rows(table, predictor_of(model, table, targets), targets, len(names))
    return _frame(model, rows, names, targets)


def _check_target(model: Any, table: Table, name: str) -> None:
    """A target of the kind that the model was fitted to; classes of text are read as text."""
    classes = getattr(model, "classes_", None)
    if classes is not None and classes.dtype.kind in "OU":
        table.read_as_text([name])
    reason = table.unfit(name)
    if reason is None and classes is None and table.kind(name) == CATEGORY:
        reason = table.example(name)
    if reason:
        raise Refusal(f"{table.label}: column {shown(name)} cannot be used: {reason}.")


def _some_rows(table: Table, predictor: Predictor, targets: list[str], n_inputs: int) -> Any:
    """The rows of the columns that are needed, or an even part of them."""
    import pyarrow as pa

    most = max(min(MOST_ROWS, MOST_VALUES // max(n_inputs, 1)), 100)
    columns = predictor.columns
    kept: list[tuple[np.ndarray, Any]] = []
    n_rows, n_left_out, step = 0, 0, 1
    for batch in table.batches([*columns, *targets]):
        batch = batch.select([*columns, *targets])
        whole = predictor.accepted(predictor.rows(batch)).all(axis=1)
        for name in targets:
            whole &= ~gaps_of(batch, name)
        n_left_out += int(whole.size - whole.sum())
        batch = batch.filter(pa.array(whole))
        kept.append((np.arange(n_rows, n_rows + batch.num_rows), batch))
        n_rows += batch.num_rows
        while n_rows > most * step:
            step *= 2
            kept = [_every(places, rows, step) for places, rows in kept]
        kept[-1] = _every(*kept[-1], step)
    if not n_rows:
        why = ": in every one a value is missing" if n_left_out else ""
        raise Refusal(f"{table.label}: there are no rows to judge by{why}.")
    if n_left_out:
        say(
            f"{n_left_out:,} of {n_rows + n_left_out:,} rows are left out: there is no target, or "
            "a value is missing that the model cannot fill in."
        )
    return pa.Table.from_batches([rows for _, rows in kept])


def _every(places: np.ndarray, rows: Any, step: int) -> tuple[np.ndarray, Any]:
    """The rows whose numbers are multiples of a step."""
    import pyarrow as pa

    kept = places % step == 0
    return (places, rows) if kept.all() else (places[kept], rows.filter(pa.array(kept)))


def _frame(model: Any, rows: Any, names: list[str], targets: list[str]) -> tuple[Any, np.ndarray]:
    """Inputs as a data frame with all columns of the fit, and targets."""
    import pandas as pd

    n = rows.num_rows
    there = {name: rows.column(name).to_pandas() for name in rows.column_names}
    X = pd.DataFrame({name: there.get(name, np.zeros(n)) for name in names}, index=range(n))
    ys = [np.asarray(there[name]) for name in targets]
    y = ys[0] if len(ys) == 1 else np.column_stack(ys)
    return (X if hasattr(model, "feature_names_in_") else X.to_numpy()), y
