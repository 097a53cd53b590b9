"""A regression problem made ready for a solver: rows split, standardised and given to engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import numpy as np

from srff.bandwidth import neighbour_sigma
from srff.engines import Engine, Standardisation, make_engine, parse_memory, total_weight
from srff.features import Statistics
from srff.kernels import Kernel
from srff.rows import highest, merge_rows, row_keys, sample_rows, split_rows
from srff.standardise import center_and_spread
from srff.threads import count_threads
from srff.transforms import Quantile, Standardise, Transform, needs_quantiles

SIGMA_ROWS = 1000
"""Rows that the width of the kernel is measured on; see :func:`srff.bandwidth.neighbour_sigma`."""

QUANTILE_ROWS = 10_000
"""Rows that the quantiles of the inputs are taken from."""

DEFAULT_VALIDATION = 0.2
FEW_HELD, MOST_HELD = 30, 0.4
"""With few rows more of them are held out: so many, but at most such a share."""

VALIDATION_ROWS = 20_000
"""Most rows that models are judged on: enough to tell a hundredth of the error from chance."""

FLOAT64_ROWS = 500
"""Up to this many rows "auto" stands for float64."""

PREPARATION_PASSES = 3
"""Keys of the rows, the ends of each column, its mean and spread."""

MERGE_ROWS = 2000
"""Up to this many rows, equal rows are merged into one of their joint weight, and rows are put in
an order of their own: a table gives the same bits whatever its order."""

N_COMPONENTS = 50, 300
"""Least and most random features of ``n_components="auto"``: as many as rows, between these."""


class View:
    """The rows through one transform of the inputs; engines are built when first asked for.

    ``n`` is the sum of the training rows' weights.
    """

    def __init__(
        self,
        transform: Transform,
        training: Callable[[Transform, int | None], Engine],
        validation: Callable[[Transform], Engine] | None,
        everything: Callable[[Transform], Engine],
        n_rows: int,
        n: float,
    ) -> None:
        self.transform, self.n = transform, n
        self._training, self._validation, self._n_rows = training, validation, n_rows
        self._everything = everything
        self._engines: dict[int | None, Engine] = {}
        self._held: Engine | None = None
        self._n_last_passes = 0

    def training(self, most: int | None = None) -> Engine:
        """All training rows, or at most about ``most`` of them."""
        key = None if most is None or most >= self._n_rows else most
        if key not in self._engines:
            self._engines[key] = self._training(self.transform, key)
        return self._engines[key]

    @property
    def validation(self) -> Engine | None:
        """The validation rows."""
        if self._held is None and self._validation is not None:
            self._held = self._validation(self.transform)
        return self._held

    def statistics_of_all_rows(
        self, points: list[tuple[np.ndarray, np.ndarray]], columns: np.ndarray
    ) -> list[Statistics]:
        """The statistics at several ``(W, b)`` of every row that may be learned from.

        One pass that reads no other column and keeps no row.
        """
        self._n_last_passes += 1
        with self._everything(self.transform) as engine:
            return engine.statistics_of_each(points, columns)

    @property
    def n_passes(self) -> int:
        """Passes so far that read every training row."""
        full = self._engines.get(None)
        return self._n_last_passes + (0 if full is None else full.n_passes)

    @property
    def effective_passes(self) -> float:
        """Rows read by all passes so far, as a multiple of the training rows."""
        some = [e.n_passes * most / self._n_rows for most, e in self._engines.items() if most]
        return self.n_passes + sum(some)

    def close(self) -> None:
        """Give back what the engines hold."""
        for engine in [*self._engines.values(), self._held]:
            if engine is not None:
                engine.close()


@dataclass(frozen=True)
class Problem:
    """Training rows and perhaps validation rows behind engines, and the random draws.

    ``E`` and ``b`` are drawn once; ``scale`` is the even start on the simplex.  Columns that do
    not vary have zeros in both, and no solver gives them a scale.  ``refit`` says that validation
    rows were taken from the training rows and come back for the last solve.  ``learnable`` is
    False if the target or every input is constant.  ``views`` are the transforms worth a try, the
    standard one first.
    """

    views: dict[str, View]
    refit: bool
    y_center: np.ndarray
    y_spread: float
    dtype: np.dtype
    kernel: Kernel
    rng: np.random.RandomState = field(repr=False)
    E: np.ndarray = field(repr=False)
    b: np.ndarray = field(repr=False)
    scale: np.ndarray
    sigma: float | None
    learnable: bool
    standard: Standardise = field(repr=False)
    """Kept for its centers and spreads, whichever transform is chosen."""

    @property
    def training(self) -> Engine:
        """All training rows, standardised."""
        return self.views["standard"].training()

    @property
    def validation(self) -> Engine | None:
        """The validation rows, standardised."""
        return self.views["standard"].validation

    @property
    def budget(self) -> float:
        """The size of the simplex."""
        return float(self.scale.sum())

    @property
    def usable(self) -> np.ndarray:
        """The columns that vary."""
        return np.flatnonzero(self.scale)

    @property
    def n_passes(self) -> int:
        """Passes so far that read every training row, those of the preparation among them."""
        return PREPARATION_PASSES + sum(view.n_passes for view in self.views.values())

    @property
    def effective_passes(self) -> float:
        """Rows read so far, as a multiple of the training rows."""
        return PREPARATION_PASSES + sum(view.effective_passes for view in self.views.values())

    def training_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the training rows at ``scale``."""
        return self.training.statistics(*self._frequencies(scale))

    def validation_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the validation rows at ``scale``."""
        assert self.validation is not None
        return self.validation.statistics(*self._frequencies(scale))

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
        for view in self.views.values():
            view.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def default_validation(n_rows: int) -> float:
    """The share of the rows that is held out unless told otherwise."""
    share = np.clip(FEW_HELD / n_rows, DEFAULT_VALIDATION, MOST_HELD)
    return float(min(share, VALIDATION_ROWS / n_rows))


def block_dtype(dtype: Any, n_rows: int, float64_rows: int = FLOAT64_ROWS) -> np.dtype:
    """The precision of blocks: as given, or for "auto" float32 for all but small data."""
    if dtype == "auto":
        return np.dtype(np.float64 if n_rows <= float64_rows else np.float32)
    return np.dtype(dtype)


def prepare(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray | None,
    rng: np.random.RandomState,
    *,
    kernel: Kernel,
    n_components: int | None,
    budget: float | None,
    validation: float | str | tuple[Any, np.ndarray] | None,
    transform: str = "standard",
    dtype: Any = "auto",
    float64_rows: int = FLOAT64_ROWS,
    device: str = "cpu",
    n_jobs: int | None = None,
    memory_limit: str | float | None = None,
) -> Problem:
    """Split, standardise, draw ``E`` and ``b``, measure the kernel's width, build the engines.

    ``n_components=None`` chooses by the number of rows, ``budget=None`` stands for the paper's
    d / sigma.  ``validation`` is a fraction of the rows, "auto" for the default fraction, a pair
    (X, Y) or None.  ``transform`` is "standard", "quantile", or "auto" for both where an input is
    far from normal.  Blocks of up to ``float64_rows`` rows are float64 for ``dtype="auto"``.  All
    rows have positive weight.
    """
    n_threads = count_threads(n_jobs)
    keys = row_keys(X, Y, rng, n_threads)
    if X.shape[0] <= MERGE_ROWS:
        X, Y, weight, keys = merge_rows(X, Y, weight, keys)
    n_rows, n_features = X.shape
    if isinstance(validation, str):
        validation = default_validation(n_rows)
    if n_components is None:
        n_components = int(np.clip(n_rows, *N_COMPONENTS))
    E = kernel.sample(rng, (n_features, n_components))
    b = rng.uniform(0.0, 2 * np.pi, n_components)

    center, spread, varies = center_and_spread(X, weight, n_threads)
    standard = Standardise(center, spread)
    E[~varies] = 0.0
    y_center, y_spread, y_varies = center_and_spread(Y, weight)
    # One spread for all targets keeps their proportions.
    y_unit = float(np.sqrt(np.sum(np.square(y_spread[y_varies])))) if y_varies.any() else 1.0

    sigma = None
    scale = np.zeros(n_features)
    if varies.any():
        if budget is None:
            sample = sample_rows(keys, SIGMA_ROWS)
            sigma = neighbour_sigma(standard(X[sample])[:, varies])
            budget = varies.sum() / sigma
        scale[varies] = budget / varies.sum()

    transforms: list[Transform] = [standard]
    if transform != "standard":
        sample = np.sort(sample_rows(keys, QUANTILE_ROWS))
        if transform == "quantile" or needs_quantiles(X[sample], standard):
            transforms.append(Quantile.fit(X[sample]))

    options: dict[str, Any] = {
        "n_components": n_components,
        "dtype": block_dtype(dtype, n_rows, float64_rows),
        "device": device,
        "n_threads": n_threads,
        "memory_limit": parse_memory(memory_limit),
    }

    def engine(
        inputs: Transform,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray | None,
        rows: np.ndarray | None,
        cached: bool = True,
    ) -> Engine:
        standardisation = Standardisation(inputs, y_center, y_unit)
        return make_engine(X, Y, weight, standardisation, rows=rows, cached=cached, **options)

    kept = None
    held: Callable[[Transform], Engine] | None = None
    if isinstance(validation, float):
        out = split_rows(keys, weight, validation)
        if out.any():
            kept, left = np.flatnonzero(~out), np.flatnonzero(out)
            left = left[highest(keys[left], VALIDATION_ROWS)]

            def held(inputs: Transform) -> Engine:
                return engine(inputs, X, Y, weight, left)

    elif validation is not None:
        pair = validation
        looked_at = None
        if pair[1].shape[0] > VALIDATION_ROWS:
            pair_keys = row_keys(*pair, np.random.RandomState(0), n_threads)
            looked_at = highest(pair_keys, VALIDATION_ROWS)

        def held(inputs: Transform) -> Engine:
            return engine(inputs, *pair, None, looked_at)

    n_training = n_rows if kept is None else kept.size
    n = total_weight(X, weight, kept)

    def training(inputs: Transform, most: int | None) -> Engine:
        rows = kept
        if most is not None:
            chosen = highest(keys if kept is None else keys[kept], most)
            rows = chosen if kept is None else kept[chosen]
        return engine(inputs, X, Y, weight, rows)

    def everything(inputs: Transform) -> Engine:
        return engine(inputs, X, Y, weight, None, cached=False)

    return Problem(
        views={t.name: View(t, training, held, everything, n_training, n) for t in transforms},
        refit=isinstance(validation, float) and held is not None,
        y_center=y_center,
        y_spread=y_unit,
        dtype=block_dtype(dtype, n_rows),
        kernel=kernel,
        rng=rng,
        E=E,
        b=b,
        scale=scale,
        sigma=sigma,
        learnable=bool(y_varies.any() and varies.any()),
        standard=standard,
    )
