"""Limits of :mod:`loopless.cli`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# cli.app

OBJECTS_BEFORE_COLLECTION: Annotated[int, ChosenBy("a guess: each takes some hundred bytes")] = 100_000
"""Number of new objects before the first look for garbage."""

# cli.progress

MAX_NAMED_LOOPS: Annotated[int, GUESS] = 3
"""Maximum number of loops that progress names while they are worked on at once."""

varied(__name__)
