"""Forks, worker processes, Dask's threads and broken streams: real processes, each of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

from srff import SRFFRegressor, save

pytestmark = pytest.mark.slow

MODEL = """
import faulthandler, multiprocessing, os, sys, threading, time, warnings
import numpy as np
from srff import SRFFRegressor
faulthandler.dump_traceback_later(100, exit=True)
rng = np.random.RandomState(0)
X = rng.normal(size=(20_000, 3))
y = np.sin(X[:, 0])
settings = dict(n_components=20, max_iter=2, effort="quick", random_state=0, n_jobs=2)
model = SRFFRegressor(**settings).fit(X[:200], y[:200])
expected = model.predict(X)
"""


def run(script, *arguments):
    """A script after the lines of ``MODEL``; it must end well and say nothing on standard error."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", MODEL + script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


FORKED = """
from srff._utils.threads import Threads, _Blas, one_blas_thread
stop = threading.Event()
def loop():
    while not stop.is_set():
        model.predict(X)
thread = threading.Thread(target=loop)
thread.start()
time.sleep(0.2)
for number in range(6):
    if number == 4:  # the worst moment
        _Blas.lock.acquire(), Threads._lock.acquire()
    child = os.fork()
    if child == 0:
        same = np.array_equal(model.predict(X), expected)
        again = SRFFRegressor(**settings).fit(X[:200], y[:200])
        same = same and np.array_equal(again.coefficients_, model.coefficients_)
        os._exit(0 if same and _Blas.users == 0 and _Blas.limit is None else 1)
    if number == 4:
        _Blas.lock.release(), Threads._lock.release()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
thread.join()
"""


def test_a_process_forked_while_a_thread_predicts_predicts_too():
    assert run(FORKED).split() == ["0"] * 6


FORKED_IN_A_FIT = """
def fork(progress):
    global child
    if child is None:
        child = os.fork()
        if child == 0:
            raise SystemExit(0 if np.array_equal(model.predict(X), expected) else 1)
child = None
try:
    SRFFRegressor(**settings, callback=fork).fit(X[:200], y[:200])
except SystemExit as end:
    from srff._utils.threads import _Blas
    os._exit(end.code or _Blas.users)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_forked_in_a_fit_predicts_and_ends_the_fit():
    assert run(FORKED_IN_A_FIT).split() == ["0"]


WORKER = """
warnings.simplefilter("error")
def work(number):
    from srff._utils.threads import count_threads
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        again = SRFFRegressor(**settings | {"n_jobs": None}).fit(X[:200], y[:200])
        same = np.array_equal(again.predict(X), expected)
    return same, [str(each.message) for each in said], count_threads(None)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(2)))
"""


def test_a_worker_process_uses_its_cores_and_says_nothing():
    assert run(WORKER).strip() == str([(True, [], joblib.cpu_count())] * 2)


DASK = """
import dask.array as da
from srff.data import dataset
dataset.STREAM_ROWS = 1000
rows = da.from_array(np.concatenate([X] * 4), chunks=(20_000, 3))
predictions = rows.map_blocks(model.predict, drop_axis=1, dtype=float)
for scheduler in ("threads", "synchronous"):
    print(np.array_equal(predictions.compute(scheduler=scheduler), np.tile(expected, 4)))
# A fit whose rows are another model's predictions: threads of a pass ask for a pass.
column = rows.map_blocks(lambda x: model.predict(x)[:, None], chunks=(20_000, 1), dtype=float)
short = dict(n_components=20, max_iter=1, refine=None, alpha=1e-3, random_state=0, n_jobs=2)
target = da.from_array(np.tile(y, 4), chunks=20_000)
print(SRFFRegressor(**short).fit(column, target).coefficients_.shape)
"""


def test_a_model_predicts_within_the_threads_of_dask_and_of_a_fit():
    pytest.importorskip("dask", reason="Dask is not installed (extra: dask)")
    assert run(DASK).split("\n") == ["True", "True", "(20,)", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of it."""
    folder = tmp_path_factory.mktemp("streams")
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 2))
    model = SRFFRegressor(n_components=20, max_iter=2, effort="quick", random_state=0)
    save(model.fit(pd.DataFrame(X, columns=["a", "b"]), np.sin(X[:, 0])), folder / "model.srff")
    table = np.column_stack([X, np.sin(X[:, 0])])
    pd.DataFrame(table, columns=["a", "b", "y"]).to_csv(folder / "t.csv", index=False)
    return folder


def in_shell(folder, arguments):
    command = f"{sys.executable} -m srff {arguments}"
    return subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False, timeout=100
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "command",
    ["--version", "report model.srff", "report model.srff --json", "predict model.srff t.csv"],
)
@pytest.mark.parametrize(
    ("output", "reason"),
    [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
def test_output_that_cannot_be_written_is_said_in_a_sentence(folder, command, output, reason):
    done = in_shell(folder, f"{command} {output}")
    assert done.returncode == 1
    assert done.stderr == f"srff: standard output: {reason}.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("errors", ["2>&-", "2> /dev/full", ">&- 2>&-"])
def test_a_fit_needs_no_standard_error(folder, errors):
    settings = "--effort quick --set n_components=20 --set max_iter=2"
    quiet = "--quiet" if ">&- 2" in errors else ""
    done = in_shell(folder, f"fit t.csv -t y --out new.srff --force {quiet} {settings} {errors}")
    assert done.returncode == 0, done.stdout
    assert quiet or "variable" in done.stdout
    (folder / "new.srff").unlink()
    done = in_shell(folder, f"report nothing.srff {errors}")
    assert done.returncode in (1, 2)
