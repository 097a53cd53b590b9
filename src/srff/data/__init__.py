"""Rows: where they come from, which of them train and validate, and how blocks are summed."""
