"""The error to expect on new rows, and how far the folds agree: where they are, and what is said."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss, root_mean_squared_error

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor, load, save

QUICK = {"n_components": 20, "max_iter": 3, "random_state": 0}


def rows(n, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 6))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def folded():
    return SRFFRegressor(**QUICK).fit(*rows(200))


@pytest.fixture(scope="module")
def held_out():
    return SRFFRegressor(**QUICK, validation=0.25).fit(*rows(200))


@pytest.fixture(scope="module")
def classes():
    X, y = rows(200)
    return SRFFClassifier(**QUICK).fit(X, np.where(y > 0, "b", "a"))


def test_the_expected_error_is_about_that_of_new_rows(folded, classes):
    X, y = rows(4000, seed=1)
    error = root_mean_squared_error(y, folded.predict(X))
    assert error == pytest.approx(folded.expected_error_, abs=4 * folded.expected_error_se_)
    error = log_loss(np.where(y > 0, "b", "a"), classes.predict_proba(X))
    assert error == pytest.approx(classes.expected_error_, abs=4 * classes.expected_error_se_)


def test_folds_judge_by_every_row_and_say_how_far_they_agree(folded):
    assert (folded.n_folds_, folded.judged_rows_) == (5, 200)
    assert folded.fold_agreement_.shape == (6,)
    assert folded.fold_agreement_[:2].tolist() == [1, 1]
    counts = 5 * folded.fold_agreement_
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-12)


def test_a_single_hold_out_judges_by_its_rows(held_out):
    assert (held_out.n_folds_, held_out.fold_agreement_) == (0, None)
    assert held_out.judged_rows_ == pytest.approx(50, abs=5)
    assert held_out.expected_error_ > 0


@pytest.mark.filterwarnings("ignore:The solver stopped")
def test_solvers_of_the_paper_expect_nothing():
    X, y = rows(60)
    for model in (
        SRFFRegressor(**QUICK, solver="alternating", refine=None),
        SRFFRegressor(**QUICK, refine=None),
        RFFRegressor(n_components=20),
    ):
        model.fit(X, y)
        numbers = [model.expected_error_, model.expected_error_se_, model.judged_rows_]
        assert np.isnan(numbers).all()
        assert (model.n_folds_, model.fold_agreement_) == (0, None)


def test_inputs_with_several_columns_have_one_agreement():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((120, 3)).astype(object)
    X[:, 1] = rng.choice(["p", "q", "r"], 120)
    y = 2.0 * (X[:, 1] == "p") + X[:, 2].astype(float)
    model = SRFFRegressor(**QUICK, categorical_features=[1]).fit(X, y)
    assert model.fold_agreement_.shape == (3,)
    assert model.fold_agreement_[1:].tolist() == [1, 1]


def test_they_come_along_to_files_pickles_and_reduced_models_and_not_to_clones(folded, tmp_path):
    save(folded, tmp_path / "m.srff")
    for model in (load(tmp_path / "m.srff"), pickle.loads(pickle.dumps(folded)), folded.reduced()):
        assert model.expected_error_ == folded.expected_error_
        assert model.expected_error_se_ == folded.expected_error_se_
        assert (model.judged_rows_, model.n_folds_) == (200, 5)
        support = folded.get_support() if model.n_features_in_ < 6 else slice(None)
        np.testing.assert_array_equal(model.fold_agreement_, folded.fold_agreement_[support])
    assert not hasattr(clone(folded), "fold_agreement_")
