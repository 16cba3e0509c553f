"""Random C programs with loops, inputs for them, and their minimization."""
