"""Dask collections: the same bits for any number of workers, and faults of real clusters."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed (extra: dask)")
distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra: dask)")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from srff import SRFFRegressor  # noqa: E402
from srff._utils import checkpoint  # noqa: E402
from srff.data import dataset  # noqa: E402
from srff.data.engines.cluster import first_pass_on_workers  # noqa: E402
from srff.data.first_pass import first_pass  # noqa: E402
from srff.data.sources import ArraySource, DaskSource, arrays  # noqa: E402
from srff.data.sources import dask_graph as workers  # noqa: E402
from srff.data.split import key_multipliers  # noqa: E402

ROWS, NAMES = 128, list("abcdef")
DEFAULT = {"n_components": 20, "max_iter": 4, "random_state": 0, "refine": "metric"}
PAPER = {
    "n_components": 20,
    "random_state": 0,
    "refine": None,
    "solver": "alternating",
    "alpha": 1e-3,
    "tol": 0.0,
    "max_iter": 3,
}
pytestmark = pytest.mark.filterwarnings(
    "ignore:The solver stopped", "ignore::UserWarning:distributed"
)


def rows(n=900):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 6))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, n)


@pytest.fixture(autouse=True)
def short(monkeypatch, configure):
    """Small enough limits that a few hundred rows are a stream, and a search looks at a sample."""
    monkeypatch.setattr(dataset, "STREAM_ROWS", 300)
    monkeypatch.setattr(dataset, "SAMPLE_ROWS", 400)
    monkeypatch.setattr(dataset, "VALIDATION_ROWS", 150)
    configure(search_rows=300, refine_rows=400)
    monkeypatch.setattr(arrays, "PIECE_ROWS", ROWS)


def local_cluster(n_workers, processes=True):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None, processes=processes
    )


@pytest.fixture(scope="module")
def cluster():
    """Two workers that are threads of this process."""
    with local_cluster(2, processes=False) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def same_model(one, other):
    for name in ("scale_", "coefficients_", "frequencies_", "offsets_", "center_", "spread_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def collections(X, y):
    return da.from_array(X, chunks=(ROWS, 3)), da.from_array(y, chunks=ROWS)


def frame(X, y, **more):
    return pd.DataFrame(X, columns=NAMES).assign(y=y, **more)


def write(folder, table):
    for k, i in enumerate(range(0, len(table), ROWS)):
        table.iloc[i : i + ROWS].to_parquet(folder / f"{k:03}.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_bits_of_memory(n_workers):
    X, y = rows()
    with local_cluster(n_workers) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(n_workers, timeout=60)
        for options in (DEFAULT, PAPER):
            model = SRFFRegressor(**options).fit(*collections(X, y))
            memory = SRFFRegressor(**options).fit(X, y)
            same_model(model, memory)
            assert model.n_passes_ == memory.n_passes_
            np.testing.assert_array_equal(model.predict(X), memory.predict(X))


def test_the_model_is_a_plain_object(client):
    X, y = rows()
    model = SRFFRegressor(**DEFAULT).fit(*collections(X, y))
    assert b"dask" not in pickle.dumps(model)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]


@pytest.mark.parametrize("options", [DEFAULT, PAPER], ids=["default", "paper"])
def test_a_data_frame_of_parquet_files_that_workers_read(client, tmp_path, options):
    X, y = rows()
    write(tmp_path, frame(X, y))
    model = SRFFRegressor(**options).fit(dd.read_parquet(tmp_path), "y")
    same_model(model, SRFFRegressor(**options).fit(X, y))
    assert model.feature_names_in_.tolist() == NAMES


def test_partitions_stay_what_they_are_when_few_columns_are_read(tmp_path):
    X, y = rows()
    write(tmp_path, frame(X, y))
    source = DaskSource(dd.read_parquet(tmp_path), "y")
    some = source.partitions(np.array([1]))
    assert len(some) == len(source.partitions()) == 8
    inputs, target, weight = some[3].compute(scheduler="synchronous")
    np.testing.assert_array_equal(inputs, X[3 * ROWS : 4 * ROWS, [1]])
    np.testing.assert_array_equal(target[:, 0], y[3 * ROWS : 4 * ROWS])
    assert weight is None


def test_without_a_client_partitions_are_computed_here():
    X, y = rows()
    model = SRFFRegressor(**DEFAULT, n_jobs=2).fit(*collections(X, y))
    same_model(model, SRFFRegressor(**DEFAULT).fit(X, y))


@pytest.mark.parametrize("named", [True, False])
def test_weights_are_a_column_or_a_collection(client, named):
    X, y = rows()
    weight = np.random.RandomState(1).randint(1, 3, len(y)).astype(float)
    memory = SRFFRegressor(**PAPER).fit(X, y, sample_weight=weight)
    if named:
        table = dd.from_pandas(frame(X, y, w=weight), chunksize=ROWS, sort=False)
        model = SRFFRegressor(**PAPER).fit(table, "y", sample_weight="w")
    else:
        chunks = da.from_array(weight, chunks=ROWS)
        model = SRFFRegressor(**PAPER).fit(*collections(X, y), sample_weight=chunks)
    np.testing.assert_allclose(model.coefficients_, memory.coefficients_, atol=1e-5)
    assert np.array_equal(model.scale_ > 0, memory.scale_ > 0)


@pytest.mark.parametrize("sizes", [(700, 0, 100, 100), (10, 0, 590, 300)], ids=["first", "last"])
def test_the_survey_of_workers_is_that_of_memory_for_partitions_of_any_size(client, sizes):
    X, y = rows()
    ends = np.cumsum([0, *sizes])
    parts = [frame(X[i:j], y[i:j]) for i, j in itertools.pairwise(ends)]
    table = dd.from_delayed(
        [dask.delayed(part) for part in parts], meta=parts[0], verify_meta=False
    )
    multipliers = key_multipliers(np.random.RandomState(3), 6)
    found = first_pass_on_workers(DaskSource(table, "y"), multipliers, 120, 60)
    expected = first_pass(ArraySource(X, y[:, None]), multipliers, 120, 60)
    assert found.sizes == sizes
    for one, other in ((found.high, expected.high), (found.low, expected.low)):
        np.testing.assert_array_equal(one.keys, other.keys)
        np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_allclose(found.inputs.mean, expected.inputs.mean, atol=1e-14)


def test_a_small_collection_is_held_in_memory(client):
    X, y = rows(200)
    same_model(SRFFRegressor(**DEFAULT).fit(*collections(X, y)), SRFFRegressor(**DEFAULT).fit(X, y))


def test_a_bad_value_is_named_with_its_partition(client):
    X, y = rows()
    X[5 * ROWS + 7, 2] = np.nan
    with pytest.raises(ValueError, match=r"partition 5: column 2 holds .*NaN in row 7"):
        SRFFRegressor(**DEFAULT).fit(*collections(X, y))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: (t, "z"), "no one column 'z'"),
        (lambda t: (t, None), "y=None must be a Dask collection or the name of a column"),
        (lambda t: (t.assign(y=t.y.astype(str)), "y"), "'y' holds .*, not numbers"),
        (lambda t: (t[["y"]], "y"), "no column beside the target"),
        (lambda t: (t[NAMES], t.y.repartition(npartitions=2)), "X has 8, another has 2"),
        (lambda t: (t[NAMES].to_dask_array(lengths=True), "y"), "which only a Dask data frame has"),
        (lambda t: (t.y.to_dask_array(lengths=True), t.y), "X is a Dask Array of 1 dimensions"),
    ],
)
def test_a_collection_that_cannot_be_learned_from_is_refused(change, message):
    table = dd.from_pandas(frame(*rows()), chunksize=ROWS, sort=False)
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(**DEFAULT).fit(*change(table))


def test_partitions_of_x_and_y_must_have_the_same_rows():
    X, y = rows()
    y_chunks = da.from_array(y, chunks=((120, 136, *[ROWS] * 5, 4),))
    with pytest.raises(ValueError, match="partition 0: X has 128 rows, y has 120"):
        SRFFRegressor(**DEFAULT).fit(da.from_array(X, chunks=(ROWS, 6)), y_chunks)


def test_missing_values_of_nullable_columns_are_named():
    X, y = rows()
    table = frame(X, y)
    table["c"] = table["c"].astype("Float64")
    table.loc[2 * ROWS + 3, "c"] = pd.NA
    with pytest.raises(ValueError, match=r"partition 2: column 'c' holds .*NaN in row 3"):
        SRFFRegressor(**DEFAULT).fit(dd.from_pandas(table, chunksize=ROWS, sort=False), "y")


@pytest.mark.slow
def test_killed_workers_change_nothing():
    X, y = rows()
    options = PAPER | {"max_iter": 5}
    killed: list[int] = []
    with local_cluster(2) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)

        def kill(progress):
            if len(killed) < 2 and progress.done > 2 * len(killed):
                pid = next(p for p in client.run(os.getpid).values() if p not in killed)
                killed.append(pid)
                # In the middle of a pass: a moment after the next one has begun.
                threading.Timer(0.03, os.kill, (pid, signal.SIGKILL)).start()

        model = SRFFRegressor(**options, callback=kill).fit(*collections(X, y))
    assert len(set(killed)) == 2
    same_model(model, SRFFRegressor(**options).fit(X, y))


@contextlib.contextmanager
def processes(*arguments):
    """Processes of Dask's command line, killed at the end."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *argument],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for argument in arguments
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_without_workers_a_pass_ends_with_an_error_and_the_checkpoint_stays(monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "NO_WORKERS_SECONDS", 2.0)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    options = PAPER | {"max_iter": 5}
    X, y = rows()
    worker = ["worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    with (
        local_cluster(0) as cluster,
        distributed.Client(cluster) as client,
        processes(*[[*worker, cluster.scheduler_address]] * 2) as started,
    ):
        client.wait_for_workers(2, timeout=60)

        def kill(progress):
            if progress.done == 2:
                for process in started:
                    process.kill()

        begun = time.monotonic()
        with pytest.raises(RuntimeError, match="All Dask workers have been gone for 2 s"):
            SRFFRegressor(**options, checkpoint=tmp_path, callback=kill).fit(*collections(X, y))
        assert time.monotonic() - begun < 60  # an end, however busy the machine is
    # The same rows in the same blocks, here: the fit goes on, its first iterations are not made.
    assert len(list(tmp_path.glob("*.steps"))) == 2
    model = SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)
    same_model(model, SRFFRegressor(**options).fit(X, y))


@pytest.mark.slow
def test_a_lost_scheduler_ends_a_pass_with_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "NO_WORKERS_SECONDS", 2.0)
    X, y = rows()
    where = tmp_path / "scheduler.json"
    scheduler = ["scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(where)]
    worker = ["worker", "--no-nanny", "--no-dashboard", "--scheduler-file", str(where)]
    with processes(scheduler, worker) as started:
        until = time.monotonic() + 60
        while not where.exists() and time.monotonic() < until:
            time.sleep(0.1)
        # How long the client looks for a scheduler that is gone.
        client = distributed.Client(scheduler_file=str(where), timeout=8)
        client.wait_for_workers(1, timeout=60)

        def kill(progress):
            if progress.done == 2:
                started[0].kill()

        lost = "Dask scheduler has been gone|Dask cluster dropped"
        with client, pytest.raises(RuntimeError, match=lost):
            SRFFRegressor(**PAPER | {"max_iter": 50}, callback=kill).fit(*collections(X, y))


def test_a_partition_in_another_order_of_columns_is_read_by_their_names():
    X, y = rows(200)
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    collection = dd.from_pandas(frame, npartitions=2)

    def turned(part):
        return part[part.columns[::-1]]

    odd = collection.map_partitions(turned, meta=collection._meta, enforce_metadata=False)
    expected = SRFFRegressor(**PAPER).fit(collection, "y")
    model = SRFFRegressor(**PAPER).fit(odd, "y")
    np.testing.assert_array_equal(model.coefficients_, expected.coefficients_)
    text = SRFFRegressor(**PAPER, categorical_features=["f"])
    with_text = text.fit(odd, "y").get_feature_names_out()
    assert with_text.tolist() == text.fit(collection, "y").get_feature_names_out().tolist()

    def short(part):
        return part.drop(columns="c")

    odd = collection.map_partitions(short, meta=collection._meta, enforce_metadata=False)
    with pytest.raises(ValueError, match=r"partition \d has no column 'c', though the .*metadata"):
        SRFFRegressor(**PAPER).fit(odd, "y")


@pytest.mark.parametrize("what", ["rows", "targets", "inputs"])
@pytest.mark.parametrize("on_workers", [False, True])
def test_partitions_that_change_between_passes_are_refused(what, on_workers, request):
    if on_workers:
        request.getfixturevalue("client")
    X, y = rows(600)
    collection = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(y=y), npartitions=3)

    def other(part):
        # Of the system's own chance: a worker may read the function anew for every pass.
        n = int.from_bytes(os.urandom(4), "little")
        if what == "rows":
            return part.iloc[n % 90 :]  # more rows stay than are read once and for all
        return part.assign(y=part.y + n) if what == "targets" else part.assign(a=part.a + n)

    odd = collection.map_partitions(other, meta=collection._meta)
    # By chance two passes may give as many rows, of which the targets are others.
    how = "(rows, first|other targets)" if what == "rows" else f"other {what} than the first time"
    with pytest.raises(ValueError, match=rf"partition \d gave .*{how}.*the same in every pass"):
        SRFFRegressor(**PAPER).fit(odd, "y")
