"""scikit-learn's own checks, and life inside its tools."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor

QUICK = [
    SRFFRegressor(n_components=20, max_iter=2),
    SRFFClassifier(alpha=1e-3, n_components=20, max_iter=2),
]
OTHERS = [
    SRFFRegressor(),
    SRFFRegressor(refine=None, n_components=50),
    SRFFRegressor(solver="alternating", refine=None, n_components=50, tol=1e-2),
    SRFFRegressor(missing="impute", n_components=30, max_iter=3),
    SRFFClassifier(n_components=20, max_iter=3),
    SRFFClassifier(missing="impute", refine="metric", n_components=20, max_iter=2),
    SRFFClassifier(refine=None, alpha=1e-4, n_components=30, max_iter=5),
    SRFFClassifier(solver="alternating", refine=None, n_components=20, tol=1e-2, max_iter=4),
    RFFRegressor(),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(QUICK)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(OTHERS)
def test_scikit_learns_estimator_checks_of_other_settings(estimator, check):
    check(estimator)


def test_no_check_is_silently_left_out():
    # The number that scikit-learn 1.6 and later yield; a fall means that checks went missing.
    counts = [len(list(estimator_checks_generator(e))) for e in QUICK + OTHERS]
    assert min(counts[:-1]) >= 55
    assert counts[-1] >= 50


@pytest.fixture
def fast():
    return SRFFRegressor(
        solver="alternating",
        refine=None,
        n_components=40,
        alpha=1e-3,
        max_iter=10,
        tol=1e-2,
        random_state=0,
    )


def test_grid_search_pipeline_and_cross_validation(ring, fast):
    X, y = ring
    search = GridSearchCV(make_pipeline(StandardScaler(), fast), {"srffregressor__budget": [1, 4]})
    search.fit(X, y)
    assert search.best_params_["srffregressor__budget"] in (1, 4)
    assert cross_val_score(fast, X, y, cv=3).mean() > 0.5


def test_as_a_selector_in_front_of_another_model(ring, fast):
    X, y = ring
    model = make_pipeline(fast, RFFRegressor(random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("name", ["SelectFromModel", "RFE"])
def test_other_selectors_rank_by_the_importances_of_inputs(ring, name):
    X, y = ring
    short = {"n_components": 20, "max_iter": 3, "effort": "quick", "random_state": 0}
    for model, target in ((SRFFRegressor(**short), y), (SRFFClassifier(**short), y > np.median(y))):
        if name == "RFE":
            selector = RFE(model, n_features_to_select=2, step=2)
        else:
            selector = SelectFromModel(model, max_features=2, threshold=-np.inf)
        assert selector.fit(X, target).get_support(indices=True).tolist() == [0, 1]


@pytest.mark.parametrize("dump", [pickle, joblib], ids=["pickle", "joblib"])
def test_a_stored_model_predicts_the_same_bits(ring, fast, dump, tmp_path):
    X, y = ring
    model = fast.fit(X, y)
    if dump is pickle:
        again = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model")
        again = joblib.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_clone_keeps_parameters(fast):
    assert clone(fast).get_params() == fast.get_params()


def test_pandas_names_go_in_and_come_out(ring, fast):
    X, y = ring
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = fast.fit(frame, y)
    assert list(model.feature_names_in_) == list("abcdef")
    names = model.get_feature_names_out()
    assert {"a", "b"} <= set(names)
    out = model.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(out, frame[list(names)])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_polars_goes_in_and_comes_out(ring, fast):
    X, y = ring
    frame = pl.DataFrame(X, schema=list("abcdef"))
    model = fast.fit(frame, pl.Series(y)).set_output(transform="polars")
    out = model.transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == list(model.get_feature_names_out())
    plain = SRFFRegressor(**fast.get_params()).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), model.predict(frame))


def test_inverse_transform_puts_zeros_where_columns_were_dropped(ring, fast):
    X, y = ring
    model = fast.fit(X, y)
    back = model.inverse_transform(model.transform(X))
    support = model.get_support()
    np.testing.assert_array_equal(back[:, support], X[:, support])
    assert not back[:, ~support].any()


def test_html_representation_names_the_estimator(fast):
    assert "SRFFRegressor" in fast._repr_html_()
