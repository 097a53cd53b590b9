"""Kernels that are accepted as ``kernel=``; their home is :mod:`srff.core.kernels`."""

from srff.core.kernels import Custom, Gaussian, Kernel, Laplace, Matern

__all__ = ["Custom", "Gaussian", "Kernel", "Laplace", "Matern"]
