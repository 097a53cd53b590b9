"""
Selection inside a Pipeline and a grid search
=============================================

:class:`~srff.SRFFRegressor` is a scikit-learn regressor and a selector too. It can be the last step
of a pipeline, or choose the columns for another model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from srff import SRFFRegressor

rng = np.random.RandomState(0)
X = rng.uniform(-2, 2, (300, 20))
y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + rng.normal(0, 0.3, 300)
X[rng.uniform(size=X.shape) < 0.01] = np.nan  # some values are missing

quick = SRFFRegressor(n_components=30, max_iter=4, random_state=0)

# %%
# As the last step. By default missing values are refused by srff, so an imputer comes first
# (``missing="impute"`` would fill them inside). A search over settings is rarely needed, alpha and
# the rest are chosen inside; here is one over the kernel.
pipeline = make_pipeline(SimpleImputer(), quick)
grid = {"srffregressor__kernel": ["gaussian", "matern32"]}
search = GridSearchCV(pipeline, grid, cv=3, scoring="neg_root_mean_squared_error").fit(X, y)
print(search.best_params_, f"RMSE {-search.best_score_:.3f}")
print("selected:", search.best_estimator_[-1].get_support(indices=True))

# %%
# As a selector for a forest. The selection is made anew inside each fold, so that no test row has a
# say in which columns are kept.
forest = RandomForestRegressor(50, random_state=0)
models = {
    "forest, all 20 columns": make_pipeline(SimpleImputer(), forest),
    "srff selects, then forest": make_pipeline(SimpleImputer(), quick, forest),
    "srff alone": pipeline,
}
errors = {
    name: -cross_val_score(model, X, y, cv=3, scoring="neg_root_mean_squared_error")
    for name, model in models.items()
}

fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
ax.barh(list(errors), [e.mean() for e in errors.values()], color="tab:blue")
ax.invert_yaxis()
ax.set(xlabel="RMSE, mean of three folds")
plt.show()
