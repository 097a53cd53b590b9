"""Arrays of other libraries, on any device, as what scikit-learn's checks accept."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_cupy_array, is_torch_array


def usual_arithmetic() -> np.errstate:
    """NumPy's own answer to overflow and the like, whatever the caller's is; threads have it too.

    A chance that is too small for a number is zero, and no error.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def to_host(array: Any) -> Any:
    """The NumPy array of a torch tensor, a CuPy array or another library's array on any device.

    Whatever else there is (NumPy's own arrays, data frames, lists, None) comes back as it is.
    """
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


def _from_other_library(array: Any) -> np.ndarray:
    """By NumPy's protocol, or by DLPack where the library refuses that for arrays on a device."""
    if hasattr(array, "__array__"):
        try:
            return np.asarray(array)
        except (TypeError, RuntimeError):
            pass
    return np.from_dlpack(array, device="cpu")


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
