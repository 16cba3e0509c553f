"""Where a loop is entered, and what its bounds come to there over what is around it."""

from __future__ import annotations

from loopless import terms as t
from loopless.bounds.asymptotics.compare import surely_at_most
from loopless.bounds.induction.fact_counts import Counts
from loopless.bounds.iteration.body_facts import LoopBodyFacts, Point
from loopless.bounds.looperman.nested import raised
from loopless.bounds.model import Bounds, positive
from loopless.flowgraph.memory.statement_effects import changed_in
from loopless.flowgraph.model import Flowgraph
from loopless.limits.bounds import LARGE_CONSTANT


class EntryOf:
    """Where a loop is entered: in each iteration of the loop around it, or in the function."""

    def __init__(self, graph: Flowgraph, around: LoopBodyFacts, point: Point, visits: t.Term | None = None) -> None:
        self.around, self.point, self.visits = around, point, visits
        labels = graph.blocks if around.loop is None else around.loop.blocks
        self._written = changed_in(graph, labels).names(graph)
        self._counts = Counts(around)

    def least_of(self, bounds: Bounds) -> t.Term | None:
        """One bound for those that hold wherever the loop is entered."""
        terms = [bound.term for bound in bounds if self._holds(bound.when)]
        return t.minimum(*terms) if terms else None

    def _holds(self, when: t.Condition) -> bool:
        if when is t.TRUE:
            return True
        try:
            here = t.substitute(when, self.point.values)
        except t.TermTooLarge:
            return False
        return all(
            isinstance(part, t.Compare)
            and part.relation == "le"
            and self.point.facts.imply(part.term, self.around.intervals)
            for part in t.conjuncts(here)
            if part is not t.TRUE
        )

    def _reads_written(self, term: t.Term) -> bool:
        """Whether a term reads what may be written around the loop, or a list, which is of a pointer at its entry."""
        reads = (node.array for node in t.walk_inside(term) if isinstance(node, t.Read))
        return any(array in self._written or t.in_list(array) is not None for array in reads)

    def at_most(self, term: t.Term) -> t.Term | None:
        """A bound over the values at the entry of what is around, for all entries of the loop."""
        if self._reads_written(term):
            return None
        try:
            here = t.substitute(term, self.point.values)
            unknown = self.around.intervals.symbols & here.variables
            there = raised(here, frozenset(unknown | (here.variables & self.around.changed)), self._most)
        except t.TermTooLarge:
            return None
        return None if there is None else positive(there)

    def _most(self, part: t.Term) -> t.Term | None:
        """What a linear term never exceeds where the loop is entered."""
        changing = self.around.changed | frozenset(self.around.after)
        outside = changing | self.around.intervals.symbols
        grown: t.Term | None = None
        moved = self._counts.step(part)
        if moved is not None and part.variables.isdisjoint(self.around.intervals.symbols):
            high = self.around.intervals.range_of(moved)[1]
            if high is not None and high <= 0:
                return part
            grown = self._grown(part, high)
        for linear, most in self.point.facts.most.items():
            beyond = part - linear
            if beyond.variables.isdisjoint(outside):
                return beyond + most
        high = self.around.intervals.range_of(part)[1]
        known = t.const(high) if high is not None and high < LARGE_CONSTANT else None
        return known if grown is None else grown if known is None else t.minimum(grown, known)

    def _grown(self, part: t.Term, by: int | None) -> t.Term | None:
        """What a linear term comes to at most that iterations raise: one less than the bound on visits are completed
        before each of them.
        """
        visits = self._counts.visits(self.point.facts)
        if by is None or by >= LARGE_CONSTANT or visits is None:
            return None
        return part + positive(visits - 1) * by

    def in_all(self, term: t.Term) -> t.Term | None:
        """A bound on the sum over all entries, over the values at the entry of what is around."""
        each = self.at_most(term)
        if each is None or self.around.loop is None:
            return each
        visits = [term for term in (self.visits, self._counts.visits(self.point.facts)) if term is not None]
        entries = t.minimum(*visits) if visits else None
        try:
            apart = self._apart(term)
            steps = None if apart is None else _sum_of_steps(each, apart)
            if entries is None:
                return steps
            product = entries * each
            if steps is None:
                return product
            return steps if surely_at_most(each, entries) else t.minimum(product, steps)
        except t.TermTooLarge:
            return None

    def _apart(self, term: t.Term) -> int | None:
        """By how much, at least 1, what the loop takes in two entries differs; None where that is not known."""
        if self.visits is not None or self._reads_written(term):
            return None
        here = t.substitute(term, self.point.values)
        match here:
            case t.Op(op="max", args=(one, other)) if t.ZERO in (one, other):
                here = other if one is t.ZERO else one
            case _:
                pass
        step = self._counts.step(here)
        low, high = self.around.intervals.range_of(step) if step is not None else (None, None)
        return low if low is not None and low >= 1 else -high if high is not None and high <= -1 else None


def _sum_of_steps(most: t.Term, apart: int) -> t.Term:
    """A bound on the sum of numbers of at least 0 that are no more than ``most``, any two at least ``apart`` apart.

    They are at most most, most - apart, …: m of them come to m·most - apart·m(m - 1)/2, which is largest for
    m = most/apart + 1/2 and then (2·most + apart)²/(8·apart).
    """
    if apart == 1:
        return most * (most + 1) // 2
    twice = most * 2 + apart
    return twice * twice // (8 * apart)
