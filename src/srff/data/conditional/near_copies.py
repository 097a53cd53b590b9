"""Columns that are almost functions of one another: none of them can be missed alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from srff.data.conditional.predictors import Predictors

EXPLAINED = 0.97
"""Share of a column's variance from which on it is almost a function of others."""

JOINED = 0.5
"""Partial correlation from which on two such columns are of one cluster."""

ROWS_PER_PREDICTOR = 3
"""Rows for each predictor from which on functions of several columns can be told from chance."""

RIDGE = 1e-6
"""What stands for the variance of a column that is exactly a function of others."""

BLOCK = 1024


def clusters(P: Predictors, n_columns: int) -> np.ndarray:
    """The number of each column's cluster, in the order of their first columns.

    Two columns are of one cluster if each predictor of one has a correlation with one of the
    other's whose square is at least ``EXPLAINED``.  Where there are rows enough, columns of whose
    variance so much is explained by all others together are of one cluster if their partial
    correlation is at least ``JOINED``.
    """
    pairs = [*_by_correlation(P, n_columns)]
    if P.values.shape[0] >= ROWS_PER_PREDICTOR * P.source.size:
        pairs += _by_partial_correlation(P)
    first, second = (np.array([pair[k] for pair in pairs], dtype=np.intp) for k in (0, 1))
    ones = np.ones(first.size, dtype=bool)
    graph = sparse.coo_array((ones, (first, second)), shape=(n_columns, n_columns))
    label = connected_components(graph, directed=False)[1]
    _, at, number = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(at))[number]


def _by_correlation(P: Predictors, n_columns: int) -> Iterator[tuple[int, int]]:
    """Pairs of columns, the first one's predictors each close to one of the second's."""
    n, p = P.values.shape
    width = np.bincount(P.source, minlength=n_columns)
    for start in range(0, p, BLOCK):
        block = slice(start, start + BLOCK)
        near = (P.values[:, block].T @ P.values / n) ** 2 >= EXPLAINED
        i, j = np.nonzero(near)
        close = np.stack([i + start, P.source[j]])[:, P.source[i + start] != P.source[j]]
        # Each predictor counts once for a column, however many of the other's it is close to.
        predictor, other = np.unique(close, axis=1)
        pair, count = np.unique(np.stack([P.source[predictor], other]), axis=1, return_counts=True)
        for (a, b), k in zip(pair.T.tolist(), count.tolist(), strict=True):
            if k == width[a]:
                yield a, b


def _by_partial_correlation(P: Predictors) -> list[tuple[int, int]]:
    """Pairs of columns that are almost functions of all others, and of each other given these.

    With ``O = (C + r I)^-1`` of the correlations ``C``, the covariance of a column's predictors
    ``u`` given those of all others is ``O_uu^-1``, and ``-O_ij / sqrt(O_ii O_jj)`` is the partial
    correlation of two predictors.
    """
    n, p = P.values.shape
    if not p:
        return []
    C = P.values.T @ P.values / n
    omega = linalg.inv(C + RIDGE * np.eye(p), check_finite=False)
    high = []
    for column in np.unique(P.source):
        u = np.flatnonzero(P.source == column)
        left = np.diag(linalg.inv(omega[np.ix_(u, u)], check_finite=False))
        if np.mean(left) <= 1 - EXPLAINED:
            high.append(u)
    root = np.sqrt(np.diag(omega))
    partial = np.abs(omega) / np.outer(root, root)
    return [
        (int(P.source[u[0]]), int(P.source[v[0]]))
        for k, u in enumerate(high)
        for v in high[:k]
        if partial[np.ix_(u, v)].max() >= JOINED
    ]
