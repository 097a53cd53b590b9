"""Arrays of other libraries, on any device, as what scikit-learn's checks accept."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_cupy_array, is_torch_array

HOW_TIMES = "Make numbers of dates and times first, such as days since one of them."

TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
"""Objects that are dates and times; those of pandas are among them."""


def usual_arithmetic() -> np.errstate:
    """NumPy's own answer to overflow and the like, whatever the caller's is; threads have it too.

    A chance that is too small for a number is zero, and no error.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def to_host(array: Any) -> Any:
    """The NumPy array of a torch tensor, a CuPy array or another library's array on any device.

    Values that are masked become missing ones.  Whatever else there is (NumPy's own arrays, data
    frames, lists, None) comes back as it is.
    """
    if isinstance(array, np.ma.MaskedArray):
        return _unmasked(array)
    if isinstance(array, np.ndarray):
        return array
    if is_torch_array(array):
        # NumPy has no bfloat16; every number of it is one of float32.
        known = array.float() if str(array.dtype) == "torch.bfloat16" else array
        return known.numpy(force=True)  # off its device, without its gradient
    if is_cupy_array(array):
        return array.get()
    if hasattr(array, "__dlpack__") and (
        is_array_api_obj(array) or not hasattr(array, "__array__")
    ):
        return _from_other_library(array)
    return array


def _unmasked(array: np.ma.MaskedArray) -> np.ndarray:
    """NaN among numbers and None among anything else, where a value is masked."""
    if not np.ma.is_masked(array):
        return array.data
    numbers = array.dtype.kind in "biufc"
    plain = np.array(array.data, np.result_type(array.dtype, np.float32) if numbers else object)
    plain[np.ma.getmaskarray(array)] = np.nan if numbers else None
    return plain


def _from_other_library(array: Any) -> np.ndarray:
    """By NumPy's protocol, or by DLPack where the library refuses that for arrays on a device."""
    if hasattr(array, "__array__"):
        try:
            return np.asarray(array)
        except (TypeError, RuntimeError):
            pass
    return np.from_dlpack(array, device="cpu")


def refuse_times(array: Any, what: str) -> None:
    """Refuse dates and times: which number one is depends on its unit, and NaT is one too.

    Of a list the first row is looked at; ``what`` is what an error calls the array.
    """
    if isinstance(array, list | tuple):
        try:
            array = np.asarray(array[:1])
        except (TypeError, ValueError):
            return  # no row of a table, which others will say
    dtype = getattr(array, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind == "O":
        objects = np.asarray(array, dtype=object).ravel().tolist()
        time = next((value for value in objects if isinstance(value, TIMES)), None)
        kind, dtype = ("M" if time is not None else "O"), type(time).__name__
    if kind in ("m", "M") or (kind is None and getattr(dtype, "is_temporal", bool)()):
        raise ValueError(f"{what} holds {dtype}, not numbers. {HOW_TIMES}")


class HostScoreMixin:
    """A score that takes a target and weights on any device; it stands before scikit-learn's."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How good predictions are: R squared of a regressor, the accuracy of a classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target, or labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        score : float
        """
        return super().score(X, to_host(y), to_host(sample_weight))  # type: ignore[misc]
