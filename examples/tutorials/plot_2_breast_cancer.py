"""
Breast cancer: thirty columns that say nearly the same
======================================================

A classification that is easy, and a selection that is not: many columns are almost functions of one
another. What a fit says then, and what it cannot say.

The table comes with scikit-learn: 569 tumours, thirty measurements of the nuclei of cells in an
image of each, and whether it was malignant. Ten properties, and of each the mean over the cells,
the standard error, and the mean of the three largest ("worst").
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import srff
from srff import SRFFClassifier, plot

# %%
# The table
# ---------
# Classes may be text. A quarter of the rows is kept for the end, to show what it looks like; for
# the answer that is not needed.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = np.where(y == 0, "malignant", "benign")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(X_train.shape, {name: int(np.sum(y_train == name)) for name in ("benign", "malignant")})
high = np.abs(np.corrcoef(X_train, rowvar=False))[np.triu_indices(30, 1)] > 0.9
print(f"{high.sum()} of {high.size} pairs of columns have a correlation above 0.9")

# %%
# The fit
# -------
model = SRFFClassifier(random_state=0).fit(X_train, y_train)
print(model)

# %%
# - **Which variables**: most of them are *maybe*, with folds that do not agree. That is the
#   honest answer where columns can stand in for one another. Fit it on other rows, and others are
#   in.
# - **The error** is the log loss, the mean of minus the logarithm of the chance that the model
#   gave to the class that came true. "Class shares" is what one has who knows only how many are
#   malignant.
# - **Logistic regression and boosted trees** were judged on the same rows. Look at the standard
#   errors (``model.reference_errors_``) before you call one of them better.
for name, (error, spread) in model.reference_errors_.items():
    print(f"{name}: {error:.3f} +- {spread:.3f}")
print(f"this model: {model.expected_error_:.3f} +- {model.expected_error_se_:.3f}")

# %%
# How much each variable is missed
# --------------------------------
# Nearly nothing, each by itself: who has the radius does not need the area. Several are within
# two standard errors of zero, or below it. A negative figure is noise around nothing.
for j in np.argsort(-model.importances_, kind="stable"):
    if model.scale_[j] > 0:
        share, error = model.importances_[j], model.importances_se_[j]
        folds = f"{model.fold_agreement_[j]:.0%} of the folds"
        print(f"{X.columns[j]:24} {share:6.1%} +- {error:.1%}   chosen by {folds}")

# %%
# What could take a variable's place
# ----------------------------------
# Columns that are *not* used, each with one that is. In another fit they might change places.
stand_ins = model.stand_ins_
for column, used, r in zip(*stand_ins.values(), strict=True):
    print(f"{X.columns[column]} in the place of {X.columns[used]}: correlation {r:.2f}")

# %%
# What each variable does
# -----------------------
# The mean chance of "malignant" along the variables of the largest scales.
plot.effect(model, X_train, pairs=0, target="malignant")
plt.show()

# %%
# How good it is on the rows that were kept for the end: the ROC curve, and whether the chances
# are right. With 143 rows calibration is a rough picture.
plot.fit(model, X_test, y_test)
plt.show()
print(f"accuracy on {len(y_test)} rows: {model.score(X_test, y_test):.3f}")


# %%
# And the log loss, beside that of a plain logistic regression on the same rows.
def losses_of(fitted):
    """Minus the logarithm of the chance of each row's own class."""
    place = np.searchsorted(fitted.classes_, y_test)
    return -np.log(fitted.predict_proba(X_test)[np.arange(len(y_test)), place])


logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
losses, plain = losses_of(model), losses_of(logistic)
for name, of_rows in (("this model", losses), ("logistic regression", plain)):
    error = of_rows.std() / np.sqrt(len(of_rows))
    print(f"{name}: log loss {of_rows.mean():.3f} +- {error:.3f}")
print(f"the three worst rows make {np.sort(losses)[-3:].sum() / losses.sum():.0%} of this model's")

# %%
# More than the fit expected, and here logistic regression is ahead. A log loss is as large as a
# few rows that a model is sure of and wrong about: three rows make most of it. That is what the
# standard error says too, and why a difference between models on 143 rows decides little, in
# either direction. Where such mistakes are dear, look at those rows.
#
# Is it more than luck?
# ---------------------
# Nobody doubts that these measurements tell malignant from benign. The question of
# :func:`srff.confidence` is another one: *which is needed when all others are known?* Asked of
# single columns it confirms none of this table: the others tell the rest. That is no failure of
# the model, whose chances are good, and it does not say that the size of the nuclei does not
# matter. It says that nobody can tell *which* of these columns does.
#
# So ask another question, one that makes sense: what belongs together is one group. Radius,
# perimeter and area, each as mean, error and worst, are the size; three others tell of hollows in
# the outline.
kinds = {
    "size": ["radius", "perimeter", "area"],
    "hollows": ["compactness", "concavity", "concave points"],
}
kind_of = {name: kind for kind, names in kinds.items() for name in names}
groups = {}
for column in X.columns:
    name = column.removeprefix("mean ").removeprefix("worst ").removesuffix(" error")
    groups.setdefault(kind_of.get(name, name), []).append(column)
print({name: len(columns) for name, columns in groups.items()})

# %%
# Such groups are made from what is known of the columns, before anything is tested.
# ``effort="quick"`` keeps this page short.
recipe = SRFFClassifier(effort="quick", groups=groups, random_state=0)
found = srff.confidence(recipe, X_train, y_train, q=0.1)
print(found.summary())
found.plot()
plt.show()

# %%
# Now there is an answer: a group that is confirmed adds something to all others. "Not confirmed"
# is no proof of the contrary: the hollows may say what the size says too.
#
# What to keep
# ------------
# The reduced model reads its columns alone; the report is one page with all of the above.
small = model.reduced()
print(f"{small.n_features_in_} of {model.n_features_in_} columns")

folder = Path(tempfile.mkdtemp())
srff.save(model, folder / "cells.srff")
model.report(folder / "cells.html", X_test, y_test)
print(sorted(path.name for path in folder.iterdir()))

# %%
# To measure still less, ``n_features_to_select=3`` asks for a number: then look at what it does
# to the error on new rows.
#
# What not to conclude
# --------------------
# - **Not that a column that is not in the model is useless.** It may say the same as one that is.
# - **Not that the chosen set is "the" set.** There are many of about the same error; the folds
#   show it.
# - **Not that small importances mean a weak model.** They are of single columns, given all
#   others.
# - **No diagnosis.** The rows are of one hospital, and so is the error.
