"""The learned metric with many more features, for kernels of several tails and widths.

``W = s L E diag(r)`` (k x D): ``L`` of the metric (k x k), quasi-random normal ``E`` (k x D), a
stretch ``s``, and ``r_j = sqrt(t / chi2_j)`` that makes the columns Student t with ``t`` degrees of
freedom, the spectral measure of a Matern kernel of smoothness ``t / 2``; ``r = 1`` is the Gaussian.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import ndtri

from srff.core.candidate import Candidate, Member
from srff.core.coefficients import solver_of, training_loss
from srff.core.kernels import low_order
from srff.core.losses import Loss, Squared
from srff.core.parametrisations import LowOrder
from srff.selection.draws import square_metric
from srff.selection.search import Search


@dataclass(frozen=True)
class WideEnd:
    """The best penalty at some frequencies, as a checkpoint keeps it."""

    alpha: float
    coef: np.ndarray
    constant: np.ndarray
    validation_error: float
    training_error: float
    seconds: float


def many_features(search: Search, around: Candidate) -> list[Candidate]:
    """Kernels compared with fewer features, by the loss of the search; the best one with all."""
    problem, config, n_wide = search.problem, search.config, search.wide_features
    waves = _Waves(search, around)
    quick, unit = problem.search_loss, problem.unit
    alphas = search.alphas(around.alpha, config.wide_alphas) / unit
    first = min(config.wide_first, n_wide)
    candidates: list[Candidate] = []
    kernels: list[tuple[float, int]] = []

    def compare(tail: float, power: int) -> Candidate:
        search.log.tick()
        W, b = waves.frequencies(tail, power, first)
        candidates.append(_solved(search, around.columns, W, b, alphas, quick))
        kernels.append((tail, power))
        return candidates[-1]

    for tail in config.wide_tails:
        best = plain = compare(tail, 0)
        for direction in (1, -1):
            for power in range(1, config.wide_stretches + 1):
                candidate = compare(tail, direction * power)
                if not candidate.validation_error < best.validation_error:
                    break
                best = candidate
            if best is not plain:
                break  # stretching helped: shrinking will not
    i = int(np.argmin([candidate.validation_error for candidate in candidates]))
    same = quick is problem.loss
    if n_wide > first or not same:
        search.log.tick()
        near = unit * search.alphas(candidates[i].alpha, config.wide_last_alphas)
        W, b = waves.frequencies(*kernels[i], n_wide)
        candidates.append(_solved(search, around.columns, W, b, near, problem.loss))
    return candidates if same else candidates[-1:]


class _Waves:
    """Quasi-random frequencies around a candidate's metric; fewer of them are the first ones."""

    def __init__(self, search: Search, around: Candidate) -> None:
        problem, k, n_wide = search.problem, around.columns.size, search.wide_features
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
    waves = W, b, columns

    def solve() -> WideEnd:
        begun = time.perf_counter()
        solver = solver_of(loss)
        if isinstance(loss, Squared):
            # A Cholesky factor for each of a few alphas: cheaper than the eigenvalues of many.
            S = engine.statistics(*waves, loss)
            found = [training_loss(S, float(alpha)) for alpha in alphas]
        else:
            found = solver.path(engine, waves, alphas, search.problem.at_constant(b.size))
        errors = solver.errors(validation, waves, [(e.coef, e.constant) for e in found])
        i = int(np.argmin(errors))
        e, seconds = found[i], time.perf_counter() - begun
        return WideEnd(float(alphas[i]), e.coef, e.constant, errors[i], e.training_error, seconds)

    end = search.problem.checkpoint.run(WideEnd, f"wide, {b.size} features", engine, solve)
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
