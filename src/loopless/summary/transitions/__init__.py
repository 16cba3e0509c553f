"""A loop as guarded transitions: systems, their steps, and the closed forms of repeating a step."""
