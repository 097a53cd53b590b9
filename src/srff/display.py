"""A fitted model in a few words, for a terminal and for a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

MOST_NAMED = 10


def names(model: Any) -> list[str]:
    """The names of the inputs, made up as scikit-learn does where they have none."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None:
        return [str(name) for name in known]
    return [f"x{i}" for i in range(model.n_features_in_)]


def by_scale(model: Any) -> list[int]:
    """The selected variables, that of the largest scale first."""
    order = np.argsort(-model.scale_, kind="stable")
    return order[: np.count_nonzero(model.scale_ > 0)].tolist()


def strongest(model: Any) -> list[str]:
    """Their names."""
    known = names(model)
    return [known[i] for i in by_scale(model)]


def explained(model: Any) -> float:
    """The share of the target's variance that the model explains on the validation rows."""
    return float(1 - (model.validation_error_ / model.target_spread_) ** 2)


def number(x: Any) -> str:
    """Four digits, as people write them."""
    x = float(x)
    if np.isnan(x):
        return "-"
    if x and not 1e-4 <= abs(x) < 1e7:
        return f"{x:.3e}"
    return f"{x:,.4g}" if abs(x) < 1e4 else f"{x:,.0f}"


def share(x: float) -> str:
    """A share in percent."""
    return "-" if np.isnan(x) else f"{100 * x:.1f} %"


def summary(model: Any) -> str:
    """The selected variables and the error, in a line."""
    chosen, d = strongest(model), model.n_features_in_
    if not chosen:
        return f"none of {d:,} variables matters"
    named = ", ".join(chosen[:MOST_NAMED]) + (", ..." if len(chosen) > MOST_NAMED else "")
    text = f"{len(chosen):,} of {d:,} variables: {named}"
    if np.isfinite(model.validation_error_):
        text += f"; validation error {number(model.validation_error_)}"
        text += f" ({share(explained(model))} of the variance explained)"
    return text


def html_summary(model: Any) -> str:
    """The same for a notebook."""
    return f"<p style='margin: .3em 0'>{escape(summary(model))}</p>"
