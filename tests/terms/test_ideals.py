"""Equations that follow from equations, and conditions case by case."""

from __future__ import annotations

import itertools

import pytest

from loopless.terms import (
    IntType,
    Var,
    add,
    conjunction,
    const,
    disjunction,
    equal,
    greater_equal,
    holds,
    mul,
    negate,
    scale,
    sub,
)
from loopless.terms.ideals import Combinations, cases_of_constants, excluded_by_equations

INT = IntType(32, signed=True)
a, b, p, q, r, s = (Var(name, INT) for name in "abpqrs")


@pytest.mark.parametrize(
    ("given", "wanted", "follows"),
    [
        ([sub(a, b)], sub(mul(a, a), mul(b, b)), True),  # a = b gives a*a = b*b
        ([sub(a, b)], sub(mul(a, a), mul(a, b)), True),
        ([sub(mul(a, a), mul(b, b))], sub(a, b), False),  # a = -b
        ([sub(mul(p, s), add(mul(q, r), const(1)))], sub(mul(sub(p, q), s), add(mul(q, sub(r, s)), const(1))), True),
        ([sub(a, mul(p, q)), sub(b, mul(p, r))], sub(mul(a, r), mul(b, q)), True),
        ([sub(a, mul(p, q)), sub(b, mul(p, r))], sub(mul(a, q), mul(b, r)), False),
        ([sub(scale(a, 2), b)], sub(mul(a, b), scale(mul(a, a), 2)), True),
        ([], sub(a, a), True),
    ],
)
def test_what_is_a_combination(given, wanted, follows):
    assert Combinations(given, 3).has(wanted) is follows
    conditions = [equal(one, const(0)) for one in given]
    assert excluded_by_equations([*conditions, negate(equal(wanted, const(0)))]) is (follows and bool(given))


def test_a_combination_is_zero_where_what_is_given_is():
    given = [sub(a, mul(p, q)), sub(b, add(p, q))]
    wanted = [sub(mul(a, b), add(mul(mul(p, p), q), mul(p, mul(q, q)))), sub(mul(b, b), add(mul(p, p), mul(q, q)))]
    found = Combinations(given, 3)
    assert [found.has(one) for one in wanted] == [True, False]
    for x, y in itertools.product(range(-4, 5), repeat=2):
        assert holds(equal(wanted[0], const(0)), {p: x, q: y, a: x * y, b: x + y})


def test_cases_have_the_solutions_of_the_whole():
    powers = disjunction(equal(p, const(1 << k)) for k in range(5))
    whole = conjunction((powers, equal(mul(p, q), a), greater_equal(a, const(10))))
    cases = cases_of_constants(whole)
    assert len(cases) == 5
    seen = 0
    for x, y, z in itertools.product(range(-2, 20), range(6), range(8, 24)):
        expected = x in (1, 2, 4, 8, 16) and x * y == z and z >= 10
        found = any(holds(case, {p: x, q: y, a: z}) for case in cases) and x in (1, 2, 4, 8, 16)
        assert not expected or found
        seen += expected
        if (y, z) and not any(k * y == z and z >= 10 for k in (1, 2, 4, 8, 16)):
            assert not any(holds(case, {p: x, q: y, a: z}) for case in cases)
    assert seen > 5


def test_what_multiplies_nothing_stays_whole():
    whole = conjunction((disjunction((equal(p, const(1)), equal(p, const(2)))), greater_equal(add(p, a), const(3))))
    assert cases_of_constants(whole) == [whole]
