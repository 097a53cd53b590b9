"""All problems by their names."""

from __future__ import annotations

from real import REAL
from synthetic import OTHERS, PAPER

PROBLEMS = {problem.name: problem for problem in (*PAPER, *OTHERS, *REAL)}
