"""Shift-invariant kernels through their spectral measures: how to draw ``E``.

A kernel here is a product over dimensions, ``k(x, x') = prod_s k1(x_s - x'_s)``, so the entries of
``E`` are independent draws from the one-dimensional spectral measure of ``k1`` (Bochner).  The
learned scales multiply its rows: ``W = diag(gamma) E``.

A kernel of one's own is any object with ``sample(rng, size)``, or that function itself::

    SRFFRegressor(kernel=lambda rng, size: rng.logistic(size=size))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy import special

HIGHEST_ORDER = 3
"""Most directions of a feature of low order: main effects, interactions of two and of three."""

Sampler = Callable[[np.random.RandomState, tuple[int, int]], np.ndarray]


@runtime_checkable
class Kernel(Protocol):
    """What the estimators ask of a kernel."""

    def sample(self, rng: np.random.RandomState, size: tuple[int, int]) -> np.ndarray:
        """Independent draws from the one-dimensional spectral measure at scale one."""


@dataclass(frozen=True)
class Gaussian:
    """``k1(t) = exp(-t^2 / 2)``; spectral measure: standard normal."""

    def sample(self, rng: np.random.RandomState, size: tuple[int, int]) -> np.ndarray:
        """Draw from the spectral measure."""
        return rng.standard_normal(size)

    def evaluate(self, difference: np.ndarray) -> np.ndarray:
        """The kernel of each row of differences ``x - x'``."""
        return np.exp(-0.5 * np.sum(np.square(difference), axis=-1))


@dataclass(frozen=True)
class Laplace:
    """``k1(t) = exp(-|t|)``; spectral measure: standard Cauchy."""

    def sample(self, rng: np.random.RandomState, size: tuple[int, int]) -> np.ndarray:
        """Draw from the spectral measure."""
        return rng.standard_cauchy(size)

    def evaluate(self, difference: np.ndarray) -> np.ndarray:
        """The kernel of each row of differences ``x - x'``."""
        return np.exp(-np.sum(np.abs(difference), axis=-1))


@dataclass(frozen=True)
class Matern:
    """``k1(t) = 2^(1-nu) / Gamma(nu) u^nu K_nu(u)``, ``u = sqrt(2 nu) |t|``.

    Spectral measure: Student's t with ``2 nu`` degrees of freedom.  ``nu = 1/2`` is the Laplace
    kernel, ``nu`` to infinity the Gaussian.
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        if not (np.isfinite(self.nu) and self.nu > 0):
            raise ValueError(f"nu of the Matern kernel must be a positive number, got {self.nu!r}.")

    def sample(self, rng: np.random.RandomState, size: tuple[int, int]) -> np.ndarray:
        """Draw from the spectral measure."""
        return rng.standard_t(2 * self.nu, size)

    def evaluate(self, difference: np.ndarray) -> np.ndarray:
        """The kernel of each row of differences ``x - x'``."""
        u = np.sqrt(2 * self.nu) * np.abs(difference)
        positive = np.where(u > 0, u, 1.0)
        log_constant = (1 - self.nu) * np.log(2) - special.gammaln(self.nu)
        log_k1 = log_constant + self.nu * np.log(positive) + _log_bessel_k(self.nu, positive)
        return np.prod(np.where(u > 0, np.exp(log_k1), 1.0), axis=-1)


def _log_bessel_k(nu: float, u: np.ndarray) -> np.ndarray:
    """``log K_nu(u)``; by Debye's expansion where ``K_nu`` itself would overflow."""
    with np.errstate(divide="ignore"):
        # kve(nu, u) = kv(nu, u) exp(u) does not underflow for large u.
        direct = np.log(special.kve(nu, u)) - u
    z = u / nu
    root = np.sqrt(1 + z**2)
    correction = np.log1p(-(3 / root - 5 / root**3) / (24 * nu))
    eta = root + np.log(z / (1 + root))
    debye = 0.5 * np.log(np.pi / (2 * nu)) - nu * eta - 0.5 * np.log(root) + correction
    return np.where(np.isfinite(direct), direct, debye)


@dataclass(frozen=True)
class Custom:
    """A kernel given by a sampler of its one-dimensional spectral measure."""

    sampler: Sampler

    def sample(self, rng: np.random.RandomState, size: tuple[int, int]) -> np.ndarray:
        """Draw from the spectral measure, checking what the user's function returned."""
        draws = np.asarray(self.sampler(rng, size), dtype=np.float64)
        if draws.shape != tuple(size):
            raise ValueError(
                f"The kernel's sampler returned an array of shape {draws.shape}; "
                f"expected {tuple(size)}."
            )
        if not np.isfinite(draws).all():
            raise ValueError("The kernel's sampler returned NaN or infinite values.")
        return draws


KERNELS: dict[str, Kernel] = {
    "gaussian": Gaussian(),
    "laplace": Laplace(),
    "matern12": Matern(0.5),
    "matern32": Matern(1.5),
    "matern52": Matern(2.5),
}


def low_order(kernel: Kernel, rng: np.random.RandomState, size: tuple[int, int]) -> np.ndarray:
    """Draws of a kernel's spectral measure of which each column keeps one, two or three entries.

    Orders are equally frequent, the entries of a column equally likely; a column of m entries is
    divided by the root of m, so that its length does not depend on m.
    """
    rows, columns = size
    E = kernel.sample(rng, size)
    order = rng.randint(1, min(HIGHEST_ORDER, rows) + 1, size=columns)
    rank = np.argsort(np.argsort(rng.uniform(size=size), axis=0), axis=0)
    return np.where(rank < order, E / np.sqrt(order), 0.0)


def get_kernel(kernel: str | Kernel | Sampler) -> Kernel:
    """The kernel that a name, a kernel object or a sampler stands for."""
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(f"kernel={kernel!r} is unknown; accepted names are {sorted(KERNELS)}.")
        return KERNELS[kernel]
    if isinstance(kernel, Kernel) and not isinstance(kernel, type):
        # A frozen dataclass of this module draws what it says; anything else is checked.
        return kernel if type(kernel).__module__ == __name__ else Custom(kernel.sample)
    if callable(kernel):
        return Custom(kernel)
    raise ValueError(
        f"kernel={kernel!r} is neither a name ({sorted(KERNELS)}), an object with "
        "sample(rng, size) nor such a function."
    )
