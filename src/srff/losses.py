"""Losses that are accepted as ``loss=``; their home is :mod:`srff.core.losses`."""

from srff.core.losses import SQUARED, Logistic, Loss, Multinomial, Pinball, Poisson, Squared

__all__ = ["SQUARED", "Logistic", "Loss", "Multinomial", "Pinball", "Poisson", "Squared"]
