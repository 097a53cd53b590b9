"""
How the kept variables act: partial dependence
==============================================

The scales say which variables are used, not how. Partial dependence shows that: the mean prediction
when one variable, or two, are set to a value.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from srff import SRFFRegressor, plot

# %%
# Friedman's first function: a wave of a product, a parabola, a line; five columns of ten.
rng = np.random.RandomState(0)
X = pd.DataFrame(rng.uniform(0, 1, (600, 10)), columns=[f"x{i}" for i in range(1, 11)])
y = (
    10 * np.sin(np.pi * X["x1"] * X["x2"])
    + 20 * (X["x3"] - 0.5) ** 2
    + 10 * X["x4"]
    + 5 * X["x5"]
    + rng.normal(0, 1, 600)
)

model = SRFFRegressor(n_components=50, max_iter=8, random_state=0).fit(X, y)
print(model.get_feature_names_out())

# %%
# One curve for each kept variable, and the surface of the pair that acts together. ``x4`` has a
# small scale and a large effect: a line varies slowly.
plot.effect(model, X, ["x1", "x2", "x3", "x4", "x5"], pairs=[("x1", "x2")], sample=100)
plt.show()

# %%
plot.scales(model)
plt.show()
