"""Limits of :mod:`loopless.source`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# source.inlining

MAX_INLINED_SIZE: Annotated[int, GUESS] = 500
"""Maximum number of instructions of an inlined function, its own inlined calls included, in a small module."""

SMALL_MODULE_SIZE: Annotated[int, GUESS] = 2_000
"""Maximum number of instructions of a small module."""

MAX_INLINED_LEAF: Annotated[
    int,
    ChosenBy("of 30, 60, 150 and 500 this bounds most loops of three builds; larger ones take up to twice the time"),
] = 60
"""Maximum number of instructions of an inlined function in other modules. There a function is looked at once, not again
in each of its callers."""

MAX_INLINING_GROWTH: Annotated[int, GUESS] = 20_000
"""Maximum number of instructions that inlining adds to a module."""

# source.metadata

MAX_METADATA_DEPTH: Annotated[int, ChosenBy("deeper than any compiler makes them")] = 200
"""Maximum depth of chains of scopes or typedefs."""

# source.toolchain

COMPILER_GLANCE_S: Annotated[float, GUESS] = 0.2
"""Number of seconds between two looks at how much a compiler works."""

# source.worker

WORKER_GLANCE_S: Annotated[float, GUESS] = 0.2
"""Number of seconds between two looks at how much the child works."""

varied(__name__)
