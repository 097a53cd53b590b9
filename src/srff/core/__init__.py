"""The mathematics: kernels, features, losses, objectives and their descents.

Nothing here knows where rows are: a formula asks an :class:`srff.core.engine.Engine` for sums.
"""
