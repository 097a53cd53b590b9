"""Parameters of estimators as plain data; what is not such is left out, with a note."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from srff import parameters
from srff.engines import parse_memory
from srff.io.container import Refused, check_keys, mapping, shown
from srff.io.kinds import line
from srff.kernels import Gaussian, Laplace, Matern, get_kernel
from srff.selecting import INPUTS, REFINEMENTS, SOLVERS

LEFT_OUT = ("kernel", "validation", "random_state", "checkpoint", "callback")
"""Parameters that may be other than plain data; a folder is left out too, as it is of the machine
it is on: a file from elsewhere must not say where a fit is to write."""

KERNELS = {"Gaussian": Gaussian, "Laplace": Laplace, "Matern": Matern}

Check = Callable[[str, Any], Any]


def packed_parameters(model: Any) -> dict[str, Any]:
    """A model's parameters that are plain data, and a note for each of the others."""
    given: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for name, value in model.get_params(deep=False).items():
        if name in LEFT_OUT and not _is_plain(name, value):
            notes[name] = "".join(c for c in _what(value) if c.isprintable())[:200]
        else:
            given[name] = _plain(name, value)
    if "kernel" in notes:
        warnings.warn(
            f"kernel={model.kernel!r} is code, which is not saved: the loaded model predicts the "
            "same, but its parameter kernel has the default value.",
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
    check_keys("parameters and left_out", {**given, **notes}, set(make().get_params()))
    for name, note in notes.items():
        if name not in LEFT_OUT or name in given:
            raise Refused(f"left_out has {shown(name)}")
        line(f"left_out of {name}", note)
    return make(**{name: _checked(name, value) for name, value in given.items()})


def _is_plain(name: str, value: Any) -> bool:
    if name == "kernel":
        return isinstance(value, str) or type(value) in KERNELS.values()
    if name == "validation":
        return value is None or isinstance(value, Real)
    return value is None or (name == "random_state" and isinstance(value, Integral))


def _what(value: Any) -> str:
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"a {type(value).__name__}, {name}" if callable(value) else f"a {name}"


def _plain(name: str, value: Any) -> Any:
    if type(value) in KERNELS.values():
        numbers = {key: _plain(key, number) for key, number in vars(value).items()}
        return {"name": type(value).__name__, **numbers}
    if name == "dtype" and isinstance(value, type | np.dtype):
        return np.dtype(value).name
    if isinstance(value, np.generic):
        value = value.item()
    plain = value is None or isinstance(value, bool | int | float | str)
    if not plain or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(
            f"The model cannot be saved: {name}={value!r} is not a finite number, a text or None."
        )
    return value


def _checked(name: str, value: Any) -> Any:
    """The value as the estimators take it, if it is one that they accept."""
    if name == "kernel" and isinstance(value, dict):
        return _kernel(value)
    try:
        CHECKS[name](name, value)
    except (ValueError, TypeError, OverflowError, AttributeError):
        raise Refused(f"the parameter {name} is {shown(value)}, which is not accepted") from None
    return value


def _kernel(value: dict[str, Any]) -> Any:
    name, nu = value.get("name"), value.get("nu")
    make = KERNELS.get(name) if isinstance(name, str) else None
    numbers = {"nu": nu} if make is Matern else {}
    if make is None or value != {"name": name, **numbers}:
        raise Refused(f"the parameter kernel is {shown(value)}, which is not accepted")
    if numbers and not (type(nu) in (int, float) and 0 < nu < math.inf):  # type: ignore[operator]
        raise Refused(f"nu of the kernel is {shown(nu)}, which is not a positive number")
    return make(**numbers)


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


_IS_NONE = _among(lambda value: value is None)
_IS_THREADS = _among(lambda value: type(value) is int and 0 < abs(value) <= 2**16)
_IS_SEED = _among(lambda value: type(value) is int and 0 <= value < 2**32)

CHECKS: dict[str, Check] = {
    "kernel": lambda name, value: get_kernel(str(value)),
    "n_components": _or("auto", _integer(1)),
    "alpha": _or("auto", parameters.check_positive),
    "budget": _or("auto", parameters.check_positive),
    "solver": _choice(*SOLVERS),
    "refine": _or(None, _choice(*REFINEMENTS)),
    "inputs": _choice(*INPUTS),
    "validation": _or(None, parameters.check_fraction),
    "max_iter": _or(None, _integer(1)),
    "tol": _or(None, lambda name, value: parameters.check_tolerance(value)),
    "dtype": _choice("auto", "float32", "float64"),
    "device": _among(lambda value: re.fullmatch("[a-z]{1,20}(:[0-9]{1,4})?", value)),
    "memory_limit": _among(_is_memory),
    "n_jobs": _or(None, _IS_THREADS),
    "random_state": _or(None, _IS_SEED),
    "checkpoint": _IS_NONE,
    "verbose": _among(lambda value: isinstance(value, bool | int)),
    "callback": _IS_NONE,
    "n_knots": _integer(2),
    "degree": _integer(1),
    "block_size": _or(None, _or("auto", _integer(2))),
    "n_permutations": _integer(1),
    "n_taus": _integer(2),
    "smoothing": parameters.check_positive,
    "matrices": _choice("stored", "implicit"),
    "refit_width": _choice("same", "selected"),
}
"""What each parameter may be."""
