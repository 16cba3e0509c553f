"""Limits of :mod:`loopless.recurrences`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, varied

# recurrences.solve

MAX_COMPONENT: Annotated[int, GUESS] = 12
"""Maximum number of mutually dependent variables in a system."""

# recurrences.linearize

MAX_MONOMIALS: Annotated[int, GUESS] = 48
"""Maximum number of monomials in a system."""

MAX_SHOWN_ROWS: Annotated[int, GUESS] = 6
"""Maximum number of rows of a matrix that is shown."""

# recurrences.linear

MAX_MATRIX_POWER: Annotated[int, GUESS] = 24
"""Maximum power of a matrix that is searched for rational eigenvalues."""

# recurrences.closed

MAX_SYMBOLIC_ITERATIONS: Annotated[int, GUESS] = 64
"""Maximum number of iterations whose values are composed symbolically."""

# recurrences.expoly

MAX_SUMMANDS: Annotated[int, GUESS] = 600
"""Maximum number of summands of an exponential polynomial."""

# recurrences.sequences

MAX_PERIOD: Annotated[int, GUESS] = 64
"""Maximum period of a sequence."""

MAX_PREFIX: Annotated[int, GUESS] = 64
"""Maximum number of explicit values of a sequence before its closed form starts."""

varied(__name__)
