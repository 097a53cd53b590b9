"""Measure classification and variable selection of srff and its peers.

    python benchmarks/classification/run.py --problems 'xor3*' --methods srff lightgbm

Runs as ``benchmarks/accuracy/run.py`` does, with its options.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "accuracy"))

from classification.methods import METHODS
from classification.problems import PROBLEMS
from run import Benchmark, main

HERE = Path(__file__).resolve().parent
COLUMNS = (
    "problem",
    "method",
    "seed",
    "n",
    "d",
    "classes",
    "accuracy",
    "log_loss",
    "auc",
    "tree_accuracy",
    "network_accuracy",
    "accuracy_prior",
    "log_loss_prior",
    "accuracy_best",
    "log_loss_best",
    "auc_best",
    "n_selected",
    "n_true",
    "true_selected",
    "false_selected",
    "exact",
    "seconds",
    "peak_mb",
    "status",
    "device",
    "selected",
    "settings",
    "versions",
)
BENCHMARK = Benchmark(HERE, PROBLEMS, METHODS, COLUMNS, "accuracy")

if __name__ == "__main__":
    main(benchmark=BENCHMARK)
