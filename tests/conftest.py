"""Settings that hold for all tests."""

from __future__ import annotations

from hypothesis import settings

# Solvers and compilers take what they take: time limits per example would only make tests flaky.
settings.register_profile("loopless", deadline=None, print_blob=True)
settings.load_profile("loopless")
