"""Facts and what follows from them: by enumeration of all small values."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import product

import pytest

from loopless.bounds.iteration.facts import NO_FACTS, Facts, SymbolIntervals, split
from loopless.bounds.iteration.meetings import Meeting, ends_of
from loopless.terms import (
    FALSE,
    INTEGERS,
    TRUE,
    Compare,
    Condition,
    IntType,
    Var,
    Wrap,
    add,
    const,
    equal,
    evaluate,
    greater,
    holds,
    less_equal,
    neg,
    not_equal,
    scale,
    sub,
)

TINY = IntType(3, signed=True)
X, Y, Z = (Var(name, TINY) for name in "xyz")
VALUES = range(-4, 4)


def states(*more: Var) -> Iterator[dict[Var, int]]:
    for row in product(VALUES, repeat=3 + len(more)):
        yield dict(zip((X, Y, Z, *more), row, strict=True))


def satisfy(facts: Facts, state: dict[Var, int]) -> bool:
    return (
        facts.possible
        and all(evaluate(linear, state) <= most for linear, most in facts.most.items())
        and all(evaluate(term, state) != 0 for term in facts.unequal)
    )


def where(conditions: Iterable[Condition], intervals: SymbolIntervals) -> Facts | None:
    found: Facts | None = NO_FACTS
    for condition in conditions:
        if condition is TRUE:
            continue
        if found is None or condition is FALSE:
            return None
        assert isinstance(condition, Compare)
        found = found.under(condition, intervals)
    return found


def drawn(chosen: random.Random) -> Condition:
    term = add(*(scale(var, chosen.choice((-2, -1, 0, 1, 1, 2))) for var in (X, Y, Z)), const(chosen.randint(-5, 5)))
    term = term if term.variables else add(term, X)
    return chosen.choice((less_equal, equal, not_equal, greater))(term, const(0))


def test_a_term_and_its_constant() -> None:
    assert split(add(X, const(5))) == (X, 5)
    assert split(const(7)) == (const(0), 7)
    assert split(X) == (X, 0)
    assert split(add(X, neg(Y))) == (sub(X, Y), 0)


def test_one_fact_and_intervals_decide() -> None:
    facts = where([less_equal(add(X, Y), const(-3))], intervals := SymbolIntervals())
    assert facts is not None
    assert facts.imply(add(X, Y, const(3)), intervals)
    assert not facts.imply(add(X, Y, const(4)), intervals)
    # x = (x + y) - y, and y is at least -4
    assert facts.imply(sub(X, const(1)), intervals)
    assert not facts.imply(X, intervals)
    assert not NO_FACTS.imply(sub(X, const(1)), intervals)
    assert NO_FACTS.imply(sub(X, const(3)), intervals)


def test_what_is_unequal_at_an_end_is_beyond_it() -> None:
    facts = where([less_equal(X, Y), not_equal(X, Y)], intervals := SymbolIntervals())
    assert facts is not None
    assert facts.most == {sub(X, Y): -1}
    both = where([less_equal(X, Y), less_equal(Y, X)], intervals)
    assert both is not None
    assert both.under(not_equal(X, Y), intervals) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(40))
def test_facts_are_true_wherever_their_conditions_are(seed: int) -> None:
    chosen = random.Random(seed)
    intervals = SymbolIntervals()
    sets = [[drawn(chosen) for _ in range(chosen.randint(1, 3))] for _ in range(3)]
    found = [where(conditions, intervals) for conditions in sets]
    true_in = [[s for s in states() if all(holds(c, s) for c in conditions)] for conditions in sets]
    for facts, among in zip(found, true_in, strict=True):
        assert not (facts is None and among)
        assert all(facts is not None and satisfy(facts, state) for state in among)
    claims = [split(c.term)[0] for c in (drawn(chosen) for _ in range(20)) if isinstance(c, Compare)]
    for facts, among in zip(found, true_in, strict=True):
        for claim in claims if facts is not None else ():
            assert facts is not None
            beyond = chosen.randint(-6, 6)
            if facts.imply(sub(claim, const(beyond)), intervals):
                assert all(evaluate(claim, s) <= beyond for s in among)
            if facts.excludes(claim, intervals):
                assert all(evaluate(claim, s) != 0 for s in among)
            if facts.contradict(claim, beyond, intervals):
                assert all(evaluate(claim, s) > beyond for s in among)
    known = [(facts, among) for facts, among in zip(found, true_in, strict=True) if facts is not None]
    if len(known) >= 2:
        (one, first), (other, second) = known[:2]
        met = Facts.met([one, other], intervals)
        assert all(satisfy(met, s) for s in (*first, *second))
        joined = one.joined_with(other, intervals)
        shared = [s for s in first if s in second]
        assert all(joined is not None and satisfy(joined, s) for s in shared)


def test_what_holds_on_both_ways_is_kept() -> None:
    intervals = SymbolIntervals()
    one, other = where([less_equal(X, const(0))], intervals), where([less_equal(X, const(2))], intervals)
    assert one is not None
    assert other is not None
    assert Facts.met([one, other], intervals).most == {X: 2}
    # x ≤ -4 - y implies x ≤ 0 where y ≥ -4.
    third = where([less_equal(add(X, Y), const(-4))], intervals)
    assert third is not None
    assert Facts.met([third, one], intervals).most == {X: 0}
    assert Facts.met([one, NO_FACTS], intervals).most == {}


def test_ways_that_no_run_takes_say_nothing_of_where_they_lead() -> None:
    intervals = SymbolIntervals()
    one = where([less_equal(X, const(0)), not_equal(Y, const(1))], intervals)
    assert one is not None
    assert Facts.met([Facts.impossible(), one], intervals) == one


def test_symbols_lie_in_their_intervals() -> None:
    intervals = SymbolIntervals()
    low, open_ = intervals.symbol(INTEGERS, (1, 3)), intervals.symbol(INTEGERS, (0, None))
    free = intervals.symbol(TINY)
    assert len({low, open_, free}) == 3
    assert intervals.bounded == {low, open_}
    assert intervals.range_of(sub(X, low)) == (-7, 2)
    assert intervals.range_of(sub(X, scale(open_, 2))) == (None, 3)
    assert intervals.range_of(free) == (-4, 3)
    assert intervals.most_between(X, low) == 2
    assert intervals.most_between(open_, X) is None
    assert intervals.most_between(add(X, open_), add(Y, open_)) == 7
    intervals.narrow(free, (0, 1))
    assert intervals.range_of(add(free, const(1))) == (1, 2)


def test_reductions_of_what_lies_in_the_range_are_dropped() -> None:
    intervals = SymbolIntervals()
    reduced = Wrap(add(X, const(1)), TINY)
    below = where([less_equal(X, const(2))], intervals)
    assert below is not None
    assert intervals.unwrapped(reduced, below) is add(X, const(1))
    assert intervals.unwrapped(reduced, NO_FACTS) is reduced
    by_two = Wrap(add(X, const(2)), TINY)
    assert intervals.unwrapped(by_two, below) is by_two
    down = Wrap(sub(X, const(1)), TINY)
    assert intervals.unwrapped(down, below) is down


def test_where_ways_meet_a_value_may_be_the_least_of_all() -> None:
    """In m = x > 9 ? 9 : x both m ≤ x and m ≤ 9, in m = x < 9 ? 9 : x both m ≥ x and m ≥ 9; else nothing is known."""
    x, m = Var("x", IntType(32)), Var("'m", IntType(32))
    intervals = SymbolIntervals(symbols={m})
    above, below = Facts({neg(x): -10}), Facts({x: 9})
    least = Meeting((above, below), others={m: (const(9), x)})
    assert set(ends_of(least, intervals)) == {sub(m, x), sub(m, const(9))}
    greatest = Meeting((Facts({x: 8}), Facts({neg(x): -9})), others={m: (const(9), x)})
    assert set(ends_of(greatest, intervals)) == {sub(x, m), sub(const(9), m)}
    assert not ends_of(Meeting((Facts(), Facts()), others={m: (const(9), x)}), intervals)
