"""What other models do on the same held-out rows: the errors that a fit's own is read beside.

Straight lines (ridge, logistic or Poisson regression) and boosted trees see all columns of the
encoded table, learn from the rows of each fold and are judged on those that it holds out.  Of the
settings of each, a fold takes the best by the rows of the others, as the fit's own expected error
does; of a single hold-out, by its own rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from srff.core.losses import Logistic, Loss, Multinomial, Poisson, Squared
from srff.data.problem import Problem
from srff.data.sides import Rows, Sides

LEARNED_ROWS = 20_000
"""Most rows that they learn from."""

FEWEST_ROWS = 10
"""Rows of a fold from which on they learn at all."""

MOST_COLUMNS = 300
"""Of more columns they see those that go along with the target most."""

RIDGE_PENALTIES = tuple(np.logspace(-5, 2, 15).tolist())
"""For each row, of standardised columns."""

LINE_PENALTIES = (0.1, 0.03, 0.01, 1e-3, 1e-4)
"""The same for losses that are solved by steps, each from the one before."""

LINE_STEPS = 30
"""Most steps of such a solve: it is a yardstick, and nobody reads its coefficients."""

TREES = 100
"""Rounds of boosting, at a rate of 0.1."""

MOST_TREES = 240
"""Trees of all classes together: with many classes there are fewer rounds, at a higher rate."""

TREE_COLUMNS = 20_000
"""Trees times columns of a fold, for a quarter of a second: many trees see fewer."""

RATES = 0.1, 0.3
LEAVES, BINS = 8, 32
STAGES = 20
"""Numbers of rounds that are tried, up to all of them."""

MOST_IN_LEAF = 20
ROWS_PER_LEAF = 40
"""A leaf has at least 20 rows; of few rows, a fortieth."""


@dataclass(frozen=True)
class Learner:
    """A kind of model: from the rows of both sides, the outputs of each of its settings.

    Those have the shape (settings, rows, outputs).
    """

    name: str
    outputs: Callable[[Rows, Rows, Loss], np.ndarray]


def reference_errors(problem: Problem, each: list[Sides]) -> dict[str, tuple[float, float]]:
    """The error of each other model with its standard error, as users read them.

    ``each`` are the rows of the folds, at most :data:`LEARNED_ROWS` of those that are learned from.
    Empty where rows are not in memory, or too few, for several targets, and for losses that these
    models do not have.
    """
    learners = _learners(problem.loss)
    if not learners or not each or (problem.loss.quadratic and problem.targets.mean.size > 1):
        return {}
    if min(learned.Y.shape[0] for learned, _ in each) < FEWEST_ROWS:
        return {}
    losses: dict[str, list[np.ndarray]] = {learner.name: [] for learner in learners}
    for sides in each:
        learned, held = (_standardised(problem, rows) for rows in sides)
        order = _most_telling(learned)
        for learner in learners:
            columns = order[: _columns_of(learner, problem.loss, learned.Y)]
            one, two = (Rows(r.X[:, columns], r.Y, r.weight) for r in (learned, held))
            F = learner.outputs(one, two, problem.loss)
            losses[learner.name].append(np.stack([problem.loss.value(held.Y, f) for f in F]))
    weights = [held.weight for _, held in each]
    return {name: _expected(problem, found, weights) for name, found in losses.items()}


def _learners(loss: Loss) -> list[Learner]:
    """The other models for a loss."""
    trees = Learner("boosted trees", _boosted)
    if type(loss) is Squared:
        return [Learner("ridge", _ridge), trees]
    if type(loss) in (Logistic, Multinomial):
        return [Learner("logistic regression", _by_steps), trees]
    return [Learner("Poisson regression", _by_steps), trees] if type(loss) is Poisson else []


def _columns_of(learner: Learner, loss: Loss, Y: np.ndarray) -> int:
    """Most columns that a learner sees."""
    if learner.outputs is not _boosted:
        return MOST_COLUMNS
    return min(MOST_COLUMNS, TREE_COLUMNS // (_rounds(loss, Y) * _trees_a_round(loss, Y)))


def _standardised(problem: Problem, rows: Rows) -> Rows:
    """Rows in the columns that vary, in an order of their own, and in the problem's units."""
    columns = problem.in_own_order(problem.usable)
    X = problem.standard.take(columns)(rows.X[:, columns])
    Y = (rows.Y - problem.targets.center) / problem.targets.spread
    return Rows(X, Y, rows.weight / rows.weight.mean())


def _most_telling(rows: Rows) -> np.ndarray:
    """The columns in their order, those first by which the target, or its distance, moves most."""
    if rows.X.shape[1] <= MOST_COLUMNS // 3:
        return np.arange(rows.X.shape[1])
    X, Y = rows.X - rows.X.mean(axis=0), rows.Y - rows.Y.mean(axis=0)
    score = np.zeros(X.shape[1])
    for curve in (X, X**2 - np.mean(X**2, axis=0)):
        size = np.maximum(np.linalg.norm(curve, axis=0), np.finfo(float).tiny)
        score = np.maximum(score, np.abs(curve.T @ (rows.weight[:, None] * Y)).max(axis=1) / size)
    return np.argsort(-score, kind="stable")


def _expected(
    problem: Problem, losses: list[np.ndarray], weights: list[np.ndarray]
) -> tuple[float, float]:
    """The error of the settings that the other folds take, and its standard error.

    ``losses`` are those of the rows of each fold: (settings, rows).
    """
    sums = np.stack([rows @ weight for rows, weight in zip(losses, weights, strict=True)])
    elsewhere = sums.sum(axis=0) - sums if len(sums) > 1 else sums
    taken = [rows[k] for rows, k in zip(losses, elsewhere.argmin(axis=1).tolist(), strict=True)]
    loss, weight = np.concatenate(taken), np.concatenate(weights)
    mean = float(np.average(loss, weights=weight))
    variance = float(np.average((loss - mean) ** 2, weights=weight))
    return problem.reported_with_error(mean, float(np.sqrt(variance / max(weight.sum() - 1, 1.0))))


def _ridge(learned: Rows, held: Rows, loss: Loss) -> np.ndarray:
    """``B = (X'X + n l)^-1 X'Y`` of centred rows, for each penalty ``l``."""
    w = learned.weight[:, None]
    center, mean = (np.average(A, axis=0, weights=learned.weight) for A in (learned.X, learned.Y))
    X = learned.X - center
    squares, V = linalg.eigh(X.T @ (w * X), check_finite=False)
    along = V.T @ (X.T @ (w * (learned.Y - mean)))
    n, new = learned.n, (held.X - center) @ V
    squares = np.maximum(squares, 0.0)[:, None]
    shrunk = [along / (squares + n * penalty) for penalty in RIDGE_PENALTIES]
    return np.stack([new @ B + mean for B in shrunk])


def _by_steps(learned: Rows, held: Rows, loss: Loss) -> np.ndarray:
    """``min_B,c  mean loss(y, x'B + c) + l |B|^2 / 2`` for falling penalties ``l``."""
    X, Y, w = learned.X, learned.Y, learned.weight / learned.n
    p, size = X.shape[1], loss.n_outputs(Y.shape[1])
    first = _constant(learned, loss)
    at, out = np.concatenate([np.zeros(p * size), first]), []

    def objective(at: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
        B, c = at[: p * size].reshape(p, size), at[p * size :]
        F = X @ B + c
        slope = w[:, None] * loss.slope(Y, F)
        value = float(w @ loss.value(Y, F)) + penalty / 2 * float(np.sum(B**2))
        return value, np.concatenate([(X.T @ slope + penalty * B).ravel(), slope.sum(axis=0)])

    for penalty in LINE_PENALTIES:
        at = minimize(
            objective, at, (penalty,), "L-BFGS-B", jac=True, options={"maxiter": LINE_STEPS}
        ).x
        out.append(held.X @ at[: p * size].reshape(p, size) + at[p * size :])
    return np.stack(out)


def _constant(learned: Rows, loss: Loss) -> np.ndarray:
    """Outputs of the best constant, within what a logarithm can hold."""
    mean = np.average(learned.Y, axis=0, weights=learned.weight)
    least = 0.5 / learned.Y.shape[0]
    if isinstance(loss, Poisson):
        return np.log(np.maximum(mean, least))
    start = loss.start(np.clip(mean, least, 1 - least))
    return np.zeros(loss.n_outputs(mean.size)) if start is None else start


def _boosted(learned: Rows, held: Rows, loss: Loss) -> np.ndarray:
    """Boosted trees after so many rounds."""
    # Imported late: an estimator alone needs no trees.
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    rounds, Y = _rounds(loss, learned.Y), learned.Y
    settings = {
        "max_iter": rounds,
        "learning_rate": min(RATES[0] * TREES / rounds, RATES[1]),
        "max_leaf_nodes": LEAVES,
        "min_samples_leaf": int(np.clip(Y.shape[0] // ROWS_PER_LEAF, 2, MOST_IN_LEAF)),
        "early_stopping": False,
        "random_state": 0,
    }
    stages = np.unique(np.linspace(0, rounds - 1, STAGES + 1).astype(int)[1:])
    X, X_new = _binned(learned.X, held.X)
    # With several threads sums over rows would depend on how many there are.
    with threadpool_limits(1, user_api="openmp"):
        if isinstance(loss, Logistic | Multinomial):
            known, code = np.unique(_codes(Y), return_inverse=True)
            if known.size < 2:
                return _everywhere(learned, held, loss, stages.size)
            trees = HistGradientBoostingClassifier(**settings).fit(X, code, learned.weight)
            scores = [*trees.staged_decision_function(X_new)]
            return np.stack([_of_all(scores[k], known, learned, loss) for k in stages])
        if isinstance(loss, Poisson) and not Y.any():
            return _everywhere(learned, held, loss, stages.size)
        kind = "poisson" if isinstance(loss, Poisson) else "squared_error"
        model = HistGradientBoostingRegressor(loss=kind, **settings)
        staged = [*model.fit(X, Y[:, 0], learned.weight).staged_predict(X_new)]
    F = np.stack([staged[k][:, None] for k in stages])
    return np.log(np.maximum(F, np.finfo(float).tiny)) if kind == "poisson" else F


def _binned(X: np.ndarray, X_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns as the numbers of their bins, of about as many rows each.

    scikit-learn's own bins of weighted rows take longer than the trees.
    """
    edges = np.quantile(X, np.linspace(0, 1, BINS + 1)[1:-1], axis=0).T

    def binned(A: np.ndarray) -> np.ndarray:
        columns = [np.searchsorted(e, a) for e, a in zip(edges, A.T, strict=True)]
        return np.stack(columns, axis=1).astype(np.float64)

    return binned(X), binned(X_new)


def _everywhere(learned: Rows, held: Rows, loss: Loss, n_settings: int) -> np.ndarray:
    """The constant, where there is nothing to tell apart."""
    return np.tile(_constant(learned, loss), (n_settings, held.Y.shape[0], 1))


def _codes(Y: np.ndarray) -> np.ndarray:
    """The class of each row, from its indicators."""
    return Y.argmax(axis=1) if Y.shape[1] > 1 else Y[:, 0].astype(np.intp)


def _of_all(scores: np.ndarray, known: np.ndarray, learned: Rows, loss: Loss) -> np.ndarray:
    """Scores of all classes from those that a fold has rows of; the others have half a row."""
    if isinstance(loss, Logistic):
        return scores[:, None]
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    F = np.full((scores.shape[0], learned.Y.shape[1]), np.log(0.5 / learned.Y.shape[0]))
    F[:, known] = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    return F


def _trees_a_round(loss: Loss, Y: np.ndarray) -> int:
    return Y.shape[1] if isinstance(loss, Multinomial) else 1


def _rounds(loss: Loss, Y: np.ndarray) -> int:
    return max(min(TREES, MOST_TREES // _trees_a_round(loss, Y)), STAGES)
