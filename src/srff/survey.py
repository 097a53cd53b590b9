"""One pass over all rows of a source: what standardisation, splits and samples need.

Each row gets a key (see :mod:`srff.rows`).  The rows of the highest keys are the sample that a
search learns from, those of the lowest judge.  Both are found on the way: no more rows are held
than are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srff.rows import highest, row_keys
from srff.sources.base import Piece, Source, checked
from srff.standardise import Moments, merged, moments
from srff.threads import Threads


@dataclass(frozen=True)
class Sample:
    """Rows with their keys, the highest key first."""

    keys: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray | None

    def take(self, rows: np.ndarray) -> Sample:
        """Some of the rows."""
        w = None if self.weight is None else self.weight[rows]
        return Sample(self.keys[rows], self.X[rows], self.Y[rows], w)


@dataclass(frozen=True)
class Survey:
    """What some pieces tell: counts, moments, and the rows of the highest and the lowest keys.

    The keys of ``low`` are turned over, so that there too the first row has the highest.
    """

    sizes: tuple[int, ...]
    inputs: Moments
    targets: Moments
    high: Sample
    low: Sample

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.sizes)


class Collection:
    """The survey of all pieces, put together one by one in their order."""

    def __init__(self, n_high: int, n_low: int) -> None:
        self.sizes = n_high, n_low
        self.least = [np.uint64(0), np.uint64(0)]
        """Keys below these can no longer be among the highest."""
        self._counts: list[int] = []
        self._inputs: list[Moments] = []
        self._targets: list[Moments] = []
        self._samples: list[Sample | None] = [None, None]

    def add(self, part: Survey | None) -> None:
        """The next piece; None if it has no rows."""
        if part is None:
            self._counts.append(0)
            return
        self._counts += part.sizes
        self._inputs.append(part.inputs)
        self._targets.append(part.targets)
        for i, new in enumerate((part.high, part.low)):
            old, size = self._samples[i], self.sizes[i]
            best = self._samples[i] = _best([new] if old is None else [old, new], size)
            if best.keys.size >= size:
                self.least[i] = best.keys[size - 1]

    def result(self) -> Survey:
        """The survey of all."""
        high, low = self._samples
        if high is None or low is None:
            raise ValueError("There are no rows.")
        return Survey(tuple(self._counts), merged(self._inputs), merged(self._targets), high, low)


def survey(
    source: Source, multipliers: np.ndarray, n_high: int, n_low: int, n_threads: int = 1
) -> Survey:
    """The survey of a source, its pieces side by side over threads."""
    found = Collection(n_high, n_low)

    def one(piece: Piece) -> Survey | None:
        least = found.least[0], found.least[1]
        return survey_piece(piece, multipliers, source.names, found.sizes, least)

    with Threads(n_threads) as threads:
        for part in threads.map(one, source.pieces()):
            found.add(part)
    return found.result()


def survey_piece(
    piece: Piece,
    multipliers: np.ndarray,
    names: tuple[str, ...] | None,
    size: tuple[int, int],
    least: tuple[np.uint64, np.uint64],
) -> Survey | None:
    """The survey of one piece, without keys that are too low for a sample; None for no rows."""
    n_rows = 0
    inputs, targets = [], []
    samples: tuple[list[Sample], list[Sample]] = ([], [])
    n_read = 0
    for raw in piece.chunks():
        chunk = checked(raw, piece, n_read, names)
        n_read += raw.X.shape[0]
        if not chunk.X.shape[0]:
            continue
        n_rows += chunk.X.shape[0]
        inputs.append(moments(chunk.X, chunk.weight))
        targets.append(moments(chunk.Y, chunk.weight))
        keys = row_keys(chunk.X, chunk.Y, multipliers)
        for i, turned in enumerate((keys, ~keys)):
            whole = Sample(turned, chunk.X, chunk.Y, chunk.weight)
            samples[i].append(whole.take(np.flatnonzero(turned >= least[i])))
    if not n_rows:
        return None
    high, low = (_best(parts, most) for parts, most in zip(samples, size, strict=True))
    return Survey((n_rows,), merged(inputs), merged(targets), high, low)


def _best(samples: list[Sample], size: int) -> Sample:
    """The rows of the ``size`` highest keys of several samples, with copies of the last."""
    keys = np.concatenate([s.keys for s in samples])
    weights = [s.weight for s in samples if s.weight is not None]
    whole = Sample(
        keys,
        np.concatenate([s.X for s in samples]),
        np.concatenate([s.Y for s in samples]),
        np.concatenate(weights) if weights else None,
    )
    chosen = highest(keys, size)
    return whole.take(chosen[np.argsort(~keys[chosen], kind="stable")])
