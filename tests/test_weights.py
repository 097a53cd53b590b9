"""Weights say how often a row counts, never in what unit that is given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from srff import SRFFClassifier, SRFFRegressor
from srff.data import dataset
from srff.data.weights import WeightFacts, counted

SMALL = {"n_components": 20, "max_iter": 3, "random_state": 0, "n_jobs": 1}
FACTORS = [0.05, 1 / 300, 1e-30, 1e30, 3.7, 1e37, 1e-46, 1e300]


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.3, 150)


@pytest.fixture
def streamed(monkeypatch):
    monkeypatch.setattr(dataset, "STREAM_ROWS", 100)


@pytest.mark.parametrize("factor", FACTORS)
def test_whole_multiples_of_any_unit_are_copies(factor):
    counts = np.random.RandomState(0).randint(1, 8, 50)
    counts[0] = 1
    assert counted(counts * factor).tolist() == counts.tolist()


@pytest.mark.parametrize("factor", FACTORS)
def test_other_weights_count_as_the_effective_number_of_rows(factor):
    weight = np.random.RandomState(0).uniform(0.01, 0.1, 200)
    effective = weight.sum() ** 2 / np.square(weight).sum()
    rows = counted(weight * factor)
    np.testing.assert_allclose(rows, weight / weight.sum() * effective, rtol=1e-12)


@pytest.mark.parametrize("copies", [True, False])
def test_what_pieces_tell_together_is_what_all_weights_tell(copies):
    rng = np.random.RandomState(0)
    weight = 1e300 * (rng.randint(2, 9, 300) if copies else rng.uniform(0.1, 1, 300))
    whole = WeightFacts.of(weight)
    parts = WeightFacts.of(weight[:7]).plus(WeightFacts.of(weight[7:]))
    assert parts.count.whole == whole.count.whole == copies
    np.testing.assert_allclose(parts.count(weight), counted(weight), rtol=1e-12)
    assert whole.rows(whole.count) == pytest.approx(counted(weight).sum())


def fitted(rows, weight=None, **settings):
    return SRFFRegressor(**SMALL | settings).fit(*rows, sample_weight=weight)


@pytest.mark.parametrize("factor", [0.05, 1 / 300, 1e-30, 1e30, 3.7, 0.25, 1e300])
def test_equal_weights_are_no_weights(rows, factor):
    one, other = fitted(rows), fitted(rows, np.full(150, factor))
    np.testing.assert_array_equal(other.predict(rows[0]), one.predict(rows[0]))


@pytest.mark.parametrize("factor", [3.7, 1e-30, 1e30, 64.0])
def test_a_factor_of_relative_weights_changes_nothing(rows, factor):
    exposure = np.random.RandomState(1).uniform(0.01, 0.1, 150)
    one, other = fitted(rows, exposure), fitted(rows, factor * exposure)
    np.testing.assert_array_equal(other.get_support(), one.get_support())
    np.testing.assert_allclose(other.predict(rows[0]), one.predict(rows[0]), rtol=1e-4, atol=1e-5)
    if factor == 64.0:
        np.testing.assert_array_equal(other.predict(rows[0]), one.predict(rows[0]))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [3.7, 1e-30, 1e37, 1e-46, 1e300])
def test_a_factor_of_the_weights_of_a_stream_changes_nothing(rows, factor, streamed):
    for weight in (np.ones(150), np.random.RandomState(1).uniform(0.01, 0.1, 150)):
        one, other = fitted(rows, weight), fitted(rows, factor * weight)
        np.testing.assert_array_equal(other.get_support(), one.get_support())
        np.testing.assert_allclose(other.predict(rows[0]), one.predict(rows[0]), atol=1e-4)


def test_means_by_level_of_a_stream_know_no_unit_of_weights(rows, streamed, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, place=np.arange(150) % 5)
    frame["place"] = "p" + frame["place"].astype(str)
    models = []
    for factor in (1.0, 1e6):
        frame.assign(w=factor).to_parquet(tmp_path / "table.parquet")
        model = SRFFRegressor(categories="target", **SMALL)
        models.append(model.fit(tmp_path / "table.parquet", "y", sample_weight="w"))
    tables = [model.encoding_.columns[4].table for model in models]
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-12)


def test_noise_of_large_weights_keeps_nothing():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((100, 5)), rng.standard_normal(100)
    assert not fitted((X, y), np.full(100, 20.0)).get_support().any()


def effective(weight):
    return weight.sum() ** 2 / np.square(weight).sum()


def rows_of(model, *given):
    """How many rows all count as, and those that validate."""
    with model._prepare(*given, None) as problem:
        data = problem.scaled["standard"]
        return data.everything.n, data.validation.n


@pytest.mark.parametrize("given", [{0: 1, 1: 10}, {0: 2, 1: 20}, {0: 0.3, 1: 3}, "balanced"])
@pytest.mark.parametrize("copies", [False, True])
def test_rows_of_weighted_classes_are_as_many_as_kishs_effective_number(
    rows, tmp_path, monkeypatch, given, copies
):
    X, y = rows
    y = (y > 1).astype(int)
    often = np.random.RandomState(0).randint(1, 4, 150) if copies else np.ones(150)
    by_class = 1 / np.bincount(y, often) if given == "balanced" else np.array([1.0, 10.0])
    factor = by_class[y]
    expected = effective(np.repeat(factor, often.astype(int)))
    model = SRFFClassifier(**SMALL, class_weight=given, validation=0.2)
    assert rows_of(model, X, y, 5.0 * often)[0] == pytest.approx(expected)
    monkeypatch.setattr(dataset, "STREAM_ROWS", 100)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=0.1 * often)
    frame.to_parquet(tmp_path / "table.parquet")
    source = tmp_path / "table.parquet", "y", "w"
    assert rows_of(model, *source)[0] == pytest.approx(expected)


def test_noise_with_a_heavy_class_keeps_nothing():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((100, 5)), rng.randint(0, 2, 100)
    for validation in (None, (rng.standard_normal((60, 5)), rng.randint(0, 2, 60))):
        model = SRFFClassifier(**SMALL, class_weight={0: 1, 1: 100}, validation=validation)
        assert not model.fit(X, y).get_support().any()


def test_weights_of_classes_do_not_make_a_users_validation_rows_more(rows):
    X, y = rows
    y, more = (y > 0).astype(int), np.repeat([0, 1], [10, 30])
    model = SRFFClassifier(**SMALL, class_weight={0: 100, 1: 300}, validation=(X[:40], more))
    expected = effective(np.where(more, 3.0, 1.0))
    assert rows_of(model, X, y, None)[1] == pytest.approx(expected)


@pytest.mark.parametrize("estimator", [SRFFRegressor, SRFFClassifier])
@pytest.mark.parametrize("few", [True, False])
def test_weights_of_zero_throughout_are_one_error_from_arrays_and_from_files(
    rows, tmp_path, monkeypatch, estimator, few
):
    X, y = rows
    if not few:
        monkeypatch.setattr(dataset, "STREAM_ROWS", 100)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y > 0, w=0.0)
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        estimator(**SMALL).fit(X, y > 0, sample_weight=np.zeros(150))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        estimator(**SMALL).fit(tmp_path / "table.parquet", "y", sample_weight="w")
