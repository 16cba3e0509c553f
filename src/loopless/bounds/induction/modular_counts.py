"""How often facts hold of values that go round a modulus: until the first of them lies where the fact fails.

After i iterations a variable of w bits that each iteration moves by a constant, or by what does not change, is
(u + a·i) mod 2^w, and so are its lowest bits modulo their own power of 2. Euclid's algorithm finds the first i at which
that lies in a window (:func:`loopless.terms.first_in_range`); where the residues modulo gcd(a, 2^w) do not allow it, it
never does. Counts without wrap-around say the same in simpler words, where they hold, and go before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from loopless import terms as t
from loopless.bounds.induction.fact_counts import Counts, FactCount, InductionFact
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class _Clock:
    """In iteration i a value is ``lowest`` + (``start`` + ``step``·i) mod ``modulus``."""

    start: t.Term
    step: t.Term
    modulus: int
    lowest: int


def modular_counts(counts: Counts, plain: Sequence[FactCount]) -> Iterator[FactCount]:
    """Exact counts of facts about one value that goes round a modulus, with where these never fail. ``plain``: what is
    known without that.
    """
    facts = counts.whole.facts
    every = [InductionFact(linear, most) for linear, most in facts.most.items()]
    every += [InductionFact(term, None) for term in facts.unequal]
    for fact in every:
        own = [count for count in plain if count.exact and count.fact in _same(fact)]
        if not any(count.when is t.TRUE or count.never is not t.FALSE for count in own):
            yield from _of_fact(counts, fact, own)


def _same(fact: InductionFact) -> tuple[InductionFact, ...]:
    """A fact, and others that say the same: that what is reduced into a type without a sign is not 0."""
    inside = -fact.linear
    if fact.most != -1 or not isinstance(inside, t.Wrap) or inside.type.min != 0 or inside.type.max is None:
        return (fact,)
    (low, high), most = t.range_of(inside.arg), inside.type.max
    if low is None or high is None or low < -most or high > most:
        return (fact,)
    return fact, InductionFact(inside.arg, None), InductionFact(-inside.arg, None)


def _of_fact(counts: Counts, fact: InductionFact, plain: Sequence[FactCount]) -> Iterator[FactCount]:
    moving = [(m, c) for m, c in t.polynomial(fact.linear).items() if not counts.is_same(m)]
    if len(moving) != 1 or len(moving[0][0]) != 1 or moving[0][0][0][1] != 1 or abs(moving[0][1]) != 1:
        return
    ((atom, _),), sign = moving[0]
    clock, rest = _clock_of(counts, atom), fact.linear - atom * sign
    if clock is None or not counts.is_named(rest):
        return
    last = t.const(clock.modulus - 1)
    if fact.most is None:
        low = high = rest * -sign - clock.lowest
    elif sign > 0:  # atom ≤ most - rest fails above
        low, high = t.maximum(fact.most + 1 - clock.lowest - rest, t.ZERO), last
    else:  # atom ≥ rest - most fails below
        low, high = t.ZERO, t.minimum(rest - (fact.most + 1 + clock.lowest), last)
    found = _visit(clock, low, high)
    if found is None:
        return
    term, never = found
    for when, told in dict.fromkeys((count.when, count.term) for count in plain):
        term = t.ite(when, told, term)
    yield FactCount(term, fact, True, ~never, never)


def _visit(clock: _Clock, low: t.Term, high: t.Term) -> tuple[t.Term, t.Condition] | None:
    """The first iteration in which the clock is between two ends, and where it never is."""
    start, modulus = clock.start, clock.modulus
    if not isinstance(clock.step, t.Const):
        first = t.first_in_range(start, clock.step, modulus, low, high)
        return first, first.eq(modulus)
    divisor = gcd(clock.step.value, modulus)
    if divisor == modulus:
        return None
    distance, some = low - start, low.le(high)
    if low is high:
        inside = (low.ge(0), low.le(modulus - 1))
        met = (distance % divisor).eq(0)
        return t.first_equal(distance, clock.step.value, modulus), ~t.conjunction((*inside, met))
    first = t.first_in_range(start, clock.step, modulus, low, high)
    near = ((start - low) % divisor).le(high - low) if divisor > 1 else t.TRUE
    return first, ~(some & near)


def _clock_of(counts: Counts, atom: t.Term) -> _Clock | None:
    match atom:
        case t.Var() | t.Wrap():
            width, least = atom.type.width, atom.type.min
            if width is None or least is None:
                return None
            inside, modulus = atom if isinstance(atom, t.Var) else atom.arg, 1 << width
        case t.Op(op="mod", args=(argument, t.Const(value=by))) if by >= 2:
            inside, modulus, least = argument, by, 0
        case _:
            return None
    steps = []
    start = inside - least
    for monomial, coefficient in t.polynomial(inside).items():
        if counts.is_same(monomial):
            if not counts.is_named(t.from_polynomial({monomial: coefficient})):
                return None
            continue
        single = len(monomial) == 1 and monomial[0][1] == 1
        step = _moved(counts, monomial[0][0], coefficient, modulus) if single else None
        if step is None:
            return None
        steps.append(step)
    return _Clock(start, t.add(*steps), modulus, least)


def _moved(counts: Counts, atom: t.Term, coefficient: int, modulus: int) -> t.Term | None:
    """By how much each iteration moves ``coefficient``·``atom`` modulo ``modulus``; None where that may differ."""
    value = counts.after.get(atom) if isinstance(atom, t.Var) and counts.is_named(atom) else None
    if value is None:
        return None
    if isinstance(value, t.Wrap):
        width = value.type.width
        if width is None or (coefficient << width) % modulus:
            return None
        value = value.arg
    by = value - atom
    same = counts.is_named(by) and by.variables.isdisjoint(counts.changed)
    return by * coefficient if same else None
