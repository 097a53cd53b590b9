"""One cell: draw the rows of a problem and seed, fit a method, print what it gave as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "accuracy"))

import numpy as np
from cell import measure, print_cell
from classification.learners import network_accuracy, tree_accuracy
from classification.methods import METHODS
from classification.problems import PROBLEMS
from methods.common import Fitted
from problem import Draw
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score


def figures(y: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Accuracy, log loss and, of two classes, the area under the ROC curve."""
    classes = np.arange(probabilities.shape[1])
    found = {
        "accuracy": float(accuracy_score(y, probabilities.argmax(axis=1))),
        "log_loss": float(log_loss(y, probabilities, labels=classes)),
    }
    if classes.size == 2:
        found["auc"] = float(roc_auc_score(y, probabilities[:, 1]))
    return found


def run(name: str, method_name: str, seed: int, n_threads: int, device: str) -> dict[str, Any]:
    """The figures of a cell."""
    problem, method = PROBLEMS[name], METHODS[method_name]

    def before(draw: Draw) -> dict[str, Any]:
        X, y = draw.test
        counts = np.bincount(draw.train[1], minlength=problem.n_classes)
        prior = figures(y, np.tile(counts / counts.sum(), (y.size, 1)))
        found: dict[str, Any] = {"classes": problem.n_classes}
        found |= {f"{what}_prior": prior[what] for what in ("accuracy", "log_loss")}
        if problem.probabilities is not None:
            best = figures(y, problem.probabilities(X))
            found |= {f"{what}_best": value for what, value in best.items()}
        return found

    def errors(draw: Draw, fitted: Fitted) -> dict[str, Any]:
        X, y = draw.test
        reached = figures(y, np.asarray(fitted.predict(X)))
        if problem.n_asked is not None:
            reached["tree_accuracy"] = tree_accuracy(draw, fitted.selected, seed)
            reached["network_accuracy"] = network_accuracy(draw, fitted.selected, seed)
        return reached

    return measure(
        problem, method, seed, n_threads, device, before, errors, n_features=problem.n_asked
    )


if __name__ == "__main__":
    print_cell(run)
