"""How often a loop runs at most, by a measure that every iteration lowers.

The least there is of a ranking function: a condition that all paths share, t ≤ 0, where t grows by one or more in each
iteration. It bounds searches over what is read where nothing oblivious does: halved intervals, steps by what is read.
"""

from __future__ import annotations

from loopless import terms as t
from loopless.paths.model import LoopPaths
from loopless.summary.data.oblivious import reads_data, shared_conjuncts
from loopless.summary.data.possible import possible
from loopless.terms.relation import behind


def most_iterations(paths: LoopPaths, given: t.Condition) -> t.Term | None:
    """A number of iterations that no run exceeds, over the entry values; None where none is found. ``given`` holds in
    every completed iteration.
    """
    changing = frozenset(var for path in paths.iterative for var in path.update)
    for part in shared_conjuncts(paths):
        if not isinstance(part, t.Compare) or part.relation != "le" or reads_data(part, changing):
            continue
        left = part.term
        if left.variables.isdisjoint(changing):
            continue
        slow = (path.condition & given & t.at_most_zero(behind(path, left) - left) for path in paths.iterative)
        if not any(map(possible, slow)):
            return t.maximum(t.ZERO, 1 - left)
    return None
