"""Answers about loops: paths, types, summaries, and what these leave open."""
