"""Tools that know nothing of the method: threads, files, arrays, progress, checkpoints."""
