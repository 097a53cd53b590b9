"""Confidence: which variables are more than the luck of one draw, with error rates that hold.

Everything here looks at a model from outside, on rows that its search never saw.  How models are
found is the business of :mod:`srff.selection`.
"""
