"""Can drawn columns be told from real ones?  Where they can, a p-value is not to be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

MOST_ROWS = 2_000
"""Rows that a classifier is asked about."""

NEAREST = 20
"""Other columns that it sees beside those of the unit."""

CLEARLY = 0.55
"""Share of pairs told apart from which on copies differ by more than what does no harm."""

LEVEL = 0.01
"""Chance that copies which are right are called wrong."""


@dataclass(frozen=True)
class ToldApart:
    """How often a classifier says which of a row and its copy is real: one half by chance."""

    share: float
    doubtful: bool


def told_apart(
    others: np.ndarray, real: np.ndarray, drawn: np.ndarray, rng: np.random.Generator
) -> ToldApart:
    """Boosted trees that are shown half of the rows are asked about the others, and vice versa.

    Each row stands with its own columns and with drawn ones; of the two that which looks more drawn
    is said to be so.  By chance the number of right answers is binomial.

    Parameters
    ----------
    others, real, drawn : ndarrays of shapes (n_rows, n_others), (n_rows, n_columns) twice
        Codes of other columns, of the unit's own, and of copies of these.
    rng : Generator
        For the halves.

    Returns
    -------
    told_apart : ToldApart
    """
    order = rng.permutation(real.shape[0])[:MOST_ROWS]
    others, real, drawn = others[order], real[order], drawn[order]
    half = np.arange(order.size) % 2 == 0
    right = np.zeros(order.size)
    for asked in (half, ~half):
        shown = ~asked
        right[asked] = _right(others, real, drawn, shown, asked)
    p_value = stats.binomtest(int(right.sum()), order.size, alternative="greater").pvalue
    share = float(right.mean())
    return ToldApart(share, bool(share > CLEARLY and p_value < LEVEL))


def _right(
    others: np.ndarray, real: np.ndarray, drawn: np.ndarray, shown: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """For each row that is asked about whether the copy is said to be the copy; ties are halves."""
    both = [np.concatenate([others, each], axis=1) for each in (real, drawn)]
    trees = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=0
    )
    with threadpool_limits(1):
        trees.fit(
            np.concatenate([each[shown] for each in both]),
            np.repeat([0, 1], int(np.count_nonzero(shown))),
        )
        of_real, of_drawn = (trees.decision_function(each[asked]) for each in both)
    ties = np.arange(of_real.size) % 2
    return np.where(of_drawn == of_real, ties, of_drawn > of_real)
