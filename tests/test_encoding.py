"""Encodings: scikit-learn's encoders are what they are compared with."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff.data.encoding.columns import Category, Encoding, Number
from srff.data.encoding.learning import learn_encoding, median
from srff.data.encoding.level_means import level_sums
from srff.data.encoding.outcome import Outcome

LETTERS = np.array(list("abcdefghijklmnopqrst"), dtype=object)


def levels(*sizes):
    return tuple(LETTERS[:k] if k else None for k in sizes)


def codes(*columns):
    return np.stack([np.asarray(c, dtype=float) for c in columns], axis=1)


def random_codes(n=400, k=20, seed=0):
    rng = np.random.RandomState(seed)
    own = rng.randint(0, k, n).astype(float)
    own[:k] = np.arange(k)
    return own, np.sin(own) + rng.standard_normal(n)


def test_numbers_without_gaps_need_no_encoding():
    X = np.arange(6.0).reshape(3, 2)
    encoding, encoded = learn_encoding(X, None, (None, None))
    assert encoding.trivial
    np.testing.assert_array_equal(encoded, X)
    assert encoding.source.tolist() == [0, 1]
    assert not encoding.joint.any()


def test_one_hot_columns_are_those_of_scikit_learn():
    own = np.array([0.0, 1, 2, np.nan, 1])
    X = codes(own, np.arange(5))
    encoding, encoded = learn_encoding(X, None, levels(3, 0), "onehot", "impute")
    new = np.array([2, np.nan, -1, 0])
    reference = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(own[:, None])
    np.testing.assert_array_equal(encoded[:, :4], reference.transform(own[:, None]))
    np.testing.assert_array_equal(
        encoding(codes(new, new))[:, :4], reference.transform(new[:, None])
    )
    assert encoding.source.tolist() == [0, 0, 0, 0, 1]
    assert encoding.joint.tolist() == [True] * 4 + [False]
    names = encoding.names(["c", "x"], levels(3, 0))
    assert names == ["c=a", "c=b", "c=c", "c missing", "x"]


@pytest.mark.parametrize("how", ["auto", "onehot"])
def test_two_levels_are_one_column_of_zeros_and_ones(how):
    known = (np.array([False, True]),)
    encoding, encoded = learn_encoding(codes([1, 0, 1]), None, known, how)
    assert encoded.tolist() == [[1], [0], [1]]
    assert encoding.names(["flag"], known) == ["flag=True"]
    assert not encoding.joint.any()
    assert encoding(codes([-1])).tolist() == [[0]]


def test_one_level_or_none_gives_a_constant():
    encoding, encoded = learn_encoding(
        codes([0, 0], [np.nan, np.nan], [np.nan, np.nan]), None, levels(1, 0, 0), missing="impute"
    )
    assert np.ptp(encoded, axis=0).max() == 0
    empty, encoded = learn_encoding(codes([np.nan, np.nan]), None, (LETTERS[:0],), missing="impute")
    assert np.ptp(encoded, axis=0).max() == 0
    assert empty(codes([-1, np.nan])).shape == (2, empty.width)
    assert encoding.columns[1] == Number(0.0, True)


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore", min_frequency=3),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3),
        OneHotEncoder(handle_unknown="ignore", drop="first"),
    ],
)
def test_the_settings_of_a_one_hot_encoder_hold(encoder):
    own = np.repeat(np.arange(5.0), [1, 2, 3, 4, 5])
    encoding, encoded = learn_encoding(codes(own), None, levels(5), encoder)
    reference = OneHotEncoder(**encoder.get_params() | {"sparse_output": False})
    np.testing.assert_array_equal(encoded, reference.fit_transform(own[:, None]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unseen = reference.transform([[-1.0]])
    np.testing.assert_array_equal(encoding(codes([-1])), unseen)
    assert not hasattr(encoder, "categories_")


def test_columns_of_several_levels_are_named_after_all_of_them():
    own = np.repeat(np.arange(3.0), [1, 1, 5])
    encoder = OneHotEncoder(min_frequency=2)
    encoding, _ = learn_encoding(codes(own), None, levels(3), encoder)
    assert encoding.names(["c"], levels(3)) == ["c=c", "c=a|b"]
    numbers = (np.array([1.0, 2.5, 8001.0]),)
    assert encoding.names(["c"], numbers) == ["c=8001", "c=1|2.5"]


def test_an_encoder_that_refuses_unseen_levels_is_obeyed():
    encoding, _ = learn_encoding(codes([0, 1, 2]), None, levels(3), OneHotEncoder())
    with pytest.raises(ValueError, match="Column 'c' holds a level that the fit did not see in r"):
        encoding(codes([0, -1]), ["c"])


@pytest.mark.parametrize("smooth", ["auto", 0.0, 7.5])
@pytest.mark.parametrize("gaps", [False, True])
def test_target_means_are_those_of_scikit_learn(smooth, gaps):
    own, y = random_codes()
    if gaps:
        own[5::40] = np.nan
    folds = KFold(4, shuffle=True, random_state=3)
    encoding, encoded = learn_encoding(
        codes(own), y, levels(20), TargetEncoder(smooth=smooth, cv=folds), "impute"
    )
    reference = TargetEncoder(smooth=smooth, target_type="continuous").fit(own[:, None], y)
    new = np.array([0, 7, -1, np.nan])
    np.testing.assert_allclose(
        encoding(codes(new)), reference.transform(new[:, None]), rtol=1e-12, atol=1e-14
    )
    expected = np.empty((y.size, 1))
    for train, test in folds.split(own):
        part = TargetEncoder(smooth=smooth, target_type="continuous").fit(
            own[train, None], y[train]
        )
        expected[test] = part.transform(own[test, None])
    np.testing.assert_allclose(encoded, expected, rtol=1e-12, atol=1e-14)
    assert encoding.names(["c"], levels(20)) == ["c mean"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_target_means_of_classes_are_those_of_scikit_learn(n_classes):
    own, y = random_codes()
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    encoding, _ = learn_encoding(
        codes(own), Outcome(n_classes)(y)[0], levels(20), TargetEncoder(cv=KFold(5))
    )
    reference = TargetEncoder().fit(own[:, None], y)
    new = np.array([0.0, 7, -1])
    np.testing.assert_allclose(encoding(codes(new)), reference.transform(new[:, None]), rtol=1e-12)
    assert encoding.width == (1 if n_classes == 2 else 3)
    assert not encoding.joint.any()


def test_several_targets_have_a_mean_each():
    own, y = random_codes()
    both, encoded = learn_encoding(codes(own), np.stack([y, y**2], 1), levels(20), "target")
    assert encoded.shape == (400, 2)
    for j, target in enumerate((y, y**2)):
        one, _ = learn_encoding(codes(own), target, levels(20), "target")
        np.testing.assert_allclose(both.columns[0].table[:, j], one.columns[0].table[:, 0])


def test_auto_takes_means_above_sixteen_levels():
    own, y = random_codes(k=20)
    few = own % 16
    encoding, encoded = learn_encoding(codes(few, own), y, levels(16, 20))
    assert encoding.source.tolist() == [0] * 16 + [1]
    assert encoded.shape == (400, 17)


def test_the_mean_of_a_row_does_not_know_its_own_target():
    own, y = random_codes(n=300)
    _, before = learn_encoding(codes(own), y, levels(20), "target", random_state=0)
    # A level of one row: its code must be a mean of other rows, whatever its target.
    alone = np.where(own == 7, 8.0, own)
    alone[0], y[0] = 7, 1e6
    _, after = learn_encoding(codes(alone), y, levels(20), "target", random_state=0)
    assert abs(before[0, 0]) < 10
    assert abs(after[0, 0]) < 10


def test_a_weight_is_a_row_written_as_often_and_order_does_not_matter():
    own, y = random_codes(n=100)
    x = np.random.RandomState(1).standard_normal(100)
    x[::7] = np.nan
    w = np.random.RandomState(2).randint(1, 4, 100)
    X = codes(own, x)
    options = {"how": "target", "missing": "impute", "random_state": 0}
    weighted, rows = learn_encoding(X, y, levels(20, 0), weight=w.astype(float), **options)
    written = np.repeat(np.arange(100), w)[::-1]
    repeated, more = learn_encoding(X[written], y[written], levels(20, 0), **options)
    assert weighted.columns[1] == repeated.columns[1]
    np.testing.assert_allclose(weighted.columns[0].table, repeated.columns[0].table, rtol=1e-12)
    np.testing.assert_allclose(rows[written], more, rtol=1e-10)


def test_sums_of_parts_are_those_of_the_whole():
    own, y = random_codes()
    own[3::50] = np.nan
    targets, w = np.stack([y, y**2], 1), np.random.RandomState(0).uniform(0.5, 2, y.size)
    whole = level_sums(own, targets, w, 20)
    parts = level_sums(own[:9], targets[:9], w[:9], 20)
    parts = parts.plus(level_sums(own[9:], targets[9:], w[9:], 20))
    for name in ("weight", "mean", "scatter"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-12)
    mean, variance = whole.total()
    np.testing.assert_allclose(mean, np.average(targets, axis=0, weights=w))
    np.testing.assert_allclose(variance, np.average((targets - mean) ** 2, axis=0, weights=w))


def test_gaps_are_filled_with_the_median_and_marked_where_there_were_any():
    X = codes([1, np.nan, 3, 10], [4, 5, 6, 7])
    encoding, encoded = learn_encoding(X, None, (None, None), missing="impute")
    assert encoding.columns == (Number(3.0, True), Number(5.5, False))
    np.testing.assert_array_equal(encoded[1], [3, 1, 5])
    np.testing.assert_array_equal(encoding(codes([np.nan], [np.nan])), [[3, 1, 5.5]])
    assert encoding.names(["a", "b"], (None, None)) == ["a", "a missing", "b"]
    assert not encoding.trivial


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_a_weighted_median_is_that_of_repeated_rows(n):
    rng = np.random.RandomState(n)
    for _ in range(20):
        x, w = rng.standard_normal(n), rng.randint(1, 4, n)
        assert median(x, w.astype(float)) == pytest.approx(np.median(np.repeat(x, w)), rel=1e-15)
        assert median(x) == pytest.approx(np.median(x), rel=1e-15)


@pytest.mark.parametrize("missing", ["error", "impute"])
def test_infinity_is_refused(missing):
    with pytest.raises(ValueError, match="Column 'b' holds infinity in row 1"):
        learn_encoding(
            codes([1, 2], [3, np.inf]), None, (None, None), missing=missing, names=["a", "b"]
        )
    encoding, _ = learn_encoding(codes([1, 2]), None, (None,), missing=missing)
    with pytest.raises(ValueError, match="Column 0 holds infinity in row 0"):
        encoding(codes([-np.inf]))


@pytest.mark.parametrize("known", [(None,), levels(2)])
def test_a_gap_is_refused_unless_it_is_to_be_filled(known):
    with pytest.raises(ValueError, match=r"Column 0 holds a missing value or NaN in row 1.*impute"):
        learn_encoding(codes([0, np.nan, 1]), None, known)
    encoding, _ = learn_encoding(codes([0, 1]), None, known)
    with pytest.raises(ValueError, match="Column 'c' holds a missing value or NaN in row 2"):
        encoding(codes([0, 1, np.nan]), ["c"])


def test_a_category_that_was_never_missing_treats_a_gap_as_unseen():
    own, y = random_codes()
    X = codes(own % 3, own)
    encoding, _ = learn_encoding(X, y, levels(3, 20), missing="impute")
    np.testing.assert_array_equal(encoding(codes([np.nan], [np.nan])), encoding(codes([-1], [-1])))
    np.testing.assert_allclose(encoding(codes([-1], [-1]))[0], [0, 0, 0, y.mean()])


def mixed():
    table = np.arange(20.0).reshape(5, 4)
    return Encoding((Number(1.5, True), Category(table, joint=True), Number(), Number(2.0, True)))


@pytest.mark.parametrize("columns", [[0], [1], [0, 1], [5, 2], [7, 0, 3, 6], [8, 1, 4], range(9)])
def test_some_encoded_columns_need_only_their_own_columns(columns):
    encoding, columns = mixed(), np.array(columns)
    X = codes([1, np.nan, 2], [0, 2, -1], [3, 4, 5], [np.nan, 7, 8])
    some, needed = encoding.take(columns), encoding.needed(columns)
    expected = encoding(X)[:, columns]
    np.testing.assert_array_equal(some(X[:, needed]), expected)
    np.testing.assert_array_equal(needed[some.source], encoding.source[columns])
    np.testing.assert_array_equal(some.joint, encoding.joint[columns])
    assert some.width == len(columns)
    again = some.take(np.arange(len(columns))[::-1])
    np.testing.assert_array_equal(again(X[:, needed]), expected[:, ::-1])
    known = (None, LETTERS[:3], None, None)
    names = encoding.names(list("wxyz"), known)
    picked = some.names([list("wxyz")[k] for k in needed], tuple(known[k] for k in needed))
    assert [n.split("=")[0] for n in picked] == [names[k].split("=")[0] for k in columns]


def test_an_encoding_travels():
    encoding = mixed()
    X = codes([1, np.nan], [0, 2], [3, 4], [np.nan, 7])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoding))(X), encoding(X))


def test_classes_become_indicators_and_weights():
    own = np.array([[0.0], [2.0], [1.0]])
    target, weight = Outcome(3, np.array([1.0, 2.0, 4.0]))(own, np.array([1.0, 1.0, 3.0]))
    assert target.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert weight.tolist() == [1, 4, 6]
    target, weight = Outcome(2)(own[[0, 2]])
    assert target.tolist() == [[0], [1]]
    assert weight is None
    assert (Outcome(2).width, Outcome(3).width) == (1, 3)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("binary", "categories='binary' is unknown; accepted: 'auto', 'onehot', 'target'"),
        (OneHotEncoder(categories=[["a"]]), "they must be 'auto'"),
        (OneHotEncoder(drop=["a"]), "drop=None, 'first' or 'if_binary'"),
        (None, "categories=None is unknown"),
    ],
)
def test_what_is_no_way_to_encode_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        learn_encoding(codes([0, 1]), None, levels(2), how)
    with pytest.raises(ValueError, match="missing='drop' is unknown"):
        learn_encoding(codes([0, 1]), None, levels(2), missing="drop")
    with pytest.raises(ValueError, match="means of the target, and there is none"):
        learn_encoding(codes([0, 1]), None, levels(2), "target")
