"""What is to be solved: rows behind engines, the loss, and the random draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from srff._utils.checkpoint import NO_CHECKPOINT, Checkpoint
from srff._utils.resource import Resource
from srff.core.bandwidth import neighbour_sigma
from srff.core.coefficients import Coefficients, Waves
from srff.core.descent import iterations
from srff.core.engine import Engine
from srff.core.features import Expansion, Statistics
from srff.core.groups import Groups, first_of_each
from srff.core.kernels import Kernel
from srff.core.losses import SQUARED, Loss, Scores, Squared
from srff.core.newton import Constant, best_constant
from srff.core.objectives import Objective
from srff.core.simplex_descent import SimplexDescent, SimplexState
from srff.data.dataset import SAMPLE_ROWS, Dataset
from srff.data.engines.blocks import Standardisation
from srff.data.engines.plan import EngineOptions
from srff.data.moments import Moments
from srff.data.scaled import ScaledData
from srff.data.scaling import Quantile, Standardise, Transform, needs_quantiles
from srff.data.sides import Sides

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


@dataclass(frozen=True)
class ProblemSettings:
    """What a user may say of a problem.

    ``n_components=None`` chooses by the number of rows, ``budget=None`` stands for the paper's
    d / sigma, d being the number of groups.  ``joint`` are columns that have one spread together.
    ``inputs`` is "standard", "quantile", or "auto" for both where an input is far from normal.
    Blocks of up to ``float64_rows`` rows are float64 for ``dtype="auto"``.
    """

    kernel: Kernel
    n_components: int | None = None
    budget: float | None = None
    loss: Loss = SQUARED
    groups: Groups | None = None
    joint: Joint = ()
    target_weights: Any = "variance"
    inputs: str = "standard"
    dtype: Any = "auto"
    float64_rows: int = FLOAT64_ROWS
    device: str = "cpu"
    n_threads: int = 1
    memory_limit: float | None = None


@dataclass(frozen=True)
class TargetUnits:
    """What is taken from each target, what it is divided by, and the unit of errors."""

    mean: np.ndarray
    center: np.ndarray
    spread: np.ndarray
    unit: float


@dataclass(frozen=True)
class Problem(Resource):
    """Training rows and perhaps validation rows behind engines, and the random draws.

    ``E`` (d x D) and ``b`` (D) are drawn once; ``scale`` (d) is the even start on the simplex.
    Columns that do not vary have zeros in both, and no solver gives them a scale.  ``refit`` says
    that validation rows were taken from the training rows and come back for the last solve.
    ``learnable`` is False if the target or every input is constant.  ``scaled`` has the data by the
    name of each scaling of the inputs that is worth a try, the standard one first.
    """

    scaled: dict[str, ScaledData]
    n_rows: int
    refit: bool
    loss: Loss
    groups: Groups
    targets: TargetUnits
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
    """Kept for its centers and spreads, whichever scaling is chosen."""
    checkpoint: Checkpoint = field(repr=False)
    column_order: np.ndarray | None = field(default=None, repr=False)
    """The columns in an order of their own, by what they hold, that rows of ``E`` are drawn in;
    None is that in which they stand."""
    others: tuple[Problem, ...] = field(default=(), repr=False)
    """The same with each of the other folds held out.  They share scalings, which do not look at
    how inputs and target go together, and have random numbers of their own."""

    @property
    def folds(self) -> tuple[Problem, ...]:
        """The problem with each fold held out, this one first."""
        return self, *self.others

    def sides(self, most: int) -> list[Sides]:
        """The rows on both sides of each fold; none where they are not in memory, or none validate.

        At most so many of those that are learned from.
        """
        each = [fold.scaled["standard"].sides(most) for fold in self.folds]
        known = [sides for sides in each if sides is not None]
        return known if len(known) == len(each) else []

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
        targets = self.targets
        if self.loss.quadratic:
            return Constant(np.zeros(self.loss.n_outputs(targets.mean.size)), 1.0, 2.0, 1.0)
        mean = (targets.mean - targets.center) / targets.spread
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
        # Scores that do not vary have no unit: those of other rows must not be divided by nothing.
        return Scores(self.loss, tuple(c.c.tolist()), c.spread if c.spread > 1e-100 else 1.0)

    def at_constant(self, n_components: int | None = None) -> Coefficients:
        """The coefficients of the constant model, for so many features: a solve begins there."""
        c = self.constant.c
        return np.zeros((n_components or self.b.size, c.size)), c

    def reported(self, error: Any) -> Any:
        """A mean loss as users read it."""
        return self.loss.reported(error, self.targets.unit)

    def reported_with_error(self, mean: float, error: float) -> tuple[float, float]:
        """A mean loss and its standard error as users read them."""
        low, high = (float(self.reported(max(mean + s * error, 0.0))) for s in (-1, 1))
        return float(self.reported(mean)), (high - low) / 2

    def in_own_order(self, columns: np.ndarray) -> np.ndarray:
        """Some columns in an order that does not hang on where they stand, where there is one."""
        order = np.arange(self.scale.size) if self.column_order is None else self.column_order
        return order[np.isin(order, columns)]

    @property
    def budget(self) -> float:
        """The size of the simplex."""
        group = self.groups.positions(self.usable)
        return float(first_of_each(self.scale[self.usable], group).sum())

    @property
    def usable(self) -> np.ndarray:
        """The columns that vary."""
        return np.flatnonzero(self.scale)

    @property
    def n_passes(self) -> int:
        """Passes so far that read every training row, those of the preparation among them."""
        own = sum(data.n_passes for data in self.scaled.values())
        return self.n_first_passes + own + sum(other.n_passes for other in self.others)

    @property
    def effective_passes(self) -> float:
        """Rows read so far, as a multiple of the training rows."""
        own = sum(data.effective_passes for data in self.scaled.values())
        return self.n_first_passes + own + sum(other.effective_passes for other in self.others)

    def frequencies(self, scale: np.ndarray) -> Waves:
        """``W = diag(gamma) E`` in the columns of positive scale, ``b``, and those columns."""
        columns = np.flatnonzero(scale)
        return scale[columns, None] * self.E[columns], self.b, columns

    def redrawn(self) -> Problem:
        """The same rows behind the same engines with another draw of ``E`` and ``b``."""
        E, b = _draws(self.kernel, self.rng, self.E.shape, self.column_order)
        E[self.scale == 0] = 0.0
        return replace(self, E=E, b=b)

    def training_statistics(self, scale: np.ndarray) -> Statistics:
        """The statistics of the training rows at ``scale``, with the targets of the search."""
        return self.training.statistics(*self.frequencies(scale), self.search_loss)

    def validation_error(self, scale: np.ndarray, coef: np.ndarray, constant: np.ndarray) -> float:
        """Mean loss on the validation rows."""
        if self.validation is None:
            return float("nan")
        W, b, columns = self.frequencies(scale)
        return self.validation.loss(self.loss, Expansion(columns, W, b, coef, constant))

    def descend_scales(
        self,
        engine: Engine,
        goal: Objective,
        scale: np.ndarray,
        *,
        max_iter: int,
        tol: float,
        n_components: int | None = None,
    ) -> Iterator[SimplexState]:
        """Projected descent on the simplex from ``scale``; each iteration is a step."""
        size = n_components or self.b.size
        descent = SimplexDescent(engine, goal, self.E[:, :size], self.b[:size], self.groups, tol)
        near = self.at_constant(size)
        first = self.checkpoint.run(
            SimplexState,
            "start on the simplex",
            engine,
            lambda: descent.first(scale, near),
            partial(descent.may_be_first, scale, near),
        )
        advance = self.checkpoint.wrapped(
            descent.advance, lambda state: f"iteration {state.n_iter + 1} on the simplex", engine
        )
        return iterations(advance, first, max_iter)

    def close(self) -> None:
        """Give back what the engines hold."""
        for data in self.scaled.values():
            data.close()
        for other in self.others:
            other.close()


def make_problem(
    dataset: Dataset,
    settings: ProblemSettings,
    rng: np.random.RandomState,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Problem:
    """Draw ``E`` and ``b``, measure the kernel's width, choose scalings of the inputs."""
    o, n_rows, n_features = settings, dataset.n_rows, dataset.n_features
    n_components = o.n_components or int(np.clip(n_rows, *N_COMPONENTS))
    E, b = _draws(o.kernel, rng, (n_features, n_components), dataset.column_order)

    varies = dataset.inputs.varies
    E[~varies] = 0.0
    groups = Groups.single(n_features) if o.groups is None else o.groups
    standard = Standardise(*_joined(*dataset.inputs.standard(), varies, o.joint))
    targets = _target_units(dataset.targets, o.loss, o.target_weights)
    # A spread below the smallest normal number has lost its digits.
    y_tells = dataset.targets.varies.any() and targets.unit >= np.finfo(float).tiny
    scale, sigma = _even_start(dataset, standard, groups, o.budget)

    dtype = block_dtype(o.dtype, n_rows, o.float64_rows)
    options = EngineOptions(n_components, dtype, o.device, o.n_threads, o.memory_limit)
    transforms = _scalings(dataset, standard, o.inputs, o.joint)

    def scaled(rows: Dataset) -> dict[str, ScaledData]:
        return {
            t.name: ScaledData(rows, Standardisation(t, targets.center, targets.spread), options)
            for t in transforms
        }

    first, *others = dataset.folds()
    problem = Problem(
        scaled=scaled(first),
        n_rows=n_rows,
        refit=dataset.refit,
        loss=o.loss,
        groups=groups,
        targets=targets,
        dtype=block_dtype(o.dtype, n_rows),
        kernel=o.kernel,
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
        column_order=dataset.column_order,
    )
    seeds = [rng.randint(2**31) for _ in others]
    return replace(
        problem,
        others=tuple(
            replace(problem, scaled=scaled(rows), rng=np.random.RandomState(seed), n_first_passes=0)
            for rows, seed in zip(others, seeds, strict=True)
        ),
    )


def _draws(
    kernel: Kernel, rng: np.random.RandomState, shape: tuple[int, int], order: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """``E`` (d x D) of the kernel's spectral measure, and ``b`` (D)."""
    E = kernel.sample(rng, shape)
    if order is not None:
        E[order] = E.copy()  # a column has its draws wherever it stands
    return E, rng.uniform(0.0, 2 * np.pi, shape[1])


def block_dtype(dtype: Any, n_rows: int, float64_rows: int = FLOAT64_ROWS) -> np.dtype:
    """The precision of blocks: as given, or for "auto" float32 for all but small data."""
    if dtype == "auto":
        return np.dtype(np.float64 if n_rows <= float64_rows else np.float32)
    return np.dtype(dtype)


def _even_start(
    dataset: Dataset, standard: Standardise, groups: Groups, budget: float | None
) -> tuple[np.ndarray, float | None]:
    """The budget shared by the groups that vary, and the sigma that it came from, if it did."""
    scale, sigma = np.zeros(dataset.n_features), None
    varies = dataset.inputs.varies
    if varies.any():
        n_groups = groups.count(np.flatnonzero(varies))
        if budget is None:
            sigma = neighbour_sigma(standard(dataset.sample(SIGMA_ROWS))[:, varies])
            budget = n_groups / sigma
        scale[varies] = budget / n_groups
    return scale, sigma


def _scalings(
    dataset: Dataset, standard: Standardise, inputs: str, joint: Joint
) -> list[Transform]:
    """The standard scaling, and normal scores if they are asked for or worth a try."""
    if inputs == "standard":
        return [standard]
    sample = dataset.sample(QUANTILE_ROWS)
    own = np.ones(dataset.n_features, dtype=bool)
    for columns in joint:
        own[columns] = False
    own = np.flatnonzero(own)
    if inputs == "quantile" or needs_quantiles(sample[:, own], standard.take(own)):
        return [standard, Quantile.fit(sample).beside(standard, joint)]
    return [standard]


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


def _target_units(targets: Moments, loss: Loss, weights: Any) -> TargetUnits:
    """The units in which the targets have unit variance in all.

    Weights "variance" leave the targets in their proportions; "equal" give each the same variance,
    and numbers these times that.
    """
    center, spread = targets.standard()
    varies = targets.varies
    if not loss.standardises:
        return TargetUnits(targets.mean, np.zeros_like(center), np.ones_like(spread), 1.0)
    if isinstance(weights, str) and weights == "variance":
        # One spread for all targets keeps their proportions.
        unit = float(np.hypot.reduce(spread[varies])) if varies.any() else 1.0
        return TargetUnits(targets.mean, center, np.full(spread.shape, unit), unit)
    share = np.ones(spread.size) if isinstance(weights, str) else np.asarray(weights, dtype=float)
    share = np.where(varies, share, 0.0)
    share = np.sqrt(share / max(share.sum(), np.finfo(float).tiny))
    # A target of no weight keeps a column, of zeros nearly.
    return TargetUnits(targets.mean, center, spread / np.maximum(share, 1e-6), 1.0)
