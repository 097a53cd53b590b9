"""``python -m srff``."""

from srff.cli import app

app()
