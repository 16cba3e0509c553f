"""Limits of :mod:`loopless.navigation`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, varied

# Products and counters

MAX_FINITE_VALUES: Annotated[int, GUESS] = 24
"""Maximum number of values at one location of a variable that has few."""

MAX_PRODUCT_EDGES: Annotated[int, GUESS] = 1_500
"""Maximum number of edges of a product of locations and values that are counted each."""

MAX_DETAILED_EDGES: Annotated[int, GUESS] = 14
"""Maximum number of edges of a component whose states around single edges are described."""

MAX_CONSTRAINTS: Annotated[int, GUESS] = 4_000
"""Number of constraints from which nothing more is said about reads at the same place."""

MAX_CUTS: Annotated[int, GUESS] = 40
"""Maximum number of times that the solver is asked for a plan in one piece."""

CHECK_MS: Annotated[int, GUESS] = 2_000
"""Maximum time in milliseconds for one question to the solver about counters."""

MAX_TRIP_COUNTS: Annotated[int, GUESS] = 12
"""Maximum number of trip counts tried for one counter."""

MAX_SPLIT_TRANSITIONS: Annotated[int, GUESS] = 12
"""Approximate maximum number of transitions that one transition is divided into."""

MAX_TURNS: Annotated[int, GUESS] = 3
"""Maximum number of multiples by which a value may wrap around, if transitions are divided by them."""

# Search

MAX_SYSTEMS: Annotated[int, GUESS] = 400
"""Maximum number of plans made in one search."""

LARGE_PRODUCT: Annotated[int, GUESS] = 40
"""Maximum number of edges of a product whose constraints are made anew for the values that a run begins with."""

SHORTEST_RUN: Annotated[int, GUESS] = 4
"""Minimum number of times in a row that an edge is taken at once; fewer are taken step by step."""

MAX_LOOKAHEAD: Annotated[int, GUESS] = 5_000
"""Maximum number of steps looked ahead for an edge that is due."""

MAX_BACKTRACKS: Annotated[int, GUESS] = 4_000
"""Maximum number of times that one search goes back."""

# Steps

MAX_PLACES: Annotated[int, GUESS] = 64
"""Maximum number of places that an address may be, for a step that keeps them all; of more, one is chosen."""

MAX_LIBRARY_OUTCOMES: Annotated[int, GUESS] = 60
"""Maximum number of outcomes of library calls tried in one step."""

MAX_LIBRARY_BYTES: Annotated[int, GUESS] = 4_096
"""Maximum number of bytes that a library call examines, in the outcomes tried."""

MAX_FILLED_BYTES: Annotated[int, GUESS] = 1 << 16
"""Maximum number of bytes filled or copied at once."""

INPUTS_MS: Annotated[int, GUESS] = 4_000
"""Maximum time in milliseconds to find values for inputs that depend on one another."""

varied(__name__)
