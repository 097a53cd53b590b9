"""scikit-learn's conventions around the solvers."""
