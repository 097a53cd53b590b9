"""What a fit considered, as the table that users read."""

from __future__ import annotations

from typing import Any

import numpy as np

from srff.core.candidate import Candidate
from srff.data.problem import Problem


def path_table(models: list[Candidate], problem: Problem) -> dict[str, np.ndarray]:
    """One row per candidate, errors as users read them."""

    def reported(model: Candidate, error: float) -> Any:
        return model.loss.reported(error, problem.y_unit)

    def column(values: list[Any], dtype: Any = np.float64) -> np.ndarray:
        return np.array(values, dtype=dtype)

    return {
        "kind": column([m.kind for m in models], object),
        "inputs": column([m.transform for m in models], object),
        "alpha": column([m.alpha for m in models]),
        "budget": column([problem.groups.total(m.columns, m.scale()) for m in models]),
        "loss": column([m.loss.name for m in models], object),
        "training_error": column([reported(m, m.training_error) for m in models]),
        "validation_error": column([reported(m, m.validation_error) for m in models]),
        "n_variables": column([problem.groups.count(m.columns) for m in models], np.intp),
        "n_iter": column([max(len(m.objective) - 1, 0) for m in models], np.intp),
        "seconds": column([m.seconds for m in models]),
        "stopped": column([m.stopped for m in models], bool),
    }
