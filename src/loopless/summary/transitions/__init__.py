"""A loop as guarded transitions: systems, their steps, and what repeating a step comes to."""
