"""Limits of :mod:`loopless.flowgraph`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

MAX_INLINE_NODES: Annotated[int, GUESS] = 24
"""Maximum number of nodes of a value that is written out at each use; a larger one gets a variable."""

MAX_LITERAL_CHARACTERS: Annotated[int, GUESS] = 20
"""Maximum number of characters of a string literal that stands for its own name; a longer one keeps the compiler's
name."""

# Callees

MAX_TARGETS: Annotated[int, GUESS] = 16
"""Maximum number of functions that a call through a pointer is divided among; with more, it stays as it is."""

MAX_TABLE: Annotated[int, GUESS] = 256
"""Maximum number of entries of a table of functions that is followed."""

MAX_BLOCKS: Annotated[int, GUESS] = 3000
"""Maximum number of blocks of a program whose functions are put together."""

# Memory

MAX_FOLLOWED_OBJECTS: Annotated[int, GUESS] = 6
"""Maximum number of objects in memory of which a cell is followed."""

MAX_CELLS: Annotated[int, GUESS] = 24
"""Maximum number of places of one object that are told apart; with more, the whole object is meant."""

MAX_INITIALIZER_BYTES: Annotated[int, GUESS] = 1 << 20
"""Maximum size in bytes of a global variable whose initial bytes are read."""

MAX_LOOKUP_ENTRIES: Annotated[int, GUESS] = 256
"""Maximum number of elements of an array that becomes a look-up table."""

MAX_KNOWN_BYTES: Annotated[int, ChosenBy("as many as the largest look-up table of the widest integers has")] = 2048
"""Maximum size in bytes of an array whose elements are followed as constants."""

MAX_MEMBER_DEPTH: Annotated[int, GUESS] = 8
"""Maximum depth of arrays and structures inside one another that are followed."""

MAX_HEAP_BYTES: Annotated[int, ChosenBy("runs hold it twice, as it is and as what was allocated")] = 1 << 20
"""Maximum size in bytes of a heap object that is followed like a local variable."""

MAX_OFFSETS: Annotated[int, GUESS] = 6
"""Maximum number of offsets into one object that a pointer may have; with more, its offset is unknown."""

MAX_POINTEE_DEPTH: Annotated[int, GUESS] = 3
"""Maximum number of pointers behind one another that are followed by name."""

MAX_POINTEES: Annotated[int, GUESS] = 40
"""Maximum number of objects that are told apart behind one object."""

varied(__name__)
