"""How sure is it?  Units, splits and surfaces of ``srff.confidence``, on tables of every kind."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import srff
from srff import SRFFClassifier, SRFFRegressor, SRFFSelector, confidence
from srff.data import dataset
from srff.export.format.container import packed, unpacked
from srff.inference import rows as inference_rows

QUICK = {"effort": "quick", "n_components": 50, "max_iter": 5, "random_state": 0}


def product(n=300, d=6, seed=0):
    """A product of the columns 1 and 4, with a little noise."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] * X[:, 4] + 0.1 * rng.standard_normal(n)


@pytest.fixture(scope="module")
def found():
    return confidence(SRFFRegressor(**QUICK), *product())


def sure(X, y=None, make=SRFFRegressor, **settings):
    """The names of what is confirmed, in order."""
    given = {k: settings.pop(k) for k in ("sample_weight", "row_groups", "q") if k in settings}
    return sorted(confidence(make(**QUICK | settings), X, y, **given).confirmed)


# What is found.


def test_what_matters_is_confirmed_and_nothing_else(found):
    assert sorted(found.confirmed) == ["x1", "x4"]
    assert np.flatnonzero(found.support).tolist() == [1, 4]
    assert found.n_rows == 300
    assert (found.selected[:, [1, 4]]).all()
    assert (found.p_values[[1, 4]] <= 0.02).all()
    assert (found.p_values[[0, 2, 3, 5]] == 1).all()
    assert found.stability[0] == 1.0


def test_the_rise_of_a_product_is_what_independent_draws_would_make_of_it(found):
    # Without x1 the product is noise to the model: its loss rises by twice what it explained.
    X, y = product()
    expected = 2 * np.mean((X[:, 1] * X[:, 4]) ** 2)
    low, high = found.rise_interval
    for unit in (1, 4):
        assert found.rise[unit] == pytest.approx(expected, rel=0.25)
        assert low[unit] < found.rise[unit] < high[unit]
    assert found.gain == pytest.approx(np.var(y), rel=0.2)
    np.testing.assert_allclose(found.share[[0, 2, 3, 5]], 0)


def test_pure_noise_confirms_nothing():
    rng = np.random.RandomState(0)
    assert sure(rng.standard_normal((200, 8)), rng.standard_normal(200)) == []


@pytest.mark.slow
def test_a_model_that_is_given_is_neither_fitted_nor_changed():
    X, y = product()
    model = SRFFRegressor(**QUICK).fit(X, y)
    before = pickle.dumps(vars(model))
    confidence(model, X, y)
    assert pickle.dumps(vars(model)) == before
    fresh = SRFFRegressor(**QUICK)
    confidence(fresh, X, y)
    assert not hasattr(fresh, "scale_")


def same(one, other, order=slice(None), rtol=1e-6):
    """Whether two results are the same, the units of the second in another order."""
    for name in ("p_values", "e_values", "rise"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name)[order], rtol=rtol)


@pytest.mark.slow
def test_the_order_of_rows_and_columns_changes_nothing(found):
    X, y = product()
    rows, columns = np.random.RandomState(1).permutation(300), np.array([4, 0, 5, 1, 3, 2])
    same(found, confidence(SRFFRegressor(**QUICK), X[rows], y[rows]))
    # Sums over columns in another order are rounded in another way.
    moved = confidence(SRFFRegressor(**QUICK), X[:, columns], y)
    same(found, moved, np.argsort(columns), rtol=0.05)


def test_units_of_columns_and_of_the_target_change_nothing_but_the_unit_of_the_rise(found):
    X, y = product()
    other = confidence(SRFFRegressor(**QUICK), 8 * X, 4 * y)
    np.testing.assert_allclose(other.p_values, found.p_values)
    np.testing.assert_allclose(other.rise, 16 * found.rise, rtol=1e-5)


@pytest.mark.slow
def test_weights_that_are_copies_are_copies():
    X, y = product(200)
    often = np.random.RandomState(0).randint(0, 3, 200)
    weighted = confidence(SRFFRegressor(**QUICK), X, y, sample_weight=often)
    written = confidence(SRFFRegressor(**QUICK), np.repeat(X, often, 0), np.repeat(y, often))
    same(weighted, written)
    assert weighted.n_rows == often.sum()


@pytest.mark.slow
def test_weights_in_any_unit_are_the_same_weights():
    X, y = product(200)
    weight = np.random.RandomState(0).uniform(0.5, 1.5, 200)
    one = confidence(SRFFRegressor(**QUICK), X, y, sample_weight=weight)
    other = confidence(SRFFRegressor(**QUICK), X, y, sample_weight=1024 * weight)
    same(one, other)
    assert sorted(one.confirmed) == ["x1", "x4"]


@pytest.mark.slow
def test_the_seed_says_which_rows_are_set_aside(found):
    again = confidence(SRFFRegressor(**QUICK), *product())
    other = confidence(SRFFRegressor(**QUICK | {"random_state": 1}), *product())
    same(found, again)
    assert (found.rise[[1, 4]] != other.rise[[1, 4]]).all()


@pytest.mark.slow
def test_threads_change_nothing(found):
    same(found, confidence(SRFFRegressor(**QUICK, n_jobs=2), *product()))
    same(found, confidence(SRFFRegressor(**QUICK, n_jobs=1), *product()))


# Units.


def test_columns_that_are_almost_the_same_are_one_unit():
    X, y = product()
    X[:, 5] = X[:, 1] + 0.01 * X[:, 2]
    result = confidence(SRFFRegressor(**QUICK), X, y)
    assert sorted(result.confirmed) == ["x1 or x5", "x4"]
    assert result.unit_of.tolist() == [0, 1, 2, 3, 4, 1]
    assert result.near_copies.tolist() == [False, True, False, False, False]
    assert np.flatnonzero(result.support).tolist() == [1, 4, 5]


@pytest.mark.slow
def test_groups_are_units_with_the_names_that_they_were_given():
    X, y = product()
    assert sure(X, y, groups={"pair": [1, 2]}) == ["pair", "x4"]
    assert sure(X, y, groups=[[1, 2]]) == ["x1 + x2", "x4"]


def test_categories_and_gaps():
    pd = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    X = pd.DataFrame(rng.standard_normal((400, 3)), columns=["a", "b", "c"])
    X["colour"] = rng.choice(["red", "green", "blue"], 400)
    X["many"] = rng.choice([f"level {k}" for k in range(40)], 400)
    X.loc[rng.rand(400) < 0.2, "b"] = np.nan
    y = 2 * X["a"] + 2 * (X["colour"] == "red") + 2 * X["b"].isna() + rng.normal(0, 0.3, 400)
    assert sure(X, y.to_numpy(), missing="impute") == ["a", "b", "colour"]


def test_rows_of_a_group_are_set_aside_together(monkeypatch):
    X, y = product()
    patients = np.repeat(np.arange(60), 5)
    seen = []
    own = inference_rows.Rows.splits

    def watched(self, n_splits):
        splits = own(self, n_splits)
        seen.extend((set(self.groups[a]), set(self.groups[b])) for a, b in splits)
        return splits

    monkeypatch.setattr(inference_rows.Rows, "splits", watched)
    settings = {"row_groups": patients, "validation": GroupKFold(3)}
    assert sure(X, y, **settings) == ["x1", "x4"]
    assert len(seen) == 5
    assert all(not learn & aside for learn, aside in seen)


@pytest.mark.slow
def test_classes_counts_quantiles_and_several_targets():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((400, 5))
    inside = np.where(X[:, 1] ** 2 + X[:, 3] ** 2 < 1.4, "in", "out")
    assert sure(X, inside, SRFFClassifier) == ["x1", "x3"]
    three = np.digitize(X[:, 2] + 0.2 * rng.standard_normal(400), [-0.5, 0.5])
    assert sure(X, three, SRFFClassifier) == ["x2"]
    assert sure(X, rng.poisson(np.exp(X[:, 0])), loss="poisson") == ["x0"]
    assert sure(X, 3 * X[:, 4] + rng.standard_normal(400), loss="pinball") == ["x4"]
    assert sure(X, np.column_stack([X[:, 0], X[:, 2] ** 2])) == ["x0", "x2"]
    weight = {"in": 1.0, "out": 5.0}
    assert sure(X, inside, SRFFClassifier, class_weight=weight) == ["x1", "x3"]


def test_a_few_kinds_of_rows_are_shared_among_the_splits():
    rng = np.random.RandomState(0)
    X = rng.randint(0, 2, (400, 3)).astype(float)
    y = np.where(rng.rand(400) < 0.1 + 0.8 * X[:, 1], "yes", "no")
    assert sure(X, y, SRFFClassifier) == ["x1"]


# Sources.


@pytest.mark.slow
def test_files_and_blocks_say_what_arrays_say(tmp_path, found):
    pd = pytest.importorskip("pandas")
    X, y = product()
    names = [f"x{j}" for j in range(6)]
    pd.DataFrame(X, columns=names).assign(y=y).to_parquet(tmp_path / "t.parquet")
    same(found, confidence(SRFFRegressor(**QUICK), tmp_path / "t.parquet", "y"))
    blocks = [(X[:100], y[:100]), (X[100:], y[100:])]
    same(found, confidence(SRFFRegressor(**QUICK), blocks))


@pytest.mark.slow
def test_texts_weights_and_groups_of_files(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    table = pd.DataFrame({"a": rng.standard_normal(300), "b": rng.choice(["p", "q"], 300)})
    table["label"] = np.where(table["a"] + 2 * (table["b"] == "p") > 1, "yes", "no")
    table["weight"], table["patient"] = rng.randint(0, 3, 300), np.arange(300) // 3
    table.to_csv(tmp_path / "t.csv", index=False)
    model = SRFFClassifier(**QUICK)
    given = {"sample_weight": "weight", "row_groups": "patient"}
    result = confidence(model, tmp_path / "t.csv", "label", **given)
    assert sorted(result.confirmed) == ["a", "b"]
    assert result.n_rows == table["weight"].sum()


@pytest.mark.slow
def test_dask_says_what_arrays_say(found):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y = product()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]).assign(y=y)
    same(found, confidence(SRFFRegressor(**QUICK), dd.from_pandas(frame, npartitions=3), "y"))


@pytest.mark.slow
def test_polars_and_lists(found):
    pl = pytest.importorskip("polars")
    X, y = product()
    same(found, confidence(SRFFRegressor(**QUICK), pl.DataFrame(X), pl.Series(y)))
    same(found, confidence(SRFFRegressor(**QUICK), X.tolist(), y.tolist()))


def test_more_rows_than_are_held_in_memory_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(inference_rows, "STREAM_ROWS", 100)
    assert dataset.STREAM_ROWS > 100
    X, y = product()
    with pytest.raises(ValueError, match=r"at most 100 rows of files.*give it a sample"):
        confidence(SRFFRegressor(**QUICK), [(X[:60], y[:60]), (X[60:120], y[60:120])])


# What cannot be done.


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"q": 0}, ValueError, "q=0 must be a number between 0 and 1"),
        ({"q": "0.1"}, ValueError, "q='0.1' must be a number"),
        ({"n_splits": 1}, ValueError, "n_splits=1 must be an integer of at least 2"),
        ({"estimator": srff.RFFRegressor()}, TypeError, "a RFFRegressor; SRFFRegressor and SRFF"),
        ({"estimator": SRFFRegressor}, TypeError, "estimator is a ABCMeta"),
    ],
)
def test_bad_settings_are_named(settings, error, said):
    given = {"estimator": SRFFRegressor(**QUICK)} | settings
    with pytest.raises(error, match=said):
        confidence(given.pop("estimator"), *product(), **given)


def test_indices_of_rows_are_refused_for_every_split_has_its_own():
    X, y = product()
    model = SRFFRegressor(**QUICK, validation=[(np.arange(200), np.arange(200, 300))])
    with pytest.raises(ValueError, match="validation has indices of rows"):
        confidence(model, X, y)


def test_a_bad_value_is_named_by_its_place_in_the_whole_table():
    X, y = product()
    X[271, 3] = np.inf
    with pytest.raises(ValueError, match=r"row 271|271"):
        confidence(SRFFRegressor(**QUICK), X, y)


def test_a_class_of_one_row_cannot_be_learned_without_it():
    X, y = product(100)
    labels = np.where(y > 0, "a", "b").astype(object)
    labels[7] = "rare"
    with pytest.raises(ValueError, match="The class 'rare' is in too few rows"):
        confidence(SRFFClassifier(**QUICK), X, labels)


def test_one_group_of_rows_cannot_be_set_aside():
    X, y = product(50)
    with pytest.raises(ValueError, match="n_splits=5 needs at least 2 different groups of rows"):
        confidence(SRFFRegressor(**QUICK, validation=(X, y)), X, y, row_groups=np.zeros(50))


def test_two_rows_or_groups_leave_nothing_to_compare():
    X, y = product(50)
    with pytest.raises(ValueError, match=r"too few rows to learn from .* at least 3"):
        confidence(SRFFRegressor(**QUICK), X[:2], y[:2])
    with pytest.raises(ValueError, match=r"too few groups of rows .* at least 3"):
        confidence(SRFFRegressor(**QUICK), X, y, row_groups=np.arange(50) % 2)


@pytest.mark.parametrize("unit", [1e290, 1e-290])
def test_a_target_whose_squares_are_no_floats_is_refused(unit):
    X, y = product(60)
    with pytest.raises(ValueError, match="squares of it are beyond any float"):
        confidence(SRFFRegressor(**QUICK), X, unit * y)


@pytest.mark.slow
def test_weights_that_are_nothing_beside_others_are_none():
    X, y = product(90)
    nothing, tiny = (np.where(np.arange(90) % 3, 1.0, w) for w in (0.0, 1e-30))
    one = confidence(SRFFRegressor(**QUICK), X, y, sample_weight=nothing, n_splits=2)
    other = confidence(SRFFRegressor(**QUICK), X, y, sample_weight=tiny, n_splits=2)
    assert one.n_rows == other.n_rows == 60
    same(one, other, rtol=0)
    confidence(SRFFRegressor(**QUICK), X, y, sample_weight=2.0, n_splits=2)


def test_rows_that_only_the_places_of_their_columns_tell_apart_have_an_order():
    X = np.tile([[0.0, 0.0], [0, 1], [1, 0], [1, 1]], (20, 1))
    y, rows = np.tile([0, 1, 1, 0], 20), np.random.RandomState(3).permutation(80)
    one = confidence(SRFFClassifier(**QUICK), X, y, n_splits=2)
    other = confidence(SRFFClassifier(**QUICK), X[rows], y[rows], n_splits=2)
    same(one, other, rtol=0)
    np.testing.assert_array_equal(one.told_apart, other.told_apart)


def test_a_penalty_that_is_learned_ends_without_warnings():
    # A line search of one of these splits tries a penalty beyond any float.
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 5))
    y = X[:, 1] * X[:, 3] + 0.1 * rng.standard_normal(150)
    model = SRFFRegressor(**QUICK | {"n_components": 30, "max_iter": 3, "n_jobs": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        confidence(model, X, y, row_groups=np.arange(150) // 5)


@pytest.mark.slow
def test_few_rows_end_in_an_answer():
    X, y = product(12)
    result = confidence(SRFFRegressor(**QUICK), X, y)
    assert result.n_splits == 5
    assert result.p_values.size == 6


# Long work.


def test_progress_goes_forward_and_tells_the_split():
    told = []
    X, y = product(100)
    confidence(SRFFRegressor(**QUICK, callback=told.append), X, y, n_splits=3)
    done = [p.done for p in told]
    assert done == sorted(done)
    assert done[-1] == told[-1].total
    assert [p.stage for p in told][:1] == ["split 1 of 3"]
    assert {p.stage for p in told} >= {f"split {k} of 3" for k in (1, 2, 3)}


@pytest.mark.slow
def test_a_stopped_run_goes_on_from_its_steps(tmp_path):
    X, y = product(150)

    class Stop(Exception):
        pass

    def stop(progress):
        if progress.stage == "split 2 of 3":
            raise Stop

    folder = tmp_path / "steps"
    model = SRFFRegressor(**QUICK, checkpoint=folder)
    with pytest.raises(Stop):
        confidence(model.set_params(callback=stop), X, y, n_splits=3)
    assert (folder / "split-1").is_dir()
    evaluated = []
    again = confidence(model.set_params(callback=evaluated.append), X, y, n_splits=3)
    same(again, confidence(SRFFRegressor(**QUICK), X, y, n_splits=3))


# What people see.


def test_a_frame_has_a_row_for_each_unit(found):
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert frame["variable"].tolist()[:2] == found.confirmed
    assert frame["confirmed"].tolist() == [True, True, False, False, False, False]
    assert frame["selected_in"].tolist() == [5, 5, 0, 0, 0, 0]
    assert (frame["rise_low"] <= frame["rise"]).all()


def test_the_text_says_how_much_is_confirmed_and_at_which_rate(found):
    text = found.summary()
    first, second, third = text.split("\n")
    assert first.startswith("2 variables, all confirmed at FDR 10 %: x")
    assert second == "6 columns, 300 rows; 5 splits, each with a search of its own."
    assert third.startswith("Stability of the selection: 1.00, 95 % interval 1.00 to 1.00")
    assert repr(found).startswith("<Confidence: 2 variables, all confirmed at FDR 10 %: x")
    html = found._repr_html_()
    assert "<td>x1</td><td>yes</td><td>5/5</td>" in html


def test_the_first_sentence_is_the_answer(found):
    def first(**changes):
        return replace(found, **changes).summary().split("\n")[0]

    none = np.zeros_like(found.confirmed_units)
    assert first(confirmed_units=none) == "None of 2 selected variables is confirmed at FDR 10 %."
    one = none.copy()
    one[1] = True
    assert first(confirmed_units=one) == ("1 of 2 selected variables is confirmed at FDR 10 %: x1.")
    assert first(confirmed_units=one, doubtful=one).endswith("FDR 10 %: x1 (doubtful).")
    alone = found.selected & one
    assert first(selected=alone, confirmed_units=one) == "1 variable, confirmed at FDR 10 %: x1."
    assert first(selected=alone, confirmed_units=none) == (
        "The one selected variable is not confirmed at FDR 10 %."
    )
    assert first(selected=alone & False, confirmed_units=none) == (
        "No variable is confirmed at FDR 10 %: no split selected any."
    )


def test_what_cannot_be_trusted_is_said_wherever_it_is_shown(found):
    Figure = pytest.importorskip("matplotlib.figure").Figure
    odd = replace(found, doubtful=found.confirmed_units)
    assert "do not trust the p-value" in odd.summary()
    ax = odd.plot(ax=Figure(layout="constrained").subplots())
    assert all(label.get_text().endswith(" (doubtful)") for label in ax.get_yticklabels())


def test_columns_that_are_one_are_named_as_such(found):
    cluster = replace(found, near_copies=found.confirmed_units)
    assert "Tested as one, for they are almost functions of each other: x" in cluster.summary()


def test_names_of_columns_are_escaped():
    pd = pytest.importorskip("pandas")
    X, y = product()
    frame = pd.DataFrame(X, columns=["a", "<script>", "c", "d", "e\x1b[31m", "f"])
    result = confidence(SRFFRegressor(**QUICK), frame, y)
    assert "<script>" not in result._repr_html_()
    assert "\x1b" not in result.summary()


def test_a_model_tells_and_keeps_what_is_confirmed_until_it_is_fitted_again(found, tmp_path):
    X, y = product()
    model = SRFFRegressor(**QUICK).fit(X, y)
    model.confidence_ = found
    assert "all confirmed at a false discovery rate of 10 %" in repr(model)
    srff.save(model, tmp_path / "m.srff")
    loaded = srff.load(tmp_path / "m.srff")
    assert repr(loaded.confidence_) == repr(found)
    for name in ("p_splits", "selected", "rise_se", "told_apart", "unit_of"):
        np.testing.assert_array_equal(getattr(loaded.confidence_, name), getattr(found, name))
    page = loaded.report()
    assert "How sure it is" in page
    assert "of 6 variables are selected" in page
    assert "2 variables, all confirmed at FDR 10 %" in page
    assert "<p>All confirmed at a false discovery rate of 10 %.</p>" in page
    assert not hasattr(loaded.reduced(), "confidence_")
    assert not hasattr(loaded.fit(X, y), "confidence_")


ODD_RESULTS = {
    "a rate of nothing": ({"q": 0.0}, r"q is 0\.0; a number between 0 and 1"),
    "a rate of all": ({"q": 1.0}, r"q is 1\.0; a number between 0 and 1"),
    "a p-value of two": ({"p_values": np.full(6, 2.0)}, r"p_values has 2\.0"),
    "a p-value of nothing": ({"p_splits": np.full((5, 6), np.nan)}, "p_splits has nan"),
    "no unit": ({"unit_of": np.array([0, 0, 1, 2, 3, 4])}, "units without columns"),
    "a unit too many": ({"unit_of": np.array([0, 2**40, 1, 2, 3, 4])}, "units without columns"),
    "a share of two": ({"told_apart": np.full(6, 2.0)}, "shares that are not from 0 to 1"),
    "one split": (
        {name: lambda a: a[:1] for name in ("selected", "p_splits", "confirmed_splits")},
        "has 1 splits; at least 2",
    ),
    "no split": (
        {name: lambda a: a[:0] for name in ("selected", "p_splits", "confirmed_splits")},
        "has 0 splits; at least 2",
    ),
    "never chosen": ({"selected": np.zeros((5, 6), dtype=bool)}, "their splits did not choose"),
    "never confirmed": ({"confirmed_splits": np.zeros((5, 6), dtype=bool)}, "no split confirmed"),
    "no row": ({"n_rows": 0}, "n_rows is 0"),
    "a text": ({"rise": np.full(6, np.inf)}, "rise has inf"),
}


@pytest.mark.parametrize("name", ODD_RESULTS)
def test_a_file_that_says_of_variables_what_cannot_be_is_refused(found, tmp_path, name):
    model = SRFFRegressor(**QUICK).fit(*product())
    model.confidence_ = found
    srff.save(model, tmp_path / "m.srff")
    arrays, about = unpacked((tmp_path / "m.srff").read_bytes())
    changes, message = ODD_RESULTS[name]
    for part, new in changes.items():
        key = f"confidence_.{part}"
        if key in arrays:
            arrays[key] = new(arrays[key]) if callable(new) else np.asarray(new)
        else:
            about["values"][key] = new
    (tmp_path / "m.srff").write_bytes(packed(arrays, about))
    with pytest.raises(srff.ModelFileError, match=message):
        srff.load(tmp_path / "m.srff")


def test_what_is_not_confirmed_is_told_apart_from_what_is(found):
    X, y = product()
    model = SRFFRegressor(**QUICK).fit(X, y + X[:, 0])
    model.confidence_ = found
    assert "confirmed at a false discovery rate of 10 %: x" in repr(model)
    assert "not confirmed: x0" in repr(model)
    model = SRFFRegressor(**QUICK).fit(X, X[:, 1])
    model.confidence_ = found
    assert "confirmed too, though not in the model: x4" in repr(model)


def test_intervals_and_splits_are_drawn(found):
    Figure = pytest.importorskip("matplotlib.figure").Figure
    ax = found.plot(ax=Figure(layout="constrained").subplots())
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(names) == ["x1", "x4"]
    title = " ".join(ax.get_title(loc="left").split())
    assert title == "2 of 2 selected variables are confirmed at FDR 10 %"
    assert [text.get_text() for text in ax.texts] == ["5/5", "5/5", "splits"]
    assert len(srff.plot.confidence(found, top=1, ax=Figure().subplots()).get_yticklabels()) == 1
    rng = np.random.RandomState(0)
    none = confidence(SRFFRegressor(**QUICK), rng.standard_normal((100, 3)), rng.rand(100))
    if not none.chosen.size:
        assert "None of 3" in none.plot(ax=Figure().subplots()).texts[0].get_text()


# A step of a pipeline.


def test_the_selector_keeps_what_is_confirmed():
    X, y = product()
    steps = make_pipeline(StandardScaler(), SRFFSelector(SRFFRegressor(**QUICK)))
    assert steps.fit_transform(X, y).shape == (300, 2)
    assert steps[-1].get_feature_names_out().tolist() == ["x1", "x4"]
    assert sorted(steps[-1].confidence_.confirmed) == ["x1", "x4"]


def test_the_selector_takes_a_classifier_for_labels_of_text():
    X, y = product(100)
    labels = np.where(y > 0, "a", "b")
    assert isinstance(SRFFSelector()._estimator(labels), SRFFClassifier)
    assert isinstance(SRFFSelector()._estimator(y), SRFFRegressor)
    selector = SRFFSelector(SRFFClassifier(**QUICK), q=0.2, n_splits=3).fit(X, labels)
    assert selector.confidence_.q == 0.2
    assert selector.confidence_.n_splits == 3


def test_the_selector_gives_frames_for_frames():
    pd = pytest.importorskip("pandas")
    X, y = product()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = SRFFSelector(SRFFRegressor(**QUICK)).set_output(transform="pandas")
    assert selector.fit_transform(frame, y).columns.tolist() == ["b", "e"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_selector_passes_scikit_learns_checks():
    search = SRFFRegressor(n_components=10, max_iter=2, effort="quick", random_state=0)
    check_estimator(SRFFSelector(search, n_splits=2))


# The shell.


@pytest.mark.slow
def test_the_shell_says_what_is_confirmed(tmp_path):
    pd = pytest.importorskip("pandas")
    from typer.testing import CliRunner

    from srff.cli import app

    X, y = product()
    table, out = tmp_path / "t.csv", tmp_path / "m.srff"
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_csv(table, index=False)
    command = ["fit", str(table), "-t", "y", "-o", str(out), "--effort", "quick"]
    run = CliRunner().invoke(app, [*command, "--confidence", "--fdr", "0.2", "--json"])
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)["confidence"]
    assert sorted(told["confirmed"]) == ["b", "e"]
    assert told["q"] == 0.2
    assert all(0 < one["p_value"] < 0.1 for one in told["variables"] if one["confirmed"])
    run = CliRunner().invoke(app, ["report", str(out)])
    assert "confirmed at FDR 20 %: " in " ".join(run.stdout.split())
    for odd, said in (
        (["--fdr", "0.2"], "--fdr goes with --confidence"),
        (["--confidence", "--fdr", "2"], "--fdr 2 must be a number between 0 and 1"),
        (["--confidence", "--time", "a"], "--confidence and --time cannot be given together"),
    ):
        run = CliRunner().invoke(app, [*command, "--force", *odd])
        assert run.exit_code == 2
        assert said in " ".join(run.stderr.split())


def test_the_shell_refuses_before_it_learns(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    from typer.testing import CliRunner

    from srff.cli import app

    monkeypatch.setattr(SRFFClassifier, "fit", lambda *_: pytest.fail("it learns"))
    X, _ = product(60)
    labels = ["a"] * 30 + ["b"] * 29 + ["rare"]
    table, out = tmp_path / "t.csv", tmp_path / "m.srff"
    pd.DataFrame(X, columns=list("abcdef")).assign(y=labels).to_csv(table, index=False)
    run = CliRunner().invoke(app, ["fit", str(table), "-t", "y", "-o", str(out), "--confidence"])
    assert run.exit_code == 1
    assert "The class 'rare' is in too few rows" in " ".join(run.stderr.split())
