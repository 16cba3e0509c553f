"""Signs of polynomials by bounds: never wrong on random polynomials, and right on those that nests lead to."""

from __future__ import annotations

import random
from itertools import product

import pytest

from loopless.logic import Region
from loopless.summary.obligations.signs import never_negative
from loopless.terms import (
    INTEGERS,
    Term,
    Var,
    add,
    at_most_zero,
    conjunction,
    const,
    evaluate,
    floor_div,
    greater_equal,
    less,
    mul,
    neg,
    sub,
)

J, N = Var("i", INTEGERS), Var("n", INTEGERS)


def region(low_i: int, low_n: int) -> Region:
    return Region.of(conjunction((greater_equal(J, const(low_i)), greater_equal(N, const(low_n)))), [J, N])


def triangle(of: Term) -> Term:
    return floor_div(mul(of, sub(of, const(1))), const(2))


KNOWN = [
    (mul(J, triangle(N)), (0, 1), True),
    (sub(floor_div(add(mul(mul(J, N), N), mul(J, N)), const(2)), mul(J, N)), (0, 1), True),
    (sub(floor_div(add(mul(mul(J, N), N), mul(J, N)), const(2)), mul(J, N)), (-1, 1), False),
    (neg(mul(J, N)), (0, 1), False),
    (sub(floor_div(N, const(2)), const(1)), (0, 2), False),
]


@pytest.mark.parametrize(("term", "bounds", "known"), KNOWN)
def test_what_nests_lead_to(term: Term, bounds: tuple[int, int], known: bool) -> None:
    found = never_negative(term, region(*bounds))
    assert found or not known
    smallest = min(evaluate(term, {J: i, N: n}) for i, n in product(range(bounds[0], 9), range(bounds[1], 9)))
    assert not found or smallest >= 0


def test_one_variable_may_be_the_bound_of_another() -> None:
    ordered = Region.of(conjunction((greater_equal(J, const(0)), less(J, N))), [J, N])
    assert never_negative(sub(mul(N, N), mul(J, N)), ordered)
    assert not never_negative(sub(mul(J, N), mul(N, N)), ordered)


def test_nothing_is_negative_where_nothing_is() -> None:
    assert never_negative(neg(J), Region.of(conjunction((less(J, N), less(N, J))), [J, N]))


def test_random_polynomials() -> None:
    chosen = random.Random(5)
    found = 0
    for _ in range(400):
        parts = [
            mul(const(chosen.randrange(-2, 5)), mul(*(chosen.choices((J, N, const(1)), k=2))))
            for _ in range(chosen.randrange(1, 4))
        ]
        inner = add(*parts)
        term = chosen.choice((inner, sub(floor_div(inner, const(chosen.randrange(2, 4))), const(chosen.randrange(2)))))
        lows = (chosen.randrange(-1, 3), chosen.randrange(-1, 3))
        above = chosen.choice((True, False))
        where = region(*lows) & Region.of(at_most_zero(sub(J, N)), [J, N]) if above else region(*lows)
        if never_negative(term, where):
            found += 1
            for i, n in product(range(lows[0], 8), range(lows[1], 8)):
                assert (above and i > n) or evaluate(term, {J: i, N: n}) >= 0, (str(term), i, n)
    assert found > 50


def test_squares_are_never_negative_whatever_the_bounds() -> None:
    everywhere = Region.universe([J, N])
    apart = sub(J, N)
    assert never_negative(add(mul(apart, apart), const(0)), everywhere)
    assert never_negative(add(mul(J, J), mul(J, N), mul(N, N)), everywhere)
    assert not never_negative(sub(mul(apart, apart), const(1)), everywhere)
    assert not never_negative(add(mul(J, J), mul(const(3), mul(J, N)), mul(N, N)), everywhere)
    assert not never_negative(add(mul(J, N), mul(J, J)), everywhere)
    chosen = random.Random(7)
    for _ in range(100):
        lines = [add(*(mul(const(chosen.randrange(-3, 4)), part) for part in (J, N, const(1)))) for _ in range(3)]
        assert never_negative(add(*(mul(line, line) for line in lines)), everywhere)
    refuted = 0
    for _ in range(300):
        parts = (mul(J, J), mul(J, N), mul(N, N), J, N, const(1))
        term = add(*(mul(const(chosen.randrange(-2, 5)), part) for part in parts))
        smallest = min(evaluate(term, {J: i, N: n}) for i, n in product(range(-9, 10), repeat=2))
        refuted += smallest < 0
        assert smallest >= 0 or not never_negative(term, everywhere), str(term)
    assert 100 < refuted < 290
