"""A fit ends, or leaves the estimator as it was: stopped by a callback, Ctrl-C or an error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor, load, save

QUICK = {"n_components": 20, "max_iter": 3, "effort": "quick", "random_state": 0}
SELECTING = [SRFFRegressor(**QUICK), SRFFClassifier(**QUICK)]
ALL = [*SELECTING, RFFRegressor(n_components=20, random_state=0)]


def named(model):
    return type(model).__name__


class Stop(Exception):
    pass


def stop(kind):
    def callback(progress):
        raise kind

    return callback


def table(names, levels, n=60):
    rng = np.random.RandomState(0)
    X = pd.DataFrame(rng.standard_normal((n, 2)), columns=names[:2])
    X[names[2]] = np.array(levels)[rng.randint(0, len(levels), n)]
    return X


def target(model, labels, n=60):
    y = np.sin(np.arange(n))
    return np.array(labels)[(y > 0).astype(int)] if hasattr(model, "predict_proba") else y


@pytest.mark.parametrize("kind", [Stop, KeyboardInterrupt])
@pytest.mark.parametrize("prototype", SELECTING, ids=named)
def test_a_stopped_refit_leaves_the_model_of_the_first_fit(prototype, kind, tmp_path):
    first, other = table(["a", "b", "c"], ["x", "y"]), np.random.RandomState(1).normal(size=(60, 5))
    model = clone(prototype)
    model.fit(first, target(model, ["no", "yes"]))
    before, expected = dict(vars(model)), model.predict(first)
    model.callback = stop(kind)
    with pytest.raises(kind):
        model.fit(other, target(model, ["cat", "dog"]))
    model.callback = None
    assert list(vars(model)) == list(before)
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict(first), expected)
    save(model, tmp_path / "model.srff")
    np.testing.assert_array_equal(load(tmp_path / "model.srff").predict(first), expected)


@pytest.mark.parametrize("prototype", SELECTING, ids=named)
def test_a_first_fit_that_stops_leaves_the_model_unfitted(prototype):
    model, X = clone(prototype).set_params(callback=stop(Stop)), table(["a", "b", "c"], ["x", "y"])
    before = dict(vars(model))
    with pytest.raises(Stop):
        model.fit(X, target(model, ["no", "yes"]))
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("prototype", ALL, ids=named)
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"validation": (np.zeros((3, 7)), np.zeros(3))}, "features"),
        ({"kernel": lambda rng, size: np.full(size, np.nan)}, "NaN or infinite"),
    ],
    ids=["data", "kernel"],
)
def test_an_error_in_a_refit_changes_nothing(prototype, change, error):
    rng = np.random.RandomState(0)
    model = clone(prototype)
    X = rng.standard_normal((60, 3))
    model.fit(X, target(model, [0, 1]))
    before, expected = dict(vars(model)), model.predict(X)
    model.set_params(**change)
    with pytest.raises(ValueError, match=error):
        model.fit(rng.standard_normal((60, 4)), target(model, [5, 6]))
    assert set(vars(model)) == set(before)
    assert all(vars(model)[k] is v for k, v in before.items() if k not in change)
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(X), expected)
