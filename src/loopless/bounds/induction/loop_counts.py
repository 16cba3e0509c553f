"""What is known of the loops of one function by counting: what iterations do to measures, and what that adds up to.

How often something happens is for :mod:`loopless.bounds.looperman.path_counters` to say; what carries bounds outwards
and sums them (:mod:`loopless.bounds.looperman.nested`) asks it, and is asked by it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from loopless import terms as t
from loopless.bounds.induction.measures import Grows, Step, step
from loopless.bounds.looperman.scopes import Iteration, Scope, Scopes, SymbolicState
from loopless.bounds.model import Bounds, TermBound, both
from loopless.flowgraph.memory.statement_effects import changed_in
from loopless.refusals import Refused

What = str | tuple[int, ...]
"""What is counted in a loop: the visits of a block by its label, some of the iterations by number, or all of them
(:data:`loopless.bounds.looperman.path_counters.ITERATIONS`).
"""


class LoopCounts(ABC):
    """Counts for the loops of one function, over the values at the entry of a loop, the base."""

    def __init__(self, scopes: Scopes, *, in_call: bool) -> None:
        """``in_call``: they need hold only for entries in calls of the function, so that constants at the entry are
        known.
        """
        self.scopes = scopes
        self.constants = {h: _constants(scopes, h) for h in scopes.by_header} if in_call else {}
        self.variables = frozenset(scopes.graph.variables)

    @abstractmethod
    def count(self, base: str, header: str, what: What) -> Bounds:
        """Bounds on how often ``what`` happens in the loop ``header`` during one entry of the loop ``base`` around it
        (or itself). None is no bound.
        """

    @abstractmethod
    def measures(self, scope: Scope) -> list[t.Term]:
        """Terms that are at least 1 wherever an iteration of the loop is complete, the short ones first."""

    def scope(self, header: str) -> Scope | None:
        """The scope of a loop, where it could be executed."""
        found = self.scopes.scopes[header]
        return None if isinstance(found, Refused) else found

    def changed(self, base: str) -> frozenset[t.Var]:
        """The variables that change while a loop runs."""
        scope = self.scope(base)
        return scope.changed if scope is not None else self.variables

    def effect(
        self, base: str, measure: t.Term, done: Iteration | SymbolicState, known: t.Condition = t.TRUE
    ) -> Step | None:
        """What an iteration, or a path, inside the loop ``base`` does to a measure, over what does not change in that
        loop.
        """
        holds = both(done.holds if isinstance(done, SymbolicState) else done.condition, known)
        found = step(measure, done.values, done.passed, holds, self.variables, self.changed(base))
        if found is not None and self.reads_written(base, found.by if isinstance(found, Grows) else found.value):
            return None
        return found

    def reads_written(self, base: str, term: t.Term) -> bool:
        """Whether the term reads memory that the loop ``base`` may write, or the function for the empty name."""
        arrays = {node.array for node in t.walk_inside(term) if isinstance(node, t.Read)}
        if not arrays:
            return False
        if any(t.in_list(array) is not None for array in arrays):
            return True  # the pointer that leads to the list may be another one
        graph = self.scopes.graph
        loop = self.scopes.by_header.get(base)
        written = changed_in(graph, graph.blocks if loop is None else loop.blocks)
        return not written.names(graph).isdisjoint(arrays)

    def grown(
        self,
        base: str,
        growing: Sequence[tuple[tuple[str, int], t.Term]],
        often: Callable[[str, tuple[int, ...]], Bounds] | None = None,
    ) -> TermBound | None:
        """How much a measure grows in all during one entry of ``base``, where the iterations of ``growing``, by their
        loop and number, raise it by so much each; constants are added up level by level, over all iterations that reach
        the level. ``often``: how often iterations happen, if not all of one entry count.
        """
        terms: list[t.Term] = []
        when: list[t.Condition] = []
        for header in dict.fromkeys(place[0] for place, _ in growing):
            own = [(place[1], by) for place, by in growing if place[0] == header]
            constant = [(number, by.value) for number, by in own if isinstance(by, t.Const)]
            parts: list[tuple[t.Term, tuple[int, ...]]] = [(by, (n,)) for n, by in own if not isinstance(by, t.Const)]
            below = 0
            for level in sorted({value for _, value in constant}):
                reached = tuple(sorted(number for number, value in constant if value >= level))
                parts.append((t.const(level - below), reached))
                below = level
            for by, numbers in parts:
                times = self.count(base, header, numbers) if often is None else often(header, numbers)
                if not times:
                    return None
                terms.append(by * times[0].term)
                when.append(times[0].when)
        return TermBound(t.add(*terms), t.conjunction(when))


def _constants(scopes: Scopes, header: str) -> dict[t.Var, t.Term]:
    """The variables that are constants at every entry of a loop in a call of the function."""
    around = scopes.scopes[scopes.parent(header) or ""]
    if isinstance(around, Refused):
        return {}
    states = around.visits.get(header, ())
    common = [frozenset((v, term) for v, term in state.values.items() if isinstance(term, t.Const)) for state in states]
    return dict(frozenset.intersection(*common)) if common else {}
