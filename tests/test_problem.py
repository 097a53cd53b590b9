"""Rows made ready: transforms, subsamples and splits that depend on the rows' values alone."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from small_problems import prepare
from srff import SRFFRegressor
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED
from srff.data.dataset import (
    MERGE_ROWS,
    VALIDATION_ROWS,
    MemoryDataset,
    StreamedDataset,
    default_validation,
)
from srff.data.problem import FLOAT64_ROWS
from srff.data.scaling import Quantile, Standardise

W, B, COLUMNS = np.array([[0.4], [1.1], [0.7]]), np.array([0.3]), np.arange(3)


@pytest.fixture
def table():
    rng = np.random.RandomState(0)
    return rng.standard_normal((300, 3)), rng.standard_normal((300, 1))


def problem(X, Y, weight=None, **options):
    settings = {
        "kernel": Gaussian(),
        "n_components": 10,
        "budget": 1.0,
        "validation": 0.25,
        "dtype": "float64",
        "n_jobs": 1,
    }
    return prepare(X, Y, weight, np.random.RandomState(0), **settings | options)


def sums(engine):
    s = engine.statistics(W, B, COLUMNS)
    return s.G[0, 0], s.c[0, 0], s.s, s.n


def rows_of(engine):
    """The standardised rows that an engine holds."""
    return {tuple(row) for X, *_ in engine._blocks for row in X.T}


def test_the_order_of_the_rows_leaves_no_trace(table):
    X, Y = table
    order = np.random.RandomState(1).permutation(300)
    with problem(X, Y) as one, problem(X[order], Y[order]) as other:
        for data, again in zip(one.scaled.values(), other.scaled.values(), strict=True):
            assert sums(data.training()) == sums(again.training())
            assert sums(data.training(50)) == sums(again.training(50))
            assert sums(data.validation) == sums(again.validation)


def test_a_weight_and_a_repetition_leave_the_same_bits(table):
    X, Y = table
    counts = np.random.RandomState(1).randint(1, 4, 300)  # some 600 rows when written out
    repeated = np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
    options = {"dtype": "auto", "n_components": None, "budget": None}
    with (
        problem(X, Y, counts.astype(float), **options) as one,
        problem(*repeated, **options) as other,
    ):
        assert len(repeated[0]) > FLOAT64_ROWS
        assert one.dtype == other.dtype == np.float64
        assert one.sigma == other.sigma
        assert one.b.size == other.b.size
        assert sums(one.training) == sums(other.training)
        assert one.training.n + one.validation.n == counts.sum()


def test_a_subsample_is_nested_and_part_of_the_training_rows(table):
    with problem(*table) as p:
        data = p.scaled["standard"]
        some, more = data.training(40), data.training(90)
        assert (some.n, more.n, data.training().n) == (40, 90, 225)
        assert rows_of(some) < rows_of(more) < rows_of(data.training())
        assert not rows_of(data.training()) & rows_of(data.validation)
        assert data.training(40) is some
        assert data.training(10**6) is data.training()


def test_a_subsample_keeps_copies_of_a_row_together():
    rng = np.random.RandomState(0)
    half = MERGE_ROWS // 2 + 1
    X, Y = rng.standard_normal((half, 3)), rng.standard_normal((half, 1))
    with problem(np.vstack([X, X]), np.vstack([Y, Y])) as p:  # too many rows to be merged
        engine = p.scaled["standard"].training(201)
        assert engine.n == 202
        assert len(rows_of(engine)) == 101


def test_passes_over_a_part_count_as_a_part(table):
    with problem(*table) as p:
        data = p.scaled["standard"]
        for _ in range(5):
            data.training(45).statistics(W, B, COLUMNS)
        assert data.effective_passes == pytest.approx(1.0)
        assert data.n_passes == 0
        data.training().statistics(W, B, COLUMNS)
        data.statistics_of_all_rows([(W, B), (2 * W, B)], COLUMNS, SQUARED)
        assert data.n_passes == 2
        assert p.n_passes == 2 + MemoryDataset.n_passes
        assert p.effective_passes == pytest.approx(3 + MemoryDataset.n_passes)


@pytest.mark.parametrize(
    ("transform", "heavy", "expected"),
    [
        ("standard", True, ["standard"]),
        ("auto", False, ["standard"]),
        ("auto", True, ["standard", "quantile"]),
        ("quantile", False, ["standard", "quantile"]),
    ],
)
def test_the_transforms_worth_a_try(table, transform, heavy, expected):
    X, Y = table
    with problem(np.exp(2 * X) if heavy else X, Y, inputs=transform) as p:
        assert list(p.scaled) == expected
        kinds = {"standard": Standardise, "quantile": Quantile}
        assert all(isinstance(v.transform, kinds[n]) for n, v in p.scaled.items())


def test_rows_of_the_quantile_view_are_normal_scores(table):
    X, Y = table
    with problem(np.exp(2 * X), Y, inputs="quantile") as p:
        blocks = np.concatenate([b[0][:-1].T for b in p.scaled["quantile"].training()._blocks])
        assert np.abs(blocks).max() < 4
        assert blocks.std(0) == pytest.approx(1.0, abs=0.1)


def test_a_single_distinct_row_has_no_validation():
    with problem(np.ones((5, 3)), np.ones((5, 1))) as p:
        assert p.validation is None
        assert not p.refit
        assert not p.learnable


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fit_of_many_rows_makes_no_copy_of_them(order, dtype):
    rng = np.random.RandomState(0)
    X = np.asarray(rng.standard_normal((600_000, 10)), dtype=dtype, order=order)
    y = np.sin(X[:, 0]) + X[:, 1]
    model = SRFFRegressor(
        n_components=20, refine="metric", max_iter=1, alpha=1e-3, random_state=0, n_jobs=1
    )
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6  # X takes 24 or 48 MB, samples of it and the target's copies most of this
    assert model.n_passes_ == StreamedDataset.n_passes + 1 < model.effective_passes_


def test_validation_rows_are_no_more_than_needed():
    rng = np.random.RandomState(0)
    n = VALIDATION_ROWS + 500
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((n, 1))
    with problem(X, Y, validation=(X, Y, None)) as p:
        assert p.validation.n == VALIDATION_ROWS
    with problem(X, Y, validation=0.99) as p:
        assert p.validation.n == VALIDATION_ROWS
        assert p.training.n == n - int(0.99 * n)
    assert default_validation(10**6) * 10**6 == pytest.approx(VALIDATION_ROWS)
