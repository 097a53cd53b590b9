"""Rows: where they come from, which of them train and judge, and how blocks of them are summed."""
