"""Limits of :mod:`loopless.paths`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# paths.execution

MAX_PATHS: Annotated[int, GUESS] = 256
"""Maximum number of different states in one place."""

MAX_VISITS: Annotated[int, GUESS] = 5000
"""Maximum number of pairs of a block and a state."""

MAX_COMPARISONS: Annotated[int, GUESS] = 15_000
"""Maximum number of comparisons in the path conditions that are put to the logic, all together."""

MAX_SOLVER_DEGREE: Annotated[int, ChosenBy("Z3 may take seconds beyond")] = 2
"""Maximum degree of conditions that are put to Z3."""

MAX_SOLVER_QUESTIONS: Annotated[int, GUESS] = 12
"""Maximum number of conditions that are put to Z3 for one loop."""

REMEMBERED_CONJUNCTS: Annotated[int, GUESS] = 10_000
"""Maximum number of conjuncts of path conditions for which the program remembers their parts. Path conditions grow by
one conjunct at a time."""

# paths.checks

CHECK_OPERATIONS: Annotated[int, ChosenBy("100 ms of isl on small sets")] = 1_000_000
"""Maximum number of isl operations for taking the checks of one loop apart. Where they do not suffice the paths stay as
they are."""

ONE_CHECK_OPERATIONS: Annotated[int, ChosenBy("a tenth of the operations for one loop")] = 100_000
"""Maximum number of isl operations for one check."""

MAX_CONDITION_ALTERNATIVES: Annotated[int, GUESS] = 64
"""Maximum number of alternatives of a condition that is taken apart."""

MAX_ALTERNATIVE_PATHS: Annotated[int, GUESS] = 24
"""Maximum number of paths that taking alternatives apart gives."""

# paths.context

MAX_WAYS: Annotated[int, GUESS] = 16
"""Maximum number of ways to a loop that are followed back."""

MAX_ENTRY_ALTERNATIVES: Annotated[int, GUESS] = 4
"""Maximum number of different sets of facts that each hold on some of the ways only."""

# paths.library

MAX_SEARCHED_BYTES: Annotated[int, GUESS] = 64
"""Maximum number of different bytes in a known text in which a search is told by these bytes. In other texts it is told
as a search."""

varied(__name__)
