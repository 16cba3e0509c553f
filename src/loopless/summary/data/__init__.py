"""Loops that read data: what they do, as a function of what they read."""
