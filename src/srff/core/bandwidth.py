"""The paper's kernel width: the median distance to the 20 nearest neighbours."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors


def neighbour_sigma(X: np.ndarray, n_neighbors: int = 20) -> float:
    """Median of the Euclidean distances from each row of ``X`` to its nearest neighbours.

    The value depends strongly on the number of rows (more rows, nearer neighbours), so the rows are
    the caller's choice: the estimators take 1,000 of them.  With fewer rows than neighbours, all
    other rows are neighbours.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Standardised inputs, without repeated rows.
    n_neighbors : int, default=20
        Neighbours of each row.

    Returns
    -------
    sigma : float
        The median; 1.0 where there is no other row to measure.

    Examples
    --------
    >>> import numpy as np
    >>> from srff.core.bandwidth import neighbour_sigma
    >>> neighbour_sigma(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    neighbours = min(n_neighbors, X.shape[0] - 1)
    if neighbours < 1:
        return 1.0
    distances, _ = NearestNeighbors(n_neighbors=neighbours).fit(X).kneighbors()
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
