"""
Classes: rings, and an exclusive or
===================================

:class:`~srff.SRFFClassifier` finds the variables that classes depend on, and gives their chances.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from srff import SRFFClassifier

# %%
# Ten columns; the class is by the distance from the middle in two of them. One label in twenty is
# wrong.
rng = np.random.RandomState(0)
X = rng.uniform(-2, 2, (1000, 10))
radius = np.hypot(X[:, 1], X[:, 4])
y = np.where((radius > 0.8) & (radius < 1.6), "ring", "other")
wrong = rng.uniform(size=1000) < 0.05
y = np.where(wrong, np.where(y == "ring", "other", "ring"), y)
train, test = slice(0, 600), slice(600, 1000)

model = SRFFClassifier(n_components=50, max_iter=8, random_state=0).fit(X[train], y[train])
print("selected:", model.get_support(indices=True))
print(f"accuracy {model.score(X[test], y[test]):.3f}, at best 0.95")
print(f"log loss {log_loss(y[test], model.predict_proba(X[test])):.3f}")

# %%
# The chance of "ring" over the two columns that were found, all others at zero: the model does not
# read them. Dots are test rows.
grid = np.linspace(-2, 2, 101)
rows = np.zeros((grid.size**2, 10))
rows[:, 1], rows[:, 4] = (axis.ravel() for axis in np.meshgrid(grid, grid))
ring = list(model.classes_).index("ring")
chance = model.predict_proba(rows)[:, ring].reshape(grid.size, grid.size)

fig, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
surface = ax.pcolormesh(grid, grid, chance, vmin=0, vmax=1, cmap="RdBu_r", shading="auto")
for label, colour in (("ring", "darkred"), ("other", "navy")):
    these = X[test][y[test] == label]
    ax.plot(these[:, 1], these[:, 4], ".", color=colour, markersize=4, label=label)
ax.set(xlabel="x1", ylabel="x4", aspect="equal")
ax.legend(loc="upper right")
fig.colorbar(surface, label="chance of a ring")
plt.show()

# %%
# Are the chances right? Of the rows with a chance near some value, about so many should be in the
# ring.
p = model.predict_proba(X[test])[:, ring]
bins = np.clip((p * 5).astype(int), 0, 4)
for k in np.unique(bins):
    there = bins == k
    share = np.mean(y[test][there] == "ring")
    print(f"chance {p[there].mean():.2f}: {share:.2f} of {there.sum()} rows")

# %%
# An exclusive or: the class is the sign of a product of two of ten columns. Neither says anything
# alone, so a linear model finds nothing.
X = rng.standard_normal((800, 10))
y = X[:, 2] * X[:, 7] > 0
xor = SRFFClassifier(n_components=50, max_iter=8, random_state=0).fit(X[train], y[train])
linear = LogisticRegression().fit(X[train], y[train])
rest = slice(600, 800)
print("selected:", xor.get_support(indices=True))
print(f"accuracy {xor.score(X[rest], y[rest]):.3f}, linear {linear.score(X[rest], y[rest]):.3f}")
