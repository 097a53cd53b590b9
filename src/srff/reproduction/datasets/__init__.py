"""Data: the paper's synthetic problems, and its real ones."""

from srff.reproduction.datasets.real import load_real, split_real
from srff.reproduction.datasets.synthetic import SE1, SE2, SE3, Truth, make_se1, make_se2, make_se3

__all__ = [
    "SE1",
    "SE2",
    "SE3",
    "Truth",
    "load_real",
    "make_se1",
    "make_se2",
    "make_se3",
    "split_real",
]
