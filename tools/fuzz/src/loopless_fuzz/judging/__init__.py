"""Judges of summaries: one loop alone from any state, native counts, sanitizers, and the formulas that people read."""
