"""Pictures of fitted models; :mod:`srff.plot` is where users find them."""

from srff.inspect.plot.bars import scales, stability
from srff.inspect.plot.certainty import confidence
from srff.inspect.plot.effects import effect
from srff.inspect.plot.fits import fit
from srff.inspect.plot.paths import convergence, path

__all__ = ["confidence", "convergence", "effect", "fit", "path", "scales", "stability"]
