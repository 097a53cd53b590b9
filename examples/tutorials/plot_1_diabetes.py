"""
Diabetes: ten measurements, and how a disease goes on
=====================================================

A small table of real people: what a default fit says of it, what each figure means, and what not to
conclude.

The table comes with scikit-learn: 442 people with diabetes, ten measurements of each, and a number
for how far the disease had gone a year later.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import srff
from srff import SRFFRegressor, plot

# %%
# The table
# ---------
# Age, sex, body mass index, blood pressure, and six measurements of blood serum, in their own
# units.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
print(X.describe().loc[["mean", "std", "min", "max"]].round(1).T)
print(f"target: mean {y.mean():.0f}, spread {y.std():.0f}, from {y.min():.0f} to {y.max():.0f}")

# %%
# The fit
# -------
# No setting is needed. Nothing has to be scaled, and no rows have to be set aside: each row is
# held out once, in one of five folds.
model = SRFFRegressor(random_state=0).fit(X, y)
print(model)

# %%
# Read it from the left.
#
# - **Which variables.** The model reads these columns and no other. *Sure* is what every fold
#   chose and what is clearly missed on rows held out. *Maybe* is in the model without that. *No*
#   are all others; those that some folds chose are named at the end.
# - **The error on new rows** is a root mean squared error in units of the target, with its
#   standard error. It is about 53 where a guess of the mean is wrong by 77: half of the variance
#   is explained, and no more. For a single person that is a rough guess.
# - **Ridge and boosted trees** were judged on the same rows. Ridge, straight lines in all ten
#   columns, is hardly worse; the trees are. So this is a table of nearly straight lines, and what
#   this model has before ridge is mainly that it needs fewer columns.
#
# How much each variable is missed
# --------------------------------
# Each variable in use is drawn anew, as it might have been given all other columns, on rows held
# out. The importance is the share of what the model explains that is lost by it, with its
# standard error.
for j in np.argsort(-model.importances_, kind="stable"):
    if model.scale_[j] > 0:
        share, error = model.importances_[j], model.importances_se_[j]
        folds = f"{model.fold_agreement_[j]:.0%} of the folds"
        print(f"{X.columns[j]:4} {share:6.1%} +- {error:.1%}   chosen by {folds}")

# %%
# The body mass index is missed most, then ``s5`` (the logarithm of the triglycerides). A variable
# may be missed clearly and yet be *maybe*, because one of the folds did without it. And an
# importance within two standard errors of zero is none that these rows show: such a variable is
# in the model since with few rows a lower error is reason enough to keep it
# (:doc:`/guide/choosing`).
#
# A share is what is lost *given all other columns*. The six serum measurements tell much of one
# another, so each of them is missed less than it would be alone. Do not read a small importance
# as "has nothing to do with the disease".
#
# What each variable does
# -----------------------
# The mean prediction when one variable is set to a value. Ticks inside the frame are its deciles:
# beyond the outer ones few rows say anything.
plot.effect(model, X, pairs=0)
plt.show()

# %%
# Nearly straight lines, as the error of ridge said. Do they act together? For each pair, the
# share of the variance of the predictions that no sum of two functions could make:
pairs = model.interactions_
for first, second, share in zip(pairs["first"], pairs["second"], pairs["share"], strict=True):
    print(f"{X.columns[first]} and {X.columns[second]}: {share:.1%}")

# %%
# What could take a variable's place
# ----------------------------------
# Columns that are not used, and have a correlation of at least 0.9 with one that is. None here.
# ``s1`` and ``s2`` are close to that, but neither is used.
stand_ins = model.stand_ins_
print("stand-ins:", [X.columns[j] for j in stand_ins["column"]])
print(f"correlation of s1 and s2: {np.corrcoef(X['s1'], X['s2'])[0, 1]:.2f}")

# %%
# Is it more than luck?
# ---------------------
# A fit makes no promise about false variables: a search looked at the same rows many times.
# :func:`srff.confidence` makes five new searches, each judged on rows that it has not seen, and
# bounds the share of false variables among the confirmed ones. ``effort="quick"`` keeps this page
# short.
found = srff.confidence(SRFFRegressor(effort="quick", random_state=0), X, y, q=0.1)
print(found.summary())
found.plot()
plt.show()

# %%
# Two answers to two questions. The fit looks for a small set that predicts well, and may leave
# out a variable that adds little. The tests ask of each variable whether it adds anything to all
# others: the blood pressure ``bp`` does, though only one of the folds above took it. Say so if
# you write about it: "``bmi``, ``bp`` and ``s5`` are confirmed at a false discovery rate of 10
# %". The stability says that what else is selected comes and goes with the rows.
#
# What to keep
# ------------
# :meth:`~srff.SRFFRegressor.reduced` is the same model over the columns that it reads, so that no
# other has to be measured. The file holds numbers and names, nothing that can be run. The report
# is one page, with the tests in it if they are put there.
small = model.reduced()
print(list(small.feature_names_in_))

folder = Path(tempfile.mkdtemp())
model.confidence_ = found
srff.save(model, folder / "diabetes.srff")
model.report(folder / "diabetes.html")
again = srff.load(folder / "diabetes.srff")
print(np.array_equal(again.predict(X), model.predict(X)))
print(again)

# %%
# With the tests put there, *sure* means confirmed; a variable that is confirmed and not in the
# model is *maybe*.
#
# What not to conclude
# --------------------
# - **No cause.** A lower body mass index may or may not slow the disease: the table cannot say.
# - **Not "the others do not matter".** They are not needed beside the ones in use, as far as 442
#   rows can show.
# - **Not that the model is better than ridge by a margin.** The difference of the two errors is
#   about as large as the standard error of one of them. Where signs and p-values of straight
#   lines are wanted, a linear regression is the plainer choice.
# - **Nobody outside the table.** The error is that of new rows *like these*: people of this
#   clinic.
