"""Conditions of ``--assume``: read as C means them."""

from __future__ import annotations

import random
import re

import pytest

from asking import summary_of
from loopless.errors import UsageError
from loopless.queries.assume.c_arithmetic import IntegerKind, Reading
from loopless.queries.assume.conditions import names_in, parse_condition
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.terms import INTEGERS, IntType, Var, holds

NAMES = {name: Var(name, INTEGERS) for name in ("x", "y", "z", "s.count", "a[3]", "*p", "p->next")}


def c_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


OVER_Z = Reading(mathematical=True)


def lookup(name):
    if name not in NAMES:
        raise UsageError(f"there is no variable {name}")
    return NAMES[name], OVER_Z.plain


def parsed(text):
    return parse_condition(text, lookup, OVER_Z)


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
        ("0 <= x && x < y", lambda x, y, z: 0 <= x < y),
        ("(0 <= x) < y", lambda x, y, z: (x >= 0) < y),
        ("x < y == y < z", lambda x, y, z: (x < y) == (y < z)),
        ("(x < y) + (y < z) == 1", lambda x, y, z: (x < y) != (y < z)),
        ("x", lambda x, y, z: x != 0),
        ("x * y > z", lambda x, y, z: x * y > z),
        ("x == 0x1F || x == 010 || x == 7u", lambda x, y, z: x in (31, 8, 7)),
        ("x < 3u", lambda x, y, z: 0 <= x < 3),
        ("2147483647 + x > 2147483647", lambda x, y, z: x > 0),
        ("x == 'a' - 95", lambda x, y, z: x == 2),
        ("!!x", lambda x, y, z: x != 0),
        ("((((x < y))))", lambda x, y, z: x < y),
        ("(x < y) || ((y) < z)", lambda x, y, z: x < y or y < z),
    ],
)
def test_conditions_mean_what_c_means(text, meaning):
    condition = parsed(text)
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
        ("x ?", 3),
        ("x & 1", 3),
        ("~x == 1", 1),
        ("0 <= x < y", 8),
        ("x == y != z", 8),
        ("x < 1uu", 5),
        ("x < 1lul", 5),
        ("x < 'ab'", 5),
        ("x < '\\xff'", 5),
        ("(unsigned short long)x", 2),
        ("(char)x", 2),
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
        parsed(text)
    assert repr(text) in str(error.value)


def test_a_constant_zero_divisor_is_refused():
    with pytest.raises(UsageError, match="divisor"):
        parsed("x % 0 == 1")


def test_a_divisor_that_is_zero_at_a_point_does_not_hold_there():
    condition = parsed("x / y == 1")
    assert holds(condition, {NAMES["x"]: 3, NAMES["y"]: 2})
    assert not holds(condition, {NAMES["x"]: 3, NAMES["y"]: 0})


def test_deep_parentheses_are_read_quickly():
    depth = 60
    condition = parsed("(" * depth + "x" + " + 1)" * depth + " < 100")
    assert holds(condition, {NAMES["x"]: 39})
    assert not holds(condition, {NAMES["x"]: 40})


def test_a_chain_of_comparisons_is_an_error_that_shows_how_it_is_written():
    for text, write in (
        ("0 <= x < y", "0 <= x && x < y"),
        ("z || 1 < x + 2 <= 3*y && z", "1 < x + 2 && x + 2 <= 3*y"),
        ("x == y == z", "x == y && y == z"),
    ):
        with pytest.raises(UsageError, match=re.escape(f"write {write}") + "$"):
            parsed(text)
        parsed(write)


def typed(**types):
    """A reader of names with types, as (bits, signed)."""
    variables = {name: Var(name, IntType(*type)) for name, type in types.items()}
    return variables, lambda name: (variables[name], IntegerKind(*types[name]))


def test_an_int_that_is_compared_with_an_unsigned_is_converted():
    names, found = typed(i=(32, True), n=(32, False), c=(8, True), w=(64, True))
    for text, i, n, c, w, expected in (
        ("i < n", -1, 5, 0, 0, False),
        ("i > n", -1, 5, 0, 0, True),
        ("i < -1u", 7, 0, 0, 0, True),
        ("i < -1u", -1, 0, 0, 0, False),
        ("w < n", 0, 5, 0, -1, True),  # a wider signed type holds all values
        ("c < n", 0, 5, -1, 0, False),
        ("n - 6 > 0", 0, 5, 0, 0, True),
        ("i + 1 > i", 2**31 - 1, 0, 0, 0, False),  # undefined there
        ("!(i + 1 > i)", 2**31 - 1, 0, 0, 0, False),
        ("i == 2147483647 || i + 1 > i", 2**31 - 1, 0, 0, 0, True),
        ("i + 1 > i || i == 2147483647", 2**31 - 1, 0, 0, 0, False),
        ("i < 5 && i + 1 > i", 2**31 - 1, 0, 0, 0, False),
        ("i > -2147483648", -(2**31) + 1, 0, 0, 0, True),
        ("i == 0xFFFFFFFF", -1, 0, 0, 0, True),
        ("i == 4294967295", -1, 0, 0, 0, False),
        ("(uint8_t)i == 255 && (size_t)c == 18446744073709551615u", -1, 0, -1, 0, True),
    ):
        values = {names["i"]: i, names["n"]: n, names["c"]: c, names["w"]: w}
        assert holds(parse_condition(text, found), values) == expected, text


def test_what_is_undefined_for_all_values_is_an_error():
    _, found = typed(i=(32, True))
    for text, column, words in (
        ("i < 2147483647 + 1", 16, "the sum has no value in a signed type of 32 bits"),
        ("i < -(-2147483647 - 1)", 5, "the negation has no value in a signed type of 32 bits"),
        ("i << 32", 3, "a shift of a signed type of 32 bits is by 0 to 31"),
        ("i < 18446744073709551616", 5, "18446744073709551616 is in no type of C"),
        ("i / (2 - 2)", 3, "the divisor is 0"),
    ):
        with pytest.raises(UsageError, match=f"at column {column} {re.escape(words)}"):
            parse_condition(text, found)
    wraps = parse_condition("i < 2147483647 + 1", found, Reading(wrapv=True))
    assert not holds(wraps, {Var("i", IntType(32)): -(2**31)})


def test_the_ends_of_types_have_their_names_and_a_power_is_no_exclusive_or():
    names, found = typed(i=(32, True), n=(32, False), w=(64, True))
    for text, i, n, w, expected in (
        ("i == INT_MAX", 2**31 - 1, 0, 0, True),
        ("i >= INT_MIN + 1", -(2**31), 0, 0, False),
        ("n == UINT_MAX", 0, 2**32 - 1, 0, True),
        ("w < INT64_MAX && w > INT64_MIN", 0, 0, 2**63 - 1, False),
        ("i == (1 ^ 3)", 2, 0, 0, True),
    ):
        assert holds(parse_condition(text, found), {names["i"]: i, names["n"]: n, names["w"]: w}) == expected, text
    with pytest.raises(
        UsageError, match=re.escape("at column 5 '2^31' is an exclusive or in C; the power of two is 2147483648")
    ):
        parse_condition("w < 2^31", found)
    assert names_in("i < INT_MAX") == ("i",)


def test_a_summary_under_an_assumption_speaks_of_the_states_that_c_means(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("int f(int i, unsigned n) { while (i < 3 && n != 7) i++; return i + n; }\n")
    (loop,) = load([file], Settings(workers=1)).loops
    for text, states in (
        ("i < -1u", {(2, 5): 3, (7, 5): 7, (-2, 5): 3}),
        ("i > n && i != 1", {(-1, 5): 3, (9, 5): 9}),
        ("(unsigned char)i == 200", {(200, 1): 200, (456, 1): 456, (-56, 1): 3}),
    ):
        summary = summary_of(loop, assume=text)
        assert summary.complete
        for (i, n), final in states.items():
            assert summary(i=i, n=n)["i"] == final, (text, i, n)
    over_z = summary_of(load([file], Settings(workers=1, mathematical=True)).loops[0], assume="i + 1 > i && i > n")
    assert over_z(i=-1, n=5)["i"] == 3
