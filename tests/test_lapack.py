"""The routines of SciPy's LAPACK that let other threads go on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from srff._utils import lapack


@pytest.mark.parametrize("size", [1, 2, 70])
def test_the_same_bits_as_scipys_own(size):
    rng = np.random.RandomState(size)
    Z = rng.standard_normal((size + 5, size))
    G, C = Z.T @ Z, rng.standard_normal((size, 3))
    A, X = np.array(G, order="F"), np.array(C, order="F")
    assert lapack.factor(A)
    L, _ = linalg.lapack.dpotrf(G, lower=1, clean=0)
    np.testing.assert_array_equal(np.tril(A), np.tril(L))
    lapack.solve(A, X)
    np.testing.assert_array_equal(X, linalg.lapack.dpotrs(L, C, lower=1)[0])
    lapack.invert(A)
    np.testing.assert_array_equal(np.tril(A), np.tril(linalg.lapack.dpotri(L, lower=1)[0]))
    np.testing.assert_allclose(X, np.linalg.solve(G, C), rtol=1e-8)


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    assert not lapack.factor(np.asfortranarray([[1.0, 2.0], [2.0, 1.0]]))
