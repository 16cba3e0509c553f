"""Limits of :mod:`loopless.automaton`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

MAX_PATHS: Annotated[int, GUESS] = 48
"""Maximum number of iterative paths whose order is decided."""

MAX_COMPONENT: Annotated[int, GUESS] = 16
"""Maximum number of paths in a component whose rounds are followed."""

EXECUTION_OPERATIONS: Annotated[int, ChosenBy("half a second of isl on small sets")] = 2_000_000
"""Maximum number of isl operations for deciding how paths follow one another."""

CHANGE_OPERATIONS: Annotated[int, ChosenBy("60 ms of isl on small sets")] = 500_000
"""Maximum number of isl operations for one question whether a change is constant where the path runs."""

MAX_STATES: Annotated[int, GUESS] = 64
"""Maximum number of paths of a loop that gets an automaton."""

TRANSITION_OPERATIONS: Annotated[int, ChosenBy("a tenth of a second of isl on small sets")] = 500_000
"""Maximum number of isl operations for one transition."""

COSTLY_TRANSITIONS: Annotated[int, GUESS] = 3
"""Maximum number of transitions at full cost for one automaton; the rest is over-approximated."""

WRAPPED_OPERATIONS: Annotated[int, ChosenBy("6 ms of isl on small sets")] = 50_000
"""Maximum number of isl operations on numbers of the size of 2^64, where most questions are cheap or hopeless."""

MAX_PREFIX: Annotated[int, GUESS] = 8
"""Maximum number of iterations after which a closed form may begin to hold."""

PICTURE_LINE: Annotated[int, GUESS] = 60
"""Maximum number of characters in a line of a picture; longer lines are broken after a connective."""

DETAILED_TRANSITIONS: Annotated[int, GUESS] = 12
"""Maximum number of transitions in a picture that shows each state by itself."""

varied(__name__)
