"""Any table: a fit ends in a sound model, or in one error with a sentence; never in anything else.

Tables, targets and weights of every kind are put together at random, the same ones in each run.
"""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from srff import SRFFClassifier, SRFFRegressor

pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
pl = pytest.importorskip("polars", reason="polars is not installed")

TINY = {"effort": "quick", "n_components": 10, "max_iter": 2, "random_state": 0, "n_jobs": 1}
MOST_WARNINGS = 4
RAW = ("zero-size", "arg is an empty", "broadcast", "infs or NaNs", "not finite", "unpack", "index")
"""Words of errors that come from too deep inside to be of help."""


def some(rng, n, values):
    """Values drawn from a few."""
    return [values[k] for k in rng.integers(len(values), size=n)]


def with_gaps(rng, values, gap=np.nan):
    return [gap if rng.random() < 0.3 else value for value in values]


def normal(rng, n):
    return rng.normal(size=n)


COLUMNS = {
    "normal": normal,
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "subnormal": lambda rng, n: rng.integers(0, 9, size=n) * 5e-324,
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "far": lambda rng, n: 1e15 + rng.normal(size=n),
    "all magnitudes": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "outlier": lambda rng, n: np.where(np.arange(n) == 0, 1e300, rng.normal(size=n)),
    "integers": lambda rng, n: rng.integers(-5, 5, size=n),
    "bytes": lambda rng, n: rng.integers(0, 255, size=n).astype(np.uint8),
    "largest integers": lambda rng, n: rng.integers(2**62, 2**63 - 1, size=n),
    "truths": lambda rng, n: rng.random(n) < 0.5,
    "constant": lambda rng, n: np.full(n, 3.0),
    "duplicates": lambda rng, n: np.repeat(rng.normal(size=n), 2)[:n],
    "gaps": lambda rng, n: with_gaps(rng, rng.normal(size=n)),
    "one value": lambda rng, n: [1.0] + [np.nan] * (n - 1),
    "no value": lambda rng, n: [np.nan] * n,
    "infinite": lambda rng, n: np.where(np.arange(n) == n - 1, np.inf, rng.normal(size=n)),
    "text": lambda rng, n: some(rng, n, ["a", "b", "", "größe"]),
    "text with gaps": lambda rng, n: with_gaps(rng, some(rng, n, ["a", "b"]), None),
    "one text": lambda rng, n: ["a"] * n,
    "names": lambda rng, n: [f"name {k}" for k in range(n)],
    "numbers as text": lambda rng, n: [f"{value:.3f}" for value in rng.normal(size=n)],
    "stray text": lambda rng, n: ["?", *(f"{value:.3f}" for value in rng.normal(size=n - 1))],
    "text and numbers": lambda rng, n: some(rng, n, ["a", 1.0, 2]),
    "decimals": lambda rng, n: [Decimal(f"{value:.3f}") for value in rng.normal(size=n)],
    "nothing": lambda rng, n: [None] * n,
    "dates": lambda rng, n: [datetime.date(2020, 1, 1 + k % 28) for k in range(n)],
    "lists": lambda rng, n: [[1, 2]] * n,
    "category": lambda rng, n: pd.Categorical(some(rng, n, ["u", "v"]), list("uvwxyz")),
    "empty category": lambda rng, n: pd.Categorical([None] * n, list("uv")),
    "category of numbers": lambda rng, n: pd.Categorical(rng.integers(0, 3, size=n)),
    "Int64": lambda rng, n: pd.array(with_gaps(rng, rng.integers(0, 9, n).tolist(), None), "Int64"),
    "boolean": lambda rng, n: pd.array(with_gaps(rng, [True, False] * n, None)[:n], "boolean"),
    "string": lambda rng, n: pd.array(with_gaps(rng, ["p", "q"] * n, None)[:n], "string"),
    "datetime64": lambda rng, n: pd.date_range("2020", periods=n),
    "with a zone": lambda rng, n: pd.date_range("2020", periods=n, tz="UTC"),
    "timedelta64": lambda rng, n: pd.to_timedelta(np.arange(n), "D"),
    "complex": lambda rng, n: rng.normal(size=n) * 1j,
}

ODD = {"infinite", "stray text", "text and numbers", "lists", "timedelta64", "complex"}

NUMERIC = list(COLUMNS)[: list(COLUMNS).index("text")]

SOUND = [kind for kind in COLUMNS if kind not in ODD] * 3
"""More of those that a model can be made of."""

NAMES = ["a", "b", "c", "", " ", "größe", "x\n\x1b[31m", "=1+1", "y", "é" * 90, "0", "None"]
ODD_NAMES = [
    [0, 1, 2, 3, 4],
    [0, "a", 1, "b", "c"],
    [2.5, 1, 0, 3, 4],
    list("aabbc"),
    [("a", 1)] * 5,
]


def nested(x):
    return np.sin(2 * x)


TARGETS = {
    "function": lambda rng, x: nested(x) + 0.1 * rng.normal(size=x.size),
    "tiny": lambda rng, x: nested(x) * 1e-290,
    "huge": lambda rng, x: nested(x) * 1e290,
    "largest": lambda rng, x: nested(x) * 1.7e308,
    "subnormal": lambda rng, x: np.rint(5 * nested(x)) * 5e-324,
    "outlier": lambda rng, x: np.where(np.arange(x.size) == 0, 1e300, nested(x)),
    "constant": lambda rng, x: np.ones(x.size),
    "counts": lambda rng, x: rng.poisson(np.exp(nested(x))),
    "negative": lambda rng, x: -np.exp(x),
    "two targets": lambda rng, x: np.column_stack([nested(x), nested(x) * 1e-200]),
    "truths": lambda rng, x: x > 0,
    "labels": lambda rng, x: np.where(x > 0, "yes", "no"),
    "three": lambda rng, x: np.array(["low", "mid", "top"])[np.digitize(x, [-0.5, 0.5])],
    "rare": lambda rng, x: np.where(np.arange(x.size) == 0, "rare", "common"),
    "all different": lambda rng, x: np.arange(x.size),
    "labels with gaps": lambda rng, x: np.where(x > 0, "yes", None),
    "gaps": lambda rng, x: np.where(x > 1, np.nan, x),
    "days": lambda rng, x: np.datetime64("2020-01-01") + np.arange(x.size).astype("m8[D]"),
    "masked": lambda rng, x: np.ma.masked_array(x, x > 1),
}

WEIGHTS = {
    "none": lambda rng, n: None,
    "ones": lambda rng, n: np.ones(n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "tiny": lambda rng, n: rng.uniform(size=n) * 1e-300,
    "huge": lambda rng, n: rng.uniform(size=n) * 1e300,
    "one heavy": lambda rng, n: np.where(np.arange(n) == 0, 1e300, 1.0),
    "heavy": lambda rng, n: np.where(np.arange(n) == 0, 1e11, 1.0),
    "all magnitudes": lambda rng, n: 10.0 ** rng.integers(-300, 300, n),
    "mostly zero": lambda rng, n: (np.arange(n) < 2).astype(float),
    "zero": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: -np.ones(n),
    "gaps": lambda rng, n: np.array(with_gaps(rng, [1.0] * n)),
    "days": lambda rng, n: np.arange(n).astype("m8[D]"),
}

REGRESSION = [*list(TARGETS)[:10], "gaps", "days", "masked", "labels"]
CLASSES = [
    "truths",
    "labels",
    "three",
    "rare",
    "all different",
    "labels with gaps",
    "counts",
    "gaps",
]


@st.composite
def cases(draw):
    """What is fitted: settings of an estimator, a table, a target and weights, by their names."""
    classes = draw(st.booleans())
    return {
        "classes": classes,
        "form": draw(st.sampled_from(["pandas", "pandas", "polars", "array", "masked"])),
        "columns": draw(st.lists(st.sampled_from([*COLUMNS, *SOUND]), min_size=1, max_size=4)),
        "informative": draw(st.booleans()),
        "names": draw(st.permutations(NAMES) | st.sampled_from([NAMES] * 9 + ODD_NAMES)),
        "n": draw(st.sampled_from([1, 2, 3, 5, 12, 30, 60, 60, 60])),
        "target": draw(st.sampled_from(CLASSES if classes else REGRESSION)),
        "weight": draw(st.sampled_from(["none"] * 5 + list(WEIGHTS))),
        "seed": draw(st.integers(0, 99)),
        "missing": draw(st.sampled_from(["error", "impute", "impute"])),
        "loss": draw(st.sampled_from(["squared", "squared", "poisson", "pinball"])),
        "solver": draw(st.sampled_from(["profile", "profile", "alternating"])),
        "class_weight": draw(st.sampled_from([None, None, "balanced"])),
    }


def table_of(case, x, rng):
    """The table of a case, in its form; an array has numbers alone."""
    kinds = case["columns"]
    if case["form"] in ("array", "masked"):
        kinds = [kind for kind in kinds if kind in NUMERIC]
        values = [np.asarray(COLUMNS[kind](rng, x.size)) for kind in kinds]
        X = np.column_stack([x, *values]) if case["informative"] or not values else None
        X = np.column_stack(values) if X is None else X
        return X if case["form"] == "array" else np.ma.masked_equal(X, X[0, 0])
    columns = [COLUMNS[kind](rng, x.size) for kind in kinds]
    columns = [x, *columns] if case["informative"] else columns
    names = case["names"][: len(columns)]
    if case["form"] == "polars" and "complex" not in kinds:
        try:
            series = [
                pl.Series(str(k), list(c), strict=False)
                for k, c in zip(names, columns, strict=True)
            ]
            return pl.DataFrame(series)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            pass  # polars has no such column
    return pd.concat([pd.Series(c) for c in columns], axis=1, keys=range(len(names))).set_axis(
        pd.Index(names, tupleize_cols=False), axis=1
    )


def fit_of(case):
    """The model, and its table."""
    rng = np.random.default_rng(case["seed"])
    x = rng.normal(size=case["n"])
    X = table_of(case, x, rng)
    y, weight = TARGETS[case["target"]](rng, x), WEIGHTS[case["weight"]](rng, case["n"])
    refine = None if case["solver"] == "alternating" else "auto"
    shared = TINY | {"missing": case["missing"], "solver": case["solver"], "refine": refine}
    if case["classes"]:
        model = SRFFClassifier(**shared, class_weight=case["class_weight"])
    else:
        model = SRFFRegressor(**shared, loss=case["loss"])
    return model.fit(X, y, sample_weight=weight), X


def check_model(model, X):
    """Finite predictions of the right shape, and a support that is what the scales say."""
    n, d = X.shape
    assert model.n_features_in_ == d
    assert model.scale_.shape == (d,)
    assert np.isfinite(model.scale_).all()
    assert (model.scale_ >= 0).all()
    np.testing.assert_array_equal(model.get_support(), model.scale_ > 0)
    assert model.transform(X).shape == (n, model.get_support().sum()) or not model.scale_.any()
    assert np.isfinite(model.coefficients_).all()
    assert str(model)
    if isinstance(model, SRFFClassifier):
        chances = model.predict_proba(X)
        assert chances.shape == (n, model.classes_.size)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert set(model.predict(X)) <= set(model.classes_)
    else:
        predictions = model.predict(X)
        assert predictions.shape == (n, *(() if model.n_targets_ is None else (model.n_targets_,)))
        assert np.isfinite(predictions).all()


def check(case):
    """The whole promise for one case."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model, X = fit_of(case)
        except (ValueError, TypeError) as error:
            text = str(error)
            assert len(text.split()) > 3, text
            assert not any(word in text for word in RAW), text
        else:
            check_model(model, X)
    texts = [str(warning.message) for warning in said]
    assert len(texts) <= MOST_WARNINGS, texts


QUIET = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=60, **QUIET)
@given(cases())
def test_a_fit_of_any_table_ends_in_a_sound_model_or_in_a_sentence(case):
    check(case)


@pytest.mark.slow
@settings(max_examples=600, **QUIET)
@given(cases())
def test_a_fit_of_very_many_tables_ends_in_a_sound_model_or_in_a_sentence(case):
    check(case)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_kind_beside_a_number(kind):
    plain = {"form": "pandas", "informative": True, "names": NAMES, "n": 30, "target": "function"}
    plain |= {"weight": "none", "seed": 0, "loss": "squared", "solver": "profile"}
    for missing in ("error", "impute"):
        check(plain | {"classes": False, "columns": [kind], "missing": missing})
