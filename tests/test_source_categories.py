"""Categories, classes, gaps and several targets in files, blocks and Dask collections.

Frames in memory, coded and encoded at once, are what every source is compared with.
"""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from srff import SRFFClassifier
from srff.data import dataset
from srff.data.encoding.frames import coded, learn_levels
from srff.data.encoding.learning import learn_encoding
from srff.data.encoding.outcome import Outcome
from srff.data.first_pass import first_pass
from srff.data.sources import ArraySource, BlockSource, TableSource, as_source
from srff.data.sources import learning as learning_module
from srff.data.sources import piece_facts as pieces_module
from srff.data.sources.base import all_rows_if_few
from srff.data.sources.facts import source_encoding
from srff.data.sources.learning import learn_facts
from srff.data.sources.table_file import RowGroup
from srff.data.split import key_multipliers

pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")
from pyarrow import csv, parquet  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:distributed")
ROWS = 64
INPUTS = ["size", "colour", "flag", "zone", "width"]


def table(n=220, gaps=True, seed=0):
    """A number with gaps, a text with gaps, a boolean, a text of 30 levels, a number; targets."""
    rng = np.random.RandomState(seed)
    zone = np.append(np.arange(30), rng.randint(0, 30, n - 30))
    size = rng.standard_normal(n)
    colour = rng.choice(["red", "green", "blue"], n).astype(object)
    if gaps:
        size[rng.rand(n) < 0.1] = np.nan
        colour[rng.rand(n) < 0.1] = None
    y = np.sin(zone) + rng.standard_normal(n)
    return pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "flag": rng.rand(n) < 0.3,
            "zone": [f"z{k:02}" for k in zone],
            "width": rng.standard_normal(n),
            "y": y,
            "z": y**2,
            "kind": np.where(y > 1, "high", np.where(y < -1, "low", "middle")),
            "w": rng.randint(1, 4, n).astype(float),
        }
    )


def runs(frame):
    return [frame.iloc[i : i + ROWS] for i in range(0, len(frame), ROWS)]


def from_parquet(frame, folder, target, weight):
    columns = [*INPUTS, *np.atleast_1d(target), *([weight] if weight else [])]
    path = folder / "t.parquet"
    parquet.write_table(pa.Table.from_pandas(frame[columns]), path, row_group_size=ROWS)
    return as_source(path, target, weight)


def from_dictionaries(frame, folder, target, weight):
    """A file for each run, text as dictionaries of that run alone."""
    columns = [*INPUTS, *np.atleast_1d(target), *([weight] if weight else [])]
    for k, part in enumerate(runs(frame[columns])):
        arrow = pa.Table.from_pandas(part.astype({"colour": "category", "zone": "category"}))
        parquet.write_table(arrow, folder / f"{k:03}.parquet")
    return as_source(folder, target, weight)


def from_csv(frame, folder, target, weight):
    columns = [*INPUTS, *np.atleast_1d(target), *([weight] if weight else [])]
    for k, part in enumerate(runs(frame[columns])):
        csv.write_csv(pa.Table.from_pandas(part, preserve_index=False), folder / f"{k:03}.csv")
    return as_source(folder, target, weight)


def from_blocks(frame, folder, target, weight):
    assert weight is None
    return as_source([(part[INPUTS], part[target]) for part in runs(frame)], None, None)


def from_polars_blocks(frame, folder, target, weight):
    pl = pytest.importorskip("polars", reason="polars is not installed (extra: test)")
    blocks = [
        (pl.from_arrow(pa.Table.from_pandas(part[INPUTS])), part[target].to_numpy())
        for part in runs(frame)
    ]
    return as_source(blocks, None, None)


def from_dask(frame, folder, target, weight):
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra: dask)")
    columns = [*INPUTS, *np.atleast_1d(target), *([weight] if weight else [])]
    collection = dd.from_pandas(frame[columns], chunksize=ROWS, sort=False)
    return as_source(collection, target, weight)


def from_dask_categories(frame, folder, target, weight):
    typed = {k: "category" for k in ("colour", "zone") if frame[k].dtype.kind == "O"}
    frame = frame.astype(typed)
    return from_dask(frame, folder, target, weight)


SOURCES = {
    "parquet": from_parquet,
    "dictionaries": from_dictionaries,
    "csv": from_csv,
    "blocks": from_blocks,
    "polars": from_polars_blocks,
    "dask": from_dask,
    "dask categories": from_dask_categories,
}


UNWEIGHTED = ("blocks", "polars")


@pytest.fixture(params=SOURCES)
def make(request, tmp_path):
    def source(frame, target, weight=None):
        return SOURCES[request.param](frame, tmp_path, target, weight)

    return source


def memory(frame, target="y", how="onehot", weight=None):
    """Levels, encoding and encoded rows of a frame in memory."""
    levels = learn_levels(frame[INPUTS])
    X = coded(frame[INPUTS], levels)
    w = None if weight is None else frame[weight].to_numpy()
    encoding, rows = learn_encoding(
        X, frame[target].to_numpy(), levels, how, "impute", weight=w, random_state=0
    )
    return levels, encoding, rows


def same_encoding(one, other):
    X = np.array([[np.nan] * 5, [0.5, -1, 1, -1, 2.0], [1.0, 2, 0, 29, -1.0]])
    np.testing.assert_array_equal(one.source, other.source)
    np.testing.assert_allclose(one.unchecked(X), other.unchecked(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("how", ["onehot", "auto", TargetEncoder(smooth=3.0)])
def test_a_source_learns_what_a_frame_in_memory_tells(make, how):
    frame = table()
    levels, encoding, rows = memory(frame, how=how)
    source = make(frame, "y")
    learned = learn_facts(source, missing="impute", n_threads=2)
    for found, expected in zip(learned.levels, levels, strict=True):
        assert (found is None) == (expected is None)
        assert found is None or found.tolist() == expected.tolist()
    assert learned.classes is None
    np.testing.assert_array_equal(learned.n_missing, frame[INPUTS].isna().sum())
    found = source_encoding(learned, how, "impute")
    same_encoding(found, encoding)
    mapped = source.mapped(found, None, learned)
    assert mapped.n_features == encoding.width
    assert mapped.names == tuple(encoding.names(INPUTS, levels))
    X, Y, weight = all_rows_if_few(mapped, 10_000)
    if how == "onehot":
        np.testing.assert_array_equal(X, rows)
    np.testing.assert_array_equal(X, found(coded(frame[INPUTS], levels)))
    np.testing.assert_array_equal(Y[:, 0], frame["y"])
    assert weight is None


def test_only_what_encoded_columns_need_is_read(make, monkeypatch):
    frame = table()
    _, encoding, rows = memory(frame)
    source = make(frame, "y")
    mapped = source.mapped(encoding, None, learn_facts(source, missing="impute"))
    # A number, its mark, two colours, the flag, in no order; nothing; one zone.
    for columns in ([6, 1, 0, 3, 4], [], [20]):
        columns = np.array(columns, dtype=np.intp)
        found = [c.X for piece in mapped.pieces() for c in piece.chunks(columns)]
        np.testing.assert_array_equal(np.concatenate(found), rows[:, columns])
    _, reading = mapped._reading.take(np.array([6, 1]))
    assert reading.names == ("size", "flag")


def test_files_are_asked_for_no_other_column(tmp_path, monkeypatch):
    frame = table()
    _, encoding, _ = memory(frame)
    source = from_parquet(frame, tmp_path, "y", None)
    mapped = source.mapped(encoding, None, learn_facts(source, missing="impute"))
    asked = []
    read = RowGroup.__call__
    monkeypatch.setattr(RowGroup, "__call__", lambda *a: asked.append(a[1]) or read(*a))
    next(iter(next(iter(mapped.pieces())).chunks(np.array([6, 1]))))
    assert asked == [["size", "flag", "y"]]


@pytest.mark.parametrize("target", ["kind", "number"])
def test_classes_become_numbers_and_indicators(make, target):
    frame = table()
    frame["number"] = frame["kind"].map({"low": 3, "middle": 1, "high": 7})
    source = make(frame, target)
    learned = learn_facts(source, classes=True, missing="impute", n_threads=2)
    classes, own = np.unique(frame[target].to_numpy().astype(object), return_inverse=True)
    assert learned.classes.tolist() == classes.tolist()
    assert learned.classes.dtype.kind == ("U" if target == "kind" else "i")
    np.testing.assert_array_equal(learned.class_weight, np.bincount(own))
    outcome = Outcome(3, np.array([1.0, 2.0, 0.5]))
    mapped = source.mapped(source_encoding(learned, "onehot", "impute"), outcome, learned)
    assert mapped.n_targets == 3
    _, Y, weight = all_rows_if_few(mapped, 10_000)
    np.testing.assert_array_equal(Y, np.eye(3)[own])
    np.testing.assert_array_equal(weight, outcome.class_weight[own])
    numbered = all_rows_if_few(source.mapped(None, None, learned), 10_000, lambda X, names: None)
    np.testing.assert_array_equal(numbered[1][:, 0], own)
    np.testing.assert_array_equal(numbered[0], coded(frame[INPUTS], learned.levels))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_means_of_classes_are_those_of_memory(make, n_classes):
    frame = table(gaps=False)
    if n_classes == 2:
        frame["kind"] = frame["kind"].replace({"middle": "low"})
    learned = learn_facts(make(frame, "kind"), classes=True)
    levels = learn_levels(frame[INPUTS])
    _, own = np.unique(frame["kind"].to_numpy().astype(object), return_inverse=True)
    X = coded(frame[INPUTS], levels)
    encoding, _ = learn_encoding(X, Outcome(n_classes)(own)[0], levels, "target")
    np.testing.assert_allclose(
        source_encoding(learned, "target")(X), encoding(X), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("make", [k for k in SOURCES if k not in UNWEIGHTED], indirect=True)
def test_weights_count_in_means_medians_and_classes(make):
    frame = table()
    frame.loc[7, "w"] = 0.0
    frame.loc[7, ["colour", "size"]] = ["never", np.inf]
    used = frame[frame["w"] > 0]
    levels, encoding, _ = memory(used, how="target", weight="w")
    source = make(frame, "y", "w")
    learned = learn_facts(source, missing="impute")
    same_encoding(source_encoding(learned, "target", "impute"), encoding)
    X, _, weight = all_rows_if_few(source.mapped(encoding, None, learned), 10_000)
    np.testing.assert_array_equal(X, encoding(coded(used[INPUTS], levels)))
    np.testing.assert_array_equal(weight, used["w"])
    by_class = learn_facts(make(frame, "kind", "w"), classes=True)
    expected = used.groupby("kind")["w"].sum()
    np.testing.assert_array_equal(by_class.class_weight, expected[by_class.classes.tolist()])


def test_several_targets_are_columns(make):
    frame = table(gaps=False)
    source = make(frame, ["y", "z"])
    assert source.n_targets == 2
    learned = learn_facts(source)
    encoding = source_encoding(learned, "target")
    _, Y, _ = all_rows_if_few(source.mapped(encoding, None, learned), 10_000)
    np.testing.assert_array_equal(Y, frame[["y", "z"]])
    assert mapped_width(encoding) == [1, 2, 1, 2, 1]
    with pytest.raises(ValueError, match="y has 2 columns; classes are one"):
        learn_facts(source, classes=True)


def mapped_width(encoding):
    return np.bincount(encoding.source).tolist()


def test_numbers_need_no_pass(make, monkeypatch):
    frame = table(gaps=False)
    frame["colour"] = frame["zone"] = np.arange(len(frame), dtype=float)
    monkeypatch.setattr(learning_module, "facts_of_piece", None)
    source = make(frame, "y")
    learned = learn_facts(source)
    assert [known is None for known in learned.levels] == [True, True, False, True, True]
    encoding = source_encoding(learned)
    X, _, _ = all_rows_if_few(source.mapped(encoding, None, learned), 10_000)
    np.testing.assert_array_equal(X, frame[INPUTS].astype(float))
    plain, _, _ = all_rows_if_few(source, 10_000)
    np.testing.assert_array_equal(X, plain)


def test_named_columns_of_numbers_are_categories(make):
    frame = table(gaps=False)
    frame["width"] = np.arange(len(frame)) % 3 * 10
    learned = learn_facts(make(frame, "y"), categorical=["width"])
    assert learned.levels[4].tolist() == [0, 10, 20]
    assert learned.levels[0] is None


def test_gaps_infinity_and_missing_classes_are_named_with_their_rows(make):
    frame = table(gaps=False)
    frame.loc[130, "colour"] = None
    source = make(frame, "y")
    learned = learn_facts(source)
    mapped = source.mapped(source_encoding(learned), None, learned)
    with pytest.raises(ValueError, match=r"column 'colour' holds a missing value or NaN in row 2"):
        all_rows_if_few(mapped, 10_000)


def test_infinity_is_refused_where_gaps_are_filled(make):
    frame = table()
    frame.loc[131, "width"] = np.inf
    source = make(frame, "y")
    learned = learn_facts(source, missing="impute")
    mapped = source.mapped(source_encoding(learned, missing="impute"), None, learned)
    with pytest.raises(ValueError, match="column 'width' holds infinity in row 3"):
        all_rows_if_few(mapped, 10_000)


@pytest.mark.parametrize("target", ["y", "kind"])
def test_a_missing_target_is_named_with_its_row(make, target):
    frame = table()
    frame.loc[133, target] = None
    source = make(frame, target)
    with pytest.raises(ValueError, match="the target holds a missing value or NaN in row 5"):
        learn_facts(source, classes=target == "kind", missing="impute")


def test_text_is_refused_where_numbers_are_read(make):
    frame = table(gaps=False)
    with pytest.raises(ValueError, match=r"number|string"):
        all_rows_if_few(make(frame, "y"), 10_000)
    with pytest.raises(ValueError, match=r"holds .*, not numbers"):
        learn_facts(make(frame, "kind"))


def test_partitions_without_rows_are_nothing():
    dask = pytest.importorskip("dask", reason="Dask is not installed (extra: dask)")
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra: dask)")
    frame = table()[[*INPUTS, "kind"]]
    parts = [frame[:50], frame[:0], frame[50:]]
    collection = dd.from_delayed([dask.delayed(p) for p in parts], meta=frame, verify_meta=False)
    source = as_source(collection, "kind")
    learned = learn_facts(source, classes=True, missing="impute")
    encoding = source_encoding(learned, "onehot", "impute")
    mapped = source.mapped(encoding, Outcome(3), learned)
    X, Y, _ = all_rows_if_few(mapped, 1000)
    np.testing.assert_array_equal(X, encoding(coded(frame[INPUTS], learned.levels)))
    assert Y.shape == (220, 3)
    sizes = [part.compute(scheduler="synchronous")[0].shape for part in mapped.partitions()]
    assert sizes == [(50, encoding.width), (0, encoding.width), (170, encoding.width)]


def test_threads_and_where_pieces_are_read_change_nothing(make):
    frame = table()
    source = make(frame, "y")
    one, four = (
        learn_facts(source, missing="impute"),
        learn_facts(source, missing="impute", n_threads=4),
    )
    np.testing.assert_array_equal(one.medians, four.medians)
    encodings = [source_encoding(x, "target", "impute") for x in (one, four)]
    for a, b in zip(*[e.columns for e in encodings], strict=True):
        np.testing.assert_array_equal(getattr(a, "table", 0), getattr(b, "table", 0))


def test_a_survey_of_mapped_rows_is_that_of_encoded_ones(make):
    frame = table()
    _, encoding, rows = memory(frame)
    source = make(frame, "y")
    mapped = source.mapped(encoding, None, learn_facts(source, missing="impute"))
    multipliers = key_multipliers(np.random.RandomState(0), encoding.width)
    found = first_pass(mapped, multipliers, 100, 50, n_threads=2)
    expected = first_pass(ArraySource(rows, frame[["y"]].to_numpy()), multipliers, 100, 50)
    np.testing.assert_array_equal(found.high.X, expected.high.X)
    np.testing.assert_array_equal(found.low.keys, expected.low.keys)


def test_medians_of_large_pieces_are_of_a_sample(monkeypatch, tmp_path):
    monkeypatch.setattr(pieces_module, "PIECE_SAMPLE", 400)
    monkeypatch.setattr(learning_module, "MEDIAN_ROWS", 600)
    rng = np.random.RandomState(0)
    # A large piece far above a small one: rows of both must count for what they stand for.
    X = np.concatenate([rng.normal(10, 1, (20_000, 2)), rng.normal(0, 1, (5000, 2))])
    blocks = [(X[:20_000], np.zeros(20_000)), (X[20_000:], np.zeros(5000))]
    learned = learn_facts(BlockSource(blocks), missing="impute")
    np.testing.assert_allclose(learned.medians, np.median(X, axis=0), atol=0.3)
    again = learn_facts(BlockSource(blocks), missing="impute", n_threads=3)
    np.testing.assert_array_equal(learned.medians, again.medians)


def test_too_many_levels_or_classes_are_refused(monkeypatch):
    monkeypatch.setattr(pieces_module, "MOST_HELD_LEVELS", 20)
    monkeypatch.setattr(pieces_module, "MOST_CLASSES", 10)
    frame = table()
    source = from_blocks(frame, None, "y", None)
    with pytest.raises(ValueError, match="more than 20 different values in column 'zone', such as"):
        learn_facts(source)
    numbers = BlockSource([(p[["width"]].to_numpy(), p["y"]) for p in runs(frame)])
    with pytest.raises(ValueError, match="more than 10 different values in the target"):
        learn_facts(numbers, classes=True)


def test_settings_that_need_counts_are_refused():
    learned = learn_facts(from_blocks(table(gaps=False), None, "y", None))
    with pytest.raises(ValueError, match="min_frequency and max_categories need rows in memory"):
        source_encoding(learned, OneHotEncoder(min_frequency=3))


def test_empty_text_of_a_csv_file_is_missing(tmp_path):
    (tmp_path / "t.csv").write_text("c,empty,y\na,,1\n,,2\nNA,3,3\nb,,4\n")
    source = TableSource(tmp_path / "t.csv", "y")
    learned = learn_facts(source, missing="impute")
    assert learned.levels[0].tolist() == ["a", "b"]
    assert learned.n_missing.tolist() == [2, 3]
    assert learned.medians[1] == 3


def test_files_of_text_and_numbers_in_one_column_are_refused(tmp_path):
    for k, values in enumerate((["a", "b"], [1.0, 2.0])):
        parquet.write_table(pa.table({"c": values, "y": [1.0, 2.0]}), tmp_path / f"{k}.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet: column 'c' holds double, not text"):
        TableSource(tmp_path, "y")
    days = pa.table({"c": [datetime.timedelta(1)], "y": [1.0]})
    parquet.write_table(days, tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=r"column 'c' holds duration.*, not numbers"):
        TableSource(tmp_path / "0.parquet", "y")
    with pytest.raises(ValueError, match="there is no column 'q'"):
        TableSource(tmp_path / "1.parquet", ["y", "q"])


def test_a_file_whose_column_has_no_values_fits_any_other(tmp_path):
    empty = pa.table({"c": pa.nulls(2), "y": [1.0, 2.0]})
    parquet.write_table(empty, tmp_path / "0.parquet")
    parquet.write_table(pa.table({"c": ["a", "b"], "y": [1.0, 2.0]}), tmp_path / "1.parquet")
    source = TableSource(tmp_path, "y")
    learned = learn_facts(source, missing="impute")
    assert learned.levels[0].tolist() == ["a", "b"]
    encoding = source_encoding(learned, missing="impute")
    X, _, _ = all_rows_if_few(source.mapped(encoding, None, learned), 100)
    np.testing.assert_array_equal(X, [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_a_target_of_its_own_has_the_partitions_of_the_inputs(tmp_path):
    # Dask would join the partitions of the one small column.
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra: dask)")
    frame = table(gaps=False)
    for k, part in enumerate(runs(frame)):
        part.to_parquet(tmp_path / f"{k}.parquet")
    there = dd.read_parquet(tmp_path)
    source = as_source(there[INPUTS], there["kind"])
    learned = learn_facts(source, classes=True)
    assert learned.classes.tolist() == ["high", "low", "middle"]
    _, Y, _ = all_rows_if_few(source.mapped(source_encoding(learned), Outcome(3), learned), 1000)
    assert Y.sum(axis=0).tolist() == learned.class_weight.tolist()


def test_a_dask_array_may_have_several_targets():
    da = pytest.importorskip("dask.array", reason="Dask is not installed (extra: dask)")
    X, Y = np.arange(600.0).reshape(200, 3), np.arange(400.0).reshape(200, 2)
    source = as_source(da.from_array(X, chunks=(64, 2)), da.from_array(Y, chunks=(64, 1)))
    assert source.n_targets == 2
    found = all_rows_if_few(source, 1000)
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], Y)
    learned = learn_facts(source, categorical=[1])
    assert learned.levels[1].size == 200


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra: dask)")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_workers_learn_and_survey_what_files_tell(client, tmp_path):
    from srff.data.engines.cluster import first_pass_on_workers

    frame = table()
    here = from_parquet(frame, tmp_path, "kind", "w")
    there = from_dask(frame, tmp_path, "kind", "w")
    assert there.client is not None
    found = [learn_facts(s, classes=True, missing="impute") for s in (here, there)]
    encodings = [source_encoding(x, "target", "impute") for x in found]
    for a, b in zip(*[e.columns for e in encodings], strict=True):
        np.testing.assert_array_equal(getattr(a, "table", 0), getattr(b, "table", 0))
        assert getattr(a, "fill", 0) == getattr(b, "fill", 0)
    np.testing.assert_array_equal(found[0].class_weight, found[1].class_weight)
    outcome = Outcome(3)
    mapped = [
        s.mapped(e, outcome, x) for s, e, x in zip((here, there), encodings, found, strict=True)
    ]
    multipliers = key_multipliers(np.random.RandomState(0), encodings[0].width)
    one = first_pass(mapped[0], multipliers, 100, 50)
    other = first_pass_on_workers(mapped[1], multipliers, 100, 50)
    np.testing.assert_array_equal(one.high.X, other.high.X)
    np.testing.assert_array_equal(one.high.Y, other.high.Y)
    assert one.sizes == other.sizes
    for a, b in zip(one.seen, other.seen, strict=True):
        assert a.target == b.target
        np.testing.assert_array_equal(a.inputs, b.inputs)


def test_a_bad_row_is_named_with_its_partition(client, tmp_path):
    frame = table()
    frame.loc[133, "kind"] = None
    with pytest.raises(ValueError, match=r"partition 2: the target holds .* in row 5"):
        learn_facts(from_dask(frame, tmp_path, "kind", None), classes=True)


class Altered:
    """Blocks that have another level, or another class, once levels and classes are known."""

    def __init__(self, what):
        self.what, self.passes = what, 0

    def __iter__(self):
        self.passes += 1
        rng = np.random.default_rng(0)
        for _ in range(3):
            frame = pd.DataFrame({"a": rng.normal(size=60), "k": rng.choice(["u", "v"], 60)})
            y = np.where(frame["a"] > 0, "p", "n").astype(object)
            if self.passes > 3:  # two looks at the first block, and the pass that learns
                if self.what == "level":
                    frame.loc[7, "k"] = "other"
                else:
                    y[7] = "other"
            yield frame, y


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("what", ["level", "class"])
def test_levels_and_classes_that_come_later_are_refused(monkeypatch, what, few):
    if not few:
        monkeypatch.setattr(dataset, "STREAM_ROWS", 100)
    with pytest.raises(ValueError, match=rf"rows 0 to 59: .* has a {what} that was not there"):
        SRFFClassifier(n_components=10, max_iter=2, random_state=0).fit(Altered(what))
