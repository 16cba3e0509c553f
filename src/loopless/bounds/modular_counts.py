"""How often facts hold of values that go round a modulus: until the first of them lies where the fact fails.

After i iterations a variable of w bits that each iteration moves by a constant, or by what does not change, is
(u + a·i) mod 2^w, and so are its lowest bits modulo their own power of 2. Euclid's algorithm finds the first i at which
that lies in a window (:func:`loopless.terms.first_in_range`); where the residues modulo gcd(a, 2^w) do not allow it, it
never does. Counts without wrap-around say the same in simpler words, where they hold, and go before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from loopless.bounds.fact_counts import Count, Counts, Fact
from loopless.terms import (
    FALSE,
    TRUE,
    ZERO,
    Condition,
    Const,
    Op,
    Term,
    Var,
    Wrap,
    add,
    conjunction,
    const,
    equal,
    first_equal,
    first_in_range,
    from_polynomial,
    greater_equal,
    less_equal,
    maximum,
    minimum,
    mod,
    neg,
    negate,
    polynomial,
    range_of,
    scale,
    sub,
)
from loopless.terms import ite as choice


@dataclass(frozen=True, slots=True)
class _Clock:
    """In iteration i a value is ``lowest`` + (``start`` + ``step``·i) mod ``modulus``."""

    start: Term
    step: Term
    modulus: int
    lowest: int


def modular_counts(counts: Counts, plain: Sequence[Count]) -> Iterator[Count]:
    """Exact counts of facts about one value that goes round a modulus, with where these never fail. ``plain``: what is
    known without that.
    """
    facts = counts.whole.facts
    every = [Fact(linear, most) for linear, most in facts.most.items()]
    every += [Fact(term, None) for term in facts.unequal]
    for fact in every:
        own = [count for count in plain if count.exact and count.fact in _same(fact)]
        if not any(count.when is TRUE or count.never is not FALSE for count in own):
            yield from _of_fact(counts, fact, own)


def _same(fact: Fact) -> tuple[Fact, ...]:
    """A fact, and others that say the same: that what is reduced into a type without a sign is not 0."""
    inside = neg(fact.linear)
    if fact.most != -1 or not isinstance(inside, Wrap) or inside.type.min != 0 or inside.type.max is None:
        return (fact,)
    (low, high), most = range_of(inside.arg), inside.type.max
    if low is None or high is None or low < -most or high > most:
        return (fact,)
    return fact, Fact(inside.arg, None), Fact(neg(inside.arg), None)


def _of_fact(counts: Counts, fact: Fact, plain: Sequence[Count]) -> Iterator[Count]:
    moving = [(m, c) for m, c in polynomial(fact.linear).items() if not counts.is_same(m)]
    if len(moving) != 1 or len(moving[0][0]) != 1 or moving[0][0][0][1] != 1 or abs(moving[0][1]) != 1:
        return
    ((atom, _),), sign = moving[0]
    clock, rest = _clock_of(counts, atom), sub(fact.linear, scale(atom, sign))
    if clock is None or not counts.is_named(rest):
        return
    last = const(clock.modulus - 1)
    if fact.most is None:
        low = high = sub(scale(rest, -sign), const(clock.lowest))
    elif sign > 0:  # atom ≤ most - rest fails above
        low, high = maximum(sub(const(fact.most + 1 - clock.lowest), rest), ZERO), last
    else:  # atom ≥ rest - most fails below
        low, high = ZERO, minimum(sub(rest, const(fact.most + 1 + clock.lowest)), last)
    found = _visit(clock, low, high)
    if found is None:
        return
    term, never = found
    for when, told in dict.fromkeys((count.when, count.term) for count in plain):
        term = choice(when, told, term)
    yield Count(term, fact, True, negate(never), never)


def _visit(clock: _Clock, low: Term, high: Term) -> tuple[Term, Condition] | None:
    """The first iteration in which the clock is between two ends, and where it never is."""
    start, modulus = clock.start, clock.modulus
    if not isinstance(clock.step, Const):
        first = first_in_range(start, clock.step, modulus, low, high)
        return first, equal(first, const(modulus))
    divisor = gcd(clock.step.value, modulus)
    if divisor == modulus:
        return None
    distance, some = sub(low, start), less_equal(low, high)
    if low is high:
        inside = (greater_equal(low, ZERO), less_equal(low, const(modulus - 1)))
        met = equal(mod(distance, const(divisor)), ZERO)
        return first_equal(distance, clock.step.value, modulus), negate(conjunction((*inside, met)))
    first = first_in_range(start, clock.step, modulus, low, high)
    near = less_equal(mod(sub(start, low), const(divisor)), sub(high, low)) if divisor > 1 else TRUE
    return first, negate(conjunction((some, near)))


def _clock_of(counts: Counts, atom: Term) -> _Clock | None:
    match atom:
        case Var() | Wrap():
            width, least = atom.type.width, atom.type.min
            if width is None or least is None:
                return None
            inside, modulus = atom if isinstance(atom, Var) else atom.arg, 1 << width
        case Op(op="mod", args=(argument, Const(value=by))) if by >= 2:
            inside, modulus, least = argument, by, 0
        case _:
            return None
    steps = []
    start = sub(inside, const(least))
    for monomial, coefficient in polynomial(inside).items():
        if counts.is_same(monomial):
            if not counts.is_named(from_polynomial({monomial: coefficient})):
                return None
            continue
        single = len(monomial) == 1 and monomial[0][1] == 1
        step = _moved(counts, monomial[0][0], coefficient, modulus) if single else None
        if step is None:
            return None
        steps.append(step)
    return _Clock(start, add(*steps), modulus, least)


def _moved(counts: Counts, atom: Term, coefficient: int, modulus: int) -> Term | None:
    """By how much each iteration moves ``coefficient``·``atom`` modulo ``modulus``; None where that may differ."""
    value = counts.after.get(atom) if isinstance(atom, Var) and counts.is_named(atom) else None
    if value is None:
        return None
    if isinstance(value, Wrap):
        width = value.type.width
        if width is None or (coefficient << width) % modulus:
            return None
        value = value.arg
    by = sub(value, atom)
    same = counts.is_named(by) and by.variables.isdisjoint(counts.changed)
    return scale(by, coefficient) if same else None
