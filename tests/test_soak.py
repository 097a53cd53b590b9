"""Many fits in one process: nothing is left behind, and threads do not disturb each other."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor

SOAK = Path(__file__).parents[1] / "benchmarks" / "fuzz" / "soak.py"
QUICK = {"n_components": 20, "max_iter": 2, "effort": "quick", "random_state": 0}
pytestmark = pytest.mark.slow


@pytest.mark.skipif(not SOAK.exists(), reason="benchmarks are not in this copy of the sources")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the figures are those of Linux")
def test_sixty_fits_leave_no_thread_no_open_file_and_no_memory_behind():
    command = [sys.executable, str(SOAK), "--fits", "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads_that_predict_while_others_fit_give_what_each_gives_alone():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((5000, 4))
    y = np.sin(2 * X[:, 0])
    labels = np.where(y > 0, "up", "down")
    models = [
        SRFFRegressor(**QUICK, n_jobs=2).fit(X[:100], y[:100]),
        SRFFClassifier(**QUICK).fit(X[:100], labels[:100]),
        RFFRegressor(n_components=20, random_state=0).fit(X[:100], y[:100]),
    ]
    expected = [model.predict(X) for model in models]
    done, wrong, failed = threading.Event(), [], []

    def predict(k):
        try:
            while not done.is_set():
                if not np.array_equal(models[k % 3].predict(X), expected[k % 3]):
                    wrong.append(k)
        except BaseException as error:
            failed.append(error)

    def fit():
        try:
            for _ in range(3):
                again = SRFFRegressor(**QUICK, n_jobs=2).fit(X[:100], y[:100])
                np.testing.assert_array_equal(again.coefficients_, models[0].coefficients_)
        except BaseException as error:
            failed.append(error)

    predicting = [threading.Thread(target=predict, args=(k,)) for k in range(8)]
    fitting = [threading.Thread(target=fit) for _ in range(2)]
    for thread in [*predicting, *fitting]:
        thread.start()
    for thread in fitting:
        thread.join()
    done.set()
    for thread in predicting:
        thread.join()
    assert not wrong
    assert not failed
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("srff")]
