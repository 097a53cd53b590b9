"""How sure is it?  Each of several splits has a search of its own, judged on rows set aside."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from srff._utils import parameters
from srff._utils.progress import Callback, Progress, reporting
from srff._utils.threads import one_blas_thread
from srff.data.conditional.copies import nearest
from srff.data.conditional.predictors import predictors
from srff.estimators.classifier import SRFFClassifier
from srff.estimators.regressor import SRFFRegressor
from srff.estimators.validation import brings_splits
from srff.inference.multiple import (
    combined_p_values,
    confirmed_by_e_values,
    confirmed_in_split,
    e_values_of_splits,
)
from srff.inference.result import Confidence
from srff.inference.rows import Rows, checked_rows
from srff.inference.sampler_check import NEAREST, ToldApart, told_apart
from srff.inference.splits import SplitResult, judged_split
from srff.inference.units import Units, units_of
from srff.inspect.outcome import outcome_of

CHECKED_BELOW = 0.05
"""Units of no smaller p-value in any split are not asked whether their copies can be told apart:
nobody builds on them."""


def confidence(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    row_groups: Any = None,
    q: float = 0.1,
    n_splits: int = 5,
) -> Confidence:
    """How sure it is that each variable matters: false discovery control, p-values, stability.

    The hypothesis of a variable is that the target is independent of it given all other columns.
    The rows are set aside in turn, a part in each split.  A search of its own on the other rows
    says which variables are tested, on rows that it has not seen: the model's loss there is
    compared with the losses where the variable is drawn anew given all other columns
    (:func:`srff.inference.randomisation.missed`).  What several splits confirm is put together so
    that of the variables that are confirmed at most a share ``q`` does not matter, in the mean.
    Columns that are almost functions of one another are tested as one, and so are those of a
    group.

    Parameters
    ----------
    estimator : SRFFRegressor or SRFFClassifier
        What searches in each split; it is cloned, fitted or not.  Its ``random_state``, ``n_jobs``,
        ``verbose`` and ``callback`` are used, and its ``checkpoint`` folder has one for each split.
    X, y, sample_weight, row_groups
        As of ``fit``; of files, blocks and Dask collections at most 100,000 rows.  Rows of one
        group are set aside together.
    q : float, default=0.1
        The false discovery rate: the share of false ones among the confirmed, in the mean.
    n_splits : int, default=5
        Parts of the rows, each set aside once; no more than there are rows or groups of them.

    Returns
    -------
    confidence : Confidence

    Examples
    --------
    >>> import numpy as np
    >>> import srff
    >>> X = np.random.default_rng(0).normal(size=(400, 6))
    >>> y = X[:, 1] * X[:, 4] + 0.1 * np.random.default_rng(1).normal(size=400)
    >>> model = srff.SRFFRegressor(effort="quick", random_state=0)
    >>> found = srff.confidence(model, X, y)
    >>> sorted(found.confirmed)
    ['x1', 'x4']
    """
    return judged(estimator, X, y, sample_weight, row_groups, q, n_splits)[0]


def judged(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    row_groups: Any,
    q: float,
    n_splits: int,
) -> tuple[Confidence, Any]:
    """What :func:`confidence` gives, and a clone of the estimator that has checked the rows."""
    _check_parameters(estimator, q, n_splits)
    with reporting(estimator.verbose, estimator.callback) as report:
        seed = _seed(estimator)
        rows, model = checked_rows(estimator, X, y, sample_weight, row_groups, seed)
        units, splits = units_of(rows, model), rows.splits(n_splits)
        found = []
        for number, split in enumerate(splits):
            told = _told(report, number, len(splits))
            fitted = _of_split(estimator, number, told).fit(*rows.some(split[0]))
            with one_blas_thread():
                found.append(judged_split(rows, units, fitted, split, seed + number))
        with one_blas_thread():
            apart = _checks(rows, units, found, seed)
        report(Progress("confidence", 1000, 1000, ""))
    return _put_together(rows, units, found, apart, q, outcome_of(fitted)), model


def _check_parameters(estimator: Any, q: float, n_splits: int) -> None:
    if not isinstance(estimator, SRFFRegressor | SRFFClassifier):
        raise TypeError(
            f"estimator is a {type(estimator).__name__}; SRFFRegressor and SRFFClassifier are "
            "accepted."
        )
    if not (parameters.is_number(q) and 0 < q < 1):
        raise ValueError(f"q={q!r} must be a number between 0 and 1.")
    parameters.check_integer("n_splits", n_splits, 2)
    validation = estimator.validation
    if brings_splits(validation) and not hasattr(validation, "split"):
        raise ValueError(
            "validation has indices of rows, and each split has rows of its own: give a number of "
            "folds, a share or a splitter."
        )


def _seed(estimator: Any) -> int:
    """What splits and copies are drawn by; the same again where steps are kept."""
    given = estimator.random_state
    kept = given is None and estimator.checkpoint is not None
    return int(check_random_state(0 if kept else given).randint(2**31))


def _of_split(estimator: Any, number: int, told: Callback) -> Any:
    """The estimator for the search of one split."""
    model = clone(estimator).set_params(verbose=0, callback=told)
    # Nobody reads the yardsticks and importances of a split's model.
    kept = replace(model.selection_config, references=False, importances=False)
    model.selection_config = kept
    if estimator.checkpoint is not None:
        folder = os.path.join(os.fspath(estimator.checkpoint), f"split-{number + 1}")
        return model.set_params(checkpoint=folder)
    return model


def _told(report: Callback, number: int, count: int) -> Callable[[Progress], None]:
    """Where a split's search is as a part of the whole."""

    def told(of_fit: Progress) -> None:
        done = (number + of_fit.done / max(of_fit.total, 1)) / count
        what = ", ".join(text for text in (of_fit.stage, of_fit.message) if text)
        report(Progress(f"split {number + 1} of {count}", round(1000 * done), 1000, what))

    return told


def _checks(rows: Rows, units: Units, found: list[SplitResult], seed: int) -> dict[int, ToldApart]:
    """Of each unit that somebody may build on whether its copies can be told from real rows."""
    by_unit: dict[int, list[tuple[np.ndarray, np.ndarray, float]]] = {}
    for split in found:
        for tested in split.tested:
            by_unit.setdefault(tested.unit, []).append((split.aside, tested.drawn, tested.p_value))
    P, out = predictors(rows.codes, rows.levels), {}
    for unit, parts in by_unit.items():
        if min(p_value for *_, p_value in parts) > CHECKED_BELOW:
            continue
        columns = units.columns(unit)
        aside = np.concatenate([rows_aside for rows_aside, *_ in parts])
        own = P.positions(columns)
        others = np.delete(np.arange(P.source.size), own)
        near = others[nearest(P.values[:, others], P.values[:, own], NEAREST)]
        out[unit] = told_apart(
            rows.codes[np.ix_(aside, np.unique(P.source[near]))],
            rows.codes[np.ix_(aside, columns)],
            np.concatenate([drawn for _, drawn, _ in parts]),
            np.random.default_rng([seed, int(rows.column_keys[columns].min())]),
        )
    return out


def _put_together(
    rows: Rows,
    units: Units,
    found: list[SplitResult],
    apart: dict[int, ToldApart],
    q: float,
    outcome: Any,
) -> Confidence:
    """What all splits say together."""
    shape = len(found), units.count
    selected, p_splits = np.zeros(shape, dtype=bool), np.ones(shape)
    counts = rows.counts
    gain, squares = 0.0, np.zeros(units.count)
    rise = np.zeros(units.count)
    for number, split in enumerate(found):
        weight = counts[split.aside] / counts.sum()
        gain += float(weight @ split.gain)
        for tested in split.tested:
            selected[number, tested.unit] = True
            p_splits[number, tested.unit] = tested.p_value
            rise[tested.unit] += float(weight @ tested.rise)
            squares[tested.unit] += float(weight**2 @ tested.rise**2)
    n_effective = counts.sum() ** 2 / np.sum(counts**2)
    # Rows of splits that did not choose a unit have a rise of zero.
    variance = np.maximum(squares - rise**2 / n_effective, 0.0)
    confirmed = np.stack(
        [confirmed_in_split(p, chosen, q / 2) for p, chosen in zip(p_splits, selected, strict=True)]
    )
    e_values = e_values_of_splits(confirmed, q / 2)
    told = np.full(units.count, np.nan)
    doubtful = np.zeros(units.count, dtype=bool)
    for unit, check in apart.items():
        told[unit], doubtful[unit] = check.share, check.doubtful
    return Confidence(
        names=units.names,
        unit_of=units.of,
        near_copies=units.near_copies,
        q=float(q),
        n_rows=rows.n_rows,
        selected=selected,
        p_splits=p_splits,
        confirmed_splits=confirmed,
        p_values=combined_p_values(p_splits, selected),
        e_values=e_values,
        confirmed_units=confirmed_by_e_values(e_values, q),
        rise=rise,
        rise_se=np.sqrt(variance),
        gain=gain,
        loss=outcome.measure.of_rows,
        told_apart=told,
        doubtful=doubtful,
    )
