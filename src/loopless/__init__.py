"""Loopless tells what a loop does without running it."""
