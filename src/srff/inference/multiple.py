"""From p-values to what is confirmed: false discovery control in a split, and over several."""

from __future__ import annotations

import numpy as np
from scipy.stats import false_discovery_control


def confirmed_in_split(p_values: np.ndarray, chosen: np.ndarray, level: float) -> np.ndarray:
    """Which units a split confirms: Benjamini and Hochberg's rule over those that it chose.

    The choice was made on other rows, so the rule need count no other unit.

    Parameters
    ----------
    p_values : ndarray of shape (n_units,)
        One for each unit; only those of chosen ones count.
    chosen : ndarray of shape (n_units,), bool
        The units that the split's search chose.
    level : float
        The false discovery rate of the split.

    Returns
    -------
    confirmed : ndarray of shape (n_units,), bool
    """
    confirmed = np.zeros(p_values.shape, dtype=bool)
    if chosen.any():
        confirmed[chosen] = np.asarray(false_discovery_control(p_values[chosen])) <= level
    return confirmed


def compound_e_values(confirmed: np.ndarray, level: float) -> np.ndarray:
    """``e_j = d 1{j in R} / (level max(|R|, 1))`` for the units ``R`` that a split confirms.

    The sum over null units of the means of these is at most d where the split's false discovery
    rate is at most ``level``; so it is for the mean over splits, however they depend on each other
    (Ren and Barber, JRSS B 2024).
    """
    return confirmed * (confirmed.size / (level * max(int(confirmed.sum()), 1)))


def e_values_of_splits(confirmed: np.ndarray, level: float) -> np.ndarray:
    """The mean over splits of their e-values; none for units that fewer than half of them confirm.

    Smaller e-values hold too.  Without that, a unit that one split alone confirms, beside little
    else, could come in where others confirm much.

    Parameters
    ----------
    confirmed : ndarray of shape (n_splits, n_units), bool
        What each split confirms at ``level``.
    level : float
        The false discovery rate of a split.

    Returns
    -------
    e_values : ndarray of shape (n_units,)
    """
    mean = np.mean([compound_e_values(each, level) for each in confirmed], axis=0)
    return np.where(2 * confirmed.sum(axis=0) >= len(confirmed), mean, 0.0)


def confirmed_by_e_values(e_values: np.ndarray, q: float) -> np.ndarray:
    """The k units of the largest e-values, k the largest with ``e_(k) >= d / (q k)``.

    The false discovery rate is at most ``q`` for compound e-values of any dependence (Wang and
    Ramdas, JRSS B 2022).
    """
    d = e_values.size
    falling = np.sort(e_values)[::-1]
    # Equality is common, and must not be lost in rounding.
    fits = falling * (1 + 1e-9) >= d / (q * np.arange(1, d + 1))
    if not fits.any():
        return np.zeros(d, dtype=bool)
    return e_values >= falling[np.flatnonzero(fits)[-1]]


def combined_p_values(p_splits: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """``min(1, 2 median_m p_jm |S_m|)``: for each unit a p-value from all splits.

    ``p_jm |S_m|`` is Bonferroni's correction for the size of the split's selection; twice the
    median of p-values is one, however they depend on each other (Meinshausen, Meier and Buehlmann,
    JASA 2009).  ``p_jm`` is one where split m did not choose j.
    """
    sizes = np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    return np.minimum(1.0, 2 * np.median(np.minimum(p_splits * sizes, 1.0), axis=0))
