"""Odd tables: what could be taken for something else is refused at once, or read as it is meant."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from srff import SRFFClassifier, SRFFRegressor

TINY = {"effort": "quick", "n_components": 10, "max_iter": 2, "random_state": 0, "n_jobs": 1}
N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=N)
CLASSES = Y > 0
DAYS = np.datetime64("2020-01-01") + np.arange(N).astype("m8[D]")

regressor, classifier = SRFFRegressor(**TINY), SRFFClassifier(**TINY)


class TestTimes:
    @pytest.mark.parametrize("times", [DAYS, DAYS.astype("M8[ns]"), DAYS - DAYS[0]])
    def test_arrays_of_them_are_refused_wherever_they_are_given(self, times):
        two = np.column_stack([times, times])
        for table in (two, list(two), [list(row) for row in two]):
            with pytest.raises(ValueError, match=r"^X holds .*Make numbers of dates and times"):
                regressor.fit(table, Y)
        for model in (regressor, classifier):
            with pytest.raises(ValueError, match=r"^y holds "):
                model.fit(X, times)
        with pytest.raises(ValueError, match=r"^sample_weight holds "):
            regressor.fit(X, Y, sample_weight=times)
        with pytest.raises(ValueError, match=r"^X of block 0 holds "):
            regressor.fit([(two, Y)])

    def test_a_column_of_a_frame_is_named_in_a_fit_and_in_a_prediction(self):
        table = pd.DataFrame(X, columns=list("abc"))
        model = SRFFRegressor(**TINY).fit(table, Y)
        odd = table.assign(b=DAYS - DAYS[0])
        for use in (lambda: regressor.fit(odd, Y), lambda: model.predict(odd)):
            with pytest.raises(ValueError, match=r"^Column 'b' holds .*Make numbers of dates"):
                use()
        with pytest.raises(ValueError, match=r"^Column 'b' holds dates; numbers or categories"):
            model.predict(table.assign(b=DAYS))

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_a_column_of_a_file_is_named(self, tmp_path, kind):
        moments = DAYS - DAYS[0] if kind == "parquet" else "07:30:00"
        table = pd.DataFrame({"a": X[:, 0], "day": moments, "y": Y})
        path = tmp_path / f"t.{kind}"
        table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
        with pytest.raises(ValueError, match=r"column 'day' holds (time32|duration).*not numbers"):
            regressor.fit(path, "y")

    def test_dask_arrays_of_them_are_refused(self):
        da = pytest.importorskip("dask.array")
        with pytest.raises(ValueError, match="partition 0: X holds datetime64"):
            regressor.fit(da.from_array(DAYS[:, None]), da.from_array(Y))


class TestMaskedArrays:
    def test_masked_numbers_are_missing(self):
        masked = np.ma.masked_array(X, mask=X > 1)
        with pytest.raises(ValueError, match=r"NaN(.|\n)*In column 0, row \d+, there is nan"):
            regressor.fit(masked, Y)
        model = SRFFRegressor(**TINY, missing="impute").fit(masked, Y)
        gaps = np.where(X > 1, np.nan, X)
        same = SRFFRegressor(**TINY, missing="impute").fit(gaps, Y)
        np.testing.assert_array_equal(model.predict(masked), same.predict(gaps))

    def test_a_mask_that_hides_nothing_changes_nothing(self):
        whole = np.ma.masked_array(X, mask=False)
        expected = SRFFRegressor(**TINY).fit(X, Y).predict(X)
        np.testing.assert_array_equal(regressor.fit(whole, Y).predict(whole), expected)

    def test_masked_targets_weights_and_labels_are_refused(self):
        hidden = Y > 1
        with pytest.raises(ValueError, match="Input y contains NaN"):
            regressor.fit(X, np.ma.masked_array(Y, hidden))
        with pytest.raises(ValueError, match="Input sample_weight contains NaN"):
            regressor.fit(X, Y, np.ma.masked_array(np.ones(N), hidden))
        with pytest.raises(ValueError, match="Input y contains NaN"):
            classifier.fit(X, np.ma.masked_array(CLASSES.astype(int), hidden))
        with pytest.raises(ValueError, match="y has missing labels"):
            classifier.fit(X, np.ma.masked_array(np.where(CLASSES, "a", "b"), hidden))


def test_text_beside_numbers_is_no_set_of_labels():
    with pytest.raises(ValueError, match=r"y has both text \('a'\) and 1; make them one"):
        classifier.fit(X, np.array(["a", 1] * (N // 2), dtype=object))


def forms(table, folder):
    """The same table in memory and in files, by name."""
    polars = pytest.importorskip("polars")
    inputs, y = table.drop(columns="y"), table["y"].to_numpy()
    table.to_csv(folder / "t.csv", index=False)
    table.to_parquet(folder / "t.parquet")
    return {
        "pandas": (inputs, y),
        "objects": (inputs.astype({"a": object}), y),
        "polars": (polars.from_pandas(inputs), y),
        "csv": (folder / "t.csv", "y"),
        "parquet": (folder / "t.parquet", "y"),
        "blocks": ([(inputs, y)], None),
    }


class TestNumbersWithAStrayText:
    @pytest.mark.parametrize("stray", ["?", "-", "n.a.", "1 000"])
    def test_the_column_the_row_and_the_text_are_named(self, tmp_path, stray):
        numbers = [f"{value:.3f}" for value in X[:, 0]]
        numbers[17] = stray
        for form, given in forms(
            pd.DataFrame({"a": numbers, "b": X[:, 1], "y": Y}), tmp_path
        ).items():
            with pytest.raises(ValueError, match="Column 'a' holds text") as caught:
                regressor.fit(*given)
            assert (
                f"row 17{',' * (form not in ('pandas', 'objects', 'polars'))} has {stray!r}"
                in str(caught.value)
            ), form
            assert "name it in categorical_features" in str(caught.value)

    def test_few_numbers_many_times_are_seen_too(self, tmp_path):
        marks = [str(k % 4) for k in range(N)]
        marks[3] = "none"
        table = pd.DataFrame({"a": marks, "b": X[:, 1], "y": Y})
        for given in forms(table, tmp_path).values():
            with pytest.raises(ValueError, match=r"row 3,? has 'none'"):
                regressor.fit(*given)

    def test_a_column_that_is_called_a_category_is_one(self, tmp_path):
        marks = [str(k % 4) for k in range(N)]
        marks[3] = "none"
        table = pd.DataFrame({"a": marks, "b": X[:, 1], "y": Y})
        for given in forms(table, tmp_path).values():
            named = SRFFRegressor(**TINY, categorical_features=["a"]).fit(*given)
            assert named.levels_[0].tolist() == ["0", "1", "2", "3", "none"]
        typed = table[["a", "b"]].astype({"a": "category"})
        assert regressor.fit(typed, Y).levels_[0].tolist() == ["0", "1", "2", "3", "none"]

    def test_texts_that_are_all_numbers_or_often_none_are_categories(self, tmp_path):
        for marks in ([str(k % 4) for k in range(N)], ["ab12"[k % 4] for k in range(N)]):
            frame = pd.DataFrame({"a": marks, "b": X[:, 1]})
            assert regressor.fit(frame, Y).levels_[0].tolist() == sorted(set(marks))


class TestClasses:
    def test_a_number_that_varies_is_no_class_from_a_file_either(self, tmp_path):
        pd.DataFrame({"a": X[:, 0], "y": Y}).to_csv(tmp_path / "t.csv", index=False)
        with pytest.raises(ValueError, match="continuous"):
            classifier.fit(X, Y)
        with pytest.raises(
            ValueError, match=r"y is a number that varies \(60 different values in 60"
        ):
            classifier.fit(tmp_path / "t.csv", "y")

    def test_a_class_for_every_row_or_two_is_refused(self, tmp_path):
        labels = np.arange(N) * 2 // 3
        pd.DataFrame({"a": X[:, 0], "y": labels}).to_csv(tmp_path / "t.csv", index=False)
        for given in ((X, labels), (tmp_path / "t.csv", "y")):
            with pytest.raises(ValueError, match="y has 40 classes in 60 rows"):
                classifier.fit(*given)

    @pytest.mark.parametrize("weight", [1e-300, 1e300])
    def test_weights_of_classes_that_are_worlds_apart_are_refused(self, weight):
        with pytest.raises(ValueError, match=r"gives weights from (1e-300 to 1|1 to 1e\+300) \("):
            SRFFClassifier(**TINY, class_weight={True: weight}).fit(X, CLASSES)


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_rows_that_weigh_nothing_beside_others_count_as_left_out(weight):
    weights = np.where(np.arange(N) < 40, 1.0, weight)
    model = SRFFRegressor(**TINY).fit(X, Y, sample_weight=weights)
    kept = weights == weights.max()
    expected = SRFFRegressor(**TINY).fit(X[kept], Y[kept]).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 1e300}, r"budget=1e\+300 must be a finite number above 0, at most 1e\+15"),
        ({"callback": 3}, "callback=3 must be None or something that can be called"),
        ({"tol": 1e300}, r"tol=1e\+300 must be a number from 0 to 1"),
    ],
)
def test_a_parameter_that_would_fail_late_is_refused_at_once(parameters, message):
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(**{**TINY, **parameters}).fit("no such file.csv", "y")


def test_counts_beyond_all_counting_are_refused_without_a_storm_of_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"y of at most 1e\+15, got .*count in a larger unit"):
            SRFFRegressor(**TINY, loss="poisson").fit(X, np.exp(Y) * 1e300)


def test_a_link_to_nothing_in_a_pattern_is_an_error_and_not_one_file_fewer(tmp_path):
    pd.DataFrame({"a": X[:, 0], "y": Y}).to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "b.csv").symlink_to(tmp_path / "nowhere.csv")
    for path in (tmp_path, tmp_path / "*.csv"):
        with pytest.raises(FileNotFoundError, match=r"b\.csv: No such file"):
            regressor.fit(path, "y")


def test_one_row_that_outweighs_all_others_is_named():
    weights = np.where(np.arange(N) == 0, 1e6, 1.0)
    with pytest.raises(ValueError, match="sample_weight gives nearly all weight to one row"):
        regressor.fit(X, Y, sample_weight=weights)


def test_text_is_no_target_of_a_regressor():
    with pytest.raises(ValueError, match=r"y holds text such as 'yes'; a regressor needs numbers"):
        regressor.fit(X, np.where(np.arange(N) < 30, "yes", "no"))


def test_targets_without_room_for_their_differences_are_refused():
    with pytest.raises(ValueError, match=r"y needs numbers of at most 1e\+300, got 1.5e\+308"):
        regressor.fit(X, np.where(CLASSES, 1.5e308, -1.5e308))


def test_columns_of_one_name_are_refused_whatever_they_hold():
    twice = pd.DataFrame(X, columns=["a", "b", "a"])
    text = twice.astype({"b": object}).assign(b="x")
    with pytest.raises(ValueError, match="X has several columns of the same name: 'a'"):
        regressor.fit(twice, Y)
    with pytest.raises(ValueError, match="X has several columns of the same name: 'a'"):
        regressor.fit(text, Y)
    model = SRFFRegressor(**TINY).fit(pd.DataFrame(X, columns=list("abc")), Y)
    with pytest.raises(ValueError, match="X has several columns of the same name: 'a'"):
        model.predict(twice)
