"""What all iterations of an inner loop come to, for the loop around it that passes it over: no more than one walk says.

Each variable moves by so much in each iteration (:meth:`loopless.bounds.iteration.one_iteration.Whole.drift`), and the
number of iterations is known, or bounded, over the values where the loop is entered. What holds behind each completed
iteration holds whenever the loop's header is visited, if it holds at the entry, or if there surely is an iteration: an
invariant by one look, as ``i`` ≤ ``n`` behind an iteration that asks for ``i`` < ``n`` before it raises ``i``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

from loopless import terms as t
from loopless.bounds.iteration.facts import Facts, SymbolIntervals
from loopless.limits.bounds import MAX_DISTANCE, MAX_KEPT_FACTS
from loopless.records import dataclass
from loopless.terms.ranges import Range

Drift = Mapping[t.Var, Range]
"""By how much one iteration of a loop changes variables; variables that are changed in other ways are missing."""


@dataclass(frozen=True, slots=True)
class LoopEffect:
    """What an inner loop does.

    ``drift``: by how much each iteration changes variables, those of ``reduced`` into the range of their types;
    ``kept``: linear terms with the number that they do not exceed behind any completed iteration. ``count``: the number
    of iterations in all entries behind which the function goes on, over the values there; ``most``: bounds on it.
    """

    drift: Drift = field(default_factory=dict)
    reduced: frozenset[t.Var] = frozenset()
    kept: tuple[tuple[t.Term, int], ...] = ()
    count: t.Term | None = None
    most: tuple[t.Term, ...] = ()

    def counted(self, live: frozenset[t.Var], count: t.Term | None, most: Iterable[t.Term]) -> LoopEffect:
        """The effect with what is known of the number of iterations, for what is around the loop, where values of
        variables that are not ``live`` at the loop's header are not followed.
        """
        kept = [(linear, end) for linear, end in self.kept if linear.variables <= live]
        number = count if count is not None and count.variables <= live else None
        tops = tuple(term for term in most if term.variables <= live)
        return replace(self, kept=tuple(kept[:MAX_KEPT_FACTS]), count=number, most=tops)

    def times(self, values: Mapping[t.Var, t.Term], facts: Facts, intervals: SymbolIntervals) -> Range:
        """How many iterations an entry with these values takes, at least and at most."""
        least, most = 0, None
        for term in (self.count, *self.most):
            here = _at(term, values) if term is not None else None
            if here is None:
                continue
            low, high = _range_of(here, facts, intervals)
            if high is not None and high <= MAX_DISTANCE and (most is None or high < most):
                most = max(0, high)
            if term is self.count and low is not None:
                least = max(least, low)
        return least, most

    def moved(self, var: t.Var, value: t.Term, times: Range, intervals: SymbolIntervals) -> t.Term | None:
        """What becomes of a variable; None where nothing is known of it."""
        if var not in self.drift:
            return None
        low, high = self.drift[var]
        low, high = _extreme(low, times, lowest=True), _extreme(high, times, lowest=False)
        if low is None and high is None:
            return None
        reduced = var in self.reduced
        if reduced and (low is None or high is None):
            return None
        by = t.const(low) if low is not None and low == high else intervals.symbol(t.INTEGERS, (low, high))
        return t.wrap(value + by, var.type) if reduced else value + by

    def behind(
        self,
        before: Mapping[t.Var, t.Term],
        after: Mapping[t.Var, t.Term],
        facts: Facts,
        times: Range,
        intervals: SymbolIntervals,
    ) -> Facts:
        """The facts at the entry with those that hold at each visit of the header."""
        for linear, most in self.kept:
            entry, there = _at(linear, before), _at(linear, after)
            if entry is None or there is None:
                continue
            if (times[0] or 0) >= 1 or facts.imply(entry - most, intervals):
                facts = facts.at_most(there - most, intervals) or facts
        return facts


def _range_of(term: t.Term, facts: Facts, intervals: SymbolIntervals) -> Range:
    if isinstance(term, t.Op) and term.op in ("max", "min"):
        return t.OPERATORS[term.op].range(*[_range_of(arg, facts, intervals) for arg in term.args])
    low, high = facts.most_of(-term, intervals), facts.most_of(term, intervals)
    return None if low is None else -low, high


def _at(term: t.Term, values: Mapping[t.Var, t.Term]) -> t.Term | None:
    """A term with these values; None where it speaks of memory, which may be another one there."""
    if any(isinstance(node, t.Read) for node in t.walk_inside(term)):
        return None
    try:
        return t.substitute(term, values)
    except t.TermTooLarge:
        return None


def _extreme(by: int | None, times: Range, *, lowest: bool) -> int | None:
    """The lowest, or the highest, of ``by`` times the number of iterations; None where there is none, or it is far."""
    least, most = times
    if by is None:
        return None
    often = least if (by >= 0) == lowest else most
    found = by * often if often is not None else (0 if by == 0 else None)
    return found if found is not None and abs(found) <= MAX_DISTANCE else None


def drift_of(
    after: Mapping[t.Var, t.Term], facts: Facts, intervals: SymbolIntervals
) -> tuple[dict[t.Var, Range], frozenset[t.Var]]:
    """By how much each variable grows in an iteration, and of which of them the value is reduced into its type."""
    found: dict[t.Var, Range] = {}
    reduced: set[t.Var] = set()
    for var, value in after.items():
        value = intervals.unwrapped(value, facts)
        around = isinstance(value, t.Wrap) and value.type == var.type
        difference = (value.arg if isinstance(value, t.Wrap) and around else value) - var
        low, high = intervals.range_of(difference)
        if difference.variables <= intervals.symbols and (low is not None or high is not None):
            found[var] = (low, high)
            if around:
                reduced.add(var)
    return found, frozenset(reduced)


def effect_of(
    after: Mapping[t.Var, t.Term], facts: Facts, intervals: SymbolIntervals, changed: frozenset[t.Var]
) -> LoopEffect:
    """The effect of a loop of which one iteration is known, but for the number of iterations."""
    drift, reduced = drift_of(after, facts, intervals)
    return LoopEffect(drift, reduced, tuple(_kept(facts, drift, reduced, changed, intervals)))


def _kept(
    facts: Facts, drift: Drift, reduced: frozenset[t.Var], changed: frozenset[t.Var], intervals: SymbolIntervals
) -> Iterator[tuple[t.Term, int]]:
    for linear, most in facts.most.items():
        moving = linear.variables & changed
        if not moving or not linear.variables.isdisjoint(intervals.symbols) or not moving <= drift.keys() - reduced:
            continue
        rises: list[int | None] = []
        for monomial, coefficient in t.polynomial(linear).items():
            atoms = [atom for atom, _ in monomial]
            if all(atom.variables.isdisjoint(moving) for atom in atoms):
                continue
            plain = len(monomial) == 1 and monomial[0][1] == 1
            low, high = drift[atoms[0]] if plain and isinstance(atoms[0], t.Var) else (None, None)
            end = high if coefficient > 0 else low
            rises.append(None if end is None or abs(end) > MAX_DISTANCE else coefficient * end)
        known = [rise for rise in rises if rise is not None]
        if len(known) == len(rises):
            yield linear, most + sum(known)
