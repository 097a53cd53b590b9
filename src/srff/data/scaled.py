"""A data set through one scaling of its inputs: the engines that a search asks for sums."""

from __future__ import annotations

import numpy as np

from srff.core.engine import Engine
from srff.core.features import Statistics
from srff.core.losses import Squared
from srff.data.dataset import Dataset
from srff.data.engines.blocks import Standardisation
from srff.data.engines.plan import EngineOptions
from srff.data.scaling import Transform
from srff.data.sides import Sides

LARGEST_SUMS = 2**22
"""Entries of the sums of one pass over all rows."""

Frequencies = tuple[np.ndarray, np.ndarray]
"""``W`` and ``b``."""


class ScaledData:
    """The rows through one scaling of the inputs; engines are built when first asked for."""

    def __init__(
        self, dataset: Dataset, standardisation: Standardisation, options: EngineOptions
    ) -> None:
        self.n = dataset.n
        self._dataset, self._standardisation, self._options = dataset, standardisation, options
        self._engines: dict[int | None, Engine] = {}
        self._validation: Engine | None = None
        self._everything: Engine | None = None

    @property
    def transform(self) -> Transform:
        """The map of the inputs."""
        return self._standardisation.inputs

    def training(self, most: int | None = None) -> Engine:
        """All training rows, or at most about ``most`` of them."""
        key = None if most is None or most >= self._dataset.n_training else most
        if key not in self._engines:
            self._engines[key] = self._dataset.training(self._standardisation, key, self._options)
        return self._engines[key]

    @property
    def validation(self) -> Engine | None:
        """The validation rows."""
        if self._validation is None and self._dataset.has_validation:
            self._validation = self._dataset.validation(self._standardisation, self._options)
        return self._validation

    @property
    def everything(self) -> Engine:
        """Every row that may be learned from, for a few passes: no row is kept."""
        if self._everything is None:
            self._everything = self._dataset.everything(self._standardisation, self._options)
        return self._everything

    def statistics_of_all_rows(
        self, points: list[Frequencies], columns: np.ndarray, loss: Squared
    ) -> list[Statistics]:
        """The statistics at several ``(W, b)`` of every row that may be learned from.

        Passes read no other column; one is enough unless the sums are large.
        """
        runs = _runs(points, LARGEST_SUMS)
        each = (self.everything.statistics_of_each(run, columns, loss) for run in runs)
        return [S for run in each for S in run]

    def sides(self, most: int) -> Sides | None:
        """Rows in memory as they are: see :meth:`srff.data.dataset.Dataset.sides`."""
        return self._dataset.sides(most)

    @property
    def n_passes(self) -> int:
        """Passes so far that read every training row."""
        engines = (self._everything, self._engines.get(None))
        return sum(engine.n_passes for engine in engines if engine is not None)

    @property
    def effective_passes(self) -> float:
        """Rows read by all passes so far, as a multiple of the training rows."""
        n = self._dataset.n_training
        some = [e.n_passes * most / n for most, e in self._engines.items() if most]
        return self.n_passes + sum(some)

    def close(self) -> None:
        """Give back what the engines hold."""
        for engine in [*self._engines.values(), self._validation, self._everything]:
            if engine is not None:
                engine.close()


def _runs(points: list[Frequencies], most: int) -> list[list[Frequencies]]:
    """Runs of points whose sums have at most so many entries together, or of one point."""
    runs: list[list[Frequencies]] = []
    size = 0
    for point in points:
        entries = point[1].size ** 2
        if not runs or size + entries > most:
            runs.append([])
            size = 0
        runs[-1].append(point)
        size += entries
    return runs
