"""Counters in floating point: the arithmetic of IEEE 754, and how often a loop runs by it."""
