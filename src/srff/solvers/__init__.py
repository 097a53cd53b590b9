"""Algorithms that move the scales: small mathematics only, the rows stay behind an engine."""

from srff.solvers.alternating import AlternatingState, alternating

__all__ = ["AlternatingState", "alternating"]
