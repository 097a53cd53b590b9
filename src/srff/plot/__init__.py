"""Pictures of fitted models, with matplotlib: ``pip install 'srff[plot]'``.

Every function draws into the axes it is given, or into a new figure, and returns the axes; none
shows or saves anything.  Where the axes are your own, a figure with ``layout="constrained"`` makes
room for long names.
"""

from srff.plot.bars import scales, stability
from srff.plot.effects import effect
from srff.plot.fits import fit
from srff.plot.paths import convergence, path

__all__ = ["convergence", "effect", "fit", "path", "scales", "stability"]
