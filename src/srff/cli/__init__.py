"""The shell command ``srff``: one file for each command, and what they share.

Commands import what they need when they run, so that help and completion are quick.
"""

from srff.cli.main import app

__all__ = ["app"]
