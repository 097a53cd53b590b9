"""Columns of dates: days, and places in the year, the week and the day, in any form of table."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import srff
from srff import SRFFClassifier, SRFFRegressor
from srff.baselines import MeanBaseline
from srff.data.encoding.columns import PERIODS, WAVES, Date, waves_of
from srff.data.encoding.frames import coded, is_dates, learn_levels
from srff.data.encoding.table_columns import columns_of
from srff.data.sources.learning import learn_facts
from srff.export.onnx import to_onnx
from srff.inspect.plot.dependence import CodedPredictor, InOwnHour

QUICK = {"effort": "quick", "n_components": 60, "max_iter": 8, "random_state": 0}
MOMENTS = pd.date_range("2022-01-01 03:00", periods=400, freq="29h")


def table(moments=MOMENTS, seed=0):
    """The target hangs on the hour of the day and on one of two numbers."""
    rng = np.random.RandomState(seed)
    X = pd.DataFrame({"a": rng.normal(size=400), "when": moments, "b": rng.normal(size=400)})
    hour = 2 * np.pi * MOMENTS.hour / 24
    return X, (2 * np.cos(hour - 1) + X["a"] + rng.normal(0, 0.2, 400)).to_numpy()


@pytest.fixture(scope="module")
def model():
    return SRFFRegressor(**QUICK).fit(*table())


def test_what_comes_back_each_day_is_found(model):
    assert model.get_feature_names_out().tolist() == ["a", "when"]
    X, y = table(seed=0)
    assert model.score(X, y) > 0.9
    assert model.encoding_.names(list(X), model.levels_) == [
        *("a", "when", "when year sin", "when year cos", "when week sin", "when week cos"),
        *("when day sin", "when day cos", "b"),
    ]


FORMS = {
    "objects": [moment.to_pydatetime() for moment in MOMENTS],
    "seconds": MOMENTS.astype("datetime64[s]"),
    "local time": MOMENTS.tz_localize("Asia/Tokyo"),
    "of pyarrow": pd.Series(MOMENTS).astype("timestamp[ns][pyarrow]"),
    "of pyarrow, local": pd.Series(MOMENTS.tz_localize("Asia/Tokyo")).astype(
        "timestamp[ns, tz=Asia/Tokyo][pyarrow]"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_they_are_the_same_dates_in_any_form_of_pandas(model, form):
    X, _ = table()
    odd = X.assign(when=pd.Series(FORMS[form], dtype=object if form == "objects" else None))
    np.testing.assert_array_equal(model.predict(odd), model.predict(X))


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "polars, local", "dask"])
def test_they_are_the_same_dates_in_any_kind_of_table(model, kind, tmp_path):
    X, y = table()
    path, whole = tmp_path / f"t.{kind}", X.assign(y=y)
    if kind.startswith("polars"):
        given = pl.DataFrame({name: X[name].to_numpy() for name in X})
        if kind == "polars, local":
            given = given.with_columns(pl.col("when").dt.replace_time_zone("Asia/Tokyo"))
        fitted = SRFFRegressor(**QUICK).fit(given, y)
    elif kind == "dask":
        dd = pytest.importorskip("dask.dataframe")
        fitted = SRFFRegressor(**QUICK).fit(dd.from_pandas(whole, npartitions=3), "y")
    else:
        whole.to_csv(path, index=False) if kind == "csv" else whole.to_parquet(path)
        fitted = SRFFRegressor(**QUICK).fit(path, "y")
    np.testing.assert_allclose(fitted.predict(X), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_days_are_those_since_1970_and_gaps_stay(library):
    days = [datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)]
    frame = {
        "pandas": lambda: pd.DataFrame({"d": days}),
        "polars": lambda: pl.DataFrame({"d": days}),
        "pyarrow": lambda: pa.record_batch({"d": pa.array(days)}),
    }[library]()
    levels = learn_levels(frame)
    assert is_dates(levels[0])
    np.testing.assert_array_equal(coded(frame, levels), [[1.0], [np.nan], [-1.0]])
    assert columns_of(frame)[0].kind == "date"


def test_cycles_are_those_that_the_rows_go_through():
    def periods(*given, **how):
        moments = pd.date_range(*given, **how).to_numpy()
        return {
            wave.partition(" ")[0]
            for wave in waves_of(moments.astype("M8[s]").astype(float) / 86400)
        }

    assert periods("2020-01-01", "2022-01-01", freq="D") == {"year", "week"}
    assert periods("2020-01-01", "2020-09-01", freq="D") == {"week"}
    assert periods("2020-01-01", "2020-01-09", freq="h") == {"day"}
    assert periods("2020-01-06", "2024-01-01", freq="7D") == {"year"}
    assert periods("2020-01-01", "2020-01-02", freq="h") == set()
    assert waves_of(np.array([np.nan, 3.0])) == ()


def test_waves_have_their_periods():
    date = Date(waves=WAVES)
    t = np.linspace(18_000, 18_100, 7)
    here = date(t)
    for wave, column in zip(WAVES, here[:, 1:].T, strict=True):
        period = PERIODS[wave.partition(" ")[0]]
        np.testing.assert_allclose(date(t + period)[:, 1 + WAVES.index(wave)], column, atol=1e-9)
    np.testing.assert_allclose(here[:, 1::2] ** 2 + here[:, 2::2] ** 2, 1.0)
    np.testing.assert_array_equal(date.take(np.array([2, 5]))(t), here[:, [2, 5]])


def test_days_of_the_week_are_found():
    when = pd.Series(pd.date_range("2023-01-02", periods=350, freq="D"))
    rng = np.random.RandomState(0)
    X = pd.DataFrame({"when": when, "a": rng.normal(size=350)})
    sunday = (when.dt.dayofweek >= 5).to_numpy()
    y = 3.0 * sunday + rng.normal(0, 0.3, 350)
    model = SRFFRegressor(**QUICK).fit(X, y)
    assert model.get_feature_names_out().tolist() == ["when"]
    assert model.expected_error_ < 0.7
    labels = np.where(sunday, "yes", "no")
    assert SRFFClassifier(**QUICK).fit(X, labels).score(X, labels) > 0.95


def test_they_are_saved_and_reduced(model, tmp_path):
    X, _ = table()
    srff.save(model, tmp_path / "m.srff")
    loaded = srff.load(tmp_path / "m.srff")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(model.reduced().predict(X[["a", "when"]]), model.predict(X))
    assert is_dates(loaded.levels_[1])
    assert loaded.input_range_[1].tolist() == [18993.125, MOMENTS[-1].timestamp() / 86400]


def test_missing_ones_are_filled_in_or_named():
    X, y = table()
    gaps = X.assign(when=X["when"].where(np.arange(400) % 9 > 0))
    with pytest.raises(ValueError, match=r"Column 'when' holds a missing value.*impute"):
        SRFFRegressor(**QUICK).fit(gaps, y)
    model = SRFFRegressor(**QUICK, missing="impute").fit(gaps, y)
    assert "when missing" in model.encoding_.names(list(X), model.levels_)
    assert np.isfinite(model.predict(gaps)).all()
    none = gaps.assign(when=pd.NaT)
    assert np.isfinite(model.predict(none)).all()


@pytest.mark.parametrize("odd", [1.0, "2020-01-01", True], ids=["numbers", "text", "true"])
def test_what_is_no_date_is_refused_where_dates_were(model, odd):
    X, _ = table()
    with pytest.raises(ValueError, match=r"Column 'when' holds no dates; in the fit it did"):
        model.predict(X.assign(when=odd))


def test_dates_are_refused_where_none_were(model):
    X, _ = table()
    with pytest.raises(ValueError, match=r"Column 'a' holds dates; numbers or categories"):
        model.predict(X.assign(a=X["when"]))


def test_they_are_no_categories_targets_or_weights(tmp_path):
    X, y = table()
    with pytest.raises(ValueError, match="Column 'when' holds dates; numbers or categories"):
        MeanBaseline().fit(X, y)
    with pytest.raises(ValueError, match="holds dates"):
        SRFFRegressor(**QUICK, categorical_features=["when"]).fit(X, y)
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="holds dates, which are no categories"):
        SRFFRegressor(**QUICK, categorical_features=["when"]).fit(tmp_path / "t.parquet", "y")
    with pytest.raises(ValueError, match="y holds datetime64"):
        SRFFRegressor(**QUICK).fit(X[["a", "b"]], X["when"])
    with pytest.raises(ValueError, match="sample_weight holds datetime64"):
        SRFFRegressor(**QUICK).fit(X, y, X["when"])


def test_the_sample_of_a_large_file_tells_their_cycles(tmp_path):
    X, y = table()
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    from srff.data.sources import TableSource

    facts = learn_facts(TableSource(tmp_path / "t.parquet", "y"))
    assert facts.waves == {1: WAVES}
    assert is_dates(facts.levels[1])


def test_transform_keeps_them(model):
    X, _ = table()
    chosen = model.transform(X)
    assert chosen.shape == (400, 2)
    assert isinstance(chosen[0, 0], float)
    assert isinstance(chosen[0, 1], datetime.datetime)
    assert chosen[0, 1] == MOMENTS[0]
    framed = model.set_output(transform="pandas").transform(X)
    model.set_output(transform="default")
    pd.testing.assert_frame_equal(framed, X[["a", "when"]])
    of_polars = model.transform(pl.DataFrame({name: X[name].to_numpy() for name in X}))
    assert of_polars.shape == (400, 2)
    np.testing.assert_array_equal(of_polars, chosen)


def test_an_effect_moves_rows_by_weeks(model):
    X, _ = table()
    predictor = CodedPredictor(model)
    codes = coded(X, model.levels_)
    moved = codes.copy()
    moved[:, 1] = 19_100.3
    own = {1: codes[:, 1] % 7}
    expected = codes.copy()
    expected[:, 1] = 19_096 + own[1]  # 19,096 is a multiple of seven
    np.testing.assert_array_equal(
        InOwnHour(predictor, own).predict(moved), predictor.predict(expected)
    )


def test_onnx_says_that_it_has_no_dates(model):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="uses the dates of column 'when'"):
        to_onnx(model)


def test_the_report_and_the_confidence_speak_of_them(model, tmp_path):
    X, y = table()
    page = model.report(tmp_path / "r.html", X, y)
    assert "2022-08-30" in page  # the mean day
    found = srff.confidence(SRFFRegressor(**QUICK), X, y, n_splits=3)
    assert set(found.confirmed) >= {"when"}


def test_times_of_csv_count_by_the_clock_that_they_say(tmp_path):
    """Summer time and all: an offset is not what the hour of the day hangs on."""
    when = MOMENTS.tz_localize("America/New_York", ambiguous=True, nonexistent="shift_forward")
    X, y = table(when)
    path = tmp_path / "t.csv"
    X.assign(y=y).to_csv(path, index=False)
    assert "-04:00" in path.read_text()
    fitted = SRFFRegressor(**QUICK).fit(path, "y")
    expected = SRFFRegressor(**QUICK).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), expected.predict(X), rtol=1e-9)
    path.write_text(path.read_text().replace("-04:00", "Z").replace("-05:00", "Z"))
    again = SRFFRegressor(**QUICK).fit(path, "y")
    np.testing.assert_allclose(again.predict(X), expected.predict(X), rtol=1e-9)


def test_the_first_rows_of_csv_may_lack_a_time_of_day(tmp_path):
    days = [str(day) for day in np.datetime64("1990-01-01") + np.arange(90_000)]
    days[-1] += " 13:00"
    frame = pd.DataFrame({"when": days, "a": np.arange(90_000) % 7, "y": np.arange(90_000) % 11})
    frame.to_csv(tmp_path / "t.csv", index=False)
    from srff.data.sources import TableSource

    assert (tmp_path / "t.csv").stat().st_size > 2**20
    facts = learn_facts(TableSource(tmp_path / "t.csv", "y"))
    assert is_dates(facts.levels[0])


def test_dates_of_one_day_of_the_year_have_no_place_in_it():
    firsts = np.array([f"{year}-01-01" for year in range(1980, 2020)], dtype="M8[D]").astype(float)
    assert not any(wave.startswith("year") for wave in waves_of(firsts))


def test_rows_of_dask_are_computed(model):
    dd = pytest.importorskip("dask.dataframe")
    X, _ = table()
    np.testing.assert_array_equal(model.predict(dd.from_pandas(X, npartitions=3)), model.predict(X))


def test_what_was_dropped_comes_back_empty(model):
    X, _ = table()
    back = model.inverse_transform(X[["a", "when"]])
    assert back.shape == (400, 3)
    assert back[0].tolist() == [X["a"][0], MOMENTS[0], 0.0]
    np.testing.assert_array_equal(model.inverse_transform(model.transform(X)), back)
    with pytest.raises(ValueError, match="2 columns are selected"):
        model.inverse_transform(X)
