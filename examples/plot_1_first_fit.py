"""
First fit: which variables matter?
==================================

A target that depends on three of twelve columns, one by itself and two through their product.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from srff import SRFFRegressor, plot

# %%
# Twelve columns with names. ``pressure`` acts alone, ``speed`` and ``angle`` only together; the
# other nine do nothing.
rng = np.random.RandomState(0)
names = ["pressure", "speed", "angle", *(f"sensor_{i}" for i in range(1, 10))]
X = pd.DataFrame(rng.uniform(-2, 2, (600, 12)), columns=names)
y = np.sin(2 * X["pressure"]) + X["speed"] * X["angle"] + rng.normal(0, 0.2, 600)
X_train, X_test, y_train, y_test = X[:400], X[400:], y[:400], y[400:]

model = SRFFRegressor(n_components=50, max_iter=8, random_state=0).fit(X_train, y_train)

# %%
# The answer: names, and scales that are exactly zero for all other columns. A scale says how fast
# the model varies along a column; it is not the size of an effect.
print(model.get_feature_names_out())
plot.scales(model)
plt.show()

# %%
# How good is it? On rows that the fit has not seen, beside the noise of 0.2 that nothing can
# predict.
plot.fit(model, X_test, y_test)
plt.show()

# %%
# The candidates of the search, by how many variables they use. The smallest model that is not
# significantly worse than the best says which variables are kept.
plot.path(model)
plt.show()
