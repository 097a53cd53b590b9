"""What a fit leaves on an estimator: the attributes that end with an underscore."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from srff.core.candidate import Candidate, Found
from srff.core.groups import Groups
from srff.data.encoding.columns import Encoding, Number
from srff.data.moments import Moments
from srff.data.problem import Problem
from srff.estimators.last_solve import solved_on_all_rows


@contextmanager
def whole_or_not_at_all(model: Any) -> Iterator[None]:
    """A fit that ends, or leaves every attribute as it was: a model of two fits is none."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


def store_model(model: Any, problem: Problem, found: Found) -> None:
    """The chosen candidate, its coefficients solved on every row."""
    chosen = solved_on_all_rows(problem, found.model)
    f = chosen.expansion()
    scale = np.zeros(problem.scale.size)
    scale[f.columns] = chosen.scale()
    used = scale[f.columns] > 0
    model.columns_ = f.columns[used]
    model.scale_ = scale_of_inputs(scale, problem.groups, problem.variance, model.encoding_)
    model.frequencies_, model.offsets_ = f.W[used], f.b
    _store_coefficients(model, problem, f.a, f.c)
    model.alpha_ = float(chosen.alpha)
    model.budget_ = problem.groups.total(model.columns_, scale[model.columns_])
    model.objective_ = np.array(chosen.objective)
    model.n_iter_ = max(len(chosen.objective) - 1, 1)
    model.path_ = path_table(found.candidates, problem)
    model.n_evaluations_ = found.n_evaluations
    model.model_kind_ = chosen.kind
    model.validation_error_ = float(problem.reported(chosen.validation_error))
    _store_expected(model, problem, found)
    model.input_map_ = problem.scaled[chosen.transform].transform.take(model.columns_)
    _store_common(model, problem)


def store_constant(model: Any, problem: Problem) -> None:
    """The model of data without anything to learn: a constant, and no variable."""
    what = "The target is" if problem.scale.any() else "Every input is"
    warnings.warn(
        f"{what} constant: the model predicts {model._constant_is()} and selects no variable.",
        UserWarning,
        stacklevel=3,
    )
    model.scale_ = np.zeros(model.n_features_in_)
    model.columns_ = np.zeros(0, dtype=np.intp)
    model.frequencies_ = np.zeros((0, problem.b.size))
    model.offsets_ = problem.b
    _store_coefficients(model, problem, *problem.at_constant())
    model.alpha_ = float("nan") if model.alpha == "auto" else float(model.alpha)
    model.budget_ = problem.budget
    model.objective_ = np.zeros(1)
    model.n_iter_ = 1
    model.path_ = path_table([], problem)
    model.n_evaluations_ = 0
    model.model_kind_ = "mean"
    model.validation_error_ = float("nan")
    model.expected_error_ = model.expected_error_se_ = model.judged_rows_ = float("nan")
    model.n_folds_, model.fold_agreement_ = 0, None
    model.input_map_ = problem.standard.take(model.columns_)
    _store_common(model, problem)


def scale_of_inputs(
    scale: np.ndarray, groups: Groups, variance: np.ndarray, encoding: Encoding | None
) -> np.ndarray:
    """The scale of each of the user's columns, from those of the columns of the model.

    Columns of one group have one scale: ``sqrt(sum_s v_s scale_s^2 / sum_s v_s)`` over the model's
    columns, ``v_s`` their variances.
    """
    if groups.trivial and encoding is None:
        return scale
    of = groups.of
    n_groups = int(of.max()) + 1
    square = np.bincount(of, weights=variance * scale**2, minlength=n_groups)
    total = np.bincount(of, weights=variance, minlength=n_groups)
    each = np.sqrt(square / np.where(total > 0, total, 1.0))
    if encoding is None:
        return each[of]
    first = np.unique(encoding.source, return_index=True)[1]
    return each[of[first]]


def ranges_of(inputs: Moments, encoding: Encoding | None, n_features: int) -> np.ndarray:
    """The smallest and the largest value of each of the user's columns; NaN for categories."""
    ends = np.column_stack([inputs.low, inputs.high]).astype(np.float64)
    if encoding is None:
        return ends
    out = np.full((n_features, 2), np.nan)
    first = np.unique(encoding.source, return_index=True)[1]
    numbers = [k for k, column in enumerate(encoding.columns) if isinstance(column, Number)]
    out[numbers] = ends[first[numbers]]
    return out


def _store_coefficients(model: Any, problem: Problem, a: np.ndarray, c: np.ndarray) -> None:
    """Coefficients and constants in the target's units."""
    targets = problem.targets
    coef, intercept = a * targets.spread, targets.center + targets.spread * c
    if model._one_output():
        model.coefficients_, model.intercept_ = coef[:, 0], float(intercept[0])
    else:
        model.coefficients_, model.intercept_ = coef, intercept


def _store_expected(model: Any, problem: Problem, found: Found) -> None:
    """The error on new rows as users read it, and how far the folds agree on each column."""
    model.expected_error_, model.expected_error_se_ = problem.reported_with_error(*found.expected)
    model.judged_rows_ = float(found.n_judged)
    model.n_folds_, model.fold_agreement_ = 0, None
    if found.agreement is None:
        return
    model.n_folds_ = len(problem.folds)
    share = np.round(found.agreement * model.n_folds_) / model.n_folds_
    if model.encoding_ is not None:
        # The columns of one input come and go together.
        share = share[np.unique(model.encoding_.source, return_index=True)[1]]
    model.fold_agreement_ = share


def _store_common(model: Any, problem: Problem) -> None:
    if hasattr(model, "confidence_"):
        del model.confidence_  # it is of another fit
    model.center_, model.spread_ = problem.standard.center, problem.standard.spread
    model.sigma_ = problem.sigma
    model.target_spread_ = problem.targets.unit
    model.constant_error_ = float(problem.reported(problem.constant.loss))
    model.block_dtype_ = problem.dtype
    model.n_passes_ = problem.n_passes
    model.effective_passes_ = problem.effective_passes


def path_table(candidates: list[Candidate], problem: Problem) -> dict[str, np.ndarray]:
    """One row per candidate, errors as users read them."""

    def reported(candidate: Candidate, error: float) -> Any:
        return candidate.loss.reported(error, problem.targets.unit)

    def column(values: list[Any], dtype: Any = np.float64) -> np.ndarray:
        return np.array(values, dtype=dtype)

    return {
        "kind": column([c.kind for c in candidates], object),
        "inputs": column([c.transform for c in candidates], object),
        "alpha": column([c.alpha for c in candidates]),
        "budget": column([problem.groups.total(c.columns, c.scale()) for c in candidates]),
        "loss": column([c.loss.name for c in candidates], object),
        "training_error": column([reported(c, c.training_error) for c in candidates]),
        "validation_error": column([reported(c, c.validation_error) for c in candidates]),
        "n_variables": column([problem.groups.count(c.columns) for c in candidates], np.intp),
        "n_iter": column([max(len(c.objective) - 1, 0) for c in candidates], np.intp),
        "seconds": column([c.seconds for c in candidates]),
        # Versions that raced alphas left some early; their files have such rows.
        "stopped": np.zeros(len(candidates), dtype=bool),
    }
