"""The random features of one block of rows: the only mathematics whose size is the number of rows.

For a block ``X`` (rows x d), frequencies ``W`` (d x D) and offsets ``b`` (D)::

    T = X W + b,    Z = sqrt(2 / D) cos(T)

Everything the method asks of the data is a sum over blocks of what the functions below return.
They are written once against the array API, so a block may be a NumPy array, a torch tensor on
any device or any other array that ``array_api_compat`` knows.

``weight`` is a vector of non-negative row weights, or None for ones; a row of weight 2 counts as
that row written twice.  ``Y`` always has two dimensions (rows x targets).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

Array = Any
"""An array of any library that follows the array API."""


@dataclass(frozen=True)
class Statistics:
    """What a quadratic objective needs of the data: ``G = Z'Z``, ``c = Z'Y``, ``s = Y'Y``, ``n``.

    ``s`` is the trace of ``Y'Y`` and ``n`` the sum of the row weights.
    """

    G: np.ndarray
    c: np.ndarray
    s: float
    n: float


def phases(X: Array, W: Array, b: Array) -> Array:
    """``T = X W + b``."""
    T = X @ W
    T += b
    return T


def random_features(X: Array, W: Array, b: Array) -> Array:
    """``Z = sqrt(2 / D) cos(X W + b)``, equation (randFeat2) of the paper."""
    Z = _cosines(X, W, b)
    Z *= _amplitude(W)
    return Z


def predict(X: Array, W: Array, b: Array, a: Array) -> Array:
    """``Z a``."""
    return (_cosines(X, W, b) @ a) * _amplitude(W)


def statistics(
    X: Array, Y: Array, weight: Array | None, W: Array, b: Array
) -> tuple[Array, Array, Array]:
    """``G = Z'Z``, ``c = Z'Y`` and ``s = trace Y'Y`` of one block."""
    xp = array_namespace(X, W)
    amplitude = _amplitude(W)
    C = _cosines(X, W, b)
    if weight is not None:
        # The square root on either side keeps C'C a symmetric product.
        root = xp.sqrt(weight)[:, None]
        C *= root
        Y = Y * root
    return (C.T @ C) * amplitude**2, (C.T @ Y) * amplitude, xp.sum(Y * Y)


def loss(X: Array, Y: Array, weight: Array | None, W: Array, b: Array, a: Array) -> tuple[Array]:
    """``||Y - Z a||^2`` of one block."""
    xp = array_namespace(X, W)
    r = Y - predict(X, W, b, a)
    square = r * r
    return (xp.sum(square if weight is None else square * weight[:, None]),)


def loss_pull_back(
    X: Array, Y: Array, weight: Array | None, W: Array, b: Array, a: Array
) -> tuple[Array, Array]:
    """``||Y - Z a||^2`` of one block and its derivative with respect to ``W`` at fixed ``a``.

    ``dW = 2 sqrt(2/D) X' [sin(T) * (r a')]`` with ``r = Y - Z a``, equation (GammaGrad) of the
    paper before the chain rule to the scales.
    """
    xp = array_namespace(X, W)
    amplitude = _amplitude(W)
    T = phases(X, W, b)
    r = Y - (xp.cos(T) @ a) * amplitude
    weighted = r if weight is None else r * weight[:, None]
    value = xp.sum(r * weighted)
    S = xp.sin(T)
    if a.shape[1] == 1:
        # X' [S * (r a')] = [(X * r)' S] * a': no further array of the size of S is needed.
        dW = ((X * weighted).T @ S) * a.T
    else:
        S *= weighted @ a.T
        dW = X.T @ S
    return value, dW * (2 * amplitude)


def pull_back(
    X: Array, Y: Array, weight: Array | None, W: Array, b: Array, dG: Array, dc: Array
) -> tuple[Array]:
    """The derivative with respect to ``W`` of any function of the statistics, for one block.

    ``dW = -sqrt(2/D) X' [sin(T) * (2 Z dG + Y dc')]`` from the function's derivatives with
    respect to ``G`` (symmetric) and ``c``.
    """
    xp = array_namespace(X, W)
    amplitude = _amplitude(W)
    T = phases(X, W, b)
    Z = xp.cos(T)
    Z *= amplitude
    dZ = (2 * Z) @ dG + Y @ dc.T
    if weight is not None:
        dZ *= weight[:, None]
    dZ *= xp.sin(T)
    return ((X.T @ dZ) * -amplitude,)


def _amplitude(W: Array) -> float:
    return math.sqrt(2.0 / W.shape[1])


def _cosines(X: Array, W: Array, b: Array) -> Array:
    """``cos(T)``: the features but for their amplitude, which is cheaper applied to a product."""
    return array_namespace(X, W).cos(phases(X, W, b))
