"""The learned metric with many more features, for kernels of several tails and widths.

``W = s L E diag(r)`` (k x D): ``L`` of the metric (k x k), quasi-random normal ``E`` (k x D), a
stretch ``s``, and ``r_j = sqrt(t / chi2_j)`` that makes the columns Student t with ``t`` degrees of
freedom, the spectral measure of a Matern kernel of smoothness ``t / 2``; ``r = 1`` is the Gaussian.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats
from scipy.special import ndtri

from srff._utils.checkpoint import have_shapes
from srff.core.candidate import Candidate, Member
from srff.core.kernels import low_order
from srff.core.losses import Loss
from srff.core.parametrisations import LowOrder
from srff.selection.draws import square_metric
from srff.selection.penalty import best_penalty
from srff.selection.search import Search, together


@dataclass(frozen=True)
class WideEnd:
    """The best penalty at some frequencies, as a checkpoint keeps it."""

    alpha: float
    coef: np.ndarray
    constant: np.ndarray
    validation_error: float
    training_error: float
    seconds: float


def many_features(search: Search, arounds: list[Candidate]) -> tuple[list[Candidate], float]:
    """Kernels compared with fewer features, by the loss of the search; the best one with all.

    ``arounds`` are the candidates whose metrics are taken.  What comes back are the candidates, and
    the tail of the best kernel.
    """
    problem, config = search.problem, search.config
    engines = search.engine, search.more_rows
    waves = [_Waves(search, around) for around in arounds]
    tasks = [partial(_of_one_tail, search, w, tail) for w in waves for tail in config.wide_tails]
    compared = together(problem, engines, tasks)
    n_tails = len(config.wide_tails)
    best = [
        min((k for made in compared[i : i + n_tails] for k in made), key=_Kernel.error)
        for i in range(0, len(compared), n_tails)
    ]
    candidates = [kernel.candidate for made in compared for kernel in made]
    same = problem.search_loss is problem.loss
    if search.wide_features > config.wide_first or not same:
        widest = [partial(_with_all, search, w, k) for w, k in zip(waves, best, strict=True)]
        last = together(problem, engines, widest)
        candidates = [*candidates, *last] if same else last
    return candidates, min(best, key=_Kernel.error).tail


@dataclass(frozen=True)
class _Kernel:
    """A kernel that was compared: its tail, its power of the stretch, and the candidate."""

    tail: float
    power: int
    candidate: Candidate

    def error(self) -> float:
        """The validation error."""
        return self.candidate.validation_error


def _of_one_tail(search: Search, waves: _Waves, tail: float) -> list[_Kernel]:
    """The kernel of a tail as it is, then stretched while that helps, or else shrunk."""
    problem, config = search.problem, search.config
    alphas = search.alphas(waves.around.alpha, config.wide_alphas) / problem.unit
    first = min(config.wide_first, search.wide_features)

    def compared(power: int) -> _Kernel:
        W, b = waves.frequencies(tail, power, first)
        made = _solved(search, waves.around.columns, W, b, alphas, problem.search_loss)
        return _Kernel(tail, power, made)

    kernels = [best := compared(0)]
    for direction in (1, -1):
        for power in range(1, config.wide_stretches + 1):
            kernels.append(compared(direction * power))
            if not kernels[-1].error() < best.error():
                break
            best = kernels[-1]
        if best.power:
            break  # stretching helped: shrinking will not
    return kernels


def _with_all(search: Search, waves: _Waves, kernel: _Kernel) -> Candidate:
    """A kernel with all features, by the problem's own loss."""
    problem, config = search.problem, search.config
    near = problem.unit * search.alphas(kernel.candidate.alpha, config.wide_last_alphas)
    W, b = waves.frequencies(kernel.tail, kernel.power, search.wide_features)
    return _solved(search, waves.around.columns, W, b, near, problem.loss)


class _Waves:
    """Quasi-random frequencies around a candidate's metric; fewer of them are the first ones."""

    def __init__(self, search: Search, around: Candidate) -> None:
        problem, k, n_wide = search.problem, around.columns.size, search.wide_features
        self.around = around
        self._stretch, self._k = search.config.wide_stretch, k
        sobol = stats.qmc.Sobol(k + 2, rng=np.random.default_rng(problem.rng.randint(2**31)))
        points = sobol.random_base2(int(np.ceil(np.log2(n_wide))))[:n_wide]
        self._uniform = np.clip(points, 1e-9, 1 - 1e-9).T
        if isinstance(around.point, LowOrder):
            self._L = around.point.L
            self._E = low_order(problem.kernel, problem.rng, (k, n_wide))
        else:
            self._L, self._E = square_metric(around), ndtri(self._uniform[:k])

    def frequencies(self, tail: float, power: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The first ``size`` of ``W`` (k x size) and ``b``; ``s`` is the stretch to a power."""
        k, uniform = self._k, self._uniform[:, :size]
        W = self._stretch**power * (self._L @ self._E[:, :size])
        if np.isfinite(tail):
            W = W * np.sqrt(tail / stats.chi2.ppf(uniform[k + 1], tail))
        return W, 2 * np.pi * uniform[k]


def _solved(
    search: Search,
    columns: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    alphas: np.ndarray,
    loss: Loss,
) -> Candidate:
    """The candidate at these frequencies whose alpha validates best; a step of the checkpoint."""
    engine, validation = search.more_rows, search.validation
    waves, near = (W, b, columns), search.problem.at_constant(b.size)

    def solve() -> WideEnd:
        begun = time.perf_counter()
        alpha, e, error = best_penalty(engine, validation, waves, alphas, loss, near)
        seconds = time.perf_counter() - begun
        return WideEnd(alpha, e.coef, e.constant, error, e.training_error, seconds)

    def fits(end: WideEnd) -> bool:
        return have_shapes((end.coef, end.constant), near) and end.alpha > 0

    end = search.problem.checkpoint.run(WideEnd, f"wide, {b.size} features", engine, solve, fits)
    search.log.evaluated(1)
    return Candidate(
        "wide",
        search.scaling,
        columns,
        (Member(W, b, end.alpha, end.coef, end.constant),),
        loss,
        end.validation_error,
        end.training_error,
        seconds=end.seconds,
        n_rows=engine.n,
    )
