"""Independent tasks side by side: order, failures, interruptions, and threads within threads."""

from __future__ import annotations

import threading

import pytest

from srff._utils.threads import Stopped, Threads, stop_if_asked, together


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
