"""Which single variables, and which pairs, the target depends on: a fast look at low orders.

A dense kernel is blind to a fast oscillation in a few of many variables; waves of one variable
are not.  Both screens are sums over rows, need no search, and err on the side of keeping: what
they hand over is refined and pruned later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from srff.core.engine import Engine
from srff.core.features import Expansion
from srff.core.losses import SQUARED, Squared
from srff.selection.config import ScreenConfig

DEFAULT = ScreenConfig()


@dataclass(frozen=True)
class Screen:
    """Variables, strongest first, and the frequency that each is best seen at.

    The first ``n_significant`` are so after Bonferroni.
    """

    columns: np.ndarray
    scale: np.ndarray
    n_significant: int

    def significant(self) -> Screen:
        """Those alone."""
        n = self.n_significant
        return Screen(self.columns[:n], self.scale[:n], n)


def marginal_screen(
    engine: Engine,
    config: ScreenConfig = DEFAULT,
    model: Expansion | None = None,
    loss: Squared = SQUARED,
) -> tuple[np.ndarray, np.ndarray]:
    """For each variable, minus the log p-value of its best band, and that band's frequency.

    In a band the target is regressed on the m waves of the variable: with their covariances ``A``
    (m x m, with a little on the diagonal) and ``c`` (m x q) with the targets, the gain in squared
    error is ``tr c' A^-1 c``.  Under independence it is, over the noise of a target, chi-squared
    with about q m degrees of freedom.  Both arrays that are returned have length d.
    """
    scores, rates = [], []
    # The target has unit variance in all.
    variance = 1.0 if model is None else engine.loss(loss, model)
    for band in config.bands:
        moments, products = engine.marginal_statistics(loss, np.array(band), model)
        G = np.moveaxis(moments, 2, 0)  # (d, m, m)
        c = np.moveaxis(products, 1, 0)  # (d, m, q)
        # Take out the constant, the first wave.
        mean, total = G[:, :1, 1:] / G[:, :1, :1], c[:, :1]
        second = G[:, 1:, 1:] - mean * mean.transpose(0, 2, 1) * G[:, :1, :1]
        cross = c[:, 1:] - mean.transpose(0, 2, 1) * total
        trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
        jitter = 1e-3 * trace / second.shape[1] + 1e-12 * engine.n
        A = second + jitter * np.eye(second.shape[1])
        # The targets share the variance: each is taken to have its part of the noise.
        q = cross.shape[2]
        gain = np.sum(cross * np.linalg.solve(A, cross), axis=(1, 2))
        freedom = q * np.trace(np.linalg.solve(A, second), axis1=1, axis2=2)
        noise = np.maximum(variance - gain / engine.n, 1e-12) / q
        scores.append(-stats.chi2.logsf(gain / noise, np.maximum(freedom, 1e-3)))
        rates.append(np.sqrt(np.mean(np.square(band))))
    best = np.argmax(scores, axis=0)
    return np.max(scores, axis=0), np.array(rates)[best]


def pair_screen(
    engine: Engine,
    columns: np.ndarray,
    config: ScreenConfig = DEFAULT,
    n_targets: int = 1,
    model: Expansion | None = None,
    loss: Squared = SQUARED,
) -> np.ndarray:
    """For each variable, minus the log p-value of its best product with another variable.

    With the waves u of one variable and v of another, less their means, ``z^2 = (sum u v y)^2 / sum
    (u v y)^2`` is chi-squared with one degree of freedom under independence; Bonferroni for the
    products that a variable is tried in.
    """
    few = columns.size <= config.two_frequencies
    both = config.pair_frequencies
    frequencies = both if few else (float(np.mean(both)),)
    mixtures = _mixtures(n_targets, config.mixtures)
    best = np.zeros(columns.size)
    for mixture in mixtures:
        first, second = engine.pair_statistics(loss, np.array(frequencies), columns, mixture, model)
        m, d = first.shape[0], first.shape[2]
        z2 = first**2 / np.maximum(second, 1e-300)
        z2[:, :, np.arange(d), np.arange(d)] = 0.0
        best = np.maximum(best, np.max(z2, axis=(0, 1, 3)))
    return -stats.chi2.logsf(best, 1.0) - np.log(len(mixtures) * m * m * max(d - 1, 1))


def _mixtures(n_targets: int, most: int) -> np.ndarray:
    """Each target for itself; of many, a few mixtures of all at random."""
    if n_targets <= most:
        return np.eye(n_targets)
    return np.random.RandomState(n_targets).normal(size=(most, n_targets))


def screen(
    engine: Engine,
    usable: np.ndarray,
    config: ScreenConfig = DEFAULT,
    n_targets: int = 1,
    model: Expansion | None = None,
    loss: Squared = SQUARED,
) -> Screen:
    """The variables that either screen finds strongest, and how many are significant.

    With a model it is its residuals that are looked at.
    """
    marginal, rate = marginal_screen(engine, config, model, loss)
    score = marginal - np.log(len(config.bands))
    if usable.size > 1:
        most = min(config.pair_variables, max(int(config.pair_share * engine.n), 2))
        tried = usable[np.argsort(-score[usable], kind="stable")[:most]]
        pairs = np.full(score.shape, -np.inf)
        pairs[tried] = pair_screen(engine, tried, config, n_targets, model, loss)
        rate = np.where(pairs > score, np.mean(config.pair_frequencies), rate)
        score = np.maximum(score, pairs)
    score = score - np.log(2 * usable.size)
    best = usable[np.argsort(-score[usable], kind="stable")][: config.handed_over]
    return Screen(best, rate[best], int(np.sum(score[best] > -np.log(config.level))))
