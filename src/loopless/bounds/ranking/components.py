"""Headers of a function that lead to one another: how often the transitions between them are taken in a call, how large
terms become at them, by how much they raise a variable.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from loopless import terms as t
from loopless.bounds.ranking.cutpoints import ENTRY
from loopless.bounds.ranking.refinement import longest
from loopless.bounds.ranking.size_bounds import SizeBounds, TakenAtMost, least_of
from loopless.bounds.ranking.transition_counts import TransitionCounts
from loopless.bounds.ranking.transition_system import LinearTransition, TransitionGraph
from loopless.logic.farkas import Farkas
from loopless.ranking.affine import Functions
from loopless.ranking.templates import bound_above


class HeaderComponent:
    """Headers that lead to one another, and what is known of how often the transitions between them are taken.

    ``graph`` has the transitions of the whole function; ``entering`` are those that come from other components, with
    these; ``inputs`` what a call is given, over which bounds are.
    """

    def __init__(
        self,
        graph: TransitionGraph,
        engine: Farkas,
        inputs: frozenset[t.Var],
        headers: frozenset[str],
        entering: Sequence[tuple[HeaderComponent, LinearTransition]],
    ) -> None:
        self.graph = graph.within(headers)
        self.inputs = inputs
        self.headers = headers
        self.transitions = self.graph.system.transitions
        self.entering = tuple(entering)
        self.sizes = [
            SizeBounds(self.graph, engine, self._coming_in, wide=False, by_value=by_value) for by_value in (False, True)
        ]
        self.ranked = TransitionCounts(self.graph, self.sizes, self._start)

    # -- values -------------------------------------------------------------------------------------------------------

    def after(self, transition: LinearTransition, term: t.Term) -> t.Term | None:
        """The most that an affine term is after a transition that begins in the component."""
        return least_of(bound for sizes in self.sizes for bound in sizes.after(transition, term))

    def _coming_in(self, header: str, term: t.Term) -> list[t.Term] | None:
        """The most that an affine term is where a run comes to a header from other components, or the call begins."""
        if header == ENTRY:
            known = self.sizes[0].meaning(term)
            return [known] if known.variables <= self.inputs else None
        values: list[t.Term] = []
        for component, entering in self.entering:
            if self.graph.target_of(entering) == header:
                value = component.after(entering, term)
                if value is None:
                    return None
                values.append(value)
        return values

    def _start(self, found: Functions, falling: Sequence[LinearTransition]) -> t.Term | None:
        """The most that functions are where a run comes into the component; or, since only that counts, before it
        first takes one of those transitions.
        """
        source = self.graph.source_of
        terms = [(other, found[source(other)].term) for other in falling]
        before = [least_of(self.sizes[0].bounded(other, term, term)) for other, term in terms]
        known = [value for value in before if value is not None]
        first = t.maximum(*known) if len(known) == len(before) else None
        if isinstance(first, t.Const):
            return first
        if not self.entering:
            return t.ZERO  # no run comes here
        starts = [
            component.after(transition, found[self.graph.target_of(transition)].term)
            for component, transition in self.entering
        ]
        values = [value for value in starts if value is not None]
        return t.maximum(*values) if len(values) == len(starts) else first

    # -- counts -------------------------------------------------------------------------------------------------------

    def search(self) -> None:
        """Counts transition after transition, as long as one is found that can be counted."""
        chain = longest(self.transitions, lambda a, b: self.graph.target_of(a) == self.graph.source_of(b))
        if chain is not None:
            self.ranked.count(
                TakenAtMost(frozenset(transition.name for transition in self.transitions), t.const(chain))
            )
        else:
            self.ranked.search()

    def often(self, transitions: Collection[LinearTransition]) -> t.Term | None:
        """How often these transitions are taken in a call; None where that is not known."""
        return self.ranked.often(transitions)

    def raised(self, variable: t.Var) -> t.Term | None:
        """By how much the transitions inside raise a variable in a call, all together: a function that falls by what
        each of them adds, else how often they are taken times that.
        """
        added: dict[str, int] = {}
        for transition in self.transitions:
            amount = self.added(transition, variable)
            if amount is None:
                return None
            added[transition.name] = max(amount, 0)
        paying = [transition for transition in self.transitions if added[transition.name]]
        if not paying:
            return t.ZERO
        steady = [transition for transition in self.transitions if not added[transition.name]]
        found = self.ranked.functions(paying, steady, (), drops=added)
        start = self._start(found, paying) if found is not None else None
        if found is not None and start is not None:
            return t.maximum(t.ZERO, start // next(iter(found.values())).divisor)
        parts: list[t.Term] = []
        for amount in sorted(set(added.values()) - {0}):
            often = self.often([transition for transition in paying if added[transition.name] == amount])
            if often is None:
                return None
            parts.append(often * amount)
        return t.add(*parts)

    def added(self, transition: LinearTransition, variable: t.Var) -> int | None:
        """The most that a transition adds to a variable, where that is a number."""
        change = transition.step(variable) - variable
        most = bound_above(self.ranked.engine, transition.rows, change, ())
        exact = self.sizes[0].exact(transition, variable) - variable
        if most is None or not isinstance(most.floor, t.Const):
            return None
        return most.floor.value if self.sizes[0].proves(transition, exact.le(most.floor)) else None
