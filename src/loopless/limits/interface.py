"""Limits of :mod:`loopless.interface`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, varied

# interface.calls

MAX_KEPT_RESULTS: Annotated[int, GUESS] = 10_000
"""Maximum number of results of a function's calls that are kept, the latest ones."""

varied(__name__)
