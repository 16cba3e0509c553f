"""How often a loop runs at most, by a measure that every iteration lowers.

The least there is of a ranking function: a condition that all paths share, t ≤ 0, where t grows by one or more in each
iteration. It bounds searches over what is read where nothing oblivious does: halved intervals, steps by what is read.
"""

from __future__ import annotations

from loopless.paths.model import LoopPaths
from loopless.summary.data.oblivious import reads_data, shared_conjuncts
from loopless.summary.data.possible import possible
from loopless.terms import (
    ONE,
    ZERO,
    Compare,
    Condition,
    Term,
    at_most_zero,
    conjunction,
    maximum,
    sub,
    substitute,
)


def most_iterations(paths: LoopPaths, given: Condition) -> Term | None:
    """A number of iterations that no run exceeds, over the entry values; None where none is found. ``given`` holds in
    every completed iteration.
    """
    changing = frozenset(var for path in paths.iterative for var in path.update)
    for part in shared_conjuncts(paths):
        if not isinstance(part, Compare) or part.relation != "le" or reads_data(part, changing):
            continue
        left = part.term
        if left.variables.isdisjoint(changing):
            continue
        slow = (
            conjunction((path.condition, given, at_most_zero(sub(substitute(left, path.update), left))))
            for path in paths.iterative
        )
        if not any(map(possible, slow)):
            return maximum(ZERO, sub(ONE, left))
    return None
