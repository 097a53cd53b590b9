"""The random features of one block of rows: the only mathematics whose size is the number of rows.

For a block ``X`` (rows x d), frequencies ``W`` (d x D) and offsets ``b`` (D)::

    T = X W + b,    Z = sqrt(2 / D) cos(T)

Everything the method asks of the data is a sum over blocks of what the functions below return.
They are written once against the array API, so a block may be a NumPy array, a torch tensor on
any device or any other array that ``array_api_compat`` knows.

The functions of a block take the offsets as one more row of frequencies, ``V = affine(W, b)``, and
``X`` with one more column, of ones: ``T = X V`` is then one product, and the slope in ``b`` is the
last row of the slope in ``V``.

``loss`` is a loss of :mod:`srff.losses`.  ``weight`` is a vector of non-negative row weights, or
None for ones; a row of weight 2 counts as that row written twice.  ``Y`` always has two dimensions
(rows x targets).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_namespace, is_torch_namespace

from srff.core.losses import Loss, Squared

Array = Any
"""An array of any library that follows the array API."""

SHUFFLED_ENTRIES = 2**15
"""Rows of all shuffles that are looked at together, about."""


@dataclass(frozen=True)
class Statistics:
    """What a quadratic objective needs of the data: ``G = Z'Z``, ``c = Z'Y``, ``s = Y'Y``, ``n``.

    ``s`` is the trace of ``Y'Y`` and ``n`` the sum of the row weights.
    """

    G: np.ndarray
    c: np.ndarray
    s: float
    n: float


def affine(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The frequencies with the offsets as their last row."""
    return np.concatenate([W, b[None, :]])


def random_features(X: Array, W: Array, b: Array) -> Array:
    """``Z = sqrt(2 / D) cos(X W + b)``, equation (randFeat2) of the paper."""
    return _cosine(X @ W + b) * _amplitude(W)


def predict(X: Array, V: Array, a: Array) -> Array:
    """``Z a``."""
    return (_cosine(_product(X, V, "T")) @ a) * _amplitude(V)


def outputs(X: Array, V: Array, a: Array, c: Array) -> Array:
    """``F = Z a + c``."""
    return predict(X, V, a) + c


def statistics(
    X: Array, Y: Array, weight: Array | None, loss: Squared, V: Array, name: str = "G"
) -> tuple[Array, Array, Array]:
    """``G = Z'Z``, ``c = Z'Y`` and ``s = trace Y'Y`` of one block, ``Y`` being the loss's targets.

    ``name`` is that of G's memory where it is reused.
    """
    xp = array_namespace(X, V)
    amplitude = _amplitude(V)
    C = _cosine(_product(X, V, "T"))
    Y = loss.targets(Y)
    if weight is not None:
        # The square root on either side keeps C'C a symmetric product.
        root = xp.sqrt(weight)[:, None]
        C *= root
        Y = Y * root
    G = _product(C.T, C, name)
    G *= amplitude**2
    return G, (C.T @ Y) * amplitude, xp.sum(Y * Y)


def statistics_of_each(
    X: Array, Y: Array, weight: Array | None, loss: Squared, *points: Array
) -> tuple[Array, ...]:
    """The statistics of one block at several ``V``, one after the other."""
    return tuple(
        part
        for number, V in enumerate(points)
        for part in statistics(X, Y, weight, loss, V, f"G{number}")
    )


def loss(
    X: Array, Y: Array, weight: Array | None, loss: Loss, V: Array, a: Array, c: Array
) -> tuple[Array]:
    """The sum of the rows' losses of one block."""
    return (_weighted_sum(loss.value(Y, outputs(X, V, a, c)), weight),)


def loss_pull_back(
    X: Array, Y: Array, weight: Array | None, loss: Loss, V: Array, a: Array, c: Array
) -> tuple[Array, Array]:
    """The loss of one block, and its derivative in ``V`` at fixed ``a`` and ``c``.

    ``dV = -sqrt(2/D) X' [sin(T) * (g a')]`` with ``g`` the slope of the loss in the outputs; for
    the squared loss ``g = -2 r``, equation (GammaGrad) of the paper before the chain rule to the
    scales.
    """
    amplitude = _amplitude(V)
    T = _product(X, V, "T")
    F = (_cosine_beside(T) @ a) * amplitude + c
    value = _weighted_sum(loss.value(Y, F), weight)
    g = loss.slope(Y, F)
    if weight is not None:
        g = g * weight[:, None]
    S = _sine(T)
    if a.shape[1] == 1:
        # X' [S * (g a')] = [(X * g)' S] * a': no further array of the size of S is needed.
        dV = ((X * g).T @ S) * a.T
    else:
        S *= g @ a.T
        dV = X.T @ S
    return value, dV * -amplitude


def loss_slope(
    X: Array, Y: Array, weight: Array | None, loss: Loss, V: Array, a: Array, c: Array
) -> tuple[Array, Array, Array]:
    """The loss of one block and its slopes in ``a`` and ``c``: ``Z'g`` and ``1'g``."""
    C = _cosine(_product(X, V, "T"))
    value, ga, gc, _ = _slopes(C, Y, weight, loss, V, a, c)
    return value, ga, gc


def weighted_statistics(
    X: Array, Y: Array, weight: Array | None, loss: Loss, V: Array, a: Array, c: Array
) -> tuple[Array, ...]:
    """What a Newton step needs of one block.

    The loss, its slopes in ``a`` and ``c``, and of its second derivative ``Z'hZ``, ``Z'h`` and
    ``1'h``, where ``h`` are the curvatures of the rows.
    """
    xp = array_namespace(X, V)
    amplitude = _amplitude(V)
    C = _cosine(_product(X, V, "T"))
    value, ga, gc, F = _slopes(C, Y, weight, loss, V, a, c)
    h = loss.curvature(Y, F)
    if weight is not None:
        h = h * weight
    root = xp.sqrt(h)[:, None]
    C *= root
    H = _product(C.T, C, "G")
    H *= amplitude**2
    return value, ga, gc, H, (C.T @ root)[:, 0] * amplitude, xp.sum(h)


def _slopes(
    C: Array, Y: Array, weight: Array | None, loss: Loss, V: Array, a: Array, c: Array
) -> tuple[Array, Array, Array, Array]:
    xp = array_namespace(C, V)
    amplitude = _amplitude(V)
    F = (C @ a) * amplitude + c
    g = loss.slope(Y, F)
    if weight is not None:
        g = g * weight[:, None]
    return _weighted_sum(loss.value(Y, F), weight), (C.T @ g) * amplitude, xp.sum(g, axis=0), F


def constant_statistics(
    X: Array, Y: Array, weight: Array | None, loss: Loss, c: Array
) -> tuple[Array, Array, Array, Array]:
    """Of the model that is constant: the loss, its slope, its curvature, the squares of slopes."""
    xp = array_namespace(Y)
    F = xp.zeros((Y.shape[0], c.shape[0]), dtype=Y.dtype, device=device(Y)) + c
    g = loss.slope(Y, F)
    w = xp.ones_like(g[:, 0]) if weight is None else weight
    return (
        _weighted_sum(loss.value(Y, F), weight),
        xp.sum(g * w[:, None], axis=0),
        xp.sum(loss.curvature(Y, F) * w),
        xp.sum(g * g * w[:, None]),
    )


def _weighted_sum(values: Array, weight: Array | None) -> Array:
    return array_namespace(values).sum(values if weight is None else values * weight)


def pull_back(
    X: Array, Y: Array, weight: Array | None, loss: Squared, V: Array, dG: Array, dc: Array
) -> tuple[Array]:
    """The derivative in ``V`` of any function of the statistics, for one block.

    ``dV = -sqrt(2/D) X' [sin(T) * (2 Z dG + Y dc')]`` from the function's derivatives with
    respect to ``G`` (symmetric) and ``c``.
    """
    amplitude = _amplitude(V)
    T = _product(X, V, "T")
    dZ = _product(_cosine_beside(T), dG * (2 * amplitude), "dZ")
    dZ += loss.targets(Y) @ dc.T
    if weight is not None:
        dZ *= weight[:, None]
    dZ *= _sine(T)
    return ((X.T @ dZ) * -amplitude,)


@dataclass(frozen=True)
class Expansion:
    """``Z a + c`` as data: frequencies on some columns, offsets, coefficients, constants."""

    columns: np.ndarray
    W: np.ndarray
    b: np.ndarray
    a: np.ndarray
    c: np.ndarray


ExpansionArrays = tuple[Array, Array, Array, Array]
"""``V``, the coefficients ``a`` and constants ``c``, and the columns that it reads, that of ones
among them."""


def model_outputs(X: Array, V: Array, a: Array, c: Array, columns: Array) -> Array:
    """The outputs of a model on some columns, that of ones among them."""
    return outputs(array_namespace(X, V).take(X, columns, axis=1), V, a, c)


def residual(X: Array, Y: Array, loss: Squared, model: ExpansionArrays) -> Array:
    """``Y - F``."""
    return loss.targets(Y) - model_outputs(X, *model)


def difference(
    X: Array,
    Y: Array,
    weight: Array | None,
    loss: Loss,
    first: ExpansionArrays,
    second: ExpansionArrays,
) -> tuple[Array, Array]:
    """Sums over rows of how much worse a first model is than a second, and of its squares.

    Both for the losses of the rows and for their roots: arrays of two numbers.
    """
    xp = array_namespace(X, Y)
    one, two = (loss.value(Y, model_outputs(X, *model)) for model in (first, second))
    delta = xp.stack([one - two, xp.sqrt(one) - xp.sqrt(two)], axis=1)
    weighted = delta if weight is None else delta * weight[:, None]
    return xp.sum(weighted, axis=0), xp.sum(weighted * delta, axis=0)


def loss_squares(
    X: Array, Y: Array, weight: Array | None, loss: Loss, V: Array, a: Array, c: Array
) -> tuple[Array]:
    """The sum of squares of the rows' losses."""
    values = loss.value(Y, outputs(X, V, a, c))
    return (_weighted_sum(values * values, weight),)


def blend_losses(
    X: Array, Y: Array, weight: Array | None, loss: Loss, shares: Array, *models: ExpansionArrays
) -> tuple[Array]:
    """The losses of weighted means of models, one for each row of ``shares``."""
    xp = array_namespace(X, Y)
    F = [model_outputs(X, *model) for model in models]
    means = [sum(shares[t, k] * F[k] for k in range(len(F))) for t in range(shares.shape[0])]
    return (xp.stack([_weighted_sum(loss.value(Y, mean), weight) for mean in means]),)


def shuffled_losses(
    X: Array,
    Y: Array,
    weight: Array | None,
    loss: Loss,
    shuffles: tuple[int, int],
    *models: ExpansionArrays,
) -> tuple[Array]:
    """The losses of each model when its outputs are shuffled among the block's rows.

    One row for each model; the first number is the loss as it is, then come so many shuffles, the
    same for all models.  ``shuffles`` are their number and a seed: of blocks of a few rows each,
    shuffles of one seed would leave the same places as they are in all.
    """
    xp = array_namespace(X, Y)
    n = X.shape[0]
    orders = _orders(n, shuffles)
    # A few shuffles at a time: all of them would be many times the block.
    some = max(SHUFFLED_ENTRIES // n, 1)
    starts = range(0, len(orders), some)
    parts = [xp.asarray(orders[i : i + some].ravel(), device=device(X)) for i in starts]
    targets = xp.concat([Y] * min(some, len(orders)), axis=0)

    def losses(F: Array, part: Array) -> Array:
        values = loss.value(targets[: part.shape[0], :], xp.take(F, part, axis=0))
        values = xp.reshape(values, (-1, n))
        return xp.sum(values if weight is None else values * weight, axis=1)

    def of(model: ExpansionArrays) -> Array:
        F = model_outputs(X, *model)
        return xp.concat([losses(F, part) for part in parts])

    return (xp.stack([of(model) for model in models]),)


def shuffled_products(
    X: Array, Y: Array, weight: Array | None, loss: Squared, shuffles: tuple[int, int]
) -> tuple[Array]:
    """For each column ``sum_i w_i x_o(i) y_i``, as it is and with rows shuffled by orders ``o``.

    The same orders as those of :func:`shuffled_losses`; (columns, targets, 1 + shuffles).
    """
    xp = array_namespace(X, Y)
    X, Y = X[:, :-1], loss.targets(Y)
    Y = Y if weight is None else Y * weight[:, None]
    # Shuffling the targets back is the same sum, and makes one product of all shuffles.
    back = xp.asarray(np.argsort(_orders(X.shape[0], shuffles), axis=1).ravel(), device=device(X))
    q = Y.shape[1]
    moved = xp.reshape(xp.take(Y, back, axis=0), (-1, X.shape[0], q))
    flat = xp.reshape(xp.permute_dims(moved, (1, 2, 0)), (X.shape[0], -1))
    return (xp.reshape(X.T @ flat, (X.shape[1], q, -1)),)


def _orders(n: int, shuffles: tuple[int, int]) -> np.ndarray:
    """The rows as they are, then so many orders of them; of a number and a seed."""
    n_shuffles, seed = shuffles
    rng = np.random.RandomState(np.array([n, seed]))
    return np.stack([np.arange(n), *(rng.permutation(n) for _ in range(n_shuffles))])


def permutation_loss(
    X: Array,
    Y: Array,
    weight: Array | None,
    loss: Loss,
    V: Array,
    a: Array,
    c: Array,
    groups: tuple[tuple[int, ...], ...],
) -> tuple[Array, Array]:
    """For each group of inputs, sums over rows of the rise in the loss when it is shuffled.

    All columns are shuffled by the same permutation of the block's rows, one for each number of
    rows.  Returns the sums and the sums of squares.
    """
    xp = array_namespace(X, V)
    order = np.random.RandomState(X.shape[0]).permutation(X.shape[0])
    order = xp.asarray(order, device=device(X))
    T = X @ V
    amplitude = _amplitude(V)

    def values(T: Array) -> Array:
        return loss.value(Y, (xp.cos(T) @ a) * amplitude + c)

    def shifted(group: tuple[int, ...]) -> Array:
        return T + sum(moved[:, s : s + 1] * V[s : s + 1, :] for s in group)

    plain = values(T)
    moved = xp.take(X, order, axis=0) - X
    delta = xp.stack([values(shifted(group)) - plain for group in groups], axis=1)
    weighted = delta if weight is None else delta * weight[:, None]
    return xp.sum(weighted, axis=0), xp.sum(weighted * delta, axis=0)


def _left_over(X: Array, Y: Array, loss: Squared, model: ExpansionArrays | None) -> Array:
    """The targets, or what a model leaves of them."""
    return loss.targets(Y) if model is None else residual(X, Y, loss, model)


def marginal_statistics(
    X: Array,
    Y: Array,
    weight: Array | None,
    loss: Squared,
    frequencies: Array,
    model: ExpansionArrays | None,
) -> tuple[Array, Array]:
    """For each column, the second moments of waves of it and their products with the targets.

    The waves are one, ``cos(w x)`` and ``sin(w x)`` for each ``w`` of ``frequencies``: m of them.
    With a model its residuals are in the place of the targets.  Returns arrays of shapes (m, m, d)
    and (m, d, q).
    """
    xp = array_namespace(X, Y)
    X, Y = X[:, :-1], _left_over(X, Y, loss, model)
    root = xp.ones_like(Y[:, 0]) if weight is None else xp.sqrt(weight)
    Y = Y * root[:, None]
    one = xp.ones_like(X) * root[:, None]
    waves = [one]
    for k in range(frequencies.shape[0]):
        T = X * frequencies[k]
        waves += [xp.cos(T) * root[:, None], xp.sin(T) * root[:, None]]
    upper = {
        (i, j): xp.sum(waves[i] * waves[j], axis=0)
        for i in range(len(waves))
        for j in range(i, len(waves))
    }
    moments = [[upper[min(i, j), max(i, j)] for j in range(len(waves))] for i in range(len(waves))]
    return (
        xp.stack([xp.stack(row) for row in moments]),
        xp.stack([u.T @ Y for u in waves]),
    )


def pair_statistics(
    X: Array,
    Y: Array,
    weight: Array | None,
    loss: Squared,
    frequencies: Array,
    columns: Array,
    mixture: Array,
    model: ExpansionArrays | None,
) -> tuple[Array, Array]:
    """For each pair of some columns, sums of the target times the product of a wave of each.

    Waves as in :func:`marginal_statistics` but for the constant, and less their means over the
    block.  Of several targets one ``mixture`` (q x 1) is taken.  Returns the sums and the sums of
    squares, of shape (m, m, d, d).
    """
    xp = array_namespace(X, Y)
    X, Y = xp.take(X, columns, axis=1), _left_over(X, Y, loss, model) @ mixture
    waves = []
    for k in range(frequencies.shape[0]):
        T = X * frequencies[k]
        waves += [xp.cos(T), xp.sin(T)]
    w = xp.ones_like(X[:, :1]) if weight is None else weight[:, None]
    waves = [u - xp.sum(w * u, axis=0) / xp.sum(w) for u in waves]
    first = [[(u * (Y * w)).T @ v for v in waves] for u in waves]
    second = [[(u * u * (Y * Y * w)).T @ (v * v) for v in waves] for u in waves]
    return (
        xp.stack([xp.stack(row) for row in first]),
        xp.stack([xp.stack(row) for row in second]),
    )


def _amplitude(V: Array) -> float:
    return math.sqrt(2.0 / V.shape[1])


_memory = threading.local()


@contextmanager
def reused_memory() -> Iterator[None]:
    """Let this thread's blocks use the same memory for their large arrays, one after the other.

    For processes whose system takes memory back at once: to get it anew for every block costs as
    much as the work.  What a function returns is then good until its next block.
    """
    _memory.arrays = {}
    try:
        yield
    finally:
        _memory.arrays = None


def _room(like: Array, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Memory for an array where it is reused."""
    arrays = getattr(_memory, "arrays", None)
    if arrays is None or not isinstance(like, np.ndarray):
        return None
    size, key = math.prod(shape), (name, like.dtype)
    if key not in arrays or arrays[key].size < size:
        arrays[key] = np.empty(size, dtype=like.dtype)
    return arrays[key][:size].reshape(shape)


def _product(A: Array, B: Array, name: str) -> Array:
    """``A B``; ``name`` tells arrays apart that are in use at the same time."""
    room = _room(A, name, (A.shape[0], B.shape[1]))
    return A @ B if room is None else np.matmul(A, B, out=room)


def _cosine_beside(T: Array) -> Array:
    """``cos(T)``, where ``T`` is needed still."""
    room = _room(T, "cosine", T.shape)
    return array_namespace(T).cos(T) if room is None else np.cos(T, out=room)


def _cosine(T: Array) -> Array:
    """``cos(T)``, in the place of ``T`` where the library can."""
    xp = array_namespace(T)
    return xp.cos(T, out=T) if _writes(xp) else xp.cos(T)


def _sine(T: Array) -> Array:
    """``sin(T)``, in the place of ``T`` where the library can."""
    xp = array_namespace(T)
    return xp.sin(T, out=T) if _writes(xp) else xp.sin(T)


def _writes(xp: Any) -> bool:
    return is_numpy_namespace(xp) or is_torch_namespace(xp)
