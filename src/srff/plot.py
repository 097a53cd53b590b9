"""Pictures of fitted models, with matplotlib: ``pip install 'srff[plot]'``.

Every function draws into the axes it is given, or into a new figure, and returns the axes; none
shows or saves anything.  Where the axes are your own, a figure with ``layout="constrained"`` makes
room for long names.
"""

from srff.inspect.plot import confidence, convergence, effect, fit, path, scales, stability

__all__ = ["confidence", "convergence", "effect", "fit", "path", "scales", "stability"]
