"""Rows from files and from blocks: the same model as from memory, and errors that say where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from srff import SRFFRegressor
from srff.data import dataset
from srff.data.engines import Remainder, StreamEngine, stream
from srff.data.engines.blocks import Standardisation
from srff.data.engines.plan import BlockPlan
from srff.data.first_pass import first_pass
from srff.data.moments import merged, moments
from srff.data.scaling import Standardise
from srff.data.sources import ArraySource, BlockSource, TableSource, arrays
from srff.data.sources.learning import learn_facts
from srff.data.sources.table_file import TextAmongNumbers
from srff.data.sources.tables import open_table
from srff.data.split import Ends, highest, key_multipliers, row_keys

QUICK = {"n_components": 30, "max_iter": 6, "random_state": 0, "refine": "metric"}
NAMES = [f"x{i}" for i in range(6)]


def rows(n=900, seed=0, dtype=np.float64):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 6)).astype(dtype)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, n)


def table(X, y):
    return pa.table({name: X[:, i] for i, name in enumerate(NAMES)} | {"y": y})


@pytest.fixture
def short(monkeypatch):
    """Small enough limits that a few hundred rows are a stream."""
    monkeypatch.setattr(dataset, "STREAM_ROWS", 300)
    monkeypatch.setattr(dataset, "SAMPLE_ROWS", 400)
    monkeypatch.setattr(dataset, "VALIDATION_ROWS", 150)
    monkeypatch.setattr(arrays, "PIECE_ROWS", 128)


def same_model(one, other):
    for name in ("scale_", "coefficients_", "frequencies_", "offsets_", "center_", "spread_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def write(folder, X, y, kind, size=128):
    """The rows in files of one kind; Parquet's row groups are the pieces of an array."""
    path = folder / f"table.{kind}"
    if kind == "parquet":
        parquet.write_table(table(X, y), path, row_group_size=size)
    elif kind == "feather":
        feather.write_feather(table(X, y), path)
    elif kind == "csv.gz":
        with pa.CompressedOutputStream(path, "gzip") as stream:
            csv.write_csv(table(X, y), stream)
    else:
        csv.write_csv(table(X, y), path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "csv.gz"])
def test_few_rows_of_a_file_give_the_bits_of_memory(tmp_path, kind):
    X, y = rows(300)
    path = write(tmp_path, X, y, kind)
    from_file = SRFFRegressor(**QUICK).fit(str(path), "y")
    same_model(from_file, SRFFRegressor(**QUICK).fit(X, y))
    assert from_file.feature_names_in_.tolist() == NAMES
    assert from_file.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(from_file.predict(pd.DataFrame(X, columns=NAMES)).shape, (300,))


@pytest.mark.parametrize("options", [{}, {"solver": "alternating", "refine": None, "tol": 1e-2}])
@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.slow), 3])
@pytest.mark.slow
def test_memory_files_and_blocks_give_the_same_bits(tmp_path, short, options, n_jobs):
    X, y = rows()
    settings = QUICK | options | {"n_jobs": n_jobs}
    memory = SRFFRegressor(**QUICK | options, n_jobs=1).fit(X, y)
    assert {0, 1, 2} <= set(memory.get_support(indices=True))
    path = write(tmp_path, X, y, "parquet")
    same_model(SRFFRegressor(**settings).fit(path, "y"), memory)
    blocks = [(X[i : i + 128], y[i : i + 128]) for i in range(0, 900, 128)]
    same_model(SRFFRegressor(**settings).fit(blocks), memory)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same_model(SRFFRegressor(**settings).fit(mapped, y), memory)


def test_a_memory_limit_reads_again_and_changes_no_bit(tmp_path, short):
    X, y = rows()
    options = {"n_components": 20, "solver": "alternating", "refine": None, "tol": 1e-2}
    path = write(tmp_path, X, y, "parquet")
    free = SRFFRegressor(**options, random_state=0).fit(path, "y")
    tight = SRFFRegressor(**options, random_state=0, memory_limit="400kB", n_jobs=1).fit(path, "y")
    same_model(tight, free)


def test_a_folder_of_files_in_any_order_of_columns(tmp_path, short):
    X, y = rows()
    parts = tmp_path / "parts"
    parts.mkdir()
    for k, i in enumerate(range(0, 900, 128)):
        part = table(X[i : i + 128], y[i : i + 128])
        part = part.select(part.column_names[::-1] if k % 2 else part.column_names)
        parquet.write_table(part, parts / f"part-{k}.parquet")
    parquet.write_table(table(X[:0], y[:0]), parts / "part-9.parquet")
    (parts / "_SUCCESS").write_text("")
    memory = SRFFRegressor(**QUICK).fit(X, y)
    for paths in (parts, str(parts / "*.parquet"), sorted(parts.glob("*.parquet"))):
        same_model(SRFFRegressor(**QUICK).fit(paths, "y"), memory)


def test_a_weight_column_is_a_weight(tmp_path):
    X, y = rows(300)
    w = np.random.RandomState(1).randint(1, 4, 300).astype(float)
    parquet.write_table(table(X, y).append_column("w", pa.array(w)), tmp_path / "t.parquet")
    from_file = SRFFRegressor(**QUICK).fit(tmp_path / "t.parquet", "y", sample_weight="w")
    same_model(from_file, SRFFRegressor(**QUICK).fit(X, y, sample_weight=w))


def test_rows_of_weight_zero_do_not_count_and_negative_ones_are_named(tmp_path, short):
    X, y = rows()
    w = np.random.RandomState(1).randint(0, 3, 900).astype(float)
    path = tmp_path / "t.parquet"
    parquet.write_table(table(X, y).append_column("w", pa.array(w)), path, row_group_size=128)
    model = SRFFRegressor(**QUICK).fit(path, "y", sample_weight="w")
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    X[w == 0] = 1e6
    parquet.write_table(table(X, y).append_column("w", pa.array(w)), path, row_group_size=128)
    same_model(SRFFRegressor(**QUICK).fit(path, "y", sample_weight="w"), model)
    w[300] = -1
    parquet.write_table(table(X, y).append_column("w", pa.array(w)), path, row_group_size=128)
    with pytest.raises(ValueError, match=r"row group 2: the weight is -1\.0 in row 44"):
        SRFFRegressor(**QUICK).fit(path, "y", sample_weight="w")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_value_is_named_with_file_row_group_and_column(tmp_path, short, value):
    X, y = rows(128 * 20)
    X[128 * 17 + 5, 3] = value
    path = write(tmp_path, X, y, "parquet")
    what = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(
        ValueError, match=rf"t.*parquet, row group 17: column 'x3' .*{what} in row 5"
    ):
        SRFFRegressor(**QUICK).fit(path, "y")
    y[3] = value
    path = write(tmp_path, np.zeros_like(X), y, "parquet")
    with pytest.raises(ValueError, match="row group 0: the target holds"):
        SRFFRegressor(**QUICK).fit(path, "y")


def test_files_that_do_not_fit_together_are_named(tmp_path):
    X, y = rows(100)
    one, two = tmp_path / "a.parquet", tmp_path / "b.parquet"
    parquet.write_table(table(X, y), one)
    parquet.write_table(table(X, y).drop(["x2"]), two)
    with pytest.raises(ValueError, match=r"b\.parquet: there is no column 'x2'"):
        SRFFRegressor(**QUICK).fit([one, two], "y")
    text = table(X, y).set_column(1, "x1", pa.array(["a"] * 100))
    parquet.write_table(text, two)
    with pytest.raises(ValueError, match=r"b\.parquet: column 'x1' holds string, not numbers"):
        SRFFRegressor(**QUICK).fit([one, two], "y")
    with pytest.raises(ValueError, match=r"a\.parquet: there is no column 'z'"):
        SRFFRegressor(**QUICK).fit(one, "z")
    two.write_bytes(b"")
    with pytest.raises(ValueError, match=r"b\.parquet: the file is empty"):
        SRFFRegressor(**QUICK).fit([one, two], "y")
    two.write_bytes(one.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"b\.parquet: cannot be read as parquet"):
        SRFFRegressor(**QUICK).fit([one, two], "y")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        SRFFRegressor(**QUICK).fit(tmp_path / "nowhere.parquet", "y")
    with pytest.raises(ValueError, match="name of the target's column"):
        SRFFRegressor(**QUICK).fit(one, y)
    (tmp_path / "table.txt").write_text("1")
    with pytest.raises(ValueError, match="unknown kind of file"):
        SRFFRegressor(**QUICK).fit(tmp_path / "table.txt", "y")


def test_a_fraction_after_a_megabyte_of_whole_numbers_is_a_number(tmp_path):
    X, y = np.arange(400_000.0).reshape(-1, 2) % 7, np.arange(200_000.0) % 11
    path = tmp_path / "whole.csv"
    lines = [f"{a:.0f},{b:.0f},{c:.0f}" for (a, b), c in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,y", *lines[:-1], "0.5,1,2"]))
    (piece,) = TableSource(path, "y").pieces()
    *_, last = piece.chunks()
    np.testing.assert_array_equal(last.X[-1], [0.5, 1.0])
    path.write_text("\n".join(["a,b,y", *lines[:-1], "0.5,none,2"]))
    with pytest.raises(ValueError, match=r"whole\.csv: cannot be read: .*none"):
        list(TableSource(path, "y").pieces()[0].chunks())


@pytest.mark.parametrize("kind", ["tsv", "tsv.gz", "semicolon.csv", "bar.csv"])
def test_what_parts_the_values_of_a_text_file_is_found_out(tmp_path, kind):
    X, y = rows(300)
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    between = {"semicolon.csv": ";", "bar.csv": "|"}.get(kind, "\t")
    frame.to_csv(tmp_path / f"table.{kind}", index=False, sep=between)
    plain = SRFFRegressor(**QUICK).fit(tmp_path / "plain.csv", "y")
    same_model(SRFFRegressor(**QUICK).fit(tmp_path / f"table.{kind}", "y"), plain)


def test_a_column_is_text_in_all_csv_files_if_it_is_in_one(tmp_path):
    (tmp_path / "0.csv").write_text("c,x,y\n1,2,3\n2,3,4\n")
    (tmp_path / "1.csv").write_text("y,c,x\n1,b,2\n2,a,3\n")
    (tmp_path / "2.csv").write_text("c,x,y\n")
    source = TableSource(tmp_path, "y")
    assert source.kinds == ("category", "number")
    assert learn_facts(source).levels[0].tolist() == ["1", "2", "a", "b"]


@pytest.mark.parametrize(
    ("last", "column", "value"),
    [
        ("1,none,true", "number", "none"),
        ('1," 2 x",true', "number", " 2 x"),
        ("1,2,TrUe", "flag", "TrUe"),
        ("1,2,2.5", "flag", "2.5"),
        ("oops,2,true", "whole", "oops"),
        ("1,\xff2,true", "number", "\ufffd2"),
    ],
)
def test_a_text_below_many_numbers_is_named_with_its_column(tmp_path, last, column, value):
    path = tmp_path / "t.csv"
    lines = ["whole,number,flag", *(f"{i % 7}, {i}.5,{'TRUE' if i % 2 else '0'}" for i in range(9))]
    long = [*lines[1:]] * 15_000
    path.write_bytes("\n".join([lines[0], *long, "NA,,false", last, *long[:5]]).encode("latin-1"))
    (file,) = open_table(path).files
    with pytest.raises(TextAmongNumbers) as caught:
        list(file.pieces()[0].batches(["flag", "number", "whole"]))
    assert caught.value.column == column
    assert str(caught.value).endswith(f"cannot be used: it holds text such as {value!r}.")


def test_lines_that_are_too_short_are_no_text_among_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,y", *["1.5,2"] * 300_000, "1"]))
    with pytest.raises(ValueError, match=r"t\.csv: cannot be read as csv: .*columns"):
        list(TableSource(path, "y").pieces()[0].chunks())


@pytest.mark.parametrize("change", ["written", "removed"])
def test_a_file_that_changes_between_passes_is_named(tmp_path, short, change):
    X, y = rows()
    path = write(tmp_path, X, y, "parquet")
    done = []

    def meddle(progress):
        if not done:
            done.append(1)
            path.unlink()
            if change == "written":
                write(tmp_path, 2 * X, y, "parquet")

    error = ValueError if change == "written" else FileNotFoundError
    with pytest.raises(error, match=r"table\.parquet"):
        SRFFRegressor(**QUICK, callback=meddle).fit(path, "y")


def test_blocks_are_checked():
    X, y = rows(50)
    with pytest.raises(ValueError, match="only once"):
        SRFFRegressor(**QUICK).fit((X, y) for _ in range(2))
    with pytest.raises(ValueError, match="Block 1 has 5 columns, the first one has 6"):
        SRFFRegressor(**QUICK).fit([(X, y), (X[:, :5], y)])
    with pytest.raises(ValueError, match="Block 1 has X of shape"):
        SRFFRegressor(**QUICK).fit([(X, y), (X, y[:3])])
    with pytest.raises(ValueError, match="empty"):
        BlockSource([])


def test_a_survey_finds_what_the_whole_array_has():
    X, y = rows(1000, dtype=np.float32)
    Y = y[:, None]
    multipliers = key_multipliers(np.random.RandomState(0), 6)
    keys = row_keys(X, Y, multipliers, ends=Ends.of(X, Y))
    blocks = [(X[i : i + 90], y[i : i + 90]) for i in range(0, 1000, 90)]
    for n_threads in (1, 4):
        found = first_pass(BlockSource(blocks), multipliers, 120, 70, n_threads)
        assert found.n_rows == 1000
        np.testing.assert_array_equal(np.sort(found.high.keys), np.sort(keys[highest(keys, 120)]))
        np.testing.assert_array_equal(np.sort(~found.low.keys), np.sort(keys)[:70])
        np.testing.assert_array_equal(found.high.X, X[np.argsort(~keys)[:120]])
        whole = moments(X)
        np.testing.assert_allclose(found.inputs.mean, whole.mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.inputs.spread, whole.spread, rtol=1e-9)


@pytest.mark.parametrize("magnitude", [1e-200, 1.0, 1e200])
def test_moments_of_parts_are_those_of_the_whole(magnitude):
    X = np.random.RandomState(0).normal([0, 5, -3], 1.0, (500, 3)) * magnitude
    whole, parts = moments(X), merged([moments(X[:100]), moments(X[100:130]), moments(X[130:])])
    for name in ("total", "low", "high", "mean", "spread"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-10)


def test_rows_that_are_subtracted_leave_the_sums_of_the_others():
    X, y = rows(600)
    Y = y[:, None]
    s = Standardisation(Standardise(np.zeros(6), np.ones(6)), np.zeros(1), 1.0)
    W, b = np.random.RandomState(0).standard_normal((6, 8)), np.arange(8.0)

    def engine(X, Y):
        plan = BlockPlan(64, cached=False)
        sizes = tuple(p.X.shape[0] for p in ArraySource(X, Y).pieces())
        return StreamEngine(ArraySource(X, Y), sizes, len(X), s, plan, np.dtype(np.float64))

    with engine(X, Y) as all_, engine(X[:200], Y[:200]) as some, engine(X[200:], Y[200:]) as rest:
        left, right = Remainder(all_, some, 400).statistics(W, b), rest.statistics(W, b)
        np.testing.assert_allclose(left.G, right.G, rtol=1e-10, atol=1e-10)
        assert (left.n, left.s) == (right.n, pytest.approx(right.s))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 21, 64, 67, 85])
def test_sums_of_groups_are_sums_in_one_order(number, monkeypatch):
    monkeypatch.setattr(stream, "FAN", 4)
    parts = [[part] for part in np.random.RandomState(0).standard_normal((number, 4))]
    parts[number // 2 : number // 2] = [[], []]  # of no rows
    total = stream.TreeSum()
    for part in parts:
        total.add([array.copy() for array in part])
    all_at_once = stream.tree(parts, stream.added)
    (sums,) = total.result()
    np.testing.assert_array_equal(all_at_once[0], sums)
    np.testing.assert_allclose(sums, np.sum([p for p in parts if p], axis=(0, 1)), rtol=1e-12)
    assert stream.TreeSum().result() == []


def test_a_table_reads_only_the_columns_that_are_asked_for(tmp_path):
    X, y = rows(100, dtype=np.float32)
    source = TableSource(write(tmp_path, X, y, "parquet"), "y")
    assert source.n_rows == 100
    (chunk,) = next(iter(source.pieces())).chunks(np.array([4, 1]))
    assert chunk.X.dtype == np.float32
    np.testing.assert_array_equal(chunk.X, X[:, [4, 1]])


def test_sources_know_nothing_of_engines():
    folder = Path(arrays.__file__).parent
    assert not [p.name for p in folder.glob("*.py") if "srff.data.engines" in p.read_text("utf-8")]


class Changing:
    """Blocks of which each pass sees others: other inputs, targets, or numbers of rows."""

    def __init__(self, what):
        self.what, self.passes = what, 0

    def __iter__(self):
        self.passes += 1
        rng = np.random.default_rng(0)
        for _ in range(4):
            X = rng.normal(size=(100, 3))
            y = X[:, 0] + (self.passes if self.what == "targets" else 0)
            if self.what == "inputs":
                X[7, 0] += 1e-9 * self.passes
            if self.what == "inputs of other rows":
                X = np.roll(X, self.passes, axis=0)
            n = 100 - (self.passes if self.what == "rows" else 0)
            yield X[:n], y[:n]


@pytest.mark.parametrize("what", ["rows", "targets", "inputs", "inputs of other rows"])
def test_blocks_that_change_between_passes_are_refused(monkeypatch, what):
    monkeypatch.setattr(dataset, "STREAM_ROWS", 200)
    message = r"gave other blocks|gave \d+ rows, first|other (inputs|targets) than the first time"
    with pytest.raises(ValueError, match=message):
        SRFFRegressor(n_components=10, max_iter=2, random_state=0).fit(Changing(what))


@pytest.mark.slow
def test_a_csv_file_with_a_very_long_first_line_is_read(tmp_path):
    long = "a" * 2**21
    for names in ([long, "b", "y"], [f"column {k}" for k in range(100_000)]):
        path = tmp_path / "t.csv"
        path.write_text("\n".join([",".join(names), *[",".join("1" for _ in names)] * 2]) + "\n")
        table = open_table(path)
        assert table.names == names
        assert sum(batch.num_rows for batch in table.batches(names[:2])) == 2
