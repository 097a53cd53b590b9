"""
Beside permutation importance and the lasso
===========================================

Two ways that many use to see which variables matter, on a function with an interaction:
permutation importance of gradient boosting, and the coefficients of a lasso.

The figure is one draw of one function. For errors and selections on 44 problems see
:doc:`/accuracy`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler

from srff import SRFFRegressor

# %%
# ``x0`` and ``x1`` act only together, ``x2`` alone, ``x3`` in a line. ``x4`` is a copy of ``x2``
# with some noise, and says nothing that ``x2`` does not; the others do nothing.
rng = np.random.RandomState(0)
X = rng.standard_normal((800, 15))
X[:, 4] = 0.9 * X[:, 2] + 0.44 * X[:, 4]
y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + rng.normal(0, 0.3, 800)
train, test = slice(0, 600), slice(600, 800)

srff = SRFFRegressor(n_components=50, max_iter=8, random_state=0).fit(X[train], y[train])
trees = {"n_estimators": 300, "max_depth": 5, "subsample": 0.5}
boosting = GradientBoostingRegressor(**trees, random_state=0).fit(X[train], y[train])
shuffled = permutation_importance(boosting, X[test], y[test], n_repeats=5, random_state=0)
scaler = StandardScaler().fit(X[train])
lasso = LassoCV(random_state=0).fit(scaler.transform(X[train]), y[train])

# %%
# Each in its own units. The lasso cannot see the product: what it gives ``x0`` is chance. Boosting
# sees all four; every variable gets some number, and where to cut is left to the reader. srff's
# zeros are zeros.
answers = {
    "srff: scale": srff.scale_,
    "boosting: permutation importance": shuffled.importances_mean,
    "lasso: size of coefficient": np.abs(lasso.coef_),
}
fig, axes = plt.subplots(3, 1, figsize=(7, 5), sharex=True, layout="constrained")
for ax, (name, values) in zip(axes, answers.items(), strict=True):
    colours = np.where(np.arange(15) < 4, "tab:blue", "tab:gray")
    ax.bar(range(15), values, color=colours)
    ax.axhline(0, color="black", linewidth=0.5)
    ax.set_title(f"{name}; {np.sum(values != 0)} of 15 are not zero", loc="left", fontsize=10)
axes[-1].set(xticks=range(15), xticklabels=[f"x{i}" for i in range(15)])
plt.show()

# %%
# The errors on the 200 test rows, where the noise has a standard deviation of 0.3.
predictions = {
    "srff": srff.predict(X[test]),
    "boosting": boosting.predict(X[test]),
    "lasso": lasso.predict(scaler.transform(X[test])),
}
for name, predicted in predictions.items():
    print(f"{name:9}RMSE {np.sqrt(np.mean((predicted - y[test]) ** 2)):.3f}")
