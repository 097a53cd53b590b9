"""Checkpoints: killed fits go on to the same model, and what cannot be gone on from is refused."""

from __future__ import annotations

import errno
import os
import random
import re
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from math import inf, nan
from threading import Lock
from types import SimpleNamespace

import numpy as np
import pytest

from srff import SRFFRegressor
from srff._utils import checkpoint
from srff._utils.atomic_files import DamagedFile, read_whole, write_whole
from srff._utils.checkpoint import NO_CHECKPOINT, CheckpointError, FolderCheckpoint
from srff._utils.steps import packed, unpacked
from srff.core.kernels import Matern
from srff.data import dataset
from srff.paper.algorithm1 import Algorithm1

QUICK = {"n_components": 20, "max_iter": 4, "random_state": 0}
PAPER = QUICK | {"solver": "alternating", "refine": None}
PROFILE = QUICK | {"refine": None}
SHORT = PAPER | {"alpha": 1e-3, "tol": 0.0}
"""Four steps and the last solve."""
pytestmark = pytest.mark.filterwarnings("ignore:The solver stopped")


def rows(n=200):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, n)


@pytest.fixture(autouse=True)
def every_step(monkeypatch):
    """Every step is written at once."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)


def same_model(one, other):
    for name in ("scale_", "coefficients_", "frequencies_", "offsets_", "objective_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.n_passes_, one.effective_passes_) == (other.n_passes_, other.effective_passes_)


class Stop(Exception):
    pass


def stop_at(report):
    """A callback that interrupts the fit at one of its reports."""
    left = [report]

    def callback(progress):
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    return callback


@pytest.mark.parametrize(
    ("options", "reports"),
    [(QUICK | {"n_jobs": 1}, (0, 40, 80)), (PAPER, (0, 3, 30)), (PROFILE, (0, 2, 6))],
    ids=["default", "paper", "profile"],
)
def test_an_interrupted_fit_goes_on_to_the_same_model(tmp_path, options, reports):
    X, y = rows()
    whole = SRFFRegressor(**options).fit(X, y)
    for report in reports:
        callback = stop_at(report)
        try:
            SRFFRegressor(**options, checkpoint=tmp_path, callback=callback).fit(X, y)
        except Stop:
            assert (tmp_path / "fit.json").exists()
    n_files = len(list(tmp_path.glob("*.steps")))
    assert n_files >= 2
    model = SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)
    same_model(model, whole)
    assert len(list(tmp_path.glob("*.steps"))) > n_files
    # A fit that had ended is there at once.
    n_files = len(list(tmp_path.glob("*.steps")))
    again = SRFFRegressor(**options | {"n_jobs": 2}, checkpoint=tmp_path).fit(X, y)
    same_model(again, whole)
    np.testing.assert_array_equal(again.path_["seconds"] > 0, model.path_["seconds"] > 0)
    assert len(list(tmp_path.glob("*.steps"))) == n_files


def test_steps_that_are_there_are_not_done_again(tmp_path, monkeypatch):
    X, y = rows()
    SRFFRegressor(**PAPER, checkpoint=tmp_path).fit(X, y)

    def forbidden(*arguments, **settings):
        raise AssertionError("an iteration was done again")

    monkeypatch.setattr(Algorithm1, "advance", forbidden)
    SRFFRegressor(**PAPER, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(AssertionError, match="done again"):
        SRFFRegressor(**PAPER).fit(X, y)


def test_without_a_random_state_the_drawn_seed_is_kept(tmp_path):
    X, y = rows()
    options = PAPER | {"random_state": None}
    with pytest.raises(Stop):
        SRFFRegressor(**options, checkpoint=tmp_path, callback=stop_at(9)).fit(X, y)
    model = SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)
    same_model(model, SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y))


def test_a_stream_goes_on_too(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "STREAM_ROWS", 100)
    monkeypatch.setattr(dataset, "SAMPLE_ROWS", 100)
    X, y = rows()
    options = QUICK | {"refine": "metric", "max_iter": 2}
    blocks = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 200, 40)]
    whole = SRFFRegressor(**options).fit(blocks)
    with pytest.raises(Stop):
        SRFFRegressor(**options, checkpoint=tmp_path, callback=stop_at(50)).fit(blocks)
    same_model(SRFFRegressor(**options, checkpoint=tmp_path).fit(blocks), whole)
    blocks[3][0][7, 2] += 1e-9
    with pytest.raises(CheckpointError, match=r"it is of another fit: rows is \w+ there"):
        SRFFRegressor(**options, checkpoint=tmp_path).fit(blocks)
    blocks[3][0][7, 2] -= 1e-9
    with pytest.raises(CheckpointError, match="it is of another fit: rows is"):
        SRFFRegressor(**options, checkpoint=tmp_path).fit([(X[:100], y[:100]), (X[100:], y[100:])])


SCRIPT = """
import os, signal, sys, time
import numpy as np
from srff import SRFFRegressor
import srff._utils.checkpoint as steps
steps.SECONDS, steps.SHARE = 0.02, 0.0
rng = np.random.RandomState(0)
X = rng.standard_normal((400, 6))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, 400)
options = {"n_components": 30, "max_iter": 10, "random_state": 0, "n_jobs": 1}
for line in sys.stdin:
    seconds, checkpoint, out = line.split()
    child = os.fork()
    if child == 0:
        model = SRFFRegressor(**options, checkpoint=None if checkpoint == "-" else checkpoint)
        model.fit(X, y)
        np.savez(out, scale=model.scale_, coef=model.coefficients_, W=model.frequencies_)
        os._exit(0)
    begun = time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() - begun > float(seconds):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            print("killed", flush=True)
            break
        time.sleep(0.001)
    else:
        print(time.monotonic() - begun, flush=True)
"""


@pytest.mark.slow
def test_twenty_kills_at_random_moments_change_nothing(tmp_path):
    """Fits in processes of their own, each killed once or again and again, then left to end."""
    expected, got = tmp_path / "expected.npz", tmp_path / "got.npz"
    command = [sys.executable, "-c", SCRIPT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:

        def run(folder, out, seconds=600.0):
            """The seconds that the fit took, or None if it was killed after so many."""
            process.stdin.write(f"{seconds} {folder} {out}\n")
            process.stdin.flush()
            answer = process.stdout.readline().strip()
            return None if answer == "killed" else float(answer)

        whole = run("-", expected)
        rng = random.Random(0)
        kills, resumed = 0, 0
        for number in range(100):
            folder = tmp_path / f"checkpoint-{number}"
            while kills < 20:
                if run(folder, got, rng.uniform(0, 0.8 * whole)) is not None:
                    break
                kills += 1
                if rng.random() < 0.3:
                    break
            resumed += bool(list(folder.glob("*.steps"))) and not got.exists()
            run(folder, got)
            with np.load(expected) as one, np.load(got) as other:
                for name in one:
                    np.testing.assert_array_equal(one[name], other[name])
            got.unlink()
            if kills == 20:
                break
        process.stdin.close()
    assert kills == 20
    assert resumed > 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"alpha": 0.1}, "alpha is 0.001 there and 0.1 here"),
        ({"n_components": 21}, "n_components is 20 there and 21 here"),
        ({"random_state": 1}, "random_state is 0 there and 1 here"),
        ({"kernel": Matern(2.0)}, r"kernel is 'gaussian' there and \S*Matern {'nu': 2.0} here"),
        ({"memory_limit": "1GB"}, "memory_limit is None there and '1GB' here"),
    ],
)
def test_other_parameters_are_refused(tmp_path, change, reason):
    X, y = rows(60)
    SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(CheckpointError, match=f"it is of another fit: {reason}"):
        SRFFRegressor(**SHORT | change, checkpoint=tmp_path).fit(X, y)
    SRFFRegressor(**SHORT, checkpoint=tmp_path, n_jobs=1, verbose=1).fit(X, y)


def test_other_constants_are_refused(tmp_path, configure):
    X, y = rows(60)
    SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)
    configure(free_alphas=(2.0,))
    reason = r"selection_config.free_alphas is \[.*\] there and \[2.0\] here"
    with pytest.raises(CheckpointError, match=f"it is of another fit: {reason}"):
        SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)


def test_other_data_and_another_version_are_refused(tmp_path, monkeypatch):
    X, y = rows(60)
    SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(CheckpointError, match="n_rows is 60 there and 59 here"):
        SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X[1:], y[1:])
    with pytest.raises(CheckpointError, match="rows is"):
        SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y + 1e-12)
    with pytest.raises(CheckpointError, match=r"weight is 60.0 there and \d+.\d here|rows is"):
        SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y, sample_weight=np.arange(1.0, 61))
    monkeypatch.setattr(checkpoint, "__version__", "9.9")
    with pytest.raises(CheckpointError, match=r"version is 0\.\d\.\d there and 9.9 here"):
        SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)


def damage(path, how):
    content = bytearray(path.read_bytes())
    if how == "flip":
        content[len(content) // 2] ^= 1
    elif how == "cut":
        del content[len(content) // 2 :]
    elif how == "empty":
        content.clear()
    else:
        path.unlink()
        return
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["flip", "cut", "empty", "remove"])
@pytest.mark.parametrize("name", ["fit.json", "000002.steps"])
def test_a_damaged_checkpoint_is_refused(tmp_path, name, how):
    X, y = rows(60)
    SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)
    damage(tmp_path / name, how)
    reason = f"{name} is missing" if how == "remove" else name
    with pytest.raises(CheckpointError, match=f"cannot be gone on from: .*{reason}[^.]*\\. Delete"):
        SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)
    shutil.rmtree(tmp_path)
    SRFFRegressor(**SHORT, checkpoint=tmp_path).fit(X, y)


@dataclass(frozen=True)
class Found:
    """The result of a step, with all that a result may hold."""

    vector: np.ndarray = field(default_factory=lambda: np.arange(3.0))
    size: float = 2.5
    n_iter: int = 4
    ended: bool = True
    values: tuple[float, ...] = (1.0, 0.5)
    arrays: tuple[np.ndarray, ...] = field(
        default_factory=lambda: (np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.ones(1))
    )
    none: tuple[np.ndarray, ...] = ()
    step: float = inf


def test_the_result_of_a_step_comes_back_as_it_was(tmp_path):
    counted, result = SimpleNamespace(n_passes=0), Found()

    def work():
        counted.n_passes += 3
        return result

    with FolderCheckpoint(tmp_path, {}) as first:
        first.begin(dict)
        assert first.run(Found, "one", counted, work) is result
    with FolderCheckpoint(tmp_path, {}) as second:
        second.begin(dict)
        again = second.run(Found, "one", counted, pytest.fail)
        assert second.run(Found, "two", counted, work) is result
    assert counted.n_passes == 9  # the passes of a step that is not done again count too
    for name, value in vars(result).items():
        np.testing.assert_equal(getattr(again, name), value)
        assert type(getattr(again, name)) is type(value)
    assert again.arrays[0].flags.f_contiguous  # the bits of products may depend on it
    assert NO_CHECKPOINT.run(Found, "one", counted, work) is result


HOSTILE = {
    "no description": b"",
    "no JSON": b"{\n",
    "deep": b"[" * 100_000 + b"\n",
    "no list": b"3\n",
    "no entry": b"[3]\n",
    "short entry": b'[["a", 1]]\n',
    "no label": b"[[1, 1, {}]]\n",
    "no count": b'[["a", "1", {}]]\n',
    "a negative count": b'[["a", -1, {}]]\n',
    "no arrays": b'[["a", 1, []]]\n',
    "no shape": b'[["a", 1, {"b": ["<f8"]}]]\n',
    "objects": b'[["a", 1, {"b": ["|O8", [1], "C"]}]]\n01234567',
    "a record": b'[["a", 1, {"b": ["<f8,<f8", [1], "C"]}]]\n01234567',
    "half a number": b'[["a", 1, {"b": ["<f1", [8], "C"]}]]\n01234567',
    "no side": b'[["a", 1, {"b": ["<f8", ["1"], "C"]}]]\n01234567',
    "a negative side": b'[["a", 1, {"b": ["<f8", [-1], "C"]}]]\n01234567',
    "a giant": b'[["a", 1, {"b": ["<f8", [1000000000000], "C"]}]]\n01234567',
    "a giant of small sides": b'[["a", 1, {"b": ["<f8", [60, 60, 60, 60, 60], "C"]}]]\n01234567',
    "an empty giant": b'[["a", 1, {"b": ["<f8", [0, 1000000000000], "C"]}]]\n',
    "no order": b'[["a", 1, {"b": ["<f8", [1], "X"]}]]\n01234567',
    "many digits": b"[" + b"9" * 10_000 + b"]\n",
    "neither true nor false": b'[["a", 1, {"b": ["|b1", [1], "C"]}]]\n7',
    "more bytes": b'[["a", 1, {"b": ["<f8", [1], "C"]}]]\n0123456789',
    "a zip": b"PK\x03\x04\n" + bytes(100),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_steps_with_a_right_checksum_that_cannot_be_are_refused(tmp_path, name):
    with FolderCheckpoint(tmp_path, {}) as first:
        first.begin(dict)
    write_whole(tmp_path / "000000.steps", HOSTILE[name])
    with pytest.raises(
        CheckpointError, match=r"cannot be gone on from: \S*000000\.steps: .*Delete"
    ):
        FolderCheckpoint(tmp_path, {})


def changed(**fields):
    return lambda record: record | {name: np.asarray(value) for name, value in fields.items()}


def without(name):
    return lambda record: {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed(vector=[1.0, nan, 2.0]), "nan in vector"),
        (changed(size=inf), "inf in size"),
        (changed(values=[1.0, -inf]), "-inf in values"),
        (changed(step=nan), "nan in step"),
        (changed(**{"arrays/1": [nan]}), "nan in arrays/1"),
        (changed(size=[1.0, 2.0]), r"float64 of shape \(2,\) in size"),
        (changed(n_iter=1.5), "float64 of shape \\(\\) in n_iter"),
        (changed(ended=3), "int64 of shape"),
        (changed(values=1.0), "shape \\(\\) in values"),
        (changed(other=1.0), "unknown field 'other'"),
        (without("vector"), "no field 'vector'"),
        (without("size"), "no field 'size'"),
        (without("arrays/0"), "no field 'arrays', or a part"),
        (without("none"), "no field 'none', or a part"),
    ],
)
def test_steps_of_numbers_that_cannot_be_are_refused(tmp_path, change, reason):
    counted, file = SimpleNamespace(n_passes=0), tmp_path / "000000.steps"
    with FolderCheckpoint(tmp_path, {}) as first:
        first.begin(dict)
        first.run(Found, "one", counted, Found)
    (step,) = unpacked(read_whole(file))
    write_whole(file, packed([step._replace(record=change(step.record))]))
    with FolderCheckpoint(tmp_path, {}) as second:
        second.begin(dict)
        with pytest.raises(CheckpointError, match=rf"000000\.steps: .*{reason}"):
            second.run(Found, "one", counted, pytest.fail)


@pytest.mark.parametrize("number", [0, 2, -1])
@pytest.mark.parametrize("options", [SHORT | {"validation": 0.2}, SHORT | {"solver": "profile"}])
def test_a_fit_refuses_steps_without_finite_numbers_or_of_another_shape(tmp_path, options, number):
    X, y = rows(60)
    SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)
    file = sorted(tmp_path.glob("*.steps"))[number]
    (step,) = unpacked(read_whole(file))
    for name, array in step.record.items():
        if array.ndim and "objective" not in name:
            for other in (array * nan, np.concatenate([array, array])):
                write_whole(file, packed([step._replace(record=step.record | {name: other})]))
                with pytest.raises(CheckpointError, match=r"\d{6}\.steps: a step has"):
                    SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)


def reshaped(name, array):
    """Arrays of the same numbers, nearly, that are not of the shape or the type of this one."""
    if not array.ndim:
        return [array.reshape(1)]
    others = [array[None], array.reshape(-1, 1, 1), np.zeros(0), array.T]
    if name != "objective":  # a descent may take any number of evaluations
        others += [np.concatenate([array, array]), array[:-1], array.astype(np.int64)]
    return [o for o in others if o.shape != array.shape or o.dtype != array.dtype]


@pytest.mark.parametrize(
    ("options", "n_kinds"),
    [
        (SHORT | {"validation": 0.2}, 2),
        (SHORT | {"solver": "profile"}, 3),
        (QUICK | {"validation": 0.3}, 6),
    ],
)
def test_no_kind_of_step_is_taken_with_arrays_of_another_shape(tmp_path, options, n_kinds):
    X, y = rows(120)
    SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)
    files = sorted(tmp_path.glob("*.steps"))
    steps = [step for file in files for step in unpacked(read_whole(file))]
    for file in files[1:]:
        file.unlink()
    kinds = {re.sub(r"[\d.e-]+", "", step.label): step for step in steps[::-1]}
    assert len(kinds) >= n_kinds
    for step in kinds.values():
        before = steps[: steps.index(step)]
        for name, array in step.record.items():
            for other in reshaped(name, array):
                odd = step._replace(record=step.record | {name: other})
                write_whole(files[0], packed([*before, odd]))
                with pytest.raises(CheckpointError, match=r"000000\.steps: a step has"):
                    SRFFRegressor(**options, checkpoint=tmp_path).fit(X, y)


def test_a_result_without_finite_numbers_ends_the_record(tmp_path):
    counted = SimpleNamespace(n_passes=0)
    with FolderCheckpoint(tmp_path, {}) as first:
        first.begin(dict)
        for label, size in (("one", 1.0), ("two", nan), ("three", 3.0)):
            first.run(Found, label, counted, lambda size=size: Found(size=size))
    made = []
    with FolderCheckpoint(tmp_path, {}) as second:
        second.begin(dict)
        for label in ("one", "two", "three"):
            second.run(Found, label, counted, lambda label=label: made.append(label) or Found())
    assert made == ["two", "three"]


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"[" * 100_000,
        b'{"identity": 3, "seed": 1, "data": {}}',
        b'{"identity": {}, "seed": 1}',
        b'{"identity": {}, "data": {}}',
        b'{"identity": {}, "seed": "1", "data": {}}',
        b'{"identity": {}, "seed": -1, "data": {}}',
        b"\xff\xfe",
    ],
)
def test_a_head_that_says_nothing_is_refused(tmp_path, content):
    write_whole(tmp_path / "fit.json", content)
    with pytest.raises(CheckpointError, match=r"fit\.json: it "):
        FolderCheckpoint(tmp_path, {})


@pytest.mark.parametrize("name", ["fit.json", "000000.steps"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "giant"])
def test_what_is_no_file_of_ours_is_refused(tmp_path, name, kind):
    with FolderCheckpoint(tmp_path, {}) as first:
        first.begin(dict)
    path = tmp_path / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(tmp_path / "nowhere")
    else:
        with open(path, "wb") as file:
            file.truncate(2**40)  # takes no room on the disk
    with pytest.raises(CheckpointError, match=name):
        FolderCheckpoint(tmp_path, {})


def test_each_iteration_is_a_step(tmp_path):
    counted, made = SimpleNamespace(n_passes=0), []

    def advance(state):
        made.append(state.n_iter)
        return replace(state, n_iter=state.n_iter + 1)

    for _ in range(2):
        with FolderCheckpoint(tmp_path, {}) as steps:
            steps.begin(dict)
            following = steps.wrapped(advance, lambda state: f"iteration {state.n_iter}", counted)
            assert following(following(Found())).n_iter == 6
    assert made == [4, 5]


def test_steps_of_another_course_are_refused(tmp_path):
    counted = SimpleNamespace(n_passes=0)
    with FolderCheckpoint(tmp_path, {}) as first:
        first.begin(dict)
        first.run(Found, "one", counted, Found)
    with FolderCheckpoint(tmp_path, {}) as second:
        second.begin(dict)
        with pytest.raises(CheckpointError, match="a step is 'one' there and 'two' here"):
            second.run(Found, "two", counted, Found)


def test_two_fits_at_a_time_in_one_folder_are_refused(tmp_path):
    with (
        FolderCheckpoint(tmp_path, {}),
        pytest.raises(CheckpointError, match="in use by another fit"),
    ):
        FolderCheckpoint(tmp_path, {})
    FolderCheckpoint(tmp_path, {}).close()


def test_what_a_killed_write_left_is_swept_away(tmp_path):
    ours = [f".{name}.{'0f' * 8}.part" for name in ("000000.steps", "fit.json")]
    others = [".notes.part", "mine.part", f".notes.{'0f' * 8}.part", ".000000.steps.part"]
    for name in [*ours, *others]:
        (tmp_path / name).write_bytes(b"half")
    with FolderCheckpoint(tmp_path, {}) as fresh:
        fresh.begin(dict)
    assert sorted(p.name for p in tmp_path.glob("*.part")) == sorted(others)  # the user's stay


FULL = """
import sys, numpy as np
from srff import SRFFRegressor
import srff._utils.checkpoint as steps
steps.SECONDS, steps.SHARE = 0.0, 0.0
rng = np.random.RandomState(0)
X = rng.standard_normal((200, 5))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, 200)
options = {"n_components": 20, "max_iter": 4, "random_state": 0, "n_jobs": 1}
try:
    SRFFRegressor(**options, checkpoint=sys.argv[1]).fit(X, y)
except OSError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_what_was_written_stays(tmp_path):
    """A real file system of a few blocks, where this user may mount one; it is then made larger."""
    script, disk, kept = tmp_path / "fit.py", tmp_path / "disk", tmp_path / "kept"
    script.write_text(FULL)
    disk.mkdir()
    shell = (
        f"mount -t tmpfs -o size=64k none {disk} && {sys.executable} {script} {disk}/checkpoint"
        f" && ls -a {disk}/checkpoint && cp -r {disk}/checkpoint {kept}"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell],
        capture_output=True,
        text=True,
        check=False,
    )
    if "fit.json" not in done.stdout:
        assert "mount" in done.stderr or "unshare" in done.stderr, done.stderr
        return fall_back_to_a_limit(tmp_path)
    assert "cannot be written: No space left on device. What was written before" in done.stdout
    assert ".part" not in done.stdout
    X, y = rows()
    options = {"n_components": 20, "max_iter": 4, "random_state": 0}
    n_files = len(list(kept.glob("*.steps")))
    assert n_files > 0
    same_model(
        SRFFRegressor(**options, checkpoint=kept).fit(X, y), SRFFRegressor(**options).fit(X, y)
    )
    return None


def fall_back_to_a_limit(folder):
    """The system refuses to write more than so many bytes to a file."""
    write_whole(folder / "a", b"before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(folder / "a", b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert read_whole(folder / "a") == b"before"
    assert [p.name for p in folder.glob(".*")] == []


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    fall_back_to_a_limit(tmp_path)
    (tmp_path / "b").write_bytes(b"something else")
    with pytest.raises(DamagedFile, match="not one that srff wrote"):
        read_whole(tmp_path / "b")


def test_a_checkpoint_must_be_a_folder(tmp_path):
    X, y = rows(60)
    (tmp_path / "file").write_text("")
    with pytest.raises(
        OSError, match=r"checkpoint=.*cannot be written: File exists\. A f"
    ) as error:
        SRFFRegressor(checkpoint=tmp_path / "file").fit(X, y)
    assert error.value.errno == errno.EEXIST
    (tmp_path / "folder" / "lock").mkdir(parents=True)
    for folder in ("/proc/self", "/proc/none", tmp_path / "folder", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=f"checkpoint='{folder}' cannot be written: "):
            SRFFRegressor(checkpoint=folder).fit(X, y)
    for bad in (3, "", " ", b"folder", "a\0b"):
        with pytest.raises(ValueError, match=r"checkpoint=.* must be a folder or None"):
            SRFFRegressor(checkpoint=bad).fit(X, y)


def test_tasks_side_by_side_leave_their_steps_in_their_order(tmp_path):
    counted, done, lock = SimpleNamespace(n_passes=0), [], Lock()

    def step(checkpoint, label):
        def work():
            with lock:
                counted.n_passes += 1
            done.append(label)
            return Found(size=float(label))

        return checkpoint.run(Found, label, counted, work)

    def sizes(n_threads):
        with FolderCheckpoint(tmp_path, {}) as steps:
            steps.begin(dict)
            tasks = [lambda k=k: [step(steps, f"{k}{j}") for j in range(2)] for k in range(1, 4)]
            found = steps.together(tasks, n_threads, [counted])
            last = step(steps, "99")  # after the tasks, by the caller
            return [each.size for of_task in [*found, [last]] for each in of_task]

    expected = [10.0, 11.0, 20.0, 21.0, 30.0, 31.0, 99.0]
    assert sizes(3) == expected
    assert len(done) == 7
    assert counted.n_passes == 7
    for n_threads in (1, 2):  # nothing is done again, and passes count as often as steps are there
        assert sizes(n_threads) == expected
    assert len(done) == 7
    assert counted.n_passes == 21


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_on_threads_goes_on_from_one_without_and_the_other_way(tmp_path, n_jobs):
    X, y = rows()
    whole = SRFFRegressor(**QUICK).fit(X, y)
    with pytest.raises(Stop):
        SRFFRegressor(**QUICK, checkpoint=tmp_path, callback=stop_at(90), n_jobs=n_jobs).fit(X, y)
    same_model(SRFFRegressor(**QUICK, checkpoint=tmp_path, n_jobs=3 - n_jobs).fit(X, y), whole)
