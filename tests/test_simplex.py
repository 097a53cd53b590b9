"""The projection against a quadratic program and its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from srff.core.simplex import project_simplex


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [0.3, 1.0, 7.5])
def test_simplex_projection_solves_the_quadratic_program(seed, size):
    v = np.random.RandomState(seed).normal(0, 2, 6)
    qp = minimize(
        lambda g: 0.5 * np.sum((g - v) ** 2),
        np.full(6, size / 6),
        jac=lambda g: g - v,
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda g: g.sum() - size, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(project_simplex(v, size), qp.x, atol=1e-6)


vectors = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e3, 1e3))


@given(vectors, st.floats(1e-3, 1e3))
def test_simplex_projection_meets_its_optimality_conditions(v, size):
    g = project_simplex(v, size)
    assert (g >= 0).all()
    assert g.sum() == pytest.approx(size, rel=1e-9, abs=1e-9 * np.abs(v).max())
    threshold = (v - g)[g > 0]
    tolerance = 1e-9 * (np.abs(v).max() + size)
    assert np.ptp(threshold) <= tolerance
    assert (v[g == 0] <= threshold.max() + tolerance).all()


def test_a_simplex_needs_a_positive_size():
    with pytest.raises(ValueError, match="positive"):
        project_simplex(np.ones(3), 0.0)
