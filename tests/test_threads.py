"""Independent tasks side by side: order, failures, interruptions, and threads within threads."""

from __future__ import annotations

import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info

from srff import SRFFClassifier, SRFFRegressor
from srff._utils.threads import (
    Stopped,
    Threads,
    count_threads,
    one_blas_thread,
    stop_if_asked,
    together,
    without_warnings,
)


def test_results_are_in_the_order_of_the_tasks():
    second_is_done = threading.Event()

    def first():
        assert second_is_done.wait(10)  # so the two run side by side
        return threading.current_thread().name

    def second():
        second_is_done.set()
        return "second"

    name, other = together([first, second], 2)
    assert name.startswith("srff-task")
    assert other == "second"


@pytest.mark.parametrize("n_threads", [1, 3])
def test_none_one_and_many(n_threads):
    for count in (0, 1, 7):
        assert together([lambda k=k: k * k for k in range(count)], n_threads) == [
            k * k for k in range(count)
        ]


def test_one_thread_is_the_callers_own():
    here = threading.current_thread()
    assert together([threading.current_thread] * 3, 1) == [here] * 3
    assert together([threading.current_thread], 4) == [here]


def test_a_failure_ends_the_others_and_is_raised():
    ended = []

    def endless():
        try:
            while True:
                stop_if_asked()
        except Stopped:
            ended.append(True)
            raise

    def failing():
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        together([endless, failing], 2)
    assert ended == [True]
    stop_if_asked()  # not within a task


def test_blocks_of_a_task_are_worked_on_by_its_own_thread():
    def task():
        with Threads(2) as pool:
            return set(pool.map(lambda _: threading.current_thread(), range(5)))

    for threads in together([task, task], 2):
        assert len(threads) == 1
    with Threads(2) as pool:  # and outside of one by others
        assert threading.current_thread() not in set(
            pool.map(lambda _: threading.current_thread(), range(5))
        )


def test_a_pass_within_a_pass_is_done_by_the_thread_that_asks():
    """Else all threads of the pool could wait for a free one, for ever."""

    def outer(_):
        with Threads(2) as pool:
            return set(pool.map(lambda _: threading.current_thread(), range(5)))

    with Threads(2) as pool:
        for threads in pool.map(outer, range(4)):
            assert len(threads) == 1
        assert {len(each) for each in pool.map(lambda _: together([len] * 0, 2), range(3))} == {0}


def test_threads_are_counted_as_scikit_learn_does():
    cores = joblib.cpu_count()
    assert count_threads(None) == count_threads(-1) == cores
    assert count_threads(-2) == max(cores - 1, 1)
    assert count_threads(-1000) == 1
    assert count_threads(np.int64(3)) == 3
    for bad in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match=f"n_jobs={bad!r} must be None, a number of threads"):
            count_threads(bad)
    with pytest.raises(ValueError, match="n_jobs=0 must be"):
        SRFFRegressor(n_jobs=0).fit([[0.0], [1.0]], [0.0, 1.0])


def test_workers_of_joblib_that_are_threads_take_no_more_threads():
    counts = joblib.Parallel(2, backend="threading")([joblib.delayed(count_threads)(None)] * 2)
    assert counts == [1, 1]
    counts = joblib.Parallel(1)([joblib.delayed(count_threads)(None)] * 2)
    assert counts == [joblib.cpu_count()] * 2


@pytest.mark.slow
def test_worker_processes_of_joblib_keep_to_their_share():
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        assert joblib.Parallel(2)([joblib.delayed(count_threads)(None)] * 2) == [1, 1]


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_until_the_last_is_done():
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_caller_who_wants_errors_of_arithmetic_gets_the_same_model(n_jobs, n_classes):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((80, 3))
    y = np.digitize(X[:, 0], np.linspace(-0.5, 0.5, n_classes - 1))
    model = SRFFClassifier(n_components=20, max_iter=3, effort="quick", random_state=0)
    usual = clone(model).fit(X, y)
    with np.errstate(all="raise"):
        strict = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(strict.coefficients_, usual.coefficients_)
        strict.coefficients_ = strict.coefficients_ * 1e6  # chances too small for a number
        strict.predict(X)
        assert strict.predict_proba(X).min() == 0.0
        assert strict.predict_log_proba(X).min() < -745
        with pytest.raises(FloatingPointError):
            np.exp(-800.0)  # what the caller has set stays


def test_threads_that_silence_warnings_do_so_one_after_the_other():
    before, inside = list(warnings.filters), threading.Event()

    def silent():
        with without_warnings():
            inside.set()

    second = threading.Thread(target=silent)
    with without_warnings():
        second.start()
        # Were it let in, it would put back what it found: no warnings.
        assert not inside.wait(0.1)
        warnings.warn("unheard", UserWarning, stacklevel=2)
    second.join()
    assert inside.is_set()
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", UserWarning, stacklevel=2)
