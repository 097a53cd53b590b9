"""
Groups: the lags of a sensor stay together
==========================================

Columns that belong together can be kept or dropped as one: ``groups=``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from srff import SRFFRegressor

# %%
# Five sensors, each a series, with its values now and at the four steps before: 25 columns. The
# target depends on a fading memory of two sensors, ``a`` and ``c``, to which every lag adds a
# little.
rng = np.random.RandomState(0)
n, lags = 900, 5
series = {name: np.zeros(n + lags) for name in "abcde"}
for values in series.values():
    for t in range(1, n + lags):
        values[t] = 0.6 * values[t - 1] + 0.8 * rng.standard_normal()
sensors = {s: [f"{s}-{lag}" for lag in range(lags)] for s in series}
X = pd.DataFrame(
    {
        name: series[s][lags - lag : n + lags - lag]
        for s, names in sensors.items()
        for lag, name in enumerate(names)
    }
)
memory = {s: X[names] @ 0.7 ** np.arange(lags) for s, names in sensors.items()}
y = np.tanh(memory["a"]) + memory["c"] ** 2 / 4 + rng.normal(0, 0.5, n)

# %%
# Without groups a lag has to be missed by itself to be kept, and some are not; with groups a sensor
# is in with all its lags, or out. The last rows judge: neighbours in time are alike, and a random
# fifth would be judged beside its neighbours.
past, later, test = slice(0, 500), slice(500, 700), slice(700, 900)
quick = {"n_components": 80, "max_iter": 10, "random_state": 0}
models = {
    title: SRFFRegressor(groups=groups, validation=(X[later], y[later]), **quick).fit(
        X[past], y[past]
    )
    for title, groups in (("single columns", None), ("groups", sensors))
}
for title, model in models.items():
    error = np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))
    print(f"{title}: RMSE {error:.3f} (noise 0.5), {' '.join(model.get_feature_names_out())}")

# %%
# The columns of a group have one scale in ``scale_``: that of the group.
fig, axes = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained")
for ax, (title, model) in zip(axes, models.items(), strict=True):
    colours = ["tab:blue" if name[0] in "ac" else "tab:gray" for name in X.columns]
    ax.bar(X.columns, model.scale_, color=colours)
    ax.set(ylabel="scale", title=title)
axes[-1].tick_params(axis="x", rotation=90)
plt.show()
