"""Parameters of estimators as plain data; what is not such is left out, with a note."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff._utils import parameters
from srff.core.kernels import Gaussian, Laplace, Matern, get_kernel
from srff.core.losses import LOSSES, Logistic, Loss, Multinomial, Pinball, Poisson, Squared
from srff.data.encoding.learning import HOWS
from srff.data.engines import parse_memory
from srff.estimators.selector import INPUTS, KEEPS, MISSING, REFINEMENTS, SOLVERS
from srff.export.format.container import Refused, check_keys, mapping, quoted
from srff.export.format.kinds import short_text
from srff.selection.config import EFFORTS

LEFT_OUT = (
    *("kernel", "loss", "categories"),
    *("validation", "random_state", "checkpoint", "callback"),
)
"""Parameters that may be other than plain data; a folder is left out too, as it is of the machine
it is on: a file from elsewhere must not say where a fit is to write."""

LATER = {"effort": "auto", "keep": "fewest", "must_keep": None, "fresh_draws": False}
"""Parameters that files of formats before 3, 4 and 6 lack, and the values that they stand for."""

CODE = ("kernel", "loss", "categories")
"""Those of them that the user is told of."""

OBJECTS: dict[str, dict[str, Any]] = {
    "kernel": {"Gaussian": Gaussian, "Laplace": Laplace, "Matern": Matern},
    "loss": {
        "Squared": Squared,
        "Logistic": Logistic,
        "Multinomial": Multinomial,
        "Poisson": Poisson,
        "Pinball": Pinball,
    },
}
"""Objects that are plain data: a name, and numbers."""

NUMPY_TYPES = {t.__name__: t for t in (np.float64, np.float32, np.int64, np.int32, np.uint8)}
"""Types that a OneHotEncoder may have been given."""

Check = Callable[[str, Any], Any]


def packed_parameters(model: Any) -> dict[str, Any]:
    """A model's parameters that are plain data, and a note for each of the others."""
    given: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for name, value in model.get_params(deep=False).items():
        if name in LEFT_OUT and not _is_plain(name, value):
            notes[name] = "".join(c for c in _named_type(value) if c.isprintable())[:200]
        else:
            given[name] = _plain(name, value)
    for name in CODE:
        if name not in notes:
            continue
        value = getattr(model, name)
        if name == "loss":
            _check_loss(value)
        warnings.warn(
            f"{name}={value!r} is code, which is not saved: the loaded model predicts the same, "
            f"but its parameter {name} has the default value.",
            UserWarning,
            stacklevel=4,  # whoever called save
        )
    return {"parameters": given, "left_out": notes}


def unpacked_parameters(make: Any, about: Mapping[str, Any]) -> Any:
    """An estimator with checked parameters, the defaults where they were left out."""
    given, notes = (
        mapping("parameters", about["parameters"]),
        mapping("left_out", about["left_out"]),
    )
    known = set(make().get_params())
    for name in LATER.keys() & known - given.keys():
        given[name] = LATER[name]
    check_keys("parameters and left_out", {**given, **notes}, known)
    for name, note in notes.items():
        if name not in LEFT_OUT or name in given:
            raise Refused(f"left_out has {quoted(name)}")
        short_text(f"left_out of {name}", note)
    return make(**{name: _checked(name, value) for name, value in given.items()})


def _is_plain(name: str, value: Any) -> bool:
    if name in OBJECTS:
        return isinstance(value, str) or type(value) in OBJECTS[name].values()
    if name == "categories":
        return isinstance(value, str) or _described_encoder(value) is not None
    if name == "validation":
        return value is None or isinstance(value, Real)
    return value is None or (name == "random_state" and isinstance(value, Integral))


def _named_type(value: Any) -> str:
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"a {type(value).__name__}, {name}" if callable(value) else f"a {name}"


def _check_loss(loss: Any) -> None:
    """Refuse a loss of the user's own that predictions go through."""
    if not isinstance(loss, Loss) or type(loss).prediction is not Loss.prediction:
        raise ValueError(
            f"The model cannot be saved: loss={loss!r} has a prediction of its own, which is code. "
            "joblib.dump keeps such models."
        )


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if name in OBJECTS and type(value) in OBJECTS[name].values():
        numbers = {key: _scalar(key, number) for key, number in vars(value).items()}
        return {"name": type(value).__name__, **numbers}
    if name == "categories" and not isinstance(value, str):
        return _described_encoder(value)
    if name == "dtype" and isinstance(value, type | np.dtype):
        return np.dtype(value).name
    if name in ("groups", "class_weight") and isinstance(value, Mapping):
        keys = [_scalar(name, key) for key in value]
        return {"keys": keys, "values": [_listed(name, each) for each in value.values()]}
    if name in ("groups", "target_weights", "categorical_features", "must_keep"):
        return _listed(name, value)
    return _scalar(name, value)


def _listed(name: str, value: Any) -> Any:
    """A number, a text or None, or a list of such or of lists of them."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return [_listed(name, each) for each in value]
    return _scalar(name, value)


def _scalar(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    plain = value is None or isinstance(value, bool | int | float | str)
    if not plain or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(
            f"The model cannot be saved: {name}={value!r} is not a finite number, a text or None."
        )
    return value


def _described_encoder(encoder: Any) -> dict[str, Any] | None:
    """An encoder of scikit-learn as plain data; None if it is not."""
    kind = type(encoder).__name__
    if kind not in ENCODERS or type(encoder) is not ENCODERS[kind][0]:
        return None
    given = encoder.get_params(deep=False)
    if "dtype" in given:
        given["dtype"] = getattr(given["dtype"], "__name__", None)
    try:
        given = {key: _scalar(key, value) for key, value in given.items()}
        _encoder({"name": kind, **given})
    except (ValueError, Refused):
        return None
    return {"name": kind, **given}


def _encoder(value: dict[str, Any]) -> Any:
    """An encoder from plain data of any origin."""
    name = value.get("name")
    if not (isinstance(name, str) and name in ENCODERS):
        raise Refused(f"the parameter categories is {quoted(value)}, which is not accepted")
    make, checks = ENCODERS[name]
    given = {key: each for key, each in value.items() if key != "name"}
    check_keys(name, given, set(checks))
    for key, check in checks.items():
        _check_by(check, f"{key} of {name}", given[key])
    if "dtype" in given:
        given["dtype"] = NUMPY_TYPES[given["dtype"]]
    try:
        return make(**given)
    except TypeError:
        raise Refused(f"{name} of this scikit-learn has other parameters") from None


def _checked(name: str, value: Any) -> Any:
    """The value as the estimators take it, if it is one that they accept."""
    if name in OBJECTS and isinstance(value, dict):
        return _object(name, value)
    if name == "categories" and isinstance(value, dict):
        return _encoder(value)
    if name in ("groups", "class_weight") and isinstance(value, dict):
        value = _mapping(name, value)
    _check_by(CHECKS[name], f"the parameter {name}", value)
    return value


def _check_by(check: Check, what: str, value: Any) -> None:
    """Refuse a value that a check does not pass."""
    try:
        check(what, value)
    except (ValueError, TypeError, OverflowError, AttributeError):
        raise Refused(f"{what} is {quoted(value)}, which is not accepted") from None


def _object(name: str, value: dict[str, Any]) -> Any:
    """A kernel or a loss."""
    kind = value.get("name")
    make = OBJECTS[name].get(kind) if isinstance(kind, str) else None
    numbers = {key: each for key, each in value.items() if key != "name"}
    if make is None or set(numbers) != {each.name for each in fields(make)}:
        raise Refused(f"the parameter {name} is {quoted(value)}, which is not accepted")
    for key, number in numbers.items():
        if type(number) not in (int, float):
            raise Refused(f"{key} of the {name} is {quoted(number)}, which is not a number")
    try:
        return make(**numbers)
    except ValueError:
        listed = " and ".join(f"{key} of the {name} is {quoted(n)}" for key, n in numbers.items())
        raise Refused(f"{listed}, which is not accepted") from None


def _mapping(name: str, value: dict[str, Any]) -> dict[Any, Any]:
    """A mapping of numbers and texts, from lists of its keys and values."""
    what = f"the parameter {name}"
    check_keys(what, value, {"keys", "values"})
    keys, values = value["keys"], value["values"]
    if not (_are_labels(keys) and isinstance(values, list) and len(keys) == len(values)):
        raise Refused(f"{what} is {quoted(value)}, which is not accepted")
    made = dict(zip(keys, values, strict=True))
    if len(made) != len(keys):
        raise Refused(f"{what} has a key twice")
    return made


def _or(accepted: Any, check: Check) -> Check:
    """A check that lets one more value pass."""

    def checked(name: str, value: Any) -> None:
        if not (type(value) is type(accepted) and value == accepted):
            check(name, value)

    return checked


def _among(accept: Callable[[Any], Any]) -> Check:
    """A check by a condition."""

    def checked(name: str, value: Any) -> None:
        if not accept(value):
            raise ValueError(name)

    return checked


def _integer(low: int) -> Check:
    return lambda name, value: parameters.check_integer(name, value, low)


def _choice(*accepted: str) -> Check:
    return lambda name, value: parameters.check_choice(name, value, accepted)


def _is_memory(value: Any) -> bool:
    return value is None or (not isinstance(value, bool) and parse_memory(value) is not None)


def _are_labels(value: Any) -> bool:
    """Whether this is a list of numbers and texts."""
    return isinstance(value, list) and all(isinstance(v, bool | int | float | str) for v in value)


def _are_groups(value: Any) -> bool:
    """Whether these are lists of columns, or labels; the model's columns are checked later."""
    if isinstance(value, dict):
        value = list(value.values())
        return all(_are_columns(group) for group in value)
    return _are_labels(value) or (isinstance(value, list) and all(map(_are_columns, value)))


def _are_columns(value: Any) -> bool:
    """Whether this is a list of positions and names."""
    return isinstance(value, list) and all(type(column) in (int, str) for column in value)


def _are_categorical(value: Any) -> bool:
    """Whether this names columns: positions, names or a mask."""
    if not isinstance(value, list):
        return value is None or value.lower() == "from_dtype"
    types = {type(each) for each in value}
    return types in (set(), {str}, {int}, {bool})


def _are_class_weights(value: Any) -> bool:
    return all(parameters.is_number(w) and 0 < w < math.inf for w in value.values())


def _is_frequency(value: Any) -> bool:
    return (type(value) is int and value >= 1) or (type(value) is float and 0 < value < 1)


def _check_target_weights(name: str, value: Any) -> None:
    if not (isinstance(value, list) and all(map(parameters.is_number, value))):
        raise ValueError(name)
    parameters.check_target_weights(value, len(value))


_IS_NONE = _among(lambda value: value is None)
_IS_THREADS = _among(lambda value: type(value) is int and 0 < abs(value) <= 2**16)
_IS_SEED = _among(lambda value: type(value) is int and 0 <= value < 2**32)

_IS_TRUTH = _among(lambda value: isinstance(value, bool))

CHECKS: dict[str, Check] = {
    "loss": _choice(*LOSSES),
    "groups": _or(None, _among(_are_groups)),
    "n_features_to_select": _or(None, _integer(1)),
    "must_keep": _or(None, _among(lambda v: isinstance(v, list) and _are_categorical(v))),
    "class_weight": _or(None, _or("balanced", _among(_are_class_weights))),
    "target_weights": _or("variance", _or("equal", _check_target_weights)),
    "categorical_features": _among(_are_categorical),
    "categories": _choice(*HOWS),
    "missing": _choice(*MISSING),
    "kernel": lambda name, value: get_kernel(str(value)),
    "n_components": _or("auto", _integer(1)),
    "alpha": _or("auto", parameters.check_positive),
    "budget": _or("auto", parameters.check_positive),
    "solver": _choice(*SOLVERS),
    "refine": _or(None, _choice(*REFINEMENTS)),
    "effort": _choice(*EFFORTS),
    "keep": _choice(*KEEPS),
    "inputs": _choice(*INPUTS),
    "validation": _or(None, parameters.check_share_or_folds),
    "max_iter": _or(None, _integer(1)),
    "tol": _or(None, lambda name, value: parameters.check_tolerance(value)),
    "dtype": _choice("auto", "float32", "float64"),
    "device": _among(lambda value: re.fullmatch("[a-z]{1,20}(:[0-9]{1,4})?", value)),
    "memory_limit": _among(_is_memory),
    "n_jobs": _or(None, _IS_THREADS),
    "random_state": _or(None, _IS_SEED),
    "checkpoint": _IS_NONE,
    "fresh_draws": _IS_TRUTH,
    "verbose": _among(lambda value: isinstance(value, bool | int)),
    "callback": _IS_NONE,
}
"""What each parameter may be."""

_AUTO = _choice("auto")

ENCODERS: dict[str, tuple[Any, dict[str, Check]]] = {
    "OneHotEncoder": (
        OneHotEncoder,
        {
            "categories": _AUTO,
            "drop": _or(None, _choice("first", "if_binary")),
            "sparse_output": _IS_TRUTH,
            "dtype": _choice(*NUMPY_TYPES),
            "handle_unknown": _choice("error", "ignore", "infrequent_if_exist", "warn"),
            "min_frequency": _or(None, _among(_is_frequency)),
            "max_categories": _or(None, _integer(1)),
            "feature_name_combiner": _choice("concat"),
        },
    ),
    "TargetEncoder": (
        TargetEncoder,
        {
            "categories": _AUTO,
            "target_type": _choice("auto", "continuous", "binary", "multiclass"),
            "smooth": _or("auto", _among(lambda v: parameters.is_number(v) and 0 <= v < math.inf)),
            "cv": _integer(2),
            "shuffle": _IS_TRUTH,
            "random_state": _or(None, _IS_SEED),
        },
    ),
}
"""Encoders that are plain data, and what each of their parameters may be."""
