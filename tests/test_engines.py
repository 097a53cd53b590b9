"""Sums over blocks: the same bits for any threads, the same sums from any engine."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from small_problems import prepare
from srff._utils.threads import Threads, one_blas_thread
from srff.core.features import Expansion
from srff.core.kernels import Gaussian
from srff.core.losses import SQUARED, Pinball
from srff.data.engines import BlockPlan, DeviceEngine, LocalEngine, parse_memory
from srff.data.engines.blocks import Standardisation
from srff.data.engines.plan import shards
from srff.data.scaling import Standardise

PINBALL = Pinball(0.7, 0.5)


@pytest.fixture
def data():
    rng = np.random.RandomState(0)
    n, d, D = 3000, 7, 20
    X, Y = rng.normal(3, 2, (n, d)), rng.normal(-1, 5, (n, 1))
    weight = rng.uniform(0.1, 3, n)
    inputs = Standardise(X.mean(0), X.std(0))
    standardisation = Standardisation(inputs, Y.mean(0), float(Y.std()))
    W, b = rng.standard_normal((d, D)), rng.uniform(0, 2 * np.pi, D)
    return X, Y, weight, standardisation, W, b, rng.standard_normal((D, 1))


def local(data, n_threads=1, dtype=np.float64, plan=None, rows=None):
    X, Y, weight, standardisation, *_ = data
    plan = plan or BlockPlan(128, cached=True)
    return LocalEngine(X, Y, weight, standardisation, plan, np.dtype(dtype), n_threads, rows)


def passes(engine, data, columns=None):
    """Every sum that an engine offers, as a flat list of arrays."""
    *_, W, b, a = data
    W = W if columns is None else W[columns]
    s = engine.statistics(W, b, columns)
    general = engine.pull_back(W, b, s.G, s.c, columns)
    taken = np.arange(W.shape[0]) if columns is None else columns
    c = np.array([0.3])
    models = [Expansion(taken, W, b, a, c), Expansion(taken[:1], W[:1], b, 2 * a, -c)]
    groups = [np.array([k]) for k in range(taken.size - 2)] + [np.arange(taken.size)[-2:]]
    return [
        *(s.G, s.c, s.s, s.n, engine.loss(SQUARED, models[0])),
        *engine.loss_pull_back(SQUARED, models[0]),
        *general,
        *engine.loss_slope(PINBALL, models[0]),
        *engine.weighted_statistics(PINBALL, models[0]),
        *engine.constant_statistics(PINBALL, c),
        *engine.difference(SQUARED, *models),
        *engine.permutation_loss(SQUARED, models[0], groups),
        engine.blend_losses(PINBALL, np.array([[1.0, 0.0], [0.3, 0.7]]), models),
    ]


def test_sums_are_those_of_the_whole_array(data):
    X, Y, weight, st, W, b, a = data
    U, V = (X - X.mean(0)) / X.std(0), (Y - st.y_center) / st.y_spread
    Z = np.sqrt(2 / 20) * np.cos(U @ W + b)
    with local(data) as engine:
        s = engine.statistics(W, b)
        np.testing.assert_allclose(s.G, Z.T @ (weight[:, None] * Z), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(s.c, Z.T @ (weight[:, None] * V), rtol=1e-10, atol=1e-10)
        assert s.n == pytest.approx(weight.sum())
        expected = np.sum(weight[:, None] * (V - Z @ a) ** 2) / weight.sum()
        model = Expansion(np.arange(7), W, b, a, np.zeros(1))
        assert engine.loss(SQUARED, model) == pytest.approx(expected)
        assert engine.n_passes == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_threads", [2, 7])
def test_the_sums_are_bitwise_the_same_for_any_number_of_threads(data, n_threads, dtype):
    with one_blas_thread():
        with local(data, 1, dtype) as engine:
            expected = passes(engine, data)
        with local(data, n_threads, dtype) as engine:
            for left, right in zip(passes(engine, data), expected, strict=True):
                np.testing.assert_array_equal(left, right)


def test_under_each_thread_there_is_one_of_blas():
    def counts():
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = counts()
        with one_blas_thread():
            assert counts() == {1}
        assert counts() == before


def test_blocks_made_anew_at_each_pass_give_the_same_bits_as_kept_ones(data):
    with local(data) as kept, local(data, plan=BlockPlan(128, cached=False)) as anew:
        for left, right in zip(passes(kept, data), passes(anew, data), strict=True):
            np.testing.assert_array_equal(left, right)


def test_other_columns_are_not_read(data):
    columns = np.array([1, 4, 5])
    with local(data) as engine:
        expected = passes(engine, data, columns)
    X, *rest = data
    X = X.copy()
    X[:, [0, 2, 3, 6]] = np.nan
    with local((X, *rest)) as engine:
        for left, right in zip(passes(engine, (X, *rest), columns), expected, strict=True):
            np.testing.assert_array_equal(left, right)


def test_an_engine_of_some_rows_is_the_engine_of_a_copy_of_them(data):
    X, Y, weight, *rest = data
    rows = np.flatnonzero(X[:, 0] > 3)
    copy = (X[rows], Y[rows], weight[rows], *rest)
    with local(data, rows=rows) as some, local(copy) as copied:
        for left, right in zip(passes(some, data), passes(copied, copy), strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    "device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)], ids=["torch-cpu", "cuda"]
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("cached", [True, False], ids=["kept", "streamed"])
def test_a_torch_device_agrees_with_numpy(data, cached, device, dtype, tolerance):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    X, Y, weight, standardisation, *_ = data
    columns = np.array([0, 2, 3])
    with (
        # Columns are shuffled within blocks, so the blocks must be the same.
        local(data, plan=BlockPlan(700, cached=True)) as reference,
        DeviceEngine(
            X, Y, weight, standardisation, BlockPlan(700, cached), np.dtype(dtype), device
        ) as engine,
    ):
        assert (engine._blocks is not None) == cached
        for chosen in (None, columns):
            pairs = zip(passes(engine, data, chosen), passes(reference, data, chosen), strict=True)
            for left, right in pairs:
                error = np.linalg.norm(left - right) / np.linalg.norm(right)
                assert error < tolerance * (10 if dtype == np.float32 else 1)


def on_torch(data, device="cpu", rows=700, cached=True):
    X, Y, weight, standardisation, *_ = data
    plan = BlockPlan(rows, cached)
    return DeviceEngine(X, Y, weight, standardisation, plan, np.dtype(np.float64), device)


def test_a_full_device_streams_then_takes_smaller_blocks_and_says_so(data):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    *_, W, b, _ = data
    most = 300  # rows that the device has room for

    with on_torch(data) as engine:
        expected = engine.statistics(W, b).G

        def crowded(X, Y, weight):
            if engine._blocks is not None or X.shape[0] > most:
                raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
            return (X.T @ X,)

        with pytest.warns(RuntimeWarning, match="device='cpu' ran out of memory") as warned:
            (products,) = engine._sum(crowded, None)
        assert [str(w.message).split("from here on ")[1] for w in warned] == [
            "rows are streamed to it at every pass.",
            "rows are sent to it in blocks of 350.",
            "rows are sent to it in blocks of 175.",
        ]
        assert products[-1, -1] == len(data[0])  # the ones: every row once
        np.testing.assert_allclose(engine.statistics(W, b).G, expected, rtol=1e-12)
        most = 0
        with (
            pytest.warns(RuntimeWarning, match="blocks of 87"),
            pytest.raises(MemoryError, match="device='cpu' has no room for a block of 43 rows"),
        ):
            engine._sum(crowded, None)


@pytest.mark.cuda
def test_rows_that_do_not_fit_a_gpu_are_streamed():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    rng = np.random.RandomState(0)
    n, d, D = 400_000, 100, 50
    X, Y = rng.standard_normal((n, d)).astype(np.float32), rng.standard_normal((n, 1))
    standardisation = Standardisation(Standardise(np.zeros(d), np.ones(d)), np.zeros(1), 1.0)
    W, b = rng.standard_normal((d, D)) / 10, rng.uniform(0, 6, D)
    plan = BlockPlan(20_000, cached=True)

    def engine():
        return DeviceEngine(X, Y, None, standardisation, plan, np.dtype(np.float32), "cuda")

    with engine() as kept:
        assert kept._blocks is not None
        expected = kept.statistics(W, b).G
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(130e6 / total)  # the rows take 160 MB
    try:
        with pytest.warns(RuntimeWarning, match="streamed"):
            streamed = engine()
        assert streamed._blocks is None
        np.testing.assert_array_equal(streamed.statistics(W, b).G, expected)
        streamed.close()
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_an_unknown_device_is_named():
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    from srff import SRFFRegressor

    X = np.random.RandomState(0).standard_normal((30, 2))
    with pytest.raises(ValueError, match="device='nonsense'"):
        SRFFRegressor(device="nonsense", alpha=0.1).fit(X, X[:, 0])


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    from srff import SRFFRegressor

    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    X = np.random.RandomState(0).standard_normal((30, 2))
    with pytest.raises(ImportError, match=r"srff\[gpu\]"):
        SRFFRegressor(device="cuda", alpha=0.1).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2e9), ("500 MiB", 500 * 2**20), ("1.5k", 1500), (1024, 1024), ("7", 7), (None, None)],
)
def test_memory_is_parsed(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "GB", "2 XB", "-1GB", 0, -5, float("nan"), float("inf")])
def test_what_is_no_memory_is_refused(text):
    with pytest.raises(ValueError, match="memory_limit="):
        parse_memory(text)


def test_blocks_shrink_and_are_not_kept_when_memory_is_short():
    free = BlockPlan.choose(10**6, 100, 300, np.dtype(np.float32))
    tight = BlockPlan.choose(10**6, 100, 300, np.dtype(np.float32), 2, 20e6)
    assert free.cached
    assert not tight.cached
    assert tight.rows <= free.rows
    with pytest.raises(ValueError, match="too small"):
        BlockPlan.choose(10**6, 100, 300, np.dtype(np.float32), 2, 1e5)


def test_the_memory_limit_is_kept():
    n, d = 60_000, 20
    X = np.random.RandomState(0).standard_normal((n, d))
    Y = X[:, :1]
    limit = 8e6  # the standardised copy alone would be 4.8 MB, float32; X is 9.6 MB
    tracemalloc.start()
    try:
        with prepare(
            X,
            Y,
            None,
            np.random.RandomState(0),
            kernel=Gaussian(),
            n_components=50,
            budget=4.0,
            validation=None,
            n_jobs=2,
            memory_limit=limit,
        ) as problem:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            problem.training_statistics(problem.scale)
            a, c = np.ones((50, 1)), np.zeros(1)
            model = Expansion(np.arange(d), problem.E, problem.b, a, c)
            problem.training.loss_pull_back(SQUARED, model)
            problem.training.weighted_statistics(PINBALL, model)
            peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < limit


@pytest.mark.parametrize("n_blocks", [1, 5, 16, 17, 100, 1000])
def test_shards_cover_every_block_once(n_blocks):
    assert [k for shard in shards(n_blocks) for k in shard] == list(range(n_blocks))


def test_an_interrupt_in_a_block_leaves_no_thread_behind(data):
    before = set(threading.enumerate())

    def interrupted(X, Y, weight):
        raise KeyboardInterrupt

    engine = local(data, n_threads=3)
    with pytest.raises(KeyboardInterrupt):
        engine._sum(interrupted, None)
    assert set(threading.enumerate()) == before


def test_threads_map_in_order_and_can_be_closed_twice():
    threads = Threads(3)
    assert list(threads.map(lambda i: i * i, range(20))) == [i * i for i in range(20)]
    threads.close()
    threads.close()


def test_threads_are_shared_and_leave_with_their_last_user():
    before = set(threading.enumerate())
    one, other = Threads(3), Threads(3)
    list(one.map(str, range(20)))
    list(other.map(str, range(20)))
    assert len(set(threading.enumerate()) - before) <= 3
    with pytest.raises(ZeroDivisionError):
        list(one.map(lambda i: 1 // (5 - i), range(20)))
    assert list(other.map(str, range(20))) == [str(i) for i in range(20)]
    other.close()
    assert set(threading.enumerate()) == before
