"""A problem made ready for a solver: rows split, standardised and given to engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from srff._utils.checkpoint import NO_CHECKPOINT, Checkpoint
from srff._utils.closing import Closing
from srff._utils.threads import count_threads
from srff.core.bandwidth import neighbour_sigma
from srff.core.engine import Engine
from srff.core.features import Expansion, Statistics
from srff.core.groups import Groups, first_of_each
from srff.core.kernels import Kernel
from srff.core.losses import SQUARED, Loss, Scores, Squared
from srff.core.newton import Constant, best_constant
from srff.core.objectives import Objective, Coefficients
from srff.core.simplex_descent import ScaleState, descend_scales
from srff.data.dataset import SAMPLE_ROWS, Dataset, EngineOptions, Pair, array_dataset
from srff.data.engines import parse_memory
from srff.data.engines.blocks import Standardisation
from srff.data.moments import Moments
from srff.data.scaling import Quantile, Standardise, Transform, needs_quantiles

SIGMA_ROWS = 1000
"""Rows that the width of the kernel is measured on: :func:`srff.core.bandwidth.neighbour_sigma`."""

QUANTILE_ROWS = 10_000
"""Rows that the quantiles of the inputs are taken from."""

FLOAT64_ROWS = 500
"""Up to this many rows "auto" stands for float64."""

N_COMPONENTS = 50, 300
"""Least and most random features of ``n_components="auto"``: as many as rows, between these."""


Joint = tuple[np.ndarray, ...]
"""Columns that have one spread together, such as the indicators of a category."""

LARGEST_SUMS = 2**22
"""Entries of the sums of one pass over all rows."""


def _groups(
    points: list[tuple[np.ndarray, np.ndarray]], most: int
) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """Runs of points whose sums have at most so many entries together, or of one point."""
    groups: list[list[tuple[np.ndarray, np.ndarray]]] = []
    size = 0
    for point in points:
        entries = point[1].size ** 2
        if not groups or size + entries > most:
            groups.append([])
            size = 0
        groups[-1].append(point)
        size += entries
    return groups


class ScaledData:
    """The rows through one transform of the inputs; engines are built when first asked for."""

    def __init__(
        self,
        transform: Transform,
        dataset: Dataset,
        standardisation: Standardisation,
        options: EngineOptions,
        groups: Groups,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        self.transform, self.n, self.checkpoint = transform, dataset.n, checkpoint
        self.groups = groups
        self._layout, self._standardisation, self._options = dataset, standardisation, options
        self._engines: dict[int | None, Engine] = {}
        self._held: Engine | None = None
        self._everything: Engine | None = None

    def training(self, most: int | None = None) -> Engine:
        """All training rows, or at most about ``most`` of them."""
        key = None if most is None or most >= self._layout.n_training else most
        if key not in self._engines:
            engine = self._layout.training(self._standardisation, key, self._options)
            self._engines[key] = engine
        return self._engines[key]

    @property
    def validation(self) -> Engine | None:
        """The validation rows."""
        if self._held is None and self._layout.has_validation:
            self._held = self._layout.validation(self._standardisation, self._options)
        return self._held

    @property
    def everything(self) -> Engine:
        """Every row that may be learned from, for a few passes: no row is kept."""
        if self._everything is None:
            self._everything = self._layout.everything(self._standardisation, self._options)
        return self._everything

    def statistics_of_all_rows(
        self, points: list[tuple[np.ndarray, np.ndarray]], columns: np.ndarray, loss: Squared
    ) -> list[Statistics]:
        """The statistics at several ``(W, b)`` of every row that may be learned from.

        Passes read no other column; one is enough unless the sums are large.
        """
        groups = _groups(points, LARGEST_SUMS)
        each = (self.everything.statistics_of_each(group, columns, loss) for group in groups)
        return [S for group in each for S in group]

    @property
    def n_passes(self) -> int:
        """Passes so far that read every training row."""
        engines = (self._everything, self._engines.get(None))
        return sum(engine.n_passes for engine in engines if engine is not None)

    @property
    def effective_passes(self) -> float:
        """Rows read by all passes so far, as a multiple of the training rows."""
        n = self._layout.n_training
        some = [e.n_passes * most / n for most, e in self._engines.items() if most]
        return self.n_passes + sum(some)

    def close(self) -> None:
        """Give back what the engines hold."""
        for engine in [*self._engines.values(), self._held, self._everything]:
            if engine is not None:
                engine.close()


@dataclass(frozen=True)
class Problem(Closing):
    """Training rows and perhaps validation rows behind engines, and the random draws.

    ``E`` and ``b`` are drawn once; ``scale`` is the even start on the simplex.  Columns that do
    not vary have zeros in both, and no solver gives them a scale.  ``refit`` says that validation
    rows were taken from the training rows and come back for the last solve.  ``learnable`` is
    False if the target or every input is constant.  ``views`` are the transforms worth a try, the
    standard one first.
    """

    scaled: dict[str, ScaledData]
    refit: bool
    loss: Loss
    groups: Groups
    y_mean: np.ndarray
    y_center: np.ndarray
    y_spread: np.ndarray
    """What each target is divided by."""
    y_unit: float
    """The unit of errors: the spread of one target, or of all together."""
    dtype: np.dtype
    kernel: Kernel
    rng: np.random.RandomState = field(repr=False)
    E: np.ndarray = field(repr=False)
    b: np.ndarray = field(repr=False)
    scale: np.ndarray
    sigma: float | None
    learnable: bool
    n_first_passes: int
    """Passes over all rows before any engine was built."""
    variance: np.ndarray = field(repr=False)
    """Of each standardised column: one, or for joint columns a part of one; zero if constant."""
    standard: Standardise = field(repr=False)
    """Kept for its centers and spreads, whichever transform is chosen."""
    checkpoint: Checkpoint = field(repr=False)

    @property
    def training(self) -> Engine:
        """All training rows, standardised."""
        return self.scaled["standard"].training()

    @property
    def validation(self) -> Engine | None:
        """The validation rows, standardised."""
        return self.scaled["standard"].validation

    @cached_property
    def constant(self) -> Constant:
        """The best constant; that of the squared loss is zero, since targets are centered."""
        n_targets = self.y_mean.size
        if isinstance(self.loss, Squared):
            return Constant(np.zeros(self.loss.n_outputs(n_targets)), 1.0, 2.0, 1.0)
        mean = (self.y_mean - self.y_center) / self.y_spread
        engine = self.scaled["standard"].training(SAMPLE_ROWS)
        return best_constant(engine, self.loss, mean)

    @property
    def unit(self) -> float:
        """What a penalty of the search is multiplied by to be one of the problem's own loss.

        Near the best constant a loss is a parabola of half its curvature there, and the penalty
        counts in proportion to that: one for the squared loss.
        """
        return self.constant.curvature / 2

    @cached_property
    def search_loss(self) -> Squared:
        """The quadratic loss that variables are looked for with."""
        if isinstance(self.loss, Squared):
            return self.loss
        c = self.constant
        return Scores(self.loss, tuple(c.c.tolist()), max(c.spread, np.finfo(float).tiny))

    def start(self, b: np.ndarray) -> Coefficients:
        """Coefficients and constants to begin a solve with: those of the constant model."""
        c = self.constant.c
        return np.zeros((b.size, c.size)), c

    def reported(self, error: Any) -> Any:
        """A mean loss as users read it."""
        return self.loss.reported(error, self.y_unit)

    @property
    def budget(self) -> float:
        """The size of the simplex."""
        unit = self.groups.positions(self.usable)
        return float(first_of_each(self.scale[self.usable], unit).sum())

    @property
    def usable(self) -> np.ndarray:
        """The columns that vary."""
        return np.flatnonzero(self.scale)

    @property
    def n_passes(self) -> int:
        """Passes so far that read every training row, those of the preparation among them."""
        return self.n_first_passes + sum(data.n_passes for data in self.scaled.values())

    @property
    def effective_passes(self) -> float:
        """Rows read so far, as a multiple of the training rows."""
        return self.n_first_passes + sum(data.effective_passes for data in self.scaled.values())

    def training_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the training rows at ``scale``, with the targets of the search."""
        return self.training.statistics(*self._frequencies(scale), self.search_loss)

    def validation_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the validation rows at ``scale``, with the targets of the search."""
        assert self.validation is not None
        return self.validation.statistics(*self._frequencies(scale), self.search_loss)

    def validation_error(self, scale: np.ndarray, coef: np.ndarray, constant: np.ndarray) -> float:
        """Mean loss on the validation rows."""
        if self.validation is None:
            return float("nan")
        W, b, columns = self._frequencies(scale)
        return self.validation.loss(self.loss, Expansion(columns, W, b, coef, constant))

    def _frequencies(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``W`` in the columns of positive scale, ``b``, and those columns."""
        columns = np.flatnonzero(scale)
        return scale[columns, None] * self.E[columns], self.b, columns

    def descend_scales(
        self, engine: Engine, goal: Objective, scale: np.ndarray, *, max_iter: int, tol: float
    ) -> Iterator[ScaleState]:
        """Projected descent on the simplex from ``scale``."""
        return descend_scales(
            engine,
            goal,
            self.E,
            self.b,
            scale,
            start=self.start(self.b),
            groups=self.groups,
            max_iter=max_iter,
            tol=tol,
            checkpoint=self.checkpoint,
        )

    def close(self) -> None:
        """Give back what the engines hold."""
        for data in self.scaled.values():
            data.close()


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
    validation: float | str | Pair | None,
    device: str = "cpu",
    n_jobs: int | None = None,
    memory_limit: str | float | None = None,
    **settings: Any,
) -> Problem:
    """A problem from arrays whose rows all have positive weight; settings of :func:`assemble`."""
    n_threads, limit = count_threads(n_jobs), parse_memory(memory_limit)
    dataset = array_dataset(X, Y, weight, rng, validation, device, n_threads, limit)
    return assemble(
        dataset, rng, device=device, n_threads=n_threads, memory_limit=limit, **settings
    )


def assemble(
    dataset: Dataset,
    rng: np.random.RandomState,
    *,
    kernel: Kernel,
    n_components: int | None,
    budget: float | None,
    loss: Loss = SQUARED,
    groups: Groups | None = None,
    joint: Joint = (),
    target_weights: Any = "variance",
    transform: str = "standard",
    dtype: Any = "auto",
    float64_rows: int = FLOAT64_ROWS,
    device: str = "cpu",
    n_threads: int = 1,
    memory_limit: float | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Problem:
    """Draw ``E`` and ``b``, measure the kernel's width, choose transforms of the inputs.

    ``n_components=None`` chooses by the number of rows, ``budget=None`` stands for the paper's
    d / sigma, d being the number of units.  ``joint`` are columns that have one spread together.
    ``transform`` is "standard", "quantile", or "auto" for both where an input is far from normal.
    Blocks of up to ``float64_rows`` rows are float64 for ``dtype="auto"``.
    """
    n_rows, n_features = dataset.n_rows, dataset.n_features
    if n_components is None:
        n_components = int(np.clip(n_rows, *N_COMPONENTS))
    E = kernel.sample(rng, (n_features, n_components))
    b = rng.uniform(0.0, 2 * np.pi, n_components)

    varies = dataset.inputs.varies
    groups = Groups.single(n_features) if groups is None else groups
    standard = Standardise(*_joined(*dataset.inputs.standard(), varies, joint))
    E[~varies] = 0.0
    y_varies = dataset.targets.varies
    y_center, y_spread, y_unit = _target_units(dataset.targets, loss, target_weights)
    y_tells = y_varies.any() and y_unit >= np.finfo(float).tiny  # below, digits are lost

    sigma = None
    scale = np.zeros(n_features)
    if varies.any():
        n_units = groups.count(np.flatnonzero(varies))
        if budget is None:
            sigma = neighbour_sigma(standard(dataset.sample(SIGMA_ROWS))[:, varies])
            budget = n_units / sigma
        scale[varies] = budget / n_units

    transforms: list[Transform] = [standard]
    if transform != "standard":
        sample = dataset.sample(QUANTILE_ROWS)
        own = np.ones(n_features, dtype=bool)
        for columns in joint:
            own[columns] = False
        own = np.flatnonzero(own)
        if transform == "quantile" or needs_quantiles(sample[:, own], standard.take(own)):
            transforms.append(Quantile.fit(sample).beside(standard, joint))

    options = EngineOptions(
        n_components,
        block_dtype(dtype, n_rows, float64_rows),
        device,
        n_threads,
        memory_limit,
    )
    return Problem(
        scaled={
            t.name: ScaledData(
                t, dataset, Standardisation(t, y_center, y_spread), options, groups, checkpoint
            )
            for t in transforms
        },
        refit=dataset.refit,
        loss=loss,
        groups=groups,
        y_mean=dataset.targets.mean,
        y_center=y_center,
        y_spread=y_spread,
        y_unit=y_unit,
        dtype=block_dtype(dtype, n_rows),
        kernel=kernel,
        rng=rng,
        E=E,
        b=b,
        scale=scale,
        sigma=sigma,
        learnable=bool(y_tells and varies.any()),
        n_first_passes=dataset.n_passes,
        variance=np.where(varies, dataset.inputs.standard()[1] / standard.spread, 0.0) ** 2,
        standard=standard,
        checkpoint=checkpoint,
    )


def _joined(
    center: np.ndarray, spread: np.ndarray, varies: np.ndarray, joint: Joint
) -> tuple[np.ndarray, np.ndarray]:
    """Centers and spreads in which the joint columns have one spread, that of all together.

    The indicators of a category then have a common unit: a rare level is not far from all others.
    """
    spread = spread.copy()
    for columns in joint:
        columns = columns[varies[columns]]
        if columns.size:
            spread[columns] = np.sqrt(np.sum(spread[columns] ** 2))
    return center, spread


def _target_units(
    targets: Moments, loss: Loss, weights: Any
) -> tuple[np.ndarray, np.ndarray, float]:
    """What is taken from each target, what it is divided by, and the unit of errors.

    Weights "variance" leave the targets in their proportions; "equal" give each the same variance,
    and numbers these times that.  In all, targets have unit variance.
    """
    center, spread = targets.standard()
    varies = targets.varies
    if not loss.standardises:
        return np.zeros_like(center), np.ones_like(spread), 1.0
    if isinstance(weights, str) and weights == "variance":
        # One spread for all targets keeps their proportions.
        unit = float(np.hypot.reduce(spread[varies])) if varies.any() else 1.0
        return center, np.full(spread.shape, unit), unit
    share = np.ones(spread.size) if isinstance(weights, str) else np.asarray(weights, dtype=float)
    share = np.where(varies, share, 0.0)
    share = np.sqrt(share / max(share.sum(), np.finfo(float).tiny))
    # A target of no weight keeps a column, of zeros nearly.
    return center, spread / np.maximum(share, 1e-6), 1.0
