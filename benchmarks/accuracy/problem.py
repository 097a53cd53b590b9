"""What a problem is: rows of a seed, what is known of the truth, and the score of a selection.

The truth is a list of groups of columns: a group is found if any of its columns is selected, so
that copies of one variable count once.  Columns that are in no group and not ``neutral`` are
irrelevant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]

VALIDATION_ROWS, TEST_ROWS = 1000, 10000


@dataclass(frozen=True)
class Draw:
    """Rows of one seed."""

    train: Pair
    validation: Pair
    test: Pair
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """A problem: its rows for a seed, and what is known of it.

    Parameters
    ----------
    groups : tuple of tuples of int or None
        The relevant variables, each with the columns that carry it; None for real data.
    neutral : tuple of int
        Columns that count neither as true nor as false: their effect is below anything that the
        noise lets one see.
    noise_names : tuple of str
        Of real data: inputs that are known to be noise.
    floor : float
        The smallest possible RMSE on the test rows; nan if it is not known.
    """

    name: str
    family: str
    formula: str
    n_train: int
    n_features: int
    rows: Callable[[int], Draw]
    groups: tuple[tuple[int, ...], ...] | None = None
    neutral: tuple[int, ...] = ()
    noise_names: tuple[str, ...] = ()
    floor: float = float("nan")

    def draw(self, seed: int) -> Draw:
        """Training, validation and test rows of a seed, the same for every method."""
        return self.rows(seed)


@dataclass(frozen=True)
class Score:
    """Selected columns against the truth."""

    n_true: int | None
    true: int | None
    false: int | None
    exact: bool | None


def score(problem: Problem, selected: np.ndarray, names: tuple[str, ...]) -> Score:
    """Groups found, columns selected that carry nothing, and whether the set is right.

    Of real data only the inputs known to be noise are counted, as false.
    """
    chosen = set(np.flatnonzero(selected).tolist())
    if problem.groups is None:
        if not problem.noise_names:
            return Score(None, None, None, None)
        noise = {names.index(name) for name in problem.noise_names}
        return Score(None, None, len(chosen & noise), None)
    found = sum(bool(chosen & set(group)) for group in problem.groups)
    allowed = {i for group in problem.groups for i in group} | set(problem.neutral)
    false = len(chosen - allowed)
    return Score(len(problem.groups), found, false, found == len(problem.groups) and not false)


def cut(X: np.ndarray, y: np.ndarray, n_train: int, n_validation: int) -> Draw:
    """Rows in their order: training, validation, test."""
    cuts = (n_train, n_train + n_validation)
    train, validation, test = zip(np.split(X, cuts), np.split(y, cuts), strict=True)
    return Draw(train, validation, test)
