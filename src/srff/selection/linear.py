"""Straight lines: linear models along the lasso's path.

Of few rows and many columns a sum of weak effects is often all that can be learned.  A line is the
middle of a slow wave, ``sin(w x) = w x`` nearly, so a linear model is one of slow random features,
one a column.  The lasso's solution ``w`` at the penalty ``lambda`` is a ridge solution too: that of
columns with scales ``gamma_j^2 = g |w_j|`` and ``alpha = 2 lambda g / k`` for k columns, since
``x_j'r / n = alpha w_j k / (2 gamma_j^2)`` is then ``lambda sign(w_j)``, which the lasso asks for.
So its variables and their scales go on as any other candidate's.  The whole path comes from two
sums over rows, of lines of one frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.linear_model import lars_path_gram

from srff._utils.threads import without_warnings
from srff.core.candidate import Candidate, Member, constant_candidate
from srff.core.coefficients import squared_loss, training_loss
from srff.core.features import Statistics
from srff.core.groups import each_column, shared
from srff.core.parametrisations import Scales
from srff.selection.panel import Folds, Panel, best_panel, nothing, panel_of, side_by_side
from srff.selection.penalty import at_penalties
from srff.selection.search import Search


@dataclass(frozen=True)
class Lines:
    """The lasso's path over some columns of one fold, and the sums that it came from."""

    columns: np.ndarray
    training: Statistics
    validation: Statistics
    penalties: np.ndarray
    sizes: np.ndarray
    """At each penalty, of each column the size of its coefficient: zero for most."""

    def spread(self, slow: float) -> np.ndarray:
        """That of each column among the training rows: sizes are in units of it."""
        S = self.training
        return np.sqrt(np.diag(S.G) / S.n * S.G.shape[0] / 2) / slow


def straight_lines(folds: Folds) -> list[list[Panel]]:
    """Linear panels of enough variables, for each penalty of the lasso those of several ridges."""
    each = side_by_side(folds, [partial(_lines, search) for search in folds])
    panels = []
    for number in range(len(folds[0].config.line_penalties)):
        made = [
            _candidates(search, lines, number) for search, lines in zip(folds, each, strict=True)
        ]
        at = [panel_of(folds, candidates) for candidates in zip(*made, strict=True)]
        if min(s.size(c) for s, c in zip(folds, at[0].each, strict=True)) >= folds[0].fewest:
            panels.append(at)
    folds[0].log.add(*[best_panel(at).row() for at in panels])
    return panels


def line_on(search: Search, like: Candidate, columns: np.ndarray) -> Candidate:
    """The linear candidate on these columns; scales of those that it has not are its smallest."""
    known = dict(zip(like.columns.tolist(), like.strength().tolist(), strict=True))
    scale = np.array([known.get(s, min(known.values())) for s in columns.tolist()])
    k, group = columns.size, search.groups.positions(columns)
    point = Scales.of(scale, np.eye(k), np.full(k, -np.pi / 2), group)
    loss, waves = search.problem.search_loss, (point.W, point.b, columns)
    training = search.engine.statistics(*waves, loss)
    validation = search.validation.statistics(*waves, loss)
    alpha = like.alpha * like.columns.size / k
    return _candidate(search, columns, point, training, validation, alpha)


def even_lines(search: Search, columns: np.ndarray) -> list[Candidate]:
    """Linear models by the problem's own loss, all columns alike, at falling penalties.

    The lasso's scales shrink weak columns twice, once they are chosen.  A ridge ``rho |w|^2 / 2``
    for the weights of standardised columns is ``alpha = rho g^2 / k`` for the coefficients of k
    waves of frequency g (``w_j^2 = 2 g^2 a_j^2 / k``).
    """
    problem, config, k = search.problem, search.config, columns.size
    if not k:
        constant = problem.loss, problem.constant.c
        return [constant_candidate(search.scaling, search.validation, *constant)] * len(
            config.even_penalties
        )
    slow, group = config.line_frequency, search.groups.positions(columns)
    point = Scales.of(np.full(k, slow), np.eye(k), np.full(k, -np.pi / 2), group)
    alphas = np.array(config.even_penalties) * slow**2 / k
    waves, near = (point.W, point.b, columns), problem.at_constant(k)
    made = at_penalties(search.engine, search.validation, waves, alphas, problem.loss, near)
    search.log.evaluated(len(made))
    return [
        Candidate(
            "linear",
            search.scaling,
            columns,
            (Member(point.W, point.b, p.alpha, p.found.coef, p.found.constant),),
            problem.loss,
            validation_error=p.error,
            training_error=p.found.training_error,
            point=point,
            n_rows=search.engine.n,
        )
        for p in made
    ]


def _lines(search: Search) -> Lines:
    """The path of one fold, over the columns of the highest correlations."""
    problem, config = search.problem, search.config
    loss, usable = problem.search_loss, problem.usable
    order = np.argsort(-_correlation(search)[usable], kind="stable")
    columns = problem.groups.completed(usable[order[: config.line_variables]], usable)
    k = columns.size
    waves = config.line_frequency * np.eye(k), np.full(k, -np.pi / 2), columns
    training = search.engine.statistics(*waves, loss)
    penalties, w = lasso_path(training, np.array(config.line_penalties))
    group = problem.groups.positions(columns)
    if group is not None:  # columns of one scale have one size, the mean of theirs
        count = shared(np.ones(k), group)
        w = np.stack([each_column(shared(sizes, group) / count, group) for sizes in w])
    return Lines(columns, training, search.validation.statistics(*waves, loss), penalties, w)


def _correlation(search: Search) -> np.ndarray:
    """For each column how much of the targets' squares its line explains by itself."""
    frequency = np.array([search.config.line_frequency])
    moments, products = search.engine.marginal_statistics(search.problem.search_loss, frequency)
    mean = moments[0, 2] / moments[0, 0]
    covariance = products[2] - mean[:, None] * products[0]
    variance = moments[2, 2] - mean**2 * moments[0, 0]
    return np.sum(covariance**2, axis=1) / np.maximum(variance, 1e-9 * moments[0, 0])


def lasso_path(S: Statistics, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of the lasso's coefficients (penalties, columns), columns in units of their spread.

    Penalties are shares of the smallest that leaves nothing; with several targets each has a path
    of its own, and sizes are the roots of the sums of squares.  Between its corners a path is a
    straight line.
    """
    unit = np.sqrt(np.maximum(np.diag(S.G) / S.n, np.finfo(float).tiny))
    gram, c = S.G / np.outer(unit, unit) / S.n, S.c / unit[:, None] / S.n
    penalties = shares * float(np.max(np.abs(c)))
    squares = np.zeros((shares.size, unit.size))
    for each in c.T:
        with without_warnings():  # of columns that are nearly the same one is left out
            corners, _, w = lars_path_gram(
                each, gram, n_samples=1, method="lasso", alpha_min=float(penalties[-1])
            )
        for column in np.flatnonzero(w.any(axis=1)):
            # Corners fall, and numpy's interpolation wants them to rise.
            squares[:, column] += np.interp(penalties, corners[::-1], w[column, ::-1]) ** 2
    return penalties, np.sqrt(squares)


def _candidates(search: Search, lines: Lines, number: int) -> list[Candidate]:
    """Those at one penalty of the lasso: it, and ridges around it; a constant where none is in."""
    shares = search.config.line_alphas
    sizes = lines.sizes[number]
    part = np.flatnonzero(sizes)
    if not part.size:
        return [nothing(search)] * len(shares)
    columns, w, k = lines.columns[part], sizes[part], part.size
    slow = search.config.line_frequency
    scale = slow * np.sqrt(w / w.max()) / lines.spread(slow)[part]
    point = Scales.of(scale, np.eye(k), np.full(k, -np.pi / 2), search.groups.positions(columns))
    training, validation = (
        _rescaled(S, part, point.strength() / slow) for S in (lines.training, lines.validation)
    )
    alpha = 2 * lines.penalties[number] * slow**2 / (w.max() * k)
    given = search.request.alpha
    alphas = [alpha * share if given is None else given / search.problem.unit for share in shares]
    return [_candidate(search, columns, point, training, validation, a) for a in alphas]


def _rescaled(S: Statistics, part: np.ndarray, ratio: np.ndarray) -> Statistics:
    """The sums of some of the lines at other frequencies: a slow sine grows with its frequency."""
    ratio = ratio * np.sqrt(S.G.shape[0] / part.size)
    return Statistics(
        S.G[np.ix_(part, part)] * np.outer(ratio, ratio), S.c[part] * ratio[:, None], S.s, S.n
    )


def _candidate(
    search: Search,
    columns: np.ndarray,
    point: Scales,
    training: Statistics,
    validation: Statistics,
    alpha: float,
) -> Candidate:
    """The ridge solution as a candidate."""
    found = training_loss(training, alpha)
    search.log.evaluated(1)
    return Candidate(
        "linear",
        search.scaling,
        columns,
        (Member(point.W, point.b, alpha, found.coef, found.constant),),
        search.problem.search_loss,
        validation_error=max(squared_loss(validation, found.coef), 0.0),
        training_error=found.training_error,
        point=point,
        n_rows=training.n,
    )
