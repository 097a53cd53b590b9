"""Data: the paper's synthetic problems."""

from srff.datasets.synthetic import SE1, SE2, SE3, Truth, make_se1, make_se2, make_se3

__all__ = ["SE1", "SE2", "SE3", "Truth", "make_se1", "make_se2", "make_se3"]
