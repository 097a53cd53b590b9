"""Losses that are accepted as ``loss=``; their home is :mod:`srff.core.losses`."""

from srff.core.losses import Logistic, Loss, Multinomial, Pinball, Poisson, Squared

__all__ = ["Logistic", "Loss", "Multinomial", "Pinball", "Poisson", "Squared"]
