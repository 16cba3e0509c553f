"""Equations that follow from equations, and conditions case by case."""

from __future__ import annotations

import itertools

import pytest

from loopless.terms import (
    FALSE,
    IntType,
    Var,
    add,
    conjunction,
    const,
    disjunction,
    equal,
    greater_equal,
    holds,
    less,
    mod,
    mul,
    negate,
    scale,
    sub,
    wrap,
)
from loopless.terms.ideals import (
    Combinations,
    cases_of_constants,
    eliminated,
    excluded_by_cases,
    excluded_by_equations,
    independent,
)

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


SMALL = IntType(4, signed=True)
i, j, k = (Var(name, SMALL) for name in "ijk")
WORD = IntType(32, signed=False)
u, v, x, y = (Var(name, WORD) for name in "uvxy")


@pytest.mark.parametrize(
    "condition",
    [
        conjunction((equal(i, mul(j, k)), less(i, mul(k, k)))),
        conjunction((equal(mod(i, const(3)), const(0)), equal(mul(i, i), add(j, const(7))))),
        conjunction((equal(add(i, j), mul(k, k)), equal(sub(j, k), const(2)), less(mul(i, k), const(-3)))),
        conjunction(
            (equal(mul(i, j), k), equal(mod(k, const(2)), const(0)), negate(equal(mod(i, const(4)), const(0))))
        ),
        conjunction((equal(scale(i, 2), mul(j, k)), less(i, j))),
        conjunction((equal(i, add(j, const(9))), less(mul(j, k), const(0)), less(const(5), k))),
        conjunction((less(i, mul(j, k)), less(mul(j, k), i))),
    ],
)
def test_what_is_eliminated_changes_nothing_of_whether_there_is_a_solution(condition):
    """Also where the range of the variable that goes is what excludes the solutions."""

    def solvable(some):
        names = sorted(some.variables, key=lambda var: var.key)
        ranges = (range(var.type.min, var.type.max + 1) for var in names)
        return any(holds(some, dict(zip(names, values, strict=True))) for values in itertools.product(*ranges))

    rest = eliminated(condition)
    assert solvable(rest) == solvable(condition)
    assert rest.variables < condition.variables or rest is condition or any("/" in var.name for var in rest.variables)


def test_what_equations_set_is_equal_modulo_a_power_of_two():
    """x*x + 4*u == 4*v and x even: half of x squared and u are v, also where that wraps around."""
    given = (equal(add(mul(x, x), scale(u, 4)), scale(v, 4)), equal(mod(x, const(2)), const(0)))
    half = Var("h", WORD)
    inner = wrap(add(mul(half, half), u), WORD)
    known = conjunction((*given, equal(scale(half, 2), x)))
    assert excluded_by_cases(conjunction((known, negate(equal(inner, v)))))
    assert not excluded_by_cases(conjunction((known, negate(equal(inner, add(v, const(1)))))))
    assert eliminated(conjunction((known, negate(equal(inner, v))))) is FALSE


def test_cases_are_excluded_by_what_is_linear_in_each():
    one_of = disjunction(equal(p, const(1 << n)) for n in range(6))
    known = (one_of, equal(mod(q, p), const(0)), equal(mul(p, r), mul(q, q)))
    assert excluded_by_cases(conjunction((*known, negate(equal(mod(r, p), const(0))))))
    assert not excluded_by_cases(conjunction((*known, negate(equal(mod(r, scale(p, 2)), const(0))))))


def test_equations_that_others_say_are_left_out():
    some = [
        equal(mul(a, a), mul(a, b)),
        equal(a, b),
        greater_equal(a, const(3)),
        equal(mul(p, q), a),
        equal(mul(mul(p, q), p), mul(p, b)),
    ]
    assert independent(some) == [some[1], some[2], some[3]]
    assert independent([some[0], some[3]]) == [some[0], some[3]]
