"""What a fit considered, as the table that users read."""

from __future__ import annotations

from typing import Any

import numpy as np

from srff.core.candidate import Candidate
from srff.data.problem import Problem


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
        "stopped": column([c.stopped for c in candidates], bool),
    }
