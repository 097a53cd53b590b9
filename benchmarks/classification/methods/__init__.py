"""The methods: one module each.

``fit(train, validation, seed, n_threads, device, n_features=None)`` returns a ``Fitted`` whose
``predict`` gives the probabilities of the classes; with ``n_features`` the model uses at most so
many variables.
"""

from __future__ import annotations

from methods import Method

PACKAGE = "classification.methods"
METHODS = {
    method.name: method
    for method in (
        Method("srff", ("srff",), 8, device=True, package=PACKAGE),
        Method("srff_own", ("srff",), 8, device=True, package=PACKAGE),
        Method("lightgbm", ("lightgbm",), 3, package=PACKAGE),
        Method("lassonet", ("lassonet", "torch"), 12, device=True, package=PACKAGE),
        Method("stg", ("stg", "torch"), 12, device=True, package=PACKAGE),
        Method("lasso", ("scikit-learn",), 1, package=PACKAGE),
    )
}
