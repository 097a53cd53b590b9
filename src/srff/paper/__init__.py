"""The paper's method: Algorithm 1, its search over lambda, the whole path."""
