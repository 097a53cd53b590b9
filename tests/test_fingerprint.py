"""Values as texts: the same definition is the same text in another process, any other is not."""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import inspect
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pytest

from srff import SRFFRegressor
from srff._utils.checkpoint import CheckpointError
from srff._utils.fingerprint import Indescribable, described, digest
from srff.core.kernels import Matern

SHORT = {"n_components": 20, "max_iter": 2, "random_state": 0, "alpha": 1e-3, "refine": None}

KERNELS = {
    "constant": "kernel = lambda rng, size: V * rng.normal(size=size)",
    "default": "def kernel(rng, size, by=V): return by * rng.normal(size=size)",
    "keyword default": "def kernel(rng, size, *, by=V): return by * rng.normal(size=size)",
    "partial": """
def scaled(by, rng, size): return by * rng.normal(size=size)
kernel = functools.partial(scaled, V)
""",
    "partial of keywords": """
def scaled(rng, size, by): return by * rng.normal(size=size)
kernel = functools.partial(scaled, by=V)
""",
    "closure": """
def made(by): return lambda rng, size: by * rng.normal(size=size)
kernel = made(V)
""",
    "closure of a function": """
def made(inner): return lambda rng, size: inner(rng.normal(size=size))
kernel = made(lambda draws: V * draws)
""",
    "decorated": """
def twice(inner):
    @functools.wraps(inner)
    def wrapper(rng, size): return 2 * inner(rng, size)
    return wrapper
@twice
def kernel(rng, size): return V * rng.normal(size=size)
""",
    "global": """
SCALES = {"by": V}
def kernel(rng, size): return SCALES["by"] * rng.normal(size=size)
""",
    "helper": """
LOG = logging.getLogger("kernels")
def helper(size): LOG.debug("drawn"); return V
def kernel(rng, size): return [helper(size) for _ in range(1)][0] * rng.normal(size=size)
""",
    "attribute": """
class Kernel:
    def __init__(self, by): self.by = by
    def sample(self, rng, size): return self.by * rng.normal(size=size)
kernel = Kernel(V)
""",
    "array": """
class Kernel:
    def __init__(self, by): self.by = np.array([1.0] * 5000 + [by])
    def sample(self, rng, size): return self.by[-1] * rng.normal(size=size)
kernel = Kernel(V)
""",
    "nested": """
class Kernel:
    def __init__(self, by):
        self.inside, self.me = [{"by": (np.array(["a", by], dtype=object),)}], self
    def sample(self, rng, size): return self.inside[0]["by"][0][1] * rng.normal(size=size)
kernel = Kernel(V)
""",
    "class attribute": """
class Base:
    by = V
class Kernel(Base):
    def sample(self, rng, size): return self.by * rng.normal(size=size)
kernel = Kernel()
""",
    "method": """
class Kernel:
    def by(self): return V
    def sample(self, rng, size): return self.by() * rng.normal(size=size)
kernel = Kernel().sample
""",
    "property": """
class Kernel:
    @property
    def by(self): return V
    @functools.cached_property
    def other(self): return 1.0
    @staticmethod
    def fixed(): return 1.0
    def sample(self, rng, size): return self.by * rng.normal(size=size)
kernel = Kernel()
""",
    "slots": """
class Kernel:
    __slots__ = ("__by", "empty")
    def __init__(self, by): self.__by = by
    def sample(self, rng, size): return self.__by * rng.normal(size=size)
kernel = Kernel(V)
""",
    "dataclass": """
@dataclasses.dataclass(frozen=True)
class Kernel:
    by: float = V
    names: frozenset = frozenset(["one", "two", "three"])
    def sample(self, rng, size): return self.by * rng.normal(size=size)
kernel = Kernel()
""",
    "hidden state": """
class Kernel:
    def __init__(self, by): self.by = by
    def __getstate__(self): return {}
    def sample(self, rng, size): return self.by * rng.normal(size=size)
kernel = Kernel(V)
""",
    "random state": """
class Kernel:
    def __init__(self, seed): self.own = np.random.default_rng(seed)
    def sample(self, rng, size): return self.own.normal(size=size)
kernel = Kernel(int(V))
""",
    "vectorized": """
kernel = np.vectorize(lambda rng, size: V)
""",
    "recursive": """
def kernel(rng, size, left=3):
    return kernel(rng, size, left - 1) if left else V * rng.normal(size=size)
""",
    "caught": """
def kernel(rng, size):
    try: return {1.0: None, 2.0: rng}[V].normal(size=size)
    except AttributeError: return rng.normal(size=size)
""",
    "loss": """
class Own(srff.losses.Loss):
    name = "own"
    def value(self, Y, F): return ((Y - F) ** 2).sum(axis=1) * V
    def slope(self, Y, F): return 2 * V * (F - Y)
    def curvature(self, Y, F): return np.full(len(F), 2.0 * V)
kernel = Own()
""",
    "estimator": """
class Own(srff.SRFFRegressor):
    def _limits(self): return int(V), 0.0
kernel = Own
""",
}
SAMPLERS = [name for name in KERNELS if name not in ("loss", "estimator", "vectorized")]

IMPORTS = "import dataclasses, functools, logging\nimport numpy as np\nimport srff, srff.losses\n"


def made(name, value):
    """A kernel of its own, defined anew, in which the number is written in the place of V."""
    module = sys.modules["users"] = ModuleType("users")
    exec(IMPORTS + KERNELS[name].replace("V", str(value)), vars(module))
    return module.kernel


@pytest.mark.parametrize("name", KERNELS)
def test_a_definition_is_told_from_another_and_not_from_itself(name):
    assert described(made(name, 1.0)) == described(made(name, 1.0))
    assert described(made(name, 1.0)) != described(made(name, 2.0))


SCRIPT = """
import json, sys
from srff._utils.fingerprint import described
from test_fingerprint import KERNELS, made, VALUES
found = {name: described(made(name, 1.0)) for name in KERNELS}
print(json.dumps(found | {name: described(value) for name, value in VALUES.items()}))
"""


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


TEXTS = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None], "c": pd.Categorical(["u", "v"])})
VALUES = {
    "frame": (TEXTS, np.array(["no", "yes"], dtype=object)),
    "polars": pl.DataFrame({"a": [1.0, 2.0], "b": ["x", None]}),
    "set": {"one", "two", "three", "four"},
    "enum": Colour.RED,
    "decimal": [decimal.Decimal("1.5"), datetime.date(2020, 1, 1), Path("a"), 1 + 2j, slice(3)],
    "missing": np.array([pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), np.nan], dtype=object),
    "ufunc": [np.exp, np.mean, len, dict.fromkeys, str.upper, [].append],
    "strings": np.array(["a", "bb"]),
    "logger": logging.getLogger("one"),
    "cached": functools.lru_cache(digest),
    "masked": np.ma.array([1.0, 2.0], mask=[True, False]),
    "date": np.datetime64("2020-01-01"),
    "global random": np.random.mtrand._rand,
}


@pytest.mark.slow
def test_other_processes_say_the_same():
    inspect.signature(np.exp)  # which NumPy keeps with the function
    said = []
    for seed in ("1", "2"):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        }
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]
    assert {name: said[0][name] for name in VALUES} == {n: described(v) for n, v in VALUES.items()}
    assert len(set(said[0].values())) == len(said[0])


def rows():
    X = np.random.RandomState(0).standard_normal((40, 3))
    return X, np.sin(2 * X[:, 0])


@pytest.mark.parametrize("name", SAMPLERS)
def test_steps_of_another_kernel_are_refused_and_those_of_the_same_are_taken(name, tmp_path):
    X, y = rows()
    first = SRFFRegressor(made(name, 1.0), **SHORT, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(CheckpointError, match="another fit: kernel is"):
        SRFFRegressor(made(name, 2.0), **SHORT, checkpoint=tmp_path).fit(X, y)
    n_files = len(list(tmp_path.glob("*.steps")))
    again = SRFFRegressor(made(name, 1.0), **SHORT, checkpoint=tmp_path).fit(X, y)
    np.testing.assert_array_equal(again.coefficients_, first.coefficients_)
    assert len(list(tmp_path.glob("*.steps"))) == n_files


def test_a_table_with_text_is_known_by_its_values():
    other = TEXTS.assign(b=["y", None])
    assert described(TEXTS.copy()) == described(TEXTS)
    assert described(other) != described(TEXTS)
    assert described(TEXTS.rename(columns={"a": "z"})) != described(TEXTS)
    assert digest(np.array(["a" * 50, 1], dtype=object)) == digest(
        np.array(["".join(["a"] * 50), 1], dtype=object)
    )


class OfThreads:
    def __init__(self):
        self.lock = threading.Lock()

    def sample(self, rng, size):
        return rng.normal(size=size)


def deep():
    value = []
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kernel": OfThreads()}, r"kernel cannot be: it holds a _thread.lock \(cannot pickle"),
        ({"groups": deep()}, "groups cannot be: it is nested too deep"),
    ],
)
def test_what_cannot_be_told_from_others_is_refused_with_its_name(change, reason, tmp_path):
    model = SRFFRegressor(**SHORT | change, checkpoint=tmp_path / "fit")
    with pytest.raises(CheckpointError, match=reason):
        model.fit(*rows())
    assert not (tmp_path / "fit").exists()


def test_modules_of_the_users_own_are_covered_where_they_are_read(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    texts = []
    for value in (1, 1, 2):
        (tmp_path / "users_helpers.py").write_text(f"SCALE, OTHER = {value}, {len(texts)}\n")
        sys.modules.pop("users_helpers", None)
        space = {"__name__": "users"}
        exec(
            compile("import users_helpers as h\nkernel = lambda rng, size: h.SCALE", "<a>", "exec"),
            space,
        )
        sys.modules["users_helpers"].SCALE = value
        texts.append(described(space["kernel"]))
    assert texts[0] == texts[1] != texts[2]
    with pytest.raises(Indescribable, match="module 'users_helpers'"):
        described([sys.modules["users_helpers"]])


def test_parameters_are_described_by_what_they_are():
    assert described(np.float64(0.5)) == described(0.5) == "0.5"
    assert described("auto") != described(None)
    assert described(np.float32) == described(np.dtype("float32")) == "float32"
    assert described(float) == "float64"
    pair = (np.zeros((2, 2)), np.ones(2))
    assert described(pair) == described((np.zeros((2, 2), order="F"), np.ones(2)))
    assert described(pair) != described((np.zeros((2, 2)), np.zeros(2)))
    state = np.random.RandomState(0)
    before = described(state)
    state.normal()
    assert described(state) != before == described(np.random.RandomState(0))
    assert described(Matern(1.0)) == "srff.core.kernels.Matern {'nu': 1.0}"
    assert len(described(list(range(10_000)))) < 200


FIT = """
import sys, functools, numpy as np, pandas as pd
from srff import SRFFRegressor
def scaled(by, rng, size): return by * rng.normal(size=size)
rng = np.random.RandomState(0)
X = pd.DataFrame({"a": rng.normal(size=40), "b": rng.choice(["x", "y"], 40)})
y = np.sin(2 * X["a"].to_numpy())
held = X.assign(b=sys.argv[3]), y
model = SRFFRegressor(functools.partial(scaled, float(sys.argv[2])), n_components=20, max_iter=2,
    random_state=0, alpha=1e-3, refine=None, validation=held, checkpoint=sys.argv[1])
try:
    print(model.fit(X, y).coefficients_.tobytes().hex())
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_new_process_takes_the_steps_of_the_same_definition_alone(tmp_path):
    def fitted(*arguments):
        command = [sys.executable, "-c", FIT, str(tmp_path / "fit"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout

    first = fitted("1.0", "x")
    n_files = len(list((tmp_path / "fit").glob("*.steps")))
    assert fitted("1.0", "x") == first
    assert len(list((tmp_path / "fit").glob("*.steps"))) == n_files > 0
    assert "it is of another fit: kernel is" in fitted("2.0", "x")
    assert "it is of another fit: validation is" in fitted("1.0", "y")
