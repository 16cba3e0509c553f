"""How often slacks that only the ways through an iteration tell apart are at least 0: bounds by several ways.

A slack is a linear term that is at least 0 in every completed iteration. Its changes are looked at way by way
(:mod:`loopless.bounds.iteration.meetings`). What is reduced into the range of a type stays so, unless it surely lies
there: then nothing is known of it but that range. With m a slack at the beginning and m' behind an iteration:

- *It falls* by at least d ≥ 1 on every way: at most floor(m₀ / d) + 1 iterations.
- *It shrinks*: b·m' ≤ a·m + c on every way, 0 < a < b. With o = floor(-c / (b - a)) and u = m + o that is
  b·u' ≤ a·u, so u ≤ u₀·(a/b)^k after k iterations. If o ≥ 1, u ≥ o ≥ 1 in every iteration: at most the least k with
  o·b^k > u₀·a^k. Else, where each way lowers m by at least 1 besides, the least k with b^k > u₀·a^k until u ≤ 0, and
  then 1 - o more, since 0 ≤ m ≤ -o (binary search, Euclid's algorithm by halves).
- *A sum of slacks falls* on every way, if no slack does by itself (two arrays merged).
- *Lexicographically*: a slack A that no way raises falls on some; on the others a slack B falls, which the former may
  set to something, or raise. There are no more than n = floor(A₀ / a) + 1 of the former, so at most n + 1 stretches of
  the latter, none longer than floor(most B / b) + 1 (Alias et al., Multi-dimensional rankings, SAS 2010).
- *A value grows by a factor* a ≥ 2, and by e ≥ 0 besides, below a limit l that does not change: at most the least j
  with k·a^j > l, if k is at least 1 and a·l + e does not wrap around.
- *It falls by what does not change*, s: at most ceil((m₀ + 1) / s) iterations, if s ≥ 1 and the last step does not wrap
  around.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence

from loopless import terms as t
from loopless.bounds.iteration.body_facts import LoopBodyFacts
from loopless.bounds.iteration.facts import Facts
from loopless.bounds.iteration.meetings import MeetingWay, ways
from loopless.bounds.iteration.quotients import divided
from loopless.bounds.model import ceiling, positive
from loopless.limits.bounds import LARGE_CONSTANT, MAX_DIVISOR, MAX_SLACKS
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class _Moved:
    """What becomes of a slack on one way of an iteration."""

    after: t.Term
    facts: Facts


@dataclass(frozen=True, slots=True)
class _Growth:
    """A value becomes ``factor`` ≥ 2 times what it was, and at most ``beyond`` ≥ 0 more; ``reduced`` into its type, or
    surely inside of it.
    """

    factor: int
    beyond: int
    reduced: bool


def log_of_ratio(limit: t.Term, start: t.Term, base: int) -> t.Term:
    """The least k ≥ 0 with ``start``·``base``^k > ``limit``."""
    return t.first_positive({(base, 0): start, (1, 0): -limit})


class Slacks:
    """The slacks of a loop, and what the ways of an iteration do to them."""

    def __init__(self, whole: LoopBodyFacts, slacks: Sequence[t.Term]) -> None:
        self.whole = whole
        self.intervals = whole.intervals
        moving = [slack for slack in dict.fromkeys(slacks) if self._moves(slack)]
        self.slacks = moving[:MAX_SLACKS]
        self.variables = tuple(sorted({v for m in self.slacks for v in m.variables & whole.changed}))
        self.ways = self._ways(self.variables)

    def bounds(self) -> Iterator[tuple[t.Term, t.Condition]]:
        """Bounds on the iterations of one entry, and where they hold; the plain ones first."""
        moved = [(slack, self._moved(slack)) for slack in self.slacks]
        known = [(slack, found) for slack, found in moved if found is not None]
        for slack, found in known:
            try:
                yield from ((term, t.TRUE) for term in self._of_one(slack, found))
            except t.TermTooLarge:
                continue
        with contextlib.suppress(t.TermTooLarge):
            yield from ((term, t.TRUE) for term in self._of_several(known))
        for slack in self.slacks:
            try:
                yield from self._growing(slack)
                yield from self._stepping(slack)
            except t.TermTooLarge:
                continue

    def _moves(self, slack: t.Term) -> bool:
        """Whether a slack is linear in variables of which it is known what becomes of them."""
        changing = [m for m in t.polynomial(slack) if any(not a.variables.isdisjoint(self.whole.changed) for a, _ in m)]
        return bool(changing) and all(len(m) == 1 and m[0][1] == 1 and m[0][0] in self.whole.after for m in changing)

    def _ways(self, variables: Sequence[t.Var]) -> list[MeetingWay]:
        values = [self.whole.after[v] for v in variables]
        return ways(values, self.whole.facts, self.whole.meetings, self.intervals)

    def _moved(self, slack: t.Term) -> list[_Moved] | None:
        """The slack behind an iteration, way by way; None where that is not known, or it may wrap around."""
        found = []
        for way in self.ways:
            values: dict[t.Var, t.Term] = {}
            for var, value in zip(self.variables, way.terms, strict=True):
                values[var] = self.intervals.unwrapped(value, way.facts)
            try:
                found.append(_Moved(t.substitute(slack, values), way.facts))
            except t.TermTooLarge:
                return None
        return found

    def _most(self, term: t.Term, facts: Facts) -> int | None:
        return facts.most_of(term, self.intervals)

    def _rise(self, slack: t.Term, found: Sequence[_Moved]) -> list[int | None]:
        """By how much each way raises a slack at most."""
        return [self._most(moved.after - slack, moved.facts) for moved in found]

    # -- one slack ----------------------------------------------------------------------------------------------------

    def _of_one(self, slack: t.Term, found: Sequence[_Moved]) -> Iterator[t.Term]:
        rises = [rise for rise in self._rise(slack, found) if rise is not None]
        falls = len(rises) == len(found) and max(rises, default=-1) < 0
        for a, b in _ratios(found):
            tops = [self._most(moved.after * b - slack * a, moved.facts) for moved in found]
            most = [top for top in tops if top is not None]
            if len(most) < len(tops) or not most:
                continue
            offset = -max(most) // (b - a)
            start = slack + offset
            if offset >= 1:
                yield _shrunk(start, a, b, offset)
                return
            if falls:
                yield _shrunk(start, a, b, 1) + (1 - offset)
                return
        if falls:
            yield fallen(slack, -max(rises, default=-1))

    # -- several ------------------------------------------------------------------------------------------------------

    def _of_several(self, known: Sequence[tuple[t.Term, Sequence[_Moved]]]) -> Iterator[t.Term]:
        rises = [self._rise(slack, found) for slack, found in known]
        steady = [one for one, rise in zip(known, rises, strict=True) if all(r is not None and r <= 0 for r in rise)]
        for size in range(2, len(steady) + 1):
            for some in itertools.combinations(steady, size):
                total = t.add(*(slack for slack, _ in some))
                after = [t.add(*parts) for parts in zip(*([m.after for m in found] for _, found in some), strict=True)]
                facts = [moved.facts for moved in some[0][1]]
                falls = [self._most(value - total, f) for value, f in zip(after, facts, strict=True)]
                if falls and all(fall is not None and fall < 0 for fall in falls):
                    yield fallen(total, -max(fall for fall in falls if fall is not None))
                    return
        for (first, rise), (second, found) in itertools.product(zip(known, rises, strict=True), known):
            if first[0] is not second and all(r is not None and r <= 0 for r in rise):
                term = self._lexicographic(first[0], [r or 0 for r in rise], second, found)
                if term is not None:
                    yield term
                    return

    def _lexicographic(
        self, first: t.Term, rise: Sequence[int], second: t.Term, found: Sequence[_Moved]
    ) -> t.Term | None:
        falling = [r < 0 for r in rise]
        own = self._rise(second, found)
        others = [r for r, falls in zip(own, falling, strict=True) if not falls]
        if all(falling) or not any(falling) or not all(r is not None and r < 0 for r in others):
            return None
        times = fallen(first, min(-r for r in rise if r < 0))
        tops: list[t.Term] = [second]
        raised = 0
        for moved, by, falls in zip(found, own, falling, strict=True):
            if not falls or (by is not None and by <= 0):
                continue
            top = self._limit(moved)
            if top is not None:
                tops.append(top)
            elif by is not None and by < LARGE_CONSTANT:
                raised = max(raised, by)
            else:
                return None
        highest = t.maximum(*tops)
        if raised:
            highest = highest + times * raised
        length = fallen(highest, min(-r for r in others if r is not None))
        return times + (times + 1) * length

    def _limit(self, moved: _Moved) -> t.Term | None:
        """What a slack is at most behind a way, over what does not change."""
        plain = {m: c for m, c in t.polynomial(moved.after).items() if all(self._is_constant(atom) for atom, _ in m)}
        steady = t.from_polynomial(plain)
        most = self._most(moved.after - steady, moved.facts)
        return None if most is None or abs(most) >= LARGE_CONSTANT else steady + most

    def _is_constant(self, atom: t.Term) -> bool:
        return atom.variables.isdisjoint(self.whole.changed | self.intervals.symbols)

    # -- growing by factors -------------------------------------------------------------------------------------------

    def _growing(self, slack: t.Term) -> Iterator[tuple[t.Term, t.Condition]]:
        """Where the slack is what a value that grows by a factor still is below a limit."""
        changing = [m for m in t.polynomial(slack) if not all(self._is_constant(atom) for atom, _ in m)]
        if len(changing) != 1 or t.polynomial(slack)[changing[0]] != -1:
            return
        var = changing[0][0][0]
        if not isinstance(var, t.Var):
            return
        limit = slack + var
        grown = [self._factor(var, way) for way in self.ways]
        known = [growth for growth in grown if growth is not None]
        if not known or len(known) < len(grown):
            return
        positive_anyway = self.whole.facts.imply(1 - var, self.intervals)
        when: list[t.Condition] = [] if positive_anyway else [var.ge(1)]
        if any(growth.reduced for growth in known):
            if var.type.max is None:
                return
            when += [(limit * growth.factor + growth.beyond).le(var.type.max) for growth in known if growth.reduced]
        times = log_of_ratio(limit, var, min(growth.factor for growth in known))
        # Where the value is positive in iterations that are completed, another one at first completes none.
        yield positive(times) if positive_anyway else times, t.conjunction(when)

    def _stepping(self, slack: t.Term) -> Iterator[tuple[t.Term, t.Condition]]:
        """Where every iteration lowers the slack by what does not change."""
        changing = [m for m in t.polynomial(slack) if not all(self._is_constant(atom) for atom, _ in m)]
        coefficient = t.polynomial(slack)[changing[0]]
        var = changing[0][0][0]
        if len(changing) != 1 or abs(coefficient) != 1 or len(self.ways) != 1 or not isinstance(var, t.Var):
            return
        (way,) = self.ways
        value = self.intervals.unwrapped(way.terms[self.variables.index(var)], way.facts)
        reduced = isinstance(value, t.Wrap) and value.type == var.type
        by = (value.arg if isinstance(value, t.Wrap) and reduced else value) - var
        if not self._is_constant(by) or isinstance(by, t.Const) or var.type.max is None or var.type.min is None:
            return
        drop, rest = by * -coefficient, slack - var * coefficient
        when = [drop.ge(1)]
        if reduced and coefficient < 0:  # the variable is at most rest
            when.append((rest + by).le(var.type.max))
        elif reduced:  # it is at least -rest
            when.append((by - rest).ge(var.type.min))
        yield positive(ceiling(slack + 1, drop)), t.conjunction(when)

    def _factor(self, var: t.Var, way: MeetingWay) -> _Growth | None:
        """By what factor, and how much more, a way makes a variable grow; None where it need not."""
        value = self.intervals.unwrapped(way.terms[self.variables.index(var)], way.facts)
        reduced = isinstance(value, t.Wrap) and value.type == var.type
        plain = value.arg if isinstance(value, t.Wrap) and reduced else value
        factor = t.polynomial(plain).get(((var, 1),), 0)
        low, high = self.intervals.range_of(plain - var * factor)
        if factor < 2 or low is None or low < 0 or high is None:
            return None
        return _Growth(factor, high, reduced)


def fallen(start: t.Term, by: int) -> t.Term:
    """How often a term that begins with ``start`` is at least 0, where it falls by at least ``by`` each time."""
    return t.maximum(t.ZERO, (start + by) // by)


def _shrunk(start: t.Term, a: int, b: int, least: int) -> t.Term:
    """The least k ≥ 0 with ``least``·b^k > ``start``·a^k."""
    return t.first_positive({(b, 0): t.const(least), (a, 0): -start})


def _ratios(found: Sequence[_Moved]) -> list[tuple[int, int]]:
    """By what slacks may shrink, the smallest first."""
    by: set[int] = set()
    for moved in found:
        for node in t.walk(moved.after):
            quotient = divided(node) if isinstance(node, t.Op) else None
            if quotient is not None and quotient[1] <= MAX_DIVISOR:
                by.add(quotient[1])
    ratios = {(1, b) for b in by} | {(b - 1, b) for b in by}
    return sorted(ratios, key=lambda pair: (pair[0] / pair[1], pair[1]))
