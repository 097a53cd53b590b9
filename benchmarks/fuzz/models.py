"""Mutated model files: each must be refused with one sentence, or load as a model that is right.

Saved models of every class are changed at random: bytes, the header, the JSON, the tensors, most of
them with a checksum that is right again, so that the checks behind it are reached.  Loading must
end in :class:`srff.ModelFileError`, or in a model whose predictions are finite and are what a
few lines of NumPy here make of the file.  Anything else is a failure: another exception, a load
that takes longer than ``--seconds``, or one that needs much more memory than the file has bytes.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import json
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor, confidence
from srff.core.kernels import Matern
from srff.core.losses import Pinball, Poisson
from srff.export.save import ModelFileError, load, save

MEMORY = 512 * 2**20
"""Bytes that loading may take beside what the process has: files have some 20,000."""

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "BOOL": "?", "U8": "u1"}
ZEROS = "0" * 64


# Models, and what they predict by the book.


def rows(n: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """Five columns, of which three matter."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, n)


def table(n: int = 250) -> np.ndarray:
    """Numbers, one of them with gaps, texts with gaps, truths and codes."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 5)).astype(object)
    X[rng.uniform(size=n) < 0.1, 1] = np.nan
    X[:, 2] = rng.choice(["red", "grün", "", None], n)
    X[:, 3] = rng.uniform(size=n) < 0.5
    X[:, 4] = rng.choice([-3, 7, 9], n)
    return X


def thirds(y: np.ndarray) -> np.ndarray:
    """Three classes."""
    return np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.33, 0.67]))]


def models() -> dict[str, Any]:
    """Fitted models of every class, and one that is not fitted."""
    X, y = rows()
    quick = {"n_components": 20, "max_iter": 3, "random_state": 0}
    named = SRFFRegressor(**quick, kernel=Matern(2.5), refine=None, n_jobs=1).fit(X, y)
    named.feature_names_in_ = np.array(["a", "b", "größe", "", "e\n"], dtype=object)
    plain = {"refine": None, "alpha": 0.01, "budget": 3.0}
    T, coded = table(), {"categorical_features": [2, 3, 4], "missing": "impute"}
    z = np.nan_to_num(T[:, :2].astype(float), nan=2.0).sum(axis=1) + 2.0 * (T[:, 2] == "red") + y
    weights = {"low": 1, "middle": 2.5, "high": 1.0}
    sure = SRFFRegressor(**quick, effort="quick").fit(X, y)
    sure.confidence_ = confidence(sure, X, y, n_splits=2)
    several = SRFFClassifier(**quick, **plain, groups=[[0, 3]]).fit(X, thirds(y))
    several.confidence_ = confidence(several, X, thirds(y), n_splits=2, q=0.3)
    return {
        "srff-sure": sure,
        "srff-sure-classes": several,
        "srff-targets": SRFFRegressor(**quick, **plain, target_weights=[1.0, 2.0]).fit(
            X, np.column_stack([y, X[:, 0]])
        ),
        "srff-poisson": SRFFRegressor(**quick, **plain, loss="poisson").fit(X, np.exp(y)),
        "srff-pinball": SRFFRegressor(**quick, **plain, loss=Pinball(0.9)).fit(X, y),
        "srff-groups": SRFFRegressor(**quick, **plain, groups={"pair": [0, 3], 7: [1]}).fit(X, y),
        "srff-filled": SRFFRegressor(**quick, **plain, missing="impute").fit(
            np.where(np.abs(X) > 1.8, np.nan, X), y
        ),
        "srff-table": SRFFRegressor(**quick, **plain, **coded).fit(T, z),
        "srff-means": SRFFRegressor(**quick, **coded, categories="target", inputs="quantile").fit(
            T, z
        ),
        "srff-two-classes": SRFFClassifier(**quick, **plain, class_weight="balanced").fit(X, y > 0),
        "srff-classes": SRFFClassifier(**quick, **plain, **coded, class_weight=weights).fit(
            T, thirds(z)
        ),
        "srff": SRFFRegressor(**quick, inputs="standard").fit(X, y),
        "srff-quantile": SRFFRegressor(**quick, inputs="quantile", n_jobs=1).fit(X, y),
        "srff-names": named,
        "srff-float32": SRFFRegressor(**quick, refine=None, dtype="float32").fit(X, y),
        "srff-mean": SRFFRegressor(**quick, alpha=0.1).fit(X, np.zeros(len(X))),
        "srff-not-fitted": SRFFRegressor(memory_limit="1GB"),
        "rff": RFFRegressor(n_components=20, random_state=0).fit(X, y),
    }


def inputs_of(model: Any, X: np.ndarray) -> np.ndarray:
    """Rows that the model takes: its levels in turn, gaps and unknown levels where they may be."""
    levels = getattr(model, "levels_", None)
    if levels is None:
        return X
    T = X.astype(object)
    for k, (known, column) in enumerate(zip(levels, model.encoding_.columns, strict=True)):
        if known is None:
            if column.fill is not None:
                T[::7, k] = np.nan
            continue
        accepted = np.isfinite(column.table).all(axis=1)
        text = known.dtype == object
        other = [None, "an unknown one" if text else 12345.5]
        values = [v for v, fine in zip([*known.tolist(), *other], accepted, strict=True) if fine]
        T = T if values else T[:0]  # it takes no level
        T[:, k] = [values[i % len(values)] for i in range(len(T))]
    return T


def encoded(tensors: dict[str, np.ndarray], T: np.ndarray) -> np.ndarray:
    """The columns that a model learns from, by the tensors of its file."""
    ends = np.cumsum(tensors["levels_.texts.lengths"]).astype(int)
    texts = np.split(tensors["levels_.texts.values"], ends[:-1])
    pools = {
        1: [text.tobytes().decode() for text in texts],
        2: tensors["levels_.truths"].tolist(),
        3: tensors["levels_.integers"].tolist(),
        4: tensors["levels_.floats"].tolist(),
    }
    parts = (tensors[f"encoding_.{part}"] for part in ("fill", "value", "indicator"))
    numbers = iter(zip(*parts, strict=True))
    widths, flat = iter(tensors["encoding_.width"].tolist()), tensors["encoding_.table"]
    out = []
    for k, (kind, size) in enumerate(
        zip(tensors["levels_.kinds"].tolist(), tensors["levels_.sizes"].tolist(), strict=True)
    ):
        gap = np.array([v is None or v != v for v in T[:, k]], dtype=bool)
        if kind == 0:
            fill, value, indicator = next(numbers)
            x = np.where(gap, np.nan, T[:, k]).astype(np.float64)
            out += [np.where(gap, fill, x)] if value else []
            out += [gap.astype(np.float64)] if indicator else []
            continue
        known, pools[kind] = pools[kind][:size], pools[kind][size:]
        width = next(widths)
        rows, flat = flat[: (size + 2) * width].reshape(-1, width), flat[(size + 2) * width :]
        places = [
            size if g else known.index(v) if v in known else size + 1
            for v, g in zip(T[:, k], gap, strict=True)
        ]
        out += list(rows[np.array(places, dtype=int)].T)
    return np.column_stack(out)


def reference(
    tensors: dict[str, np.ndarray], about: dict[str, Any], X: np.ndarray
) -> tuple[np.ndarray, Any]:
    """Predictions from a file's tensors and numbers, and how far rounding may be from them."""
    T = tensors.__getitem__

    def lists(part: str) -> list[np.ndarray]:
        return np.split(T(f"{part}.values"), np.cumsum(T(f"{part}.lengths"))[:-1].astype(int))

    values, used, a = about["values"], T("columns_"), T("coef_").astype(np.float64)
    several = a.ndim == 2
    a = a.reshape(len(a), -1)
    c = T("intercept_") if several else np.array([values["intercept_"]])
    F, tolerance = np.tile(c, (len(X), 1)), 1e-12 * np.abs(c)
    if used.size:
        parts = ("kinds", "sizes", "texts.values", "texts.lengths", "truths", "integers", "floats")
        if values["levels_"]:
            kept = {f"levels_.{p}": T(f"levels_.{p}") for p in parts}
            more = ("fill", "value", "indicator", "width", "table")
            X = encoded(kept | {f"encoding_.{p}": T(f"encoding_.{p}") for p in more}, X)
        X = X[:, used]
        if values["input_map_"] == "quantile":
            pairs = zip(lists("input_map_.knots"), lists("input_map_.scores"), strict=True)
            U = np.column_stack([np.interp(x, *p) for x, p in zip(X.T, pairs, strict=True)])
        else:
            U = (X - T("center_")[used]) / T("spread_")[used]
        eps = float(np.finfo(values["block_dtype_"]).eps)
        angles = U @ T("frequencies_") + T("offsets_")
        F = np.sqrt(2 / len(a)) * (np.cos(angles) @ a) + c
        far = np.abs(U) @ np.abs(T("frequencies_")) + np.abs(T("offsets_"))
        size = np.sqrt(2 / len(a)) * (np.minimum(20 * eps * (1 + far), 2.0) @ np.abs(a))
        tolerance = size.max(axis=0) + 100 * eps * (np.abs(a).sum(axis=0) + np.abs(c))
    if about["class"] == "SRFFClassifier":
        low = F - F.max(axis=1, keepdims=True) if several else np.hstack([-F, np.zeros_like(F)])
        low = low - low.max(axis=1, keepdims=True)
        p = np.exp(low) / np.exp(low).sum(axis=1, keepdims=True)
        return p, 2 * float(np.minimum(np.max(tolerance), 1.0))
    loss = about["parameters"].get("loss")
    if loss == "poisson" or (isinstance(loss, dict) and loss["name"] == "Poisson"):
        rate = np.exp(F)
        F, tolerance = rate, rate * np.expm1(np.minimum(tolerance, 700.0)) + 1e-300
    if not several:
        F, tolerance = F[:, 0], np.reshape(tolerance, (-1, 1))[:, 0]
    return F, tolerance


# Files taken apart, changed and put together.


@dataclass
class File:
    """A model's file in parts."""

    about: dict[str, Any]
    tensors: list[tuple[str, str, list[int], bytes]]
    metadata: dict[str, Any] = field(default_factory=dict)
    literals: list[str] = field(default_factory=list)
    """JSON that Python would not write, for the places where their marks stand."""

    @classmethod
    def of(cls, content: bytes) -> File:
        """Take a file apart."""
        length = int.from_bytes(content[:8], "little")
        header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
        metadata = header.pop("__metadata__")
        tensors = [
            (name, entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items()
        ]
        return cls(json.loads(metadata.pop("model")), tensors, metadata)

    def mark(self, literal: str) -> str:
        """What stands for a piece of JSON."""
        self.literals.append(literal)
        return f"@{len(self.literals) - 1}@"

    def text(self, value: Any) -> str:
        """JSON, with the literals in their places."""
        text = json.dumps(value)
        for number, literal in enumerate(self.literals):
            text = text.replace(f'"@{number}@"', literal)
        return text

    def header(self) -> dict[str, Any]:
        """The header that belongs to the tensors."""
        model = self.text(self.about)
        header: dict[str, Any] = {"__metadata__": {**self.metadata, "checksum": ZEROS}}
        header["__metadata__"]["model"] = model
        end = 0
        for name, code, shape, data in self.tensors:
            begin, end = end, end + len(data)
            header[name] = {"dtype": code, "shape": shape, "data_offsets": [begin, end]}
        return header

    def content(self, header: dict[str, Any] | None = None) -> bytes:
        """Put it together, with a checksum that is right."""
        text = self.text(self.header() if header is None else header).encode()
        data = b"".join(part for *_, part in self.tensors)
        return with_checksum(len(text).to_bytes(8, "little") + text + data)


def with_checksum(content: bytes) -> bytes:
    """Replace the zeros of the checksum."""
    return content.replace(ZEROS.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


LITERALS = [
    *("null", "true", "false", "-1", "0", "1", "2", "3", "0.5", "1e-320", "1e-100", "1e30"),
    *("1e200", "1e300", "1e308", "-1e308", "1e400", "-0.0", "NaN", "Infinity", "-Infinity"),
    *("9007199254740993", "9223372036854775807", "9" * 25, "-" + "9" * 25, "9" * 5000),
    *('""', '"auto"', '"nan"', '"inf"', '"float32"', '"float64"', '"standard"', '"quantile"'),
    *('"../../etc/passwd"', '"/dev/zero"', '"os.system"', '"__class__"', '"cuda"', '"1B"'),
    *('"\\u0000"', '"\\ud800"', '"\\u001b[2J"', '"' + "x" * 100_000 + '"', '"SPAM"'),
    *(
        '"poisson"',
        '{"name":"Pinball","quantile":0.5,"smoothing":0.1}',
        "[[0,1],[2]]",
        "[0,0,1,1,2]",
    ),
    *('{"keys":[1],"values":[[0]]}', '{"keys":["low"],"values":[2.0]}', '"int8"', '"object"'),
    *('{"name":"OneHotEncoder"}', '{"name":"TargetEncoder","cv":5}', '"balanced"', '"impute"'),
    *("[]", "{}", "[1,2]", "[[[[1]]]]", '{"a":1}', '{"name":"Matern","nu":0}', '{"name":"Custom"}'),
    *("[" * 2000 + "]" * 2000, "[" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000, '{"a":1,"a":2}'),
]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 1e300, 1e200, 1e30, -1e30, 1e-310]
FLOATS += [1e-200, -1.0, 1.0, 2.0, 1e6]
INTEGERS = [-(2**63), -1, 0, 1, 2, 5, 2**31, 2**62, 2**63 - 1]
NUMBERS = [-1, 0, 1, 3, 19, 21, 2**31, 2**40, 2**62, 2**64, 1.0, "3", None, [], True]


def flipped(content: bytes, rng: random.Random) -> bytes:
    """Some bits are the other way round."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(content: bytes, rng: random.Random) -> bytes:
    """The end, the start or a piece is missing."""
    i, j = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return rng.choice([content[:i], content[i:], content[:i] + content[j:]])


def inserted(content: bytes, rng: random.Random) -> bytes:
    """Bytes too many: at random, or a piece twice."""
    i, j = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    more = rng.choice([rng.randbytes(rng.choice([1, 8, 1000])), content[i:j], bytes(16)])
    k = rng.choice([0, 8, i, len(content)])
    return content[:k] + more + content[k:]


def other_length(content: bytes, rng: random.Random) -> bytes:
    """The header's length is another."""
    length = int.from_bytes(content[:8], "little")
    near = length + rng.choice([-8, -1, 1, 8])
    chosen = rng.choice([0, 1, near, 2**20 + 1, 100_000_000, 2**40, 2**63, 2**64 - 1])
    return chosen.to_bytes(8, "little") + content[8:]


def garbage(content: bytes, rng: random.Random) -> bytes:
    """Something else altogether."""
    length = rng.choice([0, 1, 7, 8, 9, 100, 5000])
    header = rng.choice(
        [b"[]", b"{}", b"null", b"", b'{"__metadata__":{}}', b"\xff\xfe", b"{" * 99]
    )
    return rng.choice([rng.randbytes(length), len(header).to_bytes(8, "little") + header])


def paths(value: Any, at: tuple = ()) -> Iterator[tuple]:
    """Every place in JSON data."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*at, key))


def put(value: Any, at: tuple, new: Any) -> None:
    """Change one place."""
    for key in at[:-1]:
        value = value[key]
    value[at[-1]] = new


def json_value(content: bytes, rng: random.Random) -> bytes:
    """One or two values of the model's JSON are others."""
    file = File.of(content)
    for at in rng.sample(list(paths(file.about)), rng.choice([1, 1, 2])):
        with contextlib.suppress(KeyError, TypeError, IndexError):  # inside of one just changed
            put(file.about, at, file.mark(rng.choice(LITERALS)))
    return file.content()


def json_number(content: bytes, rng: random.Random) -> bytes:
    """A number of the model's JSON is a little or much larger or smaller."""
    file = File.of(content)
    numbers = []
    for at in paths(file.about):
        value: Any = file.about
        for key in at:
            value = value[key]
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((at, value))
    if not numbers:
        return json_key(content, rng)
    at, value = rng.choice(numbers)
    factor = rng.choice([-1, 0, 2, 3, 10**6])
    put(
        file.about, at, rng.choice([value * factor, value + 1, value - 1, float(value), int(value)])
    )
    return file.content()


def json_key(content: bytes, rng: random.Random) -> bytes:
    """A key of the model's JSON is gone, renamed, there twice, or there is one more."""
    file = File.of(content)
    objects = [file.about, file.about["parameters"], file.about["values"], file.about["left_out"]]
    chosen = rng.choice(objects)
    keys = list(chosen)
    new = rng.choice(["x", "coef_", "__class__", "__init__", "../x", "validation", "n_jobs", ""])
    what = rng.randrange(4) if keys else 3
    if what == 0:
        del chosen[rng.choice(keys)]
    elif what == 1:
        chosen[new] = chosen.pop(rng.choice(keys))
    elif what == 2:
        key = rng.choice(keys)
        chosen[key] = file.mark(f"{json.dumps(chosen[key])}, {json.dumps(key)}: 1")
    else:
        chosen[new] = rng.choice([1, "x", None, 0.5])
    return file.content()


def metadata(content: bytes, rng: random.Random) -> bytes:
    """The header's metadata are others."""
    file = File.of(content)
    key = rng.choice(["srff_format", "srff_version", "checksum", "model", "more", "__metadata__"])
    header = file.header()
    if key == "__metadata__":
        header[key] = file.mark(rng.choice(LITERALS))
    elif rng.random() < 0.3:
        header["__metadata__"].pop(key, None)
    else:
        texts = ["0", "2", "1.0", "999999", "9" * 400, "", "\x00", "../x", "1", "2.0.0", "{}", "[]"]
        header["__metadata__"][key] = rng.choice([*texts, file.mark(rng.choice(LITERALS))])
    return file.content(header)


def entry(content: bytes, rng: random.Random) -> bytes:
    """The type, the shape or the place of a tensor is another."""
    file = File.of(content)
    header = file.header()
    name = rng.choice([*[t[0] for t in file.tensors], "new"])
    found = header.setdefault(name, {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]})
    key = rng.choice(["dtype", "shape", "data_offsets"])
    what = rng.random()
    if what < 0.15:
        found[key] = file.mark(rng.choice(LITERALS))
    elif what < 0.2:
        header[name] = file.mark(rng.choice(LITERALS))
    elif what < 0.25:
        del found[key]
    elif what < 0.3:
        header[name] = file.mark(f"{json.dumps(found)}, {json.dumps(name)}: {json.dumps(found)}")
    elif key == "dtype":
        found[key] = rng.choice([*DTYPES, "F16", "BF16", "I32", "U64", "C64", "f8", "O", "object"])
    else:
        numbers = list(found[key])
        number = rng.choice(NUMBERS)
        change = rng.choice(["set", "add", "drop", "turn", "flat"])
        if change == "set" and numbers:
            numbers[rng.randrange(len(numbers))] = number
        elif change == "add":
            numbers.insert(rng.randrange(len(numbers) + 1), rng.choice([1, number]))
        elif change == "drop":
            numbers = numbers[1:]
        elif change == "turn":
            numbers.reverse()
        else:
            numbers = [int(np.prod([n for n in numbers if isinstance(n, int)]))]
        found[key] = numbers
    return file.content(header)


def tensors(content: bytes, rng: random.Random) -> bytes:
    """A tensor is gone, renamed, there in another's place, of another length or type, or new."""
    file = File.of(content)
    if not file.tensors:
        file.tensors.append(("coef_", "F64", [1], bytes(8)))
        return file.content()
    i, j = (rng.randrange(len(file.tensors)) for _ in range(2))
    name, code, shape, data = file.tensors[i]
    array = np.frombuffer(data, DTYPES[code]).reshape(shape)
    what = rng.choice(["drop", "rename", "swap", "names", "move", "shape", "type", "new"])
    if what == "drop":
        del file.tensors[i]
    elif what == "rename":
        new = rng.choice([f"{name}x", "", "coef_", "__metadata__", "../x", "model_.coef_", "x.y.z"])
        file.tensors[i] = (new, code, shape, data)
    elif what == "swap":
        file.tensors[i], file.tensors[j] = (
            (file.tensors[i][0], *file.tensors[j][1:]),
            (file.tensors[j][0], *file.tensors[i][1:]),
        )
    elif what == "names":
        new = rng.choice(["feature_names_in_", "path_.kind"])
        text = rng.choice([b"abcde", b"\xff\xfe\xfd\xfc\xfb", b"a\x00b\x1bc"])
        lengths = rng.choice([[1] * 5, [0, 0, 0, 0, 5], [2**62, 2**62, 5, 0, 0], [-1, 1, 5, 0, 0]])
        file.tensors = [t for t in file.tensors if not t[0].startswith(new)]
        file.tensors.append((f"{new}.lengths", "I64", [5], np.array(lengths, "<i8").tobytes()))
        file.tensors.append((f"{new}.values", "U8", [5], text))
    elif what == "move":
        file.tensors.insert(j, file.tensors.pop(i))
    elif what == "shape":
        axis = rng.randrange(max(array.ndim, 1))
        if array.ndim and array.shape[axis]:
            index = rng.randrange(array.shape[axis])
            more = np.concatenate([array, np.take(array, [index], axis)], axis)
            empty = array[:0] if array.ndim == 1 else array[:, :0]
            array = rng.choice([np.delete(array, index, axis), more, empty, array.T.copy()])
        file.tensors[i] = (name, code, list(array.shape), array.tobytes())
    elif what == "type":
        new = rng.choice([c for c in DTYPES if c != code])
        with np.errstate(all="ignore"):
            other = array.astype(DTYPES[new])
        file.tensors[i] = (name, new, shape, other.tobytes())
    else:
        file.tensors.insert(i, (rng.choice(["x", "center_", "os"]), "F64", [2], bytes(16)))
    return file.content()


def numbers(content: bytes, rng: random.Random) -> bytes:
    """Entries of one or two tensors are others."""
    file = File.of(content)
    for _ in range(rng.choice([1, 1, 2])):
        full = [i for i, t in enumerate(file.tensors) if t[3]]
        if not full:
            return json_value(content, rng)
        i = rng.choice(full)
        name, code, shape, data = file.tensors[i]
        array = np.frombuffer(data, DTYPES[code]).copy()
        what = rng.choice(["set", "set", "set", "all", "reverse", "scale", "bits"])
        if what == "bits":
            file.tensors[i] = (name, code, shape, flipped(data, rng))
            continue
        pool = FLOATS if code in ("F64", "F32") else INTEGERS
        with np.errstate(all="ignore"):
            if code in ("BOOL", "U8"):
                array = array.view(np.uint8)
                array[rng.randrange(array.size)] = rng.randrange(256)
            elif what == "set":
                for _ in range(rng.choice([1, 2, 5])):
                    array[rng.randrange(array.size)] = rng.choice(pool)
            elif what == "all":
                array[:] = rng.choice(pool)
            elif what == "reverse":
                array = array[::-1]
            else:
                array = (array * rng.choice([-1, 0, 2, 1000])).astype(array.dtype)
        file.tensors[i] = (name, code, shape, array.tobytes())
    return file.content()


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [
    *(flipped, cut, inserted, other_length, garbage),
    *(json_value, json_value, json_number, json_key, metadata),
    *(entry, entry, tensors, tensors, numbers, numbers, numbers),
]


# The trial of one file.


class TooSlow(BaseException):
    """A load took longer than it may."""


def _alarm(*_: object) -> None:
    raise TooSlow


def judged(path: Path, X: np.ndarray, known: np.ndarray | None, seconds: float) -> str:
    """One of "refused", "same" and "other"; what is wrong otherwise."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        model = load(path)
        n = getattr(model, "n_features_in_", 0)
        if n > 1000:  # no file here has arrays for them
            return f"{n} columns"
        X = inputs_of(model, np.ascontiguousarray(X[:, np.arange(n) % X.shape[1]]))
        y = predicted(model, X) if n else np.zeros(0)
        told(model, n)
    except ModelFileError as error:
        message = str(error)
        sound = message.startswith(str(path)) and len(message) < 600 and message.isprintable()
        return "refused" if sound else f"a message that is not one sentence: {message!r}"
    except TooSlow:
        return f"longer than {seconds} s"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if not n:
        return "same"
    file = File.of(path.read_bytes())
    rates = getattr(model, "loss", "squared") in ("poisson", Poisson())
    if not (np.isfinite(y).all() or rates):
        return "predictions that are not finite"
    if known is not None and np.array_equal(y, known):
        return "same"
    arrays = {n: np.frombuffer(d, DTYPES[c]).reshape(s) for n, c, s, d in file.tensors}
    with np.errstate(all="ignore"):
        expected, tolerance = reference(arrays, file.about, X)
        # Rates may overflow, and are known to a factor only: near the largest float all are one.
        both = np.isinf(y) | np.isinf(expected) if rates else np.zeros(y.shape, dtype=bool)
        wrong = ~(np.abs(y - expected) <= tolerance) & ~(both & (np.fmin(y, expected) > 1e290))
    if y.shape != expected.shape or wrong.any():
        return f"predictions {np.abs(y - expected).max():g} off, not {np.max(tolerance):g}"
    return "other"


def predicted(model: Any, X: np.ndarray) -> np.ndarray:
    """Predictions, or chances; a class that is not the most likely one is an error."""
    if not isinstance(model, SRFFClassifier):
        return model.predict(X)
    p = model.predict_proba(X)
    own = np.searchsorted(model.classes_, model.predict(X))
    if not (p[np.arange(len(p)), own] >= p.max(axis=1) - 1e-9).all():
        raise AssertionError("the class is not the most likely one")
    return p


def told(model: Any, n: int) -> None:
    """What a model says of its variables: words, tables and masks that fit together."""
    repr(model)
    found = getattr(model, "confidence_", None)
    if found is None:
        return
    lines = [found.summary(), repr(found), found._repr_html_()]
    table, frame = found.table(), found.to_frame()
    if not all(line.isprintable() for line in found.lines()):
        raise AssertionError(f"text that does not print: {lines[0]!r}")
    if not (len(frame) == found.names.size and len(table) <= len(frame)):
        raise AssertionError("a table of other variables")
    if found.support.shape != (n,) or len(found.confirmed) != found.confirmed_units.sum():
        raise AssertionError("a mask of other columns")


def main() -> int:
    """Run the mutations and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="mutated files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of one load")
    parser.add_argument("--keep", type=Path, help="a folder for the files of failures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    begun = time.perf_counter()
    X = 1.5 * np.random.RandomState(1).standard_normal((40, 5))
    signal.signal(signal.SIGALRM, _alarm)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    failures, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.srff")
        contents, known = {}, {}
        for name, model in models().items():
            save(model, path, overwrite=True)
            contents[name] = path.read_bytes()
            if hasattr(model, "n_features_in_"):
                known[name] = predicted(model, inputs_of(model, X))
            path.write_bytes(File.of(contents[name]).content())  # taken apart and put together
            verdict = judged(path, X, known.get(name), options.seconds)
            assert verdict == "same", f"{name}, unchanged: {verdict}"
        fitted_in = time.perf_counter() - begun
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, limits[1]))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for number in range(options.count):
            rng = random.Random(f"{options.seed} {number}")
            name = rng.choice(list(contents))
            mutation = rng.choice(MUTATIONS)
            content = mutation(contents[name], rng)
            path.write_bytes(content)
            start = time.perf_counter()
            verdict = judged(path, X, known.get(name), options.seconds)
            slowest = max(slowest, time.perf_counter() - start)
            if verdict not in ("refused", "same", "other"):
                failures.append(f"{number} ({mutation.__name__} of {name}): {verdict}")
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{number}.srff").write_bytes(content)
                verdict = "failed"
            counts[mutation.__name__][verdict] += 1
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    verdicts = ("refused", "same", "other", "failed")
    print(f"{'mutation':14}" + "".join(f"{v:>9}" for v in verdicts))
    total = sum(counts.values(), collections.Counter())
    for name, found in [*sorted(counts.items()), ("all", total)]:
        print(f"{name:14}" + "".join(f"{found[v]:9}" for v in verdicts))
    print(
        f"slowest load and prediction {slowest:.3f} s, memory grew by {grown / 1024:.0f} MB, "
        f"{time.perf_counter() - begun - fitted_in:.0f} s in all"
    )
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
