"""From the codes of classes to the targets that a model learns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What becomes of class codes: indicators of classes, and weights by class.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.data.encoding.outcome import Outcome
    >>> Outcome(3, None)(np.array([[0.0], [2.0]]), None)
    (array([[1., 0., 0.],
           [0., 0., 1.]]), None)
    """

    n_classes: int
    class_weight: np.ndarray | None = None

    @property
    def width(self) -> int:
        """Columns of the target: one of 0 and 1 for two classes, else one for each."""
        return 1 if self.n_classes <= 2 else self.n_classes

    def __call__(
        self, codes: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Indicators and weights of rows whose classes have these numbers."""
        own = codes.reshape(-1).astype(np.intp)
        if self.n_classes <= 2:
            target = own[:, None].astype(np.float64)
        else:
            target = np.eye(self.n_classes)[own]
        if self.class_weight is not None:
            by_class = self.class_weight[own]
            weight = by_class if weight is None else weight * by_class
        return target, weight
