"""
Rows in files, and a fit that goes on after it was stopped
==========================================================

Rows may be in Parquet, CSV or Arrow files. With ``checkpoint=`` the steps of a fit are kept in a
folder; a fit that is started again goes on after the last one and ends with the same model.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from srff import SRFFRegressor, plot

# %%
# Two Parquet files in a folder, as another program may have left them.
folder = Path(tempfile.mkdtemp())
rng = np.random.RandomState(0)
for part in range(2):
    table = pd.DataFrame(rng.uniform(-2, 2, (400, 8)), columns=[f"x{i}" for i in range(8)])
    table["target"] = np.sin(2 * table["x1"]) + table["x4"] ** 2 + rng.normal(0, 0.2, 400)
    table.to_parquet(folder / f"part-{part}.parquet")


# %%
# A fit that is stopped on the way, here by its own callback at the fortieth report; a machine that
# fails would do the same.
class Stopped(Exception):
    """What ends the first fit."""


reports = iter(range(40))


def stop_soon(progress):
    """Stop when the reports are used up."""
    if next(reports, None) is None:
        raise Stopped


settings = {"n_components": 40, "max_iter": 8, "random_state": 0, "checkpoint": folder / "fit"}
try:
    SRFFRegressor(**settings, callback=stop_soon).fit(f"{folder}/*.parquet", "target")
except Stopped:
    print("stopped; files in the checkpoint:", len(list((folder / "fit").iterdir())))

# %%
# The same fit again goes on from there. Its model is that of a fit which was never stopped, bit for
# bit.
model = SRFFRegressor(**settings).fit(f"{folder}/*.parquet", "target")
other = SRFFRegressor(**{**settings, "checkpoint": None}).fit(f"{folder}/*.parquet", "target")
print("same coefficients:", np.array_equal(model.coefficients_, other.coefficients_))

plot.scales(model)
plt.show()
