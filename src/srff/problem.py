"""A regression problem made ready for a solver: rows split, standardised and given to engines."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from srff.bandwidth import neighbour_sigma
from srff.engines import Engine, Standardisation, make_engine, parse_memory
from srff.features import Statistics
from srff.kernels import Kernel
from srff.rows import row_keys, sample_rows, split_rows
from srff.standardise import center_and_spread
from srff.threads import count_threads

SIGMA_ROWS = 1000
"""Rows that the width of the kernel is measured on; see :func:`srff.bandwidth.neighbour_sigma`."""

DEFAULT_VALIDATION = 0.2
FLOAT64_ROWS = 500
"""Up to this many rows blocks are float64: there it costs nothing."""


@dataclass(frozen=True)
class Problem:
    """Training rows and perhaps validation rows behind engines, and the random draws.

    ``E`` and ``b`` are drawn once; ``scale`` is the even start on the simplex.  Columns that do
    not vary have zeros in both, and no solver gives them a scale.  ``refit`` says that validation
    rows were taken from the training rows and come back for the last solve.  ``learnable`` is
    False if the target or every input is constant.
    """

    training: Engine
    validation: Engine | None
    refit: bool
    standardisation: Standardisation
    dtype: np.dtype
    E: np.ndarray
    b: np.ndarray
    scale: np.ndarray
    sigma: float | None
    learnable: bool

    @property
    def budget(self) -> float:
        """The size of the simplex."""
        return float(self.scale.sum())

    @property
    def y_spread(self) -> float:
        """The unit of the standardised target."""
        return self.standardisation.y_spread

    @property
    def n_passes(self) -> int:
        """Passes over the training rows so far."""
        return self.training.n_passes

    def training_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the training rows at ``scale``."""
        return self.training.statistics(*self._frequencies(scale))

    def validation_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the validation rows at ``scale``."""
        assert self.validation is not None
        return self.validation.statistics(*self._frequencies(scale))

    def statistics_of_all_rows(self, scale: np.ndarray) -> Statistics:
        """The statistics at ``scale`` of every row that may be learned from."""
        S = self.training_statistics(scale)
        if self.refit:
            V = self.validation_statistics(scale)
            S = Statistics(S.G + V.G, S.c + V.c, S.s + V.s, S.n + V.n)
        return S

    def validation_error(self, scale: np.ndarray, coef: np.ndarray) -> float:
        """Mean squared error on the validation rows, in units of the standardised target."""
        if self.validation is None:
            return float("nan")
        W, b, columns = self._frequencies(scale)
        return self.validation.loss(W, b, coef, columns)

    def _frequencies(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``W`` in the columns of positive scale, ``b``, and those columns."""
        columns = np.flatnonzero(scale)
        return scale[columns, None] * self.E[columns], self.b, columns

    def close(self) -> None:
        """Give back what the engines hold."""
        self.training.close()
        if self.validation is not None:
            self.validation.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def block_dtype(dtype: Any, n_rows: int) -> np.dtype:
    """The precision of blocks: as given, or for "auto" float32 for all but small data."""
    if dtype == "auto":
        return np.dtype(np.float64 if n_rows <= FLOAT64_ROWS else np.float32)
    return np.dtype(dtype)


def prepare(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    rng: np.random.RandomState,
    *,
    kernel: Kernel,
    n_components: int,
    budget: float | None,
    validation: float | tuple[Any, np.ndarray] | None,
    dtype: Any = "auto",
    device: str = "cpu",
    n_jobs: int | None = None,
    memory_limit: str | float | None = None,
) -> Problem:
    """Split, standardise, draw ``E`` and ``b``, measure the kernel's width, build the engines.

    ``budget=None`` stands for the paper's d / sigma.  ``validation`` is a fraction of the rows, a
    pair (X, Y) or None.  All rows have positive weight.
    """
    keys = row_keys(X, Y, rng)
    n_features = X.shape[1]
    E = kernel.sample(rng, (n_features, n_components))
    b = rng.uniform(0.0, 2 * np.pi, n_components)

    center, spread, varies = center_and_spread(X, weight)
    E[~varies] = 0.0
    y_center, y_spread, y_varies = center_and_spread(Y, weight)
    # One spread for all targets keeps their proportions.
    y_unit = float(np.sqrt(np.sum(np.square(y_spread[y_varies])))) if y_varies.any() else 1.0
    standardisation = Standardisation(center, spread, y_center, y_unit)

    sigma = None
    scale = np.zeros(n_features)
    if varies.any():
        if budget is None:
            sample = sample_rows(keys, SIGMA_ROWS)
            sigma = neighbour_sigma(((X[sample] - center) / spread)[:, varies])
            budget = varies.sum() / sigma
        scale[varies] = budget / varies.sum()

    options: dict[str, Any] = {
        "n_components": n_components,
        "dtype": block_dtype(dtype, X.shape[0]),
        "device": device,
        "n_threads": count_threads(n_jobs),
        "memory_limit": parse_memory(memory_limit),
    }

    def engine(X: Any, Y: np.ndarray, weight: np.ndarray | None, rows: np.ndarray | None) -> Engine:
        return make_engine(X, Y, weight, standardisation, rows=rows, **options)

    kept = held = validating = None
    if isinstance(validation, float):
        out = split_rows(keys, weight, validation)
        if out.any():
            kept, held = np.flatnonzero(~out), np.flatnonzero(out)
            validating = engine(X, Y, weight, held)
    elif validation is not None:
        validating = engine(*validation, None, None)
    return Problem(
        training=engine(X, Y, weight, kept),
        validation=validating,
        refit=held is not None,
        standardisation=standardisation,
        dtype=options["dtype"],
        E=E,
        b=b,
        scale=scale,
        sigma=sigma,
        learnable=bool(y_varies.any() and varies.any()),
    )
