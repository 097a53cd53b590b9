"""
A table with categories and missing values
==========================================

Columns of text, categories and booleans are encoded inside the estimator, missing values filled.
The answer names the columns of the table.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from srff import SRFFRegressor

# %%
# Energy use of made-up buildings: it depends on the outside temperature in a way that differs from
# one kind of heating to another, and on whether the building is insulated. Owner, city and age do
# nothing. Where the temperature is missing, the sensor was switched off for the holidays.
rng = np.random.RandomState(0)
n = 800
table = pd.DataFrame(
    {
        "heating": rng.choice(["gas", "heat pump", "none"], n),
        "insulated": rng.uniform(size=n) < 0.5,
        "temperature": rng.uniform(-10, 30, n),
        "owner": pd.Categorical(rng.choice(["private", "public"], n)),
        "city": rng.choice([f"city {i}" for i in range(30)], n),
        "age": rng.uniform(0, 80, n),
    }
)
cold = np.maximum(18 - table["temperature"], 0)
slope = table["heating"].map({"gas": 1.0, "heat pump": 0.4, "none": 0.0})
energy = 10 + slope * cold * np.where(table["insulated"], 0.6, 1.0) + rng.normal(0, 1, n)
off = rng.uniform(size=n) < 0.15
energy[off] = 3 + rng.normal(0, 1, off.sum())
table.loc[off, "temperature"] = np.nan
table.loc[rng.uniform(size=n) < 0.1, "age"] = np.nan

X_train, X_test, y_train, y_test = table[:600], table[600:], energy[:600], energy[600:]
model = SRFFRegressor(missing="impute", n_components=80, max_iter=10, random_state=0)
model.fit(X_train, y_train)

# %%
# The kept columns, under their own names. A category is one thing: all its levels stay, or none.
print(dict(zip(table.columns, model.scale_.round(2).tolist(), strict=True)))
error = np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))
print(f"RMSE on test rows {error:.2f}; the noise has 1")

# %%
# Inside, ``heating`` is three columns of zeros and ones, ``city`` with its 30 levels is the mean of
# the target in each, and ``temperature`` has a second column that marks the gaps.
print(model.encoding_.names(list(table.columns), model.levels_))

# %%
# What the model says for each kind of heating. A gap is not the median temperature: the holidays
# are known by it.
grid = pd.DataFrame({name: [table[name].iloc[0]] * 101 for name in table.columns})
grid["temperature"], grid["insulated"] = np.linspace(-10, 30, 101), False
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
colours = {"gas": "tab:red", "heat pump": "tab:blue", "none": "tab:gray"}
for place, (heating, colour) in enumerate(colours.items()):
    grid["heating"] = heating
    ax.plot(grid["temperature"], model.predict(grid), color=colour, label=heating)
    gap = model.predict(grid[:1].assign(temperature=np.nan))
    ax.plot([32.5 + place], gap, "o", color=colour)
ax.axvline(31.5, color="black", linewidth=0.5)
ax.set(xlabel="temperature; dots: missing", ylabel="energy", xlim=(-10, 36))
ax.legend()
plt.show()

# %%
# A level that the fit has not seen is no error: its indicators are zero, as scikit-learn's
# ``OneHotEncoder(handle_unknown="ignore")`` has it. In ``city``, which is not read, anything goes.
new = X_test[:3].assign(heating="wood", city="elsewhere")
print(model.predict(new).round(1))
