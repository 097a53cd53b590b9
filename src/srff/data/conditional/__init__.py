"""Columns drawn anew given all other columns, without a look at the target."""
