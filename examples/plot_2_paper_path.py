"""
The paper's method: scales along alpha
======================================

``solver="alternating", refine=None`` is the algorithm of Gregorová and others (ECML-PKDD 2018):
scales on a simplex, and one penalty ``alpha``. :func:`srff.srff_path` follows it along a grid of
alpha, each value to its end.

The problem is the paper's SE2, ``log((x11 + ... + x15)^2)`` and noise: no variable has an effect
that shows by itself. Of its 100 columns the first 30 are used here, so that this page is quick.
"""

import matplotlib.pyplot as plt
import numpy as np

from srff import plot, srff_path
from srff.datasets import SE2, make_se2

X, y = make_se2(1000, random_state=1)
X = X[:, :30]
names = [f"x{i + 1}" for i in range(30)]  # as the paper counts, from 1

# %%
# Eight values of alpha. The scales add up to the same budget at each of them, and the five right
# variables have most of it all along. The error says which alpha to take: with large ones the model
# is too flat, with small ones it follows the noise.
path = srff_path(
    X, y, alphas=np.logspace(-1, -4.5, 8), n_components=100, max_iter=30, random_state=0
)
plot.path(path, names=names)
plt.show()

# %%
# The scales at the alpha of the lowest validation error. The simplex sets some of the others to
# zero, and others near it. The default fit, which tests each variable, keeps the five alone on SE2
# with 1,000 rows and all 100 columns (:doc:`/accuracy`).
scales = path.scales[path.best]
right = np.isin(np.arange(30), SE2.relevant)
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.bar(names, scales, color=np.where(right, "tab:blue", "tab:gray"))
ax.set(ylabel="scale", title=f"alpha = {path.alphas[path.best]:.1g}; in blue x11 to x15")
ax.tick_params(axis="x", rotation=90)
plt.show()

print("scales that are exactly zero:", np.sum(scales == 0), "of", scales.size)
