"""One replicate of one cell: draw the data, fit the method, measure the error."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import root_mean_squared_error

from srff._utils.version import __version__
from srff.core.bandwidth import neighbour_sigma
from srff.data.moments import center_and_spread
from srff.estimators.regressor import SRFFRegressor
from srff.estimators.rff import RFFRegressor
from srff.paper.alpha_search import MAX_ITER, N_ALPHAS, TOL
from srff.reproduction import datasets
from srff.reproduction.published import HELD_OUT, Cell

SIGMA_ROWS = {"SE1": 1000, "SE2": 1000, "SE3": 1000, "RCP": 100, "REL": 100, "RAI": 100, "RMN": 100}
"""Rows that the paper's width rule is applied to.  The rule's value falls with their number, which
the paper does not give: 1,000 agrees with the sums of its SE1 figure, 100 with its plain RFF on
REL and RAI."""

N_COMPONENTS = 300

BASELINES = {
    "Mean": "MeanBaseline",
    "Ridge": "RidgeBaseline",
    "Lasso": "LassoBaseline",
    "SPAM": "SPAM",
    "HSIC": "HSICLasso",
    "Denovas": "Denovas",
}
"""Classes of :mod:`srff.baselines` by their name in the tables."""

FRESH = "fresh draws"
"""Said of RFF and SRFF: each alpha has a draw of the random features of its own."""

EXTRACT = "an extract of the data"
"""Said of a replicate that had fewer rows than the paper's."""

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Settings:
    """What a run was made with, beside the cell."""

    device: str = "cpu"
    n_jobs: int | None = 1
    mining_path: str | None = None
    memory_limit: str = "8GB"
    max_iter: int = MAX_ITER
    n_alphas: int = N_ALPHAS
    patience: int | None = None
    """Alphas in succession without a better one after which SRFF leaves the rest; None is never."""

    def written(self) -> dict[str, Any]:
        """What the results depend on, for the record."""
        return {
            "version": __version__,
            "n_components": N_COMPONENTS,
            "n_alphas": self.n_alphas,
            "patience": self.patience,
            "max_iter": self.max_iter,
            "tol": TOL,
            "sigma_rows": SIGMA_ROWS,
            "budget_factors": BudgetSearch.FACTORS,
            "memory_limit": self.memory_limit,
        }


@dataclass(frozen=True)
class Outcome:
    """A line of the results file; ``status`` is "ok" or why there is no error."""

    problem: str
    n: int
    method: str
    replicate: int
    status: str
    rmse: float = float("nan")
    seconds: float = float("nan")
    n_selected: float = float("nan")
    alpha: float = float("nan")
    budget: float = float("nan")
    device: str = ""
    version: str = __version__
    scales: str = ""
    variant: str = ""

    @property
    def way(self) -> str:
        """How the method was run, whatever the rows were."""
        return "; ".join(part for part in self.variant.split("; ") if part != EXTRACT)

    @property
    def is_comparable(self) -> bool:
        """Whether it had the paper's rows."""
        return EXTRACT not in self.variant.split("; ")

    @property
    def cell(self) -> Cell:
        """The figure that it counts for."""
        return Cell(self.problem, self.n, self.method)

    @classmethod
    def failed(cls, cell: Cell, replicate: int, status: str) -> Outcome:
        """The outcome of a replicate that gave no model."""
        return cls(cell.problem, cell.n, cell.method, replicate, " ".join(status.split()))


def draw(cell: Cell, replicate: int, settings: Settings) -> tuple[Pair, Pair, Pair]:
    """Training, validation and test rows; the same for every method of a replicate."""
    if cell.problem.startswith("SE"):
        held = HELD_OUT[cell.problem]
        make = getattr(datasets, f"make_{cell.problem.lower()}")
        X, y = make(cell.n + 2 * held, replicate)
        cuts = (cell.n, cell.n + held)
        (train, validation, test) = zip(np.split(X, cuts), np.split(y, cuts), strict=True)
        return train, validation, test
    path = settings.mining_path if cell.problem == "RMN" else None
    data = datasets.load_real(cell.problem, path=path)
    n_train, n_test = data.train_size, data.test_size
    if data.data.shape[0] < n_train + 2 * n_test:  # an extract of RMN
        n_test = data.data.shape[0] // 6
        n_train = data.data.shape[0] - 2 * n_test
    return datasets.split_real(
        data.data, data.target, train_size=n_train, test_size=n_test, random_state=replicate
    )


def paper_budget(X: np.ndarray, max_rows: int, seed: int) -> float:
    """The paper's size of the simplex, d / sigma, with sigma from at most ``max_rows`` rows."""
    center, spread, varies = center_and_spread(X)
    rows = np.random.RandomState(seed).permutation(X.shape[0])[:max_rows]
    sigma = neighbour_sigma(((X[rows] - center) / spread)[:, varies])
    return float(varies.sum() / sigma)


def build(cell: Cell, train: Pair, validation: Pair, replicate: int, settings: Settings) -> Any:
    """The method of a cell, ready to fit."""
    from srff.reproduction import baselines
    from srff.reproduction.baselines.denovas import check_memory

    common: dict[str, Any] = {"validation": validation, "random_state": replicate}
    if cell.method in ("RFF", "SRFF", "SRFF-b"):
        common |= {
            "budget": paper_budget(train[0], SIGMA_ROWS[cell.problem], replicate),
            "device": settings.device,
            "n_jobs": settings.n_jobs,
            "n_components": N_COMPONENTS,
            "fresh_draws": True,
        }
        if cell.method == "RFF":
            return _with_grid(RFFRegressor, settings)(**common)
        model = _with_grid(SRFFRegressor, settings)(
            solver="alternating", refine=None, max_iter=settings.max_iter, tol=TOL, **common
        )
        return model if cell.method == "SRFF" else BudgetSearch(model)
    if cell.method == "Denovas":
        # As published it stores its matrices, and must fit; the products are the same without.
        shape, n_held = train[0].shape, validation[0].shape[0]
        check_memory(shape, n_held, stored=True, limit=settings.memory_limit)
        common |= {"memory_limit": settings.memory_limit, "matrices": "implicit"}
    return getattr(baselines, BASELINES[cell.method])(**common)


def _with_grid(model: type, settings: Settings) -> type:
    """A model that goes through the grid of alpha as the settings say."""
    constants = {"grid_size": settings.n_alphas, "grid_patience": settings.patience}
    return type(model.__name__, (model,), constants)


class BudgetSearch:
    """SRFF with the size of the simplex chosen too, by validation error, below the paper's rule."""

    FACTORS = (1.0, 0.5, 0.25)

    def __init__(self, model: SRFFRegressor) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> SRFFRegressor:
        """The best of the models at each budget."""
        budgets = [factor * float(self.model.budget) for factor in self.FACTORS]
        models = [clone(self.model).set_params(budget=b).fit(X, y) for b in budgets]
        return models[int(np.argmin([chosen_error(m) for m in models]))]


def chosen_error(model: SRFFRegressor) -> float:
    """The validation error of the alpha that was chosen."""
    return float(model.path_["validation_error"][model.path_["alpha"] == model.alpha_][0])


def run(cell: Cell, replicate: int, settings: Settings) -> Outcome:
    """Fit one replicate; a method that cannot run at this size says so in ``status``."""
    try:
        train, validation, test = draw(cell, replicate, settings)
    except (OSError, ImportError, ValueError) as error:
        return Outcome.failed(cell, replicate, f"no data: {error}")
    begun = time.perf_counter()
    try:
        model = build(cell, train, validation, replicate, settings).fit(*train)
    except MemoryError as error:
        return Outcome.failed(cell, replicate, f"memory: {error}")
    except (ImportError, ValueError, np.linalg.LinAlgError) as error:
        return Outcome.failed(cell, replicate, f"error: {error}")
    seconds = time.perf_counter() - begun
    rows = EXTRACT if train[0].shape[0] < cell.n else ""
    rmse = root_mean_squared_error(test[1], model.predict(test[0]))
    scale = model.scale_ if cell.method.startswith("SRFF") else None
    selected = np.flatnonzero(scale) if scale is not None else getattr(model, "selected_", None)
    return Outcome(
        **asdict(cell),
        replicate=replicate,
        status="ok",
        rmse=float(f"{rmse:.6g}"),
        seconds=float(f"{seconds:.3g}"),
        n_selected=float("nan") if selected is None else len(selected),
        alpha=float(f"{getattr(model, 'alpha_', np.nan):.4g}"),
        budget=float(f"{getattr(model, 'budget_', np.nan):.4g}"),
        device=settings.device,
        scales="" if scale is None else " ".join(f"{s:.3g}" for s in scale),
        variant="; ".join(part for part in (rows, way(cell.method, settings)) if part),
    )


def way(method: str, settings: Settings) -> str:
    """How a method is run that can be run in several ways; a line of a results file says it."""
    if method == "HSIC":
        return "width of all variables"
    if method == "RFF":
        return FRESH
    if not method.startswith("SRFF"):
        return ""
    grid = "whole grid" if settings.n_alphas == N_ALPHAS else f"{settings.n_alphas} alphas"
    if settings.patience is None:
        return f"{grid}, {FRESH}"
    return f"{grid} until {settings.patience} in succession are no better, {FRESH}"
