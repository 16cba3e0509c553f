"""Linear inequalities that hold at a place, and what follows from one of them together with intervals: no solver.

A domain between intervals and octagons: each fact bounds a linear term by a constant, and a claim follows where the
claim minus one fact has an interval that decides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final, TypeVar

from loopless import terms as t
from loopless.bounds.iteration.quotients import divisors, undivided, without_quotients
from loopless.limits.bounds import CACHED_SPLITS, MAX_FACTS, MAX_NESTED_QUOTIENTS, MAX_NESTED_WRAPS
from loopless.records import dataclass
from loopless.terms.ranges import Range, total

_N = TypeVar("_N", t.Term, t.Condition)


@dataclass(slots=True)
class SymbolIntervals:
    """Symbols for values that are not known, and the intervals in which some of them lie."""

    known: dict[t.Var, Range] = field(default_factory=dict)
    symbols: set[t.Var] = field(default_factory=set)

    @property
    def bounded(self) -> frozenset[t.Var]:
        """The symbols that lie in an interval."""
        return frozenset(self.known)

    def symbol(self, type: t.IntType, interval: Range | None = None) -> t.Var:
        """A new symbol of a type; no variable of a program has such a name."""
        found = t.Var(f"'value {len(self.symbols)}", type)
        self.symbols.add(found)
        if interval is not None:
            self.known[found] = interval
        return found

    def narrow(self, symbol: t.Var, interval: Range) -> None:
        """The symbol lies in the interval."""
        self.known[symbol] = interval

    def range_of(self, term: t.Term) -> Range:
        """The least and the greatest value, as far as types and intervals tell."""
        if isinstance(term, t.Var):
            return self.known.get(term) or t.range_of(term)
        if not isinstance(term, t.Sum) or self.known.keys().isdisjoint(term.variables):
            return t.range_of(term)
        return total(term.items, self._range_of)

    def _range_of(self, monomial: t.Monomial) -> Range:
        if len(monomial) == 1 and monomial[0][1] == 1:
            atom = monomial[0][0]
            return (self.known.get(atom) if isinstance(atom, t.Var) else None) or t.range_of(atom)
        return t.range_of(t.from_polynomial({monomial: 1}))

    def most_between(self, term: t.Term, other: t.Term) -> int | None:
        """The greatest value of ``term`` - ``other``, without building that."""
        rest = t.polynomial(term)
        for monomial, coefficient in t.polynomial(other).items():
            rest[monomial] = rest.get(monomial, 0) - coefficient
        high = 0
        for monomial, coefficient in rest.items():
            if coefficient:
                least, greatest = self._range_of(monomial)
                end = greatest if coefficient > 0 else least
                if end is None:
                    return None
                high += coefficient * end
        return high

    def follow_from_one(self, term: t.Term, limit: int, facts: Iterable[tuple[t.Term, int]]) -> bool:
        """Whether ``term`` ≤ ``limit`` follows from one of the facts, each a term with its greatest value: see
        :meth:`most_between`. What the term's own summands come to is worked out once.
        """
        own = t.polynomial(term)
        tops = {monomial: self._top(monomial, coefficient) for monomial, coefficient in own.items()}
        without_end = sum(top is None for top in tops.values())
        total = sum(top for top in tops.values() if top is not None)
        for fact, most in facts:
            high, lacking = total + most, without_end
            for monomial, coefficient in t.polynomial(fact).items():
                before = own.get(monomial, 0)
                if before:
                    top = tops[monomial]
                    high, lacking = (high, lacking - 1) if top is None else (high - top, lacking)
                if before != coefficient:
                    top = self._top(monomial, before - coefficient)
                    if top is None:
                        lacking = len(own) + 1
                        break
                    high += top
            if not lacking and high <= limit:
                return True
        return False

    def _top(self, monomial: t.Monomial, coefficient: int) -> int | None:
        """The greatest value of a summand."""
        least, greatest = self._range_of(monomial)
        end = greatest if coefficient > 0 else least
        return None if end is None else coefficient * end

    def unwrapped(self, node: _N, facts: Facts) -> _N:
        """The node without reductions into a type's range of what surely lies there."""
        for _ in range(MAX_NESTED_WRAPS):
            replaced: dict[t.Term, t.Term] = {part: part.arg for part in _wraps_in(node) if self._fits(part, facts)}
            if not replaced:
                return node
            node = t.replace_terms(node, replaced)
        return node

    def _fits(self, part: t.Wrap, facts: Facts) -> bool:
        low, high = part.type.min, part.type.max
        if low is None or high is None:
            return False
        least, greatest = self.range_of(part.arg)
        above = least is not None and least >= low
        below = greatest is not None and greatest <= high
        if (above or facts.imply(low - part.arg, self)) and (below or facts.imply(part.arg - high, self)):
            return True
        if not divisors(part.arg):
            return False
        most, least = facts.most_of(part.arg, self), facts.most_of(-part.arg, self)
        return most is not None and most <= high and least is not None and -least >= low


@dataclass(frozen=True, slots=True)
class Facts:
    """``most``: linear terms without a constant, with the number that they do not exceed; ``unequal``: terms that are
    not 0. ``possible``: whether any run may come here.
    """

    most: Mapping[t.Term, int] = field(default_factory=dict)
    unequal: tuple[t.Term, ...] = ()
    possible: bool = True

    @staticmethod
    def impossible() -> Facts:
        """What holds where no run comes."""
        return Facts(possible=False)

    def imply(self, claim: t.Term, intervals: SymbolIntervals) -> bool:
        """Whether ``claim`` ≤ 0 follows from one fact."""
        high = intervals.range_of(claim)[1]
        if high is not None and high <= 0:
            return True
        linear, constant = split(claim)
        exact = self.most.get(linear)
        if exact is not None and exact + constant <= 0:
            return True
        variables = linear.variables
        facts = [
            pair for pair in self.most.items() if pair[0] is not linear and not pair[0].variables.isdisjoint(variables)
        ]
        return bool(facts) and intervals.follow_from_one(linear, -constant, facts)

    def most_of(self, term: t.Term, intervals: SymbolIntervals) -> int | None:
        """The greatest value of a term, as far as one fact, intervals, and what quotients are tell; None where they do
        not.
        """
        best = self._most_of(term, intervals)
        factor, high = 1, 0
        for _ in range(MAX_NESTED_QUOTIENTS):
            if not divisors(term):
                break
            by, term, rest = without_quotients(term, lambda part: self.imply(part, intervals))
            factor, high = factor * by, high * by + rest
            found = self._most_of(term, intervals)
            if found is not None:
                found = (found + high) // factor
                best = found if best is None else min(best, found)
        return best

    def _most_of(self, term: t.Term, intervals: SymbolIntervals) -> int | None:
        linear, constant = split(term)
        best = intervals.range_of(linear)[1]
        coefficients = t.polynomial(linear)
        for fact, most in self.most.items():
            if fact.variables.isdisjoint(linear.variables):
                continue
            for times in _multiples(coefficients, t.polynomial(fact)):
                high = intervals.most_between(linear, fact * times)
                if high is not None and (best is None or high + times * most < best):
                    best = high + times * most
        return None if best is None else best + constant

    def under(self, condition: t.Compare, intervals: SymbolIntervals) -> Facts | None:
        """The facts where ``condition`` holds too; None where it cannot."""
        term = condition.term
        match condition.relation:
            case "le":
                return self.at_most(term, intervals)
            case "eq":
                found = self.at_most(term, intervals)
                return None if found is None else found.at_most(-term, intervals)
            case _:
                below, above = self.imply(term, intervals), self.imply(-term, intervals)
                if below and above:
                    return None
                if below:
                    return self.at_most(term + 1, intervals)
                if above:
                    return self.at_most(1 - term, intervals)
                if term in self.unequal or len(self.unequal) >= MAX_FACTS:
                    return self
                return Facts(self.most, (*self.unequal, term))

    def at_most(self, term: t.Term, intervals: SymbolIntervals) -> Facts | None:
        """With ``term`` ≤ 0; None where that cannot be."""
        if self.imply(1 - term, intervals):
            return None
        linear, constant = split(term)
        linear, most = undivided(linear, -constant)
        if self.unequal and not {edge := linear - most, -edge}.isdisjoint(self.unequal):
            most -= 1
        known = self.most.get(linear)
        if linear.variables and (known is None or known > most) and (known is not None or len(self.most) < MAX_FACTS):
            return Facts({**self.most, linear: most}, self.unequal)
        return self

    def joined_with(self, other: Facts, intervals: SymbolIntervals) -> Facts | None:
        """Both; None where they cannot hold together."""
        found = self
        for linear, most in other.most.items():
            known = found.most.get(linear)
            if known is None or known > most:
                after = found.at_most(linear - most, intervals)
                if after is None:
                    return None
                found = after
        more = tuple(term for term in other.unequal if term not in found.unequal)
        return Facts(found.most, (*found.unequal, *more)) if more else found

    @staticmethod
    def met(all_of_them: Sequence[Facts], intervals: SymbolIntervals) -> Facts:
        """What holds wherever any of some facts do."""
        first, *others = [facts for facts in all_of_them if facts.possible] or all_of_them
        if not others or all(other is first for other in others):
            return first
        most: dict[t.Term, int] = {}
        for facts in (first, *others):
            for linear in facts.most:
                if linear in most:
                    continue
                ends = [other.most.get(linear) for other in (first, *others)]
                known = [end for end in ends if end is not None]
                if len(known) == len(ends):
                    most[linear] = max(known)
                    continue
                lacking = [other for other, end in zip((first, *others), ends, strict=True) if end is None]
                claim = linear - max(known)
                if all(other.imply(claim, intervals) for other in lacking):
                    most[linear] = max(known)
        unequal = tuple(term for term in first.unequal if all(other.excludes(term, intervals) for other in others))
        return Facts(most, unequal)

    def excludes(self, term: t.Term, intervals: SymbolIntervals) -> bool:
        """Whether ``term`` ≠ 0."""
        return term in self.unequal or self.imply(term + 1, intervals) or self.imply(1 - term, intervals)

    def contradict(self, linear: t.Term, most: int, intervals: SymbolIntervals) -> bool:
        """Whether ``linear`` > ``most`` follows."""
        return self.imply(most + 1 - linear, intervals)


NO_FACTS: Final = Facts()


def _multiples(term: Mapping[t.Monomial, int], fact: Mapping[t.Monomial, int]) -> set[int]:
    """How often a fact may be taken away from a term so that a part of it is gone."""
    return {
        term[monomial] // c for monomial, c in fact.items() if term.get(monomial, 0) * c > 0 and not term[monomial] % c
    }


def factors(condition: t.Compare) -> list[t.Compare]:
    """What cannot be 0 either where some bits, a quotient, or what is reduced into a type are not."""
    atom = condition.term
    parts: tuple[t.Term, ...] = ()
    if condition.relation == "ne" and isinstance(atom, t.Wrap):
        parts = (atom.arg,)
    elif condition.relation == "ne" and isinstance(atom, t.Op):
        args = atom.args
        parts = {"bit_and": args, "shr": args[:1], "floor_div": args[:1], "trunc_div": args[:1]}.get(atom.op, ())
    return [claim for part in parts if isinstance(claim := t.not_zero(part), t.Compare)]


@lru_cache(CACHED_SPLITS)
def _wraps_in(node: t.Term | t.Condition) -> tuple[t.Wrap, ...]:
    return tuple(part for part in t.walk(node) if isinstance(part, t.Wrap))


@lru_cache(CACHED_SPLITS)
def split(term: t.Term) -> tuple[t.Term, int]:
    """A term as what it has beside a constant, and the constant."""
    if isinstance(term, t.Const):
        return t.const(0), term.value
    if not isinstance(term, t.Sum):
        return term, 0
    poly = t.polynomial(term)
    constant = poly.pop((), 0)
    return (t.from_polynomial(poly), constant) if constant else (term, 0)
