"""Small problems for the tests of solvers and searches, made ready as an estimator does it."""

from __future__ import annotations

import numpy as np

from srff._utils.threads import count_threads
from srff.core.descent import iterations
from srff.data.dataset import array_dataset
from srff.data.engines import parse_memory
from srff.data.problem import ProblemSettings, make_problem
from srff.paper.algorithm1 import Algorithm1
from srff.selection.config import CONFIG
from srff.selection.search import Effort, Log, Request, Search


def ring_rows():
    """Three hundred rows, a smooth function of columns 0 and 1 out of 6.

    A budget of 2 is used up by those two columns; the paper's, 3.5, is more than they want.
    """
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 6))
    y = np.exp(-(X[:, 0] ** 2 + X[:, 1] ** 2)) * 3 + rng.normal(0, 0.05, 300)
    return X, y


def prepare(
    X, Y, weight, rng, *, validation, device="cpu", n_jobs=None, memory_limit=None, **settings
):
    """A problem from arrays whose rows all have positive weight; see ``ProblemSettings``."""
    n_threads, limit = count_threads(n_jobs), parse_memory(memory_limit)
    dataset = array_dataset(X, Y, weight, rng, validation, device, n_threads, limit)
    options = {"device": device, "n_threads": n_threads, "memory_limit": limit}
    return make_problem(dataset, ProblemSettings(**settings, **options), rng)


def alternated(problem, alpha=1e-3, *, max_iter, tol, **options):
    """The states of Algorithm 1 from the even start, the first one left out."""
    p = problem
    algorithm = Algorithm1(p.training, p.loss, p.E, p.b, p.groups, tol, **options)
    (first,) = algorithm.first(p.scale, np.array([alpha]), p.at_constant())
    return list(iterations(algorithm.advance, first, max_iter))


def search_of(problem, *, report=lambda progress: None, config=CONFIG, **request):
    """What the steps of the default fit work with."""
    settings = {
        "refine": "auto",
        "effort": Effort(8, 1e-5),
        "wide_features": 0,
        "free_features": 0,
    }
    log = Log(report, problem.targets.unit)
    return Search(problem, problem.scaled["standard"], Request(**settings | request), config, log)
