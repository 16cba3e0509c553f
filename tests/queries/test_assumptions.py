"""Conditions of ``--assume``: read as C means them."""

from __future__ import annotations

import random

import pytest

from loopless.errors import UsageError
from loopless.queries.assumptions import names_in, parse_condition
from loopless.terms import INTEGERS, Var, holds

NAMES = {name: Var(name, INTEGERS) for name in ("x", "y", "z", "s.count", "a[3]", "*p", "p->next")}


def c_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def lookup(name):
    if name not in NAMES:
        raise UsageError(f"there is no variable {name}")
    return NAMES[name]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("x < y", lambda x, y, z: x < y),
        ("x<=y&&y!=z", lambda x, y, z: x <= y and y != z),
        ("x < y || y < z && z == 3", lambda x, y, z: x < y or (y < z and z == 3)),
        ("(x < y || y < z) && z == 3", lambda x, y, z: (x < y or y < z) and z == 3),
        ("!(x < y) && !z", lambda x, y, z: not x < y and z == 0),
        ("x - y - z > 0", lambda x, y, z: x - y - z > 0),
        ("x - (y - z) > 0", lambda x, y, z: x - (y - z) > 0),
        ("((x) + 1) * 2 >= (y)", lambda x, y, z: (x + 1) * 2 >= y),
        ("-x * -3 == +y", lambda x, y, z: 3 * x == y),
        ("x / 3 == 2", lambda x, y, z: c_div(x, 3) == 2),
        ("x % 3 == -1", lambda x, y, z: x - 3 * c_div(x, 3) == -1),
        ("x / 2 % 3 * 2 >= 2", lambda x, y, z: (c_div(x, 2) - 3 * c_div(c_div(x, 2), 3)) * 2 >= 2),
        ("0 <= x < y", lambda x, y, z: 0 <= x < y),
        ("x", lambda x, y, z: x != 0),
        ("x * y > z", lambda x, y, z: x * y > z),
        ("x == 0x1F || x == 010 || x == 7u", lambda x, y, z: x in (31, 8, 7)),
        ("x == 'a' - 95", lambda x, y, z: x == 2),
        ("!!x", lambda x, y, z: x != 0),
        ("((((x < y))))", lambda x, y, z: x < y),
        ("(x < y) || ((y) < z)", lambda x, y, z: x < y or y < z),
    ],
)
def test_conditions_mean_what_c_means(text, meaning):
    condition = parse_condition(text, lookup)
    dice = random.Random(text)
    differ = set()
    for _ in range(400):
        x, y, z = (dice.randint(-8, 8) if dice.random() < 0.8 else dice.randint(-40, 40) for _ in range(3))
        values = {NAMES["x"]: x, NAMES["y"]: y, NAMES["z"]: z}
        expected = meaning(x, y, z)
        differ.add(expected)
        assert holds(condition, values) == expected, (x, y, z)
    assert differ == {True, False}


def test_names_are_those_of_the_source():
    assert names_in("s . count < a[ 3 ] && *p == p -> next && x < x") == ("s.count", "a[3]", "*p", "p->next", "x")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("x <", 4),
        ("x < 3)", 6),
        ("x & 1", 3),
        ("x y", 3),
        ("", 1),
        ("x < 1.5", 5),
        ("09 < x", 1),
        ("x = 3", 3),
        ("(x", 3),
    ],
)
def test_what_is_no_condition_is_refused_at_its_place(text, column):
    with pytest.raises(UsageError, match=rf"at column {column} ") as error:
        parse_condition(text, lookup)
    assert repr(text) in str(error.value)


def test_a_constant_zero_divisor_is_refused():
    with pytest.raises(UsageError, match="divisor"):
        parse_condition("x % 0 == 1", lookup)


def test_a_divisor_that_is_zero_at_a_point_does_not_hold_there():
    condition = parse_condition("x / y == 1", lookup)
    assert holds(condition, {NAMES["x"]: 3, NAMES["y"]: 2})
    assert not holds(condition, {NAMES["x"]: 3, NAMES["y"]: 0})


def test_deep_parentheses_are_read_quickly():
    depth = 60
    condition = parse_condition("(" * depth + "x" + " + 1)" * depth + " < 100", lookup)
    assert holds(condition, {NAMES["x"]: 39})
    assert not holds(condition, {NAMES["x"]: 40})
