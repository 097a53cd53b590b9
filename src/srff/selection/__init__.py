"""The default fit: :mod:`srff.selection.recipe` tells it as one story."""
