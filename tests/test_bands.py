"""Bands around effects: the range of the curves of the models of the folds."""

import numpy as np
import pytest

import srff
from srff import SRFFClassifier, SRFFRegressor, plot
from srff.estimators import bands as module
from srff.estimators.bands import bands

SMALL = {"n_components": 40, "max_iter": 6, "random_state": 0}


def made(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def model():
    return SRFFRegressor(**SMALL).fit(*made())


def test_each_number_in_use_has_one(model):
    table = model.effect_bands_
    assert set(table["input"].tolist()) == set(model.get_support(indices=True).tolist())
    assert (table["low"] <= 0).all()
    assert (table["high"] >= 0).all()
    X, _ = made()
    own = table["value"][table["input"] == 0]
    assert (np.diff(own) > 0).all()
    assert X[:, 0].min() <= own[0] <= own[-1] <= X[:, 0].max()


def test_more_rows_bring_the_folds_together(model):
    """What the band says: how much the curve hangs on the rows."""
    many = SRFFRegressor(**SMALL).fit(*made(2400))
    wide, narrow = (
        np.mean(m.effect_bands_["high"] - m.effect_bands_["low"]) for m in (model, many)
    )
    assert narrow < 0.7 * wide
    assert wide < 1.0


def test_the_mean_of_the_curves_is_that_of_the_mean_model(monkeypatch):
    """Up to a last solve on all rows, and the order of a mean and of a map."""
    X, y = made(120)
    seen = []

    def kept(model, problem, sides, each):
        rows = np.concatenate([held.X for _, held in sides])
        seen.append([module.curve(problem, one, rows, 0, np.array([-1.0, 0.5])) for one in each])
        return bands(model, problem, sides, each)

    monkeypatch.setattr("srff.estimators.answer.bands", kept)
    model = SRFFRegressor(**SMALL).fit(X, y)  # up to 400 rows: the mean of the folds' models
    assert model.model_kind_ == "mean of folds"
    found = []
    for value in (-1.0, 0.5):
        X[:, 0] = value
        found.append(model.predict(X).mean())
    np.testing.assert_allclose(np.mean(seen[0], axis=0), found, rtol=0.05, atol=0.02)


def test_they_are_saved_and_reduced(model, tmp_path):
    srff.save(model, tmp_path / "m.srff")
    loaded = srff.load(tmp_path / "m.srff")
    for name, column in model.effect_bands_.items():
        np.testing.assert_array_equal(loaded.effect_bands_[name], column)
    small = model.reduced()
    names = model.get_support(indices=True)
    np.testing.assert_array_equal(names[small.effect_bands_["input"]], model.effect_bands_["input"])


def test_they_are_drawn():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (plot)")
    X, y = made()
    labels = np.where(y > 0, "yes", "no")
    model = SRFFClassifier(**SMALL).fit(X, labels)
    column = int(model.get_support(indices=True)[0])
    ends = {}
    with matplotlib.rc_context({"backend": "Agg"}):
        for target in ("yes", "no"):
            axis = plot.effect(model, X, [column], pairs=0, target=target)[0]
            (band,) = (c for c in axis.collections if "Poly" in type(c).__name__)
            ends[target] = np.array(band.get_paths()[0].vertices)[:, 1]
    assert np.ptp(ends["yes"]) > 0
    np.testing.assert_allclose(ends["yes"].min(), 1 - ends["no"].max(), atol=1e-9)


def test_several_outputs_and_single_hold_outs_have_none():
    X, y = made()
    several = SRFFRegressor(**SMALL).fit(X, np.stack([y, X[:, 2]], axis=1))
    alone = SRFFRegressor(**SMALL, validation=0.3).fit(X, y)
    for model in (several, alone):
        assert not model.effect_bands_["input"].size
