"""Straight lines along the lasso's path, and one set of variables for all folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression

from small_problems import prepare, search_of
from srff import SRFFClassifier, SRFFRegressor
from srff.core.groups import Groups
from srff.core.kernels import Gaussian
from srff.core.losses import Logistic
from srff.selection.config import CONFIG
from srff.selection.elect import elected
from srff.selection.linear import even_lines, lasso_path, line_on, straight_lines
from srff.selection.panel import panel_of

N, D = 90, 12
rng = np.random.RandomState(0)
X = rng.standard_normal((N, D))
y = X[:, 0] - 0.5 * X[:, 3] + 0.3 * rng.standard_normal(N)


def made(X=X, y=y, validation=0.2, **settings):
    return prepare(
        X,
        y[:, None],
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=20,
        budget=None,
        validation=validation,
        dtype="float64",
        n_jobs=1,
        **settings,
    )


SLOW = replace(CONFIG, line_frequency=1e-3)
"""Lines to within rounding."""


@pytest.fixture(scope="module")
def search():
    with made() as problem:
        yield search_of(problem, config=SLOW)


def lines_of(engine):
    """The statistics of one slow sine a column."""
    return engine.statistics(1e-3 * np.eye(D), np.full(D, -np.pi / 2), np.arange(D))


def test_the_path_is_that_of_scikit_learns_lasso(search):
    """By the conditions of the optimum: correlations at the penalty where a column is in."""
    S = lines_of(search.engine)
    penalties, sizes = lasso_path(S, np.array([0.5, 0.2, 0.05]))
    unit = np.sqrt(np.diag(S.G) / S.n)
    gram, c = S.G / np.outer(unit, unit) / S.n, S.c[:, 0] / unit / S.n
    assert penalties[0] == pytest.approx(0.5 * np.abs(c).max())
    # A square root of the gram matrix is a data set of the same sums.
    root = np.linalg.cholesky(gram).T * np.sqrt(D)
    target = np.linalg.solve(root.T, c * D)
    for penalty, size in zip(penalties, sizes, strict=True):
        lasso = Lasso(alpha=penalty, fit_intercept=False, tol=1e-12, max_iter=100_000)
        np.testing.assert_allclose(size, np.abs(lasso.fit(root, target).coef_), atol=1e-6)
    assert np.flatnonzero(sizes[0]).tolist() == [0]
    assert set(np.flatnonzero(sizes[1])) >= {0, 3}


def test_a_ridge_with_the_lassos_scales_has_the_lassos_solution(search):
    """``alpha = 2 lambda g / k`` with ``gamma_j^2 = g |w_j|``."""
    config = replace(SLOW, line_penalties=(0.2,), line_alphas=(1.0,))
    ((panel,),) = straight_lines((replace(search, config=config),))
    (line,) = panel.each
    S = lines_of(search.engine)
    _, sizes = lasso_path(S, np.array([0.2]))
    assert line.columns.tolist() == np.flatnonzero(sizes[0]).tolist()
    unit = np.sqrt(np.diag(S.G) / S.n)[line.columns] * np.sqrt(D / 2) / 1e-3
    slopes = (
        np.sqrt(2 / line.columns.size) * np.diag(line.members[0].W) * line.members[0].coef[:, 0]
    )
    np.testing.assert_allclose(np.abs(slopes * unit), sizes[0][line.columns], rtol=1e-4)


def test_the_errors_of_lines_are_those_of_their_models(search):
    loss = search.problem.search_loss
    panels = [panel for at in straight_lines((search,)) for panel in at]
    for panel in panels[::7]:
        (line,) = panel.each
        error = search.validation.loss(loss, line.expansion())
        assert line.validation_error == pytest.approx(error, rel=1e-4)
    assert min(panel.error for panel in panels) < 0.2


def test_a_line_may_lose_columns_and_gain_others(search):
    best = min((p for at in straight_lines((search,)) for p in at), key=lambda p: p.error).each[0]
    fewer = line_on(search, best, np.array([0, 3]))
    assert fewer.columns.tolist() == [0, 3]
    assert fewer.validation_error < 0.2
    other = line_on(search, fewer, np.array([0, 7]))
    assert other.strength()[1] == fewer.strength().min()


def test_columns_of_a_group_are_lines_together():
    groups = Groups(np.array([0, 0, 0, *range(1, 10)]))
    with made(groups=groups) as problem:
        search = search_of(problem)
        for at in straight_lines((search,)):
            for line in at[0].each:
                assert np.isin([0, 1, 2], line.columns).sum() in (0, 3)
                if 0 in line.columns:
                    assert np.unique(line.strength()[:3]).size == 1


def test_the_variables_that_most_folds_chose_are_elected():
    with made(validation=3) as problem:
        folds = tuple(search_of(fold) for fold in problem.folds)
        whole = straight_lines(folds)[-1][0]
        sets = [[0, 3], [0, 5], [0, 3]]
        each = [line_on(s, c, np.array(k)) for s, c, k in zip(folds, whole.each, sets, strict=True)]
        chosen = panel_of(folds, each)
        found = elected(folds, [whole, chosen], chosen)
        assert [c.columns.tolist() for c in found] == [[0, 3]] * len(found)


def test_few_rows_of_many_columns_get_a_linear_model():
    rng = np.random.RandomState(1)
    X = rng.standard_normal((60, 300))
    y = X[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(60)
    model = SRFFRegressor(random_state=0, effort="quick").fit(X, y)
    assert {0, 1, 2} <= set(model.get_support(indices=True))
    new = rng.standard_normal((500, 300))
    assert model.score(new, new[:, :3].sum(axis=1)) > 0.7
    assert model.n_folds_ == 10
    assert (model.fold_agreement_[:3] > 0).all()


@pytest.mark.slow
def test_noise_of_rare_classes_is_not_kept():
    rng = np.random.RandomState(0)
    kept = 0
    for seed in range(10):
        X, y = rng.standard_normal((300, 5)), (rng.permutation(300) < 15).astype(int)
        model = SRFFClassifier(random_state=seed, effort="quick", max_iter=5).fit(X, y)
        kept += model.get_support().any()
    assert kept <= 2


def test_even_lines_are_logistic_regressions_of_another_library():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 3))
    y = (rng.uniform(size=200) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(float)
    problem = made(X, y, validation=(X, y[:, None], None), loss=Logistic())
    columns = np.array([0, 2])
    lines = even_lines(search_of(problem), columns)
    assert [c.columns.tolist() for c in lines] == [[0, 2]] * len(CONFIG.even_penalties)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for candidate, penalty in zip(lines, CONFIG.even_penalties, strict=True):
        if penalty < 0.01:
            continue  # weights so large that the sine bends
        p = candidate.expansion()
        features = np.sqrt(2 / 2) * np.cos(Z[:, columns] @ p.W + p.b)
        outputs = features @ p.a[:, 0] + p.c[0]
        other = LogisticRegression(C=1 / (penalty * 200), tol=1e-8).fit(Z[:, columns], y)
        np.testing.assert_allclose(outputs, other.decision_function(Z[:, columns]), atol=0.05)
