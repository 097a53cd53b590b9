"""The non-sparse model of the paper's tables: equal scales, a ridge regression."""

from __future__ import annotations

from typing import Any

from srff._utils.progress import Callback
from srff.core.candidate import Found
from srff.data.problem import Problem
from srff.estimators.base import RandomFeatureRegressor
from srff.paper.alpha_search import search_ridge


class RFFRegressor(RandomFeatureRegressor):
    """Ridge regression on random Fourier features with equal scales: the paper's RFF.

    All variables are used with the same scale, ``budget / d``; the paper's is ``1 / sigma``.

    Parameters
    ----------
    kernel : {"gaussian", "laplace", "matern12", "matern32", "matern52"}, kernel or callable, \
default="gaussian"
        As in :class:`SRFFRegressor`.
    n_components : int, default=300
        Number of random features, D.
    alpha : float or "auto", default="auto"
        Ridge penalty per row; "auto" chooses among 50 values by validation error.
    budget : float or "auto", default="auto"
        The sum of the scales; "auto" is d / sigma.
    fresh_draws : bool, default=False
        Whether each alpha of the grid has random frequencies and offsets of its own, so that the
        validation error chooses among draws too.
    validation : float, int, pair (X, y), splitter, list of (train, test) or None, default=None
        As in :class:`SRFFRegressor` with ``refine=None``: of several splits one is used.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the features.
    device : str, default="cpu"
        "cpu" or a PyTorch device.
    memory_limit : str, number or None, default=None
        Most bytes to use beside the data.
    n_jobs : int or None, default=None
        Threads; None is all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and of the choice of rows.
    verbose : int, default=0
        If positive, show a progress bar on a terminal.
    callback : callable or None, default=None
        Called with a :class:`srff.Progress`.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features_in_,)
        The common scale, for standardised inputs; zero for columns that do not vary.
    alpha_, budget_, sigma_, coefficients_, intercept_
        As in :class:`SRFFRegressor`.
    frequencies_, offsets_, center_, spread_, input_range_, path_
        As there.

    Examples
    --------
    >>> from srff import RFFRegressor
    >>> from srff.datasets import make_se3
    >>> X, y = make_se3(500, random_state=0)
    >>> RFFRegressor(random_state=0).fit(X[:, :10], y).score(X[:, :10], y) > 0.8
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 300,
        *,
        alpha: float | str = "auto",
        budget: float | str = "auto",
        fresh_draws: bool = False,
        validation: Any = None,
        dtype: Any = "auto",
        device: str = "cpu",
        memory_limit: str | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.fresh_draws = fresh_draws
        self.validation = validation
        self.dtype = dtype
        self.device = device
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _search(self, problem: Problem, report: Callback) -> Found:
        best, candidates = search_ridge(problem, self._alphas(), self.fresh_draws, self.grid_size)
        return Found(best, candidates, 1)
