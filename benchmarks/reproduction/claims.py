"""What the paper says of time and memory, tried here: seconds of one processor core.

    python benchmarks/reproduction/claims.py

One replicate each, in one thread; the processor's own seconds, so that other work on the machine
does not count.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import root_mean_squared_error

from srff import SRFFRegressor
from srff.baselines import SPAM, HSICLasso
from srff.datasets import make_se1, make_se3
from srff.reproduction.baselines.denovas import check_memory
from srff.reproduction.baselines.hsic import hsic_path, kernel_products
from srff.reproduction.published import Cell
from srff.reproduction.replicate import Settings, draw


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of some work, and its result."""
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def standardised(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Inputs and target side by side, of unit variance."""
    U = np.column_stack([X, y])
    return (U - U.mean(axis=0)) / U.std(axis=0)


def spam() -> None:
    """SPAM on the real data, where the paper's ended with errors."""
    for code, n in (("RCP", 6000), ("REL", 6000), ("RAI", 11000)):
        train, validation, test = draw(Cell(code, n, "SPAM"), 0, Settings())
        took, model = seconds(lambda t=train, v=validation: SPAM(validation=v).fit(*t))
        error = root_mean_squared_error(test[1], model.predict(test[0]))
        print(f"SPAM {code}: RMSE {error:.3f}, {took:.0f} s", flush=True)


def hsic() -> None:
    """The exact HSIC lasso where the paper's did not end: more rows, and 1,000 columns."""
    X, y = make_se1(5000, random_state=0)
    U = standardised(X, y)
    took, _ = seconds(lambda: hsic_path(kernel_products(U)))
    print(f"HSIC, SE1, 5,000 rows, exact: path in {took:.0f} s", flush=True)
    X, y = make_se3(1000 + 10000, random_state=0)
    held = X[1000:], y[1000:]
    model = HSICLasso(validation=held, n_jobs=1, random_state=0)
    took, model = seconds(lambda: model.fit(X[:1000], y[:1000]))
    print(f"HSIC, SE3, 1,000 rows: {took:.0f} s, selected {model.selected_.tolist()}", flush=True)


def denovas() -> None:
    """What the matrices of Denovas take."""
    for name, n, d in (("SE1", 1000, 18), ("SE1", 5000, 18), ("SE2", 1000, 100)):
        try:
            check_memory((n, d), 1000, stored=True, limit="32GB")
            print(f"Denovas {name} {n}: fits into 32 GB")
        except MemoryError as error:
            print(f"Denovas {name} {n}: {error}")


def srff() -> None:
    """One of the fifty lambdas on SE1 with 50,000 rows."""
    X, y = make_se1(51000, random_state=0)
    model = SRFFRegressor(
        solver="alternating",
        refine=None,
        n_components=300,
        alpha=1e-5,
        n_jobs=1,
        random_state=0,
        validation=(X[50000:], y[50000:]),
    )
    took, model = seconds(lambda: model.fit(X[:50000], y[:50000]))
    print(f"SRFF, SE1, 50,000 rows, one alpha: {took:.0f} s, {model.n_iter_} iterations")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    denovas()
    spam()
    srff()
    hsic()
