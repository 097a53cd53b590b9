"""The paper's experiments: every table and the figure, run, resumed and set beside the paper's."""
