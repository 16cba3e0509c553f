"""Quotients without a remainder leave comparisons, which keep their meaning."""

from __future__ import annotations

from itertools import product

import pytest

from loopless import terms as t

I32 = t.IntType(32, signed=True)
x, y = t.Var("x", I32), t.Var("y", I32)


@pytest.mark.parametrize(
    ("divisor", "term", "always"),
    [
        (2, x * x + x, True),
        (2, x * x + y, False),
        (2, x * x + x + y * y - y, True),
        (3, x * x * x - x, True),
        (3, x * x - x, False),
        (6, x * (x + 1) * (x + 2), True),
        (4, 4 * x + 8 * y, True),
        (2, t.wrap(x + y, I32) * t.wrap(x + y, I32) - t.wrap(x + y, I32), True),
    ],
)
def test_which_polynomials_are_multiples(divisor, term, always):
    """By reasoning: of two numbers in a row one is even, of three one is a multiple of three."""
    assert t.divides_always(divisor, term) is always


@pytest.mark.parametrize(
    "condition",
    [
        (2 * t.floor_div(x * x + x, t.const(2))).eq(y),
        (3 * t.floor_div(x * x - x, t.const(2)) + y).le(7),
        (t.floor_div(x * x + x, t.const(2)) * t.floor_div(y * y - y, t.const(2))).ne(6),
        (t.floor_div(x * x + x, t.const(2)) * t.floor_div(x * x + x, t.const(2))).le(y + 30),
    ],
)
def test_comparisons_without_them_hold_for_the_same_values(condition):
    plain = t.without_exact_quotients(condition)
    assert not any(isinstance(node, t.Op) and node.op == "floor_div" for node in t.walk(plain))
    for a, b in product(range(-9, 10), repeat=2):
        assert t.holds(plain, {x: a, y: b}) == t.holds(condition, {x: a, y: b}), (a, b)


def test_a_quotient_with_a_remainder_stays():
    condition = (2 * t.floor_div(x * x, t.const(2))).eq(y)
    assert t.without_exact_quotients(condition) is condition


U8, U9 = t.IntType(8, signed=False), t.IntType(9, signed=False)
a, b = t.Var("a", U8), t.Var("b", U8)
HALF, THIRD = t.floor_div(a * a + a, t.const(2)), t.floor_div(a * a * a - a, t.const(3))


@pytest.mark.parametrize(
    "condition",
    [
        t.wrap(b + HALF, U8).eq(t.wrap(a * b, U8)),
        t.wrap(b + HALF, U8).ne(7),
        t.wrap(b - HALF * 2, U8).eq(0),
        t.wrap(3 * b - HALF, t.IntType(8, signed=True)).eq(-5),
        b.eq(t.wrap(b * b + THIRD, U8)),
        b.ne(t.wrap(6 * HALF - THIRD + 3, U8)),
        t.wrap(HALF + 2, U8).eq(t.wrap(b, t.IntType(4, signed=False))),
    ],
)
def test_equations_of_what_wraps_around_hold_for_the_same_values_without_them(condition):
    plain = t.without_exact_quotients(condition)
    assert not any(isinstance(node, t.Op) and node.op == "floor_div" for node in t.walk(plain))
    for x_, y_ in product(range(256), range(0, 256, 3)):
        assert t.holds(plain, {a: x_, b: y_}) == t.holds(condition, {a: x_, b: y_}), (x_, y_)


def test_values_that_the_type_does_not_have_are_no_equation_modulo_its_width():
    condition = t.wrap(HALF, U8).eq(b + 1)  # 256 is no 8-bit number
    assert t.holds(condition, {a: 22, b: 252})
    assert not t.holds(condition, {a: 0, b: 255})
    plain = t.without_exact_quotients(condition)
    assert not t.holds(plain, {a: 0, b: 255})
