"""SciPy's LAPACK for symmetric positive definite matrices, other threads going on meanwhile.

``scipy.linalg.lapack`` holds Python's lock for the whole of a call, so that two threads factor one
matrix after the other.  The same routines, by their addresses in ``scipy.linalg.cython_lapack``, do
not: the bits are the same.  Matrices are float64 and in Fortran's order, changed in place.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack

_LOWER = ctypes.c_char(b"L")


def _routine(name: str, n_arguments: int) -> Any:
    """A routine by its name: every argument is a pointer, as in Fortran."""
    capsule = cython_lapack.__pyx_capi__[name]
    signature, address = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    signature.restype, signature.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)
    return kind(address(capsule, signature(capsule)))


_POTRF, _POTRI, _POTRS = (
    _routine(name, count) for name, count in (("dpotrf", 5), ("dpotri", 5), ("dpotrs", 8))
)


def factor(A: np.ndarray) -> bool:
    """Put the lower Cholesky factor in the place of ``A``, rubbish above it; False if none is."""
    n, failed = ctypes.c_int(A.shape[0]), ctypes.c_int()
    _POTRF(_of(_LOWER), _of(n), A.ctypes.data, _of(n), _of(failed))
    return not failed.value


def invert(L: np.ndarray) -> None:
    """Put the lower half of ``(L L')^-1`` in the place of a factor."""
    n, failed = ctypes.c_int(L.shape[0]), ctypes.c_int()
    _POTRI(_of(_LOWER), _of(n), L.ctypes.data, _of(n), _of(failed))


def solve(L: np.ndarray, C: np.ndarray) -> None:
    """Put ``(L L')^-1 C`` in the place of ``C``."""
    n, q, failed = ctypes.c_int(L.shape[0]), ctypes.c_int(C.shape[1]), ctypes.c_int()
    _POTRS(_of(_LOWER), _of(n), _of(q), L.ctypes.data, _of(n), C.ctypes.data, _of(n), _of(failed))


def _of(value: Any) -> Any:
    return ctypes.addressof(value)
