"""How sure a fitted model is of each variable, in one of three words.

*Sure*: chosen in every fold, and missed clearly on rows held out: they are predicted worse without
the variable by more than ``CLEARLY`` standard errors.  *Maybe*: in the model without that, or
chosen in at least ``HALF`` of the folds.  *No*: all others.

Where :func:`srff.confidence` was run and its result kept as ``confidence_``, its tests decide:
*sure* is confirmed at its rate and not doubtful, *maybe* in the model or confirmed without being
sure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CLEARLY = 2.0
"""Standard errors."""

HALF = 0.5

SURE, MAYBE, NO = "sure", "maybe", "no"


def sureness(model: Any) -> np.ndarray | None:
    """The word of each input; None where neither rows held out nor a test can tell."""
    used = np.asarray(model.scale_) > 0
    found = getattr(model, "confidence_", None)
    if found is not None:
        confirmed = np.asarray(found.confirmed_units)[found.unit_of]
        doubtful = np.asarray(found.doubtful)[found.unit_of]
        return _words(confirmed & ~doubtful, used | confirmed)
    missed = getattr(model, "importances_", None)
    if missed is None:
        return None
    clear = used & (missed > CLEARLY * model.importances_se_)
    chosen = model.fold_agreement_
    if chosen is None:
        return _words(clear, used)
    near = 1e-9  # shares of folds are rounded
    return _words(clear & (chosen >= 1 - near), used | (chosen >= HALF - near))


def _words(sure: np.ndarray, maybe: np.ndarray) -> np.ndarray:
    return np.where(sure, SURE, np.where(maybe, MAYBE, NO)).astype(object)
