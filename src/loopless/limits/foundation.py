"""Limits of the modules without a package, the lowest layer."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# clock

FENCE_FACTOR: Annotated[float, GUESS] = 5.0
"""Number of times its limit of work that a process may take by the wall, waits for a processor left out."""

GRACE_S: Annotated[float, GUESS] = 5.0
"""Number of seconds by the wall that a process may take beyond that."""

GLANCE_S: Annotated[float, GUESS] = 0.05
"""Number of seconds between two looks at how much another process has worked."""

# metering

STEPS_PER_MS: Annotated[int, ChosenBy("Z3 makes 2 to 10 million a second, as questions are")] = 4_000
"""Number of Z3 steps that count as a millisecond."""

SPACER_STEPS_PER_MS: Annotated[int, ChosenBy("1 to 14 million a second were measured, as clauses are")] = 4_000
"""Number of Spacer's steps that count as a millisecond. They are smaller than others of Z3."""

PRODUCT_STEPS_PER_MS: Annotated[int, ChosenBy("0.2 to 3 million a second were measured")] = 1_500
"""Number of Z3 steps that count as a millisecond where unknowns are multiplied."""

SLOWING_QUOTIENTS: Annotated[int, ChosenBy("of 45 Z3 made 0.3 million steps a second, of 87 half of that")] = 3
"""Number of quotients and remainders in a condition by which the steps that count as a millisecond are divided once
more."""

QUESTION_CHARGE_S: Annotated[float, GUESS] = 0.002
"""Seconds of work that a question counts as beside its steps: to put it, and to read the answer."""

varied(__name__)
