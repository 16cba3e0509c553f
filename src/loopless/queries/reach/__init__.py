"""Which inputs lead to a place, and tests that take every side of every branch."""
