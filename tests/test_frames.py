"""Data frames as codes: the same levels from every library and dtype, and errors that say where."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest
from scipy.sparse import csr_array

from srff.data.encoding.frames import coded, has_categories, learn_levels
from srff.data.encoding.table_columns import is_frame

pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")
pl = pytest.importorskip("polars", reason="polars is not installed (extra: test)")

COLOURS = ["red", "blue", None, "green", "red"]
CODES = [2, 0, np.nan, 1, 2]
TEXTS = {
    "pandas object": lambda v: pd.DataFrame({"c": pd.Series(v, dtype=object)}),
    "pandas NaN": lambda v: pd.DataFrame(
        {"c": pd.Series([np.nan if x is None else x for x in v], dtype=object)}
    ),
    "pandas string": lambda v: pd.DataFrame({"c": pd.array(v, dtype="string")}),
    "pandas string[pyarrow]": lambda v: pd.DataFrame({"c": pd.array(v, dtype="string[pyarrow]")}),
    "pandas arrow": lambda v: pd.DataFrame({"c": pd.array(v, dtype=pd.ArrowDtype(pa.string()))}),
    "pandas arrow dictionary": lambda v: pd.DataFrame(
        {"c": pd.array(v, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))}
    ),
    "pandas category": lambda v: pd.DataFrame({"c": pd.Categorical(v)}),
    "pandas ordered": lambda v: pd.DataFrame(
        {"c": pd.Categorical(v, categories=["unused", "green", "red", "blue"], ordered=True)}
    ),
    "polars text": lambda v: pl.DataFrame({"c": v}),
    "polars category": lambda v: pl.DataFrame({"c": pl.Series(v, dtype=pl.Categorical)}),
    "polars enum": lambda v: pl.DataFrame(
        {"c": pl.Series(v, dtype=pl.Enum(["green", "unused", "red", "blue"]))}
    ),
    "arrow text": lambda v: pa.record_batch({"c": pa.array(v)}),
    "arrow large text": lambda v: pa.record_batch({"c": pa.array(v, pa.large_string())}),
    "arrow dictionary": lambda v: pa.record_batch({"c": pa.array(v).dictionary_encode()}),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_level_is_the_same_level_in_every_library_and_dtype(kind):
    X = TEXTS[kind](COLOURS)
    assert has_categories(X)
    (levels,) = learn_levels(X)
    assert levels.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(coded(X, (levels,))[:, 0], CODES)
    known = (np.array(["blue", "red"], dtype=object),)
    np.testing.assert_array_equal(coded(X, known)[:, 0], [1, 0, np.nan, -1, 1])


BOOLEANS = {
    "pandas": lambda: pd.DataFrame({"b": [True, False, True]}),
    "pandas nullable": lambda: pd.DataFrame({"b": pd.array([True, False, None], dtype="boolean")}),
    "pandas object": lambda: pd.DataFrame({"b": pd.Series([True, False, None], dtype=object)}),
    "pandas arrow": lambda: pd.DataFrame(
        {"b": pd.array([True, False, None], dtype=pd.ArrowDtype(pa.bool_()))}
    ),
    "polars": lambda: pl.DataFrame({"b": [True, False, None]}),
    "arrow": lambda: pa.record_batch({"b": pa.array([True, False, None])}),
}


@pytest.mark.parametrize("kind", BOOLEANS)
def test_booleans_are_two_levels(kind):
    X = BOOLEANS[kind]()
    levels = learn_levels(X)
    assert has_categories(X)
    assert levels[0].tolist() == [False, True]
    np.testing.assert_array_equal(coded(X, levels)[:2, 0], [1, 0])
    if kind != "pandas":
        assert np.isnan(coded(X, levels)[2, 0])


NUMBERS = {
    "pandas": lambda: pd.Series([1.5, 2.0, np.nan]),
    "pandas Float64": lambda: pd.array([1.5, 2, None], dtype="Float64"),
    "pandas object": lambda: pd.Series([1.5, 2, None], dtype=object),
    "pandas decimal": lambda: pd.Series([Decimal("1.5"), Decimal(2), None], dtype=object),
    "pandas arrow": lambda: pd.array([1.5, 2, None], dtype=pd.ArrowDtype(pa.float64())),
    "polars": lambda: pl.Series([1.5, 2.0, None]),
    "polars NaN": lambda: pl.Series([1.5, 2.0, float("nan")]),
    "polars decimal": lambda: pl.Series([Decimal("1.5"), Decimal(2), None]),
    "arrow": lambda: pa.array([1.5, 2, None]),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_stay_numbers_and_gaps_are_nan(kind):
    column = NUMBERS[kind]()
    make = {"pola": pl.DataFrame, "arro": pa.record_batch}.get(kind[:4], pd.DataFrame)
    X = make({"x": column})
    assert not has_categories(X)
    assert learn_levels(X) == (None,)
    np.testing.assert_array_equal(coded(X, (None,))[:, 0], [1.5, 2, np.nan])


def test_whole_numbers_of_nullable_and_sparse_columns_are_numbers():
    X = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "s": pd.arrays.SparseArray([0.0, 0.0, 2.0]),
            "u": np.array([1, 2, 3], dtype=np.uint8),
        }
    )
    assert not has_categories(X)
    np.testing.assert_array_equal(coded(X, learn_levels(X)), [[1, 0, 1], [np.nan, 0, 2], [3, 2, 3]])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("categorical", [["kind"], [1], [-1], [False, True]])
def test_columns_of_numbers_are_categories_where_they_are_named(make, categorical):
    X = make({"x": [1.0, 2.0, 3.0], "kind": [30, 10, 30]})
    levels = learn_levels(X, categorical)
    assert levels[0] is None
    assert levels[1].tolist() == [10, 30]
    assert has_categories(X, categorical)
    np.testing.assert_array_equal(coded(X, levels)[:, 1], [1, 0, 1])
    # The same numbers as floats, as a gap would make them, are the same levels.
    np.testing.assert_array_equal(
        coded(make({"x": [1.0, 2.0], "kind": [30.0, None]}), levels)[:, 1], [1, np.nan]
    )


def test_columns_of_arrays_are_categories_only_where_they_are_named():
    X = np.array([[3.0, 1.0], [np.nan, 2.0], [7.0, 3.0]])
    assert not has_categories(X)
    assert learn_levels(X) == (None, None)
    levels = learn_levels(X, [0])
    assert levels[0].tolist() == [3, 7]
    np.testing.assert_array_equal(coded(X, levels)[:, 0], [0, np.nan, 1])
    mixed = [["a", 1.0], [None, 2.0], ["b", None]]
    levels = learn_levels(mixed, [0])
    np.testing.assert_array_equal(coded(mixed, levels), [[0, 1], [np.nan, 2], [1, np.nan]])
    np.testing.assert_array_equal(coded(np.array([["b"], ["z"]]), (levels[0],))[:, 0], [1, -1])


def test_intervals_and_whole_numbers_are_levels_of_pandas_categories():
    X = pd.DataFrame({"cut": pd.cut([1, 5, 9], [0, 4, 10]), "n": pd.Categorical([3, None, 1])})
    levels = learn_levels(X)
    assert levels[0].tolist() == ["(0, 4]", "(4, 10]"]
    assert levels[1].tolist() == [1, 3]
    np.testing.assert_array_equal(coded(X, levels), [[0, 1], [1, np.nan], [1, 0]])


def test_only_the_columns_that_are_asked_for_are_read():
    X = pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"], "d": ["u", "v"]})
    levels = learn_levels(X)
    np.testing.assert_array_equal(coded(X, levels, [2, 0]), [[0, 1], [1, 2]])
    wrong = X.assign(c=pd.to_datetime(["2020-01-01"] * 2))
    np.testing.assert_array_equal(coded(wrong, levels, [2, 0]), [[0, 1], [1, 2]])


def test_a_column_without_any_value_has_no_level():
    X = pd.DataFrame({"c": pd.Categorical([None, None], categories=["a"])})
    levels = learn_levels(X)
    assert levels[0].size == 0
    np.testing.assert_array_equal(coded(X, levels), [[np.nan], [np.nan]])
    assert coded(pd.DataFrame({"c": ["a"]}), levels).tolist() == [[-1]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"day": [pd.Timedelta(3)]}),
        pd.DataFrame({"day": [datetime.time(3)]}),
        pd.DataFrame({"day": pd.period_range("2020", periods=1)}),
        pl.DataFrame({"day": [datetime.timedelta(1)]}),
        pl.DataFrame({"day": [datetime.time(3)]}),
        pa.record_batch({"day": pa.array([datetime.timedelta(1)])}),
        pd.DataFrame({"day": [[1, 2]]}),
        pd.DataFrame({"day": [1 + 2j]}),
    ],
)
def test_durations_times_and_other_things_are_refused_by_name(frame):
    assert has_categories(frame)
    with pytest.raises(ValueError, match=r"Column 'day' holds .*are accepted"):
        learn_levels(frame)
    for levels in ((None,), (np.array(["a"], dtype=object),)):
        with pytest.raises(ValueError, match="Column 'day' holds"):
            coded(frame, levels)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_that_held_something_else_in_the_fit_is_named(make):
    with pytest.raises(ValueError, match=r"In column 'x', row 1, there is 'b'; numbers"):
        coded(make({"x": [None, "b"]}), (None,))
    text = (np.array(["a", "b"], dtype=object),)
    with pytest.raises(ValueError, match=r"In column 'x' there is 3, a number; .* such as 'a'"):
        coded(make({"x": [3, 4]}), text)
    with pytest.raises(ValueError, match=r"In column 'x' there is 'a', text; .* such as 1"):
        coded(make({"x": ["a"]}), (np.array([1, 2]),))
    assert np.isnan(coded(make({"x": [None, None]}), text)).all()
    with pytest.raises(ValueError, match="X has 1 columns; the model was fitted on 2"):
        coded(make({"x": [1.0]}), (None, None))


def test_text_and_numbers_in_one_column_are_refused():
    with pytest.raises(ValueError, match=r"'m' there are both text \('a'\) and numbers \(1\)"):
        learn_levels(pd.DataFrame({"m": ["a", 1]}))


@pytest.mark.parametrize(
    ("categorical", "message"),
    [
        (["z"], "names 'z', which is no column"),
        ([5], "holds 5; X has 2 columns"),
        ([True], "a mask of 1; X has 2 columns"),
        ("auto", "categorical_features='auto' is unknown; accepted: 'from_dtype'"),
        ([1.5], r"holds 1\.5; accepted"),
        ([["a"]], r"has shape \(1, 1\)"),
    ],
)
def test_what_names_no_column_is_refused(categorical, message):
    with pytest.raises(ValueError, match=message):
        learn_levels(pd.DataFrame({"a": [1.0], "b": [2.0]}), categorical)


def test_names_of_columns_that_have_none_are_refused():
    with pytest.raises(ValueError, match="have no names"):
        learn_levels(np.zeros((2, 2)), ["a"])
    assert not is_frame(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"1 dimension.*Reshape your data"):
        learn_levels([1.0, 2.0], [0])
    with pytest.raises(TypeError, match="sparse"):
        coded(csr_array(np.eye(2)), (None, None))


def test_arrays_of_objects_are_numbers_where_they_can_be():
    X = np.array([[1, 2.5], [None, "3"]], dtype=object)
    np.testing.assert_array_equal(coded(X, (None, None)), [[1, 2.5], [np.nan, 3]])
    np.testing.assert_array_equal(coded([[pd.NA], [2]], (None,)), [[np.nan], [2]])
    with pytest.raises(TypeError, match="argument must be a string or a real number"):
        coded(np.array([[{"a": 1}]], dtype=object), (None,))
    with pytest.raises(ValueError, match="In column 0, row 1, there is 'x'; numbers are accepted"):
        coded([[1], ["x"]], (None,))
