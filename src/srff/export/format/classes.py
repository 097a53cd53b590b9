"""The models that can be saved: what each consists of, and how its parts must fit together."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin

from srff.core.groups import parse_columns, parse_groups
from srff.data.encoding.columns import Category, Encoding
from srff.data.encoding.frames import categorical_mask
from srff.data.engines import BlockPlan, parse_memory
from srff.data.scaling import Standardise
from srff.estimators.classifier import SRFFClassifier
from srff.estimators.regressor import SRFFRegressor
from srff.estimators.rff import RFFRegressor
from srff.export.format.answer import ANSWER, INTERVALS, UNKNOWN, lacks
from srff.export.format.categories import ENCODED, Classes, ColumnEncoding, ColumnLevels
from srff.export.format.certainty import Certainty
from srff.export.format.container import Refused, check_keys, mapping, quoted
from srff.export.format.kinds import (
    FEATURE,
    FINITE,
    SMALL,
    BlockType,
    Count,
    Floats,
    InputMap,
    Integers,
    Kind,
    Number,
    OrNone,
    Packed,
    PerOutput,
    Stored,
    Table,
    Targets,
    Text,
    Texts,
    Truths,
)
from srff.export.format.settings import packed_parameters, unpacked_parameters

OUTPUTS = ("default", "pandas", "polars")
"""What ``set_output`` may have been given."""

LATER = {
    "n_evaluations_": 0,
    "expected_error_": float("nan"),
    "expected_error_se_": float("nan"),
    "judged_rows_": float("nan"),
    "n_folds_": 0,
    "fold_agreement_": None,
    "input_range_": None,
}
"""Attributes that files lack of formats before 3, from the second on before 4, and the last before
6; what stands for them."""

OPTIONAL = {
    "feature_names_in_": "feature_names_in_.lengths",
    "confidence_": "confidence_.names.lengths",
}
"""What a fitted model may lack, and a tensor that tells whether it does."""

EARLY = {"n_features_in_", "levels_", "encoding_", "n_targets_", "classes_", "input_range_"}
"""What a fit that failed leaves."""

STORED_AS = {"coefficients_": "coef_"}
"""Attributes that files hold by another name: scikit-learn takes a model's ``coef_`` for one number
an input, so that is no name for one a component."""

BASELINES = ("MeanBaseline", "RidgeBaseline", "LassoBaseline", "SPAM", "HSICLasso", "Denovas")
"""Classes that files of earlier versions may hold."""

FAR = 1e7
"""Largest distance from the mean, in spreads, of what a category or a gap becomes: over n training
rows it is at most the root of n."""


def taken_apart(model: Any) -> tuple[Packed, dict[str, Any]]:
    """A model taken apart: its arrays, and the rest as plain data."""
    fitted = _is_fitted(model)
    parts = _parts(model) if fitted else Packed()
    about = {
        "class": NAMES[type(model)],
        **packed_parameters(model),
        "output": getattr(model, "_sklearn_output_config", {}).get("transform"),
        "fitted": fitted,
        "values": parts.values,
        "column_major": parts.column_major,
    }
    return parts, about


def put_together(arrays: dict[str, np.ndarray], about: Any) -> Any:
    """The model put together from arrays and plain data of any origin."""
    what = "the model's description"
    about = mapping(what, about)
    keys = {"class", "parameters", "left_out", "output", "fitted", "values", "column_major"}
    check_keys(what, about, keys)
    name, output, order = about["class"], about["output"], about["column_major"]
    if name in BASELINES:
        raise Refused(f"it holds a {name}, and baselines are no longer stored as model files")
    if not (isinstance(name, str) and name in CLASSES):
        raise Refused(f"its class is {quoted(name)}; known are {', '.join(CLASSES)}")
    if not (isinstance(order, list) and all(isinstance(each, str) for each in order)):
        raise Refused("column_major is not a list of names")
    if not isinstance(about["fitted"], bool):
        raise Refused("fitted is neither true nor false")
    model = unpacked_parameters(CLASSES[name].make, about)
    if output is not None:
        selects = isinstance(model, SelectorMixin)
        if not (isinstance(output, str) and output in OUTPUTS and selects):
            raise Refused(f"output is {quoted(output)}")
        model.set_output(transform=output)
    stored = Stored(arrays, mapping("values", about["values"]), set(order))
    if about["fitted"]:
        return _with_attributes(model, stored)
    stored.check_empty()
    return model


def _is_fitted(model: Any) -> bool:
    names = set(CLASSES[NAMES[type(model)]].fitted) - set(OPTIONAL)
    missing = {name for name in names if name not in vars(model)}
    if missing >= names - EARLY:
        return False
    if missing:
        listed = ", ".join(sorted(missing))
        raise ValueError(f"The model cannot be saved: it lacks {listed}. Fit it again.")
    return True


def _parts(model: Any) -> Packed:
    """A fitted model's attributes taken apart."""
    out = Packed()
    for name, kind in CLASSES[NAMES[type(model)]].fitted.items():
        if name in vars(model):
            kind.pack(STORED_AS.get(name, name), getattr(model, name), out)
    return out


def _with_attributes(model: Any, stored: Stored) -> Any:
    """The model with its fitted attributes."""
    known = CLASSES[NAMES[type(model)]]
    for name, kind in known.fitted.items():
        if name in OPTIONAL and OPTIONAL[name] not in stored.arrays:
            continue
        if name in UNKNOWN and lacks(name, stored):
            stored.attributes[name] = deepcopy(UNKNOWN[name])
            continue
        if name in LATER and name not in (*stored.values, *stored.arrays):
            stored.attributes[name] = LATER[name]
            continue
        stored.attributes[name] = kind.unpack(STORED_AS.get(name, name), stored)
    stored.check_empty()
    for name, value in stored.attributes.items():
        setattr(model, name, value)
    _check_together(model)
    return model


def _check_together(model: Any) -> None:
    """Refuse parts that do not fit one another."""
    columns, components = model.columns_, model.offsets_.size
    if not components:
        raise Refused("it has no components")
    _check_selection(model)
    _check_labels(model)
    if (model.fold_agreement_ is None) != (model.n_folds_ == 0):
        raise Refused("n_folds_ does not fit fold_agreement_")
    ends = model.input_range_
    if ends is not None and (ends.shape[1] != 2 or (ends[:, 0] > ends[:, -1]).any()):
        raise Refused("input_range_ is no pair of rising ends for each column")
    parts = [getattr(model, name, None) is None for name in ("importances_", "importances_se_")]
    if parts[0] != parts[1]:
        raise Refused("importances_se_ does not fit importances_")
    inputs = model.input_map_
    if isinstance(inputs, Standardise) and not (
        np.array_equal(inputs.center, model.center_[columns])
        and np.array_equal(inputs.spread, model.spread_[columns])
    ):
        raise Refused("input_map_ does not fit center_ and spread_")
    if model.encoding_ is not None and columns.size:
        _check_near(inputs, model.encoding_.take(columns))
    dtype, limit = model.block_dtype_, parse_memory(model.memory_limit)
    _check_bounded("coef_", model.coefficients_)
    try:
        BlockPlan.choose(1, columns.size, components, dtype, memory_limit=limit, squares=False)
    except ValueError as error:
        raise Refused(str(error).removesuffix(".")) from None


def _check_selection(model: Any) -> None:
    """Refuse columns in use of variables that are not selected, and the other way round."""
    encoding, scale = model.encoding_, model.scale_
    source = model.columns_ if encoding is None else encoding.source[model.columns_]
    if not scale[source].all():
        raise Refused("columns_ has columns whose scale_ is zero")
    selected = np.unique(source).size
    # A group may have columns that do not vary: they are selected with it, and not in use.
    if getattr(model, "groups", None) is None and selected != np.count_nonzero(scale):
        raise Refused(
            f"scale_ selects {np.count_nonzero(scale)} variables, columns_ has those of {selected}"
        )


def _check_labels(model: Any) -> None:
    """Refuse parameters that speak of other columns than those of the model."""
    size, names = model.n_features_in_, getattr(model, "feature_names_in_", None)
    categorical = getattr(model, "categorical_features", None)
    try:
        parse_groups(getattr(model, "groups", None), size, names)
        named = categorical_mask(categorical, size, names)
        parse_columns(getattr(model, "must_keep", None), size, names, "must_keep")
    except ValueError as error:
        raise Refused(str(error).removesuffix(".")) from None
    for k in np.flatnonzero(named):
        if model.levels_ is None or model.levels_[k] is None:
            raise Refused(f"categorical_features names column {k}, which levels_ has as numbers")


def _check_near(inputs: Any, encoding: Encoding) -> None:
    """Refuse what stands for a level or a gap if it is so far out that features would overflow."""
    if not isinstance(inputs, Standardise):
        return  # scores are bounded
    at = 0
    for column in encoding.columns:
        here = slice(at, at + column.width)
        at += column.width
        if isinstance(column, Category):
            values = column.table[~np.isnan(column.table[:, 0])]
        else:
            center = float(inputs.center[here][0])  # nothing far out where there is no fill
            number = [center if column.fill is None else column.fill] * column.value
            marks = [[0.0], [1.0]] if column.indicator else [[]]
            values = np.array([number + mark for mark in marks])
        with np.errstate(over="ignore"):
            far = np.abs((values - inputs.center[here]) / inputs.spread[here])
        if (far > FAR).any():
            raise Refused("encoding_ has numbers that are too far from center_")


def _check_bounded(name: str, coefficients: np.ndarray) -> None:
    """Refuse coefficients of bounded functions whose sum may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.abs(coefficients).sum())
    if not total <= FINITE:
        raise Refused(f"{name} has numbers that are too large")


@dataclass(frozen=True)
class ModelFormat:
    """A class of model, and its fitted attributes."""

    make: type
    fitted: Mapping[str, Kind]


ANY = Number(any_float=True)
COLUMNS = ("columns",)

INPUT: dict[str, Kind] = {
    "n_features_in_": Count(1, "columns"),
    "feature_names_in_": Texts(COLUMNS),
}

_RESULTS: dict[str, Kind] = {
    "center_": Floats((ENCODED,)),
    "spread_": Floats((ENCODED,), low=SMALL),
    "scale_": Floats(COLUMNS, low=0.0),
    "input_range_": OrNone(Floats((*COLUMNS, "ends"), any_float=True)),
    "columns_": Integers(("columns in use",), below=ENCODED),
    "frequencies_": Floats(("columns in use", "components"), -FEATURE, FEATURE),
    "offsets_": Floats(("components",), -FEATURE, FEATURE),
    "coefficients_": PerOutput(("components",)),
    "intercept_": PerOutput(),
    "alpha_": ANY,
    "budget_": Number(low=0.0),
    "objective_": Floats(any_float=True),
    "n_iter_": Count(1),
    "path_": Table(
        {
            "kind": Texts,
            "inputs": Texts,
            "alpha": Floats,
            "budget": Floats,
            "loss": Texts,
            "training_error": Floats,
            "validation_error": Floats,
            "n_variables": Integers,
            "n_iter": Integers,
            "seconds": Floats,
            "stopped": Truths,
        }
    ),
    "model_kind_": Text(),
    "validation_error_": ANY,
    "expected_error_": ANY,
    "expected_error_se_": ANY,
    "judged_rows_": ANY,
    "n_folds_": Count(),
    "fold_agreement_": OrNone(Floats(COLUMNS, low=0.0, high=1.0)),
    "constant_error_": ANY,
    "input_map_": InputMap(),
    "sigma_": Number(low=0.0, or_none=True),
    "target_spread_": Number(low=0.0),
    "block_dtype_": BlockType(),
    "n_passes_": Count(),
    "effective_passes_": Number(low=0.0),
    "n_evaluations_": Count(),
    "confidence_": Certainty(),
}


def _random_feature_kinds(outputs: Mapping[str, Kind]) -> dict[str, Kind]:
    """In the order of unpacking: what sets a dimension comes before what has it."""
    tables: dict[str, Kind] = {"levels_": ColumnLevels(), "encoding_": ColumnEncoding()}
    return {**INPUT, **tables, **outputs, **_RESULTS}


_PLAIN = _random_feature_kinds({"n_targets_": Targets()})
REGRESSION = {**_PLAIN, **ANSWER, **INTERVALS}
CLASSIFICATION = {**_random_feature_kinds({"classes_": Classes()}), **ANSWER}

CLASSES: dict[str, ModelFormat] = {
    "SRFFRegressor": ModelFormat(SRFFRegressor, REGRESSION),
    "SRFFClassifier": ModelFormat(SRFFClassifier, CLASSIFICATION),
    "RFFRegressor": ModelFormat(RFFRegressor, _PLAIN),
}
"""The classes that a file can name."""

NAMES = {known.make: name for name, known in CLASSES.items()}
