"""Write the golden model files of the present format, with their predictions beside them.

A file that was released is never written again: srff must go on loading it.  A new format gets
files of its own, ``v2-*`` and so on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from srff import RFFRegressor, SRFFRegressor
from srff.baselines import Denovas, HSICLasso
from srff.io import save
from srff.io.container import FORMAT
from srff.kernels import Matern


def rows(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = np.exp(rng.standard_normal((n, 5)))
    return X, np.sin(2 * np.log(X[:, 0])) + X[:, 1] + rng.normal(0, 0.1, n)


def main() -> None:
    import pandas as pd

    X, y = rows()
    quick = {"n_components": 20, "max_iter": 3, "random_state": 0, "dtype": "float64"}
    models = {
        "srff-standard": SRFFRegressor(Matern(2.5), **quick, inputs="standard"),
        "srff-quantile": SRFFRegressor(**quick, inputs="quantile"),
        "rff": RFFRegressor(n_components=20, random_state=0, dtype="float64"),
        "hsic": HSICLasso(random_state=0),
        "denovas": Denovas(n_taus=8, random_state=0),
    }
    folder = Path(__file__).parent
    X_new = np.exp(np.random.RandomState(1).standard_normal((50, 5)))
    for name, model in models.items():
        if name == "denovas":
            model.fit(X[:80], y[:80])
        elif name == "srff-quantile":
            model.fit(pd.DataFrame(X, columns=["a", "b", "größe", "d", "e"]), y)
        else:
            model.fit(X, y)
        path = folder / f"v{FORMAT}-{name}.srff"
        if path.exists():
            sys.exit(f"{path} was released: it is not written again.")
        save(model, path)
        np.savez(path.with_suffix(".npz"), X=X_new, y=model.predict(X_new))


if __name__ == "__main__":
    main()
